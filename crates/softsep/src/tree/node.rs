//! Nodes of the tree: bound changes since the root, and a basis to start from.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::dynamic_rows::RelaxationBasis;

/// Bounds of a column in a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BoundChange {
    pub(super) col: usize,
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// The change excludes only decisions that cost at least this: the cutoff at which a column was fixed by its
    /// reduced cost, or ∞ for a branching. The change is valid while the cutoff is not above it.
    pub(super) valid_below: f64,
}

/// The branching that created a node, for the pseudocosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Branch {
    pub(super) col: usize,
    pub(super) up: bool,
    /// Distance of the parent's value from the bound, and the parent's objective.
    pub(super) distance: f64,
    pub(super) parent_objective: f64,
}

/// A node.
#[derive(Debug, Clone)]
pub(super) struct TreeNode {
    pub(super) number: u64,
    pub(super) parent: u64,
    pub(super) depth: u32,
    /// Lower bound on all decisions of the node, whichever changes are valid.
    pub(super) bound: f64,
    pub(super) changes: Vec<BoundChange>,
    /// Optimal basis of the parent.
    pub(super) basis: Option<Arc<RelaxationBasis>>,
    pub(super) branch: Option<Branch>,
    /// Remaining rounds of cuts at fractional points.
    pub(super) cut_rounds_left: u32,
    /// Smallest `valid_below` of the changes in effect at the last solve. The results of that solve are valid only for
    /// decisions that cost less.
    pub(super) valid_below: f64,
    /// True if the node was never solved.
    pub(super) is_new: bool,
    /// True if the relaxation is unbounded. Its point then is an optimum within a box.
    pub(super) unbounded: bool,
}

impl TreeNode {
    pub(super) fn root(cut_rounds_left: u32) -> Self {
        Self {
            number: 0,
            parent: 0,
            depth: 0,
            bound: f64::NEG_INFINITY,
            changes: Vec::new(),
            basis: None,
            branch: None,
            cut_rounds_left,
            valid_below: f64::INFINITY,
            is_new: true,
            unbounded: false,
        }
    }
}

/// Key of a node in the queue: by bound, then by number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct QueueKey(f64, u64);

impl Eq for QueueKey {}

impl PartialOrd for QueueKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QueueKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// Nodes, ordered by their bounds.
#[derive(Debug, Default)]
pub(super) struct NodeQueue(BTreeMap<QueueKey, TreeNode>);

impl NodeQueue {
    pub(super) fn push(&mut self, node: TreeNode) {
        self.0.insert(QueueKey(node.bound, node.number), node);
    }

    /// Returns the smallest bound, or ∞ if the queue is empty.
    pub(super) fn min_bound(&self) -> f64 {
        self.0.keys().next().map_or(f64::INFINITY, |key| key.0)
    }

    /// Removes and returns the first node if its bound is below `limit`.
    pub(super) fn pop_below(&mut self, limit: f64) -> Option<TreeNode> {
        self.0.first_entry().filter(|entry| entry.key().0 < limit).map(|entry| entry.remove())
    }

    /// Removes and returns the last node if its bound is at least `limit`.
    pub(super) fn pop_at_or_above(&mut self, limit: f64) -> Option<TreeNode> {
        self.0.last_entry().filter(|entry| entry.key().0 >= limit).map(|entry| entry.remove())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
