//! Robust counterparts of linear rows: rows that must hold for every ξ of a shape, by linear and second-order cone
//! duality.
//!
//! `a₀ + aᵀξ ≥ bound` for all ξ is `a₀ − bound ≥ max −aᵀξ`. Over the polytope `ξ = base + Sζ, ζ ≥ 0, Bζ ≤ c` the
//! maximum is `−aᵀbase + min { cᵀλ : Bᵀλ ≥ −Sᵀa, λ ≥ 0 }`. Over the ball `ξ = center + Au` it is `−aᵀcenter + ‖Aᵀa‖`.
//! Over the intersection of both, a is split between the two. Every feasible λ and every split proves the row, so that
//! the row holds for any point that the solver returns.

use crate::definition::{ConeKind, ScenarioList, VariableKind};
use crate::recourse::{ProgramBuilder, RecourseError, merged};
use crate::uncertainty::{Ball, Polytope, Shape};

/// An affine function of ξ whose coefficients are linear in the columns of a program.
#[derive(Debug, Clone, Default)]
pub(super) struct Expression {
    pub(super) constant: f64,
    pub(super) terms: Vec<(usize, f64)>,
    /// The slope in each entry of ξ, as a number and terms.
    slopes: Vec<(f64, Vec<(usize, f64)>)>,
}

impl Expression {
    /// The zero function of a ξ with `dim` entries.
    pub(super) fn new(dim: usize) -> Self {
        Self { constant: 0.0, terms: Vec::new(), slopes: vec![(0.0, Vec::new()); dim] }
    }

    /// Adds a number to the slope in an entry.
    pub(super) fn add_slope(&mut self, entry: usize, number: f64) {
        self.slopes[entry].0 += number;
    }

    /// Adds a term to the slope in an entry.
    pub(super) fn add_slope_term(&mut self, entry: usize, column: usize, coefficient: f64) {
        self.slopes[entry].1.push((column, coefficient));
    }

    /// Number of coordinates of ξ.
    pub(super) fn dim(&self) -> usize {
        self.slopes.len()
    }

    /// The slope in an entry, as a number and terms.
    pub(super) fn slope(&self, entry: usize) -> (f64, &[(usize, f64)]) {
        (self.slopes[entry].0, &self.slopes[entry].1)
    }

    /// Returns `factor` times the expression, plus `added`.
    pub(super) fn scaled(&self, factor: f64, added: f64) -> Self {
        let times = |terms: &[(usize, f64)]| terms.iter().map(|&(column, value)| (column, factor * value)).collect();
        Self {
            constant: factor * self.constant + added,
            terms: times(&self.terms),
            slopes: self.slopes.iter().map(|(number, terms)| (factor * number, times(terms))).collect(),
        }
    }

    /// Returns the expression as a function of u, where `ξ = center + Au`.
    pub(super) fn in_axes(&self, center: &[f64], columns: &[Vec<f64>]) -> Self {
        let (constant, terms) = self.at(center);
        let slopes = Self { constant: 0.0, terms: Vec::new(), slopes: self.slopes.clone() };
        Self { constant, terms, slopes: columns.iter().map(|axis| slopes.at(axis)).collect() }
    }

    pub(super) fn moves(&self, entry: usize) -> bool {
        self.slopes[entry].0 != 0.0 || !self.slopes[entry].1.is_empty()
    }

    pub(super) fn is_fixed(&self) -> bool {
        (0..self.slopes.len()).all(|entry| !self.moves(entry))
    }

    fn negated(&self) -> Self {
        self.scaled(-1.0, 0.0)
    }

    /// The value at a given ξ, as a number and terms.
    pub(super) fn at(&self, xi: &[f64]) -> (f64, Vec<(usize, f64)>) {
        let (mut constant, mut terms) = (self.constant, self.terms.clone());
        for ((number, slope), xi) in self.slopes.iter().zip(xi).filter(|(_, xi)| **xi != 0.0) {
            constant += number * xi;
            terms.extend(slope.iter().map(|&(column, value)| (column, value * xi)));
        }
        (constant, merged(terms))
    }
}

/// The region on which a policy must be feasible.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PolicyRegion<'a> {
    /// Every point of a shape.
    Shape(&'a Shape),
    /// Finitely many points, each for one constraint: the indices of the constraints (the cost, then the rows, the
    /// variables and the cones), and the point of each.
    Points(&'a [usize], &'a ScenarioList),
}

