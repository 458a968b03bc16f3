//! Draws from a categorical law with given log-weights, by a table of partial sums.

use rand::RngExt;

use super::CachedTilt;
use crate::run::Random;

/// The largest useful log-weight per standard deviation in a categorical law of `count` outcomes. For normally
/// distributed log-weights, beyond √(2 ln n) the draw is nearly always the outcome with the largest weight (the
/// freezing of Derrida's random energy model), and the reverse move is nearly impossible.
pub(super) fn max_weight_per_deviation(count: usize) -> f64 {
    (2.0 * (count.max(1) as f64).ln()).sqrt()
}

impl CachedTilt {
    /// Computes the table of partial sums and the log-mean of the weights from the log-weights.
    pub(super) fn tabulate(&mut self) {
        let most = self.weights.iter().fold(f64::NEG_INFINITY, |most, weight| most.max(*weight));
        self.table.clear();
        let mut sum = 0.0;
        for weight in &self.weights {
            sum += (weight - most).exp();
            self.table.push(sum);
        }
        self.log_mean = most + (sum / self.weights.len() as f64).ln();
    }

    /// Draws a row.
    pub(super) fn draw_row(&self, random: &mut Random) -> usize {
        let at = random.random::<f64>() * self.table.last().copied().unwrap_or(0.0);
        self.table.partition_point(|&below| below <= at).min(self.table.len().saturating_sub(1))
    }

    /// The logarithm of a row's probability divided by the uniform probability; −∞ if there is no such row.
    pub(super) fn log_row_density(&self, row: usize) -> f64 {
        self.weights.get(row).map_or(f64::NEG_INFINITY, |weight| weight - self.log_mean)
    }
}
