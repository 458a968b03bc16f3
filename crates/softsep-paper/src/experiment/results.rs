//! The results of all cells of a study, and their statistics.

use super::cell::Missing;
use super::record::{Effort, Measurement, Reference};
use super::setup::MethodSetup;
use super::study::Study;

/// The states of all cells by row, replication and method.
#[derive(Debug)]
pub(super) struct Results {
    references: Vec<Vec<Option<Reference>>>,
    runs: Vec<Vec<Vec<CellState>>>,
}

/// The state of a cell.
#[derive(Debug, Clone, Default)]
pub(super) enum CellState {
    /// Not run yet.
    #[default]
    Open,
    /// Run and measured.
    Measured(Box<Measurement>),
    /// The method does not accept the instance, for this reason.
    Refused(String),
    /// The run failed, for this reason.
    Failed(String),
}

impl CellState {
    pub(super) fn measured(&self) -> Option<&Measurement> {
        match self {
            CellState::Measured(measured) => Some(measured),
            _ => None,
        }
    }
}

impl From<Missing> for CellState {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Interrupted => CellState::Open,
            Missing::Refused(why) => CellState::Refused(why),
            Missing::Failed(why) => CellState::Failed(why),
        }
    }
}

impl Results {
    pub(super) fn new(study: &Study) -> Self {
        let replications = study.replications as usize;
        Self {
            references: vec![vec![None; replications]; study.rows.len()],
            runs: vec![vec![vec![CellState::Open; study.setups.len()]; replications]; study.rows.len()],
        }
    }

    /// Notes a reference; replications are counted from 1.
    pub(super) fn set_reference(&mut self, row: usize, replication: u32, reference: Reference) {
        self.references[row][replication as usize - 1] = Some(reference);
    }

    pub(super) fn set(&mut self, row: usize, replication: u32, setup: usize, entry: CellState) {
        self.runs[row][replication as usize - 1][setup] = entry;
    }

    pub(super) fn reference(&self, row: usize, replication: u32) -> Option<Reference> {
        self.references[row][replication as usize - 1]
    }

    pub(super) fn entry(&self, row: usize, replication: u32, setup: usize) -> &CellState {
        &self.runs[row][replication as usize - 1][setup]
    }

    /// Whether no cell of a row was run yet.
    pub(super) fn is_open(&self, row: usize) -> bool {
        self.runs[row].iter().flatten().all(|entry| matches!(entry, CellState::Open))
    }

    /// All references of a row.
    pub(super) fn references(&self, row: usize) -> impl Iterator<Item = Reference> {
        self.references[row].iter().copied().flatten()
    }

    /// All cells of a row and a method.
    pub(super) fn entries(&self, row: usize, setup: usize) -> impl Iterator<Item = &CellState> {
        self.runs[row].iter().map(move |of_replication| &of_replication[setup])
    }

    /// All measurements of a row and a method.
    pub(super) fn measured(&self, row: usize, setup: usize) -> impl Iterator<Item = &Measurement> {
        self.entries(row, setup).filter_map(CellState::measured)
    }
}

/// Times of replications, as the paper reports them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Timing {
    /// Nothing was measured.
    Unknown,
    /// In no replication before the limit, which stopped the runs after so many seconds on average by the clock shown.
    Over { after: f64 },
    /// In no replication, although the limit stopped none.
    Never,
    /// Mean and standard deviation. A run that the limit stopped counts with the time until then, and `over` is the
    /// number of these. Runs that ended before they reached the goal have no time, and `never` is the number of these.
    Took { mean: f64, deviation: f64, over: usize, never: usize },
}

