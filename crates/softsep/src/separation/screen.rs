//! Bounds that exclude most scenarios of a long list without a recourse solve.
//!
//! Lower bounds: every dual vertex is a minorant of Q over all (x, ξ), so that one matrix product bounds all scenarios,
//! and the largest bounds tell which scenario to solve next. Upper bounds: the basis that solved it gives affine
//! policies for all scenarios (see [`BasisPolicies`]), its own and one that is feasible for all of them. Scenarios
//! whose cost by a policy is at most that of the worst scenario solved are excluded. The next policy has to be feasible
//! for the remaining scenarios only, and is tighter for it.

use std::collections::VecDeque;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::worst::WorstRow;
use crate::definition::ScenarioList;
use crate::model::Problem;
use crate::numeric::dot;
use crate::recourse::{
    Answer, BasisPolicies, BasisPolicy, BasisResponse, Interval, Recourse, RecourseBasis, RecourseError,
    RecourseOutcome,
};
use crate::run::{Clock, Interrupt};

/// The number of open scenarios up to which no further round is made.
const MIN_OPEN: usize = 32;

/// The largest number of rounds in a row that exclude less than an eighth of the open scenarios: some bases give weak
/// policies, and some problems have no others.
const MAX_WEAK_ROUNDS: usize = 4;

/// The largest number of scenarios solved in a round. Each has the largest lower bound, and its dual vertex raises
/// other lower bounds.
const MAX_SOLVES: usize = 16;

/// The largest number of minorants kept.
const MAX_MINORANTS: usize = 32;

/// Scenarios with the largest lower bounds that are solved first.
const FIRST: usize = 256;

/// Scenarios per matrix product.
const BLOCK_SIZE: usize = 256;

/// Minorants of Q, kept across decisions.
pub(super) struct Screen {
    /// The largest absolute value of each entry of ξ over the list.
    reach: Vec<f64>,
    /// The minorants of the last dual vertices and rays.
    minorants: VecDeque<AffineMinorant>,
}

/// An affine function of (x, ξ), from a dual vertex or ray of the recourse.
struct AffineMinorant {
    kind: RecourseOutcome,
    constant: f64,
    slope_x: Vec<f64>,
    slope_xi: Vec<f64>,
}

impl AffineMinorant {
    /// Returns the lower bound on Q where the function has this value.
    fn bound(&self, value: f64) -> f64 {
        match self.kind {
            RecourseOutcome::Solved => value,
            RecourseOutcome::Infeasible if value > 0.0 => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        }
    }
}

/// A scenario that no bound has excluded yet.
#[derive(Debug, Clone, Copy)]
struct OpenScenario {
    row: usize,
    /// A lower bound on its cost.
    lower: f64,
}

/// The query of a scan: the list, the decision and the clock.
#[derive(Clone, Copy)]
pub(super) struct ScanQuery<'a> {
    pub(super) problem: &'a Problem,
    pub(super) points: &'a ScenarioList,
    pub(super) x: &'a [f64],
    /// A scenario that costs more ends the scan.
    pub(super) above: f64,
    pub(super) clock: &'a Clock,
}

impl Screen {
    /// Returns `None` where the problem has no policies from bases, so that every scenario must be solved.
    pub(super) fn new(problem: &Problem, points: &ScenarioList) -> Option<Self> {
        if !BasisPolicies::supports(problem) || points.dim() == 0 {
            return None;
        }
        let mut reach = vec![0.0_f64; points.dim()];
        for point in points.iter() {
            reach.iter_mut().zip(point).for_each(|(reach, entry)| *reach = reach.max(entry.abs()));
        }
        Some(Self { reach, minorants: VecDeque::new() })
    }

