//! Which of several optimal duals an engine reports.

use std::fmt;
use std::str::FromStr;

/// The choice among optimal duals. Each of them proves a valid cut and gives a subgradient in x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DualChoice {
    /// The dual that the solver returns.
    #[default]
    Any,
    /// The dual of the paper: with the smallest ‖Eᵀπ‖₁ where the recourse is linear (Lemma 1), and with the smallest
    /// ‖π‖ where it is quadratic or conic (Lemma EC.1). Takes a second program; of linear recourse only where the
    /// optimal dual is not known to be unique.
    LeastNorm,
}

impl fmt::Display for DualChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any",
            Self::LeastNorm => "least-norm",
        })
    }
}

impl FromStr for DualChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "any" => Ok(Self::Any),
            "least-norm" => Ok(Self::LeastNorm),
            _ => Err(format!("\"{text}\" is no choice of a dual; any and least-norm are")),
        }
    }
}
