//! The master problem with one scenario copy of the recourse each: `min f(x) + θ` with `θ ≥ cost(yₖ)` and the recourse
//! rows of (x, yₖ, ξₖ) for every k.

use std::sync::Arc;

use softsep_lp::{MipSolver, Model};

use crate::definition::{ConeKind, VariableKind};
use crate::error::Error;
use crate::model::{Problem, square_root};
use crate::numeric::tolerances::HIGHS_INFINITY;
use crate::recourse::{Answer, Cut, CutKind, ProgramBuilder, engine};
use crate::run::Clock;

/// Origin of a row of the master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowOrigin {
    /// A row of the first stage.
    First(usize),
    /// A row of the recourse in a scenario copy.
    Recourse {
        /// Index of the copy.
        copy: usize,
        /// Index of the recourse row.
        row: usize,
    },
    /// A row that bounds θ by the cost of a copy.
    Cost,
    /// A cut.
    Cut,
}

/// The master problem with scenario copies and cuts. Its columns are x, θ, then the y of each copy.
pub(crate) struct ScenarioCopies<'a> {
    pub(super) problem: &'a Problem,
    pub(super) scenarios: Vec<&'a [f64]>,
    /// Cuts in addition to the copies.
    pub(super) cuts: Vec<&'a Cut>,
    /// `None` if the program is linear.
    pub(super) conic: Option<Arc<ConicCost>>,
    /// Solves the program where it has integers.
    pub(super) solver: MipSolver,
}

/// Data for the recourse cost in a conic program.
pub(super) struct ConicCost {
    /// Rows of a square root of the quadratic part.
    root: Vec<Vec<(usize, f64)>>,
    /// Typical size of the recourse cost, at least 1. All costs are divided by it, since an interior-point method loses
    /// accuracy when costs and rows have very different sizes.
    cost_unit: f64,
}

impl ConicCost {
    /// Returns `None` if the masters of `problem` are linear. The typical cost is that at `xi`.
    pub(super) fn new(problem: &Problem, xi: Option<&[f64]>, clock: &Clock) -> Result<Option<Arc<Self>>, Error> {
        if problem.recourse.is_linear() && problem.first.quadratic.is_zero() {
            return Ok(None);
        }
        let root = square_root(&problem.recourse.quadratic)
            .ok_or_else(|| Error::Master("the recourse's quadratic cost could not be factored".into()))?;
        Ok(Some(Arc::new(Self { root, cost_unit: typical_cost(problem, xi, clock) })))
    }
}

/// Variant of a master that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ModelVariant {
    /// Whether integrality is required.
    pub(super) integers: bool,
    /// Placement of the recourse costs.
    pub(super) costs: CostPlacement,
}

/// Placement of the recourse costs in a master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CostPlacement {
    /// No costs, neither of the recourse nor of the first stage: a feasibility problem.
    Omitted,
    /// In θ, which a row bounds by the cost of each copy.
    Theta,
    /// On y directly, with θ unused: for a single copy.
    Recourse,
}

impl ModelVariant {
    /// The master.
    pub(super) const FULL: ModelVariant = ModelVariant { integers: true, costs: CostPlacement::Theta };
    /// The master without integrality.
    pub(super) const RELAXED: ModelVariant = ModelVariant { integers: false, costs: CostPlacement::Theta };
    /// A single copy without θ, whose dense row would slow down a simplex from scratch.
    pub(super) const SINGLE_COPY: ModelVariant = ModelVariant { integers: false, costs: CostPlacement::Recourse };
    /// The feasible set of the master.
    pub(super) const FEASIBILITY: ModelVariant = ModelVariant { integers: true, costs: CostPlacement::Omitted };
    /// The feasible set without integrality.
    pub(super) const RELAXED_FEASIBILITY: ModelVariant =
        ModelVariant { integers: false, costs: CostPlacement::Omitted };
}

impl<'a> ScenarioCopies<'a> {
    /// A master with one copy per scenario.
    pub(crate) fn new(problem: &'a Problem, scenarios: Vec<&'a [f64]>, clock: &Clock) -> Result<Self, Error> {
        let conic = ConicCost::new(problem, scenarios.first().copied(), clock)?;
        Ok(Self { problem, scenarios, cuts: Vec::new(), conic, solver: MipSolver::default() })
    }

