//! Hit-and-run in a convex body (Lovász and Vempala, 2006): a uniform direction, then a uniform point on the chord
//! through the current state.

use rand::RngExt;

use super::{ChainState, Proposal, ProposalError, log_reference_ratio, point_mut};
use crate::run::{Random, normals};
use crate::uncertainty::{Space, States};

/// The proposal is symmetric by volume: the density of v given u is 2/(area of the sphere · length of the chord through
/// both · |u − v|^(dim − 1)), and chord and distance are symmetric in u and v. The law of the direction may be any law
/// that does not depend on u and gives d and −d the same density.
#[derive(Debug, Clone, Copy)]
pub struct HitAndRun(());

impl HitAndRun {
    /// Creates the proposal for the states of a convex body. Errs for other spaces.
    pub fn of(states: &dyn States) -> Result<Self, ProposalError> {
        match (states.space(), states.local_coordinates()) {
            (Space::Body(_), Some(_)) => Ok(Self(())),
            (space, _) => {
                Err(ProposalError(format!("hit-and-run moves in convex bodies, and these states are {space}")))
            }
        }
    }
}

impl Proposal for HitAndRun {
    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let Some(coordinates) = states.local_coordinates() else { return };
        let to = point_mut(&mut to.state);
        normals(random, to);
        let (least, most) = coordinates.chord(from.point(), to);
        let length = least + (most - least) * random.random::<f64>();
        for (to, from) in to.iter_mut().zip(from.point()) {
            *to = from + length * *to;
        }
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        log_reference_ratio(states, from, to)
    }
}
