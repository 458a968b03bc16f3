//! A mixture of two proposals, accepted by the mixture's own density.

use rand::RngExt;

use super::{ChainState, Proposal, Refused, can_share_a_place};
use crate::run::Random;
use crate::uncertainty::{State, States};

/// `q = (1 − share)·first + share·second`. The ratio asks how likely the way back is by either, so that a share of a
/// proposal that reaches all states bounds it whatever the other does.
pub struct Mixture {
    first: Box<dyn Proposal>,
    second: Box<dyn Proposal>,
    share: f64,
}

impl Mixture {
    /// Both must have densities in closed form on these states; where they have none, [`super::Alternate`] mixes their
    /// kernels.
    pub fn new(
        states: &dyn States,
        first: Box<dyn Proposal>,
        second: Box<dyn Proposal>,
        share: f64,
    ) -> Result<Self, Refused> {
        for (name, proposal) in [("first", &first), ("second", &second)] {
            if !proposal.has_density(states) {
                return Err(Refused(format!(
                    "the {name} proposal of a mixture has no density in closed form here; their kernels can be \
                     alternated"
                )));
            }
        }
        can_share_a_place(first.as_ref(), second.as_ref())?;
        if !(0.0..=1.0).contains(&share) {
            return Err(Refused(format!("a share of {share} is not between 0 and 1")));
        }
        Ok(Self { first, second, share })
    }
}

/// `ln((1 − share)·e^first + share·e^second)`.
pub(super) fn log_mixed(share: f64, first: f64, second: f64) -> f64 {
    let (first, second) = ((1.0 - share).ln() + first, share.ln() + second);
    let larger = first.max(second);
    // Infinite: one of them says it all, and the difference would be no number.
    if larger.is_infinite() { larger } else { larger + (-(first - second).abs()).exp().ln_1p() }
}

impl Proposal for Mixture {
    fn ready(&self, states: &dyn States, place: &mut ChainState, temperature: f64) {
        self.first.ready(states, place, temperature);
        self.second.ready(states, place, temperature);
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let chosen = if random.random::<f64>() < self.share { &self.second } else { &self.first };
        chosen.propose(states, from, random, to);
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        let density = |from, to| self.log_density(states, from, to).unwrap_or(f64::NEG_INFINITY);
        let (back, forth) = (density(to, &from.state), density(from, &to.state));
        // Two infinite densities are those of a place where it is.
        if back == forth { 0.0 } else { back - forth }
    }

    fn has_density(&self, _states: &dyn States) -> bool {
        true
    }

    fn log_density(&self, states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        Some(log_mixed(
            self.share,
            self.first.log_density(states, from, to)?,
            self.second.log_density(states, from, to)?,
        ))
    }

    fn tilts(&self) -> bool {
        self.first.tilts() || self.second.tilts()
    }

    fn drifts(&self) -> bool {
        self.first.drifts() || self.second.drifts()
    }
}
