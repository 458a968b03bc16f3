//! A bound or a Farkas certificate by an interior-point method, for programs where the duals of all bases found prove
//! none: its multipliers can be repaired (`conic/residual.rs`), those of a vertex cannot.

use super::data::RecourseData;
use super::{AttemptResult, certificates};
use crate::recourse::RecourseError;
use crate::recourse::conic::{ConicProgram, ConicStatus};
use crate::run::Clock;

/// Writes multipliers to `dual` and returns the lower bound that they prove at `shift`, or why there is none.
pub(super) fn bound(
    data: &RecourseData,
    cost: &[f64],
    shift: &[f64],
    dual: &mut [f64],
    clock: &Clock,
) -> Result<Result<f64, AttemptResult>, RecourseError> {
    let solution = program(data, cost, shift).solve_with_bound(clock)?;
    Ok(match solution.status {
        ConicStatus::Stopped(stop) => Err(AttemptResult::Stopped(stop)),
        ConicStatus::Solved | ConicStatus::Inexact(_) if solution.dual_objective.is_finite() => {
            dual.copy_from_slice(&solution.row_duals);
            Ok(solution.dual_objective)
        }
        _ => Err(AttemptResult::Failed("no dual proves a lower bound on the recourse cost".to_owned())),
    })
}

/// Writes a Farkas certificate at `shift` to `ray`, and returns its gain, if there is one.
pub(super) fn farkas(
    data: &RecourseData,
    shift: &[f64],
    ray: &mut [f64],
    clock: &Clock,
) -> Result<Option<f64>, RecourseError> {
    let solution = program(data, &vec![0.0; data.cols()], shift).solve_with_bound(clock)?;
    match solution.status {
        ConicStatus::Stopped(stop) => Err(stop.into()),
        ConicStatus::Infeasible => {
            ray.copy_from_slice(&solution.row_duals);
            Ok(certificates::farkas(data, shift, ray))
        }
        _ => Ok(None),
    }
}

/// The recourse with this cost at `shift`.
fn program(data: &RecourseData, cost: &[f64], shift: &[f64]) -> ConicProgram {
    let mut program = ConicProgram::new(0.0);
    for ((&cost, &lower), &upper) in cost.iter().zip(&data.lower).zip(&data.upper) {
        program.add_col(cost, lower, upper);
    }
    for (row, shift) in shift.iter().enumerate() {
        program.add_row(data.row_lower[row] - shift, data.row_upper[row] - shift, data.g_rows.row(row));
    }
    program
}
