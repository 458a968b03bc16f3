//! A program in HiGHS: built once, modified in place, solved repeatedly.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::ffi::Highs;
use crate::{Algorithm, Basis, LpError, Model, Toggle};

/// The absolute gap at which a mixed-integer search may stop.
pub(crate) const MIP_ABSOLUTE_GAP: f64 = 1e-9;

/// The status of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Solved to optimality; for a MIP, to the requested gap.
    Optimal,
    /// No feasible point.
    Infeasible,
    /// The objective is unbounded below.
    Unbounded,
    /// Infeasible or unbounded; presolve did not distinguish the two.
    InfeasibleOrUnbounded,
    /// Stopped by the time limit.
    TimeLimit,
    /// Stopped by an iteration or solution limit.
    OtherLimit,
    /// Stopped by the interrupt flag.
    Interrupted,
    /// The solver failed, usually for numerical reasons.
    Failed,
}

/// A linear, mixed-integer or convex quadratic program in HiGHS.
///
/// Single-threaded and silent: the caller parallelises across instances. Each solve starts from the basis of the
/// previous one, or from that of [`Lp::set_basis`].
pub struct Lp {
    highs: Highs,
}

impl std::fmt::Debug for Lp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lp({} rows, {} columns)", self.rows(), self.cols())
    }
}

impl Lp {
    /// Passes `model` to a new HiGHS instance.
    pub fn new(model: &Model) -> Result<Self, LpError> {
        let mut highs = Highs::create()?;
        highs.set_bool(c"output_flag", false)?;
        // The scheduler of HiGHS is per calling thread and uses half the machine by default; one thread is set instead.
        highs.set_int(c"threads", 1)?;
        highs.set_string(c"parallel", c"off")?;
        // HiGHS drops entries below 1e-9 silently by default; 1e-12 is the least value that it accepts.
        highs.set_double(c"small_matrix_value", 1e-12)?;
        highs.pass_model(model)?;
        Ok(Self { highs })
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.highs.cols()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.highs.rows()
    }

    /// Sets the algorithm for linear programs.
    pub fn set_algorithm(&mut self, algorithm: Algorithm) -> Result<(), LpError> {
        let (solver, strategy) = match algorithm {
            Algorithm::Choose => (c"choose", 1),
            Algorithm::DualSimplex => (c"simplex", 1),
            Algorithm::PrimalSimplex => (c"simplex", 4),
            Algorithm::InteriorPoint => (c"ipx", 1),
        };
        self.highs.set_string(c"solver", solver)?;
        self.highs.set_int(c"simplex_strategy", strategy)
    }

    /// Sets whether an interior point method continues to a basis. Without crossover the solution is not basic, and its
    /// accuracy is that of the method's tolerance.
    pub fn set_crossover(&mut self, on: bool) -> Result<(), LpError> {
        self.highs.set_string(c"run_crossover", if on { c"on" } else { c"off" })
    }

    /// Sets the pricing of the dual simplex: true for devex weights, false for steepest edge. Steepest edge takes fewer
    /// pivots, but from a basis other than the slack basis its initial weights cost one solve per row.
    pub fn set_devex(&mut self, devex: bool) -> Result<(), LpError> {
        self.highs.set_int(c"simplex_dual_edge_weight_strategy", if devex { 1 } else { -1 })
    }

    /// Sets presolve. Rays are available only with presolve off.
    pub fn set_presolve(&mut self, presolve: Toggle) -> Result<(), LpError> {
        self.highs.set_string(c"presolve", presolve.word())
    }

    /// Sets the scaling of the simplex: the default strategy of HiGHS, or none.
    pub fn set_scaling(&mut self, on: bool) -> Result<(), LpError> {
        self.highs.set_int(c"simplex_scale_strategy", if on { 1 } else { 0 })
    }

    /// Sets the primal and dual feasibility tolerance.
    pub fn set_tolerance(&mut self, tolerance: f64) -> Result<(), LpError> {
        self.highs.set_double(c"primal_feasibility_tolerance", tolerance)?;
        self.highs.set_double(c"dual_feasibility_tolerance", tolerance)
    }

