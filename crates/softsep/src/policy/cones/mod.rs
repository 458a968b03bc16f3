//! Safe robust counterparts of cone blocks, and of a quadratic cost, for a recourse that is not linear.
//!
//! Each counterpart is written twice. In the program of the best policy, its coefficients are columns. In [`constant`],
//! Y is fixed, y₀ and the multipliers are optimised anew with a margin, and the proof is then evaluated in numbers: for
//! any point that a solver returns, a block is in its cone with at least the depth that [`ConicCounterpart::depth`]
//! computes.

mod ball;
mod block;
mod constant;
mod depth;
mod polytope;
mod quadratic;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub(super) use block::ConeBlock;
use block::NumericBlock;
use depth::SizedSum;
use polytope::PolytopeMultipliers;
pub(super) use polytope::require_in_cone;
pub(super) use quadratic::QuadraticBound;

use super::robust::{Expression, PolytopeColumns};
use super::support::SupportRegion;
use crate::definition::{ConeKind, ScenarioList};
use crate::model::{Cone, RecourseModel, square_root};
use crate::recourse::{ProgramBuilder, RecourseError};
use crate::uncertainty::{Ball, Polytope};

/// Returns the cones of a recourse as blocks, given its rows.
pub(super) fn blocks(recourse: &RecourseModel, row: impl Fn(usize) -> Expression) -> Vec<ConeBlock> {
    let of_cone = |cone: &Cone| ConeBlock {
        kind: cone.kind,
        entries: cone.rows.iter().map(|&i| row(i).scaled(1.0, -recourse.offset[i])).collect(),
    };
    recourse.cones.iter().map(of_cone).collect()
}

/// The violation of a cone by a vector of entries, relative to their size.
pub(super) fn cone_violation(kind: ConeKind, entries: Vec<f64>) -> f64 {
    let size = entries.iter().map(|entry| entry.abs()).sum();
    -SizedSum { value: entries, size }.depth(kind) / (1.0 + size)
}

/// The rows of L with `LᵀL = H`.
type SquareRootRows = Vec<Vec<(usize, f64)>>;

/// Returns L if the recourse has a quadratic cost. Errs if H cannot be factored.
pub(super) fn roots(recourse: &RecourseModel) -> Result<Option<SquareRootRows>, RecourseError> {
    if recourse.quadratic.is_zero() {
        return Ok(None);
    }
    let failed = || RecourseError::Unsupported("the recourse's quadratic cost could not be factored".into());
    square_root(&recourse.quadratic).map(Some).ok_or_else(failed)
}

/// Writes blocks that are in their cones for every ξ of a region, and evaluates the proofs.
pub(super) enum ConicCounterpart {
    /// The points of a list.
    List(ScenarioList),
    /// A polytope, a ball, or the intersection of both.
    Shape { polytope: Option<(Polytope, PolytopeColumns)>, ball: Option<Box<BallRegion>> },
}

/// A ball, and a polytope that encloses it in coordinates of its axes.
pub(super) struct BallRegion {
    ball: Ball,
    enclosing_polytope: Polytope,
    limits: PolytopeColumns,
}

/// The proof that a block is in its cone, by columns of the program.
pub(in crate::policy) enum ConeProof {
    /// No multipliers: the block does not depend on ξ, or is required at every point of a list.
    Direct,
    /// Multipliers of the polytope.
    OnPolytope(PolytopeMultipliers),
    /// A proof over the ball.
    OnBall(BallProof),
    /// The block is a sum of a share that is proven over the ball, whose coefficients start at this column, and a rest
    /// that is proven over the polytope.
    Shared(usize, BallProof, PolytopeMultipliers),
}

/// The proof of a block over a ball.
pub(in crate::policy) enum BallProof {
    /// The skew products of the matrix inequality; the index of their first column.
    Matrix(usize),
    /// Multipliers of the enclosing polytope.
    EnclosingPolytope(PolytopeMultipliers),
}

impl ConicCounterpart {
    /// Creates the counterpart over a region; ξ is measured from `reference_point`.
    pub(super) fn new(region: SupportRegion, reference_point: &[f64]) -> Self {
        let relative = |point: &[f64]| -> Vec<f64> {
            point.iter().zip(reference_point).map(|(point, reference)| point - reference).collect()
        };
        match region {
            SupportRegion::List(points) => {
                let mut moved = ScenarioList::new(reference_point.len());
                points.iter().for_each(|xi| moved.push(&relative(xi)));
                Self::List(moved)
            }
            SupportRegion::Shape(shape) => Self::Shape {
                polytope: shape.polytope.as_ref().map(|polytope| {
                    (Polytope { base: relative(&polytope.base), ..polytope.clone() }, PolytopeColumns::of(polytope))
                }),
                ball: shape.ball.as_ref().map(|ball| {
                    let enclosing_polytope = ball::enclosing_polytope(ball.columns.len());
                    let limits = PolytopeColumns::of(&enclosing_polytope);
                    Box::new(BallRegion {
                        ball: Ball { center: relative(&ball.center), columns: ball.columns.clone() },
                        enclosing_polytope,
                        limits,
                    })
                }),
            },
        }
    }

