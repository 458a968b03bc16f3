//! Which separation finds the worst scenario of a problem's decisions for sure.

use std::borrow::Cow;
use std::str::FromStr;

use super::{Bilinear, NoFiniteEquivalent, NotBilinear, Scan, Separation, Split, finite_equivalent};
use crate::definition::ScenarioList;
use crate::error::Error;
use crate::model::Problem;

/// Extreme points that are enumerated at most.
const ENUMERATED: usize = 200_000;

/// The same where the recourse has cones or a quadratic cost and nobody asked for a scan: each point takes an interior
/// point's time.
const ENUMERATED_IN_CONES: usize = 20_000;

/// The list to scan, if there is one: a scenario list may have any length.
fn list(problem: &Problem, most: usize) -> Result<Cow<'_, ScenarioList>, NoFiniteEquivalent> {
    finite_equivalent(problem, if problem.set.is_finite_list() { usize::MAX } else { most })
}

/// Which separation somebody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SeparationKind {
    /// The one that suits the problem.
    #[default]
    Auto,
    /// Every scenario or extreme point.
    Scan,
    /// Branch and bound on ξ.
    Split,
    /// A mixed-integer program.
    Bilinear,
}

impl FromStr for SeparationKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(SeparationKind::Auto),
            "scan" => Ok(SeparationKind::Scan),
            "split" => Ok(SeparationKind::Split),
            "bilinear" => Ok(SeparationKind::Bilinear),
            _ => Err(format!("\"{text}\" is no separation; auto, scan, split and bilinear are")),
        }
    }
}

/// Why no separation here is sure to find the worst scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSeparation {
    /// There is no list to scan, or Q is not convex in ξ.
    #[error(transparent)]
    NoFiniteEquivalent(#[from] NoFiniteEquivalent),
    /// Branch and bound needs affine policies.
    #[error("branch and bound on ξ needs costs that do not move with ξ, and a set that is no list")]
    NotSplit,
    /// The mixed-integer program needs a polytope and linear duals.
    #[error("the mixed-integer program does not apply: {0}")]
    NotBilinear(#[from] NotBilinear),
}

/// A separation that bounds the worst case for sure, chosen and not yet built.
#[derive(Debug, Clone, PartialEq)]
pub enum Exact<'p> {
    /// Every point of a list is asked.
    Scan(Cow<'p, ScenarioList>),
    /// Branch and bound on ξ.
    Split,
    /// A mixed-integer program.
    Bilinear,
}

impl<'p> Exact<'p> {
    /// Chooses by the problem's set and class.
    pub fn choose(problem: &'p Problem) -> Result<Self, NoSeparation> {
        let most = if problem.recourse.is_linear() { ENUMERATED } else { ENUMERATED_IN_CONES };
        match list(problem, most) {
            Ok(points) => Ok(Self::Scan(points)),
            Err(NoFiniteEquivalent::CostsMove) => Err(NoFiniteEquivalent::CostsMove.into()),
            Err(NoFiniteEquivalent::TooMany(_)) => Ok(Self::Split),
        }
    }

    /// Chooses as of_kind, if that separation applies.
    pub fn of_kind(kind: SeparationKind, problem: &'p Problem) -> Result<Self, NoSeparation> {
        match kind {
            SeparationKind::Auto => Self::choose(problem),
            SeparationKind::Scan => Ok(Self::Scan(list(problem, ENUMERATED)?)),
            SeparationKind::Split => {
                let applies = !problem.recourse.costs_move() && !problem.set.is_finite_list();
                if applies { Ok(Self::Split) } else { Err(NoSeparation::NotSplit) }
            }
            SeparationKind::Bilinear => {
                Bilinear::new(problem)?;
                Ok(Self::Bilinear)
            }
        }
    }

    /// What it does at each decision, in words: "each iteration …".
    pub fn plan(&self, problem: &Problem) -> String {
        match self {
            Self::Scan(points) => {
                let what = if problem.set.is_finite_list() { "scenarios" } else { "extreme points" };
                format!("scans {} {what}", points.len())
            }
            Self::Split => {
                format!("searches the {} by branch and bound with affine policies as bounds", problem.set.kind())
            }
            Self::Bilinear => {
                format!("searches the {} by a mixed-integer program over duals and ξ", problem.set.kind())
            }
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
            Self::Bilinear => {
                "they meet at the optimum where the duals have finite bounds, but that may take long: set a time limit"
            }
        }
    }

    /// Builds it.
    pub fn build(self, problem: &'p Problem) -> Result<Box<dyn Separation + 'p>, Error> {
        match self {
            Self::Scan(points) => Ok(Box::new(Scan::new(problem, points)?)),
            Self::Split => Ok(Box::new(Split::new(problem))),
            Self::Bilinear => match Bilinear::new(problem) {
                Ok(bilinear) => Ok(Box::new(bilinear)),
                Err(reason) => Err(Error::Master(NoSeparation::from(reason).to_string())),
            },
        }
    }
}