    /// Sets the dual feasibility tolerance. HiGHS accepts 1e-10 and above; its default is 1e-7.
    pub fn set_dual_tolerance(&mut self, tolerance: f64) -> Result<(), LpError> {
        self.highs.set_double(c"dual_feasibility_tolerance", tolerance)
    }

    /// Sets the relative gap at which a MIP may stop.
    pub fn set_mip_gap(&mut self, gap: f64) -> Result<(), LpError> {
        self.highs.set_double(c"mip_rel_gap", gap)?;
        self.highs.set_double(c"mip_abs_gap", MIP_ABSOLUTE_GAP)
    }

    /// Sets whether a MIP's tree may start again from a root that was presolved further.
    pub fn set_mip_restarts(&mut self, on: bool) -> Result<(), LpError> {
        self.highs.set_bool(c"mip_allow_restart", on)
    }

    /// Sets the largest number of nodes of a MIP's tree.
    pub fn set_mip_nodes(&mut self, nodes: u64) -> Result<(), LpError> {
        self.highs.set_int(c"mip_max_nodes", i32::try_from(nodes).unwrap_or(i32::MAX))
    }

    /// Sets the integrality tolerance: the largest distance of an integer column from an integer.
    pub fn set_integrality(&mut self, tolerance: f64) -> Result<(), LpError> {
        self.highs.set_double(c"mip_feasibility_tolerance", tolerance)
    }

    /// Sets the random seed of HiGHS.
    pub fn set_seed(&mut self, seed: u64) -> Result<(), LpError> {
        self.highs.set_int(c"random_seed", (seed & 0x3fff_ffff) as i32)
    }

