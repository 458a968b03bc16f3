//! Bounds on the optimum, and how each is known.

use serde::{Deserialize, Serialize};

use super::attested::{Attested, ProbabilisticBound, ViolationLevel};
use crate::numeric::tolerances::{CONTRADICTION_TOL, COST_TOL, MIN_GAP_SIZE, cost_tol};

/// The best decision known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Best {
    /// The decision.
    pub x: Vec<f64>,
    /// f(x) plus the cost of the worst scenario known for it; of a decision that was never separated, its nominal cost.
    pub value: f64,
    /// The worst ξ known for it.
    pub worst: Vec<f64>,
    /// Whether a search for its worst scenario has come to an end. Without one only its cost at the nominal scenario is
    /// known.
    pub is_separated: bool,
    /// A proved upper bound on its worst-case cost, if there is one. Equal to `value` where the worst case is known
    /// exactly.
    pub upper: Option<f64>,
    /// Statements by random draws. There is no probabilistic bound beside a proved one.
    pub attested: Attested,
    /// The size of the terms that its cost is a sum of: the largest of f(x), the recourse cost and the bound.
    size: f64,
}

impl Best {
    /// A decision without bounds.
    fn new(x: &[f64], value: f64, worst: &[f64], is_separated: bool) -> Self {
        let (x, worst, size) = (x.to_vec(), worst.to_vec(), value.abs());
        Self { x, value, worst, is_separated, upper: None, attested: Attested::default(), size }
    }

    /// Whether another decision, separated or not, is to be kept in its place: one that was separated before one that
    /// was not, then by cost. A proved bound is never given up for an estimate.
    fn yields_to(&self, value: f64, is_separated: bool) -> bool {
        self.upper.is_none() && is_preferred((value, is_separated), (self.value, self.is_separated))
    }
}

/// Whether a decision of this cost, separated or not, is preferred to another: one whose worst case was never searched
/// for says nothing against one whose was.
pub(super) fn is_preferred((value, is_separated): (f64, bool), other: (f64, bool)) -> bool {
    if is_separated == other.1 { value < other.0 } else { is_separated }
}

/// The bounds on the optimum, and the best decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    lower: Option<f64>,
    best: Option<Best>,
    /// The unit of costs, the size of a typical cost of the problem: 1 in the units of a run.
    unit: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { lower: None, best: None, unit: 1.0 }
    }
}

/// The kind of proof of the two bounds; derived from them, never set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Certificate {
    /// Both hold for sure, up to the solvers' tolerances.
    Deterministic,
    /// The lower one for sure, the upper one with a probability and under assumptions.
    Probabilistic,
    /// There is no upper bound.
    None,
}

impl Bounds {
    /// Converts to other units: costs, entries of x and entries of ξ are multiplied by theirs.
    pub(crate) fn convert(&mut self, cost: f64, x: &[f64], xi: &[f64]) {
        let multiply = |entries: &mut [f64], units: &[f64]| {
            entries.iter_mut().zip(units).for_each(|(entry, unit)| *entry *= unit);
        };
        self.unit *= cost;
        self.lower = self.lower.map(|lower| lower * cost);
        if let Some(best) = &mut self.best {
            multiply(&mut best.x, x);
            multiply(&mut best.worst, xi);
            best.value *= cost;
            best.upper = best.upper.map(|upper| upper * cost);
            best.size *= cost;
        }
    }

    pub(super) fn raise_lower(&mut self, value: f64) {
        if value.is_finite() && self.lower.is_none_or(|lower| value > lower) {
            self.lower = Some(value);
        }
    }

    /// Keeps `x`, which costs `first_cost` now, `value` in all at the scenario `worst`, and at most `upper` in all at
    /// any other, if its bound is better than the best known. Returns whether it is.
    pub(super) fn lower_upper(&mut self, x: &[f64], first_cost: f64, value: f64, upper: f64, worst: &[f64]) -> bool {
        let better = upper.is_finite() && self.upper().is_none_or(|best| upper < best);
        if better {
            let value = value.min(upper);
            let attested = self.attested_of(x, value).beside_a_sure_bound();
            let size = first_cost.abs().max((value - first_cost).abs()).max(upper.abs());
            self.best = Some(Best { upper: Some(upper), attested, size, ..Best::new(x, value, worst, true) });
        }
        better
    }

