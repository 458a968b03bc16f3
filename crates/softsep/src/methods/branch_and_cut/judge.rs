//! The judge of the tree: what its points cost, and when a run may end with one.
//!
//! Points of the relaxation are asked about by ascents from scenarios that hurt before. Whole ones, that could become
//! incumbents, by the chain of their integer assignment too (Algorithm 2). One that nothing refutes becomes the
//! incumbent if it is better, by what is known of it; with `--certify probabilistic` only after the calls of Algorithm
//! 3. When the tree's lower bound comes close to the incumbent this is looked at harder, and proved where that is asked
//! for or cheap. What is found then raises what it costs: the cutoff rises, and what it had closed is searched again.

use super::assignments::Assignments;
use super::polish::polish;
use crate::error::Error;
use crate::methods::soft::{End, Enough, Evidence, Hunt, Oracle, tellable};
use crate::model::Problem;
use crate::recourse::Cut;
use crate::run::Run;
use crate::tree::{LazyCutCallback, Point};

/// The share of the way to the gap at which nodes are closed: what is left makes up for rounding.
const CLOSED: f64 = 0.9;

/// The share of that by which a scenario must be worse than the relaxation thinks for a whole point to be asked about
/// again.
const WORTH_A_CUT: f64 = 0.5;

/// The same for points that are not whole, of the distance between the incumbent and the point's bound.
const WORTH_A_FRACTION: f64 = 0.01;

/// Scenarios that ascents start from at points that are not whole.
const POOL: usize = 2;

/// The share that a step of these must gain.
const GAIN: f64 = 1e-6;

/// The judge.
pub(super) struct Costs<'a> {
    pub(super) problem: &'a Problem,
    pub(super) evidence: Evidence<'a>,
    pub(super) oracle: Oracle<'a>,
    pub(super) assignments: Assignments<'a>,
    pub(super) hunt: Hunt<'a>,
    pub(super) end: End<'a>,
    /// How many decisions of heuristics may still be polished.
    pub(super) to_polish: u64,
    /// Certifications by draws so far.
    pub(super) certifications: u64,
}

