//! The query that a separation answers.

use crate::run::Clock;

/// The effort of a separation without a proof. Exact separations ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Effort {
    /// Ascents from known scenarios only: for fractional points of a tree.
    Local,
    /// One call of the oracle, as in the paper.
    #[default]
    Normal,
    /// A tempered search: for the verification of an incumbent, and before a proof that it may save.
    Thorough,
}

/// The scenario and the bound that end a search over the set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// A scenario that costs more ends the search; `None` asks for the maximum.
    pub above: Option<f64>,
    /// A bound ends the search that is within this distance of the larger of `above` and the worst scenario found.
    /// Infinite where any bound does.
    pub tolerance: f64,
}

impl Target {
    /// The maximum, as exactly as it can be computed.
    pub const MAXIMUM: Target = Target { above: None, tolerance: 0.0 };
}

/// Asks for a scenario with high recourse cost at a decision, for a bound on the largest one, or for both. Costs are
/// Q(x, ξ), without f(x).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Query<'a> {
    /// The decision.
    pub x: &'a [f64],
    /// A scenario that costs more is enough: the search may end with it, without a bound. `None` asks for the maximum.
    pub above: Option<f64>,
    /// The distance between the bound and the larger of `above` and the worst scenario at which the bound is close
    /// enough. `None` where no bound is wanted; then a separation that is not exact is enough.
    pub bound: Option<f64>,
    /// Whether a new cut is enough as well, whatever its scenario costs.
    pub new_cut_suffices: bool,
    /// The effort of a search that proves nothing.
    pub effort: Effort,
    /// Whether an exact separation follows where the search is not enough. Scenarios without recourse are left to it,
    /// and ascents are worth their while, since they may save it.
    pub before_proof: bool,
    /// The number of recourse solves after which a thorough search ends; `None` where it ends by its own rule.
    pub budget: Option<u64>,
    /// The size of the objective, which temperatures are in units of.
    pub size: f64,
    /// The time left and the interrupt flag.
    pub clock: &'a Clock,
}

impl<'a> Query<'a> {
    /// The maximum at `x` with a bound as tight as possible.
    pub fn maximum(x: &'a [f64], clock: &'a Clock) -> Self {
        Self {
            x,
            above: None,
            bound: Some(0.0),
            new_cut_suffices: false,
            effort: Effort::Normal,
            before_proof: false,
            budget: None,
            size: 1.0,
            clock,
        }
    }

    /// A scenario with high cost at `x`, without a bound.
    pub fn scenario(x: &'a [f64], clock: &'a Clock) -> Self {
        Self { bound: None, ..Self::maximum(x, clock) }
    }

    /// The same query, ended by a scenario that costs more than `above`.
    pub fn above(self, above: f64) -> Self {
        Self { above: Some(above), ..self }
    }

    /// The same query with a bound that is at most `tolerance` off.
    pub fn with_bound(self, tolerance: f64) -> Self {
        Self { bound: Some(tolerance), ..self }
    }

    /// The same query, ended by a new cut as well.
    pub fn or_new_cut(self) -> Self {
        Self { new_cut_suffices: true, ..self }
    }

    /// The same query with another effort.
    pub fn with_effort(self, effort: Effort) -> Self {
        Self { effort, ..self }
    }

    /// The same query, for a search that an exact separation follows.
    pub fn before_proof(self) -> Self {
        Self { before_proof: true, ..self }
    }

    /// The same query with a thorough search of at most about this number of recourse solves.
    pub fn with_budget(self, solves: u64) -> Self {
        Self { budget: Some(solves), ..self }
    }

    /// The same query for an objective of another size.
    pub fn with_size(self, size: f64) -> Self {
        Self { size, ..self }
    }

    /// The same query on another clock.
    pub fn on(self, clock: &'a Clock) -> Self {
        Self { clock, ..self }
    }

    /// Whether a scenario of this cost answers the query.
    pub fn is_met_by(&self, value: f64) -> bool {
        self.above.is_some_and(|above| value > above)
    }

    /// Returns the target of a search with bounds.
    pub fn target(&self) -> Target {
        Target { above: self.above, tolerance: self.bound.unwrap_or(f64::INFINITY) }
    }
}
