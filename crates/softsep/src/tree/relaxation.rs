//! The linear program of one worker: loads nodes, solves them with cuts and tangents, and probes branches.

use softsep_lp::{Basis, DualSum, Lp, Status};

use super::cut_rows::CutRows;
use super::dynamic_rows::{DynamicRows, RelaxationBasis, RowKey};
use super::node::{BoundChange, TreeNode};
use super::root_model::RootModel;
use super::{Point, TreeWork};
use crate::error::Error;
use crate::numeric::tolerances::{FEASIBILITY_TOL, INTEGRALITY_TOL, ROUNDING_RISE_TOL};
use crate::recourse::SimplexRung;
use crate::run::Interrupt;

/// Distance from an integer at which rounding needs no new solve, since rows do not change noticeably.
const EXACT_INTEGRALITY_TOL: f64 = 1e-9;

/// Gap between a square and its tangents at an integral point, relative to the objective where that is above 1.
const TANGENT_TOL: f64 = 1e-9;

/// Rows that are added in one round, and rounds at a fractional point, which branching leaves soon.
const MAX_ROWS_PER_ROUND: usize = 30;
const MAX_FRACTIONAL_ROUNDS: u32 = 8;

/// Rounds of tangents. Each at least halves the distance to the point.
const MAX_TANGENT_ROUNDS: u32 = 300;

/// Sizes of the boxes in which an unbounded relaxation is solved.
const BOX_SIZES: [f64; 3] = [1e4, 1e6, 1e9];

/// Status at which the relaxation of a node ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelaxationStatus {
    /// An optimum below the cutoff.
    Optimal,
    /// No feasible point exists.
    Infeasible,
    /// The objective is at or above the cutoff.
    CutoffReached,
    /// No optimum exists. The values are those of an optimum within a box.
    Unbounded,
    /// HiGHS could not solve it. There are no values, and no bound but that of the parent.
    Unsolved,
}

/// Result of a strong branching probe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Probe {
    /// The branch is infeasible.
    Infeasible,
    /// Optimum of the branch.
    Optimum(f64),
    /// Objective after the pivots. It is no bound.
    Estimate(f64),
}

#[derive(Debug)]
pub(super) struct NodeRelaxation {
    pub(super) lp: Lp,
    pub(super) rows: DynamicRows,
    /// Number of rows of X and of scenario copies.
    pub(super) static_rows: usize,
    /// Current bounds of all columns.
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// Values of all columns at the last optimum, and its basis.
    pub(super) values: Vec<f64>,
    basis: Basis,
    /// Objective of the last optimum by HiGHS, and the bound that its duals prove.
    pub(super) objective: f64,
    pub(super) bound: f64,
    /// Whether the bound is the objective.
    pub(super) is_confirmed: bool,
    pub(super) dual: Vec<f64>,
    pub(super) sum: DualSum,
    /// True if the pool has an optimality cut, or the program a scenario copy.
    eta_is_bounded: bool,
    /// Number of the node whose optimal basis HiGHS holds.
    current_node: Option<u64>,
    pub(super) work: TreeWork,
}

impl NodeRelaxation {
    pub(super) fn new(root: &RootModel) -> Result<Self, Error> {
        Ok(Self {
            lp: root.program()?,
            rows: DynamicRows::default(),
            static_rows: root.static_rows,
            lower: root.lower.clone(),
            upper: root.upper.clone(),
            values: vec![0.0; root.cols()],
            basis: Basis::default(),
            objective: f64::NEG_INFINITY,
            bound: f64::NEG_INFINITY,
            is_confirmed: false,
            dual: Vec::new(),
            sum: DualSum::default(),
            eta_is_bounded: false,
            current_node: None,
            work: TreeWork::default(),
        })
    }

