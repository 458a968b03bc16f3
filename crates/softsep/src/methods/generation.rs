//! The loop that column-and-constraint generation and Benders decomposition share: solve the master, separate at its
//! decision, let the master grow by the scenario found, until no scenario costs more than the master's θ.

use serde::{Deserialize, Serialize};

use super::relaxation::{Relaxed, cutting_planes, relax};
use super::soft_options::{CHAIN_OPTIONS, SOFT_OPTIONS, joined};
use super::unbounded::prove_if_feasible;
use super::{Method, OptionInfo, scope};
use crate::certification::{bound_inside, late_separation, separate_and_record};
use crate::certify::Certify;
use crate::cuts::{CutPool, WarmStart};
use crate::error::{Error, Unsupported};
use crate::master::{MasterProblem, MasterStatus, ScenarioCopies, explain_infeasible, explain_unbounded};
use crate::model::Problem;
use crate::numeric::tolerances::cost_tol;
use crate::run::{Clock, Run, Stop, Verdict};
use crate::separation::soft::{as_word, from_word};
use crate::separation::{
    Claim, Effort, Exact, Found, Proof, Query, Separation, SeparationContext, SeparationKind, SoftSettings,
    build_separation, finite_equivalent,
};

/// Shares of the gap. Their sum is below 1: a separation that finds nothing has closed the gap.
struct Shares {
    /// The gap of the master.
    master: f64,
    /// How far a scenario must be above the master's θ to end a separation.
    above: f64,
    /// How far a bound may stay above the scenario found.
    bound: f64,
}

impl Shares {
    /// The last digits of a master with integers take its tree longest, those of a linear program nothing.
    fn of(problem: &Problem) -> Self {
        match problem.first.has_integers() {
            true => Self { master: 0.4, above: 0.2, bound: 0.3 },
            false => Self { master: 0.1, above: 0.25, bound: 0.5 },
        }
    }
}

/// Scenarios of the relaxation that the first master with integers may have copies of, the largest number of copies,
/// and the least weight of a scenario in the bound of their relaxation that makes it worth one.
const CANDIDATES: usize = 16;
const FIRST_COPIES: usize = 8;
const LEAST_WEIGHT: f64 = 0.025;

/// Rows of all copies up to which further candidates have one: a master of this size is solved soon.
const SMALL_MASTER: usize = 1000;

/// A bound is asked for on the way when the recourse solves since the last one are this many times those that it took.
const BOUND_PERIOD: u64 = 4;

/// What a scenario adds to the master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// A scenario copy of the recourse.
    Copy,
    /// The cuts that were met on the way to it.
    Cut,
}

/// The options of `ccg` and `benders`.
pub(super) const OPTIONS: &[OptionInfo] = &joined::<{ 1 + CHAIN_OPTIONS.len() + SOFT_OPTIONS.len() }>(&[
    &[super::SEPARATION_OPTION],
    CHAIN_OPTIONS,
    SOFT_OPTIONS,
]);

/// The settings of `ccg` and `benders`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct GenerationSettings {
    /// The separation; `Auto` is a cascade.
    #[serde(deserialize_with = "from_word", serialize_with = "as_word")]
    pub separation: SeparationKind,
    /// The chains of a separation that is soft, or soft first.
    #[serde(flatten)]
    pub soft: SoftSettings,
}

impl GenerationSettings {
    /// The same settings with another separation.
    pub fn with_separation(self, separation: SeparationKind) -> Self {
        Self { separation, ..self }
    }
}

/// The loop as a method.
#[derive(Debug, Clone)]
pub(super) struct Generation {
    method: &'static str,
    growth: Growth,
    settings: GenerationSettings,
}

impl Generation {
    /// The loop under the name of a method.
    pub(super) fn new(method: &'static str, growth: Growth, settings: GenerationSettings) -> Self {
        Self { method, growth, settings }
    }
}

