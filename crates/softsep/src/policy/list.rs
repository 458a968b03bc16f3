//! Policies over a list of scenarios: each row is written for the scenarios at which a policy missed it, until none is
//! missed.

use rayon::prelude::*;

use super::affine::{Affine, Decision};
use super::cones::missed_cone;
use super::dependence::Dependence;
use super::repair::{Proved, Repair};
use super::robust::Region;
use super::rule::Policy;
use super::solve::{Ended, Solved};
use crate::definition::ScenarioList;
use crate::model::Problem;
use crate::recourse::RecourseError;
use crate::run::{Clock, Stop};

/// Scenarios of a list that join a program without optimum, at least.
const JOIN: usize = 20;

/// Scenarios that are looked at in one piece.
const CHUNK: usize = 256;

/// Parts of a list that each give a row its worst scenario: some variety, so that fewer rounds are needed.
const SEGMENTS: usize = 4;

/// By how much a policy may miss a row at a scenario.
const MISS: f64 = 1e-7;

/// Rows at scenarios: those of a program, which grows.
pub(crate) struct Rows<'a> {
    problem: &'a Problem,
    all: &'a ScenarioList,
    /// The numbers of the rows (the cost, then the rows, the variables and the cones), and a scenario for each.
    places: Vec<usize>,
    points: ScenarioList,
    /// Scenarios from the beginning of the list that are in for all rows.
    taken: usize,
}

/// What is asked of a policy at a scenario: its decision, and what its recourse costs at most.
struct Promise<'a> {
    problem: &'a Problem,
    policy: &'a Policy,
    x: &'a [f64],
    cost: f64,
}

impl<'a> Rows<'a> {
    /// Every row at one scenario.
    pub(crate) fn new(problem: &'a Problem, all: &'a ScenarioList, xi: &[f64]) -> Self {
        let places: Vec<usize> = (0..places(problem)).collect();
        let mut points = ScenarioList::new(problem.set.dim());
        places.iter().for_each(|_| points.push(xi));
        Self { problem, all, places, points, taken: 0 }
    }

    /// Where a policy must be feasible by now.
    pub(crate) fn region(&self) -> Region<'_> {
        Region::Points(&self.places, &self.points)
    }

    /// Adds what a solved policy of decision `x` misses, which promises a recourse of at most `cost`; `false` if
    /// nothing is left to add.
    pub(crate) fn grow(&mut self, solved: &Solved, x: &[f64], cost: f64, clock: &Clock) -> Result<bool, Stop> {
        let missed: Vec<(usize, usize)> = match solved.ended {
            Ended::Optimal => {
                Promise { problem: self.problem, policy: &solved.policy, x, cost }.worst_misses(self.all, clock)?
            }
            // A relaxation without optimum has no policy that could miss anything: more scenarios in all rows, as long
            // as there are more.
            Ended::Unbounded if self.taken < self.all.len() => {
                let more = self.taken..self.all.len().min(2 * self.taken + JOIN);
                self.taken = more.end;
                more.flat_map(|number| (0..places(self.problem)).map(move |place| (place, number))).collect()
            }
            _ => return Ok(false),
        };
        for &(place, number) in &missed {
            self.places.push(place);
            self.points.push(self.all.row(number));
        }
        Ok(!missed.is_empty())
    }
}

/// The best affine policy of a decision over a list, feasible at every scenario of it for sure; `None` if there is none
/// or none was found.
pub(crate) fn best_over_list(
    problem: &Problem,
    x: &[f64],
    all: &ScenarioList,
    typical: f64,
    clock: &Clock,
) -> Result<Option<Proved>, RecourseError> {
    let mut nominal = vec![0.0; problem.set.dim()];
    problem.set.nominal(&mut nominal);
    let dependence = Dependence::full(problem);
    let mut rows = Rows::new(problem, all, &nominal);
    let mut basis = None;
    loop {
        let affine =
            Affine::new(problem, rows.region(), &dependence, Decision::Fixed(x)).with_size(typical.abs().max(1.0));
        let mut solved = affine.starting_from(basis.as_ref()).solve(clock)?;
        basis = solved.basis.take();
        if !rows.grow(&solved, x, solved.value, clock)? {
            return match solved.ended {
                Ended::Optimal => Repair::over_list(problem, x, all).run(&solved.policy, clock),
                Ended::Stopped(stop) => Err(stop.into()),
                Ended::Infeasible | Ended::Unbounded | Ended::Failed(_) => Ok(None),
            };
        }
    }
}