    /// Keeps `x`, separated or not, if its estimate is better than the best known; an estimate never replaces a proved
    /// bound. Returns whether it is kept.
    pub(super) fn estimate(&mut self, x: &[f64], value: f64, worst: &[f64], is_separated: bool) -> bool {
        let better = value.is_finite() && self.best.as_ref().is_none_or(|best| best.yields_to(value, is_separated));
        if better {
            let attested = self.attested_of(x, value);
            self.best = Some(Best { attested, ..Best::new(x, value, worst, is_separated) });
        }
        better
    }

    /// Notes that `x` has been separated, if it is the best decision.
    pub(super) fn mark_separated(&mut self, x: &[f64]) {
        if let Some(best) = self.best.as_mut().filter(|best| best.x == x) {
            best.is_separated = true;
        }
    }

    /// Keeps `x` in place of another estimate, better or not; an estimate never replaces a proved bound. Returns
    /// whether it is kept.
    pub(super) fn replace_estimate(&mut self, x: &[f64], value: f64, worst: &[f64]) -> bool {
        let free = value.is_finite() && self.best.as_ref().is_none_or(|best| best.upper.is_none());
        if free {
            let attested = self.attested_of(x, value);
            self.best = Some(Best { attested, ..Best::new(x, value, worst, true) });
        }
        free
    }

    /// Raises the value of `x`, if it is the best decision and was separated, but not above its proved bound.
    pub(super) fn revise(&mut self, x: &[f64], value: f64, worst: &[f64]) {
        let is_meant = |best: &&mut Best| best.is_separated && value > best.value && best.x == x;
        if let Some(best) = self.best.as_mut().filter(is_meant) {
            best.value = value.min(best.upper.unwrap_or(f64::INFINITY));
            best.worst.copy_from_slice(worst);
            best.attested.raised_to(best.value);
        }
    }

    /// Takes over the statements about `x` at `value`, if it is the best decision and costs no less. Returns whether it
    /// does.
    pub(super) fn attest(&mut self, x: &[f64], value: f64, attested: Attested) -> bool {
        let best = self.best.as_mut().filter(|best| best.x == x && best.value >= value - cost_tol(value));
        let Some(best) = best else { return false };
        best.attested = if best.upper.is_some() { attested.beside_a_sure_bound() } else { attested };
        best.attested.raised_to(best.value);
        true
    }

    /// Returns the statements that hold for `x` at `value`: those about the same decision at no larger value.
    fn attested_of(&self, x: &[f64], value: f64) -> Attested {
        let mut attested = match &self.best {
            Some(best) if best.x == x && value >= best.value => best.attested.clone(),
            _ => Attested::default(),
        };
        attested.raised_to(value);
        attested
    }

    /// Drops the best decision, if it has no proved bound: some scenario has no recourse there.
    pub(super) fn withdraw(&mut self) {
        self.best.take_if(|best| best.upper.is_none());
    }

    /// A lower bound on the optimum that holds for sure. Two bounds that solvers computed to their tolerances may cross
    /// by as much; the lower one is then the upper one.
    pub fn lower(&self) -> Option<f64> {
        match (self.lower, self.upper()) {
            (Some(lower), Some(upper)) => Some(lower.min(upper)),
            (lower, _) => lower,
        }
    }

    /// Whether a lower bound and the proved upper one are one number: they are closer than solvers' digits at the size
    /// of the costs, or both are zero up to rounding, where no relative gap would ever be met.
    fn is_closed(&self, lower: f64) -> bool {
        let Some(Best { upper: Some(upper), size, .. }) = &self.best else { return false };
        // Each is the sum of a value and of a tolerance at zero.
        let are_zero = lower.abs().max(upper.abs()) <= 2.0 * COST_TOL * self.unit;
        lower > upper - COST_TOL * size || are_zero
    }

