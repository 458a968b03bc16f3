//! Acceptance rules: the probability that a candidate becomes the next state (Examples 1 and 2 of the paper).

use std::fmt;
use std::str::FromStr;

/// An acceptance rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Acceptance {
    /// Metropolis–Hastings: accepts with probability min(1, r).
    #[default]
    Metropolis,
    /// Barker: accepts with probability r / (1 + r).
    Barker,
}

impl Acceptance {
    /// Returns the acceptance probability for the ratio r, given as `log_ratio` = ln r. A NaN ratio (an infinite
    /// increase of the score along a move whose reverse is impossible) gives NaN, and the comparison of a uniform draw
    /// with NaN rejects.
    pub fn probability(self, log_ratio: f64) -> f64 {
        match self {
            Acceptance::Metropolis if log_ratio >= 0.0 => 1.0,
            Acceptance::Metropolis => log_ratio.exp(),
            Acceptance::Barker if log_ratio >= 0.0 => 1.0 / (1.0 + (-log_ratio).exp()),
            Acceptance::Barker => log_ratio.exp() / (1.0 + log_ratio.exp()),
        }
    }
}

impl fmt::Display for Acceptance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Metropolis => "metropolis",
            Self::Barker => "barker",
        })
    }
}

impl FromStr for Acceptance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "metropolis" => Ok(Acceptance::Metropolis),
            "barker" => Ok(Acceptance::Barker),
            _ => Err(format!("\"{text}\" is not an acceptance rule; metropolis and barker are")),
        }
    }
}
