//! Affine policies `y(ξ) = y₀ + Yξ`: the best one for a fixed decision or together with one, as one program.
//!
//! Its value is an upper bound: on the worst case of a fixed decision, or on the optimum of the problem.

use softsep_lp::Basis;

use super::cones::{Block, Counterpart, Square, blocks, in_cone, roots};
use super::coordinates::{Coordinates, Feature};
use super::dependence::Dependence;
use super::robust::{Expression, Region, Robust, Written};
use super::support::Ground;
use crate::definition::VariableKind;
use crate::model::Problem;
use crate::recourse::{Program, RecourseError};
use crate::uncertainty::Shape;

/// Whose policy it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decision<'a> {
    /// Of this decision.
    Fixed(&'a [f64]),
    /// Of the best decision for policies of this kind.
    Free,
    /// Of the best such decision that has the integers of this one.
    Around(&'a [f64]),
}

/// The program of the best affine policy over a region.
pub(crate) struct Affine<'a> {
    pub(super) problem: &'a Problem,
    pub(super) region: Region<'a>,
    pub(super) decision: Decision<'a>,
    pub(super) gap: f64,
    size: f64,
    pub(super) strict: bool,
    pub(super) prices: bool,
    pub(super) start: Option<&'a Basis>,
    pub(super) coordinates: Coordinates,
    /// What coefficients multiply, and for each recourse variable which of these it has coefficients for.
    pub(super) features: Vec<Feature>,
    pub(super) followed: Vec<Vec<usize>>,
    /// The region in the coordinates, where that is another shape than in ξ.
    shape: Option<Shape>,
}

/// Where the columns are.
pub(super) struct Columns {
    pub(super) tau: usize,
    /// The column of y₀ⱼ; those of its coefficients follow it.
    pub(super) constant: Vec<usize>,
}

impl<'a> Affine<'a> {
    /// The costs of the problem's recourse must not move with ξ.
    pub(crate) fn new(
        problem: &'a Problem,
        region: Region<'a>,
        dependence: &Dependence,
        decision: Decision<'a>,
    ) -> Self {
        let coordinates = Coordinates::new(problem, region, dependence);
        Self {
            problem,
            region,
            decision,
            gap: 0.0,
            size: 1.0,
            strict: false,
            prices: false,
            start: None,
            features: coordinates.features(),
            followed: (0..problem.recourse.dim()).map(|j| coordinates.followed(dependence, j)).collect(),
            shape: coordinates.shape(),
            coordinates,
        }
    }

    /// The relative gap to which a mixed-integer program is solved.
    pub(crate) fn with_gap(self, gap: f64) -> Self {
        Self { gap, ..self }
    }

    /// What the recourse costs, about: the unit of a quadratic cost.
    pub(crate) fn with_size(self, size: f64) -> Self {
        Self { size, ..self }
    }

    /// Starts from the optimal basis of the same program over fewer points.
    pub(crate) fn starting_from(self, start: Option<&'a Basis>) -> Self {
        Self { start, ..self }
    }

    /// Integers as whole as HiGHS can make them.
    pub(crate) fn strictly(self) -> Self {
        Self { strict: true, ..self }
    }

    /// With what the duals say of ξ, for whoever lets the policy grow.
    pub(crate) fn with_prices(self) -> Self {
        Self { prices: true, ..self }
    }

    pub(super) fn is_free(&self) -> bool {
        !matches!(self.decision, Decision::Fixed(_))
    }

    /// Whether HiGHS takes it. Its quadratic solver is no match for Clarabel's.
    pub(super) fn is_linear(&self) -> bool {
        let curved = matches!(self.region, Region::Shape(shape) if shape.ball.is_some());
        let squared = self.is_free() && !self.problem.first.quadratic.is_zero();
        self.problem.recourse.is_linear() && !curved && !squared
    }

