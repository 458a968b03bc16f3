//! The program of the best affine policy `y(ξ) = y₀ + Yξ`, for a fixed decision or jointly with the decision.
//!
//! Its optimal value is an upper bound on the worst case of a fixed decision, or on the optimum of the problem.

use softsep_lp::Basis;

use super::cones::{ConeBlock, ConicCounterpart, QuadraticBound, blocks, require_in_cone, roots};
use super::coordinates::{Feature, PolicyCoordinates};
use super::dependence::Dependence;
use super::robust::{CounterpartRows, Expression, PolicyRegion, RobustCounterpart};
use super::support::SupportRegion;
use super::tightening::ConstraintMargins;
use crate::definition::VariableKind;
use crate::model::Problem;
use crate::recourse::{ProgramBuilder, RecourseError};
use crate::uncertainty::Shape;

/// The first-stage decision of the policy.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decision<'a> {
    /// Fixed to this decision.
    Fixed(&'a [f64]),
    /// Optimised jointly with the policy.
    Free,
    /// Optimised jointly with the policy, with the integer variables fixed to those of this decision.
    FixedIntegers(&'a [f64]),
}

/// The program of the best affine policy over a region.
#[derive(Clone)]
pub(crate) struct PolicyProgram<'a> {
    pub(super) problem: &'a Problem,
    pub(super) region: PolicyRegion<'a>,
    pub(super) decision: Decision<'a>,
    /// The relative gap of a mixed-integer program.
    pub(super) gap: f64,
    /// The approximate recourse cost.
    size: f64,
    /// Whether integrality is as strict as HiGHS allows.
    pub(super) strict: bool,
    /// Whether the reduced measures are computed.
    pub(super) measures: bool,
    /// The basis of the same program over fewer points.
    pub(super) start: Option<&'a Basis>,
    /// By how much constraints are tightened.
    tightening: ConstraintMargins,
    pub(super) coordinates: PolicyCoordinates,
    /// The features that coefficients multiply, and for each recourse variable the features that it depends on.
    pub(super) features: Vec<Feature>,
    pub(super) features_of: Vec<Vec<usize>>,
    /// The region in policy coordinates, if it differs from the region in ξ.
    shape: Option<Shape>,
}

/// The columns of the policy in the program.
pub(super) struct PolicyColumns {
    /// The column of the worst-case recourse cost.
    pub(super) tau: usize,
    /// The column of y₀ⱼ for each j; the columns of its coefficients follow.
    pub(super) constant: Vec<usize>,
}

/// A linear constraint: a function of ξ with its lower and upper bound.
type BoundedExpression = (Expression, (f64, f64));

/// The cone blocks of the recourse, and the bound of a quadratic cost.
type ConicConstraints = (Vec<ConeBlock>, Option<QuadraticBound>);

impl<'a> PolicyProgram<'a> {
    /// Creates the program. The recourse costs must not depend on ξ.
    pub(crate) fn new(
        problem: &'a Problem,
        region: PolicyRegion<'a>,
        dependence: &Dependence,
        decision: Decision<'a>,
    ) -> Self {
        let coordinates = PolicyCoordinates::new(problem, region, dependence);
        Self {
            problem,
            region,
            decision,
            gap: 0.0,
            size: 1.0,
            strict: false,
            measures: false,
            start: None,
            tightening: ConstraintMargins::default(),
            features: coordinates.features(),
            features_of: (0..problem.recourse.dim()).map(|j| coordinates.features_of(dependence, j)).collect(),
            shape: coordinates.shape(),
            coordinates,
        }
    }

    /// Sets the relative gap of a mixed-integer program.
    pub(crate) fn with_gap(self, gap: f64) -> Self {
        Self { gap, ..self }
    }

    /// Sets the approximate recourse cost, which is the unit of a quadratic cost.
    pub(crate) fn with_size(self, size: f64) -> Self {
        Self { size, ..self }
    }

    /// Starts from the optimal basis of the same program over fewer points.
    pub(crate) fn starting_from(self, start: Option<&'a Basis>) -> Self {
        Self { start, ..self }
    }

    /// Uses the strictest integrality tolerance of HiGHS.
    pub(crate) fn with_strict_integrality(self) -> Self {
        Self { strict: true, ..self }
    }

    /// Computes the reduced measures of the recourse variables, which decide where a policy gains from more
    /// coefficients.
    pub(crate) fn with_reduced_measures(self) -> Self {
        Self { measures: true, ..self }
    }

    /// Tightens constraints. The policy is to be feasible without that.
    pub(crate) fn with_tightening(self, tightening: &ConstraintMargins) -> Self {
        Self { tightening: tightening.clone(), ..self }
    }

