//! Bounds on the distance of the soft maximum of the scores from the largest cost, for every x.

use super::constants::{Constant, Constants, Provenance};
use crate::separation::soft::Score;
use crate::theory::{MetricSpace, body_ratio, finite_ratio, log_peak, sphere_ratio};
use crate::uncertainty::{Space, States};

/// The better of two values of the same constant: a bound before an estimate, then the smaller one.
fn better(a: Constant, b: Constant) -> Constant {
    let is_bound = |constant: &Constant| constant.provenance == Provenance::Bounded && constant.value.is_finite();
    match (is_bound(&a), is_bound(&b)) {
        (true, false) => a,
        (false, true) => b,
        _ if a.value <= b.value => a,
        _ => b,
    }
}

/// ε of the scores: τ/2·L'_Q² for a Moreau envelope, where slopes in x are bounded for all x.
pub(super) fn score_error(score: Score, slope_x: Constant) -> Constant {
    match score {
        Score::Exact => Constant::bounded(0.0),
        Score::Moreau(tau) => Constant { value: 0.5 * tau * slope_x.value.powi(2), ..slope_x },
    }
}

/// The logarithm of the least density of ν with respect to the uniform law.
pub(super) fn log_least_density(states: &dyn States) -> f64 {
    states.local_coordinates().map_or(0.0, |coordinates| coordinates.log_least_density())
}

/// The sum of two constants.
pub(super) fn plus(a: Constant, b: Constant) -> Constant {
    Constant { value: a.value + b.value, provenance: a.provenance.and(b.provenance) }
}

/// Bounds on the share of ν near the largest score that hold for every x. A Moreau envelope changes no more than Q with
/// x and ξ, so that they hold for its scores too.
pub(super) struct SoftError<'a> {
    pub(super) space: Space,
    pub(super) count: Option<f64>,
    pub(super) constants: &'a Constants,
    /// The logarithm of the least density of ν with respect to the uniform law.
    pub(super) log_least: f64,
}

impl SoftError<'_> {
    /// A bound on largest score minus soft maximum at any x.
    pub(super) fn at(&self, temperature: f64) -> Constant {
        let constants = self.constants;
        let by_space = match (self.space, self.count, constants.slope_sphere) {
            (Space::Finite(_), Some(states), _) => Some(Constant::bounded(temperature * states.ln())),
            (Space::Sphere(dim), _, Some(slope)) => {
                let log_peak = log_peak(dim, slope.value, temperature) - self.log_least;
                Some(Constant { value: temperature * log_peak, ..slope })
            }
            (Space::Body(dim), _, _) => {
                let body = MetricSpace::body(dim, constants.diameter_xi.value, constants.slope_xi.value);
                Some(Constant { value: body.error(temperature), ..constants.slope_xi })
            }
            _ => None,
        };
        // No score is more than Δ below the largest.
        by_space.map_or(constants.spread, |by_space| better(by_space, constants.spread))
    }

    /// The ratio of far and near states, for Theorem 2.
    pub(super) fn ratio(&self, slack: f64) -> f64 {
        let constants = self.constants;
        match (self.space, self.count, constants.slope_sphere) {
            (Space::Finite(_), Some(states), _) => finite_ratio(states),
            (Space::Sphere(dim), _, Some(slope)) => sphere_ratio(dim, slope.value, slack) * (-self.log_least).exp(),
            (Space::Body(dim), _, _) => body_ratio(dim, constants.diameter_xi.value, constants.slope_xi.value, slack),
            _ => f64::INFINITY,
        }
    }
}