    /// The same master with another solver of mixed-integer programs.
    pub(crate) fn with_solver(self, solver: &MipSolver) -> Self {
        Self { solver: solver.clone(), ..self }
    }

    /// Returns whether Clarabel solves it.
    pub(super) fn is_conic(&self) -> bool {
        self.conic.is_some()
    }

    /// Returns the first column of a copy.
    pub(super) fn first_y(&self, copy: usize) -> usize {
        // With a quadratic cost each copy has one more column, t ≥ ½ yᵀHy.
        self.problem.first.dim() + 1 + copy * (self.problem.recourse.dim() + usize::from(self.has_quadratic_cost()))
    }

    /// Returns the unit of all costs in the program.
    pub(super) fn cost_unit(&self) -> f64 {
        self.conic.as_ref().map_or(1.0, |square| square.cost_unit)
    }

    fn has_quadratic_cost(&self) -> bool {
        !self.problem.recourse.quadratic.is_zero()
    }

    /// Writes the linear relaxation of the master, without integrality. Returns the number of its rows.
    pub(crate) fn write_relaxation(&self, model: &mut Model) -> Result<usize, Error> {
        Ok(self.write(model, ModelVariant::RELAXED)?.len())
    }

    /// Writes a variant of the program. All variants have the same columns. Returns the origin of each row.
    pub(super) fn write(
        &self,
        program: &mut dyn ProgramBuilder,
        variant: ModelVariant,
    ) -> Result<Vec<RowOrigin>, Error> {
        let mut rows = Vec::new();
        let theta = self.write_first_stage(program, variant, &mut rows);
        for copy in 0..self.scenarios.len() {
            self.write_copy(program, variant, copy, theta, &mut rows)?;
        }
        Ok(rows)
    }

