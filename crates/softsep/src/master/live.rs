//! A linear master over cuts alone, which stays in HiGHS from one solve to the next: to build it takes longer than the
//! few pivots after a new cut.

use softsep_lp::{Basis, Lp, Model, Status};

use super::copies::{Copies, Part, cut_terms};
use super::solve::{Ended, Solved, Start, linear_program};
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::Cut;
use crate::run::Clock;

/// The program, with the cuts up to a number.
pub(super) struct Live {
    lp: Lp,
    cuts: usize,
}

impl Live {
    /// The program as it stands; it must be linear, without copies and without integers.
    pub(super) fn new(program: &Copies, start: &Start, seed: u64, clock: &Clock) -> Result<Self, Error> {
        let mut model = Model::new();
        program.write(&mut model, Part::WHOLE)?;
        model.set_offset(program.problem.first.constant);
        let mut lp = linear_program(&model, seed, clock)?;
        start.give(&mut lp)?;
        Ok(Self { lp, cuts: program.cuts.len() })
    }

    /// Takes in the cuts that came since. Those before must be the same as ever.
    pub(super) fn take_in<'c>(&mut self, cuts: impl Iterator<Item = &'c Cut>, theta: usize) -> Result<(), Error> {
        let (mut rows, mut terms) = (Model::new(), Vec::new());
        for cut in cuts.skip(self.cuts) {
            cut_terms(cut, theta, 1.0, &mut terms);
            rows.add_row(cut.intercept, f64::INFINITY, &terms);
        }
        self.cuts += rows.rows();
        Ok(self.lp.add_rows(&rows)?)
    }

    /// Solves; `None` where it is not optimal at once, for whoever knows what to make of that.
    pub(super) fn solve(&mut self, problem: &Problem, clock: &Clock) -> Result<Option<Solved>, Error> {
        self.lp.set_time_limit(clock.left())?;
        if self.lp.solve()? != Status::Optimal || !self.lp.has_basis() {
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
        Ok(Some(Solved {
            x: Some(point),
            theta: Some(theta),
            lower: Some(self.lp.objective()),
            ended: Ended::Optimal,
            basis: Some(basis),
            nodes: 0,
        }))
    }
}