    /// Returns the amount by which the bounds contradict one another, if solvers' tolerances do not explain it.
    pub fn contradiction(&self) -> Option<f64> {
        let (lower, upper) = (self.lower?, self.upper()?);
        self.is_crossed(lower, upper).then_some(lower - upper)
    }

    /// Whether a lower bound is above an upper one by more than solvers' tolerances explain.
    fn is_crossed(&self, lower: f64, upper: f64) -> bool {
        lower - upper > CONTRADICTION_TOL * upper.abs().max(self.unit)
    }

    /// Drops bounds that contradict one another, since one of them is false, and keeps the decision with its estimate.
    /// Returns the amount of the contradiction.
    pub(super) fn drop_contradiction(&mut self) -> Option<f64> {
        let amount = self.contradiction()?;
        self.drop_proved();
        Some(amount)
    }

    /// Drops both proved bounds, and keeps the decision as an estimate.
    pub(super) fn drop_proved(&mut self) {
        self.lower = None;
        if let Some(best) = &mut self.best {
            best.upper = None;
        }
    }

    /// An upper bound on the optimum that holds for sure.
    pub fn upper(&self) -> Option<f64> {
        self.best.as_ref().and_then(|best| best.upper)
    }

    /// The probabilistic upper bound, if there is no proved one. A bound that the lower bound contradicts is false and
    /// not returned; where solvers' tolerances explain the contradiction it is raised to the lower bound.
    pub fn likely_upper(&self) -> Option<f64> {
        let likely = self.likely()?.upper;
        Some(self.lower.map_or(likely, |lower| likely.max(lower)))
    }

    /// The statement of [`Bounds::likely_upper`].
    pub fn likely(&self) -> Option<&ProbabilisticBound> {
        let best = self.best.as_ref().filter(|best| best.upper.is_none())?;
        let is_refuted =
            |likely: &ProbabilisticBound| self.lower.is_some_and(|lower| self.is_crossed(lower, likely.upper));
        best.attested.likely.as_ref().filter(|likely| !is_refuted(likely))
    }

    /// A probabilistic upper bound that the lower bound has refuted.
    pub fn refuted(&self) -> Option<&ProbabilisticBound> {
        let likely = self.best.as_ref().and_then(|best| best.attested.likely.as_ref());
        likely.filter(|_| self.likely().is_none())
    }

    /// The share of the set that may cost more than the value of the best decision.
    pub fn violation(&self) -> Option<&ViolationLevel> {
        self.best.as_ref().and_then(|best| best.attested.violation.as_ref())
    }

    /// The upper bound to report, of the kind of the certificate: the proved one, or else the probabilistic one.
    pub fn reported_upper(&self) -> Option<f64> {
        self.upper().or_else(|| self.likely_upper())
    }

    /// The best decision known.
    pub fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    /// The cost of the best decision at the worst scenario found, f(x) included; `None` if it was never separated.
    pub fn objective(&self) -> Option<f64> {
        self.best.as_ref().filter(|best| best.is_separated).map(|best| best.value)
    }

    /// The cost of the best decision at the nominal scenario, f(x) included, if it was never separated.
    pub fn nominal_cost(&self) -> Option<f64> {
        self.best.as_ref().filter(|best| !best.is_separated).map(|best| best.value)
    }

    /// `(upper − lower) / max(1e-10, |upper|)` for the reported upper bound, where both are known, and zero where they
    /// are one number up to solvers' digits. Of a problem in odd units 1e-10 is in its internal unit of costs.
    pub fn gap(&self) -> Option<f64> {
        let (lower, upper) = (self.lower()?, self.reported_upper()?);
        let open = if self.is_closed(lower) { 0.0 } else { upper - lower };
        Some(open / upper.abs().max(MIN_GAP_SIZE * self.unit))
    }

