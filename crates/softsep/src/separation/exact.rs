//! The exact separations, and the choice among them.

use std::fmt;
use std::str::FromStr;

use softsep_lp::MipSolver;

use super::choice::CustomSeparation;
use super::{Bilinear, Kkt, NoFiniteEquivalent, NotBilinear, NotKkt, Scan, Separation, Split, finite_equivalent};
use crate::error::Error;
use crate::model::Problem;
use crate::uncertainty::Count;

/// The largest number of extreme points that is enumerated.
const MAX_ENUMERATED: usize = 200_000;

/// The same where the recourse has cones or a quadratic cost and the scan was not asked for: each point takes an
/// interior-point solve.
const MAX_ENUMERATED_IN_CONES: usize = 20_000;

/// The length of the list to scan, at most `most` unless the set is a list of its own. Enumerates only where the set
/// cannot count its extreme points otherwise.
fn list_length(problem: &Problem, most: usize) -> Result<usize, NoFiniteEquivalent> {
    match problem.set.extremes() {
        Count::Exactly(count) if problem.set.is_finite_list() => Ok(usize::try_from(count).unwrap_or(usize::MAX)),
        Count::Exactly(1) => Ok(1),
        _ if problem.recourse.costs_move() => Err(NoFiniteEquivalent::CostsMove),
        Count::Exactly(count) if count <= most as u128 => Ok(usize::try_from(count).unwrap_or(usize::MAX)),
        _ => Ok(finite_equivalent(problem, most)?.len()),
    }
}

/// The separation that the user chose.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum SeparationKind {
    /// The one that suits the problem: a cascade where the method proves its result, soft separation elsewhere.
    #[default]
    Auto,
    /// Known scenarios, ascents and chains; proves nothing.
    Soft,
    /// Every scenario or extreme point.
    Scan,
    /// Branch and bound on ξ.
    Split,
    /// A mixed-integer program by strong duality.
    Bilinear,
    /// A mixed-integer program by the optimality conditions of the recourse.
    Kkt,
    /// Soft separation first, an exact one where it finds nothing.
    Cascade,
    /// A separation written outside of this crate.
    Custom(CustomSeparation),
}

impl fmt::Display for SeparationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Soft => "soft",
            Self::Scan => "scan",
            Self::Split => "split",
            Self::Bilinear => "bilinear",
            Self::Kkt => "kkt",
            Self::Cascade => "cascade",
            Self::Custom(_) => "custom",
        })
    }
}

impl FromStr for SeparationKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "auto" => Self::Auto,
            "soft" => Self::Soft,
            "scan" => Self::Scan,
            "split" => Self::Split,
            "bilinear" => Self::Bilinear,
            "kkt" => Self::Kkt,
            "cascade" => Self::Cascade,
            _ => {
                return Err(format!(
                    "\"{text}\" is no separation; auto, soft, scan, split, bilinear, kkt and cascade are"
                ));
            }
        })
    }
}

