//! The incumbent: the decision with the best cost known, proved or not.
//!
//! The result of a run may be another decision: one whose cost has a proved upper bound is reported before an incumbent
//! whose lower cost is an estimate ([`Bounds`](super::Bounds)). Methods continue from the incumbent.

use super::bounds::is_preferred;
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
    /// Whether a separation at x has come to an end. Without one, `worst` is the nominal scenario.
    pub is_separated: bool,
}

impl Incumbent {
    pub(super) fn new(x: &[f64], value: f64, worst: &[f64], is_separated: bool) -> Self {
        Self { x: x.to_vec(), value, worst: worst.to_vec(), is_separated }
    }
}

impl Run<'_> {
    /// The incumbent. [`Run::bounds`] may report another decision, whose cost is bounded from above.
    pub fn incumbent(&self) -> Option<&Incumbent> {
        self.incumbent.as_ref()
    }

    /// Whether the incumbent has no upper bound, or costs less than the decision that has one by more than the gap.
    pub(crate) fn lacks_bound(&self) -> bool {
        let Some(incumbent) = &self.incumbent else { return false };
        self.bounds.upper().is_none_or(|upper| upper - incumbent.value > self.limits.gap * upper.abs())
    }

    /// Makes `x`, which was separated, the incumbent if `value`, its cost at the worst scenario found, is below the
    /// incumbent's; whether it is. An incumbent that is considered again keeps the larger of its costs.
    pub fn consider(&mut self, x: &[f64], value: f64, worst: &[f64]) -> bool {
        let again = self.incumbent.as_ref().filter(|incumbent| incumbent.x == x).map(|known| known.is_separated);
        self.mark_separated(x);
        let Some(was_separated) = again else { return self.offer(x, value, worst, true) };
        self.raise_incumbent(value, worst);
        !was_separated && self.incumbent.is_some()
    }

    /// Makes `x`, which was not separated yet, the incumbent with its cost at the nominal scenario, if no other one was
    /// separated or has a lower nominal cost; whether it is.
    pub fn consider_nominal(&mut self, x: &[f64], value: f64, nominal: &[f64]) -> bool {
        self.offer(x, value, nominal, false)
    }

    fn offer(&mut self, x: &[f64], value: f64, worst: &[f64], is_separated: bool) -> bool {
        let yields =
            |incumbent: &Incumbent| is_preferred((value, is_separated), (incumbent.value, incumbent.is_separated));
        let is_better = value.is_finite() && self.incumbent.as_ref().is_none_or(yields);
        if is_better {
            self.incumbent = Some(Incumbent::new(x, value, worst, is_separated));
            if self.bounds.estimate(x, value, worst, is_separated) {
                self.observer.see(&Event::Better(&self.bounds));
            }
        }
        is_better
    }

    /// Notes that a separation at `x` has come to an end. Costs at other scenarios that were met before it count now.
    pub(super) fn mark_separated(&mut self, x: &[f64]) {
        self.bounds.mark_separated(x);
        if let Some(incumbent) = self.incumbent.as_mut().filter(|incumbent| incumbent.x == x) {
            incumbent.is_separated = true;
            self.bounds.revise(x, incumbent.value, &incumbent.worst);
        }
    }

    /// Makes `x` the incumbent, better than the last one or not: for methods whose result is not their best iterate.
    pub fn replace_incumbent(&mut self, x: &[f64], value: f64, worst: &[f64]) {
        if value.is_finite() {
            self.incumbent = Some(Incumbent::new(x, value, worst, true));
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

    /// Whether the known cost of the incumbent is within a relative gap of the lower bound.
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

#[cfg(test)]
mod tests {
    use crate::run::{Clock, Limits, Run, Silent};

    /// A cost at another scenario that is met before the separation ends counts once it has ended.
    #[test]
    fn an_incumbent_and_the_reported_decision_have_the_same_cost() {
        let mut silent = Silent;
        let mut run = Run::new("test", Limits::default(), Clock::unlimited(), &mut silent);
        assert!(run.consider_nominal(&[0.0], 1.0, &[5.0]));
        run.raise_incumbent(2.0, &[6.0]);
        assert_eq!((run.bounds().objective(), run.bounds().nominal_cost()), (None, Some(1.0)));
        assert!(run.consider(&[0.0], 1.5, &[7.0]), "it was not separated before");
        assert_eq!(run.bounds().objective(), Some(2.0));
        assert!(!run.consider(&[0.0], 1.8, &[7.0]), "it costs 2 at another scenario");
        assert_eq!((run.bounds().objective(), run.incumbent().map(|known| known.value)), (Some(2.0), Some(2.0)));
    }
}