    /// Whether the gap is known and at most `gap`.
    pub fn meet(&self, gap: f64) -> bool {
        self.gap().is_some_and(|reached| reached <= gap)
    }

    /// The kind of proof of the bounds.
    pub fn certificate(&self) -> Certificate {
        match (self.upper(), self.likely()) {
            (Some(_), _) => Certificate::Deterministic,
            (None, Some(_)) => Certificate::Probabilistic,
            (None, None) => Certificate::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_bound_nothing_and_yield_to_sure_bounds() {
        let mut bounds = Bounds::default();
        bounds.raise_lower(1.0);
        bounds.raise_lower(f64::NEG_INFINITY);
        assert!(bounds.estimate(&[0.0], 2.0, &[], true));
        assert_eq!((bounds.lower(), bounds.upper(), bounds.gap()), (Some(1.0), None, None));
        assert_eq!(bounds.certificate(), Certificate::None);
        assert!(bounds.lower_upper(&[1.0], 0.0, 2.5, 3.0, &[]));
        assert!(!bounds.estimate(&[0.0], 2.0, &[], true), "an estimate must not displace a bound");
        assert_eq!(bounds.upper(), Some(3.0));
        assert_eq!(bounds.certificate(), Certificate::Deterministic);
        assert!((bounds.gap().unwrap_or(0.0) - 2.0 / 3.0).abs() < 1e-15);
    }

    /// A decision that costs 2 and is likely to cost at most 2.5.
    fn attested() -> Bounds {
        let mut bounds = Bounds::default();
        bounds.raise_lower(1.0);
        bounds.estimate(&[0.0], 2.0, &[5.0], true);
        let violation = Some(ViolationLevel { level: 0.01, confidence: 0.9, measure: "uniform".into() });
        let likely = Some(ProbabilisticBound { upper: 2.5, confidence: 0.9, assumes: Vec::new() });
        let statement = Attested { violation, likely, ..Attested::default() };
        assert!(!bounds.attest(&[1.0], 2.0, statement.clone()), "another decision");
        assert!(!bounds.attest(&[0.0], 2.1, statement.clone()), "a value that the decision is not known to have");
        assert!(bounds.attest(&[0.0], 2.0, statement));
        bounds
    }

    #[test]
    fn a_likely_bound_is_reported_and_never_called_sure() {
        let bounds = attested();
        assert_eq!((bounds.upper(), bounds.reported_upper(), bounds.gap()), (None, Some(2.5), Some(0.6)));
        assert_eq!(bounds.certificate(), Certificate::Probabilistic);
        assert!(bounds.meet(0.6) && !bounds.meet(0.5) && bounds.contradiction().is_none());
    }

    #[test]
    fn what_is_attested_belongs_to_one_decision_and_one_value() {
        let mut revised = attested();
        revised.revise(&[0.0], 2.2, &[6.0]);
        assert!(revised.violation().is_some() && revised.reported_upper() == Some(2.5), "less is above a larger value");
        revised.revise(&[0.0], 2.6, &[7.0]);
        assert!(revised.violation().is_some() && revised.certificate() == Certificate::None, "the bound was false");
        assert_eq!(revised.best().and_then(|best| best.attested.withdrawn), Some(2.5));
        let mut again = attested();
        assert!(again.replace_estimate(&[0.0], 2.0, &[5.0]));
        assert_eq!(again.certificate(), Certificate::Probabilistic);
        assert!(again.replace_estimate(&[0.0], 1.9, &[5.0]));
        assert_eq!(
            (again.violation(), again.certificate()),
            (None, Certificate::None),
            "more is above a smaller value"
        );
        let mut other = attested();
        assert!(other.estimate(&[1.0], 1.5, &[5.0], true));
        assert_eq!((other.violation(), other.certificate()), (None, Certificate::None));
    }

    #[test]
    fn a_sure_bound_ends_what_is_likely() {
        let mut bounds = attested();
        assert!(bounds.lower_upper(&[0.0], 0.0, 2.0, 3.0, &[5.0]));
        assert_eq!((bounds.certificate(), bounds.reported_upper()), (Certificate::Deterministic, Some(3.0)));
        assert!(bounds.violation().is_some() && bounds.likely().is_none());
        let likely = Some(ProbabilisticBound { upper: 2.5, confidence: 0.9, assumes: Vec::new() });
        assert!(bounds.attest(&[0.0], 2.0, Attested { likely, ..Attested::default() }));
        assert_eq!((bounds.certificate(), bounds.reported_upper()), (Certificate::Deterministic, Some(3.0)));
    }

    #[test]
    fn a_likely_bound_below_a_sure_one_is_false() {
        let mut bounds = attested();
        bounds.raise_lower(2.5 + 1e-9);
        assert_eq!(
            (bounds.lower(), bounds.reported_upper(), bounds.gap()),
            (Some(2.5 + 1e-9), Some(2.5 + 1e-9), Some(0.0))
        );
        assert_eq!(bounds.refuted(), None);
        bounds.raise_lower(2.6);
        assert_eq!(bounds.refuted().map(|likely| likely.upper), Some(2.5));
        assert_eq!((bounds.lower(), bounds.reported_upper(), bounds.gap()), (Some(2.6), None, None));
        assert_eq!((bounds.certificate(), bounds.contradiction()), (Certificate::None, None));
    }

    /// Bounds `lower` and `upper` for a decision of which f(x) is `first_cost`.
    fn proved(first_cost: f64, lower: f64, upper: f64) -> Bounds {
        let mut bounds = Bounds::default();
        bounds.raise_lower(lower);
        bounds.lower_upper(&[0.0], first_cost, upper, upper, &[]);
        bounds
    }

    #[test]
    fn the_gap_is_the_one_that_is_met() {
        // An optimum of zero is met by bounds that differ by rounding, and an optimum of 1e-6 by a share of it alone.
        for (first_cost, lower, upper, gap) in [
            (0.0, -1e-12, 0.0, 0.0),
            (0.0, -1e-12, 1e-12, 0.0),
            (0.0, -1e-8, 1e-12, 100.01),
            (5.0, -1e-12, 1e-12, 0.0),
            (1e6, -1e-4, 0.0, 0.0),
            (0.0, 1e-6 - 9e-10, 1e-6, 9e-4),
            (1.0, 2.0 - 1.0e-9, 2.0, 0.0),
        ] {
            let bounds = proved(first_cost, lower, upper);
            let reached = bounds.gap().unwrap_or(f64::NAN);
            assert!((reached - gap).abs() <= 1e-6, "{lower} to {upper}: {reached}");
            assert_eq!(bounds.lower(), Some(lower.min(upper)), "the lower bound is what was proved");
            assert!(bounds.meet(reached) && (reached == 0.0 || !bounds.meet(0.99 * reached)), "{lower} to {upper}");
            for cost in [2.0_f64.powi(-30), 2.0_f64.powi(30)] {
                let mut converted = bounds.clone();
                converted.convert(cost, &[1.0], &[]);
                assert_eq!(converted.gap(), bounds.gap(), "{lower} to {upper} in units of {cost}");
            }
        }
    }

    #[test]
    fn a_decision_that_was_never_separated_has_no_objective() {
        let mut bounds = Bounds::default();
        assert!(bounds.estimate(&[0.0], 1.0, &[5.0], false));
        assert_eq!((bounds.objective(), bounds.nominal_cost()), (None, Some(1.0)));
        bounds.revise(&[0.0], 2.0, &[6.0]);
        assert_eq!(bounds.nominal_cost(), Some(1.0), "a cost at another scenario is no nominal cost");
        assert!(bounds.estimate(&[1.0], 9.0, &[7.0], true), "any cost that was searched for is preferred");
        assert!(!bounds.estimate(&[2.0], 3.0, &[5.0], false));
        assert_eq!((bounds.objective(), bounds.nominal_cost()), (Some(9.0), None));
    }
}
