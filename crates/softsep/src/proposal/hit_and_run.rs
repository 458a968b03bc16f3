//! Hit-and-run in a convex body (Lovász and Vempala, 2006): a uniform direction, a uniform point on the chord through
//! it.

use rand::RngExt;

use super::{ChainState, Proposal, Refused, point_mut, reference_ratio};
use crate::run::{Random, normals};
use crate::uncertainty::{Space, States};

/// Symmetric by volume: the density of going from u to v is 2/(area of the sphere · length of the chord through both ·
/// |u − v|^(dim − 1)), and chord and distance are the same both ways. The law of the direction may be any that does not
/// depend on u and takes −d for as likely as d.
#[derive(Debug, Clone, Copy)]
pub struct HitAndRun(());

impl HitAndRun {
    /// For the states of a convex body.
    pub fn of(states: &dyn States) -> Result<Self, Refused> {
        match (states.space(), states.walk()) {
            (Space::Body(_), Some(_)) => Ok(Self(())),
            (space, _) => Err(Refused(format!("hit-and-run walks in convex bodies, and these states are {space}"))),
        }
    }
}

impl Proposal for HitAndRun {
    fn propose(&self, states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        let Some(walk) = states.walk() else { return };
        let to = point_mut(&mut to.state);
        normals(random, to);
        let (least, most) = walk.chord(from.point(), to);
        let length = least + (most - least) * random.random::<f64>();
        for (to, from) in to.iter_mut().zip(from.point()) {
            *to = from + length * *to;
        }
    }

    fn log_ratio(&self, states: &dyn States, from: &ChainState, to: &ChainState) -> f64 {
        reference_ratio(states, from, to)
    }
}
