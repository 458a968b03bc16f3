//! Nodes: what branching and fixing have done to the bounds since the root, and a basis to start from.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::rows::Start;

/// Bounds of a column within a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Change {
    pub(super) col: usize,
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// What is cut away costs at least this: the cutoff when a column was fixed by its reduced cost, ∞ where branching
    /// did it. The change holds only while the cutoff is not above it.
    pub(super) under: f64,
}

/// The branch that led to a node, for the pseudocosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Branch {
    pub(super) col: usize,
    pub(super) up: bool,
    /// How far the parent's value is from the bound, and the parent's objective.
    pub(super) distance: f64,
    pub(super) from: f64,
}

/// A part of the search.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) number: u64,
    pub(super) parent: u64,
    pub(super) depth: u32,
    /// No decision of this node costs less, whatever changes hold.
    pub(super) bound: f64,
    pub(super) changes: Vec<Change>,
    /// The parent's optimal basis.
    pub(super) start: Option<Arc<Start>>,
    pub(super) branch: Option<Branch>,
    /// Rounds of cuts at fractional points that are left.
    pub(super) rounds: u32,
    /// The least `under` of the changes that held when this was last solved: what was found out then holds of decisions
    /// below that only.
    pub(super) guard: f64,
    /// It was never solved.
    pub(super) is_new: bool,
    /// The relaxation has no optimum: a point was found in a box.
    pub(super) unbounded: bool,
}

impl Node {
    pub(super) fn root(rounds: u32) -> Self {
        Self {
            number: 0,
            parent: 0,
            depth: 0,
            bound: f64::NEG_INFINITY,
            changes: Vec::new(),
            start: None,
            branch: None,
            rounds,
            guard: f64::INFINITY,
            is_new: true,
            unbounded: false,
        }
    }
}

/// A node's place in a queue: the least bound first, then the lowest number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place(f64, u64);

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// Nodes in the order of their bounds.
#[derive(Debug, Default)]
pub(super) struct Queue(BTreeMap<Place, Node>);

impl Queue {
    pub(super) fn push(&mut self, node: Node) {
        self.0.insert(Place(node.bound, node.number), node);
    }

    /// The least bound; ∞ if there is none.
    pub(super) fn least(&self) -> f64 {
        self.0.keys().next().map_or(f64::INFINITY, |place| place.0)
    }

    /// Takes the first node out if its bound is below `limit`.
    pub(super) fn pop_below(&mut self, limit: f64) -> Option<Node> {
        self.0.first_entry().filter(|entry| entry.key().0 < limit).map(|entry| entry.remove())
    }

    /// Takes the last node out if its bound reaches `limit`.
    pub(super) fn pop_reaching(&mut self, limit: f64) -> Option<Node> {
        self.0.last_entry().filter(|entry| entry.key().0 >= limit).map(|entry| entry.remove())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
