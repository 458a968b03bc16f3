//! Master problem over cuts alone that stays in HiGHS between solves. To build it anew takes longer than the few pivots
//! after a new cut.

use softsep_lp::{Basis, Lp, Model, Status};

use super::dual_bound::proved_lower;
use super::scenario_copies::{ModelVariant, ScenarioCopies, cut_terms};
use super::solve::{MasterSolution, MasterStart, MasterStatus, linear_program};
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::Cut;
use crate::run::Clock;

/// The linear program, its model for the proof of bounds, and the number of cuts in it.
pub(super) struct PersistentCutMaster {
    lp: Lp,
    model: Model,
    cuts: usize,
}

impl PersistentCutMaster {
    /// Builds the program, which must be linear, without scenario copies and without integers.
    pub(super) fn new(program: &ScenarioCopies, start: &MasterStart, seed: u64, clock: &Clock) -> Result<Self, Error> {
        let mut model = Model::new();
        program.write(&mut model, ModelVariant::FULL)?;
        model.set_offset(program.problem.first.constant);
        let mut lp = linear_program(&model, seed, clock)?;
        start.apply(&mut lp)?;
        Ok(Self { lp, model, cuts: program.cuts.len() })
    }

    /// Adds the cuts after those that are in the program. The earlier ones must be unchanged.
    pub(super) fn add_cuts<'c>(&mut self, cuts: impl Iterator<Item = &'c Cut>, theta: usize) -> Result<(), Error> {
        let (mut rows, mut terms) = (Model::new(), Vec::new());
        for cut in cuts.skip(self.cuts) {
            cut_terms(cut, theta, 1.0, &mut terms);
            rows.add_row(cut.intercept, f64::INFINITY, &terms);
            self.model.add_row(cut.intercept, f64::INFINITY, &terms);
        }
        self.cuts += rows.rows();
        Ok(self.lp.add_rows(&rows)?)
    }

    /// Solves from the last basis. Returns `None` unless HiGHS finds an optimum; the caller then solves from scratch.
    pub(super) fn solve(&mut self, problem: &Problem, clock: &Clock) -> Result<Option<MasterSolution>, Error> {
        self.lp.set_time_limit(clock.left())?;
        if self.lp.solve()? != Status::Optimal || !self.lp.has_basis() {
            return Ok(None);
        }
        let (lower, status) = proved_lower(&mut self.lp, &self.model, clock)?;
        if status != Status::Optimal || !self.lp.has_basis() {
            return Ok(None);
        }
        let first = &problem.first;
        let (mut point, mut basis) = (vec![0.0; self.lp.cols()], Basis::default());
        self.lp.primal(&mut point)?;
        self.lp.basis(&mut basis)?;
        let theta = point[first.dim()];
        point.truncate(first.dim());
        for (j, x) in point.iter_mut().enumerate() {
            *x = x.clamp(first.lower[j], first.upper[j]);
        }
        Ok(Some(MasterSolution {
            x: Some(point),
            theta: Some(theta),
            lower,
            status: MasterStatus::Optimal,
            basis: Some(basis),
            nodes: 0,
        }))
    }
}
