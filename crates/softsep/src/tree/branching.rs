//! Where to branch: pseudocosts, made reliable by strong branching.
//!
//! A pseudocost is what a column's branches have raised the objective by, per unit, on average. As long as a column has
//! few of them a few pivots into each of its branches tell more.

use super::frame::Frame;
use super::relaxation::{Probe, Relaxation};
use crate::error::Error;

/// Branches of a column each way after which its pseudocosts are believed.
const RELIABLE: u32 = 4;

/// Candidates that are probed at most, and in a row without a better one.
const PROBED: usize = 24;
const LOOKAHEAD: usize = 6;

/// The least rise of the objective that counts, relative to its size where that is above 1: one side that does not move
/// must not hide the other.
const LEAST: f64 = 1e-6;

/// Pivots of a probe, for nodes that take so many on average: at least, at most, and the multiple between.
const PIVOTS: (u32, u32, f64) = (10, 500, 2.0);

/// How far a bound must have moved for the rise to say something.
pub(super) const DISTANT: f64 = 1e-6;

/// A rise of the objective per unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Observation {
    pub(super) col: usize,
    pub(super) up: bool,
    pub(super) per_unit: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn get(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

/// What branches have raised the objective by, for each column down and up, and over all.
#[derive(Debug, Default)]
pub(super) struct Pseudocosts {
    columns: Vec<[Mean; 2]>,
    all: [Mean; 2],
}

impl Pseudocosts {
    pub(super) fn new(cols: usize) -> Self {
        Self { columns: vec![Default::default(); cols], all: Default::default() }
    }

    pub(super) fn learn(&mut self, seen: &Observation) {
        self.columns[seen.col][usize::from(seen.up)].add(seen.per_unit);
        self.all[usize::from(seen.up)].add(seen.per_unit);
    }

    fn per_unit(&self, col: usize, up: usize) -> f64 {
        self.columns[col][up].get().or(self.all[up].get()).unwrap_or(1.0)
    }

    /// The rises that are expected down and up from a value.
    pub(super) fn rises(&self, col: usize, value: f64) -> [f64; 2] {
        let below = value - value.floor();
        [below * self.per_unit(col, 0), (1.0 - below) * self.per_unit(col, 1)]
    }

    fn is_reliable(&self, col: usize) -> bool {
        self.columns[col].iter().all(|mean| mean.count >= RELIABLE)
    }
}

/// A branch as it was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Side {
    /// A bound on its objective.
    pub(super) bound: f64,
    /// What it is expected to be.
    pub(super) estimate: f64,
    pub(super) is_empty: bool,
}

/// The column to branch on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub(super) col: usize,
    pub(super) value: f64,
    pub(super) sides: [Side; 2],
}

/// How much probing there may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Effort {
    /// Pivots of a node, on average.
    pub(super) pivots_per_node: f64,
    /// Whether probes have taken too large a share of all pivots.
    pub(super) is_spent: bool,
}

/// The product of both rises, neither below the least.
fn score(rises: [f64; 2], least: f64) -> f64 {
    rises[0].max(least) * rises[1].max(least)
}

/// Chooses among the fractional columns. The program must stand at the node's optimum, and does so afterwards.
pub(super) fn choose(
    fractional: &[(usize, f64)],
    costs: &Pseudocosts,
    effort: Effort,
    cutoff: f64,
    program: &mut Relaxation,
    seen: &mut Vec<Observation>,
    frame: &Frame,
) -> Result<Option<Choice>, Error> {
    let objective = program.objective;
    let least = LEAST * if objective.is_finite() { objective.abs().max(1.0) } else { 1.0 };
    let mut ranked: Vec<(f64, usize, f64)> =
        fractional.iter().map(|&(col, value)| (score(costs.rises(col, value), least), col, value)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let pivots = (PIVOTS.2 * effort.pivots_per_node).clamp(f64::from(PIVOTS.0), f64::from(PIVOTS.1)) as u32;
    let mut best: Option<(f64, Choice)> = None;
    let (mut probed, mut worse) = (0, 0);
    for (guess, col, value) in ranked {
        let expected =
            costs.rises(col, value).map(|rise| Side { bound: objective, estimate: objective + rise, is_empty: false });
        let is_open = probed < PROBED && worse < LOOKAHEAD && !effort.is_spent && objective.is_finite();
        let (score, sides) = if is_open && !costs.is_reliable(col) {
            probed += 1;
            let sides = probe_both(col, value, pivots, program, seen, frame)?;
            // What is closed rises to the cutoff, or where there is none beyond all others.
            let rises =
                sides.map(|side| if side.is_empty { cutoff.min(1e20) } else { side.estimate.min(cutoff) } - objective);
            (score(rises, least), sides)
        } else {
            (guess, expected)
        };
        if best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, Choice { col, value, sides }));
            worse = 0;
        } else {
            worse += 1;
        }
        // One branch is closed: nothing is better than to go on with the other.
        if sides.iter().any(|side| side.is_empty || side.bound >= cutoff) {
            return Ok(Some(Choice { col, value, sides }));
        }
    }
    Ok(best.map(|(_, choice)| choice))
}

fn probe_both(
    col: usize,
    value: f64,
    pivots: u32,
    program: &mut Relaxation,
    seen: &mut Vec<Observation>,
    frame: &Frame,
) -> Result<[Side; 2], Error> {
    let objective = program.objective;
    let below = value - value.floor();
    let mut sides = [Side { bound: objective, estimate: objective, is_empty: false }; 2];
    for (up, side) in sides.iter_mut().enumerate() {
        let (lower, upper, distance) = match up {
            0 => (program.lower[col], value.floor(), below),
            _ => (value.floor() + 1.0, program.upper[col], 1.0 - below),
        };
        match program.probe(col, lower, upper, pivots, frame)? {
            Probe::Infeasible => side.is_empty = true,
            Probe::Optimum(optimum) => (side.bound, side.estimate) = (optimum.max(objective), optimum.max(objective)),
            Probe::About(estimate) => side.estimate = estimate,
        }
        let per_unit = (side.estimate - objective) / distance;
        if !side.is_empty && distance > DISTANT && per_unit.is_finite() {
            seen.push(Observation { col, up: up == 1, per_unit });
        }
    }
    Ok(sides)
}