impl Method for Generation {
    fn name(&self) -> &'static str {
        self.method
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        super::accepts_master(self.method, problem)?;
        if matches!(self.settings.separation, SeparationKind::Soft | SeparationKind::Custom(_)) {
            return Ok(());
        }
        Exact::of_kind(&self.settings.separation, problem).map(|_| ()).map_err(|reason| Unsupported {
            method: self.method,
            feature: reason.to_string(),
            instead: match scope::has_proof(problem) {
                true => "leave --separation out".into(),
                false => scope::advice(problem, scope::DRAW_A_LIST),
            },
        })
    }

    fn plan(&self, problem: &Problem) -> String {
        let grows = match self.growth {
            Growth::Copy => "adds a copy of the recourse for the worst one to the master",
            Growth::Cut => "adds the cuts of the scenarios to the master",
        };
        match (&self.settings.separation, Exact::of_kind(&self.settings.separation, problem)) {
            (SeparationKind::Soft, _) => format!("each iteration ascends to bad scenarios, steps a chain and {grows}"),
            (SeparationKind::Custom(_), _) => format!("each iteration asks the given separation and {grows}"),
            (SeparationKind::Auto | SeparationKind::Cascade, Ok(exact)) => format!(
                "each iteration ascends to bad scenarios, {} only where none is found, and {grows}",
                exact.plan(problem)
            ),
            (_, Ok(exact)) => format!("each iteration {} and {grows}", exact.plan(problem)),
            (_, Err(reason)) => reason.to_string(),
        }
    }

    fn promise(&self, problem: &Problem) -> String {
        match (&self.settings.separation, Exact::of_kind(&self.settings.separation, problem)) {
            (SeparationKind::Soft, _) => "a lower bound for sure; the objective is an estimate".into(),
            (SeparationKind::Custom(_), _) => "a lower bound for sure; the rest is up to the given separation".into(),
            (_, Ok(exact)) => format!("both bounds for sure; {}", exact.promise(problem)),
            (_, Err(reason)) => reason.to_string(),
        }
    }

    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        let limits = run.limits();
        let soft = self.settings.soft.combined();
        let context = SeparationContext::new(soft, Proof::Required, limits.gap, limits.seed, run.clock())
            .with_solver(run.solver());
        let separation = build_separation(&self.settings.separation, problem, &context)?;
        if matches!(certify, Certify::Probabilistic(_)) && separation.is_exact() {
            let method = self.method;
            run.say(&format!("{method} proves its upper bound by exact separations, and makes no draws"));
        }
        if let Some(stop) = self.solve_relaxation(problem, warm, run)? {
            return Ok(stop);
        }
        let mut master = MasterProblem::new(problem, run.clock())?.with_solver(run.solver());
        if self.growth == Growth::Copy && problem.first.has_integers() && !warm.scenarios.is_empty() {
            let first = first_copies(problem, &warm.scenarios, run.clock())?;
            master.begin_with(first.into_iter().map(|candidate| warm.scenarios[candidate].as_slice()));
        } else {
            for xi in &warm.scenarios {
                match run.incumbent() {
                    Some(incumbent) => master.add_copy(xi, &incumbent.x)?,
                    None => master.add_scenario(xi),
                };
            }
        }
        let mut state = GenerationState {
            problem,
            method: self,
            certify,
            separation,
            master,
            shares: Shares::of(problem),
            pool: &mut warm.cuts,
            listed: 0,
            solves_at_bound: 0,
            bound_solves: None,
        };
        state.keep_reserve(run);
        let stop = loop {
            let Some(stop) = state.iterate(run)? else { continue };
            if stop != Stop::TimeLimit || !run.free_reserve() {
                break stop;
            }
            // The search goes on in what a bound leaves of the time kept for it.
            state.bound_incumbent(run.clock().clone(), run)?;
            if run.bounds().meet(run.limits().gap) {
                break Stop::Gap;
            }
        };
        state.bound_at_end(stop, run)?;
        Ok(stop)
    }
}

