//! A place in a batch: one linear program, the node that it is at, and what becomes of that node.

use std::sync::Arc;

use super::branching::{Choice, DISTANT, Effort, Observation, Pseudocosts, choose};
use super::fixing::Prices;
use super::frame::Frame;
use super::node::{Branch, Change, Node};
use super::pool::Pool;
use super::relaxation::{Ended, Relaxation};
use super::{Point, Work};
use crate::error::Error;

/// What all places of a batch look at; it does not change before all are done.
pub(super) struct View<'a, 'p> {
    pub(super) frame: &'a Frame<'p>,
    pub(super) pool: &'a Pool,
    pub(super) costs: &'a Pseudocosts,
    pub(super) fixings: &'a [Change],
    pub(super) cutoff: f64,
    pub(super) effort: Effort,
}

/// What became of a node.
#[derive(Debug)]
pub(super) enum Fate {
    /// It has no point.
    Empty(Node),
    /// Its bound reaches the cutoff.
    Beyond(Node),
    /// The judge must look at its point; the prices are those of a root.
    Asks(Node, Point, Option<Prices>),
    /// It was split in two, of which some may be empty; the estimates say which is more promising.
    Split(Node, [(Node, f64, bool); 2]),
}

/// A node's fate, and what was learnt on the way.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) fate: Fate,
    pub(super) seen: Vec<Observation>,
    pub(super) work: Work,
}

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) program: Relaxation,
    pub(super) node: Option<Node>,
}

impl Slot {
    pub(super) fn new(frame: &Frame) -> Result<Self, Error> {
        Ok(Self { program: Relaxation::new(frame)?, node: None })
    }

    /// Solves the node at hand. An error leaves it here.
    pub(super) fn process(&mut self, view: &View) -> Result<Option<Report>, Error> {
        let Some(mut node) = self.node.take() else { return Ok(None) };
        let kept = node.clone();
        let nodes = u64::from(std::mem::take(&mut node.is_new));
        let mut seen = Vec::new();
        let fate = match self.decide(node, view, &mut seen) {
            Ok(fate) => fate,
            Err(error) => {
                self.node = Some(kept);
                return Err(error);
            }
        };
        let mut work = std::mem::take(&mut self.program.work);
        work.nodes = nodes;
        Ok(Some(Report { fate, seen, work }))
    }

    fn decide(&mut self, mut node: Node, view: &View, seen: &mut Vec<Observation>) -> Result<Fate, Error> {
        let View { frame, pool, cutoff, .. } = *view;
        let program = &mut self.program;
        if !program.load(&mut node, view.fixings, cutoff, frame, pool)? {
            return Ok(Fate::Empty(node));
        }
        let ended = program.optimise(cutoff, frame, pool)?;
        if ended == Ended::Infeasible {
            return Ok(Fate::Empty(node));
        }
        // What was fixed away costs no less than the guard.
        node.bound = node.bound.max(program.objective.min(node.guard));
        if let Some(branch) =
            node.branch.take().filter(|branch| branch.distance > DISTANT && program.objective.is_finite())
        {
            let per_unit = (program.objective - branch.from).max(0.0) / branch.distance;
            seen.push(Observation { col: branch.col, up: branch.up, per_unit });
        }
        if ended == Ended::Beyond {
            return Ok(Fate::Beyond(node));
        }
        node.unbounded = ended == Ended::Unbounded;
        let mut prices = None;
        if ended == Ended::Solved && (cutoff < f64::INFINITY || node.depth == 0) {
            program.read_reduced_costs()?;
            prices = Some(Prices::of(program, node.guard, frame));
        }
        let point = program.point(frame, pool)?;
        if ended == Ended::Solved {
            node.start = Some(Arc::new(program.settle(&node)));
        }
        if point.integral || node.rounds > 0 {
            let prices = prices.filter(|_| node.depth == 0);
            return Ok(Fate::Asks(node, point, prices));
        }
        let fractional = program.fractional(frame);
        match choose(&fractional, view.costs, view.effort, cutoff, program, seen, frame)? {
            Some(choice) => Ok(split(node, &choice, prices.as_ref(), program.objective, cutoff)),
            // Whole to the last digit, yet not in X within the tolerance: there is nothing to branch on.
            None => Err(Error::Master("a node's point is integral but breaks the first stage's rows".into())),
        }
    }
}

/// The two branches of a node. Their numbers are given when they are merged.
fn split(node: Node, choice: &Choice, prices: Option<&Prices>, objective: f64, cutoff: f64) -> Fate {
    let Choice { col, value, sides } = *choice;
    let mut changes = node.changes.clone();
    changes.extend(prices.map(|prices| prices.fixings(cutoff)).unwrap_or_default());
    let below = value - value.floor();
    let children = [false, true].map(|up| {
        let side = sides[usize::from(up)];
        // The other side is left to what else is changed there: that may be a fixing, which is taken back when the
        // cutoff rises.
        let (lower, upper) = if up { (value.floor() + 1.0, f64::INFINITY) } else { (f64::NEG_INFINITY, value.floor()) };
        let mut changes = changes.clone();
        changes.push(Change { col, lower, upper, under: f64::INFINITY });
        let child = Node {
            number: 0,
            parent: node.number,
            depth: node.depth + 1,
            bound: node.bound.max(side.bound.min(node.guard)),
            changes,
            start: node.start.clone(),
            branch: Some(Branch { col, up, distance: if up { 1.0 - below } else { below }, from: objective }),
            rounds: 0,
            guard: node.guard,
            is_new: true,
            unbounded: false,
        };
        (child, side.estimate, side.is_empty)
    });
    Fate::Split(node, children)
}
