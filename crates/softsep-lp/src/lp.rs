//! One program held by HiGHS: built once, changed in place, solved again and again.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::ffi::Highs;
use crate::{Algorithm, Basis, LpError, Model, Toggle};

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Solved to optimality (for a MIP: to the gap asked for).
    Optimal,
    /// No feasible point.
    Infeasible,
    /// The objective falls without end.
    Unbounded,
    /// One of the two; presolve did not find out which.
    InfeasibleOrUnbounded,
    /// Stopped by the time limit.
    TimeLimit,
    /// Stopped by an iteration or solution limit.
    OtherLimit,
    /// Stopped by the interrupt flag.
    Interrupted,
    /// HiGHS gave up: numerical trouble.
    Failed,
}

/// A linear, mixed-integer or convex quadratic program in HiGHS.
///
/// Single-threaded and silent: parallelism is the caller's, across instances. The next solve starts from the basis that
/// the last one left (or that [`Lp::set_basis`] put there).
pub struct Lp {
    highs: Highs,
}

impl std::fmt::Debug for Lp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lp({} rows, {} columns)", self.rows(), self.cols())
    }
}

impl Lp {
    /// Hands `model` to a new HiGHS instance.
    pub fn new(model: &Model) -> Result<Self, LpError> {
        let mut highs = Highs::create()?;
        highs.set_bool(c"output_flag", false)?;
        // HiGHS's scheduler is per calling thread and defaults to half the machine for each: one thread, always.
        highs.set_int(c"threads", 1)?;
        highs.set_string(c"parallel", c"off")?;
        // HiGHS would drop entries below 1e-9 silently; this is the least that it allows.
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

    /// Chooses the algorithm for linear programs.
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

    /// Whether an interior point goes on to a basis. Without one it has no corner, and its point is as good as its
    /// tolerance.
    pub fn set_crossover(&mut self, on: bool) -> Result<(), LpError> {
        self.highs.set_string(c"run_crossover", if on { c"on" } else { c"off" })
    }

    /// How the dual simplex weighs rows: true for devex weights, false for steepest edges. Steepest edges take fewer
    /// pivots, but from a basis that is not all slack their weights cost a solve per row before the first.
    pub fn set_devex(&mut self, devex: bool) -> Result<(), LpError> {
        self.highs.set_int(c"simplex_dual_edge_weight_strategy", if devex { 1 } else { -1 })
    }

    /// Presolve on or off. Rays are only there with presolve off.
    pub fn set_presolve(&mut self, presolve: Toggle) -> Result<(), LpError> {
        self.highs.set_string(c"presolve", presolve.word())
    }

    /// Scaling of the simplex: on as HiGHS thinks best, or off.
    pub fn set_scaling(&mut self, on: bool) -> Result<(), LpError> {
        self.highs.set_int(c"simplex_scale_strategy", if on { 1 } else { 0 })
    }

    /// Primal and dual feasibility tolerance.
    pub fn set_tolerance(&mut self, tolerance: f64) -> Result<(), LpError> {
        self.highs.set_double(c"primal_feasibility_tolerance", tolerance)?;
        self.highs.set_double(c"dual_feasibility_tolerance", tolerance)
    }

    /// The relative gap at which a MIP may stop.
    pub fn set_mip_gap(&mut self, gap: f64) -> Result<(), LpError> {
        self.highs.set_double(c"mip_rel_gap", gap)?;
        self.highs.set_double(c"mip_abs_gap", 1e-9)
    }

    /// How far an integer may be from whole.
    pub fn set_integrality(&mut self, tolerance: f64) -> Result<(), LpError> {
        self.highs.set_double(c"mip_feasibility_tolerance", tolerance)
    }

    /// The seed of HiGHS's own random choices.
    pub fn set_seed(&mut self, seed: u64) -> Result<(), LpError> {
        self.highs.set_int(c"random_seed", (seed & 0x3fff_ffff) as i32)
    }

    /// The time that each later solve may take; `None` lifts the limit.
    pub fn set_time_limit(&mut self, limit: Option<Duration>) -> Result<(), LpError> {
        let seconds = limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64().max(1e-3));
        self.highs.set_double(c"time_limit", seconds)
    }

