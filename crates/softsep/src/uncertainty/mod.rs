//! Uncertainty sets: the values that ξ may take.
//!
//! A set answers geometric questions: membership of ξ, the maximum of a linear function, the extreme points. Adding
//! one: see CONTRIBUTING.md; every set passes [`crate::testing::check_set`].

mod apart;
pub(crate) mod boxed;
pub(crate) mod budget;
pub(crate) mod build;
mod check;
mod chord;
mod definition;
pub(crate) mod ellipsoid;
pub(crate) mod l1;
mod oracle;
mod patterns;
pub(crate) mod polyhedron;
pub(crate) mod scenarios;
mod shape;
mod states;
mod unimodular;
mod vertices;

pub(crate) use boxed::Boxed;
pub(crate) use budget::Budget;
pub(crate) use build::build;
pub use definition::{SetDefinition, Sides, UncertaintyDefinition};
pub(crate) use ellipsoid::Ellipsoid;
pub(crate) use l1::L1;
pub(crate) use polyhedron::Polyhedron;
pub(crate) use scenarios::Scenarios;
pub use shape::{Ball, Part, Polytope, Shape, ShapeRow};
pub(crate) use states::von_mises_fisher;
pub use states::{
    CachedTilt, LocalCoordinates, Neighbours, ReferenceMeasure, Space, State, StateSpec, States, Tilt, Trend,
};

use std::borrow::Cow;
use std::fmt;

use crate::definition::ScenarioList;
use crate::numeric::dot;

/// The set Ξ.
///
/// A set of another crate goes into [`SetDefinition::custom`]; every method takes it. Parts of it may be handed on to a
/// set of this crate ([`SetDefinition::build`]). `testing::check_set` checks the contract.
pub trait Uncertainty: Send + Sync + fmt::Debug {
    /// The word for this kind of set; the format has one for each kind that a file can hold.
    fn kind(&self) -> &'static str;

    /// Number of entries of ξ.
    fn dim(&self) -> usize;

    /// Whether `xi` is in the set, up to `tolerance` in every defining inequality.
    fn contains(&self, xi: &[f64], tolerance: f64) -> bool;

    /// The support function: the maximum of `directionᵀξ` over the set; `xi` becomes a maximiser (an extreme point
    /// where the set has finitely many).
    fn support(&self, direction: &[f64], xi: &mut [f64]) -> Result<f64, SetError>;

    /// The width of the set along each axis.
    fn widths(&self) -> Result<Vec<f64>, SetError> {
        let (mut axis, mut end) = (vec![0.0; self.dim()], vec![0.0; self.dim()]);
        let mut widths = vec![0.0_f64; self.dim()];
        for (entry, width) in widths.iter_mut().enumerate() {
            for sign in [1.0, -1.0] {
                axis[entry] = sign;
                *width += self.support(&axis, &mut end)?;
            }
            axis[entry] = 0.0;
            *width = width.max(0.0);
        }
        Ok(widths)
    }

    /// A typical member: the center where there is one.
    fn nominal(&self, xi: &mut [f64]);

    /// The number of extreme points; for a finite list, the number of rows.
    fn extremes(&self) -> Count;

    /// Whether the set is a finite list. If not, the maximum of Q is at an extreme point only where Q is convex in ξ.
    fn is_finite_list(&self) -> bool {
        false
    }

    /// All extreme points (for a finite list: all rows), or their count if they are more than `limit`.
    fn enumerate(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, TooMany>;

    /// The members within `part`, written out in rows; `None` for a finite list.
    fn shape(&self, part: &Part) -> Option<Shape>;

    /// The values that an entry takes at the extreme points, in ascending order, where those are few and known without
    /// enumeration.
    fn levels(&self, _entry: usize) -> Option<Vec<f64>> {
        None
    }

    /// Whether [`states`](Self::states) uses the trends of Q. If not, callers need not compute them.
    fn heeds_trends(&self) -> bool {
        false
    }

    /// All t for which `xi + t·direction` stays a member, for a member `xi`; zero is among them. For a finite list
    /// nothing else is. Nothing is allocated.
    fn chord(&self, _xi: &[f64], _direction: &[f64]) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// The states at which Q can have its maximum, given the known properties of Q.
    fn states(&self, spec: &StateSpec) -> Result<Box<dyn States + '_>, SetError>;

    /// The definition of an equal set. `None` for a set that a program implements: no file can
    /// hold it.
    fn describe(&self) -> Option<SetDefinition> {
        None
    }
}

/// A number of extreme points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// This number.
    Exactly(u128),
    /// More than this number, at which counting stopped.
    MoreThan(u128),
    /// A set with a curved boundary.
    Infinite,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Exactly(count) => write!(f, "{count}"),
            Count::MoreThan(count) => write!(f, "more than {count}"),
            Count::Infinite => f.write_str("infinitely many"),
        }
    }
}

/// A refusal to enumerate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany {
    /// The number of extreme points.
    pub count: Count,
    /// The number allowed.
    pub limit: usize,
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the set has {} extreme points", self.count)?;
        match self.count {
            // The limit is not the reason.
            Count::MoreThan(certain) if certain < self.limit as u128 => f.write_str("; counting was given up there"),
            _ => write!(f, ", and at most {} are enumerated", self.limit),
        }
    }
}

impl std::error::Error for TooMany {}

/// A set that could not answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the uncertainty set could not answer: {0}")]
pub struct SetError(pub String);

/// The number of points to enumerate, or a refusal if it is above `limit`.
fn allow(count: Count, limit: usize) -> Result<usize, TooMany> {
    match count {
        Count::Exactly(points) if points <= limit as u128 => Ok(points as usize),
        count => Err(TooMany { count, limit }),
    }
}

/// A count that is `None` where 128 bits were passed on the way to it. The last step of a binomial coefficient may pass
/// them by a factor below 2⁸ that the division would have taken back, so no more than this is claimed.
fn counted(points: Option<u128>) -> Count {
    points.map_or(Count::MoreThan(1 << 120), Count::Exactly)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_limit_only_where_it_was_exceeded() {
        let said = |count, limit| TooMany { count, limit }.to_string();
        assert_eq!(said(Count::Exactly(8), 7), "the set has 8 extreme points, and at most 7 are enumerated");
        assert_eq!(said(Count::MoreThan(7), 7), "the set has more than 7 extreme points, and at most 7 are enumerated");
        assert_eq!(said(Count::MoreThan(6), 7), "the set has more than 6 extreme points; counting was given up there");
        assert_eq!(
            said(Count::Infinite, 7),
            "the set has infinitely many extreme points, and at most 7 are enumerated"
        );
    }
}
