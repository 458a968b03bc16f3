//! How a chain is doing.

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
    /// Running sums for the autocorrelation of the score at lag one.
    sums: Sums,
}

/// Running means and (co)moments of successive scores.
#[derive(Debug, Clone, PartialEq, Default)]
struct Sums {
    last: Option<f64>,
    count: f64,
    mean: f64,
    square: f64,
    lagged: f64,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self { steps: 0, moves: 0, still: 0, best: f64::NEG_INFINITY, sums: Sums::default() }
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
        self.sums.add(score);
    }

    /// The share of transitions that moved.
    pub fn acceptance(&self) -> Option<f64> {
        (self.steps > 0).then(|| self.moves as f64 / self.steps as f64)
    }

    /// How many independent draws the steps are worth for the mean score, as an autoregression of order one has it: steps·(1 − φ)/(1 + φ).
    /// A chain that stands still is worth none.
    pub fn effective(&self) -> Option<f64> {
        let sums = &self.sums;
        (sums.count > 1.0).then(|| {
            if sums.square <= 0.0 {
                return 0.0;
            }
            let correlation = (sums.lagged / sums.square).clamp(-1.0, 1.0);
            let worth = (1.0 - correlation) / (1.0 + correlation).max(1e-12);
            (sums.count * worth).clamp(0.0, sums.count)
        })
    }
}

impl Sums {
    /// Welford's recurrence; the lagged product is taken about the running mean.
    fn add(&mut self, score: f64) {
        if !score.is_finite() {
            return;
        }
        self.count += 1.0;
        let before = score - self.mean;
        self.mean += before / self.count;
        let after = score - self.mean;
        self.square += before * after;
        if let Some(last) = self.last {
            self.lagged += (last - self.mean) * after;
        }
        self.last = Some(score);
    }
}
