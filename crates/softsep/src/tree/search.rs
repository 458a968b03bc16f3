//! The search itself: batches of nodes, merged in order, until nothing below the cutoff is left.

use std::sync::Arc;

use rayon::prelude::*;

use super::branching::{Effort, Pseudocosts};
use super::fixing::Prices;
use super::frame::Frame;
use super::heuristics::Scout;
use super::node::{Change, Node, Queue};
use super::pool::Pool;
use super::rows::Start;
use super::slot::{Fate, Report, Slot, View};
use super::{LazyCutCallback, Point, TreeSettings, Work};
use crate::error::Error;
use crate::master::{Copies, explain_infeasible, explain_unbounded};
use crate::model::Problem;
use crate::recourse::Cut;
use crate::run::{Clock, MasterSize, Run, Stop, Verdict};

/// How far, between the lower bound and the cutoff, a plunge goes on.
const PLUNGE: f64 = 0.3;

/// A round of cuts pays if the root's bound rises by this share of the distance to the cutoff, or of its own size where
/// there is none; so many that do not end it.
const PAYS: f64 = 1e-3;
const PAYS_OF_ITSELF: f64 = 1e-4;
const UNPAID: u32 = 4;

/// Probes may take this share of the nodes' pivots, and so many beside.
const PROBE_SHARE: u64 = 1;
const PROBE_FREE: u64 = 10_000;

/// Batches between two rounded points, and between two dives.
const ROUNDING: u64 = 8;
const DIVING: u64 = 64;

/// An integral point that the judge found nothing against.
#[derive(Debug)]
struct Settled {
    node: Node,
    point: Point,
    /// The cutoff that the judge gave then.
    under: f64,
}

/// A branch-and-cut tree.
#[derive(Debug)]
pub(crate) struct Tree<'p> {
    frame: Frame<'p>,
    settings: TreeSettings,
    pool: Pool,
    costs: Pseudocosts,
    slots: Vec<Slot>,
    scout: Scout,
    open: Queue,
    /// Nodes whose bound reached the cutoff.
    aside: Queue,
    settled: Vec<Settled>,
    numbers: u64,
    /// The cutoff of the last batch, and what the root's prices say about it.
    cutoff: f64,
    prices: Option<Prices>,
    fixings: Vec<Change>,
    root_start: Option<Arc<Start>>,
    /// Rounds of cuts at the root that did not pay, and its bound before the last.
    unpaid: u32,
    root_bound: f64,
    /// The last lower bound told.
    told: f64,
    batches: u64,
    /// A dive is due.
    dives: bool,
    work: Work,
}

impl<'p> Tree<'p> {
    /// A tree with its root.
    pub(crate) fn new(problem: &'p Problem, settings: TreeSettings, clock: &Clock) -> Result<Self, Error> {
        let frame = Frame::new(problem, clock)?;
        let slots = (0..settings.batch.max(1)).map(|_| Slot::new(&frame)).collect::<Result<Vec<_>, Error>>()?;
        let mut open = Queue::default();
        open.push(Node::root(settings.root_rounds));
        Ok(Self {
            scout: Scout::new(&frame)?,
            costs: Pseudocosts::new(frame.dim()),
            frame,
            settings,
            pool: Pool::default(),
            slots,
            open,
            aside: Queue::default(),
            settled: Vec::new(),
            numbers: 1,
            cutoff: f64::INFINITY,
            prices: None,
            fixings: Vec::new(),
            root_start: None,
            unpaid: 0,
            root_bound: f64::NEG_INFINITY,
            told: f64::NEG_INFINITY,
            batches: 0,
            dives: false,
            work: Work::default(),
        })
    }

    /// Takes cuts into the pool. What they cut off of the points that were settled is open again.
    pub(crate) fn add(&mut self, cuts: impl IntoIterator<Item = Cut>) {
        let from = self.pool.cuts().len();
        cuts.into_iter().for_each(|cut| self.pool.add(cut));
        let Self { pool, settled, open, .. } = self;
        for Settled { node, .. } in
            settled.extract_if(.., |settled| pool.violates(from, &settled.point.x, settled.point.eta))
        {
            open.push(node);
        }
    }

