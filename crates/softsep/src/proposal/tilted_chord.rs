//! Hit-and-run that looks up the slope: a uniform direction, and on the chord along it a point from the law that p_x
//! would have if the score were linear.

use rand::RngExt;

use super::mixture::log_mixed;
use super::{ChainState, Proposal, Refused, dot, point_mut, reference_ratio};
use crate::run::{Random, normals};
use crate::uncertainty::{Space, States};

/// On the chord `from + t·direction`, t has a density ∝ exp(t·⟨force, direction⟩), the force being the slope of score/w
/// at `from`. No step has to be chosen: where the score is linear every candidate is taken, at any temperature. The way
/// back is on the same chord, with the force at its other end.
///
/// With `share` the point is uniform on the chord instead: the slope leads up where the chain is, and would hardly ever
/// leave a top for another one.
#[derive(Debug, Clone, Copy)]
pub struct TiltedChord {
    share: f64,
}

impl TiltedChord {
    /// For the states of a convex body.
    pub fn of(states: &dyn States, share: f64) -> Result<Self, Refused> {
        if !(0.0..=1.0).contains(&share) {
            return Err(Refused(format!("a share of {share} is not between 0 and 1")));
        }
        match (states.space(), states.walk()) {
            (Space::Body(_), Some(_)) => Ok(Self { share }),
            (space, _) => Err(Refused(format!("chords are drawn through convex bodies, and these states are {space}"))),
        }
    }
}

/// Draws from the density ∝ exp(rate·s) on [0, length].
fn draw(rate: f64, length: f64, random: &mut Random) -> f64 {
    let share = random.random::<f64>();
    if rate == 0.0 {
        return share * length;
    }
    // From the end where the density is largest the law is exponential, cut off at the other end.
    let away = (-(share * (-rate.abs() * length).exp_m1()).ln_1p() / rate.abs()).min(length);
    if rate > 0.0 { length - away } else { away }
}

/// The logarithm of that density.
fn log_density(rate: f64, length: f64, at: f64) -> f64 {
    let away = if rate > 0.0 { length - at } else { at };
    let rate = rate.abs();
    if rate * length < 1e-12 { -length.ln() } else { rate.ln() - rate * away - (-(-rate * length).exp_m1()).ln() }
}

impl Proposal for TiltedChord {
    fn ready(&self, states: &dyn States, place: &mut ChainState, temperature: f64) {
        let Some(walk) = states.walk() else { return };
        let force = &mut place.drift[..walk.dim()];
        walk.pull(&place.answer.slope_xi, force);
        force.iter_mut().for_each(|force| *force /= temperature);
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let Some(walk) = states.walk() else { return };
        let direction = point_mut(&mut to.state);
        normals(random, direction);
        let (least, most) = walk.chord(from.point(), direction);
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
        let rate = |place: &ChainState| {
            let steps = to.point().iter().zip(from.point()).map(|(to, from)| to - from);
            place.drift.iter().zip(steps).map(|(force, step)| force * step).sum::<f64>() / chosen
        };
        let length = most - least;
        let density = |rate, at| log_mixed(self.share, log_density(rate, length, at), -length.ln());
        density(rate(to), -least) - density(rate(from), chosen - least) + reference_ratio(states, from, to)
    }

    fn drifts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Purpose, stream};

    /// The density integrates to one (midpoint rule), and draws have its mean: of 20 000 within six standard errors,
    /// each at most length/√12/√20 000 for a flat law and less for others.
    #[test]
    fn the_law_on_a_chord_is_the_one_it_claims_to_be() {
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