impl Costs<'_> {
    /// How far below the best decision's value a node's bound may be and still close it.
    fn slack(&self, value: f64, run: &Run) -> f64 {
        CLOSED * self.end.share() * run.limits().gap * value.abs()
    }

    /// What a point that is thought to cost so much must cost at least for a cut to be worth while, with this room. A
    /// point of which nothing is thought has no room.
    fn beyond(&self, thought: f64, room: f64, run: &Run) -> f64 {
        match thought.is_finite() {
            true => thought + room.max(WORTH_A_CUT * self.slack(thought, run)).max(tellable(thought)),
            false => f64::NEG_INFINITY,
        }
    }

    /// Looks for scenarios that hurt a whole decision which the relaxation thinks to cost `thought`. True if it stands
    /// as it is: a better one is then the incumbent.
    pub(super) fn stands(&mut self, x: &[f64], thought: f64, run: &mut Run) -> Result<bool, Error> {
        let (beyond, known) = (self.beyond(thought, 0.0, run), self.evidence.pending());
        let prey = self.hunt.at(x, Enough::Above(beyond), &mut self.evidence, &mut self.assignments, run)?;
        self.evidence.revise(run)?;
        // Where no cut is new, what the relaxation is off by is within its solver's tolerance.
        if prey.value > beyond && self.evidence.pending() > known {
            return Ok(false);
        }
        if prey.value == f64::NEG_INFINITY {
            return Err(self.evidence.unbounded(run));
        }
        self.take(x, prey.value, &prey.xi, run)
    }

    /// Takes a decision as the incumbent if it is better than the last one, and Algorithm 3 does not refute it; false
    /// if that does.
    fn take(&mut self, x: &[f64], value: f64, worst: &[f64], run: &mut Run) -> Result<bool, Error> {
        if !self.evidence.consider(x, value, worst, run) || !self.end.draws() {
            return Ok(true);
        }
        let share = self.share_of_false(x);
        let stands = self.end.verify(&mut self.evidence, x, value, share, run)?;
        self.evidence.revise(run)?;
        Ok(stands)
    }

    /// The share of ε_false that a certification at x has: 1/(j(j+1)k(k+1)) for the k-th call of the chain labelled j
    /// (eq. certification-calls).
    fn share_of_false(&mut self, x: &[f64]) -> f64 {
        self.certifications += 1;
        self.assignments.count_call(x);
        let (label, calls) = self.assignments.label_and_calls(x);
        let (j, k) = (label as f64, calls as f64);
        (j * (j + 1.0) * k * (k + 1.0)).recip()
    }

    /// Cuts at a point that is not whole, where an ascent from scenarios that hurt before finds more than the
    /// relaxation thinks.
    fn look_at_fraction(&mut self, point: &Point, run: &Run) -> Result<(), Error> {
        let best = self.evidence.best().map_or(f64::INFINITY, |best| best.value);
        let room = if best.is_finite() { WORTH_A_FRACTION * (best - point.bound).max(0.0) } else { 0.0 };
        let beyond = self.beyond(point.bound, room, run);
        for start in self.evidence.memory().worst_scenarios(&point.x, POOL) {
            if self.evidence.climb(&point.x, &start, GAIN)?.value > beyond {
                break;
            }
        }
        Ok(())
    }

    /// Looks for a better decision with the integers of a heuristic's one. Points of the relaxation need none of this:
    /// with what is known the rest of them is the best already.
    fn polish(&mut self, x: &[f64], run: &mut Run) -> Result<(), Error> {
        if self.to_polish == 0 || !self.is_open(run) {
            return Ok(());
        }
        self.to_polish -= 1;
        let Some(better) = polish(self, x, run)? else { return Ok(()) };
        let enough = self.evidence.best().map_or(f64::INFINITY, |best| best.value);
        let prey = self.hunt.at(&better, Enough::Above(enough), &mut self.evidence, &mut self.assignments, run)?;
        self.evidence.revise(run)?;
        if prey.value < enough {
            self.take(&better, prey.value, &prey.xi, run)?;
        }
        Ok(())
    }

    /// Whether the best decision is not within the gap of the lower bound yet.
    fn is_open(&self, run: &Run) -> bool {
        !self.evidence.is_within(run.limits().gap, run)
    }

    /// A run that a limit ends still says of its decision what was asked for.
    pub(super) fn prove_what_is_left(&mut self, run: &mut Run) -> Result<(), Error> {
        if self.end.has_more_to_prove(run) {
            self.share_next_attempt();
        }
        self.end.prove_what_is_left(&mut self.evidence, &mut self.oracle, run)
    }

    /// Gives the next attempt by draws at the best decision its share.
    fn share_next_attempt(&mut self) {
        if let Some(x) = self.evidence.best().map(|best| best.x.clone()).filter(|_| self.end.draws()) {
            let share = self.share_of_false(&x);
            self.end.set_next_attempt(share);
        }
    }

    /// Ends the run with the best decision if the lower bound is close enough to it, and it is what it seems to be.
    pub(super) fn end_if_due(&mut self, run: &mut Run) -> Result<(), Error> {
        if !self.end.is_due(&self.evidence, run) {
            return Ok(());
        }
        self.share_next_attempt();
        self.end.finish(&mut self.evidence, &mut self.oracle, run)
    }

    /// Writes the solves since the last time into the ledger.
    pub(super) fn count(&mut self, run: &mut Run) {
        self.evidence.count(self.oracle.solves() + self.assignments.solves(), run);
    }
}

impl LazyCutCallback for Costs<'_> {
    fn separate(&mut self, points: &[Point], run: &mut Run) -> Result<Vec<Vec<Cut>>, Error> {
        let mut cuts = Vec::with_capacity(points.len());
        for point in points {
            let is_settled = if point.integral {
                self.stands(&point.x, point.bound, run)?
            } else {
                self.look_at_fraction(point, run)?;
                false
            };
            // What is news at a point that stands is no reason to ask about it again, and is told at the next.
            cuts.push(if is_settled { Vec::new() } else { self.evidence.take_fresh() });
        }
        self.count(run);
        Ok(cuts)
    }

    fn evaluate(&mut self, x: &[f64], run: &mut Run) -> Result<Vec<Cut>, Error> {
        let enough = self.evidence.best().map_or(f64::INFINITY, |best| best.value);
        let prey = self.hunt.at(x, Enough::Above(enough), &mut self.evidence, &mut self.assignments, run)?;
        self.evidence.revise(run)?;
        if prey.value < enough {
            self.take(x, prey.value, &prey.xi, run)?;
            self.polish(x, run)?;
        }
        self.count(run);
        Ok(self.evidence.take_fresh())
    }

    fn cutoff(&self, run: &Run) -> f64 {
        self.evidence
            .best()
            .map_or(f64::INFINITY, |best| best.value - self.slack(best.value, run).max(tellable(best.value)))
    }

    fn lower_bound_rose(&mut self, lower: f64, run: &mut Run) -> Result<(), Error> {
        run.lower(lower);
        let ended = self.end_if_due(run);
        self.count(run);
        ended
    }

    /// Ascents may have missed a scenario without recourse: exact separations decide.
    fn unbounded_relaxation(&mut self, run: &mut Run) -> Option<Error> {
        Some(self.evidence.unbounded(run))
    }

    fn scenarios(&self) -> Vec<&[f64]> {
        let memory = self.evidence.memory();
        (0..memory.len()).map(|cut| memory.scenario(cut)).collect()
    }
}
