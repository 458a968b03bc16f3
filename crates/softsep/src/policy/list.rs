//! Affine policies over a list of scenarios, by constraint generation: each constraint is added for the scenarios at
//! which a policy violates it, until no constraint is violated.

use rayon::prelude::*;

use super::affine_policy::AffinePolicy;
use super::cones::cone_violation;
use super::dependence::Dependence;
use super::program::{Decision, PolicyProgram};
use super::repair::{ProvenPolicy, Repair};
use super::robust::PolicyRegion;
use super::solve::{PolicySolution, PolicyStatus};
use crate::definition::ScenarioList;
use crate::model::Problem;
use crate::numeric::dot;
use crate::recourse::RecourseError;
use crate::run::{Clock, Interrupt};

/// Least number of scenarios that are added to an unbounded program.
const MIN_ADDED_SCENARIOS: usize = 20;

/// Scenarios per unit of parallel work.
const SCENARIOS_PER_CHUNK: usize = 256;

/// Number of list segments from each of which a constraint gets its most violated scenario. Several scenarios per
/// constraint reduce the number of rounds.
const SEGMENTS: usize = 4;

/// Largest violation of a constraint by a policy at a scenario, relative to the size of the constraint.
const VIOLATION_TOL: f64 = 1e-7;

/// The constraints of a program at scenarios; the program grows.
pub(crate) struct ScenarioConstraints<'a> {
    problem: &'a Problem,
    all: &'a ScenarioList,
    /// The indices of the constraints (the cost, then the rows, the variables and the cones), and the scenario of each.
    constraints: Vec<usize>,
    points: ScenarioList,
    /// Number of leading scenarios of the list that are added for all constraints.
    taken: usize,
}

/// A policy with its decision and its claimed largest recourse cost.
struct PolicyClaim<'a> {
    problem: &'a Problem,
    policy: &'a AffinePolicy,
    x: &'a [f64],
    cost: f64,
}

impl<'a> ScenarioConstraints<'a> {
    /// Every constraint at one scenario.
    pub(crate) fn new(problem: &'a Problem, all: &'a ScenarioList, xi: &[f64]) -> Self {
        let constraints: Vec<usize> = (0..constraint_count(problem)).collect();
        let mut points = ScenarioList::new(problem.set.dim());
        constraints.iter().for_each(|_| points.push(xi));
        Self { problem, all, constraints, points, taken: 0 }
    }

    /// The region on which the current program requires feasibility.
    pub(crate) fn region(&self) -> PolicyRegion<'_> {
        PolicyRegion::Points(&self.constraints, &self.points)
    }

    /// Adds the constraints that the solved policy violates, for decision `x` and a claimed recourse cost of at most
    /// `cost`. Returns false if there is nothing to add.
    pub(crate) fn grow(
        &mut self,
        solved: &PolicySolution,
        x: &[f64],
        cost: f64,
        clock: &Clock,
    ) -> Result<bool, Interrupt> {
        let violated: Vec<(usize, usize)> = match solved.status {
            PolicyStatus::Optimal => PolicyClaim { problem: self.problem, policy: &solved.policy, x, cost }
                .largest_violations(self.all, clock)?,
            // A program without an optimum has no policy to check: more scenarios are added for all constraints, while
            // there are any.
            PolicyStatus::Unbounded if self.taken < self.all.len() => {
                let more = self.taken..self.all.len().min(2 * self.taken + MIN_ADDED_SCENARIOS);
                self.taken = more.end;
                more.flat_map(|number| (0..constraint_count(self.problem)).map(move |constraint| (constraint, number)))
                    .collect()
            }
            _ => return Ok(false),
        };
        for &(constraint, number) in &violated {
            self.constraints.push(constraint);
            self.points.push(self.all.row(number));
        }
        Ok(!violated.is_empty())
    }
}