    /// Changes how many nodes may be solved in all.
    #[cfg(test)]
    pub(crate) fn set_node_limit(&mut self, nodes: Option<u64>) {
        self.settings.nodes = nodes;
    }

    /// What was done so far.
    pub(crate) fn work(&self) -> Work {
        self.work
    }

    /// Cuts in the pool.
    pub(crate) fn cuts(&self) -> usize {
        self.pool.cuts().len()
    }

    /// Cuts and tangents in the largest linear program.
    pub(crate) fn rows(&self) -> usize {
        self.slots.iter().map(|slot| slot.program.rows()).max().unwrap_or(0)
    }

    /// No decision costs less than this.
    pub(crate) fn lower(&self) -> f64 {
        let slots = self.slots.iter().flat_map(|slot| &slot.node).map(|node| node.bound);
        let settled = self.settled.iter().map(|settled| settled.node.bound);
        slots.chain(settled).fold(self.open.least().min(self.aside.least()), f64::min)
    }

    /// Searches until no node below the cutoff is open; may be called again after cuts were added or the cutoff has
    /// risen.
    pub(crate) fn search(&mut self, judge: &mut dyn LazyCutCallback, run: &mut Run) -> Result<(), Error> {
        loop {
            self.follow(judge, run)?;
            self.tell(judge, run)?;
            self.deal();
            if self.slots.iter().all(|slot| slot.node.is_none()) {
                return self.end(judge, run);
            }
            if self.settings.nodes.is_some_and(|limit| self.work.nodes >= limit) {
                return Err(Stop::IterationLimit.into());
            }
            self.batch(judge, run)?;
            run.set_master(MasterSize { scenarios: 0, cuts: self.rows() });
            if let Some(stop) = run.tick() {
                return Err(stop.into());
            }
        }
    }

    /// Sorts nodes by a cutoff that may have changed either way.
    fn follow(&mut self, judge: &dyn LazyCutCallback, run: &Run) -> Result<(), Error> {
        let cutoff = judge.cutoff(run);
        if cutoff.is_nan() {
            return Err(Error::Master("the cutoff of a tree is not a number".into()));
        }
        while let Some(node) = self.aside.pop_below(cutoff) {
            self.open.push(node);
        }
        while let Some(node) = self.open.pop_reaching(cutoff) {
            self.put_aside(node);
        }
        let Self { settled, open, .. } = self;
        // A judge that asks for more than it did then may have more to say of a point.
        let is_open = |settled: &mut Settled| {
            settled.node.guard < cutoff || cutoff > settled.under && settled.node.bound < cutoff
        };
        for Settled { node, .. } in settled.extract_if(.., is_open) {
            open.push(node);
        }
        if cutoff != self.cutoff {
            self.cutoff = cutoff;
            self.fixings = self.prices.as_ref().map(|prices| prices.fixings(cutoff)).unwrap_or_default();
        }
        Ok(())
    }

    /// Keeps a closed node for the case that the cutoff rises. Most never come back: the root's basis is good enough
    /// for those that do.
    fn put_aside(&mut self, mut node: Node) {
        node.start.clone_from(&self.root_start);
        self.aside.push(node);
    }

    fn tell(&mut self, judge: &mut dyn LazyCutCallback, run: &mut Run) -> Result<(), Error> {
        let lower = self.lower();
        if lower > self.told && lower < f64::INFINITY {
            self.told = lower;
            judge.bounded(lower, run)?;
        }
        Ok(())
    }

    /// Gives every place a node: the one that it plunges on if that is still promising, or else the most promising one.
    fn deal(&mut self) {
        let (lower, cutoff) = (self.lower(), self.cutoff);
        let far =
            if cutoff.is_finite() && lower.is_finite() { lower + PLUNGE * (cutoff - lower) } else { f64::INFINITY };
        for place in 0..self.slots.len() {
            if let Some(node) =
                self.slots[place].node.take_if(|node| node.bound > far && node.bound > lower || node.bound >= cutoff)
            {
                self.open.push(node);
            }
        }
        for place in 0..self.slots.len() {
            if self.slots[place].node.is_none() {
                self.slots[place].node = self.open.pop_below(cutoff);
            }
        }
        while let Some(node) = self.open.pop_reaching(cutoff) {
            self.put_aside(node);
        }
    }

