//! A separation made of separations: cheap ones first, an exact one if these find no scenario.

use super::{Claim, Effort, Found, Query, Separation, worse};
use crate::cuts::CutPool;
use crate::error::Error;
use crate::run::{ChainDiagnostics, SearchDiagnostics};

/// One in so many of the recourse solves of a proof may be spent on a thorough soft search before it.
const SOFT_SHARE: u64 = 20;

/// The same in recourse solves, where those of a proof are not known, and at least where a proof is not short.
const SOFT_BUDGET: u64 = 400;

/// The same share for a short proof: a search in vain must not cost as much as the proof.
const SHORT_SHARE: u64 = 4;

/// A proof of fewer recourse solves is made without a soft search before it, and finds the maximum: the worst of few
/// scenarios saves iterations.
const FEW_SOLVES: u64 = 64;

/// Calls its members in order. A member that finds a scenario above the query's `above` ends the call. Exact members
/// are called only where the query wants a bound.
///
/// Where the exact member is expected to take few recourse solves, or fewer than the soft ones, it is called first.
pub struct Cascade<'p> {
    soft: Box<dyn Separation + 'p>,
    exact: Option<Box<dyn Separation + 'p>>,
    /// The mean number of recourse solves of the soft member's calls, and the number of these.
    soft_solves: f64,
    soft_calls: f64,
}

impl<'p> Cascade<'p> {
    /// `soft` claims nothing; `exact` bounds the maximum. Without it no query gets a bound.
    pub fn new(soft: Box<dyn Separation + 'p>, exact: Option<Box<dyn Separation + 'p>>) -> Self {
        Self { soft, exact, soft_solves: 0.0, soft_calls: 0.0 }
    }

    fn ask_soft(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error> {
        let found = self.soft.separate(query, pool)?;
        self.soft_calls += 1.0;
        self.soft_solves += (found.solves as f64 - self.soft_solves) / self.soft_calls;
        Ok(found)
    }

    /// Whether the exact member takes few solves.
    fn exact_is_cheap(&self) -> bool {
        self.expected_solves().is_some_and(|solves| solves < FEW_SOLVES)
    }

    /// Whether the exact member takes few solves, or fewer than the soft one.
    fn exact_is_cheaper(&self) -> bool {
        self.exact_is_cheap() || self.expected_solves().is_some_and(|solves| solves as f64 <= self.soft_solves)
    }
}

impl Separation for Cascade<'_> {
    fn separate(&mut self, query: &Query, pool: &mut CutPool) -> Result<Found, Error> {
        let wants_proof = query.bound.is_some() && self.exact.is_some();
        // A thorough search follows where a quick one finds nothing.
        let quick = match query.effort {
            Effort::Thorough if wants_proof => query.with_effort(Effort::Normal).before_proof(),
            _ if wants_proof => query.before_proof(),
            _ => *query,
        };
        let first = match wants_proof && self.exact_is_cheaper() {
            true => None,
            false => match self.ask_soft(&quick, pool) {
                Ok(found) => Some(found),
                // The query may have a clock of its own, on which an exact separation still has time.
                Err(Error::Interrupted(stop)) if !wants_proof || query.clock.check().is_err() => {
                    return Err(stop.into());
                }
                Err(Error::Interrupted(_)) => None,
                Err(error) => return Err(error),
            },
        };
        let is_enough = |found: &Found| query.is_met_by(found.value) || matches!(found.claim, Claim::Surely(_));
        let is_cheap = self.exact_is_cheap();
        let Some(exact) = self.exact.as_mut().filter(|_| wants_proof) else {
            return first.map_or_else(|| self.ask_soft(query, pool), Ok);
        };
        if let Some(found) = first.as_ref().filter(|found| is_enough(found)) {
            return Ok(found.clone());
        }
        let first = match first {
            Some(first) if query.effort != Effort::Local && query.above.is_some() => {
                let budget = soft_budget(exact.expected_solves());
                let thorough = query.with_effort(Effort::Thorough).before_proof().with_budget(budget);
                let found = worse(first, self.soft.separate(&thorough, pool)?);
                if is_enough(&found) {
                    return Ok(found);
                }
                Some(found)
            }
            first => first,
        };
        let proved = exact.separate(&Query { above: query.above.filter(|_| !is_cheap), ..*query }, pool)?;
        let found = match first {
            Some(first) => worse(proved, first),
            None => proved,
        };
        // A search that ended early has some scenario above, not the worst: ascents lead from it to a worse one.
        if found.claim == Claim::Nothing && query.is_met_by(found.value) && query.clock.check().is_ok() {
            if let Some(cut) = &found.cut {
                pool.insert(cut, &found.xi);
            }
            let local = Query::scenario(query.x, query.clock).with_size(query.size).with_effort(Effort::Local);
            let better = self.soft.separate(&local, pool)?;
            return Ok(worse(found, better));
        }
        Ok(found)
    }

    fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// The solves of a proof.
    fn expected_solves(&self) -> Option<u64> {
        self.exact.as_ref().and_then(|exact| exact.expected_solves())
    }

    fn start_at(&mut self, xi: &[f64]) {
        self.soft.start_at(xi);
    }

    fn start_from(&mut self, basis: &crate::recourse::RecourseBasis) -> Result<(), Error> {
        self.soft.start_from(basis)
    }

    fn proof(&self) -> Option<String> {
        self.exact.as_ref().and_then(|exact| exact.proof())
    }

    fn diagnostics(&self) -> Option<ChainDiagnostics> {
        self.soft.diagnostics()
    }

    fn last_search(&self) -> Option<&SearchDiagnostics> {
        self.soft.last_search()
    }
}

/// The recourse solves of a thorough soft search before a proof that takes so many.
fn soft_budget(expected: Option<u64>) -> u64 {
    expected.map_or(SOFT_BUDGET, |solves| (solves / SOFT_SHARE).max(SOFT_BUDGET.min(solves / SHORT_SHARE)))
}

#[cfg(test)]
mod tests {
    use super::soft_budget;

    #[test]
    fn a_soft_search_is_shorter_than_the_proof_that_it_may_save() {
        let budgets = [None, Some(64), Some(226), Some(1600), Some(8000), Some(80_000)].map(soft_budget);
        assert_eq!(budgets, [400, 16, 56, 400, 400, 4000]);
    }
}
