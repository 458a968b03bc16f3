//! How a chain is doing.

/// Batches that the effective number of draws is estimated from, at most; an even number.
const BATCHES: usize = 64;

/// Counts and averages of one chain; nothing here decides anything.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostics {
    /// Transitions so far.
    pub steps: u64,
    /// Those that moved.
    pub moves: u64,
    /// Transitions since the last move.
    pub still: u64,
    /// The largest score seen, candidates included; −∞ before the first.
    pub best: f64,
    moments: Moments,
    batches: Batches,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self {
            steps: 0,
            moves: 0,
            still: 0,
            best: f64::NEG_INFINITY,
            moments: Moments::default(),
            batches: Batches::default(),
        }
    }
}

impl Diagnostics {
    pub(super) fn saw(&mut self, score: f64) {
        self.best = self.best.max(score);
    }

    pub(super) fn stepped(&mut self, moved: bool, candidate: f64, score: f64) {
        self.steps += 1;
        self.moves += u64::from(moved);
        self.still = if moved { 0 } else { self.still + 1 };
        self.saw(candidate);
        if score.is_finite() {
            self.moments.add(score);
            self.batches.add(score - self.moments.first);
        }
    }

    /// The share of transitions that moved.
    pub fn acceptance(&self) -> Option<f64> {
        (self.steps > 0).then(|| self.moves as f64 / self.steps as f64)
    }

    /// About how many independent draws the steps are worth for the mean score: the smaller of two estimates. The one
    /// compares the variance of means of batches with that of single scores, which holds for any chain once a batch is
    /// longer than its memory (64 batches leave an error of a fifth or so); the other takes the scores for an
    /// autoregression of order one, which holds from the start. A chain that stands still is worth none.
    pub fn effective(&self) -> Option<f64> {
        let moments = &self.moments;
        (moments.count > 1.0).then(|| {
            if moments.square <= 0.0 {
                return 0.0;
            }
            let correlation = (moments.lagged / moments.square).clamp(-1.0, 1.0);
            let by_regression = (1.0 - correlation) / (1.0 + correlation).max(1e-12);
            let by_batches = self.batches.worth(moments.square / moments.count).unwrap_or(1.0);
            (moments.count * by_regression.min(by_batches)).clamp(0.0, moments.count)
        })
    }
}

/// Running mean and (co)moments of successive scores.
#[derive(Debug, Clone, PartialEq, Default)]
struct Moments {
    first: f64,
    last: f64,
    count: f64,
    mean: f64,
    square: f64,
    lagged: f64,
}

impl Moments {
    /// Welford's recurrence; the lagged product is taken about the running mean.
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

/// Sums over successive batches of one length, which doubles whenever all batches are full: always between half of them
/// and all, and no memory that grows.
#[derive(Debug, Clone, PartialEq)]
struct Batches {
    sums: [f64; BATCHES],
    full: usize,
    length: u64,
    /// Scores in the batch that is being filled, and their sum.
    begun: u64,
    sum: f64,
}

impl Default for Batches {
    fn default() -> Self {
        Self { sums: [0.0; BATCHES], full: 0, length: 1, begun: 0, sum: 0.0 }
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
        if self.full == BATCHES {
            for pair in 0..BATCHES / 2 {
                self.sums[pair] = self.sums[2 * pair] + self.sums[2 * pair + 1];
            }
            self.full /= 2;
            self.length *= 2;
        }
    }

    /// The share of a step that is worth a draw: the variance of a score over that of a batch's sum per step. Unknown
    /// while batches are few.
    fn worth(&self, variance: f64) -> Option<f64> {
        if self.full < BATCHES / 2 || self.length < 2 {
            return None;
        }
        let sums = &self.sums[..self.full];
        let mean = sums.iter().sum::<f64>() / sums.len() as f64;
        let spread = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (sums.len() - 1) as f64;
        (spread > 0.0).then(|| variance * self.length as f64 / spread)
    }
}

/// Several chains' diagnostics together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Transitions so far.
    pub steps: u64,
    /// Those that moved.
    pub moves: u64,
    /// Transitions since the last move of the chain that stands longest.
    pub still: u64,
    /// The largest score seen; −∞ before the first.
    pub best: f64,
    /// How many independent draws all steps are worth: chains are independent of each other, so their numbers add up.
    pub effective: f64,
}

