//! The ledger of a run: limits, bounds, counters, the incumbent. A method writes every result here as soon as it holds,
//! so that a run stopped at any moment still has a result.

mod attested;
mod bounds;
mod clock;
mod deadline;
mod incumbent;
mod observer;
mod reserve;
mod seed;

pub use attested::{Assumption, Attested, ProbabilisticBound, Source, ViolationLevel};
pub use bounds::{Best, Bounds, Certificate};
pub use clock::{Clock, Interrupt, Limits, Stop};
pub(crate) use deadline::{Unfinished, run_until, solve_here, solve_mip_until, solve_until};
pub use incumbent::Incumbent;
pub use observer::{
    ChainDiagnostics, ChainRecord, Event, Header, MasterSize, Observer, Record, SearchDiagnostics, Silent,
};
pub use seed::{Purpose, Random, normals, stream};

use std::time::Instant;

use serde::{Deserialize, Serialize};
use softsep_lp::MipSolver;

use self::reserve::Reserve;

/// The proof that a problem has no optimum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// No decision is feasible for every ξ.
    Infeasible(Infeasible),
    /// The objective falls without end.
    Unbounded(Unbounded),
}

/// Where and why a problem is infeasible.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Infeasible {
    /// The stage that fails.
    pub stage: Stage,
    /// For the recourse: the scenarios to which no one decision leaves recourse. One where one is enough, several where
    /// each of them alone can be served.
    pub xi: Vec<Vec<f64>>,
    /// The first-stage rows that take part in the contradiction.
    pub first_rows: Vec<usize>,
    /// The recourse rows that take part in the contradiction.
    pub recourse_rows: Vec<usize>,
    /// The same in words.
    pub why: String,
}

/// Along which variables the objective falls without end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Unbounded {
    /// First-stage variables of the ray.
    pub first: Vec<usize>,
    /// Recourse variables of the ray.
    pub recourse: Vec<usize>,
}

/// One of the two stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Here and now.
    First,
    /// Wait and see.
    Recourse,
}

/// The evidence that a decision has recourse at every scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecourseEvidence {
    /// Every scenario has recourse, up to the solvers' tolerances.
    Proved,
    /// A search found no scenario without recourse; there may be one.
    Searched,
    /// There was no time to search, or there is no decision.
    Unknown,
}

/// One run of one method.
pub struct Run<'a> {
    clock: Clock,
    limits: Limits,
    solver: MipSolver,
    bounds: Bounds,
    incumbent: Option<Incumbent>,
    verdict: Option<Verdict>,
    method: &'static str,
    iterations: u64,
    recourse_solves: u64,
    exact_separations: u64,
    master: MasterSize,
    nodes: u64,
    chain: Option<ChainRecord>,
    reserve: Reserve,
    observer: &'a mut dyn Observer,
}

impl<'a> Run<'a> {
    /// Starts the clock.
    pub fn new(method: &'static str, limits: Limits, clock: Clock, observer: &'a mut dyn Observer) -> Self {
        Self {
            clock,
            limits,
            solver: MipSolver::default(),
            bounds: Bounds::default(),
            incumbent: None,
            verdict: None,
            method,
            iterations: 0,
            recourse_solves: 0,
            exact_separations: 0,
            master: MasterSize::default(),
            nodes: 0,
            chain: None,
            reserve: Reserve::default(),
            observer,
        }
    }

    /// The same run with another solver of mixed-integer programs.
    pub(crate) fn with_solver(self, solver: &MipSolver) -> Self {
        Self { solver: solver.clone(), ..self }
    }

    /// The solver of mixed-integer masters and separations.
    pub(crate) fn solver(&self) -> &MipSolver {
        &self.solver
    }

    /// The time left and the interrupt flag, to hand to solvers.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The limits of the run.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The bounds so far.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The size of the objective, as far as it is known: that of the lower bound, or 1.
    pub fn objective_size(&self) -> f64 {
        self.bounds.lower().map_or(1.0, f64::abs)
    }

