//! Verification of the incumbent, by a thorough search, and its certification, by a bound or by draws.

use super::evaluator::Evaluator;
use super::inside::bound_inside;
use super::record::{count, late_separation, separate_and_record};
use super::shares::AttemptShares;
use super::{Certifier, Judgement, Statements};
use crate::certify::Certify;
use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::cost_tol;
use crate::run::{Clock, Incumbent, Run, Stop};
use crate::separation::soft::draw_states;
use crate::separation::{Claim, Effort, Found, Query, Separation, Split};
use crate::uncertainty::ReferenceMeasure;

/// The share of the gap asked for at which cuts hand over to a proof. Cuts are cheap, and every part of the gap that
/// they close saves a proof work: on location–transportation it decides whether the first bound is enough.
const BEFORE_PROOF: f64 = 0.1;

/// The same for a scan, which finds the maximum itself: its bound takes up nothing of the gap. A scan at a decision
/// that is still to move may have to be repeated.
const BEFORE_SCAN: f64 = 0.2;

/// The same for a proof of at most so many recourse solves, which is cheaper than the cuts that it may save.
const BEFORE_CHEAP_PROOF: f64 = 0.5;
const CHEAP_PROOF: u64 = 64;

/// The same for draws, whose bound is half of the gap above the estimate.
const BEFORE_DRAWS: f64 = 0.5;

/// The share of the gap left that a proof aims at: the gap is relative to the upper bound, which is not known yet.
const PROOF_TARGET: f64 = 0.99;

/// The share of the gap left by which a scenario may be worse than the incumbent's before a proof by bounds is broken
/// off for its cut.
const WORTH_A_CUT: f64 = 0.2;

/// Verifies and certifies incumbents of a run.
pub(crate) struct Verification<'p> {
    problem: &'p Problem,
    certify: Certify,
    /// The certification by draws, where the separation proves no bound.
    certifier: Option<Box<Certifier<'p>>>,
    shares: AttemptShares,
    /// The share of the gap at which an incumbent is verified. A proof that does not close the gap halves it.
    share: f64,
    /// Whether draws have certified the last incumbent as far as they can.
    is_attested: bool,
}

impl<'p> Verification<'p> {
    /// For a run with this separation, which proves bounds or not. `share_before_proof` replaces the share of the gap
    /// at which a required proof follows the cuts.
    pub(crate) fn new(
        problem: &'p Problem,
        certify: Certify,
        separation: &dyn Separation,
        share_before_proof: Option<f64>,
        reference: ReferenceMeasure,
        run: &Run,
    ) -> Result<Self, Error> {
        let certifier = match certify {
            Certify::Probabilistic(wanted) if !separation.is_exact() => {
                let states = draw_states(problem, reference, run.clock())?;
                let (gap, seed) = (run.limits().gap, run.limits().seed);
                Some(Box::new(Certifier::new(problem, states, wanted, gap, seed, run.clock())?))
            }
            _ => None,
        };
        let share = match (&certifier, certify) {
            (Some(_), _) => BEFORE_DRAWS,
            (None, Certify::Exact) if separation.is_exact() => match separation.expected_solves() {
                Some(solves) if solves <= CHEAP_PROOF => BEFORE_CHEAP_PROOF,
                Some(_) => share_before_proof.unwrap_or(BEFORE_SCAN),
                None => share_before_proof.unwrap_or(BEFORE_PROOF),
            },
            _ => 1.0,
        };
        Ok(Self { problem, certify, certifier, shares: AttemptShares::default(), share, is_attested: false })
    }

    /// The share of the gap at which an incumbent is verified.
    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// Whether incumbents are certified by draws.
    pub(crate) fn uses_draws(&self) -> bool {
        self.certifier.is_some()
    }

    /// The number of certifications by draws.
    pub(crate) fn attempts(&self) -> u64 {
        self.shares.count()
    }

    /// Whether the known cost of the incumbent is so close to the lower bound that the incumbent is to be verified, and
    /// no proof has closed the gap yet.
    pub(crate) fn is_due(&self, run: &Run) -> bool {
        let gap = run.limits().gap;
        let is_proved = run.bounds().upper().is_some() && run.bounds().meet(gap);
        !is_proved && run.incumbent_is_within(self.share * gap)
    }

    /// Verifies the incumbent, and certifies it where it keeps its cost. Returns why the run ends, if it does.
    pub(crate) fn verify(
        &mut self,
        separation: &mut dyn Separation,
        evaluator: &mut Evaluator,
        pool: &mut CutPool,
        run: &mut Run,
    ) -> Result<Option<Stop>, Error> {
        // A proof searches harder than soft separation does.
        let keeps_cost = separation.is_exact() || self.keeps_cost(separation, evaluator, pool, run)?;
        if keeps_cost { self.certify(separation, evaluator, pool, run) } else { Ok(None) }
    }

