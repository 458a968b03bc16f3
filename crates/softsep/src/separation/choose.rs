//! Which separation finds the worst scenario of a problem's decisions for sure.

use std::borrow::Cow;

use super::{NoList, Scan, Separation, Split, stand_in};
use crate::error::Error;
use crate::format::Points;
use crate::model::Problem;

/// Extreme points that are enumerated at most; a scenario list may have any length.
const ENUMERATED: usize = 200_000;

/// Why no separation here is sure to find the worst scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSeparation {
    /// There is no list to scan, and Q is not convex in ξ.
    #[error(transparent)]
    NoList(#[from] NoList),
    /// There are too many extreme points to scan, and no policy to bound the rest by.
    #[error("{0}, and where they cannot be enumerated the recourse must be linear")]
    NotLinear(NoList),
}

/// A separation that bounds the worst case for sure, chosen and not yet built.
#[derive(Debug, Clone, PartialEq)]
pub enum Exact<'p> {
    /// Every point of a list is asked.
    Scan(Cow<'p, Points>),
    /// Branch and bound on ξ.
    Split,
}

impl<'p> Exact<'p> {
    /// Chooses by the problem's set and class.
    pub fn choose(problem: &'p Problem) -> Result<Self, NoSeparation> {
        match stand_in(problem, ENUMERATED) {
            Ok(points) => Ok(Self::Scan(points)),
            Err(NoList::CostsMove) => Err(NoList::CostsMove.into()),
            Err(reason @ NoList::TooMany(_)) if !problem.recourse.is_linear() => Err(NoSeparation::NotLinear(reason)),
            Err(NoList::TooMany(_)) => Ok(Self::Split),
        }
    }

    /// What it does at each decision, in words: "each iteration …".
    pub fn plan(&self, problem: &Problem) -> String {
        match self {
            Self::Scan(points) => {
                let what = if problem.set.is_finite_list() { "scenarios" } else { "extreme points" };
                format!("scans {} {what}", points.len())
            }
            Self::Split => format!("searches the {} by branch and bound with affine policies as bounds", problem.set.kind()),
        }
    }

    /// How far it goes, in words.
    pub fn promise(&self, problem: &Problem) -> &'static str {
        match self {
            Self::Scan(_) => "they meet at the optimum",
            Self::Split if (0..problem.set.dim()).all(|entry| problem.set.levels(entry).is_some()) => {
                "they meet at the optimum after finitely many steps, but these may be very many: set a time limit"
            }
            Self::Split => "they come as close as asked for, but that may take very many steps: set a time limit",
        }
    }

    /// Builds it.
    pub fn build(self, problem: &'p Problem) -> Result<Box<dyn Separation + 'p>, Error> {
        match self {
            Self::Scan(points) => Ok(Box::new(Scan::new(problem, points)?)),
            Self::Split => Ok(Box::new(Split::new(problem))),
        }
    }
}
