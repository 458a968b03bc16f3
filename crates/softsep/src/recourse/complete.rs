//! Complete recourse: whether some y satisfies the rows whatever x and ξ are.

use softsep_lp::{Algorithm, Lp, Model, Status};

use super::RecourseError;
use crate::model::Problem;

/// The largest number of equations and ranged rows, each of which takes two linear programs.
const MAX_EQUATIONS: usize = 64;

/// The largest size of a multiplier in the unit cube that counts as zero.
const ZERO_TOL: f64 = 1e-6;

/// Returns whether the rows are known to have a solution for every right-hand side. By Farkas' lemma that is so where
/// zero is the only λ with the signs of the rows whose `Gᵀλ` no y without a bound can exploit. False where it is not
/// known: with cones, or with many equations.
pub(crate) fn has_complete_recourse(problem: &Problem) -> Result<bool, RecourseError> {
    let recourse = &problem.recourse;
    if !recourse.cones.is_empty() {
        return Ok(false);
    }
    let mut model = Model::new();
    let mut signs = vec![0.0; recourse.rows()];
    let mut equations = Vec::new();
    for i in 0..recourse.rows() {
        let (below, above) = (recourse.row_lower[i].is_finite(), recourse.row_upper[i].is_finite());
        model.add_col(0.0, if above { -1.0 } else { 0.0 }, if below { 1.0 } else { 0.0 });
        match (below, above) {
            (true, true) => equations.push(i),
            _ => signs[i] = f64::from(u8::from(above)) - f64::from(u8::from(below)),
        }
    }
    if equations.len() > MAX_EQUATIONS {
        return Ok(false);
    }
    let by_column = recourse.g.transpose();
    for j in 0..recourse.dim() {
        // A y that may rise for ever needs (Gᵀλ)ⱼ ≤ 0, one that may fall for ever needs (Gᵀλ)ⱼ ≥ 0.
        let lower = if recourse.lower[j].is_finite() { f64::NEG_INFINITY } else { 0.0 };
        let upper = if recourse.upper[j].is_finite() { f64::INFINITY } else { 0.0 };
        model.add_row(lower, upper, &by_column.row(j).collect::<Vec<_>>());
    }
    if recourse.rows() == 0 {
        return Ok(true);
    }
    let mut lp = Lp::new(&model)?;
    lp.set_algorithm(Algorithm::PrimalSimplex)?;
    let mut is_zero = |costs: &[f64]| -> Result<bool, RecourseError> {
        lp.set_costs(costs)?;
        Ok(lp.solve()? == Status::Optimal && lp.objective() >= -ZERO_TOL)
    };
    if !is_zero(&signs)? {
        return Ok(false);
    }
    let mut costs = vec![0.0; recourse.rows()];
    for i in equations {
        for sign in [1.0, -1.0] {
            costs[i] = sign;
            if !is_zero(&costs)? {
                return Ok(false);
            }
        }
        costs[i] = 0.0;
    }
    Ok(true)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::{Purpose, stream};
    use crate::testing::{Recipe, random_problem};
    use rand::RngExt;

    /// Whether some y satisfies the rows moved by `shift`.
    fn has_solution(problem: &Problem, shift: &[f64]) -> bool {
        let recourse = &problem.recourse;
        let mut model = Model::new();
        for (&lower, &upper) in recourse.lower.iter().zip(&recourse.upper) {
            model.add_col(0.0, lower, upper);
        }
        for (i, shift) in shift.iter().enumerate() {
            let terms: Vec<_> = recourse.g.row(i).collect();
            model.add_row(recourse.row_lower[i] + shift, recourse.row_upper[i] + shift, &terms);
        }
        Lp::new(&model).unwrap().solve().unwrap() == Status::Optimal
    }

    #[test]
    fn complete_recourse_is_recourse_to_large_right_hand_sides() {
        let mut counts = [0, 0];
        for seed in 0..300 {
            let recipe = Recipe { incomplete: seed % 2 == 0, ..Recipe::default() };
            let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
            let rows = problem.recourse.rows();
            let mut random = stream(seed, Purpose::Start, 0);
            let shifts: Vec<Vec<f64>> =
                (0..60).map(|_| (0..rows).map(|_| random.random_range(-1e4..1e4)).collect()).collect();
            let is_complete = has_complete_recourse(&problem).unwrap();
            // Right-hand sides in random directions meet every cone of directions without recourse that is not narrow.
            if is_complete {
                assert!(shifts.iter().all(|shift| has_solution(&problem, shift)), "{seed}");
            } else {
                counts[0] += usize::from(shifts.iter().any(|shift| !has_solution(&problem, shift)));
            }
            counts[1] += usize::from(is_complete);
        }
        assert!(counts[0] > 100 && counts[1] > 30, "{counts:?}");
    }
}
