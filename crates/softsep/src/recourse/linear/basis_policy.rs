//! Affine policies `y(ξ) = y₀ + Kξ` that are feasible for a list of scenarios: one linear program bounds Q on all
//! of them from above.
//!
//! The basic variables of a basis are affine in ξ. Their slopes K, the response of the basis, are the same for every x,
//! while the offset y₀ is free. The offset of the basis itself is optimal wherever it is feasible. Any other y₀ that is
//! feasible for all values of Kξ on a list gives the bound `cᵀy₀ + cᵀKξ` on that list. The best such y₀ solves the
//! recourse program with bounds tightened by the range of Kξ.

use std::sync::Arc;

use softsep_lp::{Algorithm, Basis, Lp, Model, Status, Toggle};

use super::basis_factors::{BasisFactors, nonbasic_value};
use super::data::RecourseData;
use crate::model::Problem;
use crate::numeric::dot;
use crate::numeric::tolerances::{HIGHS_INFINITY, LP_FEASIBILITY_TOL};
use crate::recourse::{RecourseBasis, RecourseError};
use crate::run::{Clock, Interrupt};

/// Response of one basis: the slopes of its basic variables in ξ.
pub struct BasisResponse {
    basis: Arc<Basis>,
    factors: BasisFactors,
    slopes: Vec<f64>,
}

impl BasisResponse {
    /// Returns K with one column per entry of ξ: the slope of each basic variable (a recourse variable or a row
    /// activity), and last the slope of the cost.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }
}

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Interval {
    /// The empty interval.
    pub const EMPTY: Interval = Interval { lower: f64::INFINITY, upper: f64::NEG_INFINITY };

    /// Returns the smallest interval that contains both.
    pub fn hull(self, other: Interval) -> Self {
        Self { lower: self.lower.min(other.lower), upper: self.upper.max(other.upper) }
    }
}

/// The affine policy of a basis at some x.
#[derive(Debug, Clone, PartialEq)]
pub struct BasisPolicy {
    /// The cost `cᵀy₀` of its offset.
    pub cost: f64,
    /// For each basic variable, the range of its component of Kξ in which the policy is feasible.
    pub feasible_ranges: Vec<Interval>,
}

/// Computes affine policies for one problem.
pub struct BasisPolicies {
    data: RecourseData,
    cost: Vec<f64>,
    clock: Clock,
    lp: Lp,
    shift: Vec<f64>,
    cols: Vec<Interval>,
    rows: Vec<Interval>,
    y: Vec<f64>,
}

impl BasisPolicies {
    /// Returns whether a basis of this problem stays dual feasible for every ξ: the recourse must be linear, with
    /// variables and with fixed costs.
    pub(crate) fn supports(problem: &Problem) -> bool {
        problem.recourse.is_linear() && problem.recourse.dim() > 0 && !problem.recourse.costs_move()
    }

    /// Fails unless the problem is one that [`supports`](Self::supports) accepts.
    pub fn new(problem: &Problem, clock: &Clock) -> Result<Self, RecourseError> {
        if !Self::supports(problem) {
            return Err(RecourseError::Unsupported(
                "affine policies take linear recourse with variables and fixed costs only".into(),
            ));
        }
        let data = RecourseData::new(problem);
        let cost = problem.recourse.cost.clone();
        let mut model = Model::new();
        for j in 0..data.cols() {
            model.add_col(cost[j], data.lower[j], data.upper[j]);
        }
        for i in 0..data.rows() {
            let terms: Vec<_> = data.g_rows.row(i).collect();
            model.add_row(data.row_lower[i], data.row_upper[i], &terms);
        }
        let mut lp = Lp::new(&model)?;
        lp.set_presolve(Toggle::Off)?;
        lp.set_algorithm(Algorithm::DualSimplex)?;
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        Ok(Self {
            clock: clock.clone(),
            lp,
            shift: vec![0.0; data.rows()],
            cols: Vec::with_capacity(data.cols()),
            rows: Vec::with_capacity(data.rows()),
            y: vec![0.0; data.cols()],
            cost,
            data,
        })
    }

    /// Returns the response of a basis, accurate for every ξ with entries of absolute value at most `max_abs_xi`.
    /// Returns `None` if the basis is singular or its factors are not accurate enough.
    pub fn response(&self, start: &RecourseBasis, max_abs_xi: &[f64]) -> Option<BasisResponse> {
        let (data, basis) = (&self.data, start.0.as_ref()?);
        let mut factors = BasisFactors::new(data, basis)?;
        let basics = factors.basic.len();
        let mut slopes = vec![0.0; (basics + 1) * max_abs_xi.len()];
        let (mut rhs, mut row_errors) = (vec![0.0; basics], vec![0.0; basics]);
        let by_xi = data.u.transpose();
        for (entry, (column, max_abs_xi)) in slopes.chunks_exact_mut(basics + 1).zip(max_abs_xi).enumerate() {
            let (column, cost) = column.split_at_mut(basics);
            factors.rhs_change(by_xi.row(entry), column);
            rhs.copy_from_slice(column);
            factors.ftran(column);
            // The residual of the solve is the amount by which the policy violates its rows.
            factors.subtract_product(data, column, &mut rhs);
            row_errors.iter_mut().zip(&rhs).for_each(|(row_errors, missed)| *row_errors += missed.abs() * max_abs_xi);
            cost[0] = factors
                .basic
                .iter()
                .zip(&*column)
                .filter_map(|(&k, value)| Some(self.cost.get(k as usize)? * value))
                .sum();
        }
        // The bounds of Gy change with ξ, those of Gy + Uξ do not.
        for (position, &variable) in factors.basic.iter().enumerate() {
            if let Some(row) = (variable as usize).checked_sub(data.cols()) {
                data.u.row(row).for_each(|(col, value)| slopes[col * (basics + 1) + position] += value);
            }
        }
        row_errors.iter().all(|row_errors| *row_errors <= 0.1 * LP_FEASIBILITY_TOL).then(|| BasisResponse {
            basis: Arc::clone(basis),
            factors,
            slopes,
        })
    }

