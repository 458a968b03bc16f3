//! Solution of the program of an affine policy. For a fixed decision over a shape, the policy is repaired and its
//! feasibility is proven; otherwise it is feasible within the tolerance of the solver.

use std::sync::Arc;

use softsep_lp::{Algorithm, Basis, Lp, Model, Status, Toggle};

use super::affine_policy::AffinePolicy;
use super::program::{Decision, PolicyColumns, PolicyProgram};
use super::reduced_measures::ReducedMeasures;
use super::repair::{BallShares, ProvenPolicy, Repair};
use super::robust::{CounterpartRows, CounterpartSide, PolicyRegion};
use super::tightening::{ConstraintMargins, MAX_TIGHTENINGS, Miss};
use crate::numeric::tolerances::{LP_FEASIBILITY_TOL, STRICT_INTEGRALITY_TOL};
use crate::recourse::{ConicProgram, ConicStatus, ElasticModel, RecourseError, climb_ladder, is_definite};
use crate::run::{Clock, Interrupt};

/// The solution of a policy program.
#[derive(Debug, Clone)]
pub(crate) struct PolicySolution {
    /// The status of the solve.
    pub(crate) status: PolicyStatus,
    /// The decision, if it was optimised.
    pub(crate) x: Vec<f64>,
    /// The worst-case cost of the policy: proven for a fixed decision over a shape, otherwise within the tolerance of
    /// the solver. Includes f(x) if the decision was optimised.
    pub(crate) value: f64,
    /// The policy.
    pub(crate) policy: AffinePolicy,
    /// The optimal basis of a linear program over points.
    pub(crate) basis: Option<Basis>,
    /// The reduced measures of the recourse variables, if they were requested.
    pub(crate) measures: Option<ReducedMeasures>,
    /// The constraints that the repair missed, if it failed.
    pub(crate) misses: Vec<Miss>,
}

/// The status of a policy program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PolicyStatus {
    /// Solved to optimality. With integers over an ellipsoid also: stopped early, with the best policy found.
    Optimal,
    /// No affine policy is feasible for all ξ of the region. Other policies may be.
    Infeasible,
    /// The cost is unbounded below: the region is empty, or the problem is unbounded.
    Unbounded,
    /// Stopped early, without a policy.
    Stopped(Interrupt),
    /// The solver failed.
    Failed(String),
}

/// The point that a solver returned.
#[derive(Debug, Clone)]
pub(super) struct SolverPoint {
    pub(super) status: PolicyStatus,
    pub(super) values: Vec<f64>,
    duals: Vec<f64>,
    basis: Option<Basis>,
}

