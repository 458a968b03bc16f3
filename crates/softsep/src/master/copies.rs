//! The master with one copy of the recourse per scenario: `min f(x) + θ` with `θ ≥ cost(yₖ)` and the recourse rows of
//! (x, yₖ, ξₖ) for every k.

use std::sync::Arc;

use crate::definition::{ConeKind, VariableKind};
use crate::error::Error;
use crate::model::{Problem, square_root};
use crate::recourse::{Answer, Cut, CutKind, Program, engine};
use crate::run::Clock;

/// HiGHS takes a bound of this size for infinite.
const INFINITE: f64 = 1e20;

/// Whose row a row of the stacked program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowOf {
    /// A row of the first stage.
    First(usize),
    /// A row of the recourse, in copy `copy`.
    Recourse {
        /// Which copy.
        copy: usize,
        /// Which row.
        row: usize,
    },
    /// A row that only ties θ to the costs.
    Cost,
    /// A cut.
    Cut,
}

/// The stacked program of a problem and some scenarios. Its columns are x, θ, then the y of each copy.
pub(crate) struct Copies<'a> {
    pub(super) problem: &'a Problem,
    pub(super) scenarios: Vec<&'a [f64]>,
    /// Cuts beside the copies.
    pub(super) cuts: Vec<&'a Cut>,
    /// `None` if the program is linear.
    pub(super) conic: Option<Arc<Square>>,
}

/// What a conic program needs to know of the recourse cost.
pub(super) struct Square {
    /// The root of its quadratic part.
    root: Vec<Vec<(usize, f64)>>,
    /// Its size. All costs are measured in it, or an interior point loses its way between costs and rows of very
    /// different sizes.
    size: f64,
}

impl Square {
    /// `None` if the programs of `problem` are linear; its costs are measured at `xi`.
    pub(super) fn of(problem: &Problem, xi: Option<&[f64]>, clock: &Clock) -> Result<Option<Arc<Self>>, Error> {
        if problem.recourse.is_linear() && problem.first.quadratic.is_zero() {
            return Ok(None);
        }
        let root = square_root(&problem.recourse.quadratic)
            .ok_or_else(|| Error::Master("the recourse's quadratic cost could not be factored".into()))?;
        Ok(Some(Arc::new(Self { root, size: typical_cost(problem, xi, clock) })))
    }
}

/// What of a stacked program is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Whether integers are whole.
    pub(super) integers: bool,
    /// Where the recourse's costs are.
    pub(super) costs: Costs,
}

/// Where a stacked program has the recourse's costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Costs {
    /// Nowhere, and the first stage's neither: what is feasible is all that is asked.
    Left,
    /// In θ, which a row ties to the costs of each copy.
    Theta,
    /// With the y, and θ is idle: of a lone copy.
    Recourse,
}

impl Part {
    /// All.
    pub(super) const WHOLE: Part = Part { integers: true, costs: Costs::Theta };
    /// All but integrality.
    pub(super) const RELAXED: Part = Part { integers: false, costs: Costs::Theta };
    /// A lone copy, without θ. Its dense row would be in the way of a simplex from nothing.
    pub(super) const LONE: Part = Part { integers: false, costs: Costs::Recourse };
    /// What is feasible.
    pub(super) const ROWS: Part = Part { integers: true, costs: Costs::Left };
    /// What is feasible without integrality.
    pub(super) const RELAXED_ROWS: Part = Part { integers: false, costs: Costs::Left };
}

impl<'a> Copies<'a> {
    /// One copy per scenario.
    pub(crate) fn new(problem: &'a Problem, scenarios: Vec<&'a [f64]>, clock: &Clock) -> Result<Self, Error> {
        let conic = Square::of(problem, scenarios.first().copied(), clock)?;
        Ok(Self { problem, scenarios, cuts: Vec::new(), conic })
    }

    /// Whether Clarabel is needed.
    pub(super) fn is_conic(&self) -> bool {
        self.conic.is_some()
    }

    /// Where the y of a copy begin.
    pub(super) fn first_y(&self, copy: usize) -> usize {
        // With a quadratic cost each copy has one more column, t ≥ ½ yᵀHy.
        self.problem.first.dim() + 1 + copy * (self.problem.recourse.dim() + usize::from(self.has_square()))
    }

    /// The unit of all costs in the program.
    pub(super) fn size(&self) -> f64 {
        self.conic.as_ref().map_or(1.0, |square| square.size)
    }

    fn has_square(&self) -> bool {
        !self.problem.recourse.quadratic.is_zero()
    }

