//! Bounds of node relaxations by the duals of HiGHS, as those of linear masters have them (`master/dual_bound.rs`).
//!
//! A reduced cost within the dual tolerance of HiGHS counts with the bound of its column. Where the column has none, it
//! counts as zero: there the bound is HiGHS's.

use softsep_lp::Status;

use super::cut_rows::CutRows;
use super::relaxation::NodeRelaxation;
use super::root_model::RootModel;
use crate::error::Error;
use crate::master::{confirmed, proved_objective};
use crate::numeric::tolerances::LP_FEASIBILITY_TOL;
use crate::run::Interrupt;

impl NodeRelaxation {
    /// Reads the objective of the optimum that HiGHS has found, and the bound that its duals prove. Where they do not
    /// prove the objective, the program is solved again with a stricter tolerance. Returns the status of the last
    /// solve.
    pub(super) fn prove_objective(&mut self, root: &RootModel, pool: &CutRows) -> Result<Status, Error> {
        let Self { lp, rows, sum, lower, upper, dual, static_rows, .. } = self;
        let mut bound_of = |dual: &[f64]| {
            sum.begin(&root.model, dual);
            rows.add_to(sum, &dual[*static_rows..], root, pool);
            Some(sum.bound_over_finite(lower, upper).0)
        };
        let (bound, status) = proved_objective(lp, dual, &mut bound_of, &root.clock)?;
        lp.set_dual_tolerance(LP_FEASIBILITY_TOL)?;
        match status {
            Status::TimeLimit => return Err(Interrupt::TimeLimit.into()),
            Status::Interrupted => return Err(Interrupt::Interrupted.into()),
            _ => {}
        }
        self.objective = self.lp.objective();
        self.is_confirmed = bound == Some(self.objective);
        self.bound = bound.unwrap_or(f64::NEG_INFINITY);
        Ok(status)
    }

    /// Whether the duals of the optimum that HiGHS has found prove its objective.
    pub(super) fn proves_objective(&mut self, root: &RootModel, pool: &CutRows) -> Result<bool, Error> {
        self.dual.resize(self.lp.rows(), 0.0);
        self.lp.dual(&mut self.dual)?;
        self.sum.begin(&root.model, &self.dual);
        self.rows.add_to(&mut self.sum, &self.dual[self.static_rows..], root, pool);
        let (bound, _) = self.sum.bound_over_finite(&self.lower, &self.upper);
        Ok(confirmed(self.lp.objective(), Some(bound)).is_some())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::definition::{Row, Variable};
    use crate::model::{Problem, ProblemDefinition};
    use crate::recourse::{Cut, CutKind};
    use crate::run::Clock;
    use crate::tree::node::TreeNode;
    use crate::tree::relaxation::RelaxationStatus;
    use crate::uncertainty::SetDefinition;

    /// Objective and bound of the root for `min cost·x` over x between 0 and 1e9, with a recourse cost of at least 0.
    fn solve(cost: f64) -> (f64, f64) {
        let mut file = ProblemDefinition::default();
        file.first_stage.variables = vec![Variable::new("x", cost).bounded(0.0, 1e9)];
        file.uncertainty.parameters.push("g".into());
        file.uncertainty.set = SetDefinition::Box { lower: vec![0.0], upper: vec![1.0] };
        file.recourse.variables.push(Variable::new("y", 1.0));
        let mut row = Row::new("r");
        row.y = vec![("y".into(), 1.0)];
        row.lower = 0.0;
        file.recourse.constraints.push(row);
        let (problem, clock) = (Problem::new(&file).unwrap(), Clock::unlimited());
        let root = RootModel::new(&problem, &[], &clock).unwrap();
        let mut pool = CutRows::default();
        pool.add(Cut { kind: CutKind::Optimality, intercept: 0.0, slope: vec![0.0] });
        let mut program = NodeRelaxation::new(&root).unwrap();
        let infinite = f64::INFINITY;
        assert!(program.load(&mut TreeNode::root(0), &[], infinite, &root, &pool).unwrap());
        assert_eq!(program.optimise(infinite, &root, &pool).unwrap(), RelaxationStatus::Optimal);
        (program.objective, program.bound)
    }

    #[test]
    fn a_cost_within_the_tolerance_of_highs_counts() {
        for cost in [-5e-8, -5e-10] {
            let (objective, bound) = solve(cost);
            assert!((bound - cost * 1e9).abs() <= 1e-9, "{cost}: {objective} and {bound}");
        }
        // Even the least tolerance of HiGHS takes this cost for zero. The bound does not.
        let (objective, bound) = solve(-5e-11);
        assert!((bound + 0.05).abs() <= 1e-9, "{objective} and {bound}");
    }
}