    /// Solves the nodes at hand and merges what they found, in order.
    fn batch(&mut self, judge: &mut dyn LazyCutCallback, run: &mut Run) -> Result<(), Error> {
        self.batches += 1;
        let effort = Effort {
            pivots_per_node: self.work.pivots as f64 / self.work.programs.max(1) as f64,
            is_spent: self.work.probe_pivots > PROBE_SHARE * self.work.pivots + PROBE_FREE,
        };
        let Self { frame, pool, costs, fixings, cutoff, slots, .. } = self;
        let view = View { frame, pool, costs, fixings, cutoff: *cutoff, effort };
        let reports: Vec<Result<Option<Report>, Error>> =
            slots.par_iter_mut().map(|slot| slot.process(&view)).collect();
        let mut asking: Vec<(usize, Node, Option<Prices>)> = Vec::new();
        let mut points = Vec::new();
        let mut failed = None;
        let before = self.work.nodes;
        for (place, report) in reports.into_iter().enumerate() {
            let report = match report {
                Ok(Some(report)) => report,
                Ok(None) => continue,
                Err(error) => {
                    failed = failed.or(Some(error));
                    continue;
                }
            };
            self.work.add(&report.work);
            report.seen.iter().for_each(|seen| self.costs.learn(seen));
            match report.fate {
                Fate::Empty(node) => self.close_empty(node),
                Fate::Beyond(node) => self.put_aside(node),
                Fate::Split(node, children) => self.branch(place, &node, children),
                Fate::Asks(node, point, prices) => {
                    asking.push((place, node, prices));
                    points.push(point);
                }
            }
        }
        run.count_nodes(self.work.nodes - before);
        let hint = asking
            .iter()
            .zip(&points)
            .find(|(_, point)| !point.integral)
            .map(|((_, node, _), point)| (node.clone(), point.x.clone()));
        let answered = match (failed, asking.is_empty()) {
            (Some(error), _) => Err(error),
            (None, true) => Ok(()),
            (None, false) => judge.look(&points, run).map(|answers| self.add(answers.into_iter().flatten())),
        };
        // Whatever happened, no node is lost.
        if let Err(error) = answered {
            asking.into_iter().for_each(|(place, node, _)| self.slots[place].node = Some(node));
            return Err(error);
        }
        for ((place, node, prices), point) in asking.into_iter().zip(points) {
            self.answer(place, node, prices, point, judge, run)?;
        }
        self.scout(hint, judge, run)
    }

    /// A node without a point: nothing is there, unless columns were fixed away.
    fn close_empty(&mut self, mut node: Node) {
        if node.guard < f64::INFINITY {
            node.bound = node.bound.max(node.guard);
            self.put_aside(node);
        }
    }

