//! The independence proposal with given weights (Example 3 of the paper), for problems where the bad scenarios are
//! roughly known.

use rand::RngExt;

use super::{ChainState, Proposal, ProposalError};
use crate::run::Random;
use crate::uncertainty::{Count, Space, State, States};

/// `q(j|i) = (1 − share)·weight_j + share/N`, with the weights normalised to sum one. Every q(j|i) is positive, so that
/// the chain can reach every row.
#[derive(Debug, Clone)]
pub struct Weighted {
    /// ln(N·q(j)), the density with respect to the uniform ν.
    log_density: Vec<f64>,
    /// Partial sums of q; the last one is one up to rounding.
    sums: Vec<f64>,
}

impl Weighted {
    /// Creates the proposal from one weight per row of these states, in their order. Errs if the states are not the
    /// rows of a list, if the weights or the share are invalid, or if some row would have probability zero.
    pub fn new(states: &dyn States, weights: &[f64], share: f64) -> Result<Self, ProposalError> {
        let refuse = |why: String| Err(ProposalError(why));
        let rows = match (states.space(), states.blank()) {
            (Space::Finite(Count::Exactly(rows)), State::Row(_)) => rows,
            _ => {
                return refuse(
                    "weights are given to the rows of a list, and these states are not such rows; adaptive needs none"
                        .into(),
                );
            }
        };
        if weights.len() as u128 != rows {
            return refuse(format!("{} weights are given where there are {rows} scenarios", weights.len()));
        }
        if !(0.0..=1.0).contains(&share) {
            return refuse(format!("a share of {share} is not between 0 and 1"));
        }
        if let Some(row) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            return refuse(format!(
                "the weight of scenario {row} is {}; weights are finite and not negative",
                weights[row]
            ));
        }
        let largest = weights.iter().fold(0.0_f64, |largest, weight| largest.max(*weight));
        // Division by the largest weight first: the plain sum may overflow.
        let total: f64 = weights.iter().map(|weight| weight / largest).sum();
        if largest == 0.0 && share < 1.0 {
            return refuse("all weights are zero".into());
        }
        let (mut sum, mut sums, mut log_density) =
            (0.0, Vec::with_capacity(weights.len()), Vec::with_capacity(weights.len()));
        for (row, weight) in weights.iter().enumerate() {
            let own = if share < 1.0 { (1.0 - share) * (weight / largest / total) } else { 0.0 };
            let chance = own + share / rows as f64;
            if chance <= 0.0 {
                return refuse(format!(
                    "scenario {row} has no weight, so that no chain would find it; mix in a share of the uniform law"
                ));
            }
            sum += chance;
            sums.push(sum);
            log_density.push((chance * rows as f64).ln());
        }
        Ok(Self { log_density, sums })
    }

    fn at(&self, state: &State) -> f64 {
        match state {
            State::Row(row) => self.log_density[*row],
            State::Point(_) => f64::NEG_INFINITY,
        }
    }
}

impl Proposal for Weighted {
    fn propose(&self, _states: &dyn States, _from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let at = random.random::<f64>() * self.sums.last().copied().unwrap_or(0.0);
        to.state = State::Row(self.sums.partition_point(|&below| below <= at).min(self.sums.len() - 1));
    }

    fn log_ratio(&self, _states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        self.at(&from.state) - self.at(&to.state)
    }

    fn has_density(&self, _states: &dyn States) -> bool {
        true
    }

    fn log_density(&self, _states: &dyn States, _from: &ChainState, to: &State) -> Option<f64> {
        Some(self.at(to))
    }
}
