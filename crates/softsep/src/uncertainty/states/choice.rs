//! One of finitely many, by weights: the table is their running sum.

use rand::RngExt;

use super::CachedTilt;
use crate::run::Random;

/// The most standard deviations' worth of weight that a choice among so many can bear: with weights as a normal law has
/// them, beyond √(2 ln n) the choice is nearly always the first (Derrida's random energy model freezes there), and its
/// way back nearly impossible.
pub(super) fn most_per_deviation(count: usize) -> f64 {
    (2.0 * (count.max(1) as f64).ln()).sqrt()
}

impl CachedTilt {
    /// Makes the table and the mean of the weights, which are logarithms.
    pub(super) fn sum_up(&mut self) {
        let most = self.weights.iter().fold(f64::NEG_INFINITY, |most, weight| most.max(*weight));
        self.table.clear();
        let mut sum = 0.0;
        for weight in &self.weights {
            sum += (weight - most).exp();
            self.table.push(sum);
        }
        self.log_mean = most + (sum / self.weights.len() as f64).ln();
    }

    /// Draws one.
    pub(super) fn choose(&self, random: &mut Random) -> usize {
        let at = random.random::<f64>() * self.table.last().copied().unwrap_or(0.0);
        self.table.partition_point(|&below| below <= at).min(self.table.len().saturating_sub(1))
    }

    /// The logarithm of one's probability over that of a uniform choice; −∞ for what there is not.
    pub(super) fn log_choice(&self, row: usize) -> f64 {
        self.weights.get(row).map_or(f64::NEG_INFINITY, |weight| weight - self.log_mean)
    }
}
