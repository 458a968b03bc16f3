//! Adaptation of the concentration of a chain's proposal.
//!
//! A tilt of fixed κ resolves the worst scenario only to the width of the tilted law: on a sphere its draws stay some
//! degrees off. A chain that rejects most candidates therefore multiplies κ, so that candidates concentrate around the
//! direction of the slope. A chain that accepts most candidates, or whose candidates are only its own state, divides κ.

/// The balance of rejections and acceptances, and the factor of κ that follows from it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Adaptation {
    concentration_factor: f64,
    balance: i32,
}

/// Net rejections that double the factor, and net acceptances that halve it. An acceptance counts as three rejections,
/// so that about one candidate in four is accepted in the long run.
const BALANCE_LIMIT: i32 = 4;
const ACCEPTANCE_WEIGHT: i32 = 3;

/// The range of the factor.
const MIN_FACTOR: f64 = 1.0 / 16.0;
const MAX_FACTOR: f64 = 65_536.0;

impl Default for Adaptation {
    fn default() -> Self {
        Self { concentration_factor: 1.0, balance: 0 }
    }
}

impl Adaptation {
    /// Records a rejected candidate. Returns the new factor if it changed.
    pub(super) fn rejected(&mut self) -> Option<f64> {
        self.balance += 1;
        if self.balance < BALANCE_LIMIT { None } else { self.rescale(2.0) }
    }

    /// Records an accepted candidate. Returns the new factor if it changed.
    pub(super) fn accepted(&mut self) -> Option<f64> {
        self.balance -= ACCEPTANCE_WEIGHT;
        if self.balance > -BALANCE_LIMIT { None } else { self.rescale(0.5) }
    }

    /// Records a candidate equal to the current state: the law is too concentrated to propose any other state. Returns
    /// the new factor if it changed.
    pub(super) fn stayed(&mut self) -> Option<f64> {
        self.rescale(0.5)
    }

    fn rescale(&mut self, factor: f64) -> Option<f64> {
        self.balance = 0;
        let before = self.concentration_factor;
        self.concentration_factor = (before * factor).clamp(MIN_FACTOR, MAX_FACTOR);
        (self.concentration_factor != before).then_some(self.concentration_factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_stationary_at_a_quarter_of_acceptances() {
        let mut adaptation = Adaptation::default();
        for round in 0..100 {
            assert_eq!(adaptation.rejected(), None, "round {round}");
            assert_eq!(adaptation.rejected(), None);
            assert_eq!(adaptation.rejected(), None);
            assert_eq!(adaptation.accepted(), None);
        }
        let turns: Vec<f64> = (0..12).filter_map(|_| adaptation.rejected()).collect();
        assert_eq!(turns, [2.0, 4.0, 8.0]);
        assert_eq!(adaptation.stayed(), Some(4.0));
        let turns: Vec<f64> = (0..100).filter_map(|_| adaptation.accepted()).collect();
        assert_eq!(turns.last(), Some(&MIN_FACTOR));
    }
}