impl Generation {
    /// Solves the relaxation where x has integers and no scenarios are known: the first copies are chosen among those
    /// that are worst at its optimum, so that few masters with integers are left to solve. Returns why the run ends, if
    /// it does.
    fn solve_relaxation(&self, problem: &Problem, warm: &mut WarmStart, run: &mut Run) -> Result<Option<Stop>, Error> {
        // The relaxation asks separations of its own, which a given one need not be able to answer for.
        let is_custom = matches!(self.settings.separation, SeparationKind::Custom(_));
        let grows_by_copies = self.growth == Growth::Copy;
        if !grows_by_copies || !problem.first.has_integers() || !warm.scenarios.is_empty() || is_custom {
            return Ok(None);
        }
        match relax(problem, &cutting_planes(&SeparationKind::Auto, &self.settings.soft), None, warm, run)? {
            Relaxed::Ended(stop) => Ok(Some(stop)),
            Relaxed::Solved(Some(x)) => {
                warm.scenarios = warm.cuts.worst_scenarios(&x, CANDIDATES);
                Ok(None)
            }
            // The loop itself finds out whether there is a decision.
            Relaxed::Solved(None) | Relaxed::Unbounded => Ok(None),
        }
    }
}

/// Chooses the scenarios that the first master with integers has copies of: those that its relaxation's bound rests on,
/// and others while the master is small. The time of a master grows faster than its size.
fn first_copies(problem: &Problem, candidates: &[Vec<f64>], clock: &Clock) -> Result<Vec<usize>, Error> {
    let scenarios = candidates.iter().map(Vec::as_slice).collect();
    let Some(weights) = ScenarioCopies::new(problem, scenarios, clock)?.weights(clock)? else {
        return Ok((0..candidates.len().min(FIRST_COPIES)).collect());
    };
    let (mut chosen, others): (Vec<usize>, Vec<usize>) =
        (0..candidates.len()).partition(|&candidate| weights[candidate] >= LEAST_WEIGHT);
    chosen.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    let in_small_master = SMALL_MASTER / problem.recourse.rows().max(1);
    chosen.extend(others.into_iter().take(in_small_master.saturating_sub(chosen.len())));
    chosen.truncate(FIRST_COPIES);
    Ok(chosen)
}

/// The state of the loop.
struct GenerationState<'a> {
    problem: &'a Problem,
    method: &'a Generation,
    certify: Certify,
    separation: Box<dyn Separation + 'a>,
    master: MasterProblem<'a>,
    shares: Shares,
    pool: &'a mut CutPool,
    /// How many scenarios of a list have a copy because there was no decision to separate.
    listed: usize,
    /// The ledger's recourse solves when the last bound was found, and the solves that it took.
    solves_at_bound: u64,
    bound_solves: Option<u64>,
}

