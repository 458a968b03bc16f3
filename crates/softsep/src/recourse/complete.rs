//! Whether some y satisfies the rows at every scenario, once one does at the nominal scenario.

use softsep_lp::{Algorithm, Lp, Model, Status};

use super::RecourseError;
use crate::model::Problem;
use crate::numeric::dot;
use crate::numeric::tolerances::LP_FEASIBILITY_TOL;

/// The largest number of equations and ranged rows, each of which takes up to two linear programs.
const MAX_EQUATIONS: usize = 64;

/// The largest size of a multiplier in the unit cube that counts as zero.
const ZERO_TOL: f64 = 1e-6;

/// The ways in which scenarios may tighten a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Tightening {
    /// Some scenario raises the side that bounds the row from below.
    below: bool,
    /// Some scenario lowers the side that bounds the row from above.
    above: bool,
}

/// Returns whether a decision with recourse at the nominal scenario is known to have recourse at every member of the
/// set.
///
/// By Farkas' lemma a recession direction of y absorbs a change of right-hand sides where no λ with the signs of the
/// rows, and whose `Gᵀλ` no y without a bound can exploit, gains from the change. That is so where all such λ are zero
/// on the sides of rows that scenarios tighten. False where it is not known: with cones, or with many equations.
pub(crate) fn absorbs_scenarios(problem: &Problem) -> Result<bool, RecourseError> {
    absorbs(problem, &tightenings(problem))
}

/// How scenarios may change each row, from the nominal scenario.
fn tightenings(problem: &Problem) -> Vec<Tightening> {
    let (set, recourse) = (&problem.set, &problem.recourse);
    let (mut nominal, mut xi) = (vec![0.0; set.dim()], vec![0.0; set.dim()]);
    set.nominal(&mut nominal);
    let mut direction = vec![0.0; set.dim()];
    let mut of_row = |row: usize| {
        direction.fill(0.0);
        recourse.u.row(row).for_each(|(entry, value)| direction[entry] = value);
        let at_nominal = dot(&direction, &nominal);
        let allowed = LP_FEASIBILITY_TOL * (1.0 + at_nominal.abs());
        let is_above = |most: Result<f64, _>, nominal: f64| most.is_ok_and(|most| most - nominal <= allowed);
        let above = !is_above(set.support(&direction, &mut xi), at_nominal);
        direction.iter_mut().for_each(|entry| *entry = -*entry);
        let below = !is_above(set.support(&direction, &mut xi), -at_nominal);
        Tightening { below, above }
    };
    (0..recourse.rows())
        .map(|row| if recourse.u.row(row).len() == 0 { Tightening::default() } else { of_row(row) })
        .collect()
}

/// Whether a recession direction of y absorbs every change that tightens the rows in these ways.
fn absorbs(problem: &Problem, tightenings: &[Tightening]) -> Result<bool, RecourseError> {
    let recourse = &problem.recourse;
    if !recourse.cones.is_empty() {
        return Ok(false);
    }
    let mut model = Model::new();
    let mut signs = vec![0.0; recourse.rows()];
    let mut equations = Vec::new();
    for (i, tightening) in tightenings.iter().enumerate() {
        let (below, above) = (recourse.row_lower[i].is_finite(), recourse.row_upper[i].is_finite());
        model.add_col(0.0, if above { -1.0 } else { 0.0 }, if below { 1.0 } else { 0.0 });
        let (is_raised, is_lowered) = (below && tightening.below, above && tightening.above);
        match below && above {
            // Its multiplier may have either sign, and is bounded by programs of its own.
            true => equations.extend([(i, -1.0, is_raised), (i, 1.0, is_lowered)].into_iter().filter(|side| side.2)),
            false => signs[i] = f64::from(u8::from(is_lowered)) - f64::from(u8::from(is_raised)),
        }
    }
    if equations.len() > 2 * MAX_EQUATIONS {
        return Ok(false);
    }
    let by_column = recourse.g.transpose();
    for j in 0..recourse.dim() {
        // A y that may rise for ever needs (Gᵀλ)ⱼ ≤ 0, one that may fall for ever needs (Gᵀλ)ⱼ ≥ 0.
        let lower = if recourse.lower[j].is_finite() { f64::NEG_INFINITY } else { 0.0 };
        let upper = if recourse.upper[j].is_finite() { f64::INFINITY } else { 0.0 };
        model.add_row(lower, upper, &by_column.row(j).collect::<Vec<_>>());
    }
    if equations.is_empty() && signs.iter().all(|sign| *sign == 0.0) {
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
    for (i, sign, _) in equations {
        costs[i] = sign;
        if !is_zero(&costs)? {
            return Ok(false);
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
    fn changes_that_are_absorbed_have_recourse_however_large() {
        let mut counts = [0, 0];
        for seed in 0..300 {
            let recipe = Recipe { incomplete: seed % 2 == 0, ..Recipe::default() };
            let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
            let rows = problem.recourse.rows();
            let mut random = stream(seed, Purpose::Start, 0);
            let shifts: Vec<Vec<f64>> =
                (0..60).map(|_| (0..rows).map(|_| random.random_range(-1e4..1e4)).collect()).collect();
            let is_complete = absorbs(&problem, &vec![Tightening { below: true, above: true }; rows]).unwrap();
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

    #[test]
    fn scenarios_that_are_absorbed_have_recourse() {
        let mut counts = [0, 0];
        for seed in 0..300 {
            let recipe = Recipe { incomplete: seed % 2 == 0, ..Recipe::default() };
            let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
            let recourse = &problem.recourse;
            let mut random = stream(seed, Purpose::Start, 0);
            let x: Vec<f64> = (0..problem.first.dim()).map(|_| random.random_range(0.0..5.0)).collect();
            let has_recourse = |xi: &[f64]| {
                let mut shift = vec![0.0; recourse.rows()];
                recourse.e.mul_add(1.0, &x, &mut shift);
                recourse.u.mul_add(1.0, xi, &mut shift);
                shift.iter_mut().for_each(|shift| *shift = -*shift);
                has_solution(&problem, &shift)
            };
            let mut xi = vec![0.0; problem.set.dim()];
            problem.set.nominal(&mut xi);
            if !has_recourse(&xi) {
                continue;
            }
            let is_absorbed = absorbs_scenarios(&problem).unwrap();
            let mut all_have = true;
            for _ in 0..20 {
                let direction: Vec<f64> = xi.iter().map(|_| random.random_range(-1.0..1.0)).collect();
                problem.set.support(&direction, &mut xi).unwrap();
                all_have &= has_recourse(&xi);
            }
            assert!(all_have || !is_absorbed, "{seed}");
            counts[usize::from(is_absorbed)] += 1;
        }
        assert!(counts[0] > 10 && counts[1] > 30, "{counts:?}");
    }
}
