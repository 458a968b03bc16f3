//! Reduced-cost fixing: an integer column need not move so far from its bound that the objective reaches the cutoff.

use super::node::BoundChange;
use super::relaxation::NodeRelaxation;
use super::root_model::RootModel;

/// Reduced costs below this are rounding errors.
const REDUCED_COST_TOL: f64 = 1e-7;

/// A step that exceeds the cutoff by at most this share of a step is not excluded: the excess may be a rounding error.
const STEP_TOL: f64 = 1e-9;

/// An integer column at the optimum of a relaxation.
#[derive(Debug, Clone, Copy)]
struct ReducedCost {
    col: usize,
    lower: f64,
    upper: f64,
    /// Reduced cost: positive at the lower bound, negative at the upper one.
    value: f64,
}

/// Objective and reduced costs at the optimum of a relaxation.
#[derive(Debug, Clone)]
pub(super) struct ReducedCosts {
    objective: f64,
    /// The `valid_below` of the node. Fixings for a higher cutoff would not be valid.
    valid_below: f64,
    columns: Vec<ReducedCost>,
}

impl ReducedCosts {
    /// Collects the reduced costs of the last optimum, whose objective is confirmed: those that prove it. Nothing else
    /// may have been proved since.
    pub(super) fn new(program: &NodeRelaxation, valid_below: f64, root: &RootModel) -> Self {
        let reduced_cost = |&col: &usize| ReducedCost {
            col,
            lower: program.lower[col],
            upper: program.upper[col],
            value: program.sum.reduced_costs()[col],
        };
        let is_at_bound = |column: &ReducedCost| match column.value {
            value if value > REDUCED_COST_TOL => column.lower.is_finite() && column.lower < column.upper,
            value if value < -REDUCED_COST_TOL => column.upper.is_finite() && column.lower < column.upper,
            _ => false,
        };
        let columns = root.integers.iter().map(reduced_cost).filter(is_at_bound).collect();
        Self { objective: program.objective, valid_below, columns }
    }

    /// Returns bounds that exclude only decisions that cost at least the cutoff.
    pub(super) fn fixings(&self, cutoff: f64) -> Vec<BoundChange> {
        let gap = cutoff - self.objective;
        if !(gap.is_finite() && gap > 0.0 && cutoff <= self.valid_below) {
            return Vec::new();
        }
        let fixing = |&ReducedCost { col, lower, upper, value }: &ReducedCost| {
            // The largest number of steps that stays below the cutoff.
            let steps = (gap / value.abs() + STEP_TOL).ceil() - 1.0;
            let change = match value > 0.0 {
                true => BoundChange { col, lower, upper: lower + steps, valid_below: cutoff },
                false => BoundChange { col, lower: upper - steps, upper, valid_below: cutoff },
            };
            (change.upper < upper || change.lower > lower).then_some(change)
        };
        self.columns.iter().filter_map(fixing).collect()
    }
}