    /// Writes the program; where its columns are, and where the rows of each place.
    pub(super) fn write(&self, program: &mut dyn Program) -> Result<(Columns, Vec<Written>), RecourseError> {
        let (first, recourse) = (&self.problem.first, &self.problem.recourse);
        if self.is_free() {
            for j in 0..first.dim() {
                match self.decision {
                    Decision::Around(x) if first.kind[j] != VariableKind::Continuous => {
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
        let free = |program: &mut dyn Program, cost| {
            program.col(cost, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous)
        };
        let tau = free(program, 1.0);
        let mut constant = Vec::with_capacity(recourse.dim());
        for j in 0..recourse.dim() {
            let follows = &self.followed[j];
            constant.push(match follows.is_empty() {
                true => program.col(0.0, recourse.lower[j], recourse.upper[j], VariableKind::Continuous),
                false => free(program, 0.0),
            });
            follows.iter().for_each(|_| {
                free(program, 0.0);
            });
        }
        let columns = Columns { tau, constant };
        let written = self.write_rows(&columns, program)?;
        Ok((columns, written))
    }

    fn write_rows(&self, columns: &Columns, program: &mut dyn Program) -> Result<Vec<Written>, RecourseError> {
        let rows = self.rows(columns);
        let mut written: Vec<Written> = vec![Written::default(); rows.len()];
        for ((expression, (lower, upper)), written) in
            rows.iter().zip(&mut written).filter(|((row, _), _)| row.is_fixed())
        {
            if lower.is_finite() || upper.is_finite() {
                let (constant, terms) = expression.at(&[]);
                written.fixed = Some(program.row(lower - constant, upper - constant, &terms));
            }
        }
        let (cones, square) = self.cones(&rows, columns)?;
        match self.region {
            Region::Shape(shape) => {
                let shape = self.shape.as_ref().unwrap_or(shape);
                let robust = Robust::new(shape);
                for ((expression, sides), written) in
                    rows.iter().zip(&mut written).filter(|((row, _), _)| !row.is_fixed())
                {
                    *written = robust.between(program, expression, *sides)?;
                }
                if !self.problem.recourse.is_linear() {
                    let counterpart = Counterpart::new(Ground::Shape(shape), &vec![0.0; self.coordinates.dim()]);
                    cones.iter().try_for_each(|block| counterpart.hold(program, block, 0.0).map(|_| ()))?;
                    if let Some(square) = &square {
                        counterpart.hold_square(program, square)?;
                    }
                }
            }
            // In the order in which they came, so that a basis of the program before they came is still at its head.
            Region::Points(places, points) => {
                for (&place, xi) in places.iter().zip(points.iter()) {
                    if let (0, Some(square)) = (place, &square) {
                        let block = square.block();
                        in_cone(program, block.kind, block.at(xi), 0.0)?;
                        continue;
                    }
                    let Some((expression, (lower, upper))) = rows.get(place) else {
                        let block = &cones[place - rows.len()];
                        in_cone(program, block.kind, block.at(xi), 0.0)?;
                        continue;
                    };
                    if !expression.is_fixed() {
                        let (constant, terms) = expression.at(xi);
                        program.row(lower - constant, upper - constant, &terms);
                    }
                }
            }
        }
        Ok(written)
    }

    /// The cones over rows, and a quadratic cost.
    fn cones(
        &self,
        rows: &[(Expression, (f64, f64))],
        columns: &Columns,
    ) -> Result<(Vec<Block>, Option<Square>), RecourseError> {
        let recourse = &self.problem.recourse;
        let along = |terms: &Vec<(usize, f64)>| {
            let mut root = Expression::new(self.coordinates.dim());
            terms.iter().for_each(|&(j, value)| self.add_variable(&mut root, columns, j, value));
            root
        };
        let square = roots(recourse)?.map(|roots| {
            let root: Vec<Expression> = roots.iter().map(along).collect();
            Square::new(&rows[0].0, &root, self.size)
        });
        Ok((blocks(recourse, |row| rows[1 + row].0.clone()), square))
    }

    /// What must hold for all ξ, as functions of ξ and what they lie between: the cost, the rows, the variables.
    fn rows(&self, columns: &Columns) -> Vec<(Expression, (f64, f64))> {
        let (recourse, dim) = (&self.problem.recourse, self.coordinates.dim());
        let mut cost = Expression::new(dim);
        cost.terms.push((columns.tau, 1.0));
        for (j, &value) in recourse.cost.iter().enumerate() {
            self.add_variable(&mut cost, columns, j, -value);
        }
        // A quadratic cost has a cone of its own.
        let least = if recourse.quadratic.is_zero() { 0.0 } else { f64::NEG_INFINITY };
        let mut rows = vec![(cost, (least, f64::INFINITY))];
        for i in 0..recourse.rows() {
            let mut row = Expression::new(dim);
            match self.decision {
                Decision::Fixed(x) => row.constant = recourse.e.dot(i, x),
                Decision::Free | Decision::Around(_) => row.terms.extend(recourse.e.row(i)),
            }
            recourse.u.row(i).for_each(|(entry, value)| self.coordinates.add_entry(&mut row, entry, value));
            recourse.g.row(i).for_each(|(j, value)| self.add_variable(&mut row, columns, j, value));
            rows.push((row, (recourse.row_lower[i], recourse.row_upper[i])));
        }
        for j in 0..recourse.dim() {
            let mut variable = Expression::new(dim);
            self.add_variable(&mut variable, columns, j, 1.0);
            // A variable that follows nothing has its bounds as a column.
            let is_column = self.followed[j].is_empty();
            let sides =
                if is_column { (f64::NEG_INFINITY, f64::INFINITY) } else { (recourse.lower[j], recourse.upper[j]) };
            rows.push((variable, sides));
        }
        rows
    }

    /// Adds `value·yⱼ(ξ)`, where yⱼ(ξ) is y₀ⱼ and a coefficient for each feature that it follows.
    fn add_variable(&self, expression: &mut Expression, columns: &Columns, j: usize, value: f64) {
        if value == 0.0 {
            return;
        }
        let constant = columns.constant[j];
        expression.terms.push((constant, value));
        for (place, &followed) in self.followed[j].iter().enumerate() {
            let (column, feature) = (constant + 1 + place, &self.features[followed]);
            expression.terms.push((column, -value * feature.offset));
            expression.add_slope_term(feature.coordinate, column, value * feature.slope);
        }
    }

    /// The point of the region that robust rows are written around, in the coordinates.
    pub(super) fn base(&self) -> Vec<f64> {
        match (&self.shape, self.region) {
            (Some(_), _) => vec![0.0; self.coordinates.dim()],
            (None, Region::Shape(Shape { polytope: Some(polytope), .. })) => polytope.base.clone(),
            (None, Region::Shape(Shape { ball: Some(ball), .. })) => ball.center.clone(),
            _ => vec![0.0; self.coordinates.dim()],
        }
    }
}