    /// The same program with another decision.
    pub(super) fn with_decision<'b>(&'b self, decision: Decision<'b>) -> PolicyProgram<'b> {
        PolicyProgram { decision, ..self.clone() }
    }

    pub(super) fn is_free(&self) -> bool {
        !matches!(self.decision, Decision::Fixed(_))
    }

    /// Whether HiGHS solves the program. Clarabel solves quadratic programs faster than HiGHS.
    pub(super) fn is_linear(&self) -> bool {
        let curved = matches!(self.region, PolicyRegion::Shape(shape) if shape.ball.is_some());
        let squared = self.is_free() && !self.problem.first.quadratic.is_zero();
        self.problem.recourse.is_linear() && !curved && !squared
    }

    /// Writes the program. Returns its columns and the rows of each constraint.
    pub(super) fn write(
        &self,
        program: &mut dyn ProgramBuilder,
    ) -> Result<(PolicyColumns, Vec<CounterpartRows>), RecourseError> {
        let (first, recourse) = (&self.problem.first, &self.problem.recourse);
        if self.is_free() {
            for j in 0..first.dim() {
                match self.decision {
                    Decision::FixedIntegers(x) if first.kind[j] != VariableKind::Continuous => {
                        program.col(first.cost[j], x[j], x[j], VariableKind::Continuous)
                    }
                    _ => program.col(first.cost[j], first.lower[j], first.upper[j], first.kind[j]),
                };
            }
            for (i, j, value) in first.quadratic.iter() {
                program.quadratic(i, j, value);
            }
            for i in 0..first.rows.rows() {
                let terms: Vec<_> = first.rows.row(i).collect();
                program.row(first.row_lower[i], first.row_upper[i], &terms);
            }
        }
        let free = |program: &mut dyn ProgramBuilder, cost| {
            program.col(cost, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous)
        };
        let tau = free(program, 1.0);
        let mut constant = Vec::with_capacity(recourse.dim());
        for j in 0..recourse.dim() {
            let features = &self.features_of[j];
            constant.push(match features.is_empty() {
                true => program.col(0.0, recourse.lower[j], recourse.upper[j], VariableKind::Continuous),
                false => free(program, 0.0),
            });
            features.iter().for_each(|_| {
                free(program, 0.0);
            });
        }
        let columns = PolicyColumns { tau, constant };
        let written = self.write_rows(&columns, program)?;
        Ok((columns, written))
    }

    fn write_rows(
        &self,
        columns: &PolicyColumns,
        program: &mut dyn ProgramBuilder,
    ) -> Result<Vec<CounterpartRows>, RecourseError> {
        let rows = self.constraints(columns);
        let mut written: Vec<CounterpartRows> = vec![CounterpartRows::default(); rows.len()];
        for ((expression, (lower, upper)), written) in
            rows.iter().zip(&mut written).filter(|((row, _), _)| row.is_fixed())
        {
            if lower.is_finite() || upper.is_finite() {
                let (constant, terms) = expression.at(&[]);
                written.fixed = Some(program.row(lower - constant, upper - constant, &terms));
            }
        }
        let cones = self.cones(&rows, columns)?;
        match self.region {
            PolicyRegion::Shape(shape) => self.write_over_shape(shape, &rows, &cones, &mut written, program)?,
            PolicyRegion::Points(constraints, points) => {
                write_at_points(constraints.iter().copied().zip(points.iter()), &rows, &cones, program)?;
            }
        }
        Ok(written)
    }

    /// Writes the constraints that depend on ξ for every point of a shape.
    fn write_over_shape(
        &self,
        shape: &Shape,
        rows: &[BoundedExpression],
        (blocks, quadratic): &ConicConstraints,
        written: &mut [CounterpartRows],
        program: &mut dyn ProgramBuilder,
    ) -> Result<(), RecourseError> {
        let shape = self.shape.as_ref().unwrap_or(shape);
        let robust = RobustCounterpart::new(shape);
        for ((expression, sides), written) in rows.iter().zip(written).filter(|((row, _), _)| !row.is_fixed()) {
            *written = robust.between(program, expression, *sides)?;
        }
        if !self.problem.recourse.is_linear() {
            let counterpart = ConicCounterpart::new(SupportRegion::Shape(shape), &vec![0.0; self.coordinates.dim()]);
            blocks.iter().try_for_each(|block| counterpart.require(program, block, 0.0).map(|_| ()))?;
            if let Some(quadratic) = quadratic {
                counterpart.require_quadratic(program, quadratic)?;
            }
        }
        Ok(())
    }

