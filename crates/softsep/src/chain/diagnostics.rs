//! Diagnostics of chains: acceptance rate, largest score and effective number of draws.

/// Largest number of batches that the effective number of draws is estimated from; an even number.
const MAX_BATCHES: usize = 64;

/// Counts and averages of one chain. No decision of the chain depends on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostics {
    /// Number of transitions.
    pub steps: u64,
    /// Number of accepted moves to another state.
    pub moves: u64,
    /// Transitions since the last move.
    pub steps_since_move: u64,
    /// The largest score evaluated, candidates included; −∞ before the first evaluation.
    pub largest_score: f64,
    moments: ScoreMoments,
    batches: Batches,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self {
            steps: 0,
            moves: 0,
            steps_since_move: 0,
            largest_score: f64::NEG_INFINITY,
            moments: ScoreMoments::default(),
            batches: Batches::default(),
        }
    }
}

impl Diagnostics {
    pub(super) fn record_score(&mut self, score: f64) {
        self.largest_score = self.largest_score.max(score);
    }

    pub(super) fn record_step(&mut self, moved: bool, candidate: f64, score: f64) {
        self.steps += 1;
        self.moves += u64::from(moved);
        self.steps_since_move = if moved { 0 } else { self.steps_since_move + 1 };
        self.record_score(candidate);
        if score.is_finite() {
            self.moments.add(score);
            self.batches.add(score - self.moments.first);
        }
    }

    /// The share of transitions that moved; `None` before the first transition.
    pub fn acceptance(&self) -> Option<f64> {
        (self.steps > 0).then(|| self.moves as f64 / self.steps as f64)
    }

    /// The effective number of independent draws for the mean score; `None` for fewer than two finite scores.
    ///
    /// The result is the smaller of two estimates. The batch-means estimate compares the variance of batch means with
    /// the variance of single scores. It is valid for any chain once a batch is longer than the chain's autocorrelation
    /// time; 64 batches leave an error of about a fifth. The other estimate models the scores as an autoregression of
    /// order one, and is valid from the start. A chain that never moved has an effective number of zero.
    pub fn effective_draws(&self) -> Option<f64> {
        let moments = &self.moments;
        (moments.count > 1.0).then(|| {
            if moments.square <= 0.0 {
                return 0.0;
            }
            let correlation = (moments.lagged / moments.square).clamp(-1.0, 1.0);
            let by_regression = (1.0 - correlation) / (1.0 + correlation).max(1e-12);
            let by_batches = self.batches.draws_per_step(moments.square / moments.count).unwrap_or(1.0);
            (moments.count * by_regression.min(by_batches)).clamp(0.0, moments.count)
        })
    }
}

/// Running mean, variance and lag-one covariance of successive scores.
#[derive(Debug, Clone, PartialEq, Default)]
struct ScoreMoments {
    first: f64,
    last: f64,
    count: f64,
    mean: f64,
    square: f64,
    lagged: f64,
}

impl ScoreMoments {
    /// Adds a score by Welford's recurrence; the lag-one product is taken about the running mean.
    fn add(&mut self, score: f64) {
        if self.count == 0.0 {
            (self.first, self.last) = (score, score);
        }
        self.count += 1.0;
        let before = score - self.mean;
        self.mean += before / self.count;
        let after = score - self.mean;
        self.square += before * after;
        self.lagged += (self.last - self.mean) * after;
        self.last = score;
    }
}

/// Sums over successive batches of one length. The length doubles whenever all batches are full, so that between half
/// of the batches and all of them are full and the memory does not grow.
#[derive(Debug, Clone, PartialEq)]
struct Batches {
    sums: [f64; MAX_BATCHES],
    full: usize,
    length: u64,
    /// Number and sum of the scores in the incomplete batch.
    begun: u64,
    sum: f64,
}

impl Default for Batches {
    fn default() -> Self {
        Self { sums: [0.0; MAX_BATCHES], full: 0, length: 1, begun: 0, sum: 0.0 }
    }
}

impl Batches {
    fn add(&mut self, score: f64) {
        self.begun += 1;
        self.sum += score;
        if self.begun < self.length {
            return;
        }
        self.sums[self.full] = self.sum;
        self.full += 1;
        (self.begun, self.sum) = (0, 0.0);
        if self.full == MAX_BATCHES {
            for pair in 0..MAX_BATCHES / 2 {
                self.sums[pair] = self.sums[2 * pair] + self.sums[2 * pair + 1];
            }
            self.full /= 2;
            self.length *= 2;
        }
    }

    /// Effective draws per step: the variance of a score divided by the variance of a batch sum per step. `None` while
    /// there are too few batches.
    fn draws_per_step(&self, variance: f64) -> Option<f64> {
        if self.full < MAX_BATCHES / 2 || self.length < 2 {
            return None;
        }
        let sums = &self.sums[..self.full];
        let mean = sums.iter().sum::<f64>() / sums.len() as f64;
        let spread = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (sums.len() - 1) as f64;
        (spread > 0.0).then(|| variance * self.length as f64 / spread)
    }
}