    /// Whether the incumbent keeps its cost under a search with thorough effort.
    fn keeps_cost(
        &mut self,
        separation: &mut dyn Separation,
        evaluator: &mut Evaluator,
        pool: &mut CutPool,
        run: &mut Run,
    ) -> Result<bool, Error> {
        let (Some(incumbent), Some(lower)) = (run.incumbent().cloned(), run.bounds().lower()) else { return Ok(false) };
        let clock = run.clock().clone();
        let allowed = lower + (self.share * run.limits().gap * incumbent.value.abs()).max(cost_tol(incumbent.value));
        let above = allowed.max(incumbent.value) - self.problem.first.value(&incumbent.x);
        let query = Query::scenario(&incumbent.x, &clock)
            .above(above)
            .with_effort(Effort::Thorough)
            .with_size(run.objective_size());
        let found = separation.separate(&query, pool)?;
        self.take_up(&incumbent, &found, separation, evaluator, pool, run)?;
        let keeps_cost = self.is_due(run);
        if let Some(search) = separation.last_search().filter(|_| keeps_cost) {
            run.say(&format!("verification: {search}"));
        }
        Ok(keeps_cost)
    }

    /// Takes up a scenario found at the incumbent.
    fn take_up(
        &mut self,
        incumbent: &Incumbent,
        found: &Found,
        separation: &mut dyn Separation,
        evaluator: &mut Evaluator,
        pool: &mut CutPool,
        run: &mut Run,
    ) -> Result<(), Error> {
        count(found, run);
        if let Some(cut) = &found.cut {
            pool.insert(cut, &found.xi);
        }
        if run.incumbent().is_some_and(|now| now.x == incumbent.x) {
            run.raise_incumbent(self.problem.first.value(&incumbent.x) + found.value, &found.xi);
        }
        separation.start_at(&found.xi);
        evaluator.revise_incumbent(pool, run)
    }

    /// Bounds the incumbent's cost from above, where that is asked for or cheap. Returns why the run ends, if it does.
    fn certify(
        &mut self,
        separation: &mut dyn Separation,
        evaluator: &mut Evaluator,
        pool: &mut CutPool,
        run: &mut Run,
    ) -> Result<Option<Stop>, Error> {
        let Some(incumbent) = run.incumbent().cloned() else { return Ok(None) };
        if separation.is_exact() {
            return self.prove(&incumbent, separation, evaluator, pool, run);
        }
        if self.uses_draws() {
            let share = self.shares.next(self.problem.first.assignment(&incumbent.x));
            let refuted = self.attempt(&incumbent, share, Statements::Both, run)?;
            return match refuted {
                Some(found) => {
                    self.take_up(&incumbent, &found, separation, evaluator, pool, run)?;
                    Ok(None)
                }
                None => {
                    self.is_attested = true;
                    Ok(Some(Stop::Stalled))
                }
            };
        }
        run.say(
            "the estimate is within the gap of the lower bound; --certify exact would prove it, where that can be done",
        );
        Ok(Some(Stop::Stalled))
    }

    /// Separates for a bound that closes the gap or a scenario that is worse.
    fn prove(
        &mut self,
        incumbent: &Incumbent,
        separation: &mut dyn Separation,
        evaluator: &mut Evaluator,
        pool: &mut CutPool,
        run: &mut Run,
    ) -> Result<Option<Stop>, Error> {
        let Incumbent { x, value, .. } = incumbent;
        let clock = run.clock().clone();
        // The part of the gap that cuts have left open is not the proof's to use.
        let open = run.bounds().lower().map_or(0.0, |lower| (value - lower).max(0.0));
        let left = (run.limits().gap * value.abs() - open).max(0.0);
        // A scan finds the maximum itself, so that its bound takes up nothing of what is left.
        let worth_a_cut = if separation.expected_solves().is_some() { PROOF_TARGET } else { WORTH_A_CUT };
        let query = Query::maximum(x, &clock)
            .above(value - self.problem.first.value(x) + worth_a_cut * left)
            .with_bound((PROOF_TARGET - worth_a_cut) * left)
            .with_size(run.objective_size());
        let mut found = separate_and_record(self.problem, &query, separation, pool, self.certify, run)?;
        let is_open = |found: &Found| found.claim == Claim::Nothing && !query.is_met_by(found.value);
        if found.as_ref().is_some_and(is_open)
            && !bound_inside(self.problem, x, separation, pool, self.certify, run)?
            && clock.check().is_ok()
        {
            found = separate_and_record(self.problem, &query, separation, pool, self.certify, run)?;
        }
        explain(separation, run);
        let is_worse = |found: &Found| self.problem.first.value(x) + found.value > value + cost_tol(*value);
        match found.filter(is_worse) {
            Some(found) => {
                let found = Found { solves: 0, nodes: 0, exact: 0, ..found };
                self.take_up(incumbent, &found, separation, evaluator, pool, run)?;
            }
            None if !run.bounds().meet(run.limits().gap) => {
                // The cuts cannot reduce the gap any more.
                if run.incumbent_is_within(0.0) {
                    return Ok(Some(Stop::Stalled));
                }
                self.share *= 0.5;
            }
            None => {}
        }
        Ok(None)
    }

