//! Primal heuristics: rounding and diving. Both stay in X, since only integers are rounded and the other columns are
//! solved for.

use std::collections::HashSet;

use super::cut_rows::CutRows;
use super::node::{BoundChange, TreeNode};
use super::relaxation::{NodeRelaxation, RelaxationStatus};
use super::root_model::RootModel;
use crate::error::Error;
use crate::numeric::tolerances::INTEGRALITY_TOL;

/// A dive fixes all integers within this distance of an integer at once.
const DIVE_DISTANCE: f64 = 0.1;

#[derive(Debug)]
pub(super) struct PrimalHeuristics {
    pub(super) program: NodeRelaxation,
    /// Integer assignments tried so far.
    tried: HashSet<Vec<i64>>,
}

impl PrimalHeuristics {
    pub(super) fn new(root: &RootModel) -> Result<Self, Error> {
        Ok(Self { program: NodeRelaxation::new(root)?, tried: HashSet::new() })
    }

    /// Returns whether the integers of `x` were not tried yet, and records them.
    pub(super) fn is_new(&mut self, x: &[f64], root: &RootModel) -> bool {
        self.tried.insert(root.integers.iter().map(|&j| x[j].round() as i64).collect())
    }

    /// Rounds the integers of `x` and solves for the other columns. Returns the decision, or `None` if the integers
    /// were tried before or the cuts of the pool show that they cost at least the cutoff.
    pub(super) fn round(
        &mut self,
        from: &TreeNode,
        x: &[f64],
        cutoff: f64,
        root: &RootModel,
        pool: &CutRows,
    ) -> Result<Option<Vec<f64>>, Error> {
        let mut node = from.clone();
        if !self.is_new(x, root) || !self.program.load(&mut node, &[], cutoff, root, pool)? {
            return Ok(None);
        }
        self.program.solve_with_integers_fixed(&self.program.rounded(x, root), cutoff, root, pool)
    }

    /// Solves for the other columns of the last decision once more, with the cuts that came since. Returns the decision
    /// as [`round`](Self::round) does.
    pub(super) fn polish(
        &mut self,
        x: &[f64],
        cutoff: f64,
        root: &RootModel,
        pool: &CutRows,
    ) -> Result<Option<Vec<f64>>, Error> {
        self.program.solve_with_integers_fixed(x, cutoff, root, pool)
    }

    /// Fixes integers step by step, the least fractional first, and solves the relaxation after each step. Returns the
    /// decision at the end, as [`round`](Self::round) does.
    pub(super) fn dive(
        &mut self,
        from: &TreeNode,
        fixings: &[BoundChange],
        cutoff: f64,
        root: &RootModel,
        pool: &CutRows,
    ) -> Result<Option<Vec<f64>>, Error> {
        let mut node = from.clone();
        if !self.program.load(&mut node, fixings, cutoff, root, pool)? {
            return Ok(None);
        }
        // Each pass fixes at least one integer.
        for _ in 0..=root.integers.len() {
            if self.program.optimise(cutoff, root, pool)? != RelaxationStatus::Optimal {
                return Ok(None);
            }
            let fractional = self.program.fractional(root);
            let distance = |value: f64| (value - value.round()).abs();
            let Some(nearest) = fractional.iter().map(|&(_, value)| distance(value)).min_by(f64::total_cmp) else {
                break;
            };
            if fractional.iter().all(|&(_, value)| distance(value) <= INTEGRALITY_TOL) {
                break;
            }
            for (j, value) in fractional {
                if distance(value) <= nearest.max(DIVE_DISTANCE) {
                    self.program.set_bounds_of_col(j, value.round(), value.round())?;
                }
            }
        }
        let x = self.program.values[..root.dim()].to_vec();
        if !self.is_new(&x, root) {
            return Ok(None);
        }
        self.program.solve_with_integers_fixed(&self.program.rounded(&x, root), cutoff, root, pool)
    }
}
