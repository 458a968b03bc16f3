//! The kinds of upper bounds that a user may ask for.

use crate::error::Error;

/// The kind of upper bound to prove.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Certify {
    /// The strongest that costs the method nothing.
    #[default]
    Free,
    /// A proved upper bound.
    Exact,
    /// Random draws: a bound on the share of the set that costs more, and under assumptions an upper bound that is
    /// likely to hold. No exact separation takes its place unless the method or the user's choice of a separation has
    /// one.
    Probabilistic(ProbabilisticTarget),
    /// No upper bound: the objective stays an estimate.
    None,
}

/// The statements that draws are made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbabilisticTarget {
    /// The probability with which each statement must hold.
    pub confidence: f64,
    /// The share of the set that may cost more than the objective.
    pub level: f64,
    /// Constants that the user guarantees.
    pub assumed: Assumed,
}

impl Default for ProbabilisticTarget {
    fn default() -> Self {
        Self { confidence: 0.95, level: 1e-3, assumed: Assumed::Nothing }
    }
}

/// Constants of the worst-case statement that the user guarantees; softsep cannot check them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Assumed {
    /// None: the statement rests on constants derived from the problem alone.
    #[default]
    Nothing,
    /// ρ of EC.3: the probability that one draw misses, if the bound is false.
    Miss {
        /// ρ.
        rho: f64,
    },
    /// The constants of Corollary 1, which ρ and δ̂ of eq. (certification-calls) are made of, for a chain over finitely
    /// many states.
    Chain(ChainConstants),
}

/// The constants of Corollary 1. Those that are `None` are derived from the problem, where that can be done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainConstants {
    /// Δ⋆: the smallest difference, over all decisions, between the cost of the worst scenarios and that of all others.
    /// It cannot be derived.
    pub margin: f64,
    /// η̄, a bound on Dobrushin's coefficient of the chain; derived for uniform candidates.
    pub eta: Option<f64>,
    /// L′, the Lipschitz constant of the recourse cost in the continuous part of x, Euclidean; derived for linear
    /// recourse with fixed costs.
    pub lipschitz: Option<f64>,
}

impl ChainConstants {
    /// A given Δ⋆; the others are derived.
    pub fn new(margin: f64) -> Self {
        Self { margin, eta: None, lipschitz: None }
    }

    /// The same with a given η̄.
    pub fn with_eta(self, eta: f64) -> Self {
        Self { eta: Some(eta), ..self }
    }

    /// The same with a given L′.
    pub fn with_lipschitz(self, lipschitz: f64) -> Self {
        Self { lipschitz: Some(lipschitz), ..self }
    }
}

impl ProbabilisticTarget {
    /// Errs if a constant or a share is outside its range.
    pub fn validate(&self) -> Result<(), Error> {
        let refuse = |what: &str, value: f64| Err(Error::Settings(format!("{what}, not {value}")));
        let is_inside = |value: f64| 0.0 < value && value < 1.0;
        if !is_inside(self.confidence) {
            return refuse("the confidence must be between 0 and 1, both excluded", self.confidence);
        }
        if !is_inside(self.level) {
            return refuse("the level of violation must be between 0 and 1, both excluded", self.level);
        }
        match self.assumed {
            Assumed::Miss { rho } if !is_inside(rho) => refuse("rho must be between 0 and 1, both excluded", rho),
            Assumed::Chain(ChainConstants { margin, eta, lipschitz }) => match (eta, lipschitz) {
                _ if !(margin > 0.0 && margin.is_finite()) => refuse("the margin must be a positive number", margin),
                (Some(eta), _) if !(eta == 0.0 || is_inside(eta)) => refuse("eta must be at least 0 and below 1", eta),
                (_, Some(lipschitz)) if !(lipschitz >= 0.0 && lipschitz.is_finite()) => {
                    refuse("the Lipschitz constant must be a number that is not negative", lipschitz)
                }
                _ => Ok(()),
            },
            Assumed::Nothing | Assumed::Miss { .. } => Ok(()),
        }
    }
}
