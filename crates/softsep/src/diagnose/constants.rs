//! The constants of the theory for one problem: bounded by linear programs where possible, otherwise estimated from
//! samples.

use rand::RngExt;

use super::extent::Extent;
use super::scores::{ScoreEvaluator, ScoreSample};
use crate::error::Error;
use crate::model::{FirstStage, Problem};
use crate::numeric::norm;
use crate::run::{Clock, Random};
use crate::separation::SlopeRanges;
use crate::uncertainty::{Space, States};

/// The source of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// An upper bound, up to the tolerances of the solvers.
    Bounded,
    /// The largest of a number of samples: the exact value may be larger, and results derived from it are not bounds.
    Estimated {
        /// Number of samples.
        samples: usize,
    },
}

impl Provenance {
    /// The provenance of a result that depends on two constants.
    pub fn and(self, other: Self) -> Self {
        if self == Provenance::Bounded { other } else { self }
    }
}

/// An upper bound or estimate of a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// The value; infinite if the constant is unbounded.
    pub value: f64,
    /// The source of the value.
    pub provenance: Provenance,
}

impl Constant {
    /// A constant that is an upper bound.
    pub fn bounded(value: f64) -> Self {
        Self { value, provenance: Provenance::Bounded }
    }
}

/// The constants. Norms are Euclidean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// Δ: the largest difference of two scores at one x.
    pub spread: Constant,
    /// L_f: the Lipschitz constant of f.
    pub slope_f: Constant,
    /// L'_Q: the Lipschitz constant of Q in x.
    pub slope_x: Constant,
    /// L'_ξ: the Lipschitz constant of Q in ξ.
    pub slope_xi: Constant,
    /// The Lipschitz constant of Q in the coordinates of a sphere of states.
    pub slope_sphere: Option<Constant>,
    /// D: the diameter of X without integrality.
    pub diameter_x: Constant,
    /// The diameter of Ξ.
    pub diameter_xi: Constant,
}

/// Number of decisions at which samples are taken, besides the given one.
const SAMPLED_DECISIONS: usize = 20;

impl Constants {
    pub(super) fn of(
        problem: &Problem,
        evaluator: &mut ScoreEvaluator,
        x: &[f64],
        at_x: &ScoreSample,
        samples: usize,
        random: &mut Random,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let extent = Extent::of(problem, clock)?;
        let mut maxima = SampleMaxima::new(evaluator.states, at_x);
        let mut other = x.to_vec();
        // A point between the decision and a corner of X.
        for _ in 0..if extent.corners.is_empty() { 0 } else { SAMPLED_DECISIONS } {
            let corner = &extent.corners[random.random_range(0..extent.corners.len())];
            let share: f64 = random.random();
            other.iter_mut().zip(x).zip(corner).for_each(|((other, from), to)| *other = from + share * (to - from));
            let sample = evaluator.evaluate_draws(&other, (samples / SAMPLED_DECISIONS).max(2), random)?;
            maxima.add(evaluator.states, &sample);
        }

        // With linear recourse and fixed costs, slopes are linear in the duals, whose feasible set depends on neither x
        // nor ξ.
        let has_duals = problem.recourse.is_linear() && !problem.recourse.costs_move();
        let in_x = if has_duals { SlopeRanges::in_x(problem, clock)? } else { None };
        let in_xi = if has_duals { SlopeRanges::of(problem, clock)? } else { None };
        let on_sphere = in_xi.as_ref().and_then(|ranges| ranges.on_sphere(evaluator.states));
        let choose = |bound: Option<f64>, estimate: f64| match bound.filter(|bound| bound.is_finite()) {
            Some(bound) => Constant::bounded(bound),
            None => Constant { value: estimate, provenance: Provenance::Estimated { samples: maxima.samples } },
        };
        Ok(Self {
            spread: choose(in_xi.as_ref().map(|ranges| ranges.spread(&extent.xi)), maxima.spread),
            slope_f: Constant::bounded(steepest_first_cost(&problem.first, &extent)),
            slope_x: choose(in_x.as_ref().map(|ranges| norm(&ranges.steepest())), maxima.slope_x),
            slope_xi: choose(in_xi.as_ref().map(|ranges| norm(&ranges.steepest())), maxima.slope_xi),
            slope_sphere: matches!(evaluator.states.space(), Space::Sphere(_))
                .then(|| choose(on_sphere, maxima.slope_sphere)),
            diameter_x: Constant::bounded(norm(&extent.x)),
            diameter_xi: Constant::bounded(norm(&extent.xi)),
        })
    }
}

/// A bound on the length of the gradient of f over X: each entry is linear, and largest at an end of x's ranges.
fn steepest_first_cost(first: &FirstStage, extent: &Extent) -> f64 {
    let (mut least, mut most) = (first.cost.clone(), first.cost.clone());
    let mut add = |entry: usize, by: usize, value: f64| {
        let (low, high) = extent.x_ends[by];
        let ends = [value * low, value * high];
        least[entry] += ends[0].min(ends[1]);
        most[entry] += ends[0].max(ends[1]);
    };
    for (i, j, value) in first.quadratic.iter().filter(|(_, _, value)| *value != 0.0) {
        add(i, j, value);
        if i != j {
            add(j, i, value);
        }
    }
    let steepest: Vec<f64> = least.iter().zip(&most).map(|(least, most)| least.abs().max(most.abs())).collect();
    norm(&steepest)
}

/// The largest values in samples.
struct SampleMaxima {
    samples: usize,
    spread: f64,
    slope_x: f64,
    slope_xi: f64,
    slope_sphere: f64,
}

impl SampleMaxima {
    fn new(states: &dyn States, sample: &ScoreSample) -> Self {
        let mut maxima = Self { samples: 0, spread: 0.0, slope_x: 0.0, slope_xi: 0.0, slope_sphere: 0.0 };
        maxima.add(states, sample);
        maxima
    }

    fn add(&mut self, states: &dyn States, sample: &ScoreSample) {
        self.samples += sample.scored.len();
        self.spread = self.spread.max(sample.spread());
        let mut coordinates = vec![0.0; states.local_coordinates().map_or(0, |local| local.dim())];
        for state in &sample.scored {
            self.slope_x = self.slope_x.max(norm(&state.slope_x));
            self.slope_xi = self.slope_xi.max(norm(&state.slope_xi));
            if let Some(local) = states.local_coordinates() {
                local.pull_back(&state.slope_xi, &mut coordinates);
                self.slope_sphere = self.slope_sphere.max(norm(&coordinates));
            }
        }
    }
}
