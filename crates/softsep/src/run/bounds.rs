//! Bounds on the optimum, each with how it is known.

/// The best decision known.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The decision.
    pub x: Vec<f64>,
    /// f(x) plus the cost of the worst scenario known for it.
    pub value: f64,
    /// The worst ξ known for it.
    pub worst: Vec<f64>,
    /// What it costs at most in the worst case, for sure; `None` where nothing bounds it. Equal to `value` where the worst case is known exactly.
    pub upper: Option<f64>,
}

/// What is known about the optimum.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bounds {
    lower: Option<f64>,
    best: Option<Best>,
}

/// Two bounds that differ by less, relative to their size if that is above 1, are equal up to the solvers' tolerances.
const TELLABLE: f64 = 1e-9;

/// Two bounds that cross by more, relative to their size if that is above 1, cannot both be true.
const CROSSED: f64 = 1e-5;

/// How the two bounds are known; derived from them, never set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certificate {
    /// Both hold for sure, up to the solvers' tolerances.
    Deterministic,
    /// There is no upper bound.
    None,
}

impl Bounds {
    pub(super) fn raise_lower(&mut self, value: f64) {
        if value.is_finite() && self.lower.is_none_or(|lower| value > lower) {
            self.lower = Some(value);
        }
    }

    /// Keeps `x`, which costs `value` at the scenario `worst` and at most `upper` anywhere, if its bound is better than the best known.
    pub(super) fn lower_upper(&mut self, x: &[f64], value: f64, upper: f64, worst: &[f64]) -> bool {
        let better = upper.is_finite() && self.upper().is_none_or(|best| upper < best);
        if better {
            self.best = Some(Best { x: x.to_vec(), value: value.min(upper), worst: worst.to_vec(), upper: Some(upper) });
        }
        better
    }

    /// Keeps `x` if it looks better than the best known; an estimate never displaces a sure bound.
    pub(super) fn estimate(&mut self, x: &[f64], value: f64, worst: &[f64]) -> bool {
        let better = value.is_finite() && self.best.as_ref().is_none_or(|best| best.upper.is_none() && value < best.value);
        if better {
            self.best = Some(Best { x: x.to_vec(), value, worst: worst.to_vec(), upper: None });
        }
        better
    }

    /// Keeps `x` in place of another estimate, better or not; an estimate never displaces a sure bound.
    pub(super) fn replace_estimate(&mut self, x: &[f64], value: f64, worst: &[f64]) -> bool {
        let free = value.is_finite() && self.best.as_ref().is_none_or(|best| best.upper.is_none());
        if free {
            self.best = Some(Best { x: x.to_vec(), value, worst: worst.to_vec(), upper: None });
        }
        free
    }

    /// Notes that `x`, if it is the best decision, costs more than was thought; never more than a sure bound allows.
    pub(super) fn revise(&mut self, x: &[f64], value: f64, worst: &[f64]) {
        if let Some(best) = self.best.as_mut().filter(|best| value > best.value && best.x == x) {
            best.value = value.min(best.upper.unwrap_or(f64::INFINITY));
            best.worst.copy_from_slice(worst);
        }
    }

    /// Lets go of a decision, known by an estimate, that turned out to have no recourse somewhere.
    pub(super) fn withdraw(&mut self) {
        self.best.take_if(|best| best.upper.is_none());
    }

    /// A lower bound on the optimum that holds for sure.
    ///
    /// Two bounds that solvers computed to their tolerances may cross by as much; the lower one is then the upper one.
    pub fn lower(&self) -> Option<f64> {
        match (self.lower, self.upper()) {
            (Some(lower), Some(upper)) => Some(lower.min(upper)),
            (lower, _) => lower,
        }
    }

    /// By how much the bounds contradict one another, if it is more than the solvers' tolerances explain.
    pub fn contradiction(&self) -> Option<f64> {
        let (lower, upper) = (self.lower?, self.upper()?);
        (lower - upper > CROSSED * upper.abs().max(1.0)).then_some(lower - upper)
    }

    /// An upper bound on the optimum that holds for sure.
    pub fn upper(&self) -> Option<f64> {
        self.best.as_ref().and_then(|best| best.upper)
    }

    /// The best decision known.
    pub fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    /// `(upper − lower) / max(1e-10, |upper|)`, where both are known.
    pub fn gap(&self) -> Option<f64> {
        let (lower, upper) = (self.lower()?, self.upper()?);
        Some((upper - lower) / upper.abs().max(1e-10))
    }

    /// Whether the gap is at most `gap`. Bounds closer to one another than any solver here can tell count as equal: around an optimum of
    /// zero no relative gap would ever be met.
    pub fn meet(&self, gap: f64) -> bool {
        match (self.lower(), self.upper(), self.gap()) {
            (Some(lower), Some(upper), Some(reached)) => reached <= gap || upper - lower <= TELLABLE * upper.abs().max(1.0),
            _ => false,
        }
    }

    /// How the bounds are known.
    pub fn certificate(&self) -> Certificate {
        if self.upper().is_some() { Certificate::Deterministic } else { Certificate::None }
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
        assert!(bounds.estimate(&[0.0], 2.0, &[]));
        assert_eq!((bounds.lower(), bounds.upper(), bounds.gap()), (Some(1.0), None, None));
        assert_eq!(bounds.certificate(), Certificate::None);
        assert!(bounds.lower_upper(&[1.0], 2.5, 3.0, &[]));
        assert!(!bounds.estimate(&[0.0], 2.0, &[]), "an estimate must not displace a bound");
        assert_eq!(bounds.upper(), Some(3.0));
        assert_eq!(bounds.certificate(), Certificate::Deterministic);
        assert!((bounds.gap().unwrap_or(0.0) - 2.0 / 3.0).abs() < 1e-15);
    }
}