    /// Writes the program, or a part of it with the same columns. Returns whose row each row is.
    pub(super) fn write(&self, program: &mut dyn Program, part: Part) -> Result<Vec<RowOf>, Error> {
        let (first, recourse) = (&self.problem.first, &self.problem.recourse);
        let mut rows = Vec::new();
        let size = self.size();
        let has_costs = part.costs != Costs::Left;
        for j in 0..first.dim() {
            let kind = if part.integers { first.kind[j] } else { VariableKind::Continuous };
            let cost = if has_costs { first.cost[j] / size } else { 0.0 };
            program.col(cost, first.lower[j], first.upper[j], kind);
        }
        for (i, j, value) in first.quadratic.iter().filter(|_| has_costs) {
            program.quadratic(i, j, value / size);
        }
        let theta_cost = if part.costs == Costs::Theta { 1.0 } else { 0.0 };
        let theta = program.col(theta_cost, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for i in 0..first.rows.rows() {
            terms.clear();
            terms.extend(first.rows.row(i));
            program.row(first.row_lower[i], first.row_upper[i], &terms);
            rows.push(RowOf::First(i));
        }
        for cut in &self.cuts {
            if cut.kind == CutKind::Optimality && part.costs != Costs::Theta {
                continue;
            }
            cut_terms(cut, theta, size, &mut terms);
            program.row(cut.intercept, f64::INFINITY, &terms);
            rows.push(RowOf::Cut);
        }
        let mut cost = vec![0.0; recourse.dim()];
        let mut shift = vec![0.0; recourse.rows()];
        for (copy, xi) in self.scenarios.iter().enumerate() {
            let start = self.first_y(copy);
            recourse.cost_at(xi, &mut cost);
            shift.fill(0.0);
            recourse.u.mul_add(1.0, xi, &mut shift);
            for (j, cost) in cost.iter().enumerate() {
                let cost = if part.costs == Costs::Recourse { *cost } else { 0.0 };
                program.col(cost, recourse.lower[j], recourse.upper[j], VariableKind::Continuous);
            }
            terms.clear();
            terms.push((theta, 1.0));
            terms.extend(cost.iter().enumerate().map(|(j, cost)| (start + j, -cost / size)));
            if self.has_square() {
                let square = program.col(0.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
                terms.push((square, -1.0));
            }
            self.write_recourse_rows(program, copy, &shift, &mut rows)?;
            if part.costs == Costs::Theta {
                program.row(0.0, f64::INFINITY, &terms);
                rows.push(RowOf::Cost);
                self.write_square(program, start, &mut rows)?;
            }
        }
        Ok(rows)
    }

    fn write_recourse_rows(
        &self,
        program: &mut dyn Program,
        copy: usize,
        shift: &[f64],
        rows: &mut Vec<RowOf>,
    ) -> Result<(), Error> {
        let recourse = &self.problem.recourse;
        let start = self.first_y(copy);
        let terms_of = |i: usize| -> Vec<(usize, f64)> {
            recourse.g.row(i).map(|(j, value)| (start + j, value)).chain(recourse.e.row(i)).collect()
        };
        for i in 0..recourse.rows() {
            if recourse.row_lower[i].is_finite() || recourse.row_upper[i].is_finite() {
                let (lower, upper) = (recourse.row_lower[i] - shift[i], recourse.row_upper[i] - shift[i]);
                if [lower, upper].iter().any(|bound| bound.is_finite() && bound.abs() >= INFINITE) {
                    let name = &self.problem.names.recourse_rows[i];
                    return Err(Error::Master(format!(
                        "the right-hand side of row \"{name}\" is beyond {INFINITE:e} for some ξ, which HiGHS takes \
                         for infinite; use larger units"
                    )));
                }
                program.row(lower, upper, &terms_of(i));
                rows.push(RowOf::Recourse { copy, row: i });
            }
        }
        for cone in &recourse.cones {
            let entries: Vec<_> = cone.rows.iter().map(|&i| (terms_of(i), recourse.offset[i] - shift[i])).collect();
            program.cone(cone.kind, &entries)?;
            rows.extend(cone.rows.iter().map(|&row| RowOf::Recourse { copy, row }));
        }
        Ok(())
    }

    /// `t ≥ ½ yᵀHy` in the size of the costs: `‖(√2·Ly, t − 1)‖ ≤ t + 1`, see [`square_root`].
    fn write_square(&self, program: &mut dyn Program, start: usize, rows: &mut Vec<RowOf>) -> Result<(), Error> {
        let (true, Some(Square { root, size })) = (self.has_square(), self.conic.as_deref()) else { return Ok(()) };
        let square = start + self.problem.recourse.dim();
        let mut entries = vec![(vec![(square, 1.0)], -1.0), (vec![(square, 1.0)], 1.0)];
        let scale = (2.0 / size).sqrt();
        entries
            .extend(root.iter().map(|row| (row.iter().map(|&(j, value)| (start + j, scale * value)).collect(), 0.0)));
        rows.extend(entries.iter().map(|_| RowOf::Cost));
        program.cone(ConeKind::SecondOrder, &entries)?;
        Ok(())
    }
}

/// The row of a cut, which is at least its intercept; θ is measured in the size of the costs.
pub(super) fn cut_terms(cut: &Cut, theta: usize, size: f64, terms: &mut Vec<(usize, f64)>) {
    terms.clear();
    terms.extend(cut.slope.iter().enumerate().map(|(j, slope)| (j, -slope)));
    if cut.kind == CutKind::Optimality {
        terms.push((theta, size));
    }
}

/// The size of the recourse cost at the corner of X nearest to zero, at least 1.
fn typical_cost(problem: &Problem, xi: Option<&[f64]>, clock: &Clock) -> f64 {
    let (lower, upper) = (&problem.first.lower, &problem.first.upper);
    let corner: Vec<f64> = lower.iter().zip(upper).map(|(&lower, &upper)| 0.0_f64.clamp(lower, upper)).collect();
    let cost = || -> Option<f64> {
        let mut engine = engine(problem, clock).ok()?;
        let mut answer = Answer::new(problem);
        engine.at(&corner);
        engine.solve(xi?, &mut answer).ok()?;
        answer.value.is_finite().then_some(answer.value.abs())
    };
    cost().unwrap_or(1.0).max(1.0)
}
