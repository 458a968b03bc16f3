//! The tree's callback: cuts at its points, and the incumbent.
//!
//! Fractional points are separated with local effort: ascents from known scenarios. Integral points, which may become
//! incumbents, with normal effort: soft separation then steps the chain of their integer assignment (Algorithm 2). An
//! integral point at which no scenario costs more than the relaxation says becomes the incumbent if it is better; with
//! `--certify probabilistic` only after the calls of Algorithm 3. When the tree's lower bound comes close to the
//! incumbent, the incumbent is verified, and certified where that is asked for or cheap. A worse scenario found then
//! raises the incumbent's cost: the cutoff rises, and nodes that it had closed are searched again.

use std::ops::ControlFlow;
use std::time::Instant;

use super::settings::BranchAndCutSettings;
use crate::certification::{Evaluator, Verification, count};
use crate::certify::Certify;
use crate::cuts::CutPool;
use crate::error::Error;
use crate::methods::scope;
use crate::methods::unbounded::prove_unbounded;
use crate::model::Problem;
use crate::numeric::tolerances::cost_tol;
use crate::run::{Incumbent, Run, Stop};
use crate::separation::{Effort, Found, Query, Separation};
use crate::tree::{LazyCutCallback, Point};

/// The share of the gap that the tree leaves to a proof of its incumbent. For a tree the last part is the longest, and
/// a proof comes close at once.
const SHARE_BEFORE_PROOF: f64 = 0.4;

/// The share of the way to the gap at which nodes are closed: the rest makes up for rounding.
const CLOSED: f64 = 0.9;

/// The share of that by which a scenario must be above the relaxation for an integral point to be cut off.
const WORTH_A_CUT: f64 = 0.5;

/// The same for fractional points, of the distance between the incumbent and the point's bound.
const WORTH_A_CUT_AT_FRACTION: f64 = 0.01;

/// Separation, verification and the cut pool of a tree search.
pub(super) struct SeparationCallback<'a> {
    pub(super) problem: &'a Problem,
    certify: Certify,
    separation: Box<dyn Separation + 'a>,
    pub(super) pool: &'a mut CutPool,
    evaluator: Evaluator<'a>,
    verification: Verification<'a>,
}

