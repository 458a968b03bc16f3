//! The first master problem: one scenario copy and no cut. θ equals the cost of its y, so that it is solved as a linear
//! program without θ.

use std::sync::Arc;

use softsep_lp::{Basis, BasisStatus, Model, sift};

use super::dual_bound::confirmed_objective;
use super::scenario_copies::{ModelVariant, ScenarioCopies};
use super::solve::{MasterSolution, MasterStatus, linear_program};
use crate::error::Error;
use crate::run::{Clock, solve_until};

/// Columns per row from which a program is solved by sifting. Compared with a primal simplex on all columns, sifting
/// takes four fifths of the time on location–transportation with 30 sites, a third with 70 and a tenth with 200.
const SIFTING_RATIO: usize = 10;

impl ScenarioCopies<'_> {
    /// Returns whether the master is linear and consists of one copy, without cuts and integers.
    pub(super) fn is_single_copy(&self) -> bool {
        self.scenarios.len() == 1 && self.cuts.is_empty() && !self.is_conic() && !self.problem.first.has_integers()
    }

    /// Solves a single copy from scratch. Solution and basis are those of the program with θ.
    pub(super) fn solve_single_copy(&self, seed: u64, clock: &Clock) -> Result<MasterSolution, Error> {
        let first = &self.problem.first;
        let mut model = Model::new();
        self.write(&mut model, ModelVariant::SINGLE_COPY)?;
        model.set_offset(first.constant);
        let sifted =
            if model.cols() >= SIFTING_RATIO * model.rows() { self.solve_sifted(&model, seed, clock)? } else { None };
        let (mut solved, objective) = match sifted {
            Some(solved) => (solved.clone(), solved.lower),
            None => {
                let lp = linear_program(&model, seed, clock)?;
                let attempt = self.attempt_linear(lp, solve_until, &model, clock)?;
                (attempt.solution, attempt.objective)
            }
        };
        if let (Some(x), Some(objective)) = (&solved.x, objective) {
            solved.theta = Some(objective - first.value(x));
        }
        // θ is basic at the cost of y, and its row is at its bound.
        solved.basis = solved.basis.map(|basis| {
            let theta = first.dim();
            let cols = (0..model.cols()).map(|j| if j == theta { BasisStatus::Basic } else { basis.col(j) });
            Basis::new(cols, (0..model.rows()).map(|i| basis.row(i)).chain([BasisStatus::Lower]))
        });
        Ok(solved)
    }

    /// Solves by sifting. Returns `None` if sifting does not find an optimum, or its duals do not
    /// prove one.
    fn solve_sifted(&self, model: &Model, seed: u64, clock: &Clock) -> Result<Option<MasterSolution>, Error> {
        let first = &self.problem.first;
        let sifted = sift(model, |lp| {
            lp.set_seed(seed)?;
            lp.set_interrupt(Arc::clone(clock.interrupt()))?;
            lp.set_time_limit(clock.left())
        })?;
        Ok(sifted.and_then(|sifted| {
            let lower = confirmed_objective(model, &sifted.dual, sifted.objective)?;
            let x = (0..first.dim()).map(|j| sifted.primal[j].clamp(first.lower[j], first.upper[j])).collect();
            Some(MasterSolution {
                x: Some(x),
                theta: None,
                lower: Some(lower),
                status: MasterStatus::Optimal,
                basis: Some(sifted.basis),
                nodes: 0,
            })
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
    fn the_first_master_is_solved_and_its_basis_gives_a_basis_of_the_recourse() {
        let clock = Clock::unlimited();
        let (problems, mut reused) = (families(), 0);
        for problem in &problems {
            let mut master = MasterProblem::new(problem, &clock).unwrap();
            let mut model = Model::new();
            master.stacked().write(&mut model, ModelVariant::FULL).unwrap();
            model.set_offset(problem.first.constant);
            let mut full = Lp::new(&model).unwrap();
            assert_eq!(full.solve().unwrap(), Status::Optimal);
            let solved = master.solve(None, 0.0, 1, &clock).unwrap();
            let (x, theta, lower) = (solved.x.unwrap(), solved.theta.unwrap(), solved.lower.unwrap());
            let size = lower.abs().max(1.0);
            assert!((lower - full.objective()).abs() <= 1e-7 * size, "{lower}, not {}", full.objective());
            // The basis of the program with θ is optimal without a pivot.
            assert!(full.set_basis(&solved.basis.unwrap()).is_ok() && full.solve().unwrap() == Status::Optimal);
            assert_eq!(full.simplex_iterations(), 0);

            let mut nominal = vec![0.0; problem.set.dim()];
            problem.set.nominal(&mut nominal);
            let (mut recourse, mut answer) = (engine(problem, &clock).unwrap(), Answer::new(problem));
            recourse.start_from(&master.recourse_start().unwrap()).unwrap();
            recourse.at(&x);
            recourse.solve(&nominal, &mut answer).unwrap();
            assert!((answer.cost - theta).abs() <= 1e-6 * size, "{} is not θ = {theta}", answer.cost);
            reused += recourse.work().reused;
        }
        assert!(reused as usize >= problems.len() * 9 / 10, "{reused} of {}", problems.len());
    }
}