/// Returns the best affine policy of a decision over a list, with its feasibility at every scenario proven; `None` if
/// there is none or none was found.
pub(crate) fn best_policy_over_list(
    problem: &Problem,
    x: &[f64],
    all: &ScenarioList,
    typical: f64,
    clock: &Clock,
) -> Result<Option<ProvenPolicy>, RecourseError> {
    let mut nominal = vec![0.0; problem.set.dim()];
    problem.set.nominal(&mut nominal);
    let dependence = Dependence::full(problem);
    let mut rows = ScenarioConstraints::new(problem, all, &nominal);
    let mut basis = None;
    loop {
        let affine = PolicyProgram::new(problem, rows.region(), &dependence, Decision::Fixed(x))
            .with_size(typical.abs().max(1.0));
        let mut solved = affine.starting_from(basis.as_ref()).solve(clock)?;
        basis = solved.basis.take();
        if !rows.grow(&solved, x, solved.value, clock)? {
            return match solved.status {
                PolicyStatus::Optimal => Ok(Repair::over_list(problem, x, all).run(&solved.policy, clock)?.ok()),
                PolicyStatus::Stopped(stop) => Err(stop.into()),
                PolicyStatus::Infeasible | PolicyStatus::Unbounded | PolicyStatus::Failed(_) => Ok(None),
            };
        }
    }
}

/// Number of constraints per scenario: the cost, the rows, the variables and the cones.
fn constraint_count(problem: &Problem) -> usize {
    1 + problem.recourse.rows() + problem.recourse.dim() + problem.recourse.cones.len()
}

impl PolicyClaim<'_> {
    /// For each constraint that the policy violates at some scenario, returns the scenario with the largest violation
    /// in each segment of the list, as pairs of a constraint and a scenario.
    fn largest_violations(&self, all: &ScenarioList, clock: &Clock) -> Result<Vec<(usize, usize)>, Interrupt> {
        let constraints = constraint_count(self.problem);
        let none = || vec![(VIOLATION_TOL, None); constraints];
        // Chunks of a fixed size are merged in order and the first of equals is kept: the result is independent of
        // threads.
        let chunks: Vec<Vec<(f64, Option<usize>)>> = (0..all.len().div_ceil(SCENARIOS_PER_CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let mut worst = none();
                let mut violations = vec![0.0; constraints];
                for number in chunk * SCENARIOS_PER_CHUNK..all.len().min((chunk + 1) * SCENARIOS_PER_CHUNK) {
                    self.violations(all.row(number), &mut violations);
                    for (worst, &violation) in worst.iter_mut().zip(&violations) {
                        if violation > worst.0 {
                            *worst = (violation, Some(number));
                        }
                    }
                }
                worst
            })
            .collect();
        clock.check()?;
        let mut violated = Vec::new();
        for segment in chunks.chunks(chunks.len().div_ceil(SEGMENTS)) {
            let worst = segment.iter().fold(none(), |mut worst, chunk| {
                for (worst, chunk) in worst.iter_mut().zip(chunk) {
                    if chunk.0 > worst.0 {
                        *worst = *chunk;
                    }
                }
                worst
            });
            violated.extend(
                worst.into_iter().enumerate().filter_map(|(constraint, (_, number))| Some((constraint, number?))),
            );
        }
        Ok(violated)
    }

    /// Writes the violations of the claimed cost, each row, each variable's bounds and each cone at a scenario,
    /// relative to their sizes.
    fn violations(&self, xi: &[f64], violations: &mut [f64]) {
        let recourse = &self.problem.recourse;
        let mut y = vec![0.0; recourse.dim()];
        self.policy.at(xi, &mut y);
        let (cost, rest) = violations.split_at_mut(1);
        let (rows, rest) = rest.split_at_mut(recourse.rows());
        let (variables, cones) = rest.split_at_mut(recourse.dim());
        let linear = dot(&recourse.cost, &y);
        cost[0] = (linear + recourse.quadratic.half_square(&y) - self.cost) / (1.0 + self.cost.abs());
        recourse.shift(self.x, xi, rows);
        for (violation, cone) in cones.iter_mut().zip(&recourse.cones) {
            let entry = |&row: &usize| recourse.g.dot(row, &y) + rows[row] - recourse.offset[row];
            *violation = cone_violation(cone.kind, cone.rows.iter().map(entry).collect());
        }
        for (i, violation) in rows.iter_mut().enumerate() {
            let activity = recourse.g.dot(i, &y) + *violation;
            let size = 1.0 + activity.abs() + violation.abs();
            *violation = (recourse.row_lower[i] - activity).max(activity - recourse.row_upper[i]) / size;
        }
        for (j, violation) in variables.iter_mut().enumerate() {
            *violation = (recourse.lower[j] - y[j]).max(y[j] - recourse.upper[j]) / (1.0 + y[j].abs());
        }
    }
}
