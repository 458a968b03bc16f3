//! Who looks at a run: an observer sees events and never steers.

use std::fmt;

use super::Bounds;

/// The problem and the method of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Header {
    /// The problem's name.
    pub problem: String,
    /// Its sizes and kinds in one line each.
    pub facts: Vec<String>,
    /// The method.
    pub method: &'static str,
}

/// One iteration.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Record<'a> {
    /// Since the start.
    pub seconds: f64,
    /// Counted from 1.
    pub iteration: u64,
    /// The bounds so far.
    pub bounds: &'a Bounds,
    /// So far.
    pub recourse_solves: u64,
    /// The size of the master.
    pub master: MasterSize,
    /// Nodes of search trees so far, the master's and the separation's.
    pub nodes: u64,
    /// The state of the chain, where the method has one.
    pub chain: Option<ChainRecord>,
}

/// The state of a separation's chains.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ChainDiagnostics {
    /// The share of transitions that moved, so far.
    pub acceptance: f64,
    /// The number of independent draws that the chains' steps are worth, so far.
    pub effective: f64,
    /// Transitions since the last move.
    pub still: u64,
    /// w.
    pub temperature: f64,
    /// Recourse solves whose dual is that of the solver, although another choice was asked for.
    pub unselected: u64,
}

impl ChainDiagnostics {
    /// The record of an iteration at an iterate of this value, after a step of this length in x.
    pub(crate) fn record(self, value: f64, step: f64) -> ChainRecord {
        let Self { acceptance, effective, still, temperature, .. } = self;
        ChainRecord { value, acceptance, effective, still, temperature, step }
    }
}

/// The last tempered search of a separation. It describes the search; no claim about the maximum follows from it.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SearchDiagnostics {
    /// Recourse solves of the search.
    pub solves: u64,
    /// Recourse solves after which its worst scenario was found.
    pub solves_at_best: u64,
    /// The standard deviation of Q(x, ·) over draws from the reference measure, the unit of temperatures.
    pub spread: f64,
    /// The number of ascents.
    pub ascents: u64,
    /// Whether ascents ended at different costs: Q(x, ·) has several local maxima.
    pub is_disputed: bool,
    /// The number of replicas.
    pub replicas: u64,
    /// The number of replicas from which an ascent led to the worst scenario.
    pub reached_by: u64,
    /// Whether an ascent from a draw of the reference measure led to it.
    pub reached_from_draws: bool,
    /// The mean acceptance probabilities of swaps between neighbouring temperatures, the highest first, since the
    /// ladder was fixed. Empty where no sweep was made.
    pub swap_rates: Vec<f64>,
    /// The number of trips of replicas from the highest temperature to the lowest.
    pub round_trips: u64,
    /// The number of independent draws that the replicas' steps are worth, all temperatures together.
    pub effective: f64,
    /// Whether nothing worse came for so long that the search ended by its own rule, and not because something was
    /// found, or solves or time ran out.
    pub is_exhausted: bool,
}

/// The search in words.
impl fmt::Display for SearchDiagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { solves, ascents, replicas, reached_by, solves_at_best, .. } = self;
        write!(f, "tempered search with {solves} recourse solves and {ascents} ascents: ")?;
        match self.is_disputed {
            true => write!(f, "there are several local maxima; the worst came after {solves_at_best} solves")?,
            false => write!(f, "all ascents ended at the same cost")?,
        }
        if let (Some(least), Some(most)) =
            (self.swap_rates.iter().copied().reduce(f64::min), self.swap_rates.iter().copied().reduce(f64::max))
        {
            write!(f, ", and ascents from {reached_by} of {replicas} replicas")?;
            write!(f, "{} led to it", if self.reached_from_draws { " and from draws" } else { "" })?;
            write!(f, "; swap rates {least:.2} to {most:.2}, {} trips from hot to cold", self.round_trips)?;
            write!(f, ", {:.0} effective draws", self.effective)?;
        }
        f.write_str(match self.is_exhausted {
            true => "; nothing worse came for long: the search looks exhausted, which proves nothing",
            false => "; the search ended early and is not exhausted",
        })
    }
}

/// The chains in one iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ChainRecord {
    /// f(x) + Q(x, ξ) at the iterate and the chain's state.
    pub value: f64,
    /// The share of transitions that moved, so far.
    pub acceptance: f64,
    /// The effective number of independent draws in the chain's steps so far.
    pub effective: f64,
    /// Transitions since the last move.
    pub still: u64,
    /// w.
    pub temperature: f64,
    /// The length of the step in x.
    pub step: f64,
}

/// The size of a master.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MasterSize {
    /// Scenarios with a copy of the recourse.
    pub scenarios: usize,
    /// Cuts.
    pub cuts: usize,
}

/// An event of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run begins.
    Start(&'a Header),
    /// A note of the method, for people.
    Note(&'a str),
    /// An iteration ended.
    Step(&'a Record<'a>),
    /// The best decision changed.
    Better(&'a Bounds),
}

/// Looks at a run. Stopping one is the interrupt flag's business.
pub trait Observer {
    /// Called on every event, in order.
    fn see(&mut self, event: &Event);

    /// The factor by which costs of a run are multiplied in notes: a run may be made in internal units.
    fn cost_unit(&self) -> f64 {
        1.0
    }
}

/// Sees nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn see(&mut self, _event: &Event) {}
}