    /// Returns the number of cuts and tangents in the program.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Loads a node with the fixings that are valid at the cutoff, and sets its `valid_below`. Returns false if bounds
    /// cross.
    pub(super) fn load(
        &mut self,
        node: &mut TreeNode,
        fixings: &[BoundChange],
        cutoff: f64,
        root: &RootModel,
        pool: &CutRows,
    ) -> Result<bool, Error> {
        self.lower.copy_from_slice(&root.lower);
        self.upper.copy_from_slice(&root.upper);
        node.valid_below = f64::INFINITY;
        let (fixed, branched): (Vec<&BoundChange>, Vec<&BoundChange>) =
            fixings.iter().chain(&node.changes).partition(|change| change.valid_below < f64::INFINITY);
        for change in branched.into_iter().chain(fixed.into_iter().filter(|change| cutoff <= change.valid_below)) {
            let (lower, upper) = (&mut self.lower[change.col], &mut self.upper[change.col]);
            if change.lower > *lower || change.upper < *upper {
                node.valid_below = node.valid_below.min(change.valid_below);
                (*lower, *upper) = (lower.max(change.lower), upper.min(change.upper));
            }
        }
        if root.integers.iter().any(|&j| self.lower[j] > self.upper[j]) {
            return Ok(false);
        }
        self.rows.remove_idle(self.static_rows, &mut self.lp)?;
        if self.current_node != Some(node.parent) && self.current_node != Some(node.number) {
            match &node.basis {
                Some(start) => drop(self.rows.import_basis(start, root, pool, &mut self.lp)?),
                None => self.lp.clear_solver()?,
            }
        }
        self.current_node = None;
        self.basis = Basis::default();
        self.eta_is_bounded = pool.bounds_eta() || !root.copies.is_empty();
        self.set_bounds(root)?;
        Ok(true)
    }

    /// Passes the bounds to HiGHS. Without an optimality cut η would be −∞. It is fixed at zero then, and the objective
    /// counts as −∞.
    fn set_bounds(&mut self, root: &RootModel) -> Result<(), Error> {
        if !self.eta_is_bounded {
            (self.lower[root.eta()], self.upper[root.eta()]) = (0.0, 0.0);
        }
        Ok(self.lp.set_col_bounds(&self.lower, &self.upper)?)
    }

    /// Solves the loaded node until no cut of the pool is violated and tangents are tight. At a fractional point, which
    /// branching leaves soon, some violation may remain.
    pub(super) fn optimise(
        &mut self,
        cutoff: f64,
        root: &RootModel,
        pool: &CutRows,
    ) -> Result<RelaxationStatus, Error> {
        let mut round = 0;
        loop {
            let bounded = match self.solve(root)? {
                Status::Optimal => true,
                Status::Unbounded
                    if self.rows.add((0..pool.cuts().len()).map(RowKey::Cut), root, pool, &mut self.lp)? =>
                {
                    continue;
                }
                Status::Unbounded if self.solve_in_box(root)? => false,
                Status::Infeasible => return Ok(RelaxationStatus::Infeasible),
                _ => {
                    self.lp.clear_solver()?;
                    return Ok(RelaxationStatus::Unsolved);
                }
            };
            (self.objective, self.bound, self.is_confirmed) = (f64::NEG_INFINITY, f64::NEG_INFINITY, false);
            if bounded && self.eta_is_bounded && self.prove_objective(root, pool)? != Status::Optimal {
                self.lp.clear_solver()?;
                return Ok(RelaxationStatus::Unsolved);
            }
            self.lp.primal(&mut self.values)?;
            if bounded {
                self.lp.basis(&mut self.basis)?;
                self.rows.update_idle_counts(&self.basis, self.static_rows);
                if self.bound >= cutoff {
                    return Ok(RelaxationStatus::CutoffReached);
                }
            }
            round += 1;
            if !self.add_violated_rows(round, bounded, root, pool)? {
                return Ok(if bounded { RelaxationStatus::Optimal } else { RelaxationStatus::Unbounded });
            }
        }
    }

