//! A worker of a batch: one linear program, the node assigned to it, and the outcome of that node.

use std::sync::Arc;

use super::branching::{
    BranchChoice, BranchEstimate, MIN_BRANCH_DISTANCE, ProbeBudget, PseudocostSample, Pseudocosts, choose_branch,
};
use super::cut_rows::CutRows;
use super::node::{BoundChange, Branch, TreeNode};
use super::reduced_cost_fixing::ReducedCosts;
use super::relaxation::{NodeRelaxation, RelaxationStatus};
use super::root_model::RootModel;
use super::{Point, TreeWork};
use crate::error::Error;

/// State that all workers of a batch share. It is constant during the batch.
pub(super) struct BatchContext<'a, 'p> {
    pub(super) root: &'a RootModel<'p>,
    pub(super) pool: &'a CutRows,
    pub(super) pseudocosts: &'a Pseudocosts,
    pub(super) fixings: &'a [BoundChange],
    pub(super) cutoff: f64,
    pub(super) probe_budget: ProbeBudget,
}

/// Outcome of a node.
#[derive(Debug)]
pub(super) enum NodeOutcome {
    /// The node is infeasible.
    Infeasible(TreeNode),
    /// The bound is at or above the cutoff.
    CutoffReached(TreeNode),
    /// The callback must separate the point. The reduced costs are given for the root only.
    NeedsCuts(TreeNode, Point, Option<ReducedCosts>),
    /// The node was branched.
    Branched(TreeNode, [Child; 2]),
    /// HiGHS has no answer for the node, and all its integers are fixed. Its bound holds, and it stays open.
    Unsolved(TreeNode),
}

/// A child of a branched node.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) node: TreeNode,
    /// Estimate of its objective.
    pub(super) estimate: f64,
    /// True if a probe has shown that it is infeasible.
    pub(super) is_infeasible: bool,
}

/// Outcome of a node, with pseudocost samples and counters.
#[derive(Debug)]
pub(super) struct NodeReport {
    pub(super) outcome: NodeOutcome,
    pub(super) samples: Vec<PseudocostSample>,
    pub(super) work: TreeWork,
}

#[derive(Debug)]
pub(super) struct NodeWorker {
    pub(super) program: NodeRelaxation,
    pub(super) node: Option<TreeNode>,
}

impl NodeWorker {
    pub(super) fn new(root: &RootModel) -> Result<Self, Error> {
        Ok(Self { program: NodeRelaxation::new(root)?, node: None })
    }

    /// Solves the assigned node. After an error the node stays assigned.
    pub(super) fn process(&mut self, context: &BatchContext) -> Result<Option<NodeReport>, Error> {
        let Some(mut node) = self.node.take() else { return Ok(None) };
        let kept = node.clone();
        let nodes = u64::from(std::mem::take(&mut node.is_new));
        let mut samples = Vec::new();
        let outcome = match self.solve_node(node, context, &mut samples) {
            Ok(outcome) => outcome,
            Err(error) => {
                self.node = Some(kept);
                return Err(error);
            }
        };
        let mut work = std::mem::take(&mut self.program.work);
        work.nodes = nodes;
        Ok(Some(NodeReport { outcome, samples, work }))
    }

