//! Reliability branching: pseudocosts, initialised by strong branching.
//!
//! The pseudocost of a column is the average rise of the objective per unit over its branches. While a column has few
//! branches, a few pivots into each of them are a better estimate.

use super::relaxation::{NodeRelaxation, Probe};
use super::worker::BatchContext;
use crate::error::Error;

/// Branches of a column in each direction from which its pseudocosts are reliable.
const RELIABLE_BRANCHES: u32 = 4;

/// Maximal number of candidates that are probed, in total and in sequence without a better one.
const MAX_PROBES: usize = 24;
const MAX_PROBES_WITHOUT_GAIN: usize = 6;

/// Smallest rise of the objective in the score, relative to the objective where that is above 1. A branch without a
/// rise must not set the whole product to zero.
const MIN_RISE: f64 = 1e-6;

/// A probe takes this multiple of the average pivots of a node, within these limits.
const PROBE_PIVOT_FACTOR: f64 = 2.0;
const MIN_PROBE_PIVOTS: u32 = 10;
const MAX_PROBE_PIVOTS: u32 = 500;

/// Smallest change of a bound for which the rise per unit is recorded.
pub(super) const MIN_BRANCH_DISTANCE: f64 = 1e-6;

/// One observed rise of the objective per unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PseudocostSample {
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

/// Pseudocosts of each column for the down and the up branch, and their averages over all columns.
#[derive(Debug, Default)]
pub(super) struct Pseudocosts {
    columns: Vec<[Mean; 2]>,
    all: [Mean; 2],
}

impl Pseudocosts {
    pub(super) fn new(cols: usize) -> Self {
        Self { columns: vec![Default::default(); cols], all: Default::default() }
    }

    pub(super) fn record(&mut self, samples: &PseudocostSample) {
        self.columns[samples.col][usize::from(samples.up)].add(samples.per_unit);
        self.all[usize::from(samples.up)].add(samples.per_unit);
    }

    fn per_unit(&self, col: usize, up: usize) -> f64 {
        self.columns[col][up].get().or(self.all[up].get()).unwrap_or(1.0)
    }

    /// Returns the expected rises of the down and the up branch at a value.
    pub(super) fn expected_rises(&self, col: usize, value: f64) -> [f64; 2] {
        let fraction = value - value.floor();
        [fraction * self.per_unit(col, 0), (1.0 - fraction) * self.per_unit(col, 1)]
    }

    fn is_reliable(&self, col: usize) -> bool {
        self.columns[col].iter().all(|mean| mean.count >= RELIABLE_BRANCHES)
    }
}

/// Result of a branch, probed or expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BranchEstimate {
    /// Lower bound on its objective.
    pub(super) bound: f64,
    /// Estimate of its objective.
    pub(super) estimate: f64,
    pub(super) is_infeasible: bool,
}

/// The column to branch on, its value, and the down and the up branch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BranchChoice {
    pub(super) col: usize,
    pub(super) value: f64,
    pub(super) branches: [BranchEstimate; 2],
}

/// Limits of strong branching.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ProbeBudget {
    /// Average pivots of a node.
    pub(super) pivots_per_node: f64,
    /// True if probes have taken too large a share of all pivots.
    pub(super) is_spent: bool,
}

/// Returns the product of both rises, each at least `min_rise`.
fn score(rises: [f64; 2], min_rise: f64) -> f64 {
    rises[0].max(min_rise) * rises[1].max(min_rise)
}

/// Chooses a fractional column to branch on, or `None` if `fractional` is empty. The program must hold the node's
/// optimum, and holds it afterwards.
pub(super) fn choose_branch(
    fractional: &[(usize, f64)],
    context: &BatchContext,
    program: &mut NodeRelaxation,
    samples: &mut Vec<PseudocostSample>,
) -> Result<Option<BranchChoice>, Error> {
    let BatchContext { pseudocosts, probe_budget: budget, cutoff, .. } = *context;
    let (objective, bound) = (program.objective, program.bound);
    let min_rise = MIN_RISE * if objective.is_finite() { objective.abs().max(1.0) } else { 1.0 };
    let mut ranked: Vec<(f64, usize, f64)> = fractional
        .iter()
        .map(|&(col, value)| (score(pseudocosts.expected_rises(col, value), min_rise), col, value))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let pivots = (PROBE_PIVOT_FACTOR * budget.pivots_per_node)
        .clamp(f64::from(MIN_PROBE_PIVOTS), f64::from(MAX_PROBE_PIVOTS)) as u32;
    let mut best: Option<(f64, BranchChoice)> = None;
    let (mut probed, mut without_gain) = (0, 0);
    for (expected_score, col, value) in ranked {
        let expected = pseudocosts.expected_rises(col, value).map(|rise| BranchEstimate {
            bound,
            estimate: objective + rise,
            is_infeasible: false,
        });
        let may_probe =
            probed < MAX_PROBES && without_gain < MAX_PROBES_WITHOUT_GAIN && !budget.is_spent && objective.is_finite();
        let (score, branches) = if may_probe && !pseudocosts.is_reliable(col) {
            probed += 1;
            let branches = probe_both(col, value, pivots, context, program, samples)?;
            // An infeasible branch rises to the cutoff, or without a cutoff above all others.
            let rises = branches.map(
                |branch| if branch.is_infeasible { cutoff.min(1e20) } else { branch.estimate.min(cutoff) } - objective,
            );
            (score(rises, min_rise), branches)
        } else {
            (expected_score, expected)
        };
        if best.as_ref().is_none_or(|(best_score, _)| score > *best_score) {
            best = Some((score, BranchChoice { col, value, branches }));
            without_gain = 0;
        } else {
            without_gain += 1;
        }
        // One branch is closed, so that branching here leaves a single child.
        if branches.iter().any(|branch| branch.is_infeasible || branch.bound >= cutoff) {
            return Ok(Some(BranchChoice { col, value, branches }));
        }
    }
    Ok(best.map(|(_, choice)| choice))
}

fn probe_both(
    col: usize,
    value: f64,
    pivots: u32,
    context: &BatchContext,
    program: &mut NodeRelaxation,
    samples: &mut Vec<PseudocostSample>,
) -> Result<[BranchEstimate; 2], Error> {
    let objective = program.objective;
    let fraction = value - value.floor();
    let mut branches = [BranchEstimate { bound: program.bound, estimate: objective, is_infeasible: false }; 2];
    for (up, branch) in branches.iter_mut().enumerate() {
        let (lower, upper, distance) = match up {
            0 => (program.lower[col], value.floor(), fraction),
            _ => (value.floor() + 1.0, program.upper[col], 1.0 - fraction),
        };
        match program.probe(col, (lower, upper), pivots, context.root, context.pool)? {
            Probe::Infeasible => branch.is_infeasible = true,
            Probe::Optimum(optimum) => {
                (branch.bound, branch.estimate) = (optimum.max(program.bound), optimum.max(objective))
            }
            Probe::Estimate(estimate) => branch.estimate = estimate,
        }
        let per_unit = (branch.estimate - objective) / distance;
        if !branch.is_infeasible && distance > MIN_BRANCH_DISTANCE && per_unit.is_finite() {
            samples.push(PseudocostSample { col, up: up == 1, per_unit });
        }
    }
    Ok(branches)
}