    /// Sets the time limit of each later solve; `None` removes it.
    pub fn set_time_limit(&mut self, limit: Option<Duration>) -> Result<(), LpError> {
        let seconds = limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64().max(1e-3));
        self.highs.set_double(c"time_limit", seconds)
    }

    /// Stops a running solve, and every later one, soon after `flag` is set.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) -> Result<(), LpError> {
        self.highs.set_interrupt(flag)
    }

    /// Starts the next branch-and-bound tree from a partial point with the given columns, including all integers. HiGHS
    /// completes it by a linear program.
    pub fn set_partial_start(&mut self, known: &[(usize, f64)]) -> Result<(), LpError> {
        let index: Vec<i32> = known.iter().map(|&(col, _)| col as i32).collect();
        let value: Vec<f64> = known.iter().map(|&(_, value)| value).collect();
        self.highs.set_sparse_solution(&index, &value)
    }

    /// Replaces the bounds of all rows.
    pub fn set_row_bounds(&mut self, lower: &[f64], upper: &[f64]) -> Result<(), LpError> {
        self.highs.change_rows_bounds(lower, upper)
    }

    /// Replaces the bounds of all columns.
    pub fn set_col_bounds(&mut self, lower: &[f64], upper: &[f64]) -> Result<(), LpError> {
        self.highs.change_cols_bounds(lower, upper)
    }

    /// Replaces the bounds of one column.
    pub fn set_bounds_of_col(&mut self, col: usize, lower: f64, upper: f64) -> Result<(), LpError> {
        self.highs.change_col_bounds(col, lower, upper)
    }

    /// Appends the rows of a model without columns, whose terms refer to columns of this program. They are basic in the
    /// current basis.
    pub fn add_rows(&mut self, rows: &Model) -> Result<(), LpError> {
        self.highs.add_rows(rows)
    }

    /// Deletes the rows with `true`. The basis remains valid if they are basic.
    pub fn delete_rows(&mut self, gone: &[bool]) -> Result<(), LpError> {
        let mut mask: Vec<i32> = gone.iter().map(|&gone| i32::from(gone)).collect();
        self.highs.delete_rows(&mut mask)
    }

    /// Sets the limit of simplex iterations of each later solve; `None` removes it.
    pub fn set_iteration_limit(&mut self, limit: Option<u32>) -> Result<(), LpError> {
        let limit = limit.map_or(i32::MAX, |limit| i32::try_from(limit).unwrap_or(i32::MAX));
        self.highs.set_int(c"simplex_iteration_limit", limit)
    }

    /// Replaces the costs of all columns.
    pub fn set_costs(&mut self, cost: &[f64]) -> Result<(), LpError> {
        self.highs.change_costs(cost)
    }

    /// Solves the program.
    pub fn solve(&mut self) -> Result<Status, LpError> {
        let code = self.highs.run()?;
        Ok(match code {
            // HiGHS reports a model without columns as empty and does not check its rows; without rows it is optimal.
            6 if self.rows() == 0 => Status::Optimal,
            7 => Status::Optimal,
            8 => Status::Infeasible,
            9 => Status::InfeasibleOrUnbounded,
            10 => Status::Unbounded,
            13 => Status::TimeLimit,
            11 | 12 | 14 | 16 => Status::OtherLimit,
            17 => Status::Interrupted,
            0..=6 | 15 | 18 => Status::Failed,
            code => {
                return Err(LpError::UnknownCode { call: "run", code: i64::from(code) });
            }
        })
    }

    /// Discards basis and solution, so that the next solve starts from scratch.
    pub fn clear_solver(&mut self) -> Result<(), LpError> {
        self.highs.clear_solver()
    }

    /// The objective value of the last solve.
    pub fn objective(&self) -> f64 {
        self.highs.objective()
    }

    /// Writes the values of all columns after the last solve.
    pub fn primal(&self, cols: &mut [f64]) -> Result<(), LpError> {
        self.highs.solution(Some(cols), None, None, None)
    }

    /// Writes the dual values of all rows after the last solve: the slope of the objective in the active bound of the
    /// row.
    pub fn dual(&self, rows: &mut [f64]) -> Result<(), LpError> {
        self.highs.solution(None, None, None, Some(rows))
    }

    /// Writes the reduced costs of all columns after the last solve.
    pub fn reduced_costs(&self, cols: &mut [f64]) -> Result<(), LpError> {
        self.highs.solution(None, Some(cols), None, None)
    }

    /// Whether the last solve has a primal solution that is feasible according to HiGHS.
    pub fn has_feasible_point(&self) -> bool {
        matches!(self.highs.info_int(c"primal_solution_status"), Ok(2))
    }

    /// Writes a Farkas ray over the rows of an infeasible linear program. Returns false if HiGHS has none (it needs
    /// simplex with presolve off).
    pub fn dual_ray(&self, rows: &mut [f64]) -> Result<bool, LpError> {
        self.highs.dual_ray(rows)
    }

    /// Writes a direction of unbounded descent over the columns. Returns false if HiGHS has none (it needs simplex with
    /// presolve off).
    pub fn primal_ray(&self, cols: &mut [f64]) -> Result<bool, LpError> {
        self.highs.primal_ray(cols)
    }

    /// Copies the current basis into `basis`.
    pub fn basis(&self, basis: &mut Basis) -> Result<(), LpError> {
        basis.cols.resize(self.cols(), 0);
        basis.rows.resize(self.rows(), 0);
        self.highs.get_basis(&mut basis.cols, &mut basis.rows)
    }

    /// Whether the last solve has a basis.
    pub fn has_basis(&self) -> bool {
        matches!(self.highs.info_int(c"basis_validity"), Ok(1))
    }

    /// Starts the next solve from `basis`. HiGHS repairs a basis that is singular or has the wrong number of basic
    /// entries.
    pub fn set_basis(&mut self, basis: &Basis) -> Result<(), LpError> {
        self.highs.set_basis(&basis.cols, &basis.rows)
    }

    /// Sets the start point of the next MIP solve, with one value per column; HiGHS checks its feasibility.
    pub fn set_start_point(&mut self, cols: &[f64]) -> Result<(), LpError> {
        self.highs.set_solution(cols)
    }

    /// Number of simplex iterations of the last solve.
    pub fn simplex_iterations(&self) -> u64 {
        self.highs.info_int(c"simplex_iteration_count").map_or(0, |n| n.max(0) as u64)
    }

    /// Number of branch-and-bound nodes of the last solve.
    pub fn mip_nodes(&self) -> u64 {
        self.highs.info_long(c"mip_node_count").map_or(0, |nodes| nodes.max(0) as u64)
    }

    /// The proven bound of a MIP, also if it was stopped early.
    pub fn mip_dual_bound(&self) -> Option<f64> {
        self.highs.info_double(c"mip_dual_bound").ok().filter(|bound| bound.is_finite())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::BasisStatus;

    fn diet() -> Model {
        let mut model = Model::new();
        let x = model.add_col(1.0, 0.0, 2.0);
        let y = model.add_col(2.0, 0.0, f64::INFINITY);
        model.add_row(3.0, f64::INFINITY, &[(x, 1.0), (y, 1.0)]);
        model
    }

    #[test]
    fn right_hand_sides_change_in_place_and_duals_follow() {
        let mut lp = Lp::new(&diet()).unwrap();
        lp.set_presolve(Toggle::Off).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        let mut dual = [0.0];
        lp.dual(&mut dual).unwrap();
        assert_eq!((lp.objective(), dual[0]), (4.0, 2.0));
        lp.set_row_bounds(&[1.0], &[f64::INFINITY]).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        lp.dual(&mut dual).unwrap();
        assert_eq!((lp.objective(), dual[0]), (1.0, 1.0));
    }

    #[test]
    fn rows_are_added_and_deleted_and_the_basis_stays() {
        let mut lp = Lp::new(&diet()).unwrap();
        lp.set_presolve(Toggle::Off).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        let mut more = Model::new();
        more.add_row(1.5, f64::INFINITY, &[(1, 1.0)]);
        more.add_row(f64::NEG_INFINITY, 90.0, &[(0, 1.0), (1, 1.0)]);
        lp.add_rows(&more).unwrap();
        assert_eq!((lp.solve().unwrap(), lp.objective(), lp.rows()), (Status::Optimal, 4.5, 3));
        let mut reduced = [0.0; 2];
        lp.reduced_costs(&mut reduced).unwrap();
        assert_eq!(reduced, [0.0, 0.0]);
        // The last row has slack: without it no pivot is needed.
        lp.delete_rows(&[false, false, true]).unwrap();
        assert_eq!((lp.solve().unwrap(), lp.objective(), lp.simplex_iterations()), (Status::Optimal, 4.5, 0));
        lp.set_bounds_of_col(0, 0.0, 1.0).unwrap();
        lp.set_iteration_limit(Some(0)).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::OtherLimit);
        lp.set_iteration_limit(None).unwrap();
        assert_eq!((lp.solve().unwrap(), lp.objective()), (Status::Optimal, 5.0));
        more.add_row(0.0, 1.0, &[(2, 1.0)]);
        assert!(
            lp.add_rows(&more).is_err()
                && lp.delete_rows(&[true]).is_err()
                && lp.set_bounds_of_col(2, 0.0, 1.0).is_err()
        );
    }

    #[test]
    fn infeasible_and_unbounded_have_rays() {
        let mut model = Model::new();
        model.add_col(-1.0, 0.0, f64::INFINITY);
        model.add_row(f64::NEG_INFINITY, -1.0, &[(0, 1.0)]);
        let mut lp = Lp::new(&model).unwrap();
        lp.set_presolve(Toggle::Off).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Infeasible);
        let mut ray = [0.0];
        assert!(lp.dual_ray(&mut ray).unwrap() && ray[0] != 0.0);
        lp.set_row_bounds(&[1.0], &[f64::INFINITY]).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Unbounded);
        assert!(lp.primal_ray(&mut ray).unwrap() && ray[0] > 0.0);
    }

    #[test]
    fn wrong_lengths_are_refused_not_read() {
        let mut lp = Lp::new(&diet()).unwrap();
        let error = lp.set_row_bounds(&[1.0, 2.0], &[3.0]).unwrap_err();
        assert_eq!(error.to_string(), "row lower bounds has 2 entries where 1 are needed");
    }

    #[test]
    fn mixed_integer_and_quadratic_programs_are_solved() {
        let mut model = Model::new();
        let x = model.add_integer(-1.0, 0.0, 10.0);
        model.add_row(f64::NEG_INFINITY, 2.5, &[(x, 1.0)]);
        let mut lp = Lp::new(&model).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        assert!((lp.objective() + 2.0).abs() < 1e-9);

        let mut model = Model::new();
        let x = model.add_col(-2.0, 0.0, 10.0);
        model.add_quadratic(x, x, 2.0); // x² − 2x
        let mut lp = Lp::new(&model).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        assert!((lp.objective() + 1.0).abs() < 1e-7);
    }

    #[test]
    fn a_tree_starts_from_a_partial_point() {
        // max x + y + t, t ≤ x + y, x + y ≤ 1 with binaries x, y: both optima have the same value, and the start
        // decides.
        let mut model = Model::new();
        let [x, y] = [0, 1].map(|_| model.add_integer(-1.0, 0.0, 1.0));
        let t = model.add_col(-1.0, 0.0, 5.0);
        model.add_row(f64::NEG_INFINITY, 0.0, &[(t, 1.0), (x, -1.0), (y, -1.0)]);
        model.add_row(f64::NEG_INFINITY, 1.0, &[(x, 1.0), (y, 1.0)]);
        for known in [[(x, 1.0), (y, 0.0)], [(x, 0.0), (y, 1.0)]] {
            let mut lp = Lp::new(&model).unwrap();
            lp.set_presolve(Toggle::Off).unwrap();
            lp.set_partial_start(&known).unwrap();
            assert_eq!(lp.solve().unwrap(), Status::Optimal);
            let mut point = [0.0; 3];
            lp.primal(&mut point).unwrap();
            assert_eq!((lp.objective(), [(x, point[x]), (y, point[y])]), (-2.0, known));
        }
    }

    /// A multidimensional knapsack that needs a branch-and-bound tree.
    fn knapsack() -> Model {
        let mut model = Model::new();
        for i in 0..60 {
            model.add_integer(-1.0 - f64::from(i % 7), 0.0, 1.0);
        }
        for r in 0..20 {
            let terms: Vec<_> = (0..60).map(|i| (i, f64::from(((i * 7 + r * 13) % 11) as u32 + 1))).collect();
            model.add_row(f64::NEG_INFINITY, 100.5, &terms);
        }
        model
    }

    #[test]
    fn a_basis_with_too_many_basic_entries_is_repaired() {
        let mut lp = Lp::new(&diet()).unwrap();
        // Two basic entries too many.
        lp.set_basis(&Basis::new([BasisStatus::Basic; 2], [BasisStatus::Basic])).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        assert_eq!(lp.objective(), 4.0);
        // The optimal basis needs no pivot.
        let mut found = Basis::default();
        lp.basis(&mut found).unwrap();
        let mut lp = Lp::new(&diet()).unwrap();
        lp.set_basis(&found).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        assert_eq!((lp.objective(), lp.simplex_iterations()), (4.0, 0));
    }

    #[test]
    fn a_tree_starts_from_the_point_given() {
        let mut lp = Lp::new(&knapsack()).unwrap();
        lp.set_mip_gap(0.0).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        assert!(lp.mip_nodes() > 0);
        let (optimum, mut point) = (lp.objective(), vec![0.0; 60]);
        lp.primal(&mut point).unwrap();
        // Interrupted at once, the solve returns the start point.
        let mut lp = Lp::new(&knapsack()).unwrap();
        lp.set_mip_gap(0.0).unwrap();
        lp.set_start_point(&point).unwrap();
        lp.set_interrupt(Arc::new(AtomicBool::new(true))).unwrap();
        lp.solve().unwrap();
        assert!(lp.has_feasible_point() && (lp.objective() - optimum).abs() < 1e-9, "{}", lp.objective());
        assert!(lp.set_start_point(&point[1..]).is_err());
    }

    #[test]
    fn a_raised_flag_stops_a_solve() {
        let flag = Arc::new(AtomicBool::new(true));
        let mut lp = Lp::new(&knapsack()).unwrap();
        lp.set_interrupt(flag).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Interrupted);
    }
}