    /// Excludes scenarios by bounds, with a few solves by `lead`, and returns the rows that remain open. None remains
    /// after a scenario that ends the scan or has no recourse.
    pub(super) fn settle(
        &mut self,
        query: ScanQuery,
        lead: &mut dyn Recourse,
        worst: &mut WorstRow,
    ) -> Result<Vec<usize>, RecourseError> {
        // A response takes one solve with a basis's factors for each entry of ξ; a known basis answers a scenario with
        // one.
        let min_open = MIN_OPEN.max(query.points.dim());
        let mut open: Vec<OpenScenario> =
            (0..query.points.len()).map(|row| OpenScenario { row, lower: f64::NEG_INFINITY }).collect();
        if open.len() > min_open {
            self.raise_lower_bounds(0, query, &mut open)?;
        }
        let mut policies: Option<BasisPolicies> = None;
        let mut rounds_left = MAX_WEAK_ROUNDS;
        while open.len() > min_open && rounds_left > 0 {
            let before = open.len();
            let start = self.solve_largest(query, lead, worst, &mut open)?;
            if worst.value > query.above || worst.value == f64::INFINITY {
                return Ok(Vec::new());
            }
            let policies = match &mut policies {
                Some(policies) => policies,
                None => policies.insert(BasisPolicies::new(query.problem, query.clock)?),
            };
            if let Some(mut response) = policies.response(&start, &self.reach) {
                settle_by_policies(query, policies, &mut response, worst.tie_level(), &mut open)?;
            }
            rounds_left = if 8 * (before - open.len()) >= before { MAX_WEAK_ROUNDS } else { rounds_left - 1 };
        }
        // The rows with the largest lower bounds first: a scan that may end early meets a bad scenario soon. The others
        // stay in their order, in which neighbours share bases.
        let mut first = open.clone();
        first.sort_by(|a, b| b.lower.total_cmp(&a.lower).then(a.row.cmp(&b.row)));
        first.truncate(FIRST);
        let mut is_first = vec![false; query.points.len()];
        first.iter().for_each(|open| is_first[open.row] = true);
        let rest = open.iter().filter(|open| !is_first[open.row]);
        Ok(first.iter().chain(rest).map(|open| open.row).collect())
    }

    /// Solves the scenario with the largest lower bound, and repeats that while a lower bound is above all costs
    /// solved. Returns the last basis.
    fn solve_largest(
        &mut self,
        query: ScanQuery,
        lead: &mut dyn Recourse,
        worst: &mut WorstRow,
        open: &mut Vec<OpenScenario>,
    ) -> Result<RecourseBasis, RecourseError> {
        for step in 0..MAX_SOLVES {
            let top = open.iter().enumerate().reduce(|top, next| if next.1.lower > top.1.lower { next } else { top });
            let Some((index, &OpenScenario { row, lower })) = top else { break };
            if step > 0 && lower <= worst.tie_level() {
                break;
            }
            open.remove(index);
            let xi = query.points.row(row);
            let answer = worst.solve(row, xi, lead)?;
            if answer.outcome == RecourseOutcome::Unbounded {
                return Ok(RecourseBasis::default());
            }
            self.keep_minorant(answer, xi);
            if answer.outcome == RecourseOutcome::Infeasible || answer.cost > query.above {
                break;
            }
            self.raise_lower_bounds(self.minorants.len() - 1, query, open)?;
        }
        Ok(lead.warm_start())
    }

    /// Keeps the minorant of an answer. A full list drops its oldest one.
    fn keep_minorant(&mut self, answer: &Answer, xi: &[f64]) {
        if self.minorants.len() == MAX_MINORANTS {
            self.minorants.pop_front();
        }
        self.minorants.push_back(AffineMinorant {
            kind: answer.outcome,
            constant: answer.intercept - dot(&answer.slope_xi, xi),
            slope_x: answer.slope_x.clone(),
            slope_xi: answer.slope_xi.clone(),
        });
    }

    /// Raises the lower bounds by the minorants from `first` on.
    fn raise_lower_bounds(&self, first: usize, query: ScanQuery, open: &mut [OpenScenario]) -> Result<(), Interrupt> {
        let minorants: Vec<&AffineMinorant> = self.minorants.iter().skip(first).collect();
        if minorants.is_empty() {
            return Ok(());
        }
        let constants: Vec<f64> =
            minorants.iter().map(|minorant| minorant.constant + dot(&minorant.slope_x, query.x)).collect();
        let columns = 0..query.points.dim();
        let matrix: Vec<f64> =
            columns.flat_map(|col| minorants.iter().map(move |minorant| minorant.slope_xi[col])).collect();
        open.par_chunks_mut(BLOCK_SIZE).try_for_each_init(ProductBuffers::default, |buffers, block| {
            query.clock.check()?;
            let values = buffers.product(&matrix, query.points, block);
            for (open, values) in block.iter_mut().zip(values.chunks_exact(minorants.len())) {
                for ((minorant, constant), value) in minorants.iter().zip(&constants).zip(values) {
                    open.lower = open.lower.max(minorant.bound(constant + value));
                }
            }
            Ok(())
        })
    }
}