    /// Certifies a new incumbent of a tree by calls alone (Algorithm 3); the scenario that refutes it, if one does.
    pub(crate) fn call(&mut self, incumbent: &Incumbent, run: &mut Run) -> Result<Option<Found>, Error> {
        let share = self.shares.next(self.problem.first.assignment(&incumbent.x));
        self.attempt(incumbent, share, Statements::Bound, run)
    }

    /// An attempt by draws with this share of ε_false; the scenario that refutes the incumbent, if one does.
    fn attempt(
        &mut self,
        incumbent: &Incumbent,
        share: f64,
        statements: Statements,
        run: &mut Run,
    ) -> Result<Option<Found>, Error> {
        let Some(certifier) = &mut self.certifier else { return Ok(None) };
        let cost = incumbent.value - self.problem.first.value(&incumbent.x);
        match certifier.attempt(&incumbent.x, cost, share, statements)? {
            Judgement::Refuted(found) => Ok(Some(found)),
            Judgement::Stands { attested, solves } => {
                run.count_solves(solves);
                run.attest(&incumbent.x, incumbent.value, attested);
                Ok(None)
            }
        }
    }

    /// Certifies the incumbent of a run that a limit has ended, if a certificate was asked for and there is none.
    pub(crate) fn certify_at_end(
        &mut self,
        separation: &mut dyn Separation,
        evaluator: &mut Evaluator,
        pool: &mut CutPool,
        run: &mut Run,
    ) -> Result<(), Error> {
        let is_wanted = matches!(self.certify, Certify::Exact | Certify::Probabilistic(_)) && !self.is_attested;
        let is_late = run.clock().check().is_err();
        let is_open = if is_late { run.bounds().upper().is_none() } else { run.lacks_bound() };
        if !is_wanted || !is_open || run.verdict().is_some() {
            return Ok(());
        }
        // A search for a close bound may end with a worse scenario instead, and the run has no further iteration.
        let takes_any = self.certify == Certify::Exact && !run.incumbent_is_within(run.limits().gap);
        let certified = match late_separation(self.problem) {
            Some(late) if is_late && separation.is_exact() => self.bound_late(late, pool, run),
            _ if takes_any => self.bound_incumbent(separation, pool, run),
            _ => self.certify(separation, evaluator, pool, run).map(|_| ()),
        };
        match certified {
            Err(error) if !error.is_interrupt() => Err(error),
            _ => Ok(()),
        }
    }

    /// Bounds the incumbent's cost in the grace period.
    fn bound_late(&self, mut late: Split<'p>, pool: &mut CutPool, run: &mut Run) -> Result<(), Error> {
        let clock = run.clock().grace();
        self.bound(&mut late, &clock, pool, run)
    }

    /// Keeps time for a bound of the incumbent, if a proof was asked for and the separation makes one.
    pub(crate) fn keep_reserve(&self, separation: &dyn Separation, run: &mut Run) {
        if self.certify == Certify::Exact && separation.is_exact() {
            run.keep_reserve(separation.expected_solves());
        }
    }

    /// Bounds the incumbent's cost by one exact separation, if a proof was asked for and no bound is known.
    pub(crate) fn bound_incumbent(
        &self,
        separation: &mut dyn Separation,
        pool: &mut CutPool,
        run: &mut Run,
    ) -> Result<(), Error> {
        if self.certify != Certify::Exact || !separation.is_exact() || !run.lacks_bound() {
            return Ok(());
        }
        let clock = run.clock().clone();
        self.bound(separation, &clock, pool, run)
    }

    fn bound(
        &self,
        separation: &mut dyn Separation,
        clock: &Clock,
        pool: &mut CutPool,
        run: &mut Run,
    ) -> Result<(), Error> {
        let Some(Incumbent { x, .. }) = run.incumbent().cloned() else { return Ok(()) };
        let query = Query::maximum(&x, clock).with_bound(f64::INFINITY).with_size(run.objective_size());
        separate_and_record(self.problem, &query, separation, pool, self.certify, run).map(|_| ())
    }
}

/// Reports how a bound was proved, and how the gap is shared between x and the bound.
fn explain(separation: &dyn Separation, run: &mut Run) {
    let bounds = run.bounds();
    let (Some(best), Some(lower), Some(upper)) = (bounds.best(), bounds.lower(), bounds.upper()) else { return };
    let Some(proof) = separation.proof() else { return };
    let share = |amount: f64| 100.0 * amount.max(0.0) / upper.abs().max(f64::MIN_POSITIVE);
    let note = format!(
        "proved by {proof}; of the gap, {:.4} % is x (its worst scenario found against the lower bound), {:.4} % is \
         the bound, or a worse scenario that was not found",
        share(best.value - lower),
        share(upper - best.value)
    );
    run.say(&note);
}
