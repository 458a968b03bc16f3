//! The search: batches of nodes, merged in order, until no node below the cutoff is open.

use std::ops::ControlFlow;
use std::sync::Arc;

use rayon::prelude::*;

use super::branching::{ProbeBudget, Pseudocosts};
use super::cut_rows::CutRows;
use super::dynamic_rows::RelaxationBasis;
use super::heuristics::PrimalHeuristics;
use super::node::{BoundChange, NodeQueue, TreeNode};
use super::reduced_cost_fixing::ReducedCosts;
use super::root_model::RootModel;
use super::worker::{BatchContext, Child, NodeOutcome, NodeReport, NodeWorker};
use super::{LazyCutCallback, Point, TreeSettings, TreeWork};
use crate::cuts::{Cursor, CutPool};
use crate::error::Error;
use crate::master::{ScenarioCopies, explain_infeasible, explain_unbounded};
use crate::model::Problem;
use crate::run::{Clock, MasterSize, Run, Stop, Verdict};

/// A worker continues its plunge while the node's bound is within this share of the gap from the lower bound.
const PLUNGE_SHARE: f64 = 0.3;

/// A round of cuts at the root is effective if the bound rises by this share of the gap to the cutoff, or of the bound
/// itself if there is no cutoff. After this many consecutive rounds that are not effective, rounds at the root end.
const MIN_RISE_OF_GAP: f64 = 1e-3;
const MIN_RISE_OF_BOUND: f64 = 1e-4;
const MAX_STALLED_ROUNDS: u32 = 4;

/// Probes may take this multiple of the nodes' pivots, plus a constant.
const PROBE_SHARE: u64 = 1;
const PROBE_FREE: u64 = 10_000;

/// Batches between two roundings, and between two dives.
const ROUNDING_PERIOD: u64 = 8;
const DIVE_PERIOD: u64 = 16;

/// Evaluations in a row of decisions with the same integers, each with the cuts of the ones before.
const MAX_POLISHING_ROUNDS: u32 = 20;

/// An integral point for which the callback returned no violated cut.
#[derive(Debug)]
struct AcceptedPoint {
    node: TreeNode,
    point: Point,
    /// Cutoff of the callback when the point was accepted.
    cutoff: f64,
}

/// A branch-and-cut tree.
#[derive(Debug)]
pub(crate) struct Tree<'p> {
    root: RootModel<'p>,
    settings: TreeSettings,
    /// Rows of the cuts that have been read from the callback's pool, and the position of the reader there.
    pool: CutRows,
    cursor: Cursor,
    pseudocosts: Pseudocosts,
    workers: Vec<NodeWorker>,
    heuristics: PrimalHeuristics,
    open: NodeQueue,
    /// Nodes with a bound at or above the cutoff.
    pruned: NodeQueue,
    accepted: Vec<AcceptedPoint>,
    /// Nodes that HiGHS has no answer for, with all integers fixed. They stay open, and are not solved again.
    unsolved: Vec<TreeNode>,
    next_number: u64,
    /// Cutoff of the last batch, reduced costs of the root, and the fixings that follow from both.
    cutoff: f64,
    reduced_costs: Option<ReducedCosts>,
    fixings: Vec<BoundChange>,
    root_basis: Option<Arc<RelaxationBasis>>,
    /// Consecutive rounds of cuts at the root that were not effective, and the root's bound before the last one.
    stalled_rounds: u32,
    root_bound: f64,
    /// Last lower bound passed to the callback.
    reported_bound: f64,
    batches: u64,
    /// True if a dive follows the next batch.
    dive_is_due: bool,
    work: TreeWork,
}

impl<'p> Tree<'p> {
    /// Builds a tree with its root.
    pub(crate) fn new(problem: &'p Problem, settings: TreeSettings, clock: &Clock) -> Result<Self, Error> {
        let root = RootModel::new(problem, &settings.copies, clock)?;
        let workers = (0..settings.batch.max(1)).map(|_| NodeWorker::new(&root)).collect::<Result<Vec<_>, Error>>()?;
        let mut open = NodeQueue::default();
        open.push(TreeNode::root(settings.root_rounds));
        Ok(Self {
            heuristics: PrimalHeuristics::new(&root)?,
            pseudocosts: Pseudocosts::new(root.dim()),
            root,
            settings,
            pool: CutRows::default(),
            cursor: Cursor::default(),
            workers,
            open,
            pruned: NodeQueue::default(),
            accepted: Vec::new(),
            unsolved: Vec::new(),
            next_number: 1,
            cutoff: f64::INFINITY,
            reduced_costs: None,
            fixings: Vec::new(),
            root_basis: None,
            stalled_rounds: 0,
            root_bound: f64::NEG_INFINITY,
            reported_bound: f64::NEG_INFINITY,
            batches: 0,
            dive_is_due: false,
            work: TreeWork::default(),
        })
    }

