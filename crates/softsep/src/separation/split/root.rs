//! The root node: one policy for the whole range, to which coefficients are added in rounds.

use super::node::{BoundedNode, Measures, SplitNode, bound};
use super::search::SplitSearch;
use crate::error::Error;
use crate::policy::{Dependence, ProvenPolicy, ReducedMeasures};

/// The largest number of coefficients for which the variables in use depend on all of ξ in the first round: such a
/// policy is solved quickly.
const SMALL_POLICY: usize = 1_000;

/// The smallest limit on coefficients added in a round. The limit is half their number where that is larger.
const MIN_ADDED: usize = 500;

/// The largest number of coefficients of a policy.
const LARGEST_POLICY: usize = 120_000;

/// The share of the distance between bound and worst scenario that a round must gain, and the number of rounds in a row
/// that may gain less.
const MIN_GAIN: f64 = 0.05;
const SLOW_ROUNDS: u32 = 2;

impl SplitSearch<'_, '_> {
    /// Bounds the maximum over the whole range by policies with a growing number of coefficients. First the recourse
    /// variables in use depend on the entries of ξ in their own rows, where that saves many coefficients; then on all
    /// of ξ; then variables are added by the reduced measures of the last policy.
    ///
    /// Adding single dependences, starting from a variable's own rows, is slower: on location–transportation with 50
    /// customers it took seventy seconds and 30,000 coefficients for the bound that the 4,100 coefficients of the 82
    /// variables in use give in three seconds.
    pub(super) fn root(&mut self) -> Result<SplitNode, Error> {
        let in_use = Dependence::of(self.problem, |j| self.is_used(j));
        let local = Dependence::local(self.problem, |j| self.is_used(j));
        let mut is_local = in_use.coefficients() > SMALL_POLICY && 4 * local.coefficients() <= in_use.coefficients();
        self.dependence = if is_local { local } else { in_use };
        let mut root: Option<SplitNode> = None;
        let mut slow_rounds_left = SLOW_ROUNDS;
        loop {
            let before = self.upper;
            let Some(BoundedNode { node, policy, measures }) = bound(
                self.problem,
                self.query.x,
                self.range.clone(),
                &self.dependence,
                Measures::Computed,
                self.ascent.value(),
                self.query.clock,
            )?
            else {
                break;
            };
            self.nodes += 1;
            self.rounds += 1;
            self.ascent.climb(&node.high)?;
            let (is_found, value) = (policy.is_some(), node.bound);
            if let Some(policy) = policy.filter(|_| value < self.upper) {
                self.policy = Some(ProvenPolicy { policy, value });
            }
            self.upper = self.upper.min(value);
            if root.as_ref().is_none_or(|root| value < root.bound) {
                root = Some(node);
            }
            let is_slow = before.is_finite() && before - self.upper <= MIN_GAIN * (before - self.ascent.value());
            slow_rounds_left = if is_slow { slow_rounds_left - 1 } else { SLOW_ROUNDS };
            if self.is_done() || slow_rounds_left == 0 {
                break;
            }
            if std::mem::take(&mut is_local) {
                self.dependence = Dependence::of(self.problem, |j| self.is_used(j));
                continue;
            }
            if !self.add_coefficients(measures, is_found) {
                break;
            }
        }
        let unbounded = || SplitNode {
            part: self.range.clone(),
            bound: f64::INFINITY,
            slope: vec![0.0; self.problem.set.dim()],
            high: self.ascent.worst().to_vec(),
            number: 0,
        };
        Ok(root.unwrap_or_else(unbounded))
    }

    /// Adds coefficients to the policy after a round. Returns false if there are none to add, or too many.
    fn add_coefficients(&mut self, measures: Option<ReducedMeasures>, is_found: bool) -> bool {
        let size = self.dependence.coefficients();
        self.follow_used_variables();
        if let Some(measures) = measures {
            measures.grow(self.problem, &mut self.dependence, MIN_ADDED.max(size / 2));
        }
        if !is_found {
            // The policy may have had too few coefficients to be feasible.
            self.dependence = Dependence::full(self.problem);
        }
        let grown = self.dependence.coefficients();
        grown != size && grown <= LARGEST_POLICY
    }

    /// Whether a recourse variable depends on ξ in the first round: if ascents saw it in use, and always for nonlinear
    /// recourse, where interior points do not show use and no reduced measures would add it later.
    fn is_used(&self, j: usize) -> bool {
        self.ascent.used()[j] || !self.problem.recourse.is_linear()
    }

    /// Makes every recourse variable that ascents have seen in use depend on ξ.
    pub(super) fn follow_used_variables(&mut self) {
        for (j, _) in self.ascent.used().iter().enumerate().filter(|(_, used)| **used) {
            self.dependence.add_variable(j);
        }
    }
}