    fn solve_node(
        &mut self,
        mut node: TreeNode,
        context: &BatchContext,
        samples: &mut Vec<PseudocostSample>,
    ) -> Result<NodeOutcome, Error> {
        let BatchContext { root, pool, cutoff, .. } = *context;
        let program = &mut self.program;
        if !program.load(&mut node, context.fixings, cutoff, root, pool)? {
            return Ok(NodeOutcome::Infeasible(node));
        }
        let status = program.optimise(cutoff, root, pool)?;
        if status == RelaxationStatus::Infeasible {
            return Ok(NodeOutcome::Infeasible(node));
        }
        if status == RelaxationStatus::Unsolved {
            return Ok(branch_blindly(node, program, root));
        }
        // Decisions that fixings exclude cost at least `valid_below`.
        node.bound = node.bound.max(program.bound.min(node.valid_below));
        if let Some(branch) =
            node.branch.take().filter(|branch| branch.distance > MIN_BRANCH_DISTANCE && program.objective.is_finite())
        {
            let per_unit = (program.objective - branch.parent_objective).max(0.0) / branch.distance;
            samples.push(PseudocostSample { col: branch.col, up: branch.up, per_unit });
        }
        if status == RelaxationStatus::CutoffReached {
            return Ok(NodeOutcome::CutoffReached(node));
        }
        node.unbounded = status == RelaxationStatus::Unbounded;
        let mut reduced_costs = None;
        if status == RelaxationStatus::Optimal && program.is_confirmed && (cutoff < f64::INFINITY || node.depth == 0) {
            reduced_costs = Some(ReducedCosts::new(program, node.valid_below, root));
        }
        let point = program.point(root, pool)?;
        if status == RelaxationStatus::Optimal {
            node.basis = Some(Arc::new(program.store_basis(&node)));
        }
        if point.integral || node.cut_rounds_left > 0 {
            let reduced_costs = reduced_costs.filter(|_| node.depth == 0);
            return Ok(NodeOutcome::NeedsCuts(node, point, reduced_costs));
        }
        let fractional = program.fractional(root);
        match choose_branch(&fractional, context, program, samples)? {
            Some(choice) => Ok(branch_on(node, &choice, reduced_costs.as_ref(), program.objective, cutoff)),
            // The point is exactly integral, yet not in X within the tolerance: there is no fractional column.
            None => Ok(branch_blindly(node, program, root)),
        }
    }
}

/// Branches a node without a fractional column, whose children inherit its bound: they are smaller programs, and in the
/// end one of them has an answer.
fn branch_blindly(node: TreeNode, program: &NodeRelaxation, root: &RootModel) -> NodeOutcome {
    let Some((col, value)) = program.unfixed(root) else { return NodeOutcome::Unsolved(node) };
    let inherited = BranchEstimate { bound: node.bound, estimate: node.bound, is_infeasible: false };
    let choice = BranchChoice { col, value, branches: [inherited; 2] };
    let mut outcome = branch_on(node, &choice, None, f64::NEG_INFINITY, f64::INFINITY);
    if let NodeOutcome::Branched(_, children) = &mut outcome {
        // There is no objective to compute pseudocosts from.
        children.iter_mut().for_each(|child| child.node.branch = None);
    }
    outcome
}

/// Creates the two children of a node. Their numbers are assigned when they are merged.
fn branch_on(
    node: TreeNode,
    choice: &BranchChoice,
    reduced_costs: Option<&ReducedCosts>,
    objective: f64,
    cutoff: f64,
) -> NodeOutcome {
    let BranchChoice { col, value, branches } = *choice;
    let mut changes = node.changes.clone();
    changes.extend(reduced_costs.map(|reduced_costs| reduced_costs.fixings(cutoff)).unwrap_or_default());
    let fraction = value - value.floor();
    let children = [false, true].map(|up| {
        let branch_estimate = branches[usize::from(up)];
        // Only one side is set here. The other may be a fixing, which is dropped when the cutoff rises.
        let (lower, upper) = if up { (value.floor() + 1.0, f64::INFINITY) } else { (f64::NEG_INFINITY, value.floor()) };
        let mut changes = changes.clone();
        changes.push(BoundChange { col, lower, upper, valid_below: f64::INFINITY });
        let child = TreeNode {
            number: 0,
            parent: node.number,
            depth: node.depth + 1,
            bound: node.bound.max(branch_estimate.bound.min(node.valid_below)),
            changes,
            basis: node.basis.clone(),
            branch: Some(Branch {
                col,
                up,
                distance: if up { 1.0 - fraction } else { fraction },
                parent_objective: objective,
            }),
            cut_rounds_left: 0,
            valid_below: node.valid_below,
            is_new: true,
            unbounded: false,
        };
        Child { node: child, estimate: branch_estimate.estimate, is_infeasible: branch_estimate.is_infeasible }
    });
    NodeOutcome::Branched(node, children)
}