    /// Reads the new cuts of the callback's pool. Accepted points that they cut off become open nodes again.
    fn read_cuts(&mut self, pool: &CutPool) {
        let from = self.pool.cuts().len();
        for cut in pool.read_new(&mut self.cursor) {
            self.pool.add(pool.cut(cut));
        }
        let Self { pool, accepted, open, .. } = self;
        for AcceptedPoint { node, .. } in
            accepted.extract_if(.., |accepted| pool.violates(from, &accepted.point.x, accepted.point.eta))
        {
            open.push(node);
        }
    }

    /// Changes the node limit.
    pub(crate) fn set_node_limit(&mut self, nodes: Option<u64>) {
        self.settings.nodes = nodes;
    }

    /// Returns the counters.
    pub(crate) fn work(&self) -> TreeWork {
        self.work
    }

    /// Returns the number of cuts in the pool.
    pub(crate) fn cuts(&self) -> usize {
        self.pool.cuts().len()
    }

    /// Returns the number of cuts and tangents in the largest linear program.
    pub(crate) fn rows(&self) -> usize {
        self.workers.iter().map(|worker| worker.program.rows()).max().unwrap_or(0)
    }

    /// Returns the lower bound on all decisions.
    pub(crate) fn lower(&self) -> f64 {
        let workers = self.workers.iter().flat_map(|worker| &worker.node).map(|node| node.bound);
        let accepted = self.accepted.iter().map(|accepted| accepted.node.bound);
        let unsolved = self.unsolved.iter().map(|node| node.bound);
        workers.chain(accepted).chain(unsolved).fold(self.open.min_bound().min(self.pruned.min_bound()), f64::min)
    }

    /// Searches until no node below the cutoff is open, or the run ends; returns why it ends. May be called again after
    /// cuts were inserted into the pool or the cutoff has risen.
    pub(crate) fn search(&mut self, callback: &mut dyn LazyCutCallback, run: &mut Run) -> Result<Option<Stop>, Error> {
        self.read_cuts(callback.pool());
        loop {
            self.update_cutoff(callback, run)?;
            if let Some(stop) = self.report_bound(callback, run)? {
                return Ok(Some(stop));
            }
            self.assign_nodes();
            if self.workers.iter().all(|worker| worker.node.is_none()) {
                return self.finish(callback, run);
            }
            if self.settings.nodes.is_some_and(|limit| self.work.nodes >= limit) {
                return Ok(Some(Stop::IterationLimit));
            }
            if let Some(stop) = self.process_batch(callback, run)? {
                return Ok(Some(stop));
            }
            run.set_master(MasterSize { scenarios: self.root.copies.len(), cuts: self.rows() });
            if let Some(stop) = run.tick() {
                return Ok(Some(stop));
            }
        }
    }

    /// Moves nodes between the queues for the current cutoff, which may have fallen or risen.
    fn update_cutoff(&mut self, callback: &dyn LazyCutCallback, run: &Run) -> Result<(), Error> {
        let cutoff = callback.cutoff(run);
        if cutoff.is_nan() {
            return Err(Error::Master("the cutoff of a tree is not a number".into()));
        }
        while let Some(node) = self.pruned.pop_below(cutoff) {
            self.open.push(node);
        }
        while let Some(node) = self.open.pop_at_or_above(cutoff) {
            self.prune(node);
        }
        let Self { accepted, unsolved, open, .. } = self;
        unsolved.extract_if(.., |node| node.valid_below < cutoff).for_each(|node| open.push(node));
        // With a higher cutoff than at acceptance the callback may return further cuts at a point.
        let is_open = |accepted: &mut AcceptedPoint| {
            accepted.node.valid_below < cutoff || cutoff > accepted.cutoff && accepted.node.bound < cutoff
        };
        for AcceptedPoint { node, .. } in accepted.extract_if(.., is_open) {
            open.push(node);
        }
        if cutoff != self.cutoff {
            self.cutoff = cutoff;
            self.fixings =
                self.reduced_costs.as_ref().map(|reduced_costs| reduced_costs.fixings(cutoff)).unwrap_or_default();
        }
        Ok(())
    }