impl PolicyProgram<'_> {
    /// Solves the program. Constraints that the repair misses are tightened, and the program is solved again. Errs if a
    /// solver fails or the recourse is not supported.
    pub(crate) fn solve(&self, clock: &Clock) -> Result<PolicySolution, RecourseError> {
        let solved = self.solve_as_written(clock)?;
        let mut misses = solved.misses.clone();
        let mut tightening = ConstraintMargins::default();
        for _ in 0..MAX_TIGHTENINGS {
            if !tightening.grow(self.problem, &misses) {
                break;
            }
            let again = self.clone().with_tightening(&tightening).solve_as_written(clock)?;
            if again.status == PolicyStatus::Optimal {
                return Ok(again);
            }
            misses = again.misses;
        }
        Ok(solved)
    }

    fn solve_as_written(&self, clock: &Clock) -> Result<PolicySolution, RecourseError> {
        if !self.is_linear() {
            let (columns, written, point) =
                if self.has_integers() { self.solve_in_tangents(clock)? } else { self.solve_conic(clock)? };
            return self.extract(&columns, &written, point, clock);
        }
        let mut model = Model::new();
        let (columns, written) = self.write(&mut model)?;
        if let (Decision::Fixed(_), PolicyRegion::Shape(_)) = (self.decision, self.region) {
            // The repair does not need a basic or an exactly optimal solution: crossover is skipped, and any interior
            // point is accepted.
            let point = solve_interior_point(&model, clock)?;
            if matches!(point.status, PolicyStatus::Optimal | PolicyStatus::Stopped(_)) {
                let solved = self.extract(&columns, &written, point, clock)?;
                if !matches!(solved.status, PolicyStatus::Failed(_)) {
                    return Ok(solved);
                }
            }
        }
        let point = self.solve_to_basis(&model, clock)?;
        self.extract(&columns, &written, point, clock)
    }

    /// Whether the program has integer columns.
    fn has_integers(&self) -> bool {
        matches!(self.decision, Decision::Free) && self.problem.first.has_integers()
    }

    /// Solves the conic program, whose integer columns are continuous.
    pub(super) fn solve_conic(
        &self,
        clock: &Clock,
    ) -> Result<(PolicyColumns, Vec<CounterpartRows>, SolverPoint), RecourseError> {
        let mut program = ConicProgram::new(0.0);
        let (columns, written) = self.write(&mut program)?;
        let solution = program.solve(clock)?;
        let status = match solution.status {
            ConicStatus::Solved => PolicyStatus::Optimal,
            ConicStatus::Infeasible => PolicyStatus::Infeasible,
            ConicStatus::Unbounded => PolicyStatus::Unbounded,
            ConicStatus::Stopped(stop) => PolicyStatus::Stopped(stop),
            ConicStatus::Inexact(why) | ConicStatus::Failed(why) => PolicyStatus::Failed(why),
        };
        let point = SolverPoint { status, values: solution.primal, duals: solution.row_duals, basis: None };
        Ok((columns, written, point))
    }

    /// Solves the linear program to an optimal basis.
    pub(super) fn solve_to_basis(&self, model: &Model, clock: &Clock) -> Result<SolverPoint, RecourseError> {
        let mut lp = Lp::new(model)?;
        let integers = self.has_integers();
        let at_points = matches!(self.region, PolicyRegion::Points(..)) && !integers;
        // Over shapes these programs are large and degenerate, and an interior point method is far faster than simplex.
        // A mixed-integer program needs simplex, and so do programs that grow by a few rows at a time.
        lp.set_algorithm(match (integers, at_points) {
            (true, _) => Algorithm::Choose,
            (_, true) => Algorithm::DualSimplex,
            _ => Algorithm::InteriorPoint,
        })?;
        if let Some(start) = self.start.filter(|_| at_points) {
            let rows = lp.rows();
            lp.set_basis(&start.extended(rows))?;
        }
        lp.set_mip_gap(self.gap)?;
        if self.strict {
            lp.set_integrality(STRICT_INTEGRALITY_TOL)?;
        }
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        lp.set_time_limit(clock.left())?;
        let mut status = lp.solve()?;
        if !is_definite(status) && clock.check().is_ok() {
            // An interior point method that fails numerically proves nothing; simplex is slower but reliable.
            lp.clear_solver()?;
            lp.set_algorithm(Algorithm::DualSimplex)?;
            lp.set_presolve(Toggle::Off)?;
            lp.set_time_limit(clock.left())?;
            status = lp.solve()?;
        }
        if !integers {
            status = climb_ladder(&mut lp, status, clock)?;
        }
        if matches!(status, Status::Unbounded | Status::InfeasibleOrUnbounded) && clock.check().is_ok() {
            // Without costs no program is unbounded, so that an optimum proves feasibility.
            lp.clear_solver()?;
            lp.set_costs(&vec![0.0; model.cols()])?;
            lp.set_time_limit(clock.left())?;
            status = lp.solve()?;
            status = match climb_ladder(&mut lp, status, clock)? {
                Status::Optimal => Status::Unbounded,
                status => status,
            };
        }
        let mut point = SolverPoint::new(model, policy_status(status, clock));
        if matches!(point.status, PolicyStatus::Failed(_)) && self.is_linear() && self.is_contradictory(clock)? {
            point.status = PolicyStatus::Infeasible;
        }
        if point.status == PolicyStatus::Optimal {
            lp.primal(&mut point.values)?;
            if !integers {
                lp.dual(&mut point.duals)?;
            }
            if at_points && lp.has_basis() {
                lp.basis(point.basis.insert(Basis::default()))?;
            }
        }
        Ok(point)
    }

    /// Whether the rows of the linear program contradict one another. HiGHS may end without a status where its own
    /// proof of that does not meet its tolerances.
    fn is_contradictory(&self, clock: &Clock) -> Result<bool, RecourseError> {
        let mut elastic = ElasticModel::default();
        self.write(&mut elastic)?;
        let mut lp = Lp::new(&elastic.finish())?;
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        lp.set_time_limit(clock.left())?;
        Ok(lp.solve()? == Status::Optimal && lp.objective() > LP_FEASIBILITY_TOL)
    }

    fn extract(
        &self,
        columns: &PolicyColumns,
        written: &[CounterpartRows],
        point: SolverPoint,
        clock: &Clock,
    ) -> Result<PolicySolution, RecourseError> {
        let mut solved = PolicySolution {
            status: point.status.clone(),
            x: Vec::new(),
            value: f64::INFINITY,
            policy: AffinePolicy::default(),
            basis: None,
            measures: None,
            misses: Vec::new(),
        };
        if solved.status != PolicyStatus::Optimal {
            return Ok(solved);
        }
        solved.basis = point.basis;
        solved.value = point.values[columns.tau];
        solved.policy = self.policy(columns, &point.values);
        // Duals of cones are not read, so that variables of a conic recourse have no prices.
        let has_measures = self.measures && self.problem.recourse.is_linear();
        solved.measures = has_measures.then(|| ReducedMeasures::new(self, written, &point.duals));
        match (self.decision, self.region) {
            (Decision::Fixed(x), PolicyRegion::Shape(shape)) => {
                let shares = written.iter().map(|written| self.shares(written, &point.values)).collect();
                let repair = Repair::over_shape(self.problem, x, shape).with_shares(shares);
                match repair.run(&solved.policy, clock)? {
                    Ok(ProvenPolicy { policy, value }) => (solved.policy, solved.value) = (policy, value),
                    Err(misses) => {
                        solved.misses = misses;
                        solved.status = PolicyStatus::Failed("the solver's policy could not be made feasible".into());
                        solved.value = f64::INFINITY;
                    }
                }
            }
            (Decision::Fixed(_), PolicyRegion::Points(..)) => {}
            (Decision::Free | Decision::FixedIntegers(_), _) => {
                solved.x = point.values[..self.problem.first.dim()].to_vec();
                solved.value += self.problem.first.value(&solved.x);
            }
        }
        Ok(solved)
    }

    fn policy(&self, columns: &PolicyColumns, values: &[f64]) -> AffinePolicy {
        let mut policy = AffinePolicy::default();
        for (&constant, features) in columns.constant.iter().zip(&self.features_of) {
            let coefficients = features.iter().zip(&values[constant + 1..]);
            let terms: Vec<_> =
                coefficients.map(|(&feature, &coefficient)| (&self.features[feature], coefficient)).collect();
            let (constant, slopes) = self.coordinates.in_entries(values[constant], &terms);
            policy.constant.push(constant);
            policy.slopes.push(slopes);
        }
        policy
    }

    fn shares(&self, written: &CounterpartRows, values: &[f64]) -> BallShares {
        let share = |side: &Option<CounterpartSide>| {
            let first = side.as_ref()?.share?;
            Some(values[first..first + self.coordinates.dim()].to_vec())
        };
        [share(&written.sides[0]), share(&written.sides[1])]
    }
}

