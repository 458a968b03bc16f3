//! Separation: at a decision x, a scenario with high recourse cost, the valid cut that it proves, and a claim about the
//! maximum over the set.
//!
//! Soft separation may replace an exact one in any iterative method: a method holds a [`Separation`] of any kind.
//! Adding one: see CONTRIBUTING.md; every separation passes `testing::check_separation`.

pub(crate) mod ascent;
pub(crate) mod assessor;
pub(crate) mod bilinear;
mod cascade;
mod choice;
pub(crate) mod exact;
pub(crate) mod finite_equivalent;
pub(crate) mod kkt;
mod mixed_integer;
mod query;
pub(crate) mod scan;
mod screen;
mod search_state;
pub(crate) mod slopes;
pub mod soft;
pub(crate) mod split;
mod trends;
mod worst;

pub(crate) use ascent::{Ascent, ascend};
pub(crate) use bilinear::{Bilinear, NotBilinear};
pub use cascade::Cascade;
pub use choice::{CustomSeparation, Proof, SeparationContext, SeparationFactory, build_separation};
pub use exact::SeparationKind;
pub(crate) use exact::{Exact, NoExactSeparation};
pub(crate) use finite_equivalent::{NoFiniteEquivalent, finite_equivalent};
pub(crate) use kkt::{Kkt, NotKkt};
pub use query::{Effort, Query, Target};
pub(crate) use scan::Scan;
pub(crate) use slopes::{LpMinimum, SlopeRanges, minimum_of, range_program, widen_range};
pub(crate) use soft::SoftSeparation;
pub use soft::SoftSettings;
pub(crate) use split::Split;
pub(crate) use trends::trends;

use crate::cuts::CutPool;
use crate::error::Error;
use crate::recourse::{Answer, Cut, RecourseBasis};
use crate::run::{ChainDiagnostics, SearchDiagnostics};

/// A claim about the maximum of Q(x, ·) over the set. A separation claims what it has proved: statements that hold with
/// a probability are made by certification, from draws of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Claim {
    /// The maximum is at most this.
    Surely(f64),
    /// No claim.
    Nothing,
}

/// The answer of a separation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// The worst scenario found.
    pub xi: Vec<f64>,
    /// Its recourse cost Q(x, ξ): ∞ where no recourse is feasible, −∞ where the recourse is unbounded.
    pub value: f64,
    /// The cut that it proves, valid for every x; `None` where the recourse is unbounded.
    pub cut: Option<Cut>,
    /// A claim about the maximum.
    pub claim: Claim,
    /// The number of recourse solves.
    pub solves: u64,
    /// The number of nodes of search trees.
    pub nodes: u64,
    /// The number of exact separations, for a separation made of others.
    pub exact: u64,
}

impl Found {
    /// The answer of a recourse engine at `xi`, without a claim; one solve.
    pub fn new(xi: &[f64], answer: &Answer) -> Self {
        let (value, cut) = (answer.cost, answer.cut());
        Self { xi: xi.to_vec(), value, cut, claim: Claim::Nothing, solves: 1, nodes: 0, exact: 0 }
    }
}

/// The worse of two scenarios at the same decision, with the claim of the first, and the work of both.
fn worse(proved: Found, other: Found) -> Found {
    let (solves, nodes, exact) = (proved.solves + other.solves, proved.nodes + other.nodes, proved.exact + other.exact);
    // A bound that a solver's tolerance puts below a scenario is lifted to it.
    let claim = match (proved.claim, other.claim) {
        (Claim::Surely(at_most), _) => Claim::Surely(at_most.max(other.value)),
        (Claim::Nothing, claim) => claim,
    };
    let worst = if other.value > proved.value { other } else { proved };
    Found { claim, solves, nodes, exact, ..worst }
}

/// Finds scenarios with high recourse cost.
///
/// A separation of another crate goes into [`SeparationKind::custom`] by a [`SeparationFactory`]; every method with the
/// option `separation` drives it. `testing::check_separation` checks the contract.
pub trait Separation {
    /// Answers a query. Cuts met on the way may be inserted into `pool`; the caller inserts the cut of the answer.
    ///
    /// An exact search that the clock stops returns the scenario and the bound that it has. It errs with
    /// [`Error::Interrupted`] where it has none, and so does a search without bounds that the clock stops: its scenario
    /// would estimate nothing.
    fn separate(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error>;

    /// Whether its claims bound the maximum, as tightly as a query asks for unless the clock stops it.
    fn is_exact(&self) -> bool;

    /// An estimate of the recourse solves that the next answer takes, if one is known.
    fn expected_solves(&self) -> Option<u64> {
        None
    }

    /// Suggests a scenario for the next search to start from. May be ignored.
    fn start_at(&mut self, _xi: &[f64]) {}

    /// Suggests a basis for the next recourse solve. May be ignored.
    fn start_from(&mut self, _basis: &RecourseBasis) -> Result<(), Error> {
        Ok(())
    }

    /// Describes in words how the last claim was proved, if the name of the separation does not.
    fn proof(&self) -> Option<String> {
        None
    }

    /// The state of its chains, if it has some.
    fn diagnostics(&self) -> Option<ChainDiagnostics> {
        None
    }

    /// The last thorough search in numbers, if there was one.
    fn last_search(&self) -> Option<&SearchDiagnostics> {
        None
    }
}

impl<S: Separation + ?Sized> Separation for Box<S> {
    fn separate(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error> {
        (**self).separate(query, pool)
    }

    fn is_exact(&self) -> bool {
        (**self).is_exact()
    }

    fn expected_solves(&self) -> Option<u64> {
        (**self).expected_solves()
    }

    fn start_at(&mut self, xi: &[f64]) {
        (**self).start_at(xi);
    }

    fn start_from(&mut self, basis: &RecourseBasis) -> Result<(), Error> {
        (**self).start_from(basis)
    }

    fn proof(&self) -> Option<String> {
        (**self).proof()
    }

    fn diagnostics(&self) -> Option<ChainDiagnostics> {
        (**self).diagnostics()
    }

    fn last_search(&self) -> Option<&SearchDiagnostics> {
        (**self).last_search()
    }
}