    /// Keeps a pruned node in case the cutoff rises. Most never return, so that the root's basis is good enough for
    /// them.
    fn prune(&mut self, mut node: TreeNode) {
        node.basis.clone_from(&self.root_basis);
        self.pruned.push(node);
    }

    fn report_bound(&mut self, callback: &mut dyn LazyCutCallback, run: &mut Run) -> Result<Option<Stop>, Error> {
        let lower = self.lower();
        if lower <= self.reported_bound || lower == f64::INFINITY {
            return Ok(None);
        }
        self.reported_bound = lower;
        let stop = callback.lower_bound_rose(lower, run)?;
        self.read_cuts(callback.pool());
        Ok(stop)
    }

    /// Assigns a node to every worker: the one of its plunge while that is promising, or else the open node with the
    /// smallest bound.
    fn assign_nodes(&mut self) {
        let (lower, cutoff) = (self.lower(), self.cutoff);
        let plunge_limit = if cutoff.is_finite() && lower.is_finite() {
            lower + PLUNGE_SHARE * (cutoff - lower)
        } else {
            f64::INFINITY
        };
        for position in 0..self.workers.len() {
            if let Some(node) = self.workers[position]
                .node
                .take_if(|node| node.bound > plunge_limit && node.bound > lower || node.bound >= cutoff)
            {
                self.open.push(node);
            }
        }
        for position in 0..self.workers.len() {
            if self.workers[position].node.is_none() {
                self.workers[position].node = self.open.pop_below(cutoff);
            }
        }
        while let Some(node) = self.open.pop_at_or_above(cutoff) {
            self.prune(node);
        }
    }

    /// Solves the assigned nodes and merges their results in order.
    fn process_batch(&mut self, callback: &mut dyn LazyCutCallback, run: &mut Run) -> Result<Option<Stop>, Error> {
        self.batches += 1;
        let reports = self.solve_batch();
        let mut waiting: Vec<(usize, TreeNode, Option<ReducedCosts>)> = Vec::new();
        let mut points = Vec::new();
        let mut failed = None;
        let before = self.work.nodes;
        for (position, report) in reports.into_iter().enumerate() {
            let report = match report {
                Ok(Some(report)) => report,
                Ok(None) => continue,
                Err(error) => {
                    failed = failed.or(Some(error));
                    continue;
                }
            };
            self.work.add(&report.work);
            report.samples.iter().for_each(|sample| self.pseudocosts.record(sample));
            match report.outcome {
                NodeOutcome::Infeasible(node) => self.close_infeasible(node),
                NodeOutcome::CutoffReached(node) => self.prune(node),
                NodeOutcome::Branched(node, children) => self.branch(position, &node, children),
                NodeOutcome::Unsolved(node) => self.unsolved.push(node),
                NodeOutcome::NeedsCuts(node, point, reduced_costs) => {
                    waiting.push((position, node, reduced_costs));
                    points.push(point);
                }
            }
        }
        run.count_nodes(self.work.nodes - before);
        let fractional = waiting
            .iter()
            .zip(&points)
            .find(|(_, point)| !point.integral)
            .map(|((_, node, _), point)| (node.clone(), point.x.clone()));
        let separated = match (failed, waiting.is_empty()) {
            (Some(error), _) => Err(error),
            (None, true) => Ok(ControlFlow::Continue(Vec::new())),
            (None, false) => callback.separate(&points, run),
        };
        let accepted = match separated {
            Ok(ControlFlow::Continue(accepted)) => accepted,
            // The nodes return to their workers, so that none is lost.
            ended => {
                waiting.into_iter().for_each(|(position, node, _)| self.workers[position].node = Some(node));
                return ended.map(ControlFlow::break_value);
            }
        };
        self.read_cuts(callback.pool());
        for (((position, node, reduced_costs), point), accepted) in waiting.into_iter().zip(points).zip(accepted) {
            if let Some(stop) = self.continue_node(position, node, reduced_costs, point, accepted, callback, run)? {
                return Ok(Some(stop));
            }
        }
        self.run_heuristics(fractional, callback, run).map(|()| None)
    }

