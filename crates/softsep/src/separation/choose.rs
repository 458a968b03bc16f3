//! Which separation finds the worst scenario of a problem's decisions for sure.

use std::borrow::Cow;

use super::{NoList, Scan, Separation, stand_in};
use crate::error::Error;
use crate::format::Points;
use crate::model::Problem;

/// Extreme points that are enumerated at most; a scenario list may have any length.
const ENUMERATED: usize = 200_000;

/// Why no separation here is sure to find the worst scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSeparation {
    /// There is no list to scan.
    #[error(transparent)]
    NoList(#[from] NoList),
}

/// A separation that bounds the worst case for sure, chosen and not yet built.
#[derive(Debug, Clone, PartialEq)]
pub enum Exact<'p> {
    /// Every point of a list is asked.
    Scan(Cow<'p, Points>),
}

impl<'p> Exact<'p> {
    /// Chooses by the problem's set and class.
    pub fn choose(problem: &'p Problem) -> Result<Self, NoSeparation> {
        Ok(Self::Scan(stand_in(problem, ENUMERATED)?))
    }

    /// What it does at each decision, in words: "each iteration …".
    pub fn plan(&self, problem: &Problem) -> String {
        match self {
            Self::Scan(points) => {
                let what = if problem.set.is_finite_list() { "scenarios" } else { "extreme points" };
                format!("scans {} {what}", points.len())
            }
        }
    }

    /// Builds it.
    pub fn build(self, problem: &'p Problem) -> Result<Box<dyn Separation + 'p>, Error> {
        match self {
            Self::Scan(points) => Ok(Box::new(Scan::new(problem, points)?)),
        }
    }
}