impl GenerationState<'_> {
    /// One iteration; why the run ends, if it does.
    fn iterate(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        run.set_master(self.master.size());
        let incumbent = run.incumbent().map(|incumbent| incumbent.x.clone());
        let solved = self.master.solve(
            incumbent.as_deref(),
            self.shares.master * run.limits().gap,
            run.limits().seed,
            &run.search_clock(),
        )?;
        run.count_nodes(solved.nodes);
        match solved.status {
            MasterStatus::Infeasible => {
                let explain = |clock: &Clock| explain_infeasible(&self.master.behind(), clock);
                let verdict = run.clock().with_grace(explain, Error::is_interrupt)?;
                return Ok(Some(run.prove(Verdict::Infeasible(verdict))));
            }
            MasterStatus::Unbounded => return self.unbounded(run),
            MasterStatus::Optimal | MasterStatus::Stopped(_) => {}
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        let grown = match (&solved.x, solved.theta) {
            (Some(x), Some(theta)) => {
                self.pool.activate_binding(x);
                self.grow(x, theta, run)?
            }
            _ => false,
        };
        run.count_solves(self.master.take_solves());
        let stop = run.tick();
        Ok(match solved.status {
            _ if stop.is_some() => stop,
            MasterStatus::Stopped(interrupt) => Some(interrupt.into()),
            _ => (!grown).then_some(Stop::Stalled),
        })
    }

    /// Lets the master grow by a scenario that costs more than θ; false if there is none, or the master has it: the
    /// bounds are then as close as tolerances allow.
    fn grow(&mut self, x: &[f64], theta: f64, run: &mut Run) -> Result<bool, Error> {
        let size = run.limits().gap * (self.problem.first.value(x) + theta).abs();
        let above = theta + self.shares.above * size;
        if self.master.restore_copy(x, above)?
            || self.method.growth == Growth::Cut && self.master.add_violated_cut(x, above, self.pool)
        {
            return Ok(true);
        }
        let clock = run.clock().clone();
        let maximum = Query::maximum(x, &clock).with_size(run.objective_size());
        let effort = if self.separation.is_exact() { Effort::Thorough } else { Effort::Normal };
        let query = match self.wants_bound(run) {
            true => maximum.with_bound(f64::INFINITY),
            false => maximum.above(above).with_bound(self.shares.bound * size).with_effort(effort),
        };
        // Only an upper bound in the ledger ends a run that takes up every scenario above θ. Where none will come,
        // smooth recourse would have another cut above θ for ever.
        let has_upper_bounds = self.certify != Certify::None && self.separation.is_exact();
        let least = theta + cost_tol(theta);
        let least = if has_upper_bounds { least } else { least.max(above) };
        let found = self.separate(&query, run)?;
        let is_settled = found.as_ref().is_none_or(is_tight);
        if self.add(x, least, found)? {
            return Ok(true);
        }
        if is_settled || run.bounds().meet(run.limits().gap) || run.clock().check().is_err() {
            return Ok(false);
        }
        if bound_inside(self.problem, x, self.separation.as_mut(), self.pool, self.certify, run)? {
            return Ok(false);
        }
        // Nothing new was found on the way: now the maximum is asked for.
        let maximum = maximum.with_bound(self.shares.bound * size).with_effort(Effort::Thorough);
        let found = self.separate(&maximum, run)?;
        self.add(x, least, found)
    }

    /// Whether a bound is worth its price by now: it may show that the gap is closed, and the ledger should have one
    /// early.
    fn wants_bound(&self, run: &Run) -> bool {
        let spent = run.recourse_solves() - self.solves_at_bound;
        self.bound_solves.is_some_and(|solves| spent >= BOUND_PERIOD * solves.max(1))
    }

    fn separate(&mut self, query: &Query, run: &mut Run) -> Result<Option<Found>, Error> {
        let separation = self.separation.as_mut();
        let found = separate_and_record(self.problem, query, separation, self.pool, self.certify, run)?;
        if let Some(Found { claim: Claim::Surely(_), solves, .. }) = &found {
            (self.solves_at_bound, self.bound_solves) = (run.recourse_solves(), Some(*solves));
        }
        Ok(found)
    }

    /// Adds a scenario that costs more than `least` to the master; false if it does not, or is there already.
    fn add(&mut self, x: &[f64], least: f64, found: Option<Found>) -> Result<bool, Error> {
        let is_worse = |found: &Found| found.value > least;
        match (found.filter(is_worse), self.method.growth) {
            // The separation has inserted its cut into the pool.
            (Some(Found { cut: Some(_), .. }), Growth::Cut) => {
                let before = self.master.size().cuts;
                self.master.add_new_cuts(self.pool, x);
                Ok(self.master.size().cuts > before || self.master.add_violated_cut(x, least, self.pool))
            }
            (Some(Found { xi, .. }), _) => self.master.add_copy(&xi, x),
            (None, _) => Ok(false),
        }
    }

    /// Keeps time for a bound of the incumbent, where bounds are taken up.
    fn keep_reserve(&self, run: &mut Run) {
        if self.certify != Certify::None && self.separation.is_exact() {
            run.keep_reserve(self.separation.expected_solves());
        }
    }

    /// Bounds the incumbent's cost after a limit has ended the run, if no bound was found on the way. After a time
    /// limit there is only a moment for it: of a set that is no list, one affine policy bounds the cost without a
    /// search.
    fn bound_at_end(&mut self, stop: Stop, run: &mut Run) -> Result<(), Error> {
        let is_late = run.clock().check().is_err();
        if !matches!(stop, Stop::TimeLimit | Stop::Interrupted | Stop::IterationLimit)
            || is_late && run.bounds().upper().is_some()
        {
            return Ok(());
        }
        let clock = if is_late { run.clock().grace() } else { run.clock().clone() };
        if is_late && let Some(late) = late_separation(self.problem) {
            self.separation = Box::new(late);
        }
        self.bound_incumbent(clock, run)
    }

    /// Bounds the incumbent's cost, if there is no bound as low.
    fn bound_incumbent(&mut self, clock: Clock, run: &mut Run) -> Result<(), Error> {
        let Some(incumbent) = run.incumbent().cloned().filter(|_| run.lacks_bound()) else { return Ok(()) };
        let query = Query::maximum(&incumbent.x, &clock).with_bound(f64::INFINITY).with_size(run.objective_size());
        match self.separate(&query, run) {
            Err(error) if !error.is_interrupt() => Err(error),
            _ => Ok(()),
        }
    }

    /// Continues after a master without a lower bound, and so without a decision to separate.
    ///
    /// Where costs are fixed, the copies of two scenarios differ in their right-hand sides only, and those do not show
    /// in a ray (dx, dy): every copy can follow a ray that one can. From a decision with recourse to every scenario one
    /// can go along dx for ever, the recourse to each along dy, and the cost falls without end. With integers too: the
    /// data are rational, so that a ray of the relaxation can be scaled to an integral one. So the problem is unbounded
    /// if it is feasible at all, which the same loop finds out on the problem without costs.
    fn unbounded(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        if self.problem.recourse.costs_move() {
            return self.add_listed(run);
        }
        let ray =
            run.clock().with_grace(|clock| explain_unbounded(&self.master.stacked(), clock), Error::is_interrupt)?;
        prove_if_feasible(self.problem, ray, self.method, run).map(Some)
    }

    /// Where costs move with ξ, another scenario may bound the master: adds copies of more of the list, twice as many
    /// each time.
    fn add_listed(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        let points = finite_equivalent(self.problem, usize::MAX).map_err(|reason| Error::Master(reason.to_string()))?;
        if self.listed == points.len() {
            let ray = run
                .clock()
                .with_grace(|clock| explain_unbounded(&self.master.stacked(), clock), Error::is_interrupt)?;
            return Ok(Some(run.prove(Verdict::Unbounded(ray))));
        }
        let end = points.len().min(self.listed + self.master.size().scenarios);
        for row in self.listed..end {
            self.master.add_bound(points.row(row));
        }
        self.listed = end;
        Ok(run.tick())
    }
}

