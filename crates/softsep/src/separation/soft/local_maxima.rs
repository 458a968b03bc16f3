//! The local maxima that ascents have ended at, and directions between them.
//!
//! The slope of Q in ξ at a local maximum is that of a dual solution. A mixture of two dual solutions is a dual
//! solution as well, and the scenario that its slope leads to lies between the basins of the two maxima: an ascent from
//! there often ends at a third one that combines the worse parts of both. docs/design/separation.md has the
//! measurements.

use rand::RngExt;

use crate::run::Random;

/// Costs that differ by less, relatively, are those of one local maximum.
const SAME_MAXIMUM: f64 = 1e-7;

/// The largest number of local maxima kept. With the best 5 alone the worst scenario was found less often.
const MOST: usize = 60;

/// The largest share of entries that a thinned slope loses.
const MOST_THINNED: f64 = 0.6;

/// Whether two costs are those of one local maximum.
pub(super) fn is_same_maximum(value: f64, known: f64) -> bool {
    value == known || known.is_finite() && (value - known).abs() <= SAME_MAXIMUM * known.abs()
}

/// A way to make a direction of the slopes at local maxima.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recombination {
    /// A convex combination of two slopes.
    Mixture,
    /// Each entry from one of two slopes.
    Crossover,
    /// One slope without some of its entries, so that the set's budget goes to others.
    Thinning,
}

impl Recombination {
    pub(super) const ALL: [Self; 3] = [Self::Mixture, Self::Crossover, Self::Thinning];
}

/// Local maxima of different cost with the slopes of Q there, the worst first.
#[derive(Debug, Default)]
pub(super) struct LocalMaxima {
    kept: Vec<(f64, Vec<f64>)>,
}

impl LocalMaxima {
    /// Keeps the end of an ascent, unless it is known or less than all of the many that are kept.
    pub(super) fn insert(&mut self, value: f64, slope: &[f64]) {
        if !value.is_finite() || self.kept.iter().any(|(known, _)| is_same_maximum(value, *known)) {
            return;
        }
        let place = self.kept.partition_point(|(known, _)| *known > value);
        if place < MOST {
            self.kept.insert(place, (value, slope.to_vec()));
            self.kept.truncate(MOST);
        }
    }

    /// A random direction of this kind; `None` while fewer than two local maxima are known.
    pub(super) fn direction(&self, kind: Recombination, random: &mut Random) -> Option<Vec<f64>> {
        if self.kept.len() < 2 {
            return None;
        }
        let mut parent = || self.kept[random.random_range(0..self.kept.len())].1.as_slice();
        let (first, second) = (parent(), parent());
        let share: f64 = random.random();
        let entries = first.iter().zip(second);
        Some(match kind {
            Recombination::Mixture => entries.map(|(a, b)| share * a + (1.0 - share) * b).collect(),
            Recombination::Crossover => entries.map(|(a, b)| if random.random() { *a } else { *b }).collect(),
            Recombination::Thinning => {
                let lost = MOST_THINNED * share;
                first.iter().map(|a| if random.random::<f64>() < lost { 0.0 } else { *a }).collect()
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::{Purpose, stream};

    #[test]
    fn the_worst_maxima_are_kept_once_each() {
        let mut maxima = LocalMaxima::default();
        for value in (0..200).map(f64::from).chain([199.0, f64::INFINITY, f64::NEG_INFINITY]) {
            maxima.insert(value, &[value]);
        }
        let costs: Vec<f64> = maxima.kept.iter().map(|(value, _)| *value).collect();
        assert_eq!(costs, (140..200).rev().map(f64::from).collect::<Vec<_>>());
    }

    /// The entries of the two slopes below.
    const ENTRIES: [[f64; 2]; 3] = [[0.0, 1.0], [0.0, 1.0], [2.0, 4.0]];

    #[test]
    fn directions_combine_the_slopes_of_two_maxima() {
        let mut maxima = LocalMaxima::default();
        let mut random = stream(1, Purpose::Start, 0);
        maxima.insert(1.0, &[1.0, 0.0, 2.0]);
        assert!(maxima.direction(Recombination::Mixture, &mut random).is_none());
        maxima.insert(2.0, &[0.0, 1.0, 4.0]);
        let mut seen = [false; 3];
        for _ in 0..100 {
            let mixture = maxima.direction(Recombination::Mixture, &mut random).unwrap();
            assert!((mixture[0] + mixture[1] - 1.0).abs() < 1e-12 && (2.0..=4.0).contains(&mixture[2]));
            seen[0] |= mixture[0] > 0.1 && mixture[1] > 0.1;
            let crossed = maxima.direction(Recombination::Crossover, &mut random).unwrap();
            assert!(crossed.iter().zip(ENTRIES).all(|(entry, of)| of.contains(entry)));
            seen[1] |= crossed[0] == crossed[1];
            let thinned = maxima.direction(Recombination::Thinning, &mut random).unwrap();
            assert!(thinned.iter().zip(ENTRIES).all(|(entry, of)| *entry == 0.0 || of.contains(entry)));
            seen[2] |= thinned[2] == 0.0;
        }
        assert_eq!(seen, [true; 3]);
    }
}