impl SolverPoint {
    fn new(model: &Model, status: PolicyStatus) -> Self {
        Self { status, values: vec![0.0; model.cols()], duals: vec![0.0; model.rows()], basis: None }
    }
}

/// Returns the final point of an interior point method without crossover.
fn solve_interior_point(model: &Model, clock: &Clock) -> Result<SolverPoint, RecourseError> {
    let mut lp = Lp::new(model)?;
    lp.set_algorithm(Algorithm::InteriorPoint)?;
    lp.set_crossover(false)?;
    lp.set_interrupt(Arc::clone(clock.interrupt()))?;
    lp.set_time_limit(clock.left())?;
    let status = lp.solve()?;
    let mut point = SolverPoint::new(model, policy_status(status, clock));
    lp.primal(&mut point.values)?;
    lp.dual(&mut point.duals)?;
    let is_point = point.values.iter().chain(&point.duals).all(|value| value.is_finite())
        && point.values.iter().any(|&v| v != 0.0);
    if matches!(point.status, PolicyStatus::Failed(_)) && is_point {
        point.status = PolicyStatus::Optimal;
    }
    Ok(point)
}

fn policy_status(status: Status, clock: &Clock) -> PolicyStatus {
    match (status, clock.check()) {
        (Status::Optimal, _) => PolicyStatus::Optimal,
        (Status::Infeasible, _) => PolicyStatus::Infeasible,
        (Status::Unbounded, _) => PolicyStatus::Unbounded,
        (Status::TimeLimit, _) => PolicyStatus::Stopped(Interrupt::TimeLimit),
        (Status::Interrupted, _) => PolicyStatus::Stopped(Interrupt::Interrupted),
        // The interior point method of HiGHS does not distinguish an interrupt from a failure.
        (_, Err(stop)) => PolicyStatus::Stopped(stop),
        (status, Ok(())) => PolicyStatus::Failed(format!("HiGHS ended with {status:?}")),
    }
}
