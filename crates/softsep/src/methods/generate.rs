//! The loop that column-and-constraint generation and Benders decomposition share: solve the master, separate at its
//! decision, let the master grow by what was found, until no scenario is worse than the master thinks.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::options::{by_word, parse_options};
use super::record::{is_stop, record};
use super::{Method, OptionInfo};
use crate::error::{Error, Unsupported};
use crate::format::{Points, ProblemFile};
use crate::master::{Growing, MasterStatus, explain_infeasible, explain_unbounded};
use crate::model::Problem;
use crate::numeric::tolerances::cost_tol;
use crate::run::{Limits, Run, Silent, Verdict};
use crate::separation::{Ask, Claim, Exact, Found, Separation, SeparationKind, finite_equivalent};
use crate::settings::Certify;

/// The share of the gap that is left to the master, so that rounding elsewhere cannot spoil the whole.
const MASTER: f64 = 0.1;

/// The share of the gap by which a scenario must be worse than the master thinks to be worth having at once, and the
/// share by which a claim may stay above what was found. With the master's they are less than the whole gap: a
/// separation that finds nothing beyond has closed it.
const BEYOND: f64 = 0.25;
const CLAIM: f64 = 0.5;

/// What a scenario that was found adds to the master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// A copy of the recourse.
    Copy,
    /// A cut.
    Cut,
}

/// The options of `ccg` and `benders`.
pub(super) const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "separation",
    default: "auto",
    help: "how the worst scenario is found: scan (every scenario or extreme point), split (branch and bound on ξ with \
        affine policies as bounds), \
           bilinear (a mixed-integer program), or auto",
}];

/// The settings of `ccg` and `benders`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct GenerateSettings {
    /// Which separation.
    #[serde(deserialize_with = "by_word")]
    separation: SeparationKind,
}

/// The loop as a method: who runs it, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Generator {
    method: &'static str,
    growth: Growth,
    kind: SeparationKind,
}

impl Generator {
    /// The loop by the name of `method`, with its options.
    pub(super) fn new(method: &'static str, growth: Growth, options: &Map<String, Value>) -> Result<Self, String> {
        let settings: GenerateSettings = parse_options(options)?;
        Ok(Self { method, growth, kind: settings.separation })
    }
}

impl Method for Generator {
    fn name(&self) -> &'static str {
        self.method
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        super::accepts_master(self.method, problem)?;
        Exact::of_kind(self.kind, problem).map(|_| ()).map_err(|reason| Unsupported {
            method: self.method,
            feature: reason.to_string(),
            instead: match self.kind {
                SeparationKind::Auto => "draw a list of scenarios from the set and solve that".into(),
                _ => "leave --separation out".into(),
            },
        })
    }

    fn plan(&self, problem: &Problem) -> String {
        match Exact::of_kind(self.kind, problem) {
            Ok(separation) => {
                let grows = match self.growth {
                    Growth::Copy => "adds a copy of the recourse for the worst to the master",
                    Growth::Cut => "adds the cut of the worst to the master",
                };
                format!("each iteration {} and {grows}", separation.plan(problem))
            }
            Err(reason) => reason.to_string(),
        }
    }

    fn promise(&self, problem: &Problem) -> String {
        match Exact::of_kind(self.kind, problem) {
            Ok(separation) => format!("both bounds for sure at every moment; {}", separation.promise(problem)),
            Err(reason) => reason.to_string(),
        }
    }

    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error> {
        self.solve_from(&[], problem, certify, run)
    }
}

impl Generator {
    /// Solves, beginning with copies for scenarios that are known to hurt the best decision.
    pub(super) fn solve_from(
        &self,
        scenarios: &[Vec<f64>],
        problem: &Problem,
        certify: Certify,
        run: &mut Run,
    ) -> Result<(), Error> {
        let separation =
            Exact::of_kind(self.kind, problem).map_err(|reason| Error::Master(reason.to_string()))?.build(problem)?;
        let mut nominal = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut nominal);
        let mut master = Growing::new(problem, run.clock())?;
        if let Some(best) = run.bounds().best() {
            for xi in scenarios {
                master.add_copy(xi, &best.x)?;
            }
        }
        let mut generation = Generation { problem, generator: *self, certify, nominal, separation, master, listed: 0 };
        while generation.iterate(run)? {}
        Ok(())
    }
}

/// The loop's state.
struct Generation<'p> {
    problem: &'p Problem,
    generator: Generator,
    certify: Certify,
    nominal: Vec<f64>,
    separation: Box<dyn Separation + 'p>,
    master: Growing<'p>,
    /// How many scenarios of a list have a copy for want of a decision to separate.
    listed: usize,
}