    /// Returns the cone blocks, and the bound of a quadratic cost.
    fn cones(&self, rows: &[BoundedExpression], columns: &PolicyColumns) -> Result<ConicConstraints, RecourseError> {
        let recourse = &self.problem.recourse;
        let along = |terms: &Vec<(usize, f64)>| {
            let mut root = Expression::new(self.coordinates.dim());
            terms.iter().for_each(|&(j, value)| self.add_variable(&mut root, columns, j, value));
            root
        };
        let quadratic = roots(recourse)?.map(|roots| {
            let root: Vec<Expression> = roots.iter().map(along).collect();
            QuadraticBound::new(&rows[0].0, &root, self.size)
        });
        Ok((blocks(recourse, |row| rows[1 + row].0.clone()), quadratic))
    }

    /// Returns the constraints that must hold for all ξ as functions of ξ with their bounds: the cost, the rows, the
    /// variables.
    fn constraints(&self, columns: &PolicyColumns) -> Vec<BoundedExpression> {
        let (recourse, dim) = (&self.problem.recourse, self.coordinates.dim());
        let mut cost = Expression::new(dim);
        cost.terms.push((columns.tau, 1.0));
        for (j, &value) in recourse.cost.iter().enumerate() {
            self.add_variable(&mut cost, columns, j, -value);
        }
        // A quadratic cost is bounded by a cone block instead.
        let least = if recourse.quadratic.is_zero() { 0.0 } else { f64::NEG_INFINITY };
        let mut rows = vec![(cost, (least, f64::INFINITY))];
        for i in 0..recourse.rows() {
            let mut row = Expression::new(dim);
            match self.decision {
                Decision::Fixed(x) => row.constant = recourse.e.dot(i, x),
                Decision::Free | Decision::FixedIntegers(_) => row.terms.extend(recourse.e.row(i)),
            }
            recourse.u.row(i).for_each(|(entry, value)| self.coordinates.add_entry(&mut row, entry, value));
            recourse.g.row(i).for_each(|(j, value)| self.add_variable(&mut row, columns, j, value));
            rows.push((row, self.tightening.sides(1 + i, (recourse.row_lower[i], recourse.row_upper[i]))));
        }
        for j in 0..recourse.dim() {
            let mut variable = Expression::new(dim);
            self.add_variable(&mut variable, columns, j, 1.0);
            // The bounds of a variable that does not depend on ξ are column bounds.
            let sides = match self.features_of[j].is_empty() {
                true => (f64::NEG_INFINITY, f64::INFINITY),
                false => self.tightening.sides(1 + recourse.rows() + j, (recourse.lower[j], recourse.upper[j])),
            };
            rows.push((variable, sides));
        }
        rows
    }

    /// Adds `value·yⱼ(ξ)`, where yⱼ(ξ) is y₀ⱼ plus a coefficient times each feature that it depends on.
    fn add_variable(&self, expression: &mut Expression, columns: &PolicyColumns, j: usize, value: f64) {
        if value == 0.0 {
            return;
        }
        let constant = columns.constant[j];
        expression.terms.push((constant, value));
        for (position, &feature) in self.features_of[j].iter().enumerate() {
            let (column, feature) = (constant + 1 + position, &self.features[feature]);
            expression.terms.push((column, -value * feature.offset));
            expression.add_slope_term(feature.coordinate, column, value * feature.slope);
        }
    }

    /// The point of the region around which robust rows are written, in policy coordinates.
    pub(super) fn base(&self) -> Vec<f64> {
        match (&self.shape, self.region) {
            (Some(_), _) => vec![0.0; self.coordinates.dim()],
            (None, PolicyRegion::Shape(Shape { polytope: Some(polytope), .. })) => polytope.base.clone(),
            (None, PolicyRegion::Shape(Shape { ball: Some(ball), .. })) => ball.center.clone(),
            _ => vec![0.0; self.coordinates.dim()],
        }
    }
}

/// Writes constraints that depend on ξ at given points, as pairs of a constraint and a point.
///
/// The rows are in the order of their addition, so that the basis of an earlier program remains valid for the leading
/// rows.
fn write_at_points<'p>(
    points: impl Iterator<Item = (usize, &'p [f64])>,
    rows: &[BoundedExpression],
    (blocks, quadratic): &ConicConstraints,
    program: &mut dyn ProgramBuilder,
) -> Result<(), RecourseError> {
    for (constraint, xi) in points {
        if let (0, Some(quadratic)) = (constraint, quadratic) {
            let block = quadratic.block();
            require_in_cone(program, block.kind, block.at(xi), 0.0)?;
            continue;
        }
        let Some((expression, (lower, upper))) = rows.get(constraint) else {
            let block = &blocks[constraint - rows.len()];
            require_in_cone(program, block.kind, block.at(xi), 0.0)?;
            continue;
        };
        if !expression.is_fixed() {
            let (constant, terms) = expression.at(xi);
            program.row(lower - constant, upper - constant, &terms);
        }
    }
    Ok(())
}
