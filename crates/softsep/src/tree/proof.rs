//! Proofs of what HiGHS says of node relaxations: of optima by its duals, as those of linear masters are
//! (`master/dual_bound.rs`), and of infeasible ones by a Farkas certificate.

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
    /// prove the objective, the program is solved again with a stricter tolerance. Returns the status of the last solve.
    pub(super) fn prove_objective(&mut self, root: &RootModel, pool: &CutRows) -> Result<Status, Error> {
        let Self { lp, rows, sum, lower, upper, dual, static_rows, .. } = self;
        let mut bound_of = |dual: &[f64]| {
            sum.begin(&root.model, dual);
            rows.add_to(sum, &dual[*static_rows..], root, pool);
            sum.bound(lower, upper)
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

    /// Whether what HiGHS says of its last solve is proved: its objective by the duals, or that no point is feasible.
    pub(super) fn is_proved(&mut self, status: Status, root: &RootModel, pool: &CutRows) -> Result<bool, Error> {
        match status {
            Status::Optimal => {
                self.dual.resize(self.lp.rows(), 0.0);
                self.lp.dual(&mut self.dual)?;
                self.sum.begin(&root.model, &self.dual);
                self.rows.add_to(&mut self.sum, &self.dual[self.static_rows..], root, pool);
                Ok(confirmed(self.lp.objective(), self.sum.bound(&self.lower, &self.upper)).is_some())
            }
            Status::Infeasible => self.is_proved_infeasible(root, pool),
            _ => Ok(false),
        }
    }

    /// Whether a ray of HiGHS, up to its sign, proves that the program is infeasible.
    pub(super) fn is_proved_infeasible(&mut self, root: &RootModel, pool: &CutRows) -> Result<bool, Error> {
        self.dual.resize(self.lp.rows(), 0.0);
        if !self.lp.dual_ray(&mut self.dual)? {
            return Ok(false);
        }
        for _ in 0..2 {
            self.sum.begin_farkas(&root.model, &self.dual);
            self.rows.add_to(&mut self.sum, &self.dual[self.static_rows..], root, pool);
            if self.sum.bound(&self.lower, &self.upper).is_some_and(|gain| gain.value > gain.rounding) {
                return Ok(true);
            }
            self.dual.iter_mut().for_each(|pi| *pi = -*pi);
        }
        Ok(false)
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

    /// Status, objective and bound of the root for `min cost·x` over x between 0 and 1e9, with a recourse cost of at least
    /// 0 and, unless `is_feasible`, a cut that asks for 2e9.
    fn solve(cost: f64, is_feasible: bool) -> (RelaxationStatus, f64, f64) {
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
        if !is_feasible {
            pool.add(Cut { kind: CutKind::Feasibility, intercept: 2e9, slope: vec![-1.0] });
        }
        let mut program = NodeRelaxation::new(&root).unwrap();
        let infinite = f64::INFINITY;
        assert!(program.load(&mut TreeNode::root(0), &[], infinite, &root, &pool).unwrap());
        let status = program.optimise(infinite, &root, &pool).unwrap();
        (status, program.objective, program.bound)
    }

    #[test]
    fn a_cost_within_the_tolerance_of_highs_counts() {
        for cost in [-5e-8, -5e-10] {
            let (_, objective, bound) = solve(cost, true);
            assert!((bound - cost * 1e9).abs() <= 1e-9, "{cost}: {objective} and {bound}");
        }
        // Even the least tolerance of HiGHS takes this cost for zero. The bound does not.
        let (_, objective, bound) = solve(-5e-11, true);
        assert!((bound + 0.05).abs() <= 1e-9, "{objective} and {bound}");
    }

    #[test]
    fn an_infeasible_relaxation_has_a_certificate() {
        assert_eq!(solve(1.0, false).0, RelaxationStatus::Infeasible);
    }
}
