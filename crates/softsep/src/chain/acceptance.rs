//! Acceptance: when a candidate becomes the state (Examples 1 and 2 of the paper).

use std::str::FromStr;

/// The rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Acceptance {
    /// Metropolis–Hastings: with probability min(1, r).
    #[default]
    Metropolis,
    /// Barker: with probability r / (1 + r).
    Barker,
}

impl Acceptance {
    /// The probability of moving for a ratio r, given as a logarithm. A ratio that is no number (an infinite rise on a
    /// way without return) gives none either, and no draw is below that.
    pub fn probability(self, log_ratio: f64) -> f64 {
        match self {
            Acceptance::Metropolis if log_ratio >= 0.0 => 1.0,
            Acceptance::Metropolis => log_ratio.exp(),
            Acceptance::Barker if log_ratio >= 0.0 => 1.0 / (1.0 + (-log_ratio).exp()),
            Acceptance::Barker => log_ratio.exp() / (1.0 + log_ratio.exp()),
        }
    }
}

impl FromStr for Acceptance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "metropolis" => Ok(Acceptance::Metropolis),
            "barker" => Ok(Acceptance::Barker),
            _ => Err(format!("\"{text}\" is no acceptance rule; metropolis and barker are")),
        }
    }
}