    /// Writes x, θ, the rows of the first stage and the cuts. Returns the column of θ.
    fn write_first_stage(
        &self,
        program: &mut dyn ProgramBuilder,
        variant: ModelVariant,
        rows: &mut Vec<RowOrigin>,
    ) -> usize {
        let first = &self.problem.first;
        let cost_unit = self.cost_unit();
        let has_costs = variant.costs != CostPlacement::Omitted;
        for j in 0..first.dim() {
            let kind = if variant.integers { first.kind[j] } else { VariableKind::Continuous };
            let cost = if has_costs { first.cost[j] / cost_unit } else { 0.0 };
            program.col(cost, first.lower[j], first.upper[j], kind);
        }
        for (i, j, value) in first.quadratic.iter().filter(|_| has_costs) {
            program.quadratic(i, j, value / cost_unit);
        }
        let theta_cost = if variant.costs == CostPlacement::Theta { 1.0 } else { 0.0 };
        let theta = program.col(theta_cost, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for i in 0..first.rows.rows() {
            terms.clear();
            terms.extend(first.rows.row(i));
            program.row(first.row_lower[i], first.row_upper[i], &terms);
            rows.push(RowOrigin::First(i));
        }
        for cut in &self.cuts {
            if cut.kind == CutKind::Optimality && variant.costs != CostPlacement::Theta {
                continue;
            }
            cut_terms(cut, theta, cost_unit, &mut terms);
            program.row(cut.intercept, f64::INFINITY, &terms);
            rows.push(RowOrigin::Cut);
        }
        theta
    }

    /// Writes the y of a copy, its recourse rows, and the rows that bound θ by its cost.
    fn write_copy(
        &self,
        program: &mut dyn ProgramBuilder,
        variant: ModelVariant,
        copy: usize,
        theta: usize,
        rows: &mut Vec<RowOrigin>,
    ) -> Result<(), Error> {
        let recourse = &self.problem.recourse;
        let xi = self.scenarios[copy];
        let start = self.first_y(copy);
        let cost_unit = self.cost_unit();
        let mut cost = vec![0.0; recourse.dim()];
        recourse.cost_at(xi, &mut cost);
        let mut shift = vec![0.0; recourse.rows()];
        recourse.u.mul_add(1.0, xi, &mut shift);
        for (j, cost) in cost.iter().enumerate() {
            let cost = if variant.costs == CostPlacement::Recourse { *cost } else { 0.0 };
            program.col(cost, recourse.lower[j], recourse.upper[j], VariableKind::Continuous);
        }
        let mut terms = vec![(theta, 1.0)];
        terms.extend(cost.iter().enumerate().map(|(j, cost)| (start + j, -cost / cost_unit)));
        if self.has_quadratic_cost() {
            let square = program.col(0.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous);
            terms.push((square, -1.0));
        }
        self.write_recourse_rows(program, copy, &shift, rows)?;
        if variant.costs == CostPlacement::Theta {
            program.row(0.0, f64::INFINITY, &terms);
            rows.push(RowOrigin::Cost);
            self.write_quadratic_cost(program, start, rows)?;
        }
        Ok(())
    }

    fn write_recourse_rows(
        &self,
        program: &mut dyn ProgramBuilder,
        copy: usize,
        shift: &[f64],
        rows: &mut Vec<RowOrigin>,
    ) -> Result<(), Error> {
        let recourse = &self.problem.recourse;
        let start = self.first_y(copy);
        let terms_of = |i: usize| -> Vec<(usize, f64)> {
            recourse.g.row(i).map(|(j, value)| (start + j, value)).chain(recourse.e.row(i)).collect()
        };
        for i in 0..recourse.rows() {
            if recourse.row_lower[i].is_finite() || recourse.row_upper[i].is_finite() {
                let (lower, upper) = (recourse.row_lower[i] - shift[i], recourse.row_upper[i] - shift[i]);
                if [lower, upper].iter().any(|bound| bound.is_finite() && bound.abs() >= HIGHS_INFINITY) {
                    let name = &self.problem.names.recourse_rows[i];
                    return Err(Error::Master(format!(
                        "the right-hand side of row \"{name}\" is beyond {HIGHS_INFINITY:e} for some ξ, which HiGHS \
                         takes for infinite; use larger units"
                    )));
                }
                program.row(lower, upper, &terms_of(i));
                rows.push(RowOrigin::Recourse { copy, row: i });
            }
        }
        for cone in &recourse.cones {
            let entries: Vec<_> = cone.rows.iter().map(|&i| (terms_of(i), recourse.offset[i] - shift[i])).collect();
            program.cone(cone.kind, &entries)?;
            rows.extend(cone.rows.iter().map(|&row| RowOrigin::Recourse { copy, row }));
        }
        Ok(())
    }

    /// Writes `t ≥ ½ yᵀHy` in the unit of the costs: `‖(√2·Ly, t − 1)‖ ≤ t + 1`, see [`square_root`].
    fn write_quadratic_cost(
        &self,
        program: &mut dyn ProgramBuilder,
        start: usize,
        rows: &mut Vec<RowOrigin>,
    ) -> Result<(), Error> {
        let (true, Some(ConicCost { root, cost_unit })) = (self.has_quadratic_cost(), self.conic.as_deref()) else {
            return Ok(());
        };
        let square = start + self.problem.recourse.dim();
        let mut entries = vec![(vec![(square, 1.0)], -1.0), (vec![(square, 1.0)], 1.0)];
        let scale = (2.0 / cost_unit).sqrt();
        entries
            .extend(root.iter().map(|row| (row.iter().map(|&(j, value)| (start + j, scale * value)).collect(), 0.0)));
        rows.extend(entries.iter().map(|_| RowOrigin::Cost));
        program.cone(ConeKind::SecondOrder, &entries)?;
        Ok(())
    }
}

/// Writes the terms of a cut's row, whose lower bound is the intercept. θ is in the unit of the costs.
pub(super) fn cut_terms(cut: &Cut, theta: usize, cost_unit: f64, terms: &mut Vec<(usize, f64)>) {
    terms.clear();
    terms.extend(cut.slope.iter().enumerate().map(|(j, slope)| (j, -slope)));
    if cut.kind == CutKind::Optimality {
        terms.push((theta, cost_unit));
    }
}

/// Returns the absolute recourse cost at the point of the bounds nearest to zero, at least 1.
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
