//! Screens of a long list: bounds that settle most scenarios without a solve of their own.
//!
//! From below: every dual vertex met so far bounds Q at every (x, ξ), so that one matrix product bounds all scenarios
//! and tells which to solve next. From above: the basis that solved it answers all scenarios by affine decision rules
//! (see [`BasisPolicies`]), its own and one that holds for all of them; what these keep at the level of the worst scenario
//! solved or below is settled. The next rule has to hold only for what is left, and is the better for it.

use std::collections::VecDeque;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::worst::Worst;
use crate::definition::ScenarioList;
use crate::model::Problem;
use crate::numeric::dot;
use crate::recourse::{
    Answer, BasisPolicies, BasisPolicy, BasisResponse, Interval, Outcome, Recourse, RecourseBasis, RecourseError,
};
use crate::run::{Clock, Interrupt};

/// Scenarios that are not worth a round.
const FEW: usize = 32;

/// Rounds in a row that may settle less than an eighth of what is left: some bases make bad rules, and some problems
/// have none.
const PATIENCE: usize = 4;

/// Scenarios that one round solves at most: each has the largest lower bound, and its dual raises those of others.
const CLIMB: usize = 16;

/// Dual vertices that are kept.
const PIECES: usize = 32;

/// Scenarios with the largest lower bounds that are solved first.
const FIRST: usize = 256;

/// Scenarios in one product.
const BLOCK: usize = 256;

/// What is known about Q across decisions.
pub(super) struct Screen {
    /// The size of each entry of ξ over the list.
    reach: Vec<f64>,
    /// The last dual vertices and rays met.
    pieces: VecDeque<Piece>,
}

/// An affine function of (x, ξ) that a solve has proved.
struct Piece {
    kind: Outcome,
    constant: f64,
    slope_x: Vec<f64>,
    slope_xi: Vec<f64>,
}

impl Piece {
    /// What Q is at least where the function has this value.
    fn bound(&self, value: f64) -> f64 {
        match self.kind {
            Outcome::Solved => value,
            Outcome::Infeasible if value > 0.0 => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        }
    }
}

/// A scenario that is not settled yet.
#[derive(Debug, Clone, Copy)]
struct Open {
    row: usize,
    /// What Q is at least.
    lower: f64,
}

/// One separation: the list, the decision and the clock.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) problem: &'a Problem,
    pub(super) points: &'a ScenarioList,
    pub(super) x: &'a [f64],
    /// A scenario that costs more ends the scan.
    pub(super) above: f64,
    pub(super) clock: &'a Clock,
}

impl Screen {
    /// `None` where nothing but a solve settles a scenario.
    pub(super) fn new(problem: &Problem, points: &ScenarioList) -> Option<Self> {
        if !BasisPolicies::supports(problem) || points.dim() == 0 {
            return None;
        }
        let mut reach = vec![0.0_f64; points.dim()];
        for point in points.iter() {
            reach.iter_mut().zip(point).for_each(|(reach, entry)| *reach = reach.max(entry.abs()));
        }
        Some(Self { reach, pieces: VecDeque::new() })
    }

    /// Settles scenarios by bounds, with a few solves by `lead`, and returns the rows that are left. No row is left where a
    /// scenario is met that ends the scan, or one without recourse: none is worse.
    pub(super) fn settle(
        &mut self,
        question: Question,
        lead: &mut dyn Recourse,
        worst: &mut Worst,
    ) -> Result<Vec<usize>, RecourseError> {
        // A response costs as many solves with a basis's factors as ξ has entries; a known basis answers a scenario
        // with one.
        let few = FEW.max(question.points.dim());
        let mut open: Vec<Open> =
            (0..question.points.len()).map(|row| Open { row, lower: f64::NEG_INFINITY }).collect();
        if open.len() > few {
            self.raise(0, question, &mut open)?;
        }
        let mut policies: Option<BasisPolicies> = None;
        let mut patience = PATIENCE;
        while open.len() > few && patience > 0 {
            let before = open.len();
            let start = self.climb(question, lead, worst, &mut open)?;
            if worst.value > question.above || worst.value == f64::INFINITY {
                return Ok(Vec::new());
            }
            let policies = match &mut policies {
                Some(policies) => policies,
                None => policies.insert(BasisPolicies::new(question.problem, question.clock)?),
            };
            if let Some(mut response) = policies.response(&start, &self.reach) {
                rule_out(question, policies, &mut response, worst.level(), &mut open)?;
            }
            patience = if 8 * (before - open.len()) >= before { PATIENCE } else { patience - 1 };
        }
        // The rows with the largest lower bounds first: a scan that may end early meets a bad scenario soon. The others stay in
        // their order, in which neighbours share bases.
        let mut first = open.clone();
        first.sort_by(|a, b| b.lower.total_cmp(&a.lower).then(a.row.cmp(&b.row)));
        first.truncate(FIRST);
        let mut is_first = vec![false; question.points.len()];
        first.iter().for_each(|open| is_first[open.row] = true);
        let rest = open.iter().filter(|open| !is_first[open.row]);
        Ok(first.iter().chain(rest).map(|open| open.row).collect())
    }

