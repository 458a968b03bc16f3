//! How near a chain looks for candidates.
//!
//! A tilt of fixed κ resolves the worst scenario to its own width only: on a sphere its draws stay some degrees off. A
//! chain that takes few of its candidates looks nearer to where the slope points, and one that takes most of them, or
//! only ever finds itself, looks further away.

/// Counts of what became of candidates, and the sharpness that follows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Adaptation {
    sharpness: f64,
    balance: i32,
}

/// Rejections in a row that double the sharpness. An acceptance takes back three: about one candidate in four is taken
/// in the long run.
const TURN: i32 = 4;
const ACCEPTED: i32 = 3;

/// The range of the sharpness.
const LEAST: f64 = 1.0 / 16.0;
const MOST: f64 = 65_536.0;

impl Default for Adaptation {
    fn default() -> Self {
        Self { sharpness: 1.0, balance: 0 }
    }
}

impl Adaptation {
    /// A candidate was not taken. The new sharpness, if it changed.
    pub(super) fn rejected(&mut self) -> Option<f64> {
        self.balance += 1;
        if self.balance < TURN { None } else { self.turn(2.0) }
    }

    /// A candidate was taken.
    pub(super) fn accepted(&mut self) -> Option<f64> {
        self.balance -= ACCEPTED;
        if self.balance > -TURN { None } else { self.turn(0.5) }
    }

    /// The candidate was the state itself: the law is too sharp to find anything else.
    pub(super) fn stayed(&mut self) -> Option<f64> {
        self.turn(0.5)
    }

    fn turn(&mut self, factor: f64) -> Option<f64> {
        self.balance = 0;
        let before = self.sharpness;
        self.sharpness = (before * factor).clamp(LEAST, MOST);
        (self.sharpness != before).then_some(self.sharpness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_acceptances_is_in_balance() {
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
        assert_eq!(turns.last(), Some(&LEAST));
    }
}
