//! Branch and cut over warm-started linear programs, with lazy cuts from a callback (HiGHS accepts none during its own
//! search).
//!
//! The tree relaxes `min f(x) + max over ξ of Q(x, ξ)` to `min cᵀx + Σ θ_k + η` over X without integrality, where η is
//! above the cuts of a pool and each θ_k is above tangents of one square of f's quadratic part. Some scenarios may
//! have a copy of the recourse in the relaxation, whose cost η is above as well. The tree finds no scenarios itself: a
//! [`LazyCutCallback`] evaluates the points of the relaxations and returns cuts. The tree does not keep an
//! incumbent either, only the cutoff of the callback, which may also rise again.
//!
//! Nodes are solved in batches of a fixed size, by one worker with its own HiGHS instance each, and merged in order.
//! The search is therefore the same on any number of threads.

mod branching;
mod cut_rows;
mod dynamic_rows;
mod heuristics;
mod node;
mod proof;
mod propagation;
mod reduced_cost_fixing;
mod relaxation;
mod root_model;
mod search;
#[cfg(test)]
mod tests;
mod worker;

use std::ops::ControlFlow;

use crate::cuts::CutPool;
use crate::error::Error;
use crate::run::{Run, Stop};

pub(crate) use search::Tree;

/// Optimum of the relaxation of a node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    /// First-stage decision.
    pub(crate) x: Vec<f64>,
    /// Lower bound on the recourse cost by the cuts of the pool. −∞ while there is no optimality cut.
    pub(crate) eta: f64,
    /// Value f(x) + η of the relaxation, with tangents in place of the quadratic part of f: a lower bound on all
    /// decisions of the node. −∞ if the relaxation is unbounded.
    pub(crate) bound: f64,
    /// True if x is integral. The integers of `x` are rounded to exact integers then.
    pub(crate) integral: bool,
}

/// Callback that separates at the points of the tree, owns the cut pool, and keeps the incumbent in the ledger.
pub(crate) trait LazyCutCallback {
    /// Separates at each point, in order, and inserts cuts into the pool. Returns for each point whether it is
    /// accepted: an integral point that the callback has made the incumbent if it is better, and at which no cut is
    /// worth another round.
    ///
    /// An integral point that violates no cut of the pool is accepted in any case. Breaks off where the run ends.
    fn separate(&mut self, points: &[Point], run: &mut Run) -> Result<ControlFlow<Stop, Vec<bool>>, Error>;

    /// Evaluates an integral decision of a primal heuristic, which may become the incumbent, and inserts cuts into the
    /// pool.
    fn evaluate(&mut self, x: &[f64], run: &mut Run) -> Result<(), Error>;

    /// Returns the pool, which the tree reads after each of these calls.
    fn pool(&self) -> &CutPool;

    /// Returns the cutoff: nodes with a bound at or above it are pruned. It may fall when a better decision is found,
    /// and rise when a worse scenario is found for the incumbent; pruned nodes then return to the queue.
    fn cutoff(&self, run: &Run) -> f64;

    /// Called when the valid lower bound of the tree has risen. Returns why the run ends, if it does.
    fn lower_bound_rose(&mut self, lower: f64, run: &mut Run) -> Result<Option<Stop>, Error>;

    /// Called when an integral point is accepted although the relaxation is unbounded with all cuts. A callback whose
    /// acceptance is no proof settles the matter and returns why the run ends. `None` means that the problem is
    /// unbounded.
    fn unbounded_relaxation(&mut self, _run: &mut Run) -> Result<Option<Stop>, Error> {
        Ok(None)
    }
}

/// Settings of the search.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TreeSettings {
    /// Nodes that are solved in parallel before their results are merged. The search depends on it, and not on the
    /// number of threads.
    pub(crate) batch: usize,
    /// Maximal rounds of cuts at fractional points of the root.
    pub(crate) root_rounds: u32,
    /// Nodes down to this depth get one round of cuts at a fractional point. Deeper ones get cuts at integral points
    /// only.
    pub(crate) cut_depth: u32,
    /// Whether the rounding and diving heuristics run.
    pub(crate) heuristics: bool,
    /// Node limit. The search then ends with [`Stop::IterationLimit`](crate::run::Stop::IterationLimit).
    pub(crate) nodes: Option<u64>,
    /// Scenarios with a copy of the recourse in the relaxation.
    pub(crate) copies: Vec<Vec<f64>>,
}

impl Default for TreeSettings {
    fn default() -> Self {
        Self { batch: 4, root_rounds: 100, cut_depth: 4, heuristics: true, nodes: None, copies: Vec::new() }
    }
}

/// Counters of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TreeWork {
    /// Nodes solved. A node that is solved again after a new cut counts once.
    pub(crate) nodes: u64,
    /// Linear programs of nodes and heuristics.
    pub(crate) programs: u64,
    /// Their pivots.
    pub(crate) pivots: u64,
    /// Linear programs of strong branching.
    pub(crate) probes: u64,
    /// Their pivots.
    pub(crate) probe_pivots: u64,
    /// Linear programs that HiGHS could not solve from a basis and solved from scratch.
    pub(crate) retries: u64,
    /// Decisions of heuristics that the callback evaluated.
    pub(crate) considered: u64,
}

impl TreeWork {
    fn add(&mut self, other: &TreeWork) {
        self.nodes += other.nodes;
        self.programs += other.programs;
        self.pivots += other.pivots;
        self.probes += other.probes;
        self.probe_pivots += other.probe_pivots;
        self.retries += other.retries;
        self.considered += other.considered;
    }
}