    /// Solves the assigned nodes in parallel. The reports are in the order of the workers.
    fn solve_batch(&mut self) -> Vec<Result<Option<NodeReport>, Error>> {
        let probe_budget = ProbeBudget {
            pivots_per_node: self.work.pivots as f64 / self.work.programs.max(1) as f64,
            is_spent: self.work.probe_pivots > PROBE_SHARE * self.work.pivots + PROBE_FREE,
        };
        let Self { root, pool, pseudocosts, fixings, cutoff, workers, .. } = self;
        let context = BatchContext { root, pool, pseudocosts, fixings, cutoff: *cutoff, probe_budget };
        workers.par_iter_mut().map(|worker| worker.process(&context)).collect()
    }

    /// Closes an infeasible node. It is pruned, not dropped, if reduced-cost fixing may have made it infeasible.
    fn close_infeasible(&mut self, mut node: TreeNode) {
        if node.valid_below < f64::INFINITY {
            node.bound = node.bound.max(node.valid_below);
            self.prune(node);
        }
    }

    /// Assigns the more promising child to the worker and queues the other.
    fn branch(&mut self, position: usize, parent: &TreeNode, children: [Child; 2]) {
        let cut_rounds_left = u32::from(parent.depth < self.settings.cut_depth);
        let mut open: Vec<(TreeNode, f64)> = Vec::new();
        for Child { node: mut child, estimate, is_infeasible } in children {
            child.number = self.next_number;
            child.cut_rounds_left = cut_rounds_left;
            self.next_number += 1;
            if is_infeasible {
                self.close_infeasible(child);
            } else if child.bound >= self.cutoff {
                self.prune(child);
            } else {
                open.push((child, estimate));
            }
        }
        open.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.number.cmp(&a.0.number)));
        self.workers[position].node = open.pop().map(|(child, _)| child);
        open.into_iter().for_each(|(child, _)| self.open.push(child));
    }

    /// Continues with a node whose point the callback has separated, and `accepted` or not. Returns why the run ends,
    /// if it does.
    #[allow(clippy::too_many_arguments)]
    fn continue_node(
        &mut self,
        position: usize,
        mut node: TreeNode,
        reduced_costs: Option<ReducedCosts>,
        point: Point,
        accepted: bool,
        callback: &mut dyn LazyCutCallback,
        run: &mut Run,
    ) -> Result<Option<Stop>, Error> {
        let is_root = node.depth == 0;
        if is_root && reduced_costs.is_some() {
            self.reduced_costs = reduced_costs;
            self.root_basis.clone_from(&node.basis);
        }
        let violated = !accepted && self.workers[position].program.add_violated_cuts(&point, &self.root, &self.pool)?;
        if violated {
            node.cut_rounds_left =
                if point.integral { node.cut_rounds_left } else { node.cut_rounds_left.saturating_sub(1) };
            if is_root && !point.integral && !self.root_cuts_pay(&point) {
                node.cut_rounds_left = 0;
            }
        } else if point.integral {
            if node.unbounded {
                return match callback.unbounded_relaxation(run)? {
                    Some(stop) => Ok(Some(stop)),
                    None => self.prove_unbounded(run).map(Some),
                };
            }
            self.accepted.push(AcceptedPoint { node, point, cutoff: callback.cutoff(run) });
            return Ok(None);
        } else {
            node.cut_rounds_left = 0;
        }
        self.dive_is_due |= is_root && node.cut_rounds_left == 0;
        self.workers[position].node = Some(node);
        Ok(None)
    }

    /// Returns whether recent rounds of cuts at the root have raised its bound enough.
    fn root_cuts_pay(&mut self, point: &Point) -> bool {
        let rise = point.bound - self.root_bound;
        let enough = match self.cutoff - point.bound {
            gap if gap.is_finite() => MIN_RISE_OF_GAP * gap,
            _ => MIN_RISE_OF_BOUND * point.bound.abs(),
        };
        self.stalled_rounds =
            if point.bound.is_finite() && rise.is_finite() && rise < enough { self.stalled_rounds + 1 } else { 0 };
        self.root_bound = point.bound;
        self.stalled_rounds < MAX_STALLED_ROUNDS
    }

    /// Runs the rounding heuristic at a fractional point and the diving heuristic at an assigned node, when they are
    /// due.
    fn run_heuristics(
        &mut self,
        fractional: Option<(TreeNode, Vec<f64>)>,
        callback: &mut dyn LazyCutCallback,
        run: &mut Run,
    ) -> Result<(), Error> {
        if !self.settings.heuristics || self.root.integers.is_empty() {
            return Ok(());
        }
        self.update_cutoff(callback, run)?;
        if let Some((node, x)) = fractional.filter(|_| self.batches.is_multiple_of(ROUNDING_PERIOD)) {
            let found = self.heuristics.round(&node, &x, self.cutoff, &self.root, &self.pool)?;
            self.evaluate_heuristic(found, callback, run)?;
        }
        if (self.batches.is_multiple_of(DIVE_PERIOD) || std::mem::take(&mut self.dive_is_due))
            && let Some(node) = self.workers.iter().find_map(|worker| worker.node.clone())
        {
            let found = self.heuristics.dive(&node, &self.fixings, self.cutoff, &self.root, &self.pool)?;
            self.evaluate_heuristic(found, callback, run)?;
        }
        Ok(())
    }

    /// Lets the callback evaluate a heuristic's decision, and solves for its continuous columns again with the cuts
    /// that this brings, until its integers cost at least the cutoff.
    fn evaluate_heuristic(
        &mut self,
        mut found: Option<Vec<f64>>,
        callback: &mut dyn LazyCutCallback,
        run: &mut Run,
    ) -> Result<(), Error> {
        self.work.add(&std::mem::take(&mut self.heuristics.program.work));
        let has_continuous = self.root.integers.len() < self.root.dim();
        for _ in 0..MAX_POLISHING_ROUNDS {
            let Some(x) = found else { break };
            self.work.considered += 1;
            callback.evaluate(&x, run)?;
            self.read_cuts(callback.pool());
            if !has_continuous {
                break;
            }
            self.update_cutoff(callback, run)?;
            found = self.heuristics.polish(&x, self.cutoff, &self.root, &self.pool)?.filter(|polished| *polished != x);
            self.work.add(&std::mem::take(&mut self.heuristics.program.work));
        }
        Ok(())
    }

    /// Ends a search without open nodes. If no node was ever accepted or pruned, the problem is infeasible. The search
    /// stalls if HiGHS has no answer for a node below the cutoff.
    fn finish(&mut self, callback: &mut dyn LazyCutCallback, run: &mut Run) -> Result<Option<Stop>, Error> {
        if self.unsolved.iter().any(|node| node.bound < self.cutoff) {
            run.say("HiGHS could not solve all nodes of the tree: the lower bound stays at the one of their parents");
            return Ok(Some(Stop::Stalled));
        }
        if !self.unsolved.is_empty() || !self.accepted.is_empty() || !self.pruned.is_empty() {
            return Ok(None);
        }
        let pool = callback.pool();
        let copies = self.root.copies.iter().map(Vec::as_slice);
        let scenarios: Vec<&[f64]> = (0..pool.len()).map(|cut| pool.scenario(cut)).chain(copies).collect();
        let explain = |clock: &Clock| {
            let copies = ScenarioCopies::new(self.root.problem, scenarios.clone(), clock)?;
            explain_infeasible(&copies, clock)
        };
        let verdict = run.clock().with_grace(explain, Error::is_interrupt)?;
        Ok(Some(run.prove(Verdict::Infeasible(verdict))))
    }

    /// Proves that the problem is unbounded after the callback has accepted a point of an unbounded relaxation. With
    /// fixed recourse costs a ray of the master with one scenario copy is a ray from any feasible decision (see
    /// `methods/generation.rs`), and the accepted point is one.
    fn prove_unbounded(&self, run: &mut Run) -> Result<Stop, Error> {
        let problem = self.root.problem;
        if problem.recourse.costs_move() {
            return Err(Error::Master("the relaxation stays unbounded with all cuts that were found".into()));
        }
        let mut nominal = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut nominal);
        let explain = |clock: &Clock| explain_unbounded(&ScenarioCopies::new(problem, vec![&nominal], clock)?, clock);
        let ray = run.clock().with_grace(explain, Error::is_interrupt)?;
        Ok(run.prove(Verdict::Unbounded(ray)))
    }
}