impl Timing {
    /// The time that the paper's tables show: until the incumbent is within 0.1 %. For affine decision rules it is the
    /// time of their program, for Algorithm 3 the time until the incumbent is certified.
    pub(super) fn of_setup<'m>(study: &Study, setup: MethodSetup, runs: impl Iterator<Item = &'m Measurement>) -> Self {
        match setup {
            MethodSetup::Adr | MethodSetup::Algorithm3 => {
                Self::of(study, runs, |run| (!run.is_over).then_some(run.end))
            }
            _ => Self::of(study, runs, |run| run.coarse),
        }
    }

    /// The times of the event that `when` finds in each run, by the clock that tables show. The limit is of wall-clock
    /// time.
    pub(super) fn of<'m>(
        study: &Study,
        runs: impl Iterator<Item = &'m Measurement>,
        when: impl Fn(&Measurement) -> Option<Effort>,
    ) -> Self {
        let (mut seconds, mut over, mut never) = (Vec::new(), 0, 0);
        for run in runs {
            match when(run) {
                Some(effort) if effort.seconds <= study.limit => seconds.push(study.shown_seconds(effort)),
                None if !run.is_over => never += 1,
                _ => {
                    over += 1;
                    seconds.push(study.shown_seconds(run.end).min(study.limit));
                }
            }
        }
        match seconds.len() {
            0 if never > 0 => Timing::Never,
            0 => Timing::Unknown,
            count if over == count => Timing::Over { after: mean(&seconds).0 },
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::study::{Exhibit, Sizes, StudyOptions};
    use super::*;

    fn run(seconds: Option<f64>, is_over: bool) -> Measurement {
        let effort = |seconds| Effort { seconds, cpu_seconds: Some(0.5 * seconds), solves: 1 };
        Measurement {
            start: None,
            coarse: seconds.map(effort),
            fine: None,
            proved: None,
            end: effort(seconds.unwrap_or(10.0)),
            last: None,
            reported: None,
            is_over,
            is_likely: None,
            is_refuted: false,
            path: Vec::new(),
        }
    }

    fn study(threads: Option<usize>) -> Study {
        let options = StudyOptions { limit: Some(10.0), threads, ..StudyOptions::new(Sizes::Smallest) };
        Study::new(Exhibit::Table(1), &options).unwrap()
    }

    fn timing(runs: &[Measurement]) -> Timing {
        Timing::of(&study(None), runs.iter(), |run| run.coarse)
    }

    #[test]
    fn times_beyond_the_limit_count_as_the_limit() {
        assert_eq!(timing(&[]), Timing::Unknown);
        assert_eq!(timing(&[run(None, true), run(None, true)]), Timing::Over { after: 10.0 });
        assert_eq!(timing(&[run(None, false)]), Timing::Never);
        // A run that reached the goal in time and was stopped later has its time.
        assert_eq!(timing(&[run(Some(2.0), true)]), Timing::Took { mean: 2.0, deviation: 0.0, over: 0, never: 0 });
        let mixed = timing(&[run(Some(2.0), false), run(None, true), run(None, false)]);
        assert_eq!(mixed, Timing::Took { mean: 6.0, deviation: 32.0_f64.sqrt(), over: 1, never: 1 });
        // An event after the limit counts as over it.
        assert_eq!(timing(&[run(Some(10.5), true)]), Timing::Over { after: 10.0 });
    }

    #[test]
    fn on_one_thread_times_are_cpu_seconds_and_the_limit_is_of_wall_clock_time() {
        let of = |run: &Measurement| Timing::of(&study(Some(1)), [run].into_iter(), |run| run.coarse);
        assert_eq!(of(&run(Some(2.0), false)), Timing::Took { mean: 1.0, deviation: 0.0, over: 0, never: 0 });
        assert_eq!(of(&run(Some(10.5), true)), Timing::Over { after: 5.25 });
    }

    #[test]
    fn quartiles_are_those_of_the_textbook() {
        assert_eq!(quartiles(&mut [4.0, 1.0, 3.0, 2.0, 5.0]), [2.0, 3.0, 4.0]);
        assert_eq!(quartiles(&mut [1.0, 2.0]), [1.25, 1.5, 1.75]);
        assert_eq!(quartiles(&mut [7.0]), [7.0; 3]);
    }
}
