//! Solving the program of an affine policy, and what is made of the answer: at a fixed decision a policy that is
//! feasible for sure, elsewhere what the solver says.

use std::sync::Arc;

use softsep_lp::{Algorithm, Basis, Lp, Model, Status, Toggle};

use super::affine::{Affine, Columns, Decision};
use super::prices::Moments;
use super::repair::{Proved, Repair, Shares};
use super::robust::{Region, Side, Written};
use super::rule::Policy;
use crate::recourse::{ConicProgram, ConicStatus, RecourseError};
use crate::run::{Clock, Stop};

/// The strictest that HiGHS takes.
const STRICT: f64 = 1e-10;

/// A solved program.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    /// How it ended.
    pub(crate) ended: Ended,
    /// The decision, where it was free.
    pub(crate) x: Vec<f64>,
    /// The worst cost of the policy: for sure at a fixed decision over a shape, else by the solver's tolerance. With a
    /// free decision, f(x) included.
    pub(crate) value: f64,
    /// The policy.
    pub(crate) policy: Policy,
    /// The optimal basis, of a linear program over points.
    pub(crate) basis: Option<Basis>,
    /// What the duals say of ξ, where that was asked for.
    pub(crate) moments: Option<Moments>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With the best policy.
    Optimal,
    /// No such policy is feasible for all ξ of the region. That says nothing about other policies.
    Infeasible,
    /// The cost falls without end: the region is empty, or the problem is unbounded.
    Unbounded,
    /// Early, with nothing.
    Stopped(Stop),
    /// The solver failed.
    Failed(String),
}

/// What a solver returned.
struct Point {
    ended: Ended,
    values: Vec<f64>,
    duals: Vec<f64>,
    basis: Option<Basis>,
}

impl Affine<'_> {
    /// Solves.
    pub(crate) fn solve(&self, clock: &Clock) -> Result<Solved, RecourseError> {
        if !self.is_linear() {
            let mut program = ConicProgram::new(0.0);
            let (columns, written) = self.write(&mut program)?;
            let solution = program.solve(clock)?;
            let ended = match solution.status {
                ConicStatus::Solved => Ended::Optimal,
                ConicStatus::Infeasible => Ended::Infeasible,
                ConicStatus::Unbounded => Ended::Unbounded,
                ConicStatus::Stopped(stop) => Ended::Stopped(stop),
                ConicStatus::Failed(why) => Ended::Failed(why),
            };
            let point = Point { ended, values: solution.primal, duals: solution.row_duals, basis: None };
            return self.read(&columns, &written, point, clock);
        }
        let mut model = Model::new();
        let (columns, written) = self.write(&mut model)?;
        if let (Decision::Fixed(_), Region::Shape(_)) = (self.decision, self.region) {
            // What an interior point comes to is repaired anyway: there is no need to go from there to a corner, nor to
            // ask how close it came.
            let point = inside(&model, clock)?;
            if matches!(point.ended, Ended::Optimal | Ended::Stopped(_)) {
                let solved = self.read(&columns, &written, point, clock)?;
                if !matches!(solved.ended, Ended::Failed(_)) {
                    return Ok(solved);
                }
            }
        }
        let point = self.at_a_corner(&model, clock)?;
        self.read(&columns, &written, point, clock)
    }

    /// The optimum at a basis.
    fn at_a_corner(&self, model: &Model, clock: &Clock) -> Result<Point, RecourseError> {
        let mut lp = Lp::new(model)?;
        let integers = matches!(self.decision, Decision::Free) && self.problem.first.has_integers();
        let at_points = matches!(self.region, Region::Points(..)) && !integers;
        // Over shapes these programs are large and degenerate: an interior point is far ahead of simplex. A tree needs
        // simplex, and so do rows that come a few at a time.
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
            lp.set_integrality(STRICT)?;
        }
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        lp.set_time_limit(clock.left())?;
        let mut status = lp.solve()?;
        if !is_definite(status) && clock.check().is_ok() {
            // An interior point that lost its way says nothing; simplex gets there, if later.
            lp.forget()?;
            lp.set_algorithm(Algorithm::DualSimplex)?;
            lp.set_presolve(Toggle::Off)?;
            lp.set_time_limit(clock.left())?;
            status = lp.solve()?;
        }
        if matches!(status, Status::Unbounded | Status::InfeasibleOrUnbounded) && clock.check().is_ok() {
            // Without costs nothing is unbounded: what is feasible then was.
            lp.forget()?;
            lp.set_costs(&vec![0.0; model.cols()])?;
            lp.set_time_limit(clock.left())?;
            status = match lp.solve()? {
                Status::Optimal => Status::Unbounded,
                status => status,
            };
        }
        let mut point = Point::new(model, ended(status, clock));
        if point.ended == Ended::Optimal {
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

    fn read(
        &self,
        columns: &Columns,
        written: &[Written],
        point: Point,
        clock: &Clock,
    ) -> Result<Solved, RecourseError> {
        let mut solved = Solved {
            ended: point.ended.clone(),
            x: Vec::new(),
            value: f64::INFINITY,
            policy: Policy::default(),
            basis: None,
            moments: None,
        };
        if solved.ended != Ended::Optimal {
            return Ok(solved);
        }
        solved.basis = point.basis;
        solved.value = point.values[columns.tau];
        solved.policy = self.policy(columns, &point.values);
        // Duals of cones are not read: what does not follow ξ has no price there.
        let has_prices = self.prices && self.problem.recourse.is_linear();
        solved.moments = has_prices.then(|| Moments::new(self, written, &point.duals));
        match (self.decision, self.region) {
            (Decision::Fixed(x), Region::Shape(shape)) => {
                let shares = written.iter().map(|written| self.shares(written, &point.values)).collect();
                let repair = Repair::over_shape(self.problem, x, shape).with_shares(shares);
                match repair.run(&solved.policy, clock)? {
                    Some(Proved { policy, value }) => (solved.policy, solved.value) = (policy, value),
                    None => {
                        solved.ended = Ended::Failed("what the solver returned could not be made feasible".into());
                        solved.value = f64::INFINITY;
                    }
                }
            }
            (Decision::Fixed(_), Region::Points(..)) => {}
            (Decision::Free | Decision::Around(_), _) => {
                solved.x = point.values[..self.problem.first.dim()].to_vec();
                solved.value += self.problem.first.value(&solved.x);
            }
        }
        Ok(solved)
    }

    fn policy(&self, columns: &Columns, values: &[f64]) -> Policy {
        let mut policy = Policy::default();
        for (&constant, followed) in columns.constant.iter().zip(&self.followed) {
            let coefficients = followed.iter().zip(&values[constant + 1..]);
            let terms: Vec<_> =
                coefficients.map(|(&feature, &coefficient)| (&self.features[feature], coefficient)).collect();
            let (constant, slopes) = self.coordinates.in_entries(values[constant], &terms);
            policy.constant.push(constant);
            policy.slopes.push(slopes);
        }
        policy
    }

    fn shares(&self, written: &Written, values: &[f64]) -> Shares {
        let share = |side: &Option<Side>| {
            let first = side.as_ref()?.share?;
            Some(values[first..first + self.coordinates.dim()].to_vec())
        };
        [share(&written.sides[0]), share(&written.sides[1])]
    }
}