/// The rows of the program that implement one constraint.
#[derive(Debug, Clone, Default)]
pub(super) struct CounterpartRows {
    /// The row of a constraint that does not depend on ξ.
    pub(super) fixed: Option<usize>,
    /// The two sides of a constraint that depends on ξ: "at least" and "at most".
    pub(super) sides: [Option<CounterpartSide>; 2],
}

/// One side of a constraint that holds for every ξ. Its dual is a measure on the region: the mass is the dual of the
/// main row, and the moment is the mass times the base plus the contributions of the other rows.
#[derive(Debug, Clone, Default)]
pub(super) struct CounterpartSide {
    pub(super) main: usize,
    /// The other rows, each with the direction that its dual adds to the moment.
    pub(super) slopes: Vec<(usize, Vec<(usize, f64)>)>,
    /// The first column of the part of the slope that is bounded over the ball, if the shape has a polytope and a ball.
    pub(super) share: Option<usize>,
}

/// Writes constraints that hold for every ξ of a shape.
pub(super) struct RobustCounterpart<'a> {
    shape: &'a Shape,
    limits: PolytopeColumns,
    /// Whether the polytope has an interior in ζ, so that only constant functions are constant on it.
    is_full_dimensional: bool,
}

/// The constraint matrix of a polytope by columns.
#[derive(Debug, Clone, Default)]
pub(super) struct PolytopeColumns {
    /// The nonzeros of each column: rows and coefficients.
    pub(super) by_column: Vec<Vec<(usize, f64)>>,
    /// Whether a column only consumes limits, so that it is zero in a maximiser if its gain is zero.
    pub(super) only_consumes: Vec<bool>,
}

impl PolytopeColumns {
    pub(super) fn of(polytope: &Polytope) -> Self {
        let columns = polytope.columns.len();
        let mut limits = Self { by_column: vec![Vec::new(); columns], only_consumes: vec![true; columns] };
        for (number, row) in polytope.rows.iter().enumerate() {
            for &(column, coefficient) in &row.terms {
                limits.by_column[column].push((number, coefficient));
                limits.only_consumes[column] &= !row.equal && coefficient >= 0.0;
            }
        }
        limits
    }
}

impl<'a> RobustCounterpart<'a> {
    pub(super) fn new(shape: &'a Shape) -> Self {
        let Some(polytope) = &shape.polytope else {
            return Self { shape, limits: PolytopeColumns::default(), is_full_dimensional: true };
        };
        let limits = PolytopeColumns::of(polytope);
        let has_slack = polytope.rows.iter().all(|row| row.limit > 0.0);
        let is_full_dimensional = has_slack && limits.only_consumes.iter().all(|&only_consumes| only_consumes);
        Self { shape, limits, is_full_dimensional }
    }

    /// Requires `lower ≤ expression ≤ upper` for every ξ of the shape; infinite sides are ignored.
    pub(super) fn between(
        &self,
        program: &mut dyn ProgramBuilder,
        expression: &Expression,
        (lower, upper): (f64, f64),
    ) -> Result<CounterpartRows, RecourseError> {
        let mut written = CounterpartRows::default();
        if lower == upper && self.is_full_dimensional() {
            written.sides[0] = constant(program, self.shape, expression, lower);
            return Ok(written);
        }
        if lower.is_finite() {
            written.sides[0] = self.at_least(program, expression, lower)?;
        }
        if upper.is_finite() {
            written.sides[1] = self.at_least(program, &expression.negated(), -upper)?;
        }
        Ok(written)
    }

    /// Whether only constant functions are constant on the shape.
    pub(super) fn is_full_dimensional(&self) -> bool {
        self.is_full_dimensional || self.shape.ball.is_some()
    }