/// The reason why no separation of this kind is exact for a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoExactSeparation {
    /// There is no finite list to scan.
    #[error(transparent)]
    NoFiniteEquivalent(#[from] NoFiniteEquivalent),
    /// Branch and bound needs affine policies.
    #[error("branch and bound on ξ needs costs that do not move with ξ, and a set that is no list")]
    NotSplit,
    /// The mixed-integer program needs a polytope and linear duals.
    #[error("the mixed-integer program does not apply: {0}")]
    NotBilinear(#[from] NotBilinear),
    /// The optimality conditions need a set in rows and linear recourse.
    #[error("the mixed-integer program of optimality conditions does not apply: {0}")]
    NotKkt(#[from] NotKkt),
}

/// An exact separation, chosen and not yet built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exact {
    /// Every point of a finite equivalent with this many points.
    Scan(usize),
    /// Branch and bound on ξ.
    Split,
    /// A mixed-integer program by strong duality.
    Bilinear,
    /// A mixed-integer program by the optimality conditions of the recourse.
    Kkt,
}

impl Exact {
    /// Chooses by the problem's set and class.
    pub fn choose(problem: &Problem) -> Result<Self, NoExactSeparation> {
        let most = if problem.recourse.is_linear() { MAX_ENUMERATED } else { MAX_ENUMERATED_IN_CONES };
        // A set that has not counted its extreme points with some effort has many, and to enumerate them takes longer
        // than a search that does without.
        if matches!(problem.set.extremes(), Count::MoreThan(_)) && !problem.recourse.costs_move() {
            return Ok(Self::Split);
        }
        match list_length(problem, most) {
            Ok(points) => Ok(Self::Scan(points)),
            Err(NoFiniteEquivalent::CostsMove) => Err(NoFiniteEquivalent::CostsMove.into()),
            Err(NoFiniteEquivalent::TooMany(_)) => Ok(Self::Split),
        }
    }

    /// The exact separation of this kind, if it applies to the problem; of `Auto`, `Soft` and `Cascade` the one that
    /// suits it.
    pub fn of_kind(kind: &SeparationKind, problem: &Problem) -> Result<Self, NoExactSeparation> {
        match kind {
            SeparationKind::Auto | SeparationKind::Soft | SeparationKind::Cascade | SeparationKind::Custom(_) => {
                Self::choose(problem)
            }
            SeparationKind::Scan => Ok(Self::Scan(list_length(problem, MAX_ENUMERATED)?)),
            SeparationKind::Split => {
                let applies = !problem.recourse.costs_move() && !problem.set.is_finite_list();
                if applies { Ok(Self::Split) } else { Err(NoExactSeparation::NotSplit) }
            }
            SeparationKind::Bilinear => {
                Bilinear::new(problem)?;
                Ok(Self::Bilinear)
            }
            SeparationKind::Kkt => {
                Kkt::new(problem)?;
                Ok(Self::Kkt)
            }
        }
    }

    /// Describes its work at each decision, in words that follow "each iteration".
    pub fn plan(&self, problem: &Problem) -> String {
        match self {
            Self::Scan(points) => {
                let what = if problem.set.is_finite_list() { "scenarios" } else { "extreme points" };
                format!("scans {points} {what}")
            }
            Self::Split => {
                format!("searches the {} by branch and bound with affine policies as bounds", problem.set.kind())
            }
            Self::Bilinear => {
                format!("searches the {} by a mixed-integer program over duals and ξ", problem.set.kind())
            }
            Self::Kkt => {
                let kind = problem.set.kind();
                format!("searches the {kind} by a mixed-integer program over ξ and optimal recourse")
            }
        }
    }

    /// Describes how close the bounds come, in words.
    pub fn promise(&self, problem: &Problem) -> &'static str {
        match self {
            Self::Scan(_) => "they meet at the optimum",
            Self::Split if (0..problem.set.dim()).all(|entry| problem.set.levels(entry).is_some()) => {
                "they meet at the optimum after finitely many steps, but these may be very many: set a time limit"
            }
            Self::Split => "they come as close as asked for, but that may take very many steps: set a time limit",
            Self::Bilinear | Self::Kkt => {
                "they meet at the optimum where the duals have finite bounds, but that may take long: set a time limit"
            }
        }
    }

    /// Builds it, with HiGHS for mixed-integer programs.
    pub fn build<'p>(self, problem: &'p Problem) -> Result<Box<dyn Separation + 'p>, Error> {
        self.build_with(problem, &MipSolver::Highs)
    }

    /// Builds it for an automatic choice, which may combine it with another one.
    pub(crate) fn build_combined<'p>(
        self,
        problem: &'p Problem,
        solver: &MipSolver,
    ) -> Result<Box<dyn Separation + 'p>, Error> {
        match self {
            Self::Scan(count) => Ok(Box::new(scan(problem, count)?.with_trial(solver))),
            Self::Split => Ok(Box::new(Split::new(problem).with_trial(solver))),
            Self::Bilinear | Self::Kkt => self.build_with(problem, solver),
        }
    }

    /// Builds it, with this solver for mixed-integer programs.
    pub(crate) fn build_with<'p>(
        self,
        problem: &'p Problem,
        solver: &MipSolver,
    ) -> Result<Box<dyn Separation + 'p>, Error> {
        match self {
            Self::Scan(count) => Ok(Box::new(scan(problem, count)?)),
            Self::Split => Ok(Box::new(Split::new(problem))),
            Self::Bilinear => match Bilinear::new(problem) {
                Ok(bilinear) => Ok(Box::new(bilinear.with_solver(solver))),
                Err(reason) => Err(Error::Master(NoExactSeparation::from(reason).to_string())),
            },
            Self::Kkt => match Kkt::new(problem) {
                Ok(kkt) => Ok(Box::new(kkt.with_solver(solver))),
                Err(reason) => Err(Error::Master(NoExactSeparation::from(reason).to_string())),
            },
        }
    }
}

/// The scan of a finite equivalent with this many points.
fn scan(problem: &Problem, count: usize) -> Result<Scan<'_>, Error> {
    // The effort of an enumeration grows with its limit: it is that of the choice.
    let points = finite_equivalent(problem, count.max(MAX_ENUMERATED))
        .map_err(|reason| Error::Master(NoExactSeparation::from(reason).to_string()))?;
    Scan::new(problem, points)
}