impl Default for Summary {
    fn default() -> Self {
        Self { steps: 0, moves: 0, still: 0, best: f64::NEG_INFINITY, effective: 0.0 }
    }
}

impl Summary {
    /// The summary with one more chain.
    pub fn with(self, chain: &Diagnostics) -> Self {
        Self {
            steps: self.steps + chain.steps,
            moves: self.moves + chain.moves,
            still: self.still.max(chain.still),
            best: self.best.max(chain.best),
            effective: self.effective + chain.effective().unwrap_or(0.0),
        }
    }

    /// The share of transitions that moved.
    pub fn acceptance(&self) -> Option<f64> {
        (self.steps > 0).then(|| self.moves as f64 / self.steps as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Purpose, normals, stream};

    /// Scores `slow + noise·normal` with a slow autoregression of unit variance.
    fn fed(steps: usize, memory: f64, noise: f64, seed: u64) -> Diagnostics {
        let mut random = stream(seed, Purpose::Estimate, 0);
        let mut diagnostics = Diagnostics::default();
        let (mut slow, mut draw) = (0.0, [0.0; 2]);
        for _ in 0..steps {
            normals(&mut random, &mut draw);
            slow = memory * slow + (1.0 - memory * memory).sqrt() * draw[0];
            let score = 1e6 + slow + noise * draw[1];
            diagnostics.stepped(true, score, score);
        }
        diagnostics
    }

    /// The mean of n scores has variance (1 + φ)/(1 − φ)/n for the autoregression, plus noise²/n: the share of a step
    /// that is worth a draw is known. Of 32 to 63 batches the spread is within ±60 % (four standard errors).
    #[test]
    fn effective_draws_are_those_of_known_processes() {
        for (memory, noise) in [(0.0, 0.0), (0.5, 0.0), (0.95, 0.0), (0.95, 1.0), (0.99, 2.0)] {
            for seed in 0..5 {
                let steps = 100_000;
                let found = fed(steps, memory, noise, seed).effective().unwrap_or(f64::NAN) / steps as f64;
                let noise = noise * noise;
                let want = (1.0 + noise) / ((1.0 + memory) / (1.0 - memory) + noise);
                assert!(found < 1.6 * want && found > 0.4 * want, "memory {memory}, noise {noise}: {found} and {want}");
            }
        }
    }

    #[test]
    fn a_chain_that_stands_still_is_worth_nothing() {
        let mut diagnostics = Diagnostics::default();
        assert_eq!((diagnostics.acceptance(), diagnostics.effective()), (None, None));
        for _ in 0..1000 {
            diagnostics.stepped(false, 2.0, 1.0);
        }
        assert_eq!((diagnostics.acceptance(), diagnostics.effective()), (Some(0.0), Some(0.0)));
        assert_eq!((diagnostics.still, diagnostics.best), (1000, 2.0));
    }

    #[test]
    fn an_infinite_score_is_seen_but_not_averaged() {
        let mut diagnostics = fed(1000, 0.0, 0.0, 1);
        let before = diagnostics.effective();
        diagnostics.stepped(true, f64::INFINITY, f64::INFINITY);
        assert_eq!((diagnostics.best, diagnostics.effective()), (f64::INFINITY, before));
    }

    #[test]
    fn a_summary_adds_up() {
        let chains = [fed(1000, 0.5, 0.0, 1), fed(500, 0.5, 0.0, 2)];
        let summary = chains.iter().fold(Summary::default(), Summary::with);
        assert_eq!((summary.steps, summary.moves, summary.acceptance()), (1500, 1500, Some(1.0)));
        assert_eq!(
            summary.effective,
            chains[0].effective().unwrap_or(f64::NAN) + chains[1].effective().unwrap_or(f64::NAN)
        );
        assert_eq!(summary.best, chains[0].best.max(chains[1].best));
    }
}