    /// Stops a running solve, and every later one, soon after `flag` is raised.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) -> Result<(), LpError> {
        self.highs.watch(flag)
    }

    /// Starts the next tree from a point of which these columns are known, all integers among them: the others are
    /// found by a linear program.
    pub fn set_start(&mut self, known: &[(usize, f64)]) -> Result<(), LpError> {
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
    pub fn set_bounds_of(&mut self, col: usize, lower: f64, upper: f64) -> Result<(), LpError> {
        self.highs.change_col_bounds(col, lower, upper)
    }

    /// Appends the rows of a model that has no columns of its own: its terms name columns of this one. The basis goes
    /// on with them as basic.
    pub fn add_rows(&mut self, rows: &Model) -> Result<(), LpError> {
        self.highs.add_rows(rows)
    }

    /// Takes rows out, those with `true`. The basis stays one if they are basic.
    pub fn delete_rows(&mut self, gone: &[bool]) -> Result<(), LpError> {
        let mut mask: Vec<i32> = gone.iter().map(|&gone| i32::from(gone)).collect();
        self.highs.delete_rows(&mut mask)
    }

    /// Pivots that each later simplex may take; `None` lifts the limit.
    pub fn set_iteration_limit(&mut self, limit: Option<u32>) -> Result<(), LpError> {
        let limit = limit.map_or(i32::MAX, |limit| i32::try_from(limit).unwrap_or(i32::MAX));
        self.highs.set_int(c"simplex_iteration_limit", limit)
    }

    /// Replaces the costs of all columns.
    pub fn set_costs(&mut self, cost: &[f64]) -> Result<(), LpError> {
        self.highs.change_costs(cost)
    }

    /// Solves.
    pub fn solve(&mut self) -> Result<Status, LpError> {
        let code = self.highs.run()?;
        Ok(match code {
            // HiGHS calls a model without columns empty and does not look at its rows: without rows there is nothing to
            // look at.
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

    /// Forgets basis and solution, so that the next solve is cold.
    pub fn forget(&mut self) -> Result<(), LpError> {
        self.highs.clear_solver()
    }

    /// The objective value of the last solve.
    pub fn objective(&self) -> f64 {
        self.highs.objective()
    }

    /// The values of all columns after the last solve.
    pub fn primal(&self, cols: &mut [f64]) -> Result<(), LpError> {
        self.highs.solution(Some(cols), None, None, None)
    }

    /// The dual values of all rows after the last solve: the objective's slope in the row's active bound.
    pub fn dual(&self, rows: &mut [f64]) -> Result<(), LpError> {
        self.highs.solution(None, None, None, Some(rows))
    }

    /// The reduced costs of all columns after the last solve.
    pub fn reduced_costs(&self, cols: &mut [f64]) -> Result<(), LpError> {
        self.highs.solution(None, Some(cols), None, None)
    }

    /// Whether the last solve left a primal solution that HiGHS holds to be feasible.
    pub fn has_feasible_point(&self) -> bool {
        matches!(self.highs.info_int(c"primal_solution_status"), Ok(2))
    }

    /// A Farkas ray over the rows of an infeasible linear program, if HiGHS has one (simplex, presolve off).
    pub fn dual_ray(&self, rows: &mut [f64]) -> Result<bool, LpError> {
        self.highs.dual_ray(rows)
    }

    /// A direction of unbounded descent over the columns, if HiGHS has one (simplex, presolve off).
    pub fn primal_ray(&self, cols: &mut [f64]) -> Result<bool, LpError> {
        self.highs.primal_ray(cols)
    }

    /// Copies the current basis into `basis`.
    pub fn basis(&self, basis: &mut Basis) -> Result<(), LpError> {
        basis.cols.resize(self.cols(), 0);
        basis.rows.resize(self.rows(), 0);
        self.highs.get_basis(&mut basis.cols, &mut basis.rows)
    }

    /// Whether the last solve left a basis.
    pub fn has_basis(&self) -> bool {
        matches!(self.highs.info_int(c"basis_validity"), Ok(1))
    }

    /// Starts the next solve from `basis`. HiGHS completes one that is singular or has too few or too many basic
    /// entries.
    pub fn set_basis(&mut self, basis: &Basis) -> Result<(), LpError> {
        self.highs.set_basis(&basis.cols, &basis.rows)
    }

    /// Gives the next solve of a MIP a point to start from, one value per column; HiGHS checks it.
    pub fn set_point(&mut self, cols: &[f64]) -> Result<(), LpError> {
        self.highs.set_solution(cols)
    }

    /// Simplex iterations of the last solve.
    pub fn simplex_iterations(&self) -> u64 {
        self.highs.info_int(c"simplex_iteration_count").map_or(0, |n| n.max(0) as u64)
    }

    /// Nodes of the last solve's tree.
    pub fn mip_nodes(&self) -> u64 {
        self.highs.info_long(c"mip_node_count").map_or(0, |nodes| nodes.max(0) as u64)
    }

    /// The bound that a MIP's tree proved, also when it was stopped early.
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
    fn rows_come_and_go_and_the_basis_stays() {
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
        // The last row has slack: without it nothing is left to do.
        lp.delete_rows(&[false, false, true]).unwrap();
        assert_eq!((lp.solve().unwrap(), lp.objective(), lp.simplex_iterations()), (Status::Optimal, 4.5, 0));
        lp.set_bounds_of(0, 0.0, 1.0).unwrap();
        lp.set_iteration_limit(Some(0)).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::OtherLimit);
        lp.set_iteration_limit(None).unwrap();
        assert_eq!((lp.solve().unwrap(), lp.objective()), (Status::Optimal, 5.0));
        more.add_row(0.0, 1.0, &[(2, 1.0)]);
        assert!(
            lp.add_rows(&more).is_err() && lp.delete_rows(&[true]).is_err() && lp.set_bounds_of(2, 0.0, 1.0).is_err()
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
    fn mixed_integer_and_quadratic() {
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
    fn a_tree_starts_from_what_is_known() {
        // max x + y + t, t ≤ x + y, x + y ≤ 1 with binaries x, y: y alone is as good as x alone, and what is known
        // decides.
        let mut model = Model::new();
        let [x, y] = [0, 1].map(|_| model.add_integer(-1.0, 0.0, 1.0));
        let t = model.add_col(-1.0, 0.0, 5.0);
        model.add_row(f64::NEG_INFINITY, 0.0, &[(t, 1.0), (x, -1.0), (y, -1.0)]);
        model.add_row(f64::NEG_INFINITY, 1.0, &[(x, 1.0), (y, 1.0)]);
        for known in [[(x, 1.0), (y, 0.0)], [(x, 0.0), (y, 1.0)]] {
            let mut lp = Lp::new(&model).unwrap();
            lp.set_presolve(Toggle::Off).unwrap();
            lp.set_start(&known).unwrap();
            assert_eq!(lp.solve().unwrap(), Status::Optimal);
            let mut point = [0.0; 3];
            lp.primal(&mut point).unwrap();
            assert_eq!((lp.objective(), [(x, point[x]), (y, point[y])]), (-2.0, known));
        }
    }

    /// A knapsack in many dimensions: it takes a tree.
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
    fn a_basis_put_together_by_hand_is_completed() {
        let mut lp = Lp::new(&diet()).unwrap();
        // Two basic entries too many.
        lp.set_basis(&Basis::new([BasisStatus::Basic; 2], [BasisStatus::Basic])).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        assert_eq!(lp.objective(), 4.0);
        // From the optimal basis there is nothing left to do.
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
        // Without time for anything else, the point given is what there is.
        let mut lp = Lp::new(&knapsack()).unwrap();
        lp.set_mip_gap(0.0).unwrap();
        lp.set_point(&point).unwrap();
        lp.set_interrupt(Arc::new(AtomicBool::new(true))).unwrap();
        lp.solve().unwrap();
        assert!(lp.has_feasible_point() && (lp.objective() - optimum).abs() < 1e-9, "{}", lp.objective());
        assert!(lp.set_point(&point[1..]).is_err());
    }

    #[test]
    fn a_raised_flag_stops_a_solve() {
        let flag = Arc::new(AtomicBool::new(true));
        let mut lp = Lp::new(&knapsack()).unwrap();
        lp.set_interrupt(flag).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Interrupted);
    }
}
