//! Two kernels, one of which is picked at random for each step: for proposals whose densities cannot be compared.

use rand::RngExt;

use super::{ChainState, Proposal, Refused, Way, can_share_a_place};
use crate::run::Random;
use crate::uncertainty::States;

/// The second proposal with probability `share`, else the first, each accepted by its own ratio. Either kernel has p_x
/// as its law and the pick does not look at the state, so that both together have it too.
pub struct Alternate {
    first: Box<dyn Proposal>,
    second: Box<dyn Proposal>,
    share: f64,
}

impl Alternate {
    /// Neither may itself alternate.
    pub fn new(first: Box<dyn Proposal>, second: Box<dyn Proposal>, share: f64) -> Result<Self, Refused> {
        if first.alternates() || second.alternates() {
            return Err(Refused("only plain proposals can be alternated".into()));
        }
        can_share_a_place(first.as_ref(), second.as_ref())?;
        if !(0.0..=1.0).contains(&share) {
            return Err(Refused(format!("a share of {share} is not between 0 and 1")));
        }
        Ok(Self { first, second, share })
    }

    fn by(&self, way: Way) -> &dyn Proposal {
        match way {
            Way::First => self.first.as_ref(),
            Way::Second => self.second.as_ref(),
        }
    }
}

impl Proposal for Alternate {
    fn ready(&self, states: &dyn States, place: &mut ChainState, temperature: f64) {
        self.first.ready(states, place, temperature);
        self.second.ready(states, place, temperature);
    }

    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        to.way = if random.random::<f64>() < self.share { Way::Second } else { Way::First };
        self.by(to.way).propose(states, from, random, to);
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        self.by(to.way).log_ratio(states, from, to)
    }

    fn tilts(&self) -> bool {
        self.first.tilts() || self.second.tilts()
    }

    fn drifts(&self) -> bool {
        self.first.drifts() || self.second.drifts()
    }

    fn alternates(&self) -> bool {
        true
    }
}
