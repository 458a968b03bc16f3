//! Alternating ascent: each step goes to the maximiser over the set of the slope of Q in ξ, until ξ stays the same.
//!
//! Q is convex in ξ where costs are fixed, so that no step decreases Q, and an ascent ends at a local maximum. It
//! proves nothing about the global one. Where costs depend on ξ a step may decrease Q; it is then halved, since the
//! maximum may lie between its ends.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Claim, Found};
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::ASCENT_GAIN_TOL;
use crate::recourse::{Answer, Recourse, RecourseOutcome};

/// The largest number of steps of an ascent. On polyhedral sets ascents end long before.
const MAX_STEPS: usize = 100;

/// The largest number of halvings of a step.
const MAX_HALVINGS: u32 = 8;

/// A recourse variable further than this from its resting value, the point of its bounds nearest to zero, is in use.
const IN_USE_TOL: f64 = 1e-9;

/// Ascents at one decision, and the worst scenario found by them.
pub struct Ascent<'a> {
    problem: &'a Problem,
    engine: &'a mut dyn Recourse,
    answer: Answer,
    solves_before: u64,
    xi: Vec<f64>,
    /// The start of the current step.
    from: Vec<f64>,
    best: (Vec<f64>, f64),
    /// The largest cost of a scenario, from above ([`Answer::cost`]): it may differ from the value by a tolerance.
    cost: f64,
    decision: Vec<f64>,
    used: Vec<bool>,
}

impl<'a> Ascent<'a> {
    /// No ascents yet at decision x.
    pub fn new(problem: &'a Problem, engine: &'a mut dyn Recourse, x: &[f64]) -> Self {
        engine.at(x);
        let mut nominal = vec![0.0; problem.set.dim()];
        problem.set.nominal(&mut nominal);
        Self {
            problem,
            answer: Answer::new(problem),
            solves_before: engine.work().solves,
            engine,
            xi: nominal.clone(),
            from: nominal.clone(),
            best: (nominal, f64::NEG_INFINITY),
            cost: f64::NEG_INFINITY,
            decision: vec![0.0; problem.recourse.dim()],
            used: vec![false; problem.recourse.dim()],
        }
    }

    /// Climbs from the nominal scenario and from the two ends of each coordinate axis. Ends at a scenario without
    /// recourse: none is worse.
    pub fn climb_from_axes(&mut self) -> Result<(), Error> {
        let set = &self.problem.set;
        let mut start = vec![0.0; set.dim()];
        set.nominal(&mut start);
        self.climb(&start)?;
        let mut axis = vec![0.0; set.dim()];
        for index in 0..set.dim() {
            for sign in [1.0, -1.0] {
                if self.is_infeasible() {
                    return Ok(());
                }
                axis[index] = sign;
                set.support(&axis, &mut start)?;
                self.climb(&start)?;
            }
            axis[index] = 0.0;
        }
        Ok(())
    }

    /// Climbs from the maximisers of `count` random directions.
    pub fn climb_at_random(&mut self, count: usize, seed: u64) -> Result<(), Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut start = vec![0.0; self.xi.len()];
        for _ in 0..count {
            if self.is_infeasible() {
                return Ok(());
            }
            let direction: Vec<f64> = (0..start.len()).map(|_| rng.random_range(-1.0..1.0)).collect();
            self.problem.set.support(&direction, &mut start)?;
            self.climb(&start)?;
        }
        Ok(())
    }

    /// Climbs from a member of the set.
    pub fn climb(&mut self, start: &[f64]) -> Result<(), Error> {
        self.climb_while(start, ASCENT_GAIN_TOL, &mut |_, _| {})
    }

    /// Climbs from a member of the set as long as a step gains more than this share of the cost reached. Calls `show`
    /// with every scenario on the way and the recourse's answer there.
    pub(crate) fn climb_while(
        &mut self,
        start: &[f64],
        gain: f64,
        show: &mut dyn FnMut(&[f64], &Answer),
    ) -> Result<(), Error> {
        self.xi.copy_from_slice(start);
        let may_halve = self.problem.recourse.costs_move() && !self.problem.set.is_finite_list();
        let (mut last, mut halved) = (f64::NEG_INFINITY, 0);
        for _ in 0..MAX_STEPS {
            self.engine.solve(&self.xi, &mut self.answer)?;
            show(&self.xi, &self.answer);
            self.cost = self.cost.max(self.answer.cost);
            if self.answer.value > self.best.1 {
                self.best.0.copy_from_slice(&self.xi);
                self.best.1 = self.answer.value;
            }
            if self.answer.outcome != RecourseOutcome::Solved {
                break;
            }
            let is_first = last == f64::NEG_INFINITY;
            if is_first || self.answer.value > last + gain * last.abs() {
                self.note_used();
                (last, halved) = (self.answer.value, 0);
                self.from.copy_from_slice(&self.xi);
                self.problem.set.support(&self.answer.slope_xi, &mut self.xi)?;
                if self.xi == self.from {
                    break;
                }
            } else if may_halve && halved < MAX_HALVINGS {
                halved += 1;
                self.xi.iter_mut().zip(&self.from).for_each(|(xi, from)| *xi = 0.5 * (*xi + from));
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Solves the recourse at any ξ, a member or not. The worst scenario stays the same.
    pub fn evaluate(&mut self, xi: &[f64]) -> Result<&Answer, Error> {
        self.engine.solve(xi, &mut self.answer)?;
        Ok(&self.answer)
    }

    fn note_used(&mut self) {
        self.engine.decision(&mut self.decision);
        let recourse = &self.problem.recourse;
        for (j, y) in self.decision.iter().enumerate() {
            let rest = 0.0_f64.clamp(recourse.lower[j], recourse.upper[j]);
            self.used[j] |= (y - rest).abs() > IN_USE_TOL * (1.0 + rest.abs());
        }
    }

    /// Returns for each recourse variable whether it was in use in some step.
    pub fn used(&self) -> &[bool] {
        &self.used
    }

    /// Returns the value of the worst scenario.
    pub fn value(&self) -> f64 {
        self.best.1
    }

    /// Returns the largest cost of a scenario, from above.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// Returns the worst scenario.
    pub fn worst(&self) -> &[f64] {
        &self.best.0
    }

    /// Whether the worst scenario has no recourse.
    pub(crate) fn is_infeasible(&self) -> bool {
        self.best.1 == f64::INFINITY
    }

    /// Returns the worst scenario with its cut. Claims nothing, unless it has no recourse: then none is worse.
    pub fn found(mut self) -> Result<Found, Error> {
        self.engine.solve(&self.best.0, &mut self.answer)?;
        let claim = if self.is_infeasible() { Claim::Surely(f64::INFINITY) } else { Claim::Nothing };
        Ok(Found {
            value: self.best.1,
            cut: self.answer.cut(),
            claim,
            solves: self.engine.work().solves - self.solves_before,
            nodes: 0,
            exact: 0,
            xi: self.best.0,
        })
    }
}

/// Climbs from the nominal scenario and the ends of the axes, and returns the worst scenario found.
pub fn ascend(problem: &Problem, engine: &mut dyn Recourse, x: &[f64]) -> Result<Found, Error> {
    let mut ascent = Ascent::new(problem, engine, x);
    ascent.climb_from_axes()?;
    ascent.found()
}