impl<'a> SeparationCallback<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        settings: &BranchAndCutSettings,
        certify: Certify,
        pool: &'a mut CutPool,
        run: &Run,
    ) -> Result<Self, Error> {
        let clock = run.clock();
        let separation = scope::separation(problem, &settings.separation, settings.chains(), certify, run)?;
        let (share, reference) = (Some(SHARE_BEFORE_PROOF), settings.soft.reference);
        let verification = Verification::new(problem, certify, separation.as_ref(), share, reference, run)?;
        let evaluator = Evaluator::new(problem, clock)?;
        Ok(Self { problem, certify, separation, pool, evaluator, verification })
    }

    /// Whether draws certify incumbents.
    pub(super) fn uses_draws(&self) -> bool {
        self.verification.uses_draws()
    }

    /// The number of certifications by draws.
    pub(super) fn certifications(&self) -> u64 {
        self.verification.attempts()
    }

    /// How far below the incumbent's cost a node's bound may be and still close it.
    fn closing_distance(&self, value: f64, run: &Run) -> f64 {
        CLOSED * self.verification.share() * run.limits().gap * value.abs()
    }

    /// The cost that a scenario must exceed for its cut to be worthwhile at a point with this bound, at least `margin`
    /// above it. At a point without a bound every cut is.
    fn threshold(&self, bound: f64, margin: f64, run: &Run) -> f64 {
        match bound.is_finite() {
            true => bound + margin.max(WORTH_A_CUT * self.closing_distance(bound, run)).max(cost_tol(bound)),
            false => f64::NEG_INFINITY,
        }
    }

    /// Separates at x until a scenario costs more than `above`, f(x) included; the answer with f(x) added to its value.
    fn separate_at(&mut self, x: &[f64], above: f64, effort: Effort, run: &mut Run) -> Result<Found, Error> {
        let first_cost = self.problem.first.value(x);
        let clock = run.clock().clone();
        let query =
            Query::scenario(x, &clock).above(above - first_cost).with_effort(effort).with_size(run.objective_size());
        self.pool.activate_binding(x);
        let begin = Instant::now();
        let found = self.separation.separate(&query, self.pool)?;
        count(&found, run);
        run.time_separation(begin.elapsed().as_secs_f64(), found.solves, false);
        if let Some(cut) = &found.cut {
            self.pool.insert(cut, &found.xi);
        }
        Ok(Found { value: first_cost + found.value, ..found })
    }

    /// Separates at an integral point whose relaxation has this bound. True if the point is accepted: it is then the
    /// incumbent, if it is better. Ends the run where the recourse is unbounded there.
    pub(super) fn accepts(&mut self, x: &[f64], bound: f64, run: &mut Run) -> Result<ControlFlow<Stop, bool>, Error> {
        let (above, before) = (self.threshold(bound, 0.0, run), self.pool.end());
        let found = self.separate_at(x, above, Effort::Normal, run)?;
        self.evaluator.revise_incumbent(self.pool, run)?;
        // Where no cut is new, the relaxation is off by no more than its solver's tolerance.
        if found.value > above && self.pool.count_new(before) > 0 {
            return Ok(ControlFlow::Continue(false));
        }
        if found.value == f64::NEG_INFINITY {
            return prove_unbounded(self.problem, self.certify, run).map(ControlFlow::Break);
        }
        self.take(x, found.value, &found.xi, run).map(ControlFlow::Continue)
    }

    /// Makes x the incumbent if it is better than the last one and Algorithm 3 does not refute it; false if that does.
    fn take(&mut self, x: &[f64], value: f64, worst: &[f64], run: &mut Run) -> Result<bool, Error> {
        let is_better = self.evaluator.admits(x, self.pool) && run.consider(x, value, worst);
        if !is_better || !self.uses_draws() {
            return Ok(true);
        }
        let incumbent = Incumbent { x: x.to_vec(), value, worst: worst.to_vec(), is_separated: true };
        let refuted = self.verification.call(&incumbent, run)?;
        if let Some(found) = &refuted {
            count(found, run);
            self.evaluator.cost(x, &found.xi, self.pool, run)?;
        }
        self.evaluator.revise_incumbent(self.pool, run)?;
        Ok(refuted.is_none())
    }

    /// Whether a cut of the pool is worth another round at a point.
    fn is_cut_off(&self, point: &Point, run: &Run) -> bool {
        let above = self.threshold(point.bound, 0.0, run) - self.problem.first.value(&point.x);
        self.pool.violated_feasibility_cut(&point.x).is_some()
            || self.pool.largest_at(&point.x).is_some_and(|(_, value)| value > above)
    }

    /// Separates at a fractional point.
    fn separate_fraction(&mut self, point: &Point, run: &mut Run) -> Result<(), Error> {
        let margin =
            run.incumbent().map_or(0.0, |incumbent| WORTH_A_CUT_AT_FRACTION * (incumbent.value - point.bound).max(0.0));
        let above = self.threshold(point.bound, margin, run);
        self.separate_at(&point.x, above, Effort::Local, run).map(|_| ())
    }

    /// Verifies the incumbent if the lower bound is close enough to it. Returns why the run ends, if it does.
    pub(super) fn verify_if_due(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        match self.verification.is_due(run) {
            true => self.verification.verify(self.separation.as_mut(), &mut self.evaluator, self.pool, run),
            false => Ok(None),
        }
    }

    /// Keeps time for a bound of the incumbent, if a proof was asked for and no bound is known.
    pub(super) fn keep_reserve(&self, run: &mut Run) {
        self.verification.keep_reserve(self.separation.as_ref(), run);
    }

    /// Bounds the incumbent's cost by one exact separation, if a proof was asked for and no bound is known.
    pub(super) fn bound_incumbent(&mut self, run: &mut Run) -> Result<(), Error> {
        self.verification.bound_incumbent(self.separation.as_mut(), self.pool, run)
    }

    /// Certifies the incumbent of a run that a limit has ended, if a certificate was asked for.
    pub(super) fn certify_at_end(&mut self, run: &mut Run) -> Result<(), Error> {
        self.verification.certify_at_end(self.separation.as_mut(), &mut self.evaluator, self.pool, run)
    }
}

