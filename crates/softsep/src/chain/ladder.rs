//! Ladders of temperatures for replicas.

/// Temperatures in descending order, with the swaps tried between neighbouring rungs.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    temperatures: Vec<f64>,
    /// For each pair of neighbouring rungs: the number of trials, and the sum of their acceptance probabilities.
    trials: Vec<(f64, f64)>,
}

/// A rejection rate is taken to be at least this. Rungs would otherwise leave a part of the ladder in which few swaps
/// were tried and none was rejected.
const LEAST_REJECTION: f64 = 0.02;

impl Ladder {
    /// `rungs` temperatures in geometric progression from `hot` to `cold`.
    pub fn geometric(hot: f64, cold: f64, rungs: usize) -> Self {
        let last = rungs.max(2) - 1;
        let temperature = |rung: usize| hot * (cold / hot).powf(rung as f64 / last as f64);
        Self { temperatures: (0..=last).map(temperature).collect(), trials: vec![(0.0, 0.0); last] }
    }

    /// The temperatures, the highest first.
    pub fn temperatures(&self) -> &[f64] {
        &self.temperatures
    }

    /// The logarithm of the ratio by which a swap between rungs `rung` and `rung + 1` is accepted, for states with
    /// these scores on the two rungs. The acceptance rule of Metropolis leaves the product of the two laws invariant.
    pub fn log_ratio(&self, rung: usize, score: f64, next_score: f64) -> f64 {
        // Two infinite scores are equal.
        if score == next_score {
            return 0.0;
        }
        (next_score - score) * (self.temperatures[rung].recip() - self.temperatures[rung + 1].recip())
    }

    /// Counts a trial of a swap, made or not, by its acceptance probability.
    pub(super) fn record(&mut self, rung: usize, probability: f64) {
        let (count, sum) = &mut self.trials[rung];
        *count += 1.0;
        *sum += probability;
    }

    /// The mean acceptance probability of swaps between each rung and the next; `None` before the first trial.
    pub fn swap_rates(&self) -> Vec<Option<f64>> {
        self.trials.iter().map(|&(count, sum)| (count > 0.0).then(|| sum / count)).collect()
    }

    /// Moves the inner rungs so that the rejection rates become even, and forgets the trials.
    ///
    /// The rejection rate between two close temperatures is about the integral over the inverse temperature of a local
    /// rate (the communication barrier of Syed et al., 2022), so that its sum along the ladder hardly depends on the
    /// rungs. New rungs divide the sum into equal parts; between old rungs it is interpolated in the logarithm.
    pub(super) fn even_out(&mut self) {
        let rejections = self.swap_rates().into_iter().map(|rate| rate.map_or(0.5, |rate| 1.0 - rate));
        let mut sums = vec![0.0];
        for rejection in rejections {
            sums.push(sums[sums.len() - 1] + rejection.max(LEAST_REJECTION));
        }
        let last = self.trials.len();
        let mut below = 0;
        let inner = (1..last).map(|rung| {
            let target = sums[last] * rung as f64 / last as f64;
            while sums[below + 1] < target {
                below += 1;
            }
            let share = (target - sums[below]) / (sums[below + 1] - sums[below]);
            let (from, to) = (self.temperatures[below], self.temperatures[below + 1]);
            from * (to / from).powf(share)
        });
        let inner: Vec<f64> = inner.collect();
        self.temperatures[1..last].copy_from_slice(&inner);
        self.trials.fill((0.0, 0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_ladder_has_even_ratios_and_its_ends() {
        let ladder = Ladder::geometric(8.0, 1.0, 4);
        for (found, want) in ladder.temperatures().iter().zip([8.0, 4.0, 2.0, 1.0]) {
            assert!((found - want).abs() < 1e-12);
        }
    }

    #[test]
    fn rungs_move_to_where_swaps_are_rejected() {
        let mut ladder = Ladder::geometric(16.0, 1.0, 5);
        for (rung, rate) in [0.9, 0.9, 0.4, 0.8].into_iter().enumerate() {
            ladder.record(rung, rate);
        }
        ladder.even_out();
        let found = ladder.temperatures();
        // The rejections 0.1, 0.1, 0.6, 0.2 sum to 1: new rungs are at 0.25, 0.5 and 0.75 of it.
        let want =
            [16.0, 4.0 * 0.5_f64.powf(0.05 / 0.6), 4.0 * 0.5_f64.powf(0.3 / 0.6), 4.0 * 0.5_f64.powf(0.55 / 0.6), 1.0];
        for (found, want) in found.iter().zip(want) {
            assert!((found - want).abs() < 1e-12, "{found} and {want}");
        }
        assert_eq!(ladder.swap_rates(), [None; 4]);
    }

    #[test]
    fn a_worse_scenario_on_the_hotter_rung_always_moves_down() {
        let ladder = Ladder::geometric(2.0, 1.0, 2);
        assert_eq!(ladder.log_ratio(0, 3.0, 1.0), 1.0);
        assert_eq!(ladder.log_ratio(0, 1.0, 3.0), -1.0);
        assert_eq!(ladder.log_ratio(0, f64::INFINITY, f64::INFINITY), 0.0);
    }
}
