//! The incumbent: the decision with the best cost known, proved or not.
//!
//! The result of a run may be another decision: one whose cost has a proved upper bound is reported before an incumbent
//! whose lower cost is an estimate ([`Bounds`](super::Bounds)). Methods continue from the incumbent.

use super::{Event, Run};

/// A decision with the worst scenario known for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Incumbent {
    /// The decision.
    pub x: Vec<f64>,
    /// f(x) plus the recourse cost at `worst`.
    pub value: f64,
    /// The worst scenario known for x.
    pub worst: Vec<f64>,
}

impl Run<'_> {
    /// The incumbent. [`Run::bounds`] may report another decision, whose cost is bounded from above.
    pub fn incumbent(&self) -> Option<&Incumbent> {
        self.incumbent.as_ref()
    }

    /// Makes `x` the incumbent if `value`, its cost at `worst`, is below the incumbent's; whether it is.
    pub fn consider(&mut self, x: &[f64], value: f64, worst: &[f64]) -> bool {
        let is_better = value.is_finite() && self.incumbent.as_ref().is_none_or(|incumbent| value < incumbent.value);
        if is_better {
            self.incumbent = Some(Incumbent { x: x.to_vec(), value, worst: worst.to_vec() });
            self.estimate(x, value, worst);
        }
        is_better
    }

    /// Makes `x` the incumbent, better than the last one or not: for methods whose result is not their best iterate.
    pub fn replace_incumbent(&mut self, x: &[f64], value: f64, worst: &[f64]) {
        if value.is_finite() {
            self.incumbent = Some(Incumbent { x: x.to_vec(), value, worst: worst.to_vec() });
            if self.bounds.replace_estimate(x, value, worst) {
                self.observer.see(&Event::Better(&self.bounds));
            }
        }
    }

    /// Raises the incumbent's cost to `value`, its cost at the scenario `worst`; a cost that is not higher changes
    /// nothing. An infinite cost withdraws the incumbent: it has no recourse there.
    pub fn raise_incumbent(&mut self, value: f64, worst: &[f64]) {
        let Some(incumbent) = self.incumbent.as_mut().filter(|incumbent| value > incumbent.value) else { return };
        if value == f64::INFINITY {
            return self.withdraw_incumbent();
        }
        incumbent.value = value;
        incumbent.worst.copy_from_slice(worst);
        self.bounds.revise(&incumbent.x, value, worst);
    }

    /// Withdraws an incumbent that turned out to be infeasible.
    pub fn withdraw_incumbent(&mut self) {
        self.incumbent = None;
        self.bounds.withdraw();
    }

    /// Whether the incumbent is within a relative gap of the lower bound, by what is known of its cost.
    pub fn incumbent_is_within(&self, gap: f64) -> bool {
        match (&self.incumbent, self.bounds.lower()) {
            (Some(incumbent), Some(lower)) => {
                let value = incumbent.value;
                value - lower <= (gap * value.abs()).max(crate::numeric::tolerances::cost_tol(value))
            }
            _ => false,
        }
    }
}