    /// The proof that there is no optimum, if there is one.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// The method that is running.
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// Sets the method that continues the run.
    pub fn set_method(&mut self, method: &'static str) {
        self.method = method;
    }

    /// Iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Recourse solves so far.
    pub fn recourse_solves(&self) -> u64 {
        self.recourse_solves
    }

    /// Drops bounds that contradict one another, and keeps the decision as an estimate. Returns the amount of the
    /// contradiction.
    pub(crate) fn drop_contradiction(&mut self) -> Option<f64> {
        self.bounds.drop_contradiction()
    }

    /// Drops a verdict that a bound contradicts, together with that bound, and keeps the decision as an estimate.
    /// Returns the verdict in a word.
    pub(crate) fn drop_contradicted_verdict(&mut self) -> Option<&'static str> {
        let word = match self.verdict {
            Some(Verdict::Infeasible(_)) if self.bounds.upper().is_some() => "infeasible",
            Some(Verdict::Unbounded(_)) if self.bounds.lower().is_some() => "unbounded",
            _ => return None,
        };
        self.verdict = None;
        self.bounds.drop_proved();
        Some(word)
    }

    /// Records a lower bound on the optimum that holds for sure.
    pub fn lower(&mut self, value: f64) {
        self.bounds.raise_lower(value);
    }

    /// Records that decision `x`, of which f(x) is `first_cost`, costs at most `upper` in the worst case, for sure, and
    /// `value` at the worst ξ found, both with f(x).
    pub fn upper(&mut self, x: &[f64], first_cost: f64, value: f64, upper: f64, worst: &[f64]) {
        self.mark_separated(x);
        match &self.incumbent {
            Some(incumbent) if incumbent.x == x => self.raise_incumbent(value, worst),
            Some(incumbent) if incumbent.is_separated && incumbent.value <= value => {}
            _ if value.is_finite() => self.incumbent = Some(Incumbent::new(x, value, worst, true)),
            _ => {}
        }
        if self.bounds.lower_upper(x, first_cost, value, upper, worst) {
            self.observer.see(&Event::Better(&self.bounds));
        }
        // The search may have met no scenario as bad as one that is known.
        if let Some(incumbent) = self.incumbent.as_ref().filter(|incumbent| incumbent.x == x) {
            self.bounds.revise(x, incumbent.value, &incumbent.worst);
        }
    }

    /// Records the best known cost of `x`, an estimate.
    pub fn estimate(&mut self, x: &[f64], value: f64, worst: &[f64]) {
        if self.bounds.estimate(x, value, worst, true) {
            self.observer.see(&Event::Better(&self.bounds));
        }
    }

    /// Records the statements of random draws about `x`, estimated to cost `value` with f(x). Those about another
    /// decision than the best are dropped.
    pub fn attest(&mut self, x: &[f64], value: f64, attested: Attested) {
        if self.bounds.attest(x, value, attested) {
            self.observer.see(&Event::Better(&self.bounds));
        }
    }

    /// Counts recourse solves.
    pub fn count_solves(&mut self, solves: u64) {
        self.recourse_solves += solves;
    }

    /// Exact separations so far.
    pub fn exact_separations(&self) -> u64 {
        self.exact_separations
    }

    /// Counts exact separations.
    pub fn count_exact(&mut self, separations: u64) {
        self.exact_separations += separations;
    }

    /// Nodes of search trees so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Counts nodes of a search tree.
    pub fn count_nodes(&mut self, nodes: u64) {
        self.nodes += nodes;
    }

    /// Records the size of the master in this iteration.
    pub fn set_master(&mut self, master: MasterSize) {
        self.master = master;
    }

    /// Records the state of the chain in this iteration.
    pub fn set_chain(&mut self, chain: ChainRecord) {
        self.chain = Some(chain);
    }

    /// Ends the run with a proof that there is no optimum.
    pub fn prove(&mut self, verdict: Verdict) -> Stop {
        self.verdict = Some(verdict);
        Stop::Proved
    }

    /// Shows a note to the observer.
    pub fn say(&mut self, note: &str) {
        self.observer.see(&Event::Note(note));
    }

    /// Shows a note with a cost between two parts of a sentence, in the units of the problem as written.
    pub fn say_cost(&mut self, before: &str, cost: f64, after: &str) {
        let cost = cost * self.observer.cost_unit();
        self.say(&format!("{before} {cost}{after}"));
    }

    /// Shows the problem and the method to the observer.
    pub fn begin(&mut self, header: &Header) {
        self.observer.see(&Event::Start(header));
    }

    /// Keeps enough of a limited time for a last bound of the incumbent, by a separation that is expected to take so
    /// many recourse solves: [`tick`](Self::tick) ends the search when that time begins.
    pub(crate) fn keep_reserve(&mut self, expected_solves: Option<u64>) {
        self.reserve.keep(expected_solves);
    }

    /// Releases the time kept. Returns whether some was kept and is left.
    pub(crate) fn free_reserve(&mut self) -> bool {
        self.reserve.free() && self.clock.check().is_ok()
    }

    /// Notes the seconds that a separation took, its recourse solves, and whether it proved a bound.
    pub(crate) fn time_separation(&mut self, seconds: f64, solves: u64, is_proof: bool) {
        self.reserve.measure(seconds, solves, is_proof);
    }

    /// The moment at which the time kept begins; `None` where there is none, or nothing to bound.
    fn reserve_begin(&self) -> Option<Instant> {
        if self.incumbent.is_some() && !self.lacks_bound() {
            return None;
        }
        self.reserve.begin(self.clock.start(), self.clock.deadline()?)
    }

    /// The clock for long searches that are no separations: it stops where the time kept begins.
    pub(crate) fn search_clock(&self) -> Clock {
        self.reserve_begin().map_or_else(|| self.clock.clone(), |begin| self.clock.until(begin))
    }

    /// Ends an iteration: counts it, shows it to the observer, and returns why the run ends, if it does.
    pub fn tick(&mut self) -> Option<Stop> {
        self.iterations += 1;
        let record = Record {
            seconds: self.clock.seconds(),
            iteration: self.iterations,
            bounds: &self.bounds,
            recourse_solves: self.recourse_solves,
            master: self.master,
            nodes: self.nodes,
            chain: self.chain,
        };
        self.observer.see(&Event::Step(&record));
        let is_last = self.limits.iterations.is_some_and(|limit| self.iterations >= limit);
        match self.clock.check() {
            _ if self.bounds.meet(self.limits.gap) => Some(Stop::Gap),
            Err(interrupt) => Some(interrupt.into()),
            Ok(()) if self.reserve_begin().is_some_and(|begin| Instant::now() >= begin) => Some(Stop::TimeLimit),
            Ok(()) => is_last.then_some(Stop::IterationLimit),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_reserve_ends_the_search_before_the_time_limit_and_gives_its_time_back() {
        let mut silent = Silent;
        let clock = Clock::new(Some(Duration::from_secs(3600)), Default::default());
        let mut run = Run::new("test", Limits::default(), clock, &mut silent);
        run.keep_reserve(None);
        assert_eq!((run.tick(), run.search_clock().check(), run.free_reserve()), (None, Ok(()), true));
        let clock = Clock::new(Some(Duration::from_millis(500)), Default::default());
        let mut run = Run::new("test", Limits::default(), clock, &mut silent);
        run.keep_reserve(None);
        std::thread::sleep(Duration::from_millis(410));
        let ended = (run.tick(), run.search_clock().check());
        assert_eq!(ended, (Some(Stop::TimeLimit), Err(Interrupt::TimeLimit)));
        let is_freed = run.free_reserve();
        let next = run.tick();
        assert!(is_freed && next.is_none() || run.clock().check().is_err());
    }

    #[test]
    fn without_a_time_limit_nothing_is_kept() {
        let mut silent = Silent;
        let mut run = Run::new("test", Limits::default(), Clock::unlimited(), &mut silent);
        run.keep_reserve(None);
        run.time_separation(1e9, 1, true);
        assert_eq!((run.tick(), run.search_clock().check()), (None, Ok(())));
    }
}