    /// Returns the policy of the basis itself at `x`. It is optimal wherever it is feasible.
    pub fn policy_of_basis(&mut self, response: &mut BasisResponse, x: &[f64]) -> BasisPolicy {
        self.set_shift(x);
        let (data, factors) = (&self.data, &mut response.factors);
        factors.solve(&self.shift);
        let held =
            |col: usize| nonbasic_value(response.basis.col(col), data.lower[col], data.upper[col]).unwrap_or(0.0);
        let mut cost: f64 = (0..data.cols()).map(|col| self.cost[col] * held(col)).sum();
        let mut feasible_ranges = Vec::with_capacity(factors.basic.len());
        for (&variable, &value) in factors.basic.iter().zip(&factors.basic_values) {
            cost += self.cost.get(variable as usize).map_or(0.0, |cost| cost * value);
            let (lower, upper) = data.bounds(variable as usize, &self.shift);
            feasible_ranges.push(Interval {
                lower: lower - value - LP_FEASIBILITY_TOL,
                upper: upper - value + LP_FEASIBILITY_TOL,
            });
        }
        BasisPolicy { cost, feasible_ranges }
    }

    /// Returns the smallest cost `cᵀy₀` of a policy that is feasible at `x` while each basic variable's component of Kξ
    /// is in its range, or `None` if there is no such policy.
    pub fn min_cost_over(
        &mut self,
        response: &BasisResponse,
        x: &[f64],
        ranges: &[Interval],
    ) -> Result<Option<f64>, RecourseError> {
        self.clock.check()?;
        self.set_shift(x);
        let data = &self.data;
        let bounds = |variable| {
            let (lower, upper) = data.bounds(variable, &self.shift);
            Interval { lower, upper }
        };
        self.cols.clear();
        self.cols.extend((0..data.cols()).map(bounds));
        self.rows.clear();
        self.rows.extend((data.cols()..data.cols() + data.rows()).map(bounds));
        for (&variable, range) in response.factors.basic.iter().zip(ranges) {
            let bound = match (variable as usize).checked_sub(data.cols()) {
                None => &mut self.cols[variable as usize],
                Some(row) => &mut self.rows[row],
            };
            (bound.lower, bound.upper) = (bound.lower - range.lower, bound.upper - range.upper);
        }
        // HiGHS would read a bound of that size as infinite.
        let reads_as_infinite = |bound: f64| bound.is_finite() && bound.abs() >= HIGHS_INFINITY;
        if self.cols.iter().chain(&self.rows).any(|range| {
            !(range.lower <= range.upper) || reads_as_infinite(range.lower) || reads_as_infinite(range.upper)
        }) {
            return Ok(None);
        }
        let (lower, upper): (Vec<f64>, Vec<f64>) = self.cols.iter().map(|range| (range.lower, range.upper)).unzip();
        self.lp.set_col_bounds(&lower, &upper)?;
        let (lower, upper): (Vec<f64>, Vec<f64>) = self.rows.iter().map(|range| (range.lower, range.upper)).unzip();
        self.lp.set_row_bounds(&lower, &upper)?;
        self.lp.clear_solver()?;
        self.lp.set_basis(&response.basis)?;
        self.lp.set_time_limit(self.clock.left())?;
        match self.lp.solve()? {
            Status::Optimal => {
                self.lp.primal(&mut self.y)?;
                Ok(self.is_within_bounds().then(|| dot(&self.cost, &self.y)))
            }
            Status::TimeLimit => Err(Interrupt::TimeLimit.into()),
            Status::Interrupted => Err(Interrupt::Interrupted.into()),
            _ => Ok(None),
        }
    }

    /// Returns whether the offset in `y` satisfies the tightened bounds and rows.
    fn is_within_bounds(&self) -> bool {
        let inside = |value: f64, range: &Interval| {
            value >= range.lower - LP_FEASIBILITY_TOL && value <= range.upper + LP_FEASIBILITY_TOL
        };
        self.y.iter().zip(&self.cols).all(|(y, range)| inside(*y, range))
            && self.rows.iter().enumerate().all(|(row, range)| inside(self.data.g_rows.dot(row, &self.y), range))
    }

    fn set_shift(&mut self, x: &[f64]) {
        self.shift.fill(0.0);
        self.data.e.mul_add(1.0, x, &mut self.shift);
    }
}
