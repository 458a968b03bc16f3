//! Cones that must hold for every ξ: the safe counterparts of blocks of rows, and of a quadratic cost, in recourse that
//! is not linear.
//!
//! Each counterpart is written twice. In the program of the best policy its coefficients are columns. In [`constant`] Y
//! is known, y₀ and the multipliers are chosen anew with room, and then everything is computed from the numbers:
//! whatever a solver returned, and however far from optimal, a block is in its cone as deep as [`Counterpart::depth`]
//! says.

mod ball;
mod block;
mod constant;
mod depth;
mod polytope;
mod square;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub(super) use block::Block;
use block::Numbers;
use depth::Sum;
use polytope::Multipliers;
pub(super) use polytope::in_cone;
pub(super) use square::Square;

use super::robust::{Expression, Limits};
use super::support::Ground;
use crate::definition::{ConeKind, ScenarioList};
use crate::model::{Cone, RecourseModel, square_root};
use crate::recourse::{Program, RecourseError};
use crate::uncertainty::{Ball, Polytope};

/// The cones of a recourse as blocks, given its rows.
pub(super) fn blocks(recourse: &RecourseModel, row: impl Fn(usize) -> Expression) -> Vec<Block> {
    let of_cone = |cone: &Cone| Block {
        kind: cone.kind,
        entries: cone.rows.iter().map(|&i| row(i).scaled(1.0, -recourse.offset[i])).collect(),
    };
    recourse.cones.iter().map(of_cone).collect()
}

/// By how much entries miss their cone, relative to their size.
pub(super) fn missed_cone(kind: ConeKind, entries: Vec<f64>) -> f64 {
    let size = entries.iter().map(|entry| entry.abs()).sum();
    -Sum { value: entries, size }.depth(kind) / (1.0 + size)
}

/// The rows of L with `LᵀL = H`.
type Roots = Vec<Vec<(usize, f64)>>;

/// L, where the recourse has a quadratic cost.
pub(super) fn roots(recourse: &RecourseModel) -> Result<Option<Roots>, RecourseError> {
    if recourse.quadratic.is_zero() {
        return Ok(None);
    }
    let failed = || RecourseError::Unsupported("the recourse's quadratic cost could not be factored".into());
    square_root(&recourse.quadratic).map(Some).ok_or_else(failed)
}

/// Writes blocks that are in their cones for every ξ of a region, and reads what proves it.
pub(super) enum Counterpart {
    /// The points of a list.
    List(ScenarioList),
    /// What a polytope and a ball have in common, or the one that there is.
    Shape { polytope: Option<(Polytope, Limits)>, ball: Option<Box<Round>> },
}

/// A ball, and a polytope around the ball in its axes.
pub(super) struct Round {
    ball: Ball,
    around: Polytope,
    limits: Limits,
}

/// What proves a block, by columns of the program.
pub(in crate::policy) enum Held {
    /// Nothing, as ξ does not move it or it holds at every point of a list.
    Plainly,
    /// Multipliers for the polytope.
    OnPolytope(Multipliers),
    /// For the ball.
    OnBall(Roundly),
    /// It is a sum: a share that the ball answers for, whose coefficients begin at this column, and the rest, for which
    /// the polytope does.
    Shared(usize, Roundly, Multipliers),
}

/// What proves a block on a ball.
pub(in crate::policy) enum Roundly {
    /// The skew products of the matrix inequality.
    Matrix(usize),
    /// Multipliers for the polytope around it.
    Around(Multipliers),
}

impl Counterpart {
    /// Over a region; ξ is measured from `middle`.
    pub(super) fn new(ground: Ground, middle: &[f64]) -> Self {
        let from_middle =
            |point: &[f64]| -> Vec<f64> { point.iter().zip(middle).map(|(point, middle)| point - middle).collect() };
        match ground {
            Ground::List(points) => {
                let mut moved = ScenarioList::new(middle.len());
                points.iter().for_each(|xi| moved.push(&from_middle(xi)));
                Self::List(moved)
            }
            Ground::Shape(shape) => Self::Shape {
                polytope: shape.polytope.as_ref().map(|polytope| {
                    (Polytope { base: from_middle(&polytope.base), ..polytope.clone() }, Limits::of(polytope))
                }),
                ball: shape.ball.as_ref().map(|ball| {
                    let around = ball::around(ball.columns.len());
                    let limits = Limits::of(&around);
                    Box::new(Round {
                        ball: Ball { center: from_middle(&ball.center), columns: ball.columns.clone() },
                        around,
                        limits,
                    })
                }),
            },
        }
    }

