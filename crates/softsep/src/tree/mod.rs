//! Branch and cut over warm-started linear programs, with cuts that come from a *judge* as they are needed (HiGHS takes
//! none during its own search).
//!
//! The tree relaxes `min f(x) + max over ξ of Q(x, ξ)` to `min cᵀx + Σ θ_k + η` over X without integrality, where η is
//! above the cuts of a pool and each θ_k above tangents of one square of f's quadratic part. It knows nothing of
//! scenarios: the judge looks at the points that relaxations have, and says what they cost. The tree keeps no decision
//! either, only a cutoff that the judge gives and may take back.
//!
//! Nodes are solved in batches of a fixed size, each place in a batch with a HiGHS instance of its own, and merged in
//! order: the search is the same on any number of threads.

mod branching;
mod fixing;
mod frame;
mod heuristics;
mod node;
mod pool;
mod relaxation;
mod rows;
mod search;
mod slot;
#[cfg(test)]
mod tests;
mod tighten;

use crate::error::Error;
use crate::recourse::Cut;
use crate::run::Run;

pub(crate) use search::Tree;

/// A relaxation's optimum at a node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    /// The decision.
    pub(crate) x: Vec<f64>,
    /// What the pool's cuts say that its recourse costs at least; −∞ as long as none does.
    pub(crate) eta: f64,
    /// The relaxation's value f(x) + η, with tangents in place of a quadratic part of f: no decision of the node costs
    /// less. −∞ where that is unbounded.
    pub(crate) bound: f64,
    /// Whether the integers have integral values. They are exactly so in `x` then.
    pub(crate) integral: bool,
}

/// Who knows what decisions cost. The tree keeps no incumbent: the judge does.
pub(crate) trait LazyCutCallback {
    /// Cuts at each point, in order; they need not be violated. Called with batches, so that the judge may work in
    /// parallel.
    ///
    /// Where an integral point gets no violated cut the node is settled: the judge has accepted the point, and made it
    /// the incumbent if it is better.
    fn look(&mut self, points: &[Point], run: &mut Run) -> Result<Vec<Vec<Cut>>, Error>;

    /// A decision with integral values from a heuristic: the judge finds what it costs and may take it as incumbent.
    /// Its cuts hold everywhere.
    fn consider(&mut self, x: &[f64], run: &mut Run) -> Result<Vec<Cut>, Error>;

    /// Nodes whose bound reaches this need no search. It may fall when a better decision is found, and rise when a
    /// worse scenario is found for the incumbent: then nodes that were put aside come back.
    fn cutoff(&self, run: &Run) -> f64;

    /// The tree's valid lower bound rose; an error of [`Stop`](crate::run::Stop) ends the search.
    fn bounded(&mut self, lower: f64, run: &mut Run) -> Result<(), Error>;

    /// An integral point stands although the relaxation is unbounded with all that is known: what a judge that cannot
    /// vouch for the point makes of that. `None` from one that can: the problem is unbounded then.
    fn doubts_unbounded(&mut self, _run: &mut Run) -> Option<Error> {
        None
    }

    /// The scenarios behind the cuts, to explain why no decision is feasible.
    fn scenarios(&self) -> Vec<&[f64]> {
        Vec::new()
    }
}

/// How the tree is searched.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TreeSettings {
    /// Nodes that are solved side by side before what they found is merged. The search depends on it, and not on the
    /// number of threads.
    pub(crate) batch: usize,
    /// Rounds of cuts at fractional points of the root, at most.
    pub(crate) root_rounds: u32,
    /// Nodes down to this depth get one round of cuts at a fractional point, deeper ones only at integral points.
    pub(crate) cut_depth: u32,
    /// Whether decisions are sought by rounding and diving.
    pub(crate) heuristics: bool,
    /// Nodes to be solved at most; the search stops with [`Stop::IterationLimit`](crate::run::Stop::IterationLimit)
    /// then.
    pub(crate) nodes: Option<u64>,
}

impl Default for TreeSettings {
    fn default() -> Self {
        Self { batch: 4, root_rounds: 100, cut_depth: 4, heuristics: true, nodes: None }
    }
}

/// What a search has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Work {
    /// Nodes solved; one that is solved again for a new cut counts once.
    pub(crate) nodes: u64,
    /// Linear programs of nodes and heuristics.
    pub(crate) programs: u64,
    /// Their pivots.
    pub(crate) pivots: u64,
    /// Linear programs that only look where to branch.
    pub(crate) probes: u64,
    /// Their pivots.
    pub(crate) probe_pivots: u64,
    /// Linear programs that HiGHS could not solve from a basis and solved from nothing.
    pub(crate) retries: u64,
    /// Decisions that heuristics handed to the judge.
    pub(crate) considered: u64,
}

impl Work {
    fn add(&mut self, other: &Work) {
        self.nodes += other.nodes;
        self.programs += other.programs;
        self.pivots += other.pivots;
        self.probes += other.probes;
        self.probe_pivots += other.probe_pivots;
        self.retries += other.retries;
        self.considered += other.considered;
    }
}