/// The costs of policies with a response over a block of scenarios.
struct BlockCosts {
    /// The part of the policy's cost that depends on the scenario; `None` where the policy of the basis excludes it.
    costs: Vec<Option<f64>>,
    /// The ranges of the basic variables' changes over the other scenarios.
    ranges: Vec<Interval>,
}

/// Removes the scenarios whose cost is at most `level` by policies with this response: that of the basis itself, and
/// one whose constant part is feasible for all scenarios that remain.
fn settle_by_policies(
    query: ScanQuery,
    policies: &mut BasisPolicies,
    response: &mut BasisResponse,
    level: f64,
    open: &mut Vec<OpenScenario>,
) -> Result<(), RecourseError> {
    let BasisPolicy { cost: own_cost, feasible_ranges } = policies.policy_of_basis(response, query.x);
    let basics = feasible_ranges.len();
    let blocks: Vec<BlockCosts> = open
        .par_chunks(BLOCK_SIZE)
        .map_init(ProductBuffers::default, |buffers, block| {
            query.clock.check()?;
            let mut ranges = vec![Interval::EMPTY; basics];
            let values = buffers.product(response.slopes(), query.points, block);
            let costs = values.chunks_exact(basics + 1).map(|values| {
                // No early exit: this loop takes most of the time, and branches in it would cost more.
                let inside =
                    |all: bool, (own, value): (&Interval, &f64)| all & (own.lower <= *value) & (*value <= own.upper);
                if own_cost + values[basics] <= level && feasible_ranges.iter().zip(values).fold(true, inside) {
                    return None;
                }
                for (range, &value) in ranges.iter_mut().zip(values) {
                    *range = range.hull(Interval { lower: value, upper: value });
                }
                Some(values[basics])
            });
            Ok(BlockCosts { costs: costs.collect(), ranges })
        })
        .collect::<Result<_, Interrupt>>()?;
    let mut ranges = vec![Interval::EMPTY; basics];
    for block in &blocks {
        ranges.iter_mut().zip(&block.ranges).for_each(|(range, block)| *range = range.hull(*block));
    }
    let are_left = blocks.iter().any(|block| block.costs.iter().any(Option::is_some));
    let offset = if are_left { policies.min_cost_over(response, query.x, &ranges)? } else { None };
    let mut costs = blocks.iter().flat_map(|block| &block.costs);
    open.retain(|_| match (costs.next(), offset) {
        (Some(Some(cost)), Some(offset)) => !(offset + cost <= level),
        (Some(None), _) => false,
        _ => true,
    });
    Ok(())
}

/// Buffers of matrix products, reused between blocks.
#[derive(Default)]
struct ProductBuffers {
    points: Vec<f64>,
    values: Vec<f64>,
}

impl ProductBuffers {
    /// Multiplies a matrix, given by columns, with each scenario of a block: one column of values each.
    fn product(&mut self, matrix: &[f64], points: &ScenarioList, block: &[OpenScenario]) -> &[f64] {
        let (dim, size) = (points.dim(), matrix.len() / points.dim());
        self.points.clear();
        block.iter().for_each(|open| self.points.extend_from_slice(points.row(open.row)));
        self.values.resize(size * block.len(), 0.0);
        matmul(
            MatMut::from_column_major_slice_mut(&mut self.values, size, block.len()),
            Accum::Replace,
            MatRef::from_column_major_slice(matrix, size, dim),
            MatRef::from_column_major_slice(&self.points, dim, block.len()),
            1.0,
            Par::Seq,
        );
        &self.values
    }
}