    /// Requires a block in its cone for every ξ, with a depth of `margin`.
    pub(super) fn require(
        &self,
        program: &mut dyn ProgramBuilder,
        block: &ConeBlock,
        margin: f64,
    ) -> Result<ConeProof, RecourseError> {
        if block.is_fixed() {
            polytope::require_in_cone(program, block.kind, block.at(&[]), margin)?;
            return Ok(ConeProof::Direct);
        }
        match self {
            Self::List(points) => {
                points
                    .iter()
                    .try_for_each(|xi| polytope::require_in_cone(program, block.kind, block.at(xi), margin))?;
                Ok(ConeProof::Direct)
            }
            Self::Shape { polytope: Some((polytope, limits)), ball: None } => {
                polytope::require(program, limits, polytope, block, margin).map(ConeProof::OnPolytope)
            }
            Self::Shape { polytope: None, ball: Some(ball_region) } => {
                ball_region.require(program, block, margin).map(ConeProof::OnBall)
            }
            Self::Shape { polytope: Some((polytope, limits)), ball: Some(ball_region) } => {
                let (first, share, rest) = block.shared(program);
                let on_ball = ball_region.require(program, &share, 0.0)?;
                Ok(ConeProof::Shared(first, on_ball, polytope::require(program, limits, polytope, &rest, margin)?))
            }
            Self::Shape { polytope: None, ball: None } => {
                Err(RecourseError::Unsupported("a shape without sides".into()))
            }
        }
    }

    /// A lower bound on the depth of a block in its cone over all ξ, by its proof at these values of the columns.
    pub(super) fn depth(&self, block: &ConeBlock, proof: &ConeProof, values: &[f64]) -> f64 {
        let (kind, numbers) = (block.kind, block.numbers(values));
        match (self, proof) {
            (Self::List(points), ConeProof::Direct) if !block.is_fixed() => {
                points.iter().fold(f64::INFINITY, |least, xi| least.min(numbers.at(xi).depth(kind)))
            }
            (_, ConeProof::Direct) => numbers.constant.depth(kind),
            (Self::Shape { polytope: Some((polytope, limits)), .. }, ConeProof::OnPolytope(multipliers)) => {
                polytope::depth(limits, polytope, kind, &numbers, multipliers, values)
            }
            (Self::Shape { ball: Some(ball_region), .. }, ConeProof::OnBall(on_ball)) => {
                ball_region.depth(kind, &numbers, on_ball, values)
            }
            (
                Self::Shape { polytope: Some((polytope, limits)), ball: Some(ball_region) },
                ConeProof::Shared(first, on_ball, multipliers),
            ) => {
                let share = block.share(*first, values);
                let rest = numbers.without(&share);
                ball_region.depth(kind, &share, on_ball, values)
                    + polytope::depth(limits, polytope, kind, &rest, multipliers, values)
            }
            // `require` creates no other combination.
            _ => f64::NEG_INFINITY,
        }
    }
}

impl BallRegion {
    fn require(
        &self,
        program: &mut dyn ProgramBuilder,
        block: &ConeBlock,
        margin: f64,
    ) -> Result<BallProof, RecourseError> {
        let block = block.in_axes(&self.ball);
        if ball::has_matrix(block.kind, block.len(), block.dim()) {
            ball::require(program, &block, margin).map(BallProof::Matrix)
        } else {
            polytope::require(program, &self.limits, &self.enclosing_polytope, &block, margin)
                .map(BallProof::EnclosingPolytope)
        }
    }

    fn depth(&self, kind: ConeKind, numbers: &NumericBlock, on_ball: &BallProof, values: &[f64]) -> f64 {
        let numbers = numbers.in_axes(&self.ball);
        match on_ball {
            BallProof::Matrix(first) => ball::depth(&numbers, *first, values),
            BallProof::EnclosingPolytope(multipliers) => {
                polytope::depth(&self.limits, &self.enclosing_polytope, kind, &numbers, multipliers, values)
            }
        }
    }
}
