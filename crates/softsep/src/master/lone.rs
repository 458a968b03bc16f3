//! The first master: one copy of the recourse and no cut. θ is the cost of its y, so that it is solved as the linear program that it is, without θ.

use std::sync::Arc;

use softsep_lp::{Basis, BasisStatus, Model, sift};

use super::copies::{Copies, Part};
use super::solve::{Ended, Solved, linear_program};
use crate::error::Error;
use crate::run::{Clock, solve_patiently};

/// Columns per row from which a program is sifted. Location–transportation of 30 to 200 sites takes a half to a tenth of the time of a simplex on all columns so.
const WIDE: usize = 10;

impl Copies<'_> {
    /// Whether there is nothing but a copy.
    pub(super) fn is_lone(&self) -> bool {
        self.scenarios.len() == 1 && self.cuts.is_empty() && !self.is_conic() && !self.problem.first.has_integers()
    }

    /// Solves a lone copy from nothing; what is found is told as of the program with θ.
    pub(super) fn solve_lone(&self, seed: u64, clock: &Clock) -> Result<Solved, Error> {
        let first = &self.problem.first;
        let mut model = Model::new();
        self.write(&mut model, Part::LONE)?;
        model.set_offset(first.constant);
        let sifted = if model.cols() >= WIDE * model.rows() { self.solve_sifted(&model, seed, clock)? } else { None };
        let mut solved = match sifted {
            Some(solved) => solved,
            None => self.attempt_linear(linear_program(&model, seed, clock)?, solve_patiently, &model, 0.0, clock)?.0,
        };
        if let (Some(x), Some(lower)) = (&solved.x, solved.lower) {
            solved.theta = Some(lower - first.value(x));
        }
        // θ stands at the cost of y: its row holds.
        solved.basis = solved.basis.map(|basis| {
            let theta = first.dim();
            let cols = (0..model.cols()).map(|j| if j == theta { BasisStatus::Basic } else { basis.col(j) });
            Basis::new(cols, (0..model.rows()).map(|i| basis.row(i)).chain([BasisStatus::Lower]))
        });
        Ok(solved)
    }

    /// `None` where sifting does not lead to an optimum.
    fn solve_sifted(&self, model: &Model, seed: u64, clock: &Clock) -> Result<Option<Solved>, Error> {
        let first = &self.problem.first;
        let sifted = sift(model, |lp| {
            lp.set_seed(seed)?;
            lp.set_interrupt(Arc::clone(clock.interrupt()))?;
            lp.set_time_limit(clock.left())
        })?;
        Ok(sifted.map(|sifted| {
            let x = (0..first.dim()).map(|j| sifted.primal[j].clamp(first.lower[j], first.upper[j])).collect();
            Solved {
                x: Some(x),
                theta: None,
                lower: Some(sifted.objective),
                ended: Ended::Optimal,
                basis: Some(sifted.basis),
                nodes: 0,
            }
        }))
    }
}
