//! Hit-and-run along the slope: a uniform direction, then a point on the chord from the law that p_x would have if the
//! score were linear.

use rand::RngExt;

use super::proposal_mixture::log_mixed;
use super::{ChainState, Proposal, ProposalError, dot, log_reference_ratio, point_mut};
use crate::run::{Random, normals};
use crate::uncertainty::{Space, States};

/// Below this range of the exponent, the density on a chord is uniform up to rounding.
const FLAT_EXPONENT_TOL: f64 = 1e-12;

/// On the chord `from + t·direction`, t has a density ∝ exp(t·⟨force, direction⟩), where the force is the gradient of
/// score/w at `from`. There is no step length to choose: where the score is linear, every candidate is accepted at any
/// temperature. The reverse move is on the same chord, with the force at its other end.
///
/// With probability `share` the point is uniform on the chord instead: the slope leads to the nearest local maximum,
/// and a chain that only follows it would rarely leave that maximum for another one.
#[derive(Debug, Clone, Copy)]
pub struct TiltedChord {
    share: f64,
}

impl TiltedChord {
    /// Creates the proposal for the states of a convex body. Errs for other spaces, and if `share` is not in [0, 1].
    pub fn of(states: &dyn States, share: f64) -> Result<Self, ProposalError> {
        if !(0.0..=1.0).contains(&share) {
            return Err(ProposalError(format!("a share of {share} is not between 0 and 1")));
        }
        match (states.space(), states.local_coordinates()) {
            (Space::Body(_), Some(_)) => Ok(Self { share }),
            (space, _) => {
                Err(ProposalError(format!("chords are drawn through convex bodies, and these states are {space}")))
            }
        }
    }
}

/// Draws from the density ∝ exp(rate·s) on [0, length].
fn draw(rate: f64, length: f64, random: &mut Random) -> f64 {
    let share = random.random::<f64>();
    if rate == 0.0 {
        return share * length;
    }
    // Measured from the end with the largest density, the law is exponential, truncated at the other end.
    let away = (-(share * (-rate.abs() * length).exp_m1()).ln_1p() / rate.abs()).min(length);
    if rate > 0.0 { length - away } else { away }
}

/// The logarithm of the density ∝ exp(rate·s) on [0, length], at s = `at`.
fn log_density(rate: f64, length: f64, at: f64) -> f64 {
    let away = if rate > 0.0 { length - at } else { at };
    let rate = rate.abs();
    if rate * length < FLAT_EXPONENT_TOL {
        -length.ln()
    } else {
        rate.ln() - rate * away - (-(-rate * length).exp_m1()).ln()
    }
}

impl Proposal for TiltedChord {
    fn prepare(&self, states: &dyn States, state: &mut ChainState, temperature: f64) {
        let Some(coordinates) = states.local_coordinates() else { return };
        let force = &mut state.drift[..coordinates.dim()];
        coordinates.pull_back(&state.answer.slope_xi, force);
        force.iter_mut().for_each(|force| *force /= temperature);
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let Some(coordinates) = states.local_coordinates() else { return };
        let direction = point_mut(&mut to.state);
        normals(random, direction);
        let (least, most) = coordinates.chord(from.point(), direction);
        let is_uniform = random.random::<f64>() < self.share;
        let rate = if is_uniform { 0.0 } else { dot(&from.drift, direction) };
        let chosen = least + draw(rate, most - least, random);
        for (to, from) in direction.iter_mut().zip(from.point()) {
            *to = from + chosen * *to;
        }
        to.chord = [least, most, chosen];
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let [least, most, chosen] = to.chord;
        let rate = |state: &ChainState| {
            let steps = to.point().iter().zip(from.point()).map(|(to, from)| to - from);
            state.drift.iter().zip(steps).map(|(force, step)| force * step).sum::<f64>() / chosen
        };
        let length = most - least;
        let density = |rate, at| log_mixed(self.share, log_density(rate, length, at), -length.ln());
        density(rate(to), -least) - density(rate(from), chosen - least) + log_reference_ratio(states, from, to)
    }

    fn uses_drift(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Purpose, stream};

    /// The density integrates to one (midpoint rule), and the draws have its mean: the mean of 20 000 draws is within
    /// six standard errors, each at most length/√12/√20 000 (attained by a flat law).
    #[test]
    fn draws_on_a_chord_follow_the_stated_density() {
        let mut random = stream(1, Purpose::Estimate, 0);
        for (rate, length) in [(0.0, 2.0), (1e-14, 2.0), (1.5, 2.0), (-1.5, 0.7), (40.0, 1.0), (-3e-3, 5.0)] {
            let nodes = (0..100_000).map(|step| (f64::from(step) + 0.5) / 100_000.0 * length);
            let weighted = nodes.map(|at| (log_density(rate, length, at).exp() * length / 100_000.0, at));
            let (total, mean) =
                weighted.fold((0.0, 0.0), |(total, mean), (weight, at)| (total + weight, mean + weight * at));
            assert!((total - 1.0).abs() < 1e-6, "{rate} {length}: {total}");
            let drawn = (0..20_000).map(|_| draw(rate, length, &mut random)).sum::<f64>() / 20_000.0;
            assert!(
                (drawn - mean).abs() < 6.0 * length / (12.0_f64 * 20_000.0).sqrt(),
                "{rate} {length}: {drawn} and {mean}"
            );
        }
    }
}
