//! Certificates of infeasibility and unboundedness. All are verified here, whichever solver computed them.

use softsep_lp::{Lp, LpError, Model, Status};

use super::data::{MULTIPLIER_ROUNDING, RecourseData};
use crate::numeric::tolerances::{LP_FEASIBILITY_TOL, SUMMATION_TOL};

/// Rounding error of a sum of a few numbers around 1.
const ROUNDING_TOL: f64 = 1e-13;

/// Residual of a Farkas certificate, relative to its gain, if it is rounding at all: a cut with a larger residual is
/// false at other x, where the gain is smaller.
const FARKAS_RESIDUAL_TOL: f64 = 1e-9;

/// Scales `ray` to a Farkas certificate of infeasibility at `shift`, if it is one up to sign, rounding and scale: a
/// multiplier of a bound that does not exist must be rounding of its own terms. Returns its gain, which is positive:
/// every feasible y would satisfy `gain ≤ 0`.
pub(super) fn farkas(data: &RecourseData, shift: &[f64], ray: &mut [f64]) -> Option<f64> {
    let size = ray.iter().fold(0.0_f64, |size, entry| size.max(entry.abs()));
    if !(size.is_finite() && size > 0.0) {
        return None;
    }
    ray.iter_mut().for_each(|entry| *entry /= size);
    farkas_gain(data, shift, ray).or_else(|| {
        ray.iter_mut().for_each(|entry| *entry = -*entry);
        farkas_gain(data, shift, ray)
    })
}

fn farkas_gain(data: &RecourseData, shift: &[f64], ray: &mut [f64]) -> Option<f64> {
    let no_bound = |multiplier: f64, lower: f64, upper: f64| {
        multiplier > 0.0 && lower == f64::NEG_INFINITY || multiplier < 0.0 && upper == f64::INFINITY
    };
    // Largest multiplier that should be zero. A y as large as the gain divided by it could make up for the gain.
    let mut residual = 0.0_f64;
    for (i, entry) in ray.iter_mut().enumerate() {
        if no_bound(*entry, data.row_lower[i], data.row_upper[i]) {
            residual = residual.max(entry.abs());
            *entry = 0.0;
        }
    }
    let mut is_rounding = true;
    for j in 0..data.cols() {
        let multiplier = -data.col_dot(j, ray);
        if no_bound(multiplier, data.lower[j], data.upper[j]) {
            residual = residual.max(multiplier.abs());
            is_rounding &= multiplier.abs() <= data.residual_tolerance(j, 0.0, ray, MULTIPLIER_ROUNDING);
        }
    }
    let farkas_gain = data.dual_objective(None, ray) - ray.iter().zip(shift).map(|(pi, s)| pi * s).sum::<f64>();
    (is_rounding
        && farkas_gain > 0.1 * LP_FEASIBILITY_TOL + SUMMATION_TOL * gain_terms(data, shift, ray)
        && residual <= ROUNDING_TOL + FARKAS_RESIDUAL_TOL * farkas_gain)
        .then_some(farkas_gain)
}

/// Sum of the absolute terms of a gain.
fn gain_terms(data: &RecourseData, shift: &[f64], ray: &[f64]) -> f64 {
    let finite = |bound: f64| if bound.is_finite() { bound.abs() } else { 0.0 };
    let rows = ray.iter().enumerate().map(|(i, &pi)| {
        let side = if pi > 0.0 { data.row_lower[i] } else { data.row_upper[i] };
        (pi * finite(side)).abs() + (pi * shift[i]).abs()
    });
    let cols = data.nonzero_bound_cols.iter().map(|&j| {
        let multiplier = -data.col_dot(j, ray);
        (multiplier * finite(if multiplier > 0.0 { data.lower[j] } else { data.upper[j] })).abs()
    });
    rows.chain(cols).sum()
}

/// Computes the Farkas ray as the dual of the elastic program `min Σt`, in which every row may be violated by t at unit
/// cost. Returns its gain, or `None` if all rows can be satisfied.
pub(super) fn elastic_ray(data: &RecourseData, shift: &[f64], ray: &mut [f64]) -> Result<Option<f64>, LpError> {
    let mut model = Model::new();
    for j in 0..data.cols() {
        model.add_col(0.0, data.lower[j], data.upper[j]);
    }
    for i in 0..data.rows() {
        let mut terms: Vec<_> = data.g_rows.row(i).collect();
        let (lower, upper) = (data.row_lower[i] - shift[i], data.row_upper[i] - shift[i]);
        if lower.is_finite() {
            terms.push((model.add_col(1.0, 0.0, f64::INFINITY), 1.0));
        }
        if upper.is_finite() {
            terms.push((model.add_col(1.0, 0.0, f64::INFINITY), -1.0));
        }
        model.add_row(lower, upper, &terms);
    }
    let mut lp = Lp::new(&model)?;
    if lp.solve()? != Status::Optimal || lp.objective() <= LP_FEASIBILITY_TOL {
        return Ok(None);
    }
    lp.dual(ray)?;
    Ok(farkas(data, shift, ray))
}

/// Computes a direction of the unit cube along which every y stays feasible and the cost falls fastest. Returns false
/// if there is none.
pub(super) fn descent_ray(data: &RecourseData, cost: &[f64], ray: &mut [f64]) -> Result<bool, LpError> {
    let cone = |lower: f64, upper: f64, limit: f64| {
        (if lower.is_finite() { 0.0 } else { -limit }, if upper.is_finite() { 0.0 } else { limit })
    };
    let mut model = Model::new();
    for j in 0..data.cols() {
        let (lower, upper) = cone(data.lower[j], data.upper[j], 1.0);
        model.add_col(cost[j], lower, upper);
    }
    for i in 0..data.rows() {
        let terms: Vec<_> = data.g_rows.row(i).collect();
        let (lower, upper) = cone(data.row_lower[i], data.row_upper[i], f64::INFINITY);
        model.add_row(lower, upper, &terms);
    }
    let mut lp = Lp::new(&model)?;
    if lp.solve()? != Status::Optimal || lp.objective() >= -LP_FEASIBILITY_TOL {
        return Ok(false);
    }
    lp.primal(ray)?;
    Ok(true)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::definition::{Row, Variable};
    use crate::model::{Problem, ProblemDefinition};
    use crate::uncertainty::SetDefinition;

    /// The recourse `z + 1e-4 y ≥ 1e6` with z between 0 and 1, and y at most `highest`.
    fn data(highest: f64) -> RecourseData {
        let mut file = ProblemDefinition::default();
        file.first_stage.variables.push(Variable::new("x", 1.0).bounded(0.0, 1.0));
        file.uncertainty.parameters.push("g".into());
        file.uncertainty.set = SetDefinition::Box { lower: vec![0.0], upper: vec![1.0] };
        file.recourse.variables = vec![Variable::new("z", 1.0).bounded(0.0, 1.0), Variable::new("y", 1.0)];
        file.recourse.variables[1].upper = highest;
        let mut row = Row::new("r");
        row.y = vec![("z".into(), 1.0), ("y".into(), 1e-4)];
        row.lower = 1e6;
        file.recourse.constraints.push(row);
        RecourseData::new(&Problem::new(&file).unwrap())
    }

    /// The row holds at y = 1e10. A residual of a billionth of the gain once passed for rounding.
    #[test]
    fn a_residual_that_a_large_gain_hides_is_none_the_less_a_residual() {
        assert_eq!(farkas(&data(f64::INFINITY), &[0.0], &mut [1.0]), None);
        assert!(farkas(&data(1e6), &[0.0], &mut [1.0]).is_some_and(|gain| gain > 0.0));
    }
}
