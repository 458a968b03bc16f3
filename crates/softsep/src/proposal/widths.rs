//! The widths of a body along its coordinates, which scale the steps of local moves.

use super::{ProposalError, point};
use crate::run::{Purpose, stream};
use crate::uncertainty::{Space, States};

/// Number of draws from ν that the widths are estimated from. Chains are exact for any positive widths; good estimates
/// make them mix faster.
const WIDTH_DRAWS: usize = 256;

/// The standard deviation of each coordinate under ν, from draws. `moves` names the moves in errors: for a space that
/// is no body, and for a body without width in some coordinate.
pub(super) fn coordinate_widths(states: &dyn States, moves: &str) -> Result<Vec<f64>, ProposalError> {
    let (Space::Body(dim), Some(_)) = (states.space(), states.local_coordinates()) else {
        return Err(ProposalError(format!(
            "{moves} moves need coordinates to move in, and these states are {}",
            states.space()
        )));
    };
    let mut random = stream(0, Purpose::Estimate, 0);
    let mut state = states.blank();
    let (mut mean, mut square) = (vec![0.0; dim], vec![0.0; dim]);
    for draw in 1..=WIDTH_DRAWS {
        states.draw(&mut random, &mut state);
        for (index, &value) in point(&state).iter().enumerate() {
            let before = value - mean[index];
            mean[index] += before / draw as f64;
            square[index] += before * (value - mean[index]);
        }
    }
    let widths: Vec<f64> = square.iter().map(|square| (square / WIDTH_DRAWS as f64).sqrt()).collect();
    match widths.iter().position(|width| !(*width > 0.0 && width.is_finite())) {
        Some(flat) => Err(ProposalError(format!(
            "{moves} moves need a body with some width, and this one has none in coordinate {flat}"
        ))),
        None => Ok(widths),
    }
}
