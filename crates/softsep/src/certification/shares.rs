//! The shares of ε_false that attempts by draws have, where attempts are counted by integer assignments.

use std::collections::BTreeMap;

/// Attempts so far, by integer assignment. The k-th attempt at the j-th assignment has the share 1/(j(j+1)k(k+1)), as
/// in eq. certification-calls of the paper; these add up to 1 at most. Where x is continuous there is one assignment,
/// the empty one, and the share is 1/(k(k+1)).
#[derive(Debug, Default)]
pub(crate) struct AttemptShares {
    /// j and k of each assignment met.
    attempts: BTreeMap<Vec<i64>, (u64, u64)>,
}

impl AttemptShares {
    /// Counts an attempt, and returns its share.
    pub(crate) fn next(&mut self, assignment: Vec<i64>) -> f64 {
        let (label, is_only) = (self.attempts.len() as u64 + 1, assignment.is_empty());
        let (label, attempts) = self.attempts.entry(assignment).or_insert((label, 0));
        *attempts += 1;
        let (j, k) = (*label as f64, *attempts as f64);
        let of_assignment = if is_only { 1.0 } else { (j * (j + 1.0)).recip() };
        of_assignment / (k * (k + 1.0))
    }

    /// The number of attempts.
    pub(crate) fn count(&self) -> u64 {
        self.attempts.values().map(|(_, attempts)| attempts).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fall_with_assignments_and_attempts_and_add_up_to_less_than_one() {
        let mut continuous = AttemptShares::default();
        assert_eq!((continuous.next(vec![]), continuous.next(vec![])), (0.5, 1.0 / 6.0));
        let mut shares = AttemptShares::default();
        assert_eq!((shares.next(vec![0]), shares.next(vec![0]), shares.next(vec![1])), (0.25, 1.0 / 12.0, 1.0 / 12.0));
        let all: f64 = (0..400).map(|attempt| shares.next(vec![attempt % 20])).sum();
        assert!(all + 0.25 + 2.0 / 12.0 < 1.0 && shares.count() == 403);
    }
}