    /// Keeps the more promising child in place and opens the other.
    fn branch(&mut self, place: usize, parent: &Node, children: [(Node, f64, bool); 2]) {
        let rounds = u32::from(parent.depth < self.settings.cut_depth);
        let mut open: Vec<(Node, f64)> = Vec::new();
        for (mut child, estimate, is_empty) in children {
            child.number = self.numbers;
            child.rounds = rounds;
            self.numbers += 1;
            if is_empty {
                self.close_empty(child);
            } else if child.bound >= self.cutoff {
                self.put_aside(child);
            } else {
                open.push((child, estimate));
            }
        }
        open.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.number.cmp(&a.0.number)));
        self.slots[place].node = open.pop().map(|(child, _)| child);
        open.into_iter().for_each(|(child, _)| self.open.push(child));
    }

    /// Goes on with a node that the judge has looked at.
    fn answer(
        &mut self,
        place: usize,
        mut node: Node,
        prices: Option<Prices>,
        point: Point,
        judge: &mut dyn LazyCutCallback,
        run: &mut Run,
    ) -> Result<(), Error> {
        let is_root = node.depth == 0;
        if is_root && prices.is_some() {
            self.prices = prices;
            self.root_start.clone_from(&node.start);
        }
        let violated = self.slots[place].program.take_in(&point, &self.frame, &self.pool)?;
        if violated {
            node.rounds = if point.integral { node.rounds } else { node.rounds.saturating_sub(1) };
            if is_root && !point.integral && !self.pays(&point) {
                node.rounds = 0;
            }
        } else if point.integral {
            if node.unbounded {
                return judge.doubts_unbounded(run).map_or_else(|| self.unbounded(run), Err);
            }
            self.settled.push(Settled { node, point, under: judge.cutoff(run) });
            return Ok(());
        } else {
            node.rounds = 0;
        }
        self.dives |= is_root && node.rounds == 0;
        self.slots[place].node = Some(node);
        Ok(())
    }

    /// Whether rounds of cuts at the root have raised its bound enough lately.
    fn pays(&mut self, point: &Point) -> bool {
        let rise = point.bound - self.root_bound;
        let enough = match self.cutoff - point.bound {
            room if room.is_finite() => PAYS * room,
            _ => PAYS_OF_ITSELF * point.bound.abs(),
        };
        self.unpaid = if point.bound.is_finite() && rise.is_finite() && rise < enough { self.unpaid + 1 } else { 0 };
        self.root_bound = point.bound;
        self.unpaid < UNPAID
    }

    /// Now and then looks for a decision at a fractional point or below the most promising node.
    fn scout(
        &mut self,
        hint: Option<(Node, Vec<f64>)>,
        judge: &mut dyn LazyCutCallback,
        run: &mut Run,
    ) -> Result<(), Error> {
        if !self.settings.heuristics || self.frame.integers.is_empty() {
            return Ok(());
        }
        self.follow(judge, run)?;
        if let Some((node, x)) = hint.filter(|_| self.batches.is_multiple_of(ROUNDING)) {
            let found = self.scout.round(&node, &x, self.cutoff, &self.frame, &self.pool)?;
            self.consider(found, judge, run)?;
        }
        if (self.batches.is_multiple_of(DIVING) || std::mem::take(&mut self.dives))
            && let Some(node) = self.slots.iter().find_map(|slot| slot.node.clone())
        {
            self.dive(&node, judge, run)?;
        }
        Ok(())
    }

    fn dive(&mut self, from: &Node, judge: &mut dyn LazyCutCallback, run: &mut Run) -> Result<(), Error> {
        let found = self.scout.dive(from, &self.fixings, self.cutoff, &self.frame, &self.pool)?;
        self.consider(found, judge, run)
    }

    fn consider(
        &mut self,
        found: Option<Vec<f64>>,
        judge: &mut dyn LazyCutCallback,
        run: &mut Run,
    ) -> Result<(), Error> {
        self.work.add(&std::mem::take(&mut self.scout.program.work));
        let Some(x) = found else { return Ok(()) };
        self.work.considered += 1;
        let cuts = judge.consider(&x, run)?;
        self.add(cuts);
        Ok(())
    }

    /// No node is open. If none was ever settled or put aside, nothing is feasible.
    fn end(&mut self, judge: &mut dyn LazyCutCallback, run: &mut Run) -> Result<(), Error> {
        if !self.settled.is_empty() || !self.aside.is_empty() {
            return Ok(());
        }
        let explain = |clock: &Clock| {
            let copies = Copies::new(self.frame.problem, judge.scenarios(), clock)?;
            explain_infeasible(&copies, clock)
        };
        let verdict = run.clock().with_grace(explain, |error| matches!(error, Error::Stopped(_)))?;
        Err(run.prove(Verdict::Infeasible(verdict)).into())
    }

    /// The judge accepts a point although the relaxation is unbounded with all that is known. With fixed recourse costs
    /// a ray of the master with one copy of the recourse can be followed from any feasible decision (see
    /// `methods/generate.rs`), and here is one.
    fn unbounded(&self, run: &mut Run) -> Result<(), Error> {
        let problem = self.frame.problem;
        if problem.recourse.costs_move() {
            return Err(Error::Master("the relaxation stays unbounded with all cuts that were found".into()));
        }
        let mut nominal = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut nominal);
        let explain = |clock: &Clock| explain_unbounded(&Copies::new(problem, vec![&nominal], clock)?, clock);
        let ray = run.clock().with_grace(explain, |error| matches!(error, Error::Stopped(_)))?;
        Err(run.prove(Verdict::Unbounded(ray)).into())
    }
}