/// Diagnostics of several chains together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainSummary {
    /// Number of transitions.
    pub steps: u64,
    /// Number of accepted moves to another state.
    pub moves: u64,
    /// Transitions since the last move, of the chain with the longest such run.
    pub steps_since_move: u64,
    /// The largest score evaluated; −∞ before the first evaluation.
    pub largest_score: f64,
    /// The effective number of draws of all chains: chains are independent, so that their numbers add up.
    pub effective_draws: f64,
}

impl Default for ChainSummary {
    fn default() -> Self {
        Self { steps: 0, moves: 0, steps_since_move: 0, largest_score: f64::NEG_INFINITY, effective_draws: 0.0 }
    }
}

impl ChainSummary {
    /// Returns the summary with one more chain.
    pub fn with(self, chain: &Diagnostics) -> Self {
        Self {
            steps: self.steps + chain.steps,
            moves: self.moves + chain.moves,
            steps_since_move: self.steps_since_move.max(chain.steps_since_move),
            largest_score: self.largest_score.max(chain.largest_score),
            effective_draws: self.effective_draws + chain.effective_draws().unwrap_or(0.0),
        }
    }

    /// The share of transitions that moved; `None` before the first transition.
    pub fn acceptance(&self) -> Option<f64> {
        (self.steps > 0).then(|| self.moves as f64 / self.steps as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Purpose, normals, stream};

    /// Scores `slow + noise·normal` with a slow autoregression of unit variance and coefficient `memory`.
    fn fed(steps: usize, memory: f64, noise: f64, seed: u64) -> Diagnostics {
        let mut random = stream(seed, Purpose::Estimate, 0);
        let mut diagnostics = Diagnostics::default();
        let (mut slow, mut draw) = (0.0, [0.0; 2]);
        for _ in 0..steps {
            normals(&mut random, &mut draw);
            slow = memory * slow + (1.0 - memory * memory).sqrt() * draw[0];
            let score = 1e6 + slow + noise * draw[1];
            diagnostics.record_step(true, score, score);
        }
        diagnostics
    }

    /// The mean of n scores has variance (1 + φ)/(1 − φ)/n for the autoregression, plus noise²/n, so that the effective
    /// draws per step are known. The estimate from 32 to 63 batches is within ±60 % (four standard errors).
    #[test]
    fn effective_draws_are_those_of_known_processes() {
        for (memory, noise) in [(0.0, 0.0), (0.5, 0.0), (0.95, 0.0), (0.95, 1.0), (0.99, 2.0)] {
            for seed in 0..5 {
                let steps = 100_000;
                let found = fed(steps, memory, noise, seed).effective_draws().unwrap_or(f64::NAN) / steps as f64;
                let noise = noise * noise;
                let want = (1.0 + noise) / ((1.0 + memory) / (1.0 - memory) + noise);
                assert!(found < 1.6 * want && found > 0.4 * want, "memory {memory}, noise {noise}: {found} and {want}");
            }
        }
    }

    #[test]
    fn a_chain_that_never_moves_has_no_effective_draws() {
        let mut diagnostics = Diagnostics::default();
        assert_eq!((diagnostics.acceptance(), diagnostics.effective_draws()), (None, None));
        for _ in 0..1000 {
            diagnostics.record_step(false, 2.0, 1.0);
        }
        assert_eq!((diagnostics.acceptance(), diagnostics.effective_draws()), (Some(0.0), Some(0.0)));
        assert_eq!((diagnostics.steps_since_move, diagnostics.largest_score), (1000, 2.0));
    }

    #[test]
    fn an_infinite_score_counts_as_largest_but_is_not_averaged() {
        let mut diagnostics = fed(1000, 0.0, 0.0, 1);
        let before = diagnostics.effective_draws();
        diagnostics.record_step(true, f64::INFINITY, f64::INFINITY);
        assert_eq!((diagnostics.largest_score, diagnostics.effective_draws()), (f64::INFINITY, before));
    }

    #[test]
    fn a_summary_adds_its_chains() {
        let chains = [fed(1000, 0.5, 0.0, 1), fed(500, 0.5, 0.0, 2)];
        let summary = chains.iter().fold(ChainSummary::default(), ChainSummary::with);
        assert_eq!((summary.steps, summary.moves, summary.acceptance()), (1500, 1500, Some(1.0)));
        assert_eq!(
            summary.effective_draws,
            chains[0].effective_draws().unwrap_or(f64::NAN) + chains[1].effective_draws().unwrap_or(f64::NAN)
        );
        assert_eq!(summary.largest_score, chains[0].largest_score.max(chains[1].largest_score));
    }
}
