//! The master problem: the first stage with a scenario copy of the recourse, or a cut, for each scenario found.
//!
//! A copy or a cut is *idle* in an iteration where θ is well above it. One that has been idle for a while is dropped.
//! Before each separation the dropped copies and the cuts of the pool are evaluated again, and the worst one above θ is
//! added again. Dropping never loses a bound, since the run's ledger keeps the best one.
//!
//! This terminates: copies and cuts are dropped only when the lower bound has risen by a fixed share since the last
//! time. The optimum is above all lower bounds, so this happens finitely often, and after the last time the master only
//! grows, as in the textbook.

use std::sync::Arc;

use softsep_lp::{Basis, BasisStatus, MipSolver};

use super::persistent::PersistentCutMaster;
use super::recession::Recession;
use super::scenario_copies::{ConicCost, ScenarioCopies};
use super::solve::{MasterSolution, MasterStart};
use crate::cuts::{Cursor, CutPool};
use crate::definition::ScenarioList;
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{
    Answer, Cut, CutKind, Recourse, RecourseBasis, RecourseError, RecourseOutcome, engine, recourse_basis,
};
use crate::run::{Clock, MasterSize};

/// The least distance of θ above an idle copy or cut, relative to θ where that is above 1.
const IDLE: f64 = 1e-4;

/// Idle iterations in a row after which a copy is dropped.
const COPY_IDLE_LIMIT: usize = 6;

/// Idle iterations in a row after which a cut is dropped: a row costs the solver little, and Benders decomposition
/// returns to earlier decisions.
const CUT_IDLE_LIMIT: usize = 20;

/// New cuts of the pool that are added at once.
const MOST_NEW_CUTS: usize = 256;

/// The least rise of the lower bound between two drops, relative to the bound where that is above 1.
const RISE: f64 = 1e-6;

/// A copy of the recourse in the master.
struct Copy {
    xi: Vec<f64>,
    /// Whether the copy is never dropped, since it bounds the master from below.
    stays: bool,
    idle: usize,
    /// Its part of the basis: of its columns, and of its rows, that of the cost last.
    cols: Vec<BasisStatus>,
    rows: Vec<BasisStatus>,
}

/// A cut in the master.
struct Held {
    cut: Cut,
    idle: usize,
    /// Its part of the basis.
    row: BasisStatus,
}

/// The first stage's part of a basis: of x and θ, and of its rows.
struct Core {
    cols: Vec<BasisStatus>,
    rows: Vec<BasisStatus>,
}

/// The master of a problem, which begins with one copy: that bounds θ from below.
pub(crate) struct MasterProblem<'p> {
    problem: &'p Problem,
    /// The scenario of the first copy.
    typical: Vec<f64>,
    conic: Option<Arc<ConicCost>>,
    copies: Vec<Copy>,
    cuts: Vec<Held>,
    dropped_copies: Vec<Vec<f64>>,
    /// The position in the cut pool up to which its cuts have been added.
    cursor: Cursor,
    /// From the last optimal basis, if there was one.
    core: Option<Core>,
    /// The program of the last solve, if it can be solved further.
    live: Option<PersistentCutMaster>,
    /// The best lower bound, and its value when copies or cuts were last dropped.
    lower: f64,
    lower_at_drop: f64,
    /// All scenarios met, for explanations.
    met: ScenarioList,
    engine: Box<dyn Recourse>,
    answer: Answer,
    solves: u64,
    solver: MipSolver,
}