impl Point {
    fn new(model: &Model, ended: Ended) -> Self {
        Self { ended, values: vec![0.0; model.cols()], duals: vec![0.0; model.rows()], basis: None }
    }
}

/// Where an interior point ends.
fn inside(model: &Model, clock: &Clock) -> Result<Point, RecourseError> {
    let mut lp = Lp::new(model)?;
    lp.set_algorithm(Algorithm::InteriorPoint)?;
    lp.set_crossover(false)?;
    lp.set_interrupt(Arc::clone(clock.interrupt()))?;
    lp.set_time_limit(clock.left())?;
    let status = lp.solve()?;
    let mut point = Point::new(model, ended(status, clock));
    lp.primal(&mut point.values)?;
    lp.dual(&mut point.duals)?;
    let is_point = point.values.iter().chain(&point.duals).all(|value| value.is_finite())
        && point.values.iter().any(|&v| v != 0.0);
    if matches!(point.ended, Ended::Failed(_)) && is_point {
        point.ended = Ended::Optimal;
    }
    Ok(point)
}

fn ended(status: Status, clock: &Clock) -> Ended {
    match (status, clock.check()) {
        (Status::Optimal, _) => Ended::Optimal,
        (Status::Infeasible, _) => Ended::Infeasible,
        (Status::Unbounded, _) => Ended::Unbounded,
        (Status::TimeLimit, _) => Ended::Stopped(Stop::TimeLimit),
        (Status::Interrupted, _) => Ended::Stopped(Stop::Interrupted),
        // HiGHS's interior point does not tell an interrupt from a failure.
        (_, Err(stop)) => Ended::Stopped(stop),
        (status, Ok(())) => Ended::Failed(format!("HiGHS ended with {status:?}")),
    }
}

/// Whether a status says what the program is, or that it was stopped.
fn is_definite(status: Status) -> bool {
    !matches!(status, Status::OtherLimit | Status::Failed)
}
