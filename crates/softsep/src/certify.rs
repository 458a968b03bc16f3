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
    /// hold. A proved one is better, and is taken where the method gives it for free.
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
    /// What ρ of eq. (certification-calls) is made of, for a chain over finitely many states.
    Chain {
        /// η̄, a bound on Dobrushin's coefficient of the chain.
        eta: f64,
        /// Δ⋆: by how much the worst scenarios of any decision are worse than all others.
        margin: f64,
    },
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
            Assumed::Chain { eta, .. } if !(eta == 0.0 || is_inside(eta)) => {
                refuse("eta must be at least 0 and below 1", eta)
            }
            Assumed::Chain { margin, .. } if !(margin > 0.0 && margin.is_finite()) => {
                refuse("the margin must be a positive number", margin)
            }
            _ => Ok(()),
        }
    }
}