impl LazyCutCallback for SeparationCallback<'_> {
    fn separate(&mut self, points: &[Point], run: &mut Run) -> Result<ControlFlow<Stop, Vec<bool>>, Error> {
        let mut accepted = Vec::with_capacity(points.len());
        for point in points {
            accepted.push(match point.integral {
                true => match self.accepts(&point.x, point.bound, run)? {
                    ControlFlow::Continue(accepted) => accepted,
                    ControlFlow::Break(stop) => return Ok(ControlFlow::Break(stop)),
                },
                false => {
                    self.separate_fraction(point, run)?;
                    false
                }
            });
        }
        // The cuts of a later point may cut off one that was accepted before.
        for (point, accepted) in points.iter().zip(&mut accepted) {
            *accepted = *accepted && !self.is_cut_off(point, run);
        }
        Ok(ControlFlow::Continue(accepted))
    }

    fn evaluate(&mut self, x: &[f64], run: &mut Run) -> Result<(), Error> {
        let above = run.incumbent().map_or(f64::INFINITY, |incumbent| incumbent.value);
        let found = self.separate_at(x, above, Effort::Normal, run)?;
        self.evaluator.revise_incumbent(self.pool, run)?;
        if found.value < above {
            self.take(x, found.value, &found.xi, run)?;
        }
        Ok(())
    }

    fn pool(&self) -> &CutPool {
        self.pool
    }

    fn cutoff(&self, run: &Run) -> f64 {
        run.incumbent().map_or(f64::INFINITY, |incumbent| {
            let value = incumbent.value;
            value - self.closing_distance(value, run).max(cost_tol(value))
        })
    }

    fn lower_bound_rose(&mut self, lower: f64, run: &mut Run) -> Result<Option<Stop>, Error> {
        run.lower(lower);
        self.verify_if_due(run)
    }

    /// Soft separation may have missed a scenario without recourse: exact separations decide.
    fn unbounded_relaxation(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        prove_unbounded(self.problem, self.certify, run).map(Some)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::definition::{Row, Variable};
    use crate::model::ProblemDefinition;
    use crate::recourse::{Answer, Recourse, engine};
    use crate::run::{Clock, Limits, Silent};
    use crate::separation::{SeparationContext, SeparationFactory, SeparationKind};
    use crate::uncertainty::SetDefinition;

    /// A separation that finds a demand of 0 at first, and of 10 from then on.
    struct LateFinder {
        engine: Box<dyn Recourse>,
        answer: Answer,
        demand: f64,
    }

    impl Separation for LateFinder {
        fn separate(&mut self, query: &Query, _: &mut CutPool) -> Result<Found, Error> {
            self.engine.at(query.x);
            let xi = [std::mem::replace(&mut self.demand, 10.0)];
            self.engine.solve(&xi, &mut self.answer)?;
            Ok(Found::new(&xi, &self.answer))
        }

        fn is_exact(&self) -> bool {
            false
        }
    }

    struct LateFinderFactory;

    impl SeparationFactory for LateFinderFactory {
        fn build<'p>(&self, problem: &'p Problem, _: &SeparationContext) -> Result<Box<dyn Separation + 'p>, Error> {
            let engine = engine(problem, &Clock::unlimited())?;
            Ok(Box::new(LateFinder { engine, answer: Answer::new(problem), demand: 0.0 }))
        }
    }

    /// Its cost would otherwise stay at a bound that a cut of the pool contradicts, and the search stall there.
    #[test]
    fn a_point_is_not_accepted_where_a_later_point_of_its_batch_brings_a_cut_against_it() {
        let mut file = ProblemDefinition::default();
        file.first_stage.variables.push(Variable::binary("open", 0.0));
        file.uncertainty.parameters.push("demand".into());
        file.uncertainty.set = SetDefinition::Box { lower: vec![0.0], upper: vec![10.0] };
        file.recourse.variables.push(Variable::new("short", 1.0));
        let mut cover = Row::new("cover");
        cover.y = vec![("short".into(), 1.0)];
        cover.x = vec![("open".into(), 4.0)];
        cover.xi = vec![("demand".into(), -1.0)];
        cover.lower = 0.0;
        file.recourse.constraints.push(cover);
        let problem = Problem::new(&file).unwrap();
        let settings = BranchAndCutSettings::default().with_separation(SeparationKind::custom(LateFinderFactory));
        let accepted = |points: &[Point]| {
            let (mut pool, mut silent) = (CutPool::new(&problem), Silent);
            let mut run = Run::new("branch-and-cut", Limits::default(), Clock::unlimited(), &mut silent);
            let mut callback = SeparationCallback::new(&problem, &settings, Certify::None, &mut pool, &run).unwrap();
            callback.separate(points, &mut run).unwrap()
        };
        let point = |open: f64| Point { x: vec![open], eta: 0.0, bound: 0.0, integral: true };
        assert_eq!(accepted(&[point(0.0)]), ControlFlow::Continue(vec![true]));
        assert_eq!(accepted(&[point(0.0), point(1.0)]), ControlFlow::Continue(vec![false, false]));
    }
}