    /// Asks for a block in its cone, `room` units deep, wherever ξ is.
    pub(super) fn hold(&self, program: &mut dyn Program, block: &Block, room: f64) -> Result<Held, RecourseError> {
        if block.is_fixed() {
            polytope::in_cone(program, block.kind, block.at(&[]), room)?;
            return Ok(Held::Plainly);
        }
        match self {
            Self::List(points) => {
                points.iter().try_for_each(|xi| polytope::in_cone(program, block.kind, block.at(xi), room))?;
                Ok(Held::Plainly)
            }
            Self::Shape { polytope: Some((polytope, limits)), ball: None } => {
                polytope::hold(program, limits, polytope, block, room).map(Held::OnPolytope)
            }
            Self::Shape { polytope: None, ball: Some(round) } => round.hold(program, block, room).map(Held::OnBall),
            Self::Shape { polytope: Some((polytope, limits)), ball: Some(round) } => {
                let (first, share, rest) = block.shared(program);
                let on_ball = round.hold(program, &share, 0.0)?;
                Ok(Held::Shared(first, on_ball, polytope::hold(program, limits, polytope, &rest, room)?))
            }
            Self::Shape { polytope: None, ball: None } => {
                Err(RecourseError::Unsupported("a shape without sides".into()))
            }
        }
    }

    /// How deep a block is in its cone at least, wherever ξ is, by what proves it at these values of the columns.
    pub(super) fn depth(&self, block: &Block, held: &Held, values: &[f64]) -> f64 {
        let (kind, numbers) = (block.kind, block.numbers(values));
        match (self, held) {
            (Self::List(points), Held::Plainly) if !block.is_fixed() => {
                points.iter().fold(f64::INFINITY, |least, xi| least.min(numbers.at(xi).depth(kind)))
            }
            (_, Held::Plainly) => numbers.constant.depth(kind),
            (Self::Shape { polytope: Some((polytope, limits)), .. }, Held::OnPolytope(multipliers)) => {
                polytope::depth(limits, polytope, kind, &numbers, multipliers, values)
            }
            (Self::Shape { ball: Some(round), .. }, Held::OnBall(roundly)) => {
                round.depth(kind, &numbers, roundly, values)
            }
            (
                Self::Shape { polytope: Some((polytope, limits)), ball: Some(round) },
                Held::Shared(first, roundly, multipliers),
            ) => {
                let share = block.share(*first, values);
                let rest = numbers.without(&share);
                round.depth(kind, &share, roundly, values)
                    + polytope::depth(limits, polytope, kind, &rest, multipliers, values)
            }
            // Nothing else is made by `hold`.
            _ => f64::NEG_INFINITY,
        }
    }
}

impl Round {
    fn hold(&self, program: &mut dyn Program, block: &Block, room: f64) -> Result<Roundly, RecourseError> {
        let block = block.in_axes(&self.ball);
        if ball::has_matrix(block.kind, block.len(), block.dim()) {
            ball::hold(program, &block, room).map(Roundly::Matrix)
        } else {
            polytope::hold(program, &self.limits, &self.around, &block, room).map(Roundly::Around)
        }
    }

    fn depth(&self, kind: ConeKind, numbers: &Numbers, roundly: &Roundly, values: &[f64]) -> f64 {
        let numbers = numbers.in_axes(&self.ball);
        match roundly {
            Roundly::Matrix(first) => ball::depth(&numbers, *first, values),
            Roundly::Around(multipliers) => {
                polytope::depth(&self.limits, &self.around, kind, &numbers, multipliers, values)
            }
        }
    }
}