impl Generation<'_> {
    /// One iteration; false if there is nothing left to do.
    fn iterate(&mut self, run: &mut Run) -> Result<bool, Error> {
        run.set_master(self.master.size());
        let best = run.bounds().best().map(|best| best.x.clone());
        let solved = self.master.solve(best.as_deref(), MASTER * run.limits().gap, run.limits().seed, run.clock())?;
        run.count_nodes(solved.nodes);
        match solved.status {
            MasterStatus::Infeasible => {
                let verdict =
                    run.clock().with_grace(|clock| explain_infeasible(&self.master.behind(), clock), is_stop)?;
                return Err(run.prove(Verdict::Infeasible(verdict)).into());
            }
            MasterStatus::Unbounded => return self.unbounded(run),
            MasterStatus::Optimal | MasterStatus::Stopped(_) => {}
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        let grown = match (&solved.x, solved.theta) {
            (Some(x), Some(theta)) => self.grow(x, theta, run)?,
            _ => false,
        };
        run.count_solves(self.master.take_solves());
        run.tick()?;
        match solved.status {
            MasterStatus::Stopped(stop) => Err(stop.into()),
            _ => Ok(grown),
        }
    }

    /// Lets the master grow by a scenario that costs more than it thinks; false if there is none, or nothing new to be
    /// had from it. The bounds are as close then as tolerances allow.
    fn grow(&mut self, x: &[f64], theta: f64, run: &mut Run) -> Result<bool, Error> {
        let size = run.limits().gap * (self.problem.first.value(x) + theta).abs();
        let beyond = theta + BEYOND * size;
        // Any bound will do now and then, and as long as there is no decision to show; else a scenario beyond what the
        // master thinks.
        let (beyond, tolerance) = match (run.iterations() + 1).is_power_of_two() || run.bounds().best().is_none() {
            true => (None, f64::INFINITY),
            false if self.master.bring_back(x, beyond)? => return Ok(true),
            false => (Some(beyond), CLAIM * size),
        };
        let found = self.record(x, &Ask { beyond, tolerance }, run)?;
        let is_settled = found.as_ref().is_none_or(is_exact);
        if self.take(x, theta, found)? {
            return Ok(true);
        }
        if is_settled || run.bounds().meet(run.limits().gap) {
            return Ok(false);
        }
        // Nothing new came up by the way: now it has to be found, or ruled out.
        let found = self.record(x, &Ask { beyond: Some(theta + BEYOND * size), tolerance: CLAIM * size }, run)?;
        self.take(x, theta, found)
    }

    /// Takes up a scenario that costs more than the master thinks; false if it does not, or is there already.
    fn take(&mut self, x: &[f64], theta: f64, found: Option<Found>) -> Result<bool, Error> {
        let is_worse = |found: &Found| found.value > theta + cost_tol(theta);
        match (found.filter(is_worse), self.generator.growth) {
            (Some(Found { xi, cut: Some(cut), .. }), Growth::Cut) => Ok(self.master.add_cut(&xi, cut)),
            (Some(Found { xi, .. }), _) => self.master.add_copy(&xi, x),
            (None, _) => Ok(false),
        }
    }

    fn record(&mut self, x: &[f64], ask: &Ask, run: &mut Run) -> Result<Option<Found>, Error> {
        record(self.problem, x, &self.nominal, self.separation.as_mut(), ask, self.certify, run)
    }

    /// Goes on after a master without a lower bound, and so without a decision to separate.
    ///
    /// Where costs are fixed, the copies of two scenarios differ in their right-hand sides only, and those do not show
    /// in a ray (dx, dy): what one copy can follow all can. From a decision with recourse to every scenario one can go
    /// along dx for ever, the recourse to each along dy, and the cost falls without end. With integers too: the data
    /// are rational, so that a ray of the relaxation can be scaled to a whole one. So the problem is unbounded if it is
    /// feasible at all, which the same loop finds out on the problem without costs.
    fn unbounded(&mut self, run: &mut Run) -> Result<bool, Error> {
        if self.problem.recourse.costs_move() {
            return self.add_listed(run);
        }
        let ray = run.clock().with_grace(|clock| explain_unbounded(&self.master.stacked(), clock), is_stop)?;
        run.say("the master is unbounded, and so is the problem if some decision is feasible; looking for one");
        let free = without_costs(self.problem)?;
        let used = run.iterations();
        let iterations = run.limits().iterations.map(|limit| limit.saturating_sub(used).max(1));
        let mut silent = Silent;
        let mut search =
            Run::new(run.method(), Limits { iterations, ..run.limits().clone() }, run.clock().clone(), &mut silent);
        let ended = self.generator.solve(&free, Certify::Exact, &mut search);
        run.count_solves(search.recourse_solves());
        run.count_nodes(search.nodes());
        match (search.verdict(), search.bounds().upper(), ended) {
            (Some(verdict), _, _) => Err(run.prove(verdict.clone()).into()),
            (None, Some(_), _) => Err(run.prove(Verdict::Unbounded(ray)).into()),
            (None, None, ended) => ended.map(|()| false),
        }
    }

    /// Where costs move with ξ, another scenario may bound the master: copies of more of the list, twice as many each
    /// time.
    fn add_listed(&mut self, run: &mut Run) -> Result<bool, Error> {
        let points: Cow<Points> =
            finite_equivalent(self.problem, usize::MAX).map_err(|reason| Error::Master(reason.to_string()))?;
        if self.listed == points.len() {
            let ray = run.clock().with_grace(|clock| explain_unbounded(&self.master.stacked(), clock), is_stop)?;
            return Err(run.prove(Verdict::Unbounded(ray)).into());
        }
        let end = points.len().min(self.listed + self.master.size().scenarios);
        for row in self.listed..end {
            self.master.add_bound(points.row(row));
        }
        self.listed = end;
        run.tick()?;
        Ok(true)
    }
}

/// Whether a claim leaves no room above the worst scenario met.
fn is_exact(found: &Found) -> bool {
    matches!(found.claim, Claim::Surely(at_most) if at_most <= found.value + cost_tol(found.value))
}

/// The same decisions, scenarios and recourse, all for nothing.
fn without_costs(problem: &Problem) -> Result<Problem, Error> {
    let ProblemFile { mut first_stage, mut recourse, uncertainty, name } = problem.file();
    first_stage.constant = 0.0;
    first_stage.quadratic.clear();
    recourse.quadratic.clear();
    for variable in first_stage.variables.iter_mut().chain(&mut recourse.variables) {
        variable.cost = 0.0;
        variable.cost_xi.clear();
    }
    Ok(Problem::new(&ProblemFile { first_stage, recourse, uncertainty, name })?)
}
