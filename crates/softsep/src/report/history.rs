//! The course of a run in few points, for charts: a million iterations leave at most [`CAPACITY`] of them.

use crate::run::{Bounds, ChainRecord, Event, Observer, Record};

/// Points kept at most, the ends aside: more than a screen has pixels.
pub const CAPACITY: usize = 2000;

/// Notes kept; a method that says more than this talks about its progress, which the points show.
const NOTES: usize = 8;

/// What was known when an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Counted from 1.
    pub iteration: u64,
    /// Since the start.
    pub seconds: f64,
    /// So far.
    pub recourse_solves: u64,
    /// The lower bound.
    pub lower: Option<f64>,
    /// The upper bound that holds for sure.
    pub upper: Option<f64>,
    /// The upper bound that is likely to hold, where there is no other.
    pub likely: Option<f64>,
    /// What the best decision costs at the worst scenario known for it.
    pub value: Option<f64>,
    /// How the chain was doing, where there is one.
    pub chain: Option<ChainRecord>,
}

impl Moment {
    fn new(record: &Record) -> Self {
        let Record { iteration, seconds, recourse_solves, bounds, chain, .. } = *record;
        Self { chain, ..Self::at(iteration, seconds, recourse_solves, bounds) }
    }

    /// What `bounds` hold, at this point of a run.
    pub(super) fn at(iteration: u64, seconds: f64, recourse_solves: u64, bounds: &Bounds) -> Self {
        Self {
            iteration,
            seconds,
            recourse_solves,
            lower: bounds.lower(),
            upper: bounds.upper(),
            likely: bounds.likely_upper().filter(|_| bounds.upper().is_none()),
            value: bounds.best().map(|best| best.value),
            chain: None,
        }
    }

    /// What the best decision is thought to cost, where nothing bounds that.
    pub(super) fn estimate(&self) -> Option<f64> {
        self.value.filter(|_| self.upper.is_none() && self.likely.is_none())
    }

    /// How much became known since `earlier`.
    fn news(&self, earlier: &Moment) -> f64 {
        let change = |from: Option<f64>, to: Option<f64>| match (from, to) {
            (Some(from), Some(to)) if from == to => 0.0,
            (Some(from), Some(to)) => (to - from).abs() / (from.abs() + to.abs()),
            (None, None) => 0.0,
            // A bound where there was none is news above all.
            _ => 2.0,
        };
        let bounds =
            change(earlier.lower, self.lower) + change(earlier.upper, self.upper) + change(earlier.likely, self.likely);
        bounds + change(earlier.value, self.value)
    }
}

/// A moment, and what was new in it.
type Newsworthy = (f64, Moment);

/// Keeps the course of a run. The iterations are cut into groups of one length, and of each group the one with the most
/// news is kept; when there are too many groups, pairs of them become one. What is kept depends on iterations only,
/// never on the clock.
#[derive(Debug, Clone)]
pub struct History {
    first: Option<Moment>,
    kept: Vec<Newsworthy>,
    /// Iterations in a group.
    length: u64,
    /// Iterations of the group that is not whole yet, and the best of them.
    begun: u64,
    candidate: Option<Newsworthy>,
    last: Option<Moment>,
    notes: Vec<String>,
}

impl Default for History {
    fn default() -> Self {
        Self {
            first: None,
            kept: Vec::with_capacity(CAPACITY),
            length: 1,
            begun: 0,
            candidate: None,
            last: None,
            notes: Vec::new(),
        }
    }
}

impl History {
    /// The moments kept, in order; the first and the last iteration are among them.
    pub fn moments(&self) -> impl Iterator<Item = &Moment> {
        let found = self.first.iter().chain(self.kept.iter().chain(&self.candidate).map(|(_, moment)| moment));
        let shown = found.clone().last().map(|moment| moment.iteration);
        found.chain(self.last.iter().filter(move |last| Some(last.iteration) != shown))
    }

    /// What the method said first.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn step(&mut self, moment: Moment) {
        let Some(before) = self.last.replace(moment) else {
            self.first = Some(moment);
            return;
        };
        self.candidate = Some(newer(self.candidate, (moment.news(&before), moment)));
        self.begun += 1;
        if self.begun == self.length {
            self.begun = 0;
            self.kept.extend(self.candidate.take());
        }
        if self.kept.len() == CAPACITY {
            self.merge_pairs();
        }
    }

    /// Makes one of every two groups, in place.
    fn merge_pairs(&mut self) {
        for pair in 0..CAPACITY / 2 {
            self.kept[pair] = newer(Some(self.kept[2 * pair]), self.kept[2 * pair + 1]);
        }
        self.kept.truncate(CAPACITY / 2);
        self.length *= 2;
    }
}

/// The one with more news; of two alike the later one.
fn newer(earlier: Option<Newsworthy>, later: Newsworthy) -> Newsworthy {
    earlier.filter(|earlier| earlier.0 > later.0).unwrap_or(later)
}

impl Observer for History {
    fn see(&mut self, event: &Event) {
        match event {
            Event::Step(record) => self.step(Moment::new(record)),
            Event::Note(note) if self.notes.len() < NOTES => self.notes.push((*note).to_owned()),
            Event::Start(_) | Event::Note(_) | Event::Better(_) => {}
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::{Clock, Limits, Run};

    /// A run whose lower bound rises by a little at every iteration, and by much at some.
    fn history(iterations: u64, leaps: &[u64]) -> History {
        let mut history = History::default();
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut history);
        let mut lower = 1.0;
        for iteration in 1..=iterations {
            lower += if leaps.contains(&iteration) { 100.0 } else { 1e-6 };
            run.lower(lower);
            run.tick().unwrap();
        }
        history
    }

    fn iterations(history: &History) -> Vec<u64> {
        history.moments().map(|moment| moment.iteration).collect()
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
    fn the_memory_does_not_grow() {
        let history = history(1_000_000, &[]);
        assert_eq!(history.kept.capacity(), CAPACITY);
    }

    #[test]
    fn only_the_first_notes_stay() {
        let mut history = History::default();
        let mut run = Run::new("sgd", Limits::default(), Clock::unlimited(), &mut history);
        (0..100).for_each(|note| run.say(&note.to_string()));
        assert_eq!(history.notes(), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    }
}
