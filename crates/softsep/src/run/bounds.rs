//! Bounds on the optimum, each with how it is known.

/// The best decision known.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The decision.
    pub x: Vec<f64>,
    /// The best known value of f(x) plus its worst recourse cost.
    pub value: f64,
    /// The worst ξ known for it.
    pub worst: Vec<f64>,
    /// Whether `value` is an upper bound on its true cost for sure.
    pub sure: bool,
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

    /// Keeps `x` if it is better than the best known; an estimate never displaces a sure bound.
    pub(super) fn lower_upper(&mut self, x: &[f64], value: f64, worst: &[f64]) -> bool {
        let better = value.is_finite() && self.best.as_ref().is_none_or(|best| !best.sure || value < best.value);
        if better {
            self.best = Some(Best { x: x.to_vec(), value, worst: worst.to_vec(), sure: true });
        }
        better
    }

    pub(super) fn estimate(&mut self, x: &[f64], value: f64, worst: &[f64]) -> bool {
        let better = value.is_finite() && self.best.as_ref().is_none_or(|best| !best.sure && value < best.value);
        if better {
            self.best = Some(Best { x: x.to_vec(), value, worst: worst.to_vec(), sure: false });
        }
        better
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
        self.best.as_ref().filter(|best| best.sure).map(|best| best.value)
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
        assert!(bounds.lower_upper(&[1.0], 3.0, &[]));
        assert!(!bounds.estimate(&[0.0], 2.0, &[]), "an estimate must not displace a bound");
        assert_eq!(bounds.upper(), Some(3.0));
        assert_eq!(bounds.certificate(), Certificate::Deterministic);
        assert!((bounds.gap().unwrap_or(0.0) - 2.0 / 3.0).abs() < 1e-15);
    }
}
