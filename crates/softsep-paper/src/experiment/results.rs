//! All findings of a study, and what they come to.

use super::cell::Missing;
use super::finding::{Measured, Moment, Reference};
use super::study::Study;
use super::way::Way;

/// Findings by row, replication and method. What is missing was not run, was refused, or failed.
#[derive(Debug)]
pub(super) struct Results {
    references: Vec<Vec<Option<Reference>>>,
    runs: Vec<Vec<Vec<Entry>>>,
}

/// What there is for a cell.
#[derive(Debug, Clone, Default)]
pub(super) enum Entry {
    /// Nothing yet.
    #[default]
    Open,
    /// What was measured.
    Measured(Box<Measured>),
    /// Why the method does not take it.
    Refused(String),
    /// Why it failed.
    Failed(String),
}

impl Entry {
    pub(super) fn measured(&self) -> Option<&Measured> {
        match self {
            Entry::Measured(measured) => Some(measured),
            _ => None,
        }
    }
}

impl From<Missing> for Entry {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Interrupted => Entry::Open,
            Missing::Refused(why) => Entry::Refused(why),
            Missing::Failed(why) => Entry::Failed(why),
        }
    }
}

impl Results {
    pub(super) fn new(study: &Study) -> Self {
        let replications = study.replications as usize;
        Self {
            references: vec![vec![None; replications]; study.rows.len()],
            runs: vec![vec![vec![Entry::Open; study.ways.len()]; replications]; study.rows.len()],
        }
    }

    /// Notes a reference; replications are counted from 1.
    pub(super) fn set_reference(&mut self, row: usize, replication: u32, reference: Reference) {
        self.references[row][replication as usize - 1] = Some(reference);
    }

    pub(super) fn set(&mut self, row: usize, replication: u32, way: usize, entry: Entry) {
        self.runs[row][replication as usize - 1][way] = entry;
    }

    pub(super) fn reference(&self, row: usize, replication: u32) -> Option<Reference> {
        self.references[row][replication as usize - 1]
    }

    pub(super) fn entry(&self, row: usize, replication: u32, way: usize) -> &Entry {
        &self.runs[row][replication as usize - 1][way]
    }

    /// All references of a row.
    pub(super) fn references(&self, row: usize) -> impl Iterator<Item = Reference> {
        self.references[row].iter().copied().flatten()
    }

    /// All cells of a row and a method.
    pub(super) fn entries(&self, row: usize, way: usize) -> impl Iterator<Item = &Entry> {
        self.runs[row].iter().map(move |of_replication| &of_replication[way])
    }

    /// What was measured of a row and a method.
    pub(super) fn measured(&self, row: usize, way: usize) -> impl Iterator<Item = &Measured> {
        self.entries(row, way).filter_map(Entry::measured)
    }
}

/// Times of replications, as the paper reports them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Timing {
    /// Nothing was measured.
    Unknown,
    /// In no replication before the limit.
    Over,
    /// In no replication, though none was stopped by the limit.
    Never,
    /// Mean and standard deviation. A time beyond the limit counts as the limit; `over` tells how many do. Runs that
    /// ended without having come so far (`never`) have no time.
    Took { mean: f64, deviation: f64, over: usize, never: usize },
}

impl Timing {
    /// How long a method took for what the paper's tables show: until its decision was within 0.1 %. Affine rules are
    /// asked for once, and Algorithm 3 is done when it has certified its decision.
    pub(super) fn of_way<'m>(way: Way, runs: impl Iterator<Item = &'m Measured>, limit: f64) -> Self {
        match way {
            Way::Adr | Way::Algorithm3 => Self::of(runs, limit, |run| (!run.is_over).then_some(run.end)),
            _ => Self::of(runs, limit, |run| run.coarse),
        }
    }

    /// Of what `when` tells of each run.
    pub(super) fn of<'m>(
        runs: impl Iterator<Item = &'m Measured>,
        limit: f64,
        when: impl Fn(&Measured) -> Option<Moment>,
    ) -> Self {
        let (mut seconds, mut over, mut never) = (Vec::new(), 0, 0);
        for run in runs {
            match when(run) {
                Some(moment) if moment.seconds <= limit => seconds.push(moment.seconds),
                None if !run.is_over => never += 1,
                _ => {
                    over += 1;
                    seconds.push(limit);
                }
            }
        }
        match seconds.len() {
            0 if never > 0 => Timing::Never,
            0 => Timing::Unknown,
            count if over == count => Timing::Over,
            _ => {
                let (mean, deviation) = mean(&seconds);
                Timing::Took { mean, deviation, over, never }
            }
        }
    }
}

/// The mean and the standard deviation of a sample.
pub(super) fn mean(sample: &[f64]) -> (f64, f64) {
    let count = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / count;
    let squares = sample.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, if sample.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() })
}

/// The quartiles of a sample that is not empty: the second is the median.
pub(super) fn quartiles(sample: &mut [f64]) -> [f64; 3] {
    sample.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|share| {
        let place = share * (sample.len() - 1) as f64;
        let (below, above) = (sample[place.floor() as usize], sample[place.ceil() as usize]);
        below + place.fract() * (above - below)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seconds: Option<f64>, is_over: bool) -> Measured {
        let moment = |seconds| Moment { seconds, solves: 1 };
        Measured {
            start: None,
            coarse: seconds.map(moment),
            fine: None,
            proved: None,
            end: moment(seconds.unwrap_or(10.0)),
            last: None,
            reported: None,
            is_over,
            is_refuted: false,
            path: Vec::new(),
        }
    }

    fn timing(runs: &[Measured]) -> Timing {
        Timing::of(runs.iter(), 10.0, |run| run.coarse)
    }

    #[test]
    fn times_beyond_the_limit_count_as_the_limit() {
        assert_eq!(timing(&[]), Timing::Unknown);
        assert_eq!(timing(&[run(None, true), run(None, true)]), Timing::Over);
        assert_eq!(timing(&[run(None, false)]), Timing::Never);
        // One that came so far in time and was stopped later has its time.
        assert_eq!(timing(&[run(Some(2.0), true)]), Timing::Took { mean: 2.0, deviation: 0.0, over: 0, never: 0 });
        let mixed = timing(&[run(Some(2.0), false), run(None, true), run(None, false)]);
        assert_eq!(mixed, Timing::Took { mean: 6.0, deviation: 32.0_f64.sqrt(), over: 1, never: 1 });
        // A moment after the limit is over it.
        assert_eq!(timing(&[run(Some(10.5), true)]), Timing::Over);
    }

    #[test]
    fn quartiles_are_those_of_the_textbook() {
        assert_eq!(quartiles(&mut [4.0, 1.0, 3.0, 2.0, 5.0]), [2.0, 3.0, 4.0]);
        assert_eq!(quartiles(&mut [1.0, 2.0]), [1.25, 1.5, 1.75]);
        assert_eq!(quartiles(&mut [7.0]), [7.0; 3]);
    }
}