/// Whether a bound is as low as the worst scenario found, up to tolerances.
fn is_tight(found: &Found) -> bool {
    found.value < f64::INFINITY
        && matches!(found.claim, Claim::Surely(at_most) if at_most <= found.value + cost_tol(found.value))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::definition::{Row, Variable};
    use crate::model::ProblemDefinition;
    use crate::uncertainty::SetDefinition;

    /// Orders cost 1 each, and a shortage against the demand 2 each later, which so many rows say.
    fn newsvendor(rows: usize) -> Problem {
        let mut file = ProblemDefinition::default();
        file.first_stage.variables.push(Variable::new("order", 1.0).bounded(0.0, 90.0));
        file.uncertainty.parameters.push("demand".into());
        file.uncertainty.set = SetDefinition::Box { lower: vec![0.0], upper: vec![100.0] };
        file.recourse.variables.push(Variable::new("short", 2.0));
        for row in 0..rows {
            let mut cover = Row::new(format!("cover{row}"));
            cover.y = vec![("short".into(), 1.0)];
            cover.x = vec![("order".into(), 1.0)];
            cover.xi = vec![("demand".into(), -1.0)];
            cover.lower = 0.0;
            file.recourse.constraints.push(cover);
        }
        Problem::new(&file).unwrap()
    }

    #[test]
    fn a_large_master_begins_with_the_scenarios_of_its_bound_and_a_small_one_with_more() {
        let candidates = [vec![10.0], vec![100.0], vec![60.0]];
        let chosen = |rows: usize| first_copies(&newsvendor(rows), &candidates, &Clock::unlimited()).unwrap();
        assert_eq!(chosen(1), [1, 0, 2]);
        assert_eq!(chosen(SMALL_MASTER / 2), [1, 0]);
        assert_eq!(chosen(SMALL_MASTER), [1]);
    }
}
