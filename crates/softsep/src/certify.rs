//! The proof that a user may ask for.

use crate::error::Error;

/// How much of a proof to look for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Certify {
    /// The strongest that the method gives for free.
    #[default]
    Free,
    /// A proved upper bound.
    Exact,
    /// What random draws say: how much of the set costs more, and under assumptions an upper bound that is likely to
    /// hold. No exact separation takes its place unless the method or the user's choice of a separation has one.
    Probabilistic(ProbabilisticTarget),
    /// No upper bound: the objective stays an estimate.
    None,
}

/// What draws are to say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbabilisticTarget {
    /// The probability with which each statement must hold.
    pub confidence: f64,
    /// The share of the set that may cost more than the objective.
    pub level: f64,
    /// Constants that the user vouches for.
    pub assumed: Assumed,
}

impl Default for ProbabilisticTarget {
    fn default() -> Self {
        Self { confidence: 0.95, level: 1e-3, assumed: Assumed::Nothing }
    }
}

/// Constants of the worst-case statement that the user vouches for; softsep cannot check them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Assumed {
    /// None: only what is derived from the problem counts.
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
    /// Δ⋆: by how much the worst scenarios of any decision are worse than all others. It cannot be derived.
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
    /// Refuses what makes no sense.
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