    fn at_least(
        &self,
        program: &mut dyn ProgramBuilder,
        expression: &Expression,
        bound: f64,
    ) -> Result<Option<CounterpartSide>, RecourseError> {
        let mut side = CounterpartSide::default();
        match (&self.shape.polytope, &self.shape.ball) {
            (Some(polytope), None) => {
                let (constant, mut terms) = expression.at(&polytope.base);
                self.against_polytope(program, polytope, expression, &mut terms, &mut side);
                side.main = program.row(bound - constant, f64::INFINITY, &merged(terms));
            }
            (None, Some(ball)) => {
                let (constant, mut terms) = expression.at(&ball.center);
                against_ball(program, ball, expression, &mut terms, &mut side)?;
                side.main = program.row(bound - constant, f64::INFINITY, &terms);
            }
            (Some(polytope), Some(ball)) => {
                // a = (a − w) + w: the first part is bounded over the polytope, the second over the ball.
                let mut rest = expression.clone();
                let mut share = Expression::new(expression.slopes.len());
                for entry in 0..expression.slopes.len() {
                    let column = program.col(0.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
                    side.share.get_or_insert(column);
                    rest.add_slope_term(entry, column, -1.0);
                    share.add_slope_term(entry, column, 1.0);
                }
                let (constant, mut terms) = rest.at(&polytope.base);
                terms.extend(share.at(&ball.center).1);
                self.against_polytope(program, polytope, &rest, &mut terms, &mut side);
                against_ball(program, ball, &share, &mut terms, &mut CounterpartSide::default())?;
                side.main = program.row(bound - constant, f64::INFINITY, &merged(terms));
            }
            (None, None) => return Ok(None),
        }
        Ok(Some(side))
    }

    /// Adds the multipliers λ of the polytope and the rows `Bᵀλ + Sᵀa ≥ 0`; `−cᵀλ` is added to `terms`. Limits without
    /// a relevant column need no λ.
    fn against_polytope(
        &self,
        program: &mut dyn ProgramBuilder,
        polytope: &Polytope,
        expression: &Expression,
        terms: &mut Vec<(usize, f64)>,
        side: &mut CounterpartSide,
    ) {
        let mut multipliers: Vec<Option<usize>> = vec![None; polytope.rows.len()];
        for (column, &(entry, step)) in polytope.columns.iter().enumerate() {
            if !expression.moves(entry) && self.limits.only_consumes[column] {
                continue;
            }
            let (number, slope) = &expression.slopes[entry];
            let mut row: Vec<(usize, f64)> = slope.iter().map(|&(col, value)| (col, step * value)).collect();
            for &(limit, coefficient) in &self.limits.by_column[column] {
                let lambda = *multipliers[limit].get_or_insert_with(|| {
                    let least = if polytope.rows[limit].equal { f64::NEG_INFINITY } else { 0.0 };
                    let lambda = program.col(0.0, least, f64::INFINITY, VariableKind::Continuous);
                    terms.push((lambda, -polytope.rows[limit].limit));
                    lambda
                });
                row.push((lambda, coefficient));
            }
            side.slopes.push((program.row(-step * number, f64::INFINITY, &merged(row)), vec![(entry, step)]));
        }
    }
}

/// Requires `expression = value` for every ξ: the slope is zero in every direction of the shape.
fn constant(
    program: &mut dyn ProgramBuilder,
    shape: &Shape,
    expression: &Expression,
    value: f64,
) -> Option<CounterpartSide> {
    let mut side = CounterpartSide::default();
    let member = match (&shape.ball, &shape.polytope) {
        (Some(ball), _) => {
            for axis in &ball.columns {
                let along = Expression { constant: 0.0, terms: Vec::new(), slopes: expression.slopes.clone() };
                let (number, terms) = along.at(axis);
                side.slopes.push((program.row(-number, -number, &terms), nonzeros(axis)));
            }
            &ball.center
        }
        (None, Some(polytope)) => {
            let mut entries: Vec<usize> = polytope.columns.iter().map(|column| column.0).collect();
            entries.sort_unstable();
            entries.dedup();
            for entry in entries.into_iter().filter(|&entry| expression.moves(entry)) {
                let (number, terms) = &expression.slopes[entry];
                side.slopes.push((program.row(-number, -number, &merged(terms.clone())), vec![(entry, 1.0)]));
            }
            &polytope.base
        }
        (None, None) => return None,
    };
    let (constant, terms) = expression.at(member);
    side.main = program.row(value - constant, value - constant, &terms);
    Some(side)
}

/// Adds a column `t ≥ ‖Aᵀa‖`; `−t` is added to `terms`.
fn against_ball(
    program: &mut dyn ProgramBuilder,
    ball: &Ball,
    expression: &Expression,
    terms: &mut Vec<(usize, f64)>,
    side: &mut CounterpartSide,
) -> Result<(), RecourseError> {
    let radius = program.col(0.0, 0.0, f64::INFINITY, VariableKind::Continuous);
    terms.push((radius, -1.0));
    let slope = Expression { constant: 0.0, terms: Vec::new(), slopes: expression.slopes.clone() };
    let mut rows = vec![(vec![(radius, 1.0)], 0.0)];
    rows.extend(ball.columns.iter().map(|axis| {
        let (number, terms) = slope.at(axis);
        (terms, -number)
    }));
    let placed = program.cone(ConeKind::SecondOrder, &rows)?;
    side.slopes.extend(placed.skip(1).zip(&ball.columns).map(|(row, axis)| (row, nonzeros(axis))));
    Ok(())
}

fn nonzeros(axis: &[f64]) -> Vec<(usize, f64)> {
    axis.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect()
}