/// The cost, the rows, the variables and the cones.
fn places(problem: &Problem) -> usize {
    1 + problem.recourse.rows() + problem.recourse.dim() + problem.recourse.cones.len()
}

impl Promise<'_> {
    /// For each row that the policy misses at some scenario of the list, the one at which it misses most in each of a
    /// few segments.
    fn worst_misses(&self, all: &ScenarioList, clock: &Clock) -> Result<Vec<(usize, usize)>, Stop> {
        let places = places(self.problem);
        let none = || vec![(MISS, None); places];
        // Chunks of a fixed size, merged in order, the first of equals kept: the result does not depend on threads.
        let chunks: Vec<Vec<(f64, Option<usize>)>> = (0..all.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let mut worst = none();
                let mut misses = vec![0.0; places];
                for number in chunk * CHUNK..all.len().min((chunk + 1) * CHUNK) {
                    self.misses(all.row(number), &mut misses);
                    for (worst, &miss) in worst.iter_mut().zip(&misses) {
                        if miss > worst.0 {
                            *worst = (miss, Some(number));
                        }
                    }
                }
                worst
            })
            .collect();
        clock.check()?;
        let mut missed = Vec::new();
        for segment in chunks.chunks(chunks.len().div_ceil(SEGMENTS)) {
            let worst = segment.iter().fold(none(), |mut worst, chunk| {
                for (worst, chunk) in worst.iter_mut().zip(chunk) {
                    if chunk.0 > worst.0 {
                        *worst = *chunk;
                    }
                }
                worst
            });
            missed.extend(worst.into_iter().enumerate().filter_map(|(place, (_, number))| Some((place, number?))));
        }
        Ok(missed)
    }

    /// By how much the policy misses its own worst cost, each row, each variable's bounds and each cone at a scenario,
    /// relative to their sizes.
    fn misses(&self, xi: &[f64], misses: &mut [f64]) {
        let recourse = &self.problem.recourse;
        let mut y = vec![0.0; recourse.dim()];
        self.policy.at(xi, &mut y);
        let (cost, rest) = misses.split_at_mut(1);
        let (rows, rest) = rest.split_at_mut(recourse.rows());
        let (variables, cones) = rest.split_at_mut(recourse.dim());
        let linear: f64 = recourse.cost.iter().zip(&y).map(|(cost, y)| cost * y).sum();
        cost[0] = (linear + recourse.quadratic.half_square(&y) - self.cost) / (1.0 + self.cost.abs());
        recourse.shift(self.x, xi, rows);
        for (miss, cone) in cones.iter_mut().zip(&recourse.cones) {
            let entry = |&row: &usize| recourse.g.dot(row, &y) + rows[row] - recourse.offset[row];
            *miss = missed_cone(cone.kind, cone.rows.iter().map(entry).collect());
        }
        for (i, miss) in rows.iter_mut().enumerate() {
            let activity = recourse.g.dot(i, &y) + *miss;
            let size = 1.0 + activity.abs() + miss.abs();
            *miss = (recourse.row_lower[i] - activity).max(activity - recourse.row_upper[i]) / size;
        }
        for (j, miss) in variables.iter_mut().enumerate() {
            *miss = (recourse.lower[j] - y[j]).max(y[j] - recourse.upper[j]) / (1.0 + y[j].abs());
        }
    }
}