    /// Adds violated cuts and tangents. Returns false if there are none, or if the rounds at a fractional point are
    /// used up.
    fn add_violated_rows(
        &mut self,
        round: u32,
        bounded: bool,
        root: &RootModel,
        pool: &CutRows,
    ) -> Result<bool, Error> {
        let is_integral = self.max_fractionality(root) <= INTEGRALITY_TOL;
        let mut violated: Vec<(f64, RowKey)> = Vec::new();
        if !root.squares.is_empty()
            && round <= if is_integral || !bounded { MAX_TANGENT_ROUNDS } else { MAX_FRACTIONAL_ROUNDS }
        {
            let tolerance = TANGENT_TOL * self.lp.objective().abs().max(1.0) / root.squares.len() as f64;
            for (square, coefficients) in root.squares.iter().enumerate() {
                let at: f64 = coefficients.iter().map(|&(j, entry)| entry * self.values[j]).sum();
                if 0.5 * at * at - self.values[root.theta(square)] > tolerance {
                    violated.push((f64::INFINITY, RowKey::Tangent(square, at.to_bits())));
                }
            }
        }
        if is_integral || round <= MAX_FRACTIONAL_ROUNDS {
            let eta = self.eta(root);
            for (index, cut) in pool.cuts().iter().enumerate() {
                let violation = cut.violation(&self.values, eta);
                if violation > 0.0 && !self.rows.contains(&RowKey::Cut(index)) {
                    violated.push((violation, RowKey::Cut(index)));
                }
            }
        }
        violated.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        violated.truncate(MAX_ROWS_PER_ROUND.max(root.squares.len()));
        let new = self.rows.add(violated.into_iter().map(|(_, key)| key), root, pool, &mut self.lp)?;
        if new && !bounded {
            self.set_bounds(root)?;
        }
        Ok(new)
    }

    fn eta(&self, root: &RootModel) -> f64 {
        if self.eta_is_bounded { self.values[root.eta()] } else { f64::NEG_INFINITY }
    }

    /// Solves once within the time limit, on the ladder of attempts that other linear programs have. Returns
    /// [`Status::Failed`] if none of them ends with a definite status.
    fn solve(&mut self, root: &RootModel) -> Result<Status, Error> {
        let is_definite = |status| matches!(status, Status::Optimal | Status::Infeasible | Status::Unbounded);
        for rung in SimplexRung::LADDER {
            self.work.retries += u64::from(rung != SimplexRung::Warm);
            rung.prepare(&mut self.lp)?;
            let attempt = self.attempt(root);
            rung.restore(&mut self.lp)?;
            let status = attempt?;
            // An interior-point method may leave no basis, which nodes start from.
            if is_definite(status) && (status != Status::Optimal || self.lp.has_basis()) {
                return Ok(status);
            }
        }
        Ok(Status::Failed)
    }

    fn attempt(&mut self, root: &RootModel) -> Result<Status, Error> {
        self.lp.set_time_limit(root.clock.left())?;
        let status = self.lp.solve()?;
        self.work.programs += 1;
        self.work.pivots += self.lp.simplex_iterations();
        match status {
            Status::TimeLimit => Err(Interrupt::TimeLimit.into()),
            Status::Interrupted => Err(Interrupt::Interrupted.into()),
            status => Ok(status),
        }
    }

