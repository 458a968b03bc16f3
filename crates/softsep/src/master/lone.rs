//! The first master: one copy of the recourse and no cut. θ is the cost of its y, so that it is solved as the linear
//! program that it is, without θ.

use std::sync::Arc;

use softsep_lp::{Basis, BasisStatus, Model, sift};

use super::copies::{Copies, Part};
use super::solve::{Ended, Solved, linear_program};
use crate::error::Error;
use crate::run::{Clock, solve_until};

/// Columns per row from which a program is sifted. Location–transportation takes four fifths of the time of a primal
/// simplex on all columns so with 30 sites, a third with 70 and a tenth with 200.
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
            None => self.attempt_linear(linear_program(&model, seed, clock)?, solve_until, &model, 0.0, clock)?.0,
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use softsep_lp::{Lp, Status};

    use super::*;
    use crate::master::MasterProblem;
    use crate::model::Problem;
    use crate::recourse::{Answer, engine};
    use crate::testing::{Recipe, Size, random_problem, transport_problem};

    fn families() -> Vec<Problem> {
        let mut files = Vec::new();
        for seed in 1..=4 {
            // From 20 sites on there are ten columns per row, and more.
            files.extend([3, 8, 20, 30].map(|n| transport_problem(n, false, seed)));
        }
        let recipe = Recipe { set: "budget", size: Size::Medium, ..Recipe::default() };
        files.extend((1..=32).map(|seed| random_problem(&recipe, seed)));
        files.iter().map(|file| Problem::new(file).unwrap()).collect()
    }

    #[test]
    fn the_first_master_is_solved_and_its_basis_leads_to_the_recourse() {
        let clock = Clock::unlimited();
        let (problems, mut at_once) = (families(), 0);
        for problem in &problems {
            let mut master = MasterProblem::new(problem, &clock).unwrap();
            let mut model = Model::new();
            master.stacked().write(&mut model, Part::WHOLE).unwrap();
            model.set_offset(problem.first.constant);
            let mut whole = Lp::new(&model).unwrap();
            assert_eq!(whole.solve().unwrap(), Status::Optimal);
            let solved = master.solve(None, 0.0, 1, &clock).unwrap();
            let (x, theta, lower) = (solved.x.unwrap(), solved.theta.unwrap(), solved.lower.unwrap());
            let size = lower.abs().max(1.0);
            assert!((lower - whole.objective()).abs() <= 1e-7 * size, "{lower}, not {}", whole.objective());
            // With the basis of the stacked program there is nothing left to do.
            assert!(whole.set_basis(&solved.basis.unwrap()).is_ok() && whole.solve().unwrap() == Status::Optimal);
            assert_eq!(whole.simplex_iterations(), 0);

            let mut nominal = vec![0.0; problem.set.dim()];
            problem.set.nominal(&mut nominal);
            let (mut recourse, mut answer) = (engine(problem, &clock).unwrap(), Answer::new(problem));
            recourse.start_from(&master.recourse_start().unwrap()).unwrap();
            recourse.at(&x);
            recourse.solve(&nominal, &mut answer).unwrap();
            assert!((answer.cost - theta).abs() <= 1e-6 * size, "{} is not θ = {theta}", answer.cost);
            at_once += recourse.work().reused;
        }
        assert!(at_once as usize >= problems.len() * 9 / 10, "{at_once} of {}", problems.len());
    }
}