impl<'p> MasterProblem<'p> {
    /// The master with a copy for the nominal scenario. Where costs move with ξ and fall without end there, the copy is
    /// for a scenario where they do not, if one is found.
    pub(crate) fn new(problem: &'p Problem, clock: &Clock) -> Result<Self, Error> {
        let mut typical = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut typical);
        if problem.recourse.costs_move()
            && let Recession::Bounded(xi) = Recession::of(problem, clock)?
        {
            typical = xi;
        }
        let mut master = Self {
            problem,
            conic: ConicCost::new(problem, Some(&typical), clock)?,
            typical: typical.clone(),
            copies: Vec::new(),
            cuts: Vec::new(),
            dropped_copies: Vec::new(),
            cursor: Cursor::default(),
            core: None,
            live: None,
            lower: f64::NEG_INFINITY,
            lower_at_drop: f64::NEG_INFINITY,
            met: ScenarioList::new(problem.set.dim()),
            engine: engine(problem, clock)?,
            answer: Answer::new(problem),
            solves: 0,
            solver: MipSolver::default(),
        };
        master.add_bound(&typical);
        Ok(master)
    }

    /// The same master with another solver of mixed-integer programs.
    pub(crate) fn with_solver(self, solver: &MipSolver) -> Self {
        Self { solver: solver.clone(), ..self }
    }

    /// The scenario of the first copy.
    pub(crate) fn typical(&self) -> &[f64] {
        &self.typical
    }

    /// Adds a copy that bounds the master from below and is never dropped.
    pub(crate) fn add_bound(&mut self, xi: &[f64]) {
        if self.insert_copy(xi, None)
            && let Some(copy) = self.copies.last_mut()
        {
            copy.stays = true;
        }
    }

    /// Begins with copies of these scenarios in place of the typical one. Where costs move with ξ that stays as well:
    /// another copy need not bound the master from below.
    pub(crate) fn begin_with<'a>(&mut self, scenarios: impl Iterator<Item = &'a [f64]>) {
        if !self.problem.recourse.costs_move() {
            self.release_bounds();
        }
        for xi in scenarios {
            self.insert_copy(xi, None);
        }
    }

    /// Removes the copies that bound the master from below, for use where cuts bound it. Returns their scenarios.
    pub(crate) fn release_bounds(&mut self) -> Vec<Vec<f64>> {
        self.copies.extract_if(.., |copy| copy.stays).map(|copy| copy.xi).collect()
    }

    /// Adds a copy for `xi`, which has a high recourse cost at `x`; false if there is one.
    pub(crate) fn add_copy(&mut self, xi: &[f64], x: &[f64]) -> Result<bool, Error> {
        let start = if self.has_bases() { self.recourse_basis(xi, x)? } else { None };
        Ok(self.insert_copy(xi, start.as_deref()))
    }

    /// Adds a copy for a scenario that an earlier search found; false if there is one.
    pub(crate) fn add_scenario(&mut self, xi: &[f64]) -> bool {
        self.insert_copy(xi, None)
    }

    /// Adds the cut that `xi` proved; false if it is there already.
    pub(crate) fn add_cut(&mut self, xi: &[f64], cut: Cut) -> bool {
        self.meet(xi);
        if self.cuts.iter().any(|held| held.cut == cut) {
            return false;
        }
        self.cuts.push(Held { cut, idle: 0, row: BasisStatus::Basic });
        true
    }

    fn insert_copy(&mut self, xi: &[f64], start: Option<&Basis>) -> bool {
        self.meet(xi);
        if self.copies.iter().any(|copy| copy.xi == xi) {
            return false;
        }
        self.dropped_copies.retain(|dropped| dropped != xi);
        let written = self.written();
        // Without a basis of the recourse the copy's rows are basic. With one all its rows hold at the last decision,
        // but for the cost's: that is where the dual simplex begins.
        let (cols, mut rows) = match start {
            Some(basis) => (
                (0..self.problem.recourse.dim()).map(|j| basis.col(j)).collect(),
                written.map(|i| basis.row(i)).collect::<Vec<_>>(),
            ),
            None => {
                (vec![BasisStatus::Nonbasic; self.problem.recourse.dim()], vec![BasisStatus::Basic; written.count()])
            }
        };
        rows.push(BasisStatus::Basic);
        self.copies.push(Copy { xi: xi.to_vec(), stays: false, idle: 0, cols, rows });
        true
    }

    /// The optimal basis of the recourse to the copy that bounds the master from below, at the master's decision. Where
    /// the way there is too long it is the copy's part of the master's basis, which lacks as many variables as
    /// decisions are basic.
    pub(crate) fn recourse_start(&self) -> Option<RecourseBasis> {
        let copy = self.copies.iter().find(|copy| copy.stays)?;
        let core = self.core.as_ref()?;
        let mut rows = vec![BasisStatus::Basic; self.problem.recourse.rows()];
        self.written().zip(&copy.rows).for_each(|(row, status)| rows[row] = *status);
        let x = &core.cols[..self.problem.first.dim()];
        let joint = Basis::new(copy.cols.iter().chain(x).copied(), rows.iter().chain(&core.rows).copied());
        let basis = match self.problem.recourse.costs_move() {
            true => None,
            false => recourse_basis(self.problem, &joint),
        };
        Some(RecourseBasis(Some(Arc::new(basis.unwrap_or_else(|| Basis::new(copy.cols.iter().copied(), rows))))))
    }

    fn meet(&mut self, xi: &[f64]) {
        if self.met.iter().all(|met| met != xi) {
            self.met.push(xi);
        }
    }

    /// Rows of the recourse that a linear master has: those with a finite side.
    fn written(&self) -> impl Iterator<Item = usize> + use<'p> {
        let recourse = &self.problem.recourse;
        (0..recourse.rows()).filter(|&i| recourse.row_lower[i].is_finite() || recourse.row_upper[i].is_finite())
    }

    /// The program as it stands.
    pub(crate) fn stacked(&self) -> ScenarioCopies<'_> {
        ScenarioCopies {
            problem: self.problem,
            scenarios: self.copies.iter().map(|copy| copy.xi.as_slice()).collect(),
            cuts: self.cuts.iter().map(|held| &held.cut).collect(),
            conic: self.conic.clone(),
            solver: self.solver.clone(),
        }
    }

    /// All scenarios met, with a copy each, to explain an infeasible master: a cut does not hold its scenario.
    pub(crate) fn behind(&self) -> ScenarioCopies<'_> {
        ScenarioCopies {
            problem: self.problem,
            scenarios: self.met.iter().collect(),
            cuts: Vec::new(),
            conic: self.conic.clone(),
            solver: self.solver.clone(),
        }
    }

    /// The numbers of its copies and cuts.
    pub(crate) fn size(&self) -> MasterSize {
        MasterSize { scenarios: self.copies.len(), cuts: self.cuts.len() }
    }

    /// The best lower bound that it has computed, −∞ without one.
    pub(crate) fn lower(&self) -> f64 {
        self.lower
    }

    /// Recourse solves since the last call.
    pub(crate) fn take_solves(&mut self) -> u64 {
        let solves = self.engine.work().solves;
        solves - std::mem::replace(&mut self.solves, solves)
    }

    /// Solves it from the last basis, or with integers from the best decision so far.
    pub(crate) fn solve(
        &mut self,
        best: Option<&[f64]>,
        gap: f64,
        seed: u64,
        clock: &Clock,
    ) -> Result<MasterSolution, Error> {
        let solved = match self.solve_live(seed, clock)? {
            Some(solved) => solved,
            None => {
                let start = self.start(best)?;
                self.stacked().solve(&start, gap, seed, clock)?
            }
        };
        if let Some(basis) = &solved.basis {
            self.keep_basis(basis);
        }
        self.age(&solved)?;
        self.drop_idle(solved.lower);
        Ok(solved)
    }

    /// Solves a master over cuts alone where the last solve left it; `None` where that does not lead to an optimum.
    fn solve_live(&mut self, seed: u64, clock: &Clock) -> Result<Option<MasterSolution>, Error> {
        if !self.has_bases() || !self.copies.is_empty() || self.core.is_none() {
            self.live = None;
            return Ok(None);
        }
        let mut live = match self.live.take() {
            Some(live) => live,
            None => {
                let start = self.start(None)?;
                PersistentCutMaster::new(&self.stacked(), &start, seed, clock)?
            }
        };
        live.add_cuts(self.cuts.iter().map(|held| &held.cut), self.problem.first.dim())?;
        let solved = live.solve(self.problem, clock)?;
        self.live = solved.is_some().then_some(live);
        Ok(solved)
    }

    /// Whether solves end with a basis that the next can start from.
    fn has_bases(&self) -> bool {
        self.conic.is_none() && !self.problem.first.has_integers()
    }

    fn start(&mut self, best: Option<&[f64]>) -> Result<MasterStart, Error> {
        let integers = self.problem.first.has_integers();
        match (best, &self.core) {
            (Some(x), _) if integers && self.conic.is_none() => {
                Ok(self.point_at(x)?.map_or(MasterStart::Cold, MasterStart::Point))
            }
            (_, Some(core)) => {
                let cols = self.copies.iter().flat_map(|copy| &copy.cols);
                let rows = self.cuts.iter().map(|held| &held.row).chain(self.copies.iter().flat_map(|copy| &copy.rows));
                Ok(MasterStart::Basis(Basis::new(
                    core.cols.iter().chain(cols).copied(),
                    core.rows.iter().chain(rows).copied(),
                )))
            }
            _ => Ok(MasterStart::Cold),
        }
    }

    /// Takes an optimal basis apart, so that the next one can be composed of the parts that remain.
    fn keep_basis(&mut self, basis: &Basis) {
        let (mut col, mut row) = (0, 0);
        let mut cols = |count: usize| -> Vec<BasisStatus> {
            col += count;
            (col - count..col).map(|col| basis.col(col)).collect()
        };
        let mut rows = |count: usize| -> Vec<BasisStatus> {
            row += count;
            (row - count..row).map(|row| basis.row(row)).collect()
        };
        self.core = Some(Core { cols: cols(self.problem.first.dim() + 1), rows: rows(self.problem.first.rows.rows()) });
        let of_cuts = rows(self.cuts.len());
        for (held, row) in self.cuts.iter_mut().zip(of_cuts) {
            held.row = row;
        }
        for copy in &mut self.copies {
            (copy.cols, copy.rows) = (cols(copy.cols.len()), rows(copy.rows.len()));
        }
    }

    /// Counts for how long copies and cuts have been idle. A copy's own y is no criterion: any y that costs at most θ
    /// is optimal for the master.
    fn age(&mut self, solved: &MasterSolution) -> Result<(), Error> {
        let (Some(x), Some(theta)) = (&solved.x, solved.theta) else { return Ok(()) };
        let is_below = |value: f64, top: f64| top - value > IDLE * top.abs().max(1.0);
        let older = |idle: usize, is_idle: bool| if is_idle { idle + 1 } else { 0 };
        self.engine.at(x);
        for copy in self.copies.iter_mut().filter(|copy| !copy.stays) {
            match self.engine.solve(&copy.xi, &mut self.answer) {
                Ok(()) => copy.idle = older(copy.idle, is_below(self.answer.cost, theta)),
                Err(RecourseError::Interrupted(_)) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        for held in &mut self.cuts {
            let top = if held.cut.kind == CutKind::Optimality { theta } else { 0.0 };
            held.idle = older(held.idle, is_below(held.cut.at(x), top));
        }
        Ok(())
    }

    fn drop_idle(&mut self, lower: Option<f64>) {
        self.lower = self.lower.max(lower.unwrap_or(f64::NEG_INFINITY));
        let risen = self.lower > self.lower_at_drop + RISE * self.lower.abs().max(1.0);
        if !risen {
            return;
        }
        let before = self.copies.len() + self.cuts.len();
        for copy in self.copies.extract_if(.., |copy| !copy.stays && copy.idle >= COPY_IDLE_LIMIT) {
            self.dropped_copies.push(copy.xi);
        }
        self.cuts.retain(|held| held.idle < CUT_IDLE_LIMIT);
        if self.copies.len() + self.cuts.len() < before {
            self.live = None;
            self.lower_at_drop = self.lower;
        }
    }

    /// Adds the new cuts of the pool. Of many, those with the largest values at `near`; the others are added when they
    /// are needed, see [`MasterProblem::add_violated_cut`].
    pub(crate) fn add_new_cuts(&mut self, pool: &CutPool, near: &[f64]) {
        let mut new = pool.read_new(&mut self.cursor);
        if new.len() > MOST_NEW_CUTS {
            let weight = |cut: usize| match pool.kind(cut) {
                CutKind::Feasibility => f64::INFINITY,
                CutKind::Optimality => pool.value_at(cut, near),
            };
            new.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
            new.truncate(MOST_NEW_CUTS);
        }
        for cut in new {
            self.add_cut(pool.scenario(cut), pool.cut(cut));
        }
    }

    /// Adds the worst of the dropped copies again, if its cost at `x` is above `theta`; whether there is one.
    pub(crate) fn restore_copy(&mut self, x: &[f64], theta: f64) -> Result<bool, Error> {
        let (mut worst, mut copy) = (theta, None);
        for (index, xi) in self.dropped_copies.iter().enumerate() {
            self.engine.at(x);
            match self.engine.solve(xi, &mut self.answer) {
                Ok(()) if self.answer.cost > worst => (worst, copy) = (self.answer.cost, Some(index)),
                Ok(()) => {}
                // The next separation meets the same clock.
                Err(RecourseError::Interrupted(_)) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        match copy {
            Some(index) => {
                let xi = self.dropped_copies.remove(index);
                self.add_copy(&xi, x)
            }
            None => Ok(false),
        }
    }

    /// Adds the cut of the pool with the largest value at `x`, if that is above `theta`, or a violated feasibility cut;
    /// whether there is one that the master lacks.
    pub(crate) fn add_violated_cut(&mut self, x: &[f64], theta: f64, pool: &CutPool) -> bool {
        let feasibility = pool.violated_feasibility_cut(x);
        let optimality = pool.largest_at(x).filter(|(_, value)| *value > theta).map(|(cut, _)| cut);
        [feasibility, optimality].into_iter().flatten().any(|cut| self.add_cut(pool.scenario(cut), pool.cut(cut)))
    }

    /// The optimal basis of the recourse at (x, ξ), if there is one.
    fn recourse_basis(&mut self, xi: &[f64], x: &[f64]) -> Result<Option<Arc<Basis>>, Error> {
        self.engine.at(x);
        match self.engine.solve(xi, &mut self.answer) {
            Ok(()) if self.answer.outcome == RecourseOutcome::Solved => Ok(self.engine.warm_start().0),
            Ok(()) | Err(RecourseError::Interrupted(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The master's point at a decision: x, its cost in the scenarios here, and the recourse to each. `None` where one
    /// has none.
    fn point_at(&mut self, x: &[f64]) -> Result<Option<Vec<f64>>, Error> {
        let dim = self.problem.first.dim();
        let mut point = x.to_vec();
        point.push(f64::NEG_INFINITY);
        self.engine.at(x);
        for copy in &self.copies {
            match self.engine.solve(&copy.xi, &mut self.answer) {
                Ok(()) if self.answer.outcome == RecourseOutcome::Solved => {}
                Ok(()) | Err(RecourseError::Interrupted(_)) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            point[dim] = point[dim].max(self.answer.cost);
            let start = point.len();
            point.resize(start + self.problem.recourse.dim(), 0.0);
            self.engine.decision(&mut point[start..]);
        }
        for held in self.cuts.iter().filter(|held| held.cut.kind == CutKind::Optimality) {
            point[dim] = point[dim].max(held.cut.at(x));
        }
        Ok(Some(point))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::definition::{Row, Variable};
    use crate::model::ProblemDefinition;
    use crate::uncertainty::SetDefinition;

    /// Order x at 1 each; a shortage against a demand in [0, 100] costs 2 each later.
    fn newsvendor() -> Problem {
        let mut file = ProblemDefinition::default();
        file.first_stage.variables.push(Variable::new("order", 1.0).bounded(0.0, 90.0));
        file.uncertainty.parameters.push("demand".into());
        file.uncertainty.set = SetDefinition::Box { lower: vec![0.0], upper: vec![100.0] };
        file.recourse.variables.push(Variable::new("short", 2.0));
        let mut cover = Row::new("cover");
        cover.y = vec![("short".into(), 1.0)];
        cover.x = vec![("order".into(), 1.0)];
        cover.xi = vec![("demand".into(), -1.0)];
        cover.lower = 0.0;
        file.recourse.constraints.push(cover);
        Problem::new(&file).unwrap()
    }

    fn solve(master: &mut MasterProblem) -> MasterSolution {
        master.solve(None, 0.0, 1, &Clock::unlimited()).unwrap()
    }

    #[test]
    fn idle_copies_and_cuts_are_dropped_after_the_bound_rises_and_are_restored() {
        let problem = newsvendor();
        let mut master = MasterProblem::new(&problem, &Clock::unlimited()).unwrap();
        assert!(master.add_copy(&[10.0], &[0.0]).unwrap() && !master.add_copy(&[10.0], &[0.0]).unwrap());
        assert!(master.add_copy(&[100.0], &[0.0]).unwrap());
        let cut = Cut { kind: CutKind::Optimality, intercept: 10.0, slope: vec![-1.0] };
        assert!(master.add_cut(&[20.0], cut.clone()) && !master.add_cut(&[20.0], cut));
        // 90 are ordered and 10 are short: the demand of 10 is idle, and so is the cut.
        let solved = solve(&mut master);
        assert_eq!((solved.x, solved.theta, solved.lower), (Some(vec![90.0]), Some(20.0), Some(110.0)));
        (1..COPY_IDLE_LIMIT).for_each(|_| drop(solve(&mut master)));
        assert_eq!(master.size(), MasterSize { scenarios: 2, cuts: 1 }, "the nominal copy stays");
        // The bound has not risen since: nothing more is dropped, however idle.
        (0..CUT_IDLE_LIMIT).for_each(|_| drop(solve(&mut master)));
        assert_eq!(master.size(), MasterSize { scenarios: 2, cuts: 1 });
        let mut pool = CutPool::new(&problem);
        assert!(!master.restore_copy(&[90.0], 20.0).unwrap());
        // Where nothing is ordered, both cost 20 and 10.
        assert!(master.restore_copy(&[0.0], 15.0).unwrap());
        assert_eq!(master.size().scenarios, 3);
        let cut = Cut { kind: CutKind::Optimality, intercept: 30.0, slope: vec![-1.0] };
        pool.insert(&cut, &[30.0]);
        assert!(!master.add_violated_cut(&[0.0], 30.0, &pool));
        assert!(master.add_violated_cut(&[0.0], 25.0, &pool) && master.size().cuts == 2);
    }

    #[test]
    fn scenarios_that_a_bound_does_not_rest_on_have_no_weight_and_need_no_copy() {
        let problem = newsvendor();
        let scenarios = || vec![&[10.0][..], &[100.0], &[60.0]];
        let copies = ScenarioCopies::new(&problem, scenarios(), &Clock::unlimited()).unwrap();
        let weights = copies.weights(&Clock::unlimited()).unwrap().unwrap();
        assert!(weights.iter().zip([0.0, 1.0, 0.0]).all(|(weight, sure)| (weight - sure).abs() < 1e-9), "{weights:?}");
        let mut master = MasterProblem::new(&problem, &Clock::unlimited()).unwrap();
        master.begin_with(scenarios().into_iter().skip(1).take(1));
        assert_eq!(master.size(), MasterSize { scenarios: 1, cuts: 0 }, "the nominal copy is gone");
        assert_eq!(solve(&mut master).lower, Some(110.0));
    }

    #[test]
    fn a_warm_start_changes_no_optimum() {
        let problem = newsvendor();
        let mut warm = MasterProblem::new(&problem, &Clock::unlimited()).unwrap();
        for (xi, x) in [(60.0, 50.0), (95.0, 60.0), (40.0, 90.0), (100.0, 90.0)] {
            assert!(warm.add_copy(&[xi], &[x]).unwrap());
            let solved = solve(&mut warm);
            let cold = warm.stacked().solve(&MasterStart::Cold, 0.0, 1, &Clock::unlimited()).unwrap();
            assert_eq!((solved.lower, solved.theta, solved.x), (cold.lower, cold.theta, cold.x), "{xi}");
            assert!(matches!(warm.start(None).unwrap(), MasterStart::Basis(_)));
        }
    }
}