    /// Solves the scenario with the largest lower bound, and again while one must be worse than all solved. Returns the
    /// last basis.
    fn climb(
        &mut self,
        question: Question,
        lead: &mut dyn Recourse,
        worst: &mut Worst,
        open: &mut Vec<Open>,
    ) -> Result<RecourseBasis, RecourseError> {
        for step in 0..CLIMB {
            let top = open.iter().enumerate().reduce(|top, next| if next.1.lower > top.1.lower { next } else { top });
            let Some((place, &Open { row, lower })) = top else { break };
            if step > 0 && lower <= worst.level() {
                break;
            }
            open.remove(place);
            let xi = question.points.row(row);
            let answer = worst.meet(row, xi, lead)?;
            if answer.outcome == Outcome::Unbounded {
                return Ok(RecourseBasis::default());
            }
            self.learn(answer, xi);
            if answer.outcome == Outcome::Infeasible || answer.cost > question.above {
                break;
            }
            self.raise(self.pieces.len() - 1, question, open)?;
        }
        Ok(lead.warm_start())
    }

    /// Keeps what a solve has proved, in place of what is oldest.
    fn learn(&mut self, answer: &Answer, xi: &[f64]) {
        if self.pieces.len() == PIECES {
            self.pieces.pop_front();
        }
        self.pieces.push_back(Piece {
            kind: answer.outcome,
            constant: answer.intercept - dot(&answer.slope_xi, xi),
            slope_x: answer.slope_x.clone(),
            slope_xi: answer.slope_xi.clone(),
        });
    }

    /// Raises the lower bounds by the pieces from `first` on.
    fn raise(&self, first: usize, question: Question, open: &mut [Open]) -> Result<(), Interrupt> {
        let pieces: Vec<&Piece> = self.pieces.iter().skip(first).collect();
        if pieces.is_empty() {
            return Ok(());
        }
        let constants: Vec<f64> = pieces.iter().map(|piece| piece.constant + dot(&piece.slope_x, question.x)).collect();
        let columns = 0..question.points.dim();
        let matrix: Vec<f64> = columns.flat_map(|col| pieces.iter().map(move |piece| piece.slope_xi[col])).collect();
        open.par_chunks_mut(BLOCK).try_for_each_init(Room::default, |room, block| {
            question.clock.check()?;
            let values = room.product(&matrix, question.points, block);
            for (open, values) in block.iter_mut().zip(values.chunks_exact(pieces.len())) {
                for ((piece, constant), value) in pieces.iter().zip(&constants).zip(values) {
                    open.lower = open.lower.max(piece.bound(constant + value));
                }
            }
            Ok(())
        })
    }
}

/// What one block of scenarios says of a response.
struct Block {
    /// What each scenario adds to the cost of the rule; `None` where the basis itself settles it.
    costs: Vec<Option<f64>>,
    /// What the rule must bear for the others.
    ranges: Vec<Interval>,
}

/// Takes out the scenarios that rules with this response keep at or below `level`.
fn rule_out(
    question: Question,
    policies: &mut BasisPolicies,
    response: &mut BasisResponse,
    level: f64,
    open: &mut Vec<Open>,
) -> Result<(), RecourseError> {
    let BasisPolicy { cost: own_cost, feasible_ranges } = policies.policy_of_basis(response, question.x);
    let basics = feasible_ranges.len();
    let blocks: Vec<Block> = open
        .par_chunks(BLOCK)
        .map_init(Room::default, |room, block| {
            question.clock.check()?;
            let mut ranges = vec![Interval::EMPTY; basics];
            let values = room.product(response.slopes(), question.points, block);
            let costs = values.chunks_exact(basics + 1).map(|values| {
                // No early way out: this is the loop that counts.
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
            Ok(Block { costs: costs.collect(), ranges })
        })
        .collect::<Result<_, Interrupt>>()?;
    let mut ranges = vec![Interval::EMPTY; basics];
    for block in &blocks {
        ranges.iter_mut().zip(&block.ranges).for_each(|(range, block)| *range = range.hull(*block));
    }
    let are_left = blocks.iter().any(|block| block.costs.iter().any(Option::is_some));
    let offset = if are_left { policies.min_cost_over(response, question.x, &ranges)? } else { None };
    let mut costs = blocks.iter().flat_map(|block| &block.costs);
    open.retain(|_| match (costs.next(), offset) {
        (Some(Some(cost)), Some(offset)) => !(offset + cost <= level),
        (Some(None), _) => false,
        _ => true,
    });
    Ok(())
}

/// The room that products use again.
#[derive(Default)]
struct Room {
    points: Vec<f64>,
    values: Vec<f64>,
}

impl Room {
    /// A matrix, given by columns, times each scenario of a block: one column of values each.
    fn product(&mut self, matrix: &[f64], points: &ScenarioList, block: &[Open]) -> &[f64] {
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
