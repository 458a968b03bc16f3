//! The constants that the theory is written in, for one problem: bounded where linear programs bound them, estimated
//! from samples elsewhere.

use rand::RngExt;

use super::extent::Extent;
use super::scores::{Looked, Looker};
use crate::error::Error;
use crate::model::Problem;
use crate::run::{Clock, Random};
use crate::separation::SlopeRanges;
use crate::uncertainty::{Space, States};

/// How a constant is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The truth is not above it, up to the solvers' tolerances.
    Bounded,
    /// The largest of so many samples: the truth may be above it, and what is made of it is no bound.
    Estimated {
        /// How many.
        samples: usize,
    },
}

impl Known {
    /// What is known of something that follows from two constants.
    pub fn and(self, other: Self) -> Self {
        if self == Known::Bounded { other } else { self }
    }
}

/// A number from above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// The number; infinite where there is no end.
    pub value: f64,
    /// How it is known.
    pub known: Known,
}

impl Constant {
    /// A bound.
    pub fn bounded(value: f64) -> Self {
        Self { value, known: Known::Bounded }
    }
}

/// The constants. Norms are Euclidean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// Δ: how far two scores at one x can be apart.
    pub spread: Constant,
    /// L'_Q: how steep Q is in x.
    pub slope_x: Constant,
    /// L'_ξ: how steep Q is in ξ.
    pub slope_xi: Constant,
    /// How steep Q is in the coordinates of a sphere of states.
    pub slope_sphere: Option<Constant>,
    /// D: the diameter of X, its integrality left out.
    pub diameter_x: Constant,
    /// The diameter of Ξ.
    pub diameter_xi: Constant,
}

/// Decisions that samples are taken at, besides the one in question.
const DECISIONS: usize = 20;

impl Constants {
    pub(super) fn of(
        problem: &Problem,
        looker: &mut Looker,
        x: &[f64],
        at_x: &Looked,
        samples: usize,
        random: &mut Random,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let extent = Extent::of(problem, clock)?;
        let mut met = Met::new(looker.states, at_x);
        let mut other = x.to_vec();
        // Between the decision and a corner of X.
        for _ in 0..if extent.corners.is_empty() { 0 } else { DECISIONS } {
            let corner = &extent.corners[random.random_range(0..extent.corners.len())];
            let share: f64 = random.random();
            other.iter_mut().zip(x).zip(corner).for_each(|((other, from), to)| *other = from + share * (to - from));
            let looked = looker.drawn(&other, (samples / DECISIONS).max(2), random)?;
            met.add(looker.states, &looked);
        }

        // Slopes are linear in the duals of linear recourse with fixed costs, which depend neither on x nor on ξ.
        let has_duals = problem.recourse.is_linear() && !problem.recourse.costs_move();
        let in_x = if has_duals { SlopeRanges::in_x(problem, clock)? } else { None };
        let in_xi = if has_duals { SlopeRanges::of(problem, clock)? } else { None };
        let on_sphere = in_xi.as_ref().and_then(|ranges| ranges.on_sphere(looker.states));
        let choose = |bound: Option<f64>, met_value: f64| match bound.filter(|bound| bound.is_finite()) {
            Some(bound) => Constant::bounded(bound),
            None => Constant { value: met_value, known: Known::Estimated { samples: met.samples } },
        };
        Ok(Self {
            spread: choose(in_xi.as_ref().map(|ranges| ranges.spread(&extent.xi)), met.spread),
            slope_x: choose(in_x.as_ref().map(|ranges| norm(&ranges.steepest())), met.slope_x),
            slope_xi: choose(in_xi.as_ref().map(|ranges| norm(&ranges.steepest())), met.slope_xi),
            slope_sphere: matches!(looker.states.space(), Space::Sphere(_))
                .then(|| choose(on_sphere, met.slope_sphere)),
            diameter_x: Constant::bounded(norm(&extent.x)),
            diameter_xi: Constant::bounded(norm(&extent.xi)),
        })
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The largest numbers met in samples.
struct Met {
    samples: usize,
    spread: f64,
    slope_x: f64,
    slope_xi: f64,
    slope_sphere: f64,
}

impl Met {
    fn new(states: &dyn States, looked: &Looked) -> Self {
        let mut met = Self { samples: 0, spread: 0.0, slope_x: 0.0, slope_xi: 0.0, slope_sphere: 0.0 };
        met.add(states, looked);
        met
    }

    fn add(&mut self, states: &dyn States, looked: &Looked) {
        self.samples += looked.seen.len();
        self.spread = self.spread.max(looked.spread());
        let mut coordinates = vec![0.0; states.local_coordinates().map_or(0, |local| local.dim())];
        for seen in &looked.seen {
            self.slope_x = self.slope_x.max(norm(&seen.slope_x));
            self.slope_xi = self.slope_xi.max(norm(&seen.slope_xi));
            if let Some(local) = states.local_coordinates() {
                local.pull_back(&seen.slope_xi, &mut coordinates);
                self.slope_sphere = self.slope_sphere.max(norm(&coordinates));
            }
        }
    }
}
