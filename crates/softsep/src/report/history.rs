//! The history of a run in few points, for charts: a million iterations leave at most [`CAPACITY`] points.

use crate::run::{Bounds, ChainRecord, Event, Observer, Record};

/// Largest number of points besides the first and last: more than a screen has pixels.
pub(super) const CAPACITY: usize = 2000;

/// Largest number of stored notes. A method that writes more reports its progress, which the points show.
const MAX_NOTES: usize = 8;

/// The bounds at the end of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HistoryPoint {
    /// The iteration, counted from 1.
    pub iteration: u64,
    /// Seconds since the start.
    pub seconds: f64,
    /// Recourse solves since the start.
    pub recourse_solves: u64,
    /// The lower bound.
    pub lower: Option<f64>,
    /// The proven upper bound.
    pub upper: Option<f64>,
    /// The upper bound that holds with a probability, if there is no proven one.
    pub likely: Option<f64>,
    /// The cost of the incumbent at the worst scenario found for it.
    pub value: Option<f64>,
    /// The state of the chain, if the method has one.
    pub chain: Option<ChainRecord>,
}

impl HistoryPoint {
    fn new(record: &Record) -> Self {
        let Record { iteration, seconds, recourse_solves, bounds, chain, .. } = *record;
        Self { chain, ..Self::at(iteration, seconds, recourse_solves, bounds) }
    }

    /// The bounds at this point of a run.
    pub(super) fn at(iteration: u64, seconds: f64, recourse_solves: u64, bounds: &Bounds) -> Self {
        Self {
            iteration,
            seconds,
            recourse_solves,
            lower: bounds.lower(),
            upper: bounds.upper(),
            likely: bounds.likely_upper().filter(|_| bounds.upper().is_none()),
            value: bounds.objective(),
            chain: None,
        }
    }

    /// The estimated cost of the incumbent, if there is no upper bound.
    pub(super) fn estimate(&self) -> Option<f64> {
        self.value.filter(|_| self.upper.is_none() && self.likely.is_none())
    }

    /// The relative change of bounds and cost since `earlier`.
    fn change_since(&self, earlier: &HistoryPoint) -> f64 {
        let change = |from: Option<f64>, to: Option<f64>| match (from, to) {
            (Some(from), Some(to)) if from == to => 0.0,
            (Some(from), Some(to)) => (to - from).abs() / (from.abs() + to.abs()),
            (None, None) => 0.0,
            // The first value of a bound counts more than any change.
            _ => 2.0,
        };
        let bounds =
            change(earlier.lower, self.lower) + change(earlier.upper, self.upper) + change(earlier.likely, self.likely);
        bounds + change(earlier.value, self.value)
    }
}

/// A point with its change.
type WeightedPoint = (f64, HistoryPoint);

/// Records the history of a run. The iterations are divided into groups of one length, and the point with the largest
/// change of each group is kept. When there are too many groups, pairs of them are merged. The selection depends on
/// iterations only, never on time.
#[derive(Debug, Clone)]
pub struct History {
    first: Option<HistoryPoint>,
    kept: Vec<WeightedPoint>,
    /// Iterations per group.
    length: u64,
    /// Number of iterations in the incomplete group, and its point with the largest change.
    in_group: u64,
    candidate: Option<WeightedPoint>,
    last: Option<HistoryPoint>,
    notes: Vec<String>,
}

impl Default for History {
    fn default() -> Self {
        Self {
            first: None,
            kept: Vec::with_capacity(CAPACITY),
            length: 1,
            in_group: 0,
            candidate: None,
            last: None,
            notes: Vec::new(),
        }
    }
}

impl History {
    /// The stored points in order, including the first and the last iteration.
    pub fn points(&self) -> impl Iterator<Item = &HistoryPoint> {
        let found = self.first.iter().chain(self.kept.iter().chain(&self.candidate).map(|(_, point)| point));
        let shown = found.clone().last().map(|point| point.iteration);
        found.chain(self.last.iter().filter(move |last| Some(last.iteration) != shown))
    }

    /// The first notes of the method.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn step(&mut self, point: HistoryPoint) {
        let Some(before) = self.last.replace(point) else {
            self.first = Some(point);
            return;
        };
        self.candidate = Some(larger_change(self.candidate, (point.change_since(&before), point)));
        self.in_group += 1;
        if self.in_group == self.length {
            self.in_group = 0;
            self.kept.extend(self.candidate.take());
        }
        if self.kept.len() == CAPACITY {
            self.merge_pairs();
        }
    }

    /// Merges pairs of groups in place.
    fn merge_pairs(&mut self) {
        for pair in 0..CAPACITY / 2 {
            self.kept[pair] = larger_change(Some(self.kept[2 * pair]), self.kept[2 * pair + 1]);
        }
        self.kept.truncate(CAPACITY / 2);
        self.length *= 2;
    }
}

/// The point with the larger change; the later one on ties.
fn larger_change(earlier: Option<WeightedPoint>, later: WeightedPoint) -> WeightedPoint {
    earlier.filter(|earlier| earlier.0 > later.0).unwrap_or(later)
}

impl Observer for History {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Step(record) => self.step(HistoryPoint::new(record)),
            Event::Note(note) if self.notes.len() < MAX_NOTES => self.notes.push((*note).to_owned()),
            Event::Start(_) | Event::Note(_) | Event::Better(_) => {}
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::{Clock, Limits, Run};

    /// A run whose lower bound rises slightly in every iteration, and by a large step in some.
    fn history(iterations: u64, leaps: &[u64]) -> History {
        let mut history = History::default();
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut history);
        let mut lower = 1.0;
        for iteration in 1..=iterations {
            lower += if leaps.contains(&iteration) { 100.0 } else { 1e-6 };
            run.lower(lower);
            assert_eq!(run.tick(), None);
        }
        history
    }

    fn iterations(history: &History) -> Vec<u64> {
        history.points().map(|point| point.iteration).collect()
    }

    #[test]
    fn short_runs_are_kept_whole() {
        for length in [0, 1, 2, 3, 2000] {
            assert_eq!(iterations(&history(length, &[])), (1..=length).collect::<Vec<_>>());
        }
    }

    #[test]
    fn long_runs_keep_the_first_the_last_and_every_leap() {
        let leaps = [77, 12_345, 500_001, 999_998];
        for length in [2001, 2002, 54_321, 1_000_000] {
            let kept = iterations(&history(length, &leaps));
            assert!(kept.len() <= CAPACITY + 2 && kept.len() >= CAPACITY / 2, "{length}: {}", kept.len());
            assert!(kept.is_sorted_by(|a, b| a < b));
            assert_eq!((kept.first(), kept.last()), (Some(&1), Some(&length)));
            for leap in leaps.iter().filter(|leap| **leap <= length) {
                assert!(kept.contains(leap), "{leap} of {length} is lost");
            }
            let widest = kept.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
            assert!(widest <= 4 * length.div_ceil(CAPACITY as u64), "{widest} iterations of {length} without a point");
        }
    }

    #[test]
    fn the_capacity_is_constant() {
        let history = history(1_000_000, &[]);
        assert_eq!(history.kept.capacity(), CAPACITY);
    }

    #[test]
    fn only_the_first_notes_are_kept() {
        let mut history = History::default();
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut history);
        (0..100).for_each(|note| run.say(&note.to_string()));
        assert_eq!(history.notes(), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    }
}