    /// Solves an unbounded relaxation within a box, for a point to separate. Returns false if no box has one.
    fn solve_in_box(&mut self, root: &RootModel) -> Result<bool, Error> {
        for size in BOX_SIZES {
            let ends = (0..root.dim()).map(|j| match (self.lower[j].is_finite(), self.upper[j].is_finite()) {
                (true, _) => (self.lower[j], self.upper[j].min(self.lower[j] + size)),
                (false, true) => (self.upper[j] - size, self.upper[j]),
                (false, false) => (-size, size),
            });
            let (mut lower, mut upper): (Vec<f64>, Vec<f64>) = ends.unzip();
            lower.extend_from_slice(&self.lower[root.dim()..]);
            upper.extend_from_slice(&self.upper[root.dim()..]);
            self.lp.set_col_bounds(&lower, &upper)?;
            if self.solve(root)? == Status::Optimal {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the largest distance of an integer column from an integer.
    fn max_fractionality(&self, root: &RootModel) -> f64 {
        root.integers.iter().map(|&j| (self.values[j] - self.values[j].round()).abs()).fold(0.0, f64::max)
    }

    /// Returns the fractional integer columns with their values. If all are within [`INTEGRALITY_TOL`] of an integer,
    /// returns those that are not exactly integral.
    pub(super) fn fractional(&self, root: &RootModel) -> Vec<(usize, f64)> {
        let fractionality = |least: f64| -> Vec<(usize, f64)> {
            let values = root.integers.iter().map(|&j| (j, self.values[j]));
            values
                .filter(|&(j, value)| (value - value.round()).abs() > least && self.lower[j] < self.upper[j])
                .collect()
        };
        let fractional = fractionality(INTEGRALITY_TOL);
        if fractional.is_empty() { fractionality(0.0) } else { fractional }
    }

    /// Returns an integer column that is not fixed, with a value to branch at: for nodes whose relaxation has no
    /// fractional column. The one with the fewest integers is next to being fixed.
    pub(super) fn unfixed(&self, root: &RootModel) -> Option<(usize, f64)> {
        let range = |j: &usize| self.upper[*j] - self.lower[*j];
        let unfixed = root.integers.iter().filter(|j| range(j) > 0.0 && range(j).is_finite());
        let col = *unfixed.min_by(|a, b| range(a).total_cmp(&range(b)))?;
        Some((col, (0.5 * (self.lower[col] + self.upper[col] - 1.0)).floor() + 0.5))
    }

    /// Returns the last optimum as a point for the callback, rounded to integral if it is within [`INTEGRALITY_TOL`].
    ///
    /// The point counts as fractional if rounding would raise the objective: with a large coefficient a millionth can
    /// have the effect of one.
    pub(super) fn point(&mut self, root: &RootModel, pool: &CutRows) -> Result<Point, Error> {
        let fractionality = self.max_fractionality(root);
        if fractionality > INTEGRALITY_TOL {
            return Ok(self.fractional_point(root));
        }
        let x = self.rounded_values(root);
        let violation_amount = root.problem.first.violation(&x).map_or(0.0, |violation| violation.amount);
        if fractionality <= EXACT_INTEGRALITY_TOL && violation_amount <= 0.5 * FEASIBILITY_TOL {
            return Ok(Point { x, eta: self.eta(root), bound: self.bound, integral: true });
        }
        let (objective, bound, is_confirmed) = (self.objective, self.bound, self.is_confirmed);
        let (basis, values) = (self.basis.clone(), self.values.clone());
        let fixed_solution = self.solve_with_integers_fixed(&x, f64::INFINITY, root, pool)?;
        let rise = self.objective - objective;
        let integral = match fixed_solution {
            Some(x) if !(rise > ROUNDING_RISE_TOL * objective.abs().max(1.0)) => {
                Some(Point { x, eta: self.eta(root), bound, integral: true })
            }
            _ => None,
        };
        (self.objective, self.bound, self.is_confirmed) = (objective, bound, is_confirmed);
        (self.basis, self.values) = (basis, values);
        self.restore()?;
        Ok(integral.unwrap_or_else(|| self.fractional_point(root)))
    }

    /// Adds the cuts that a point violates, and returns whether any were new. A cut that is in the program already is
    /// violated only by the tolerance of HiGHS.
    pub(super) fn add_violated_cuts(&mut self, point: &Point, root: &RootModel, pool: &CutRows) -> Result<bool, Error> {
        let cuts = pool.cuts().iter().enumerate().filter(|(_, cut)| cut.violation(&point.x, point.eta) > 0.0);
        self.rows.add(cuts.map(|(index, _)| RowKey::Cut(index)), root, pool, &mut self.lp)
    }

    fn fractional_point(&self, root: &RootModel) -> Point {
        let x = (0..root.dim()).map(|j| self.values[j].clamp(self.lower[j], self.upper[j])).collect();
        Point { x, eta: self.eta(root), bound: self.bound, integral: false }
    }

    /// Returns the values with integers rounded, within the bounds.
    fn rounded_values(&self, root: &RootModel) -> Vec<f64> {
        self.rounded(&self.values[..root.dim()], root)
    }

    /// Returns a decision with integers rounded, within the bounds.
    pub(super) fn rounded(&self, x: &[f64], root: &RootModel) -> Vec<f64> {
        let mut x = x.to_vec();
        // Adding zero turns −0 into 0, which reads better in results.
        root.integers.iter().for_each(|&j| x[j] = x[j].round() + 0.0);
        x.iter_mut().enumerate().for_each(|(j, x)| *x = x.clamp(self.lower[j], self.upper[j]));
        x
    }

    /// Solves with the integers fixed at those of `x`. Returns the decision if it is in X and costs less than the
    /// cutoff.
    pub(super) fn solve_with_integers_fixed(
        &mut self,
        x: &[f64],
        cutoff: f64,
        root: &RootModel,
        pool: &CutRows,
    ) -> Result<Option<Vec<f64>>, Error> {
        let bounds = (self.lower.clone(), self.upper.clone());
        for &j in &root.integers {
            (self.lower[j], self.upper[j]) = (x[j], x[j]);
        }
        self.set_bounds(root)?;
        let status = self.optimise(cutoff, root, pool)?;
        let x = self.rounded_values(root);
        (self.lower, self.upper) = bounds;
        self.set_bounds(root)?;
        self.current_node = None;
        let is_member = || root.problem.first.violation(&x).is_none_or(|violation| violation.amount <= FEASIBILITY_TOL);
        Ok((matches!(status, RelaxationStatus::Optimal | RelaxationStatus::Unbounded) && is_member()).then_some(x))
    }

    /// Restores the basis of the last optimum in HiGHS. Rows that were added since are basic in it.
    fn restore(&mut self) -> Result<(), Error> {
        match self.basis.is_empty() {
            true => self.lp.clear_solver()?,
            false => self.lp.set_basis(&self.basis.extended(self.static_rows + self.rows.len()))?,
        }
        Ok(())
    }

    /// Marks the program as at the optimum of `node`, and returns its basis as a start for other nodes.
    pub(super) fn store_basis(&mut self, node: &TreeNode) -> RelaxationBasis {
        self.current_node = Some(node.number);
        self.basis = self.basis.extended(self.static_rows + self.rows.len());
        self.rows.export_basis(&self.basis, self.values.len(), self.static_rows)
    }

    /// Sets the bounds of a column for the next solve from the current basis.
    pub(super) fn set_bounds_of_col(&mut self, col: usize, lower: f64, upper: f64) -> Result<(), Error> {
        (self.lower[col], self.upper[col]) = (lower, upper);
        self.current_node = None;
        Ok(self.lp.set_bounds_of_col(col, lower, upper)?)
    }

    /// Makes a few pivots towards the optimum with other bounds of a column.
    pub(super) fn probe(
        &mut self,
        col: usize,
        (lower, upper): (f64, f64),
        pivots: u32,
        root: &RootModel,
        pool: &CutRows,
    ) -> Result<Probe, Error> {
        self.lp.set_bounds_of_col(col, lower, upper)?;
        self.lp.set_iteration_limit(Some(pivots))?;
        self.lp.set_time_limit(root.clock.left())?;
        let status = self.lp.solve()?;
        self.work.probes += 1;
        self.work.probe_pivots += self.lp.simplex_iterations();
        let probe = match status {
            Status::TimeLimit => return Err(Interrupt::TimeLimit.into()),
            Status::Interrupted => return Err(Interrupt::Interrupted.into()),
            Status::Infeasible => Probe::Infeasible,
            Status::Optimal => {
                let kept = (self.lower[col], self.upper[col]);
                (self.lower[col], self.upper[col]) = (lower, upper);
                let is_proved = self.proves_objective(root, pool);
                (self.lower[col], self.upper[col]) = kept;
                let optimum = self.lp.objective();
                if is_proved? { Probe::Optimum(optimum) } else { Probe::Estimate(optimum.max(self.objective)) }
            }
            Status::OtherLimit => Probe::Estimate(self.lp.objective().max(self.objective)),
            // No information. The branch itself will be solved with retries.
            _ => Probe::Estimate(self.objective),
        };
        self.lp.set_iteration_limit(None)?;
        self.lp.set_bounds_of_col(col, self.lower[col], self.upper[col])?;
        self.restore()?;
        Ok(probe)
    }
}
