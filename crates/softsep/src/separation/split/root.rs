//! The whole set: one policy for all of it, which begins small and grows where that pays.

use super::part::{Bounded, Node, Prices, bound};
use super::search::Search;
use crate::error::Error;
use crate::policy::{Dependence, ProvenPolicy};

/// Coefficients up to which the variables in use follow all of ξ from the beginning: a policy that small is solved in a
/// moment.
const SMALL: usize = 1_000;

/// Coefficients that come in one round at least; else half as many as there are.
const ROUND: usize = 500;

/// Coefficients beyond which a policy does not grow.
const LARGE: usize = 120_000;

/// The share of the distance to the worst scenario met that a round must gain, and how many rounds in a row may not.
const GAIN: f64 = 0.05;
const PATIENCE: u32 = 2;

impl Search<'_> {
    /// Bounds the whole set by policies of more and more coefficients. The recourse variables seen in use follow what
    /// is in their own rows, where that saves much; then all of ξ; then the variables join them that the duals of the
    /// last policy say would pay.
    ///
    /// Growing dependences one by one from what is in a variable's own rows was tried: location–transportation with 50
    /// customers took seventy seconds and 30,000 coefficients to come as close as 4,100 in three seconds, those of the
    /// 82 variables in use.
    pub(super) fn root(&mut self) -> Result<Node, Error> {
        let in_use = Dependence::of(self.problem, |j| self.is_used(j));
        let local = Dependence::local(self.problem, |j| self.is_used(j));
        let mut is_local = in_use.coefficients() > SMALL && 4 * local.coefficients() <= in_use.coefficients();
        self.dependence = if is_local { local } else { in_use };
        let mut root: Option<Node> = None;
        let mut patience = PATIENCE;
        loop {
            let before = self.best;
            let Some(Bounded { node, policy, measures }) = bound(
                self.problem,
                self.x,
                self.range.clone(),
                &self.dependence,
                Prices::Wanted,
                self.ascent.value(),
                self.clock,
            )?
            else {
                break;
            };
            self.nodes += 1;
            self.rounds += 1;
            self.ascent.climb(&node.high)?;
            let (is_found, value) = (policy.is_some(), node.bound);
            if let Some(policy) = policy.filter(|_| value < self.best) {
                self.policy = Some(ProvenPolicy { policy, value });
            }
            self.best = self.best.min(value);
            if root.as_ref().is_none_or(|root| value < root.bound) {
                root = Some(node);
            }
            let is_slow = before.is_finite() && before - self.best <= GAIN * (before - self.ascent.value());
            patience = if is_slow { patience - 1 } else { PATIENCE };
            if self.is_done() || patience == 0 {
                break;
            }
            if std::mem::take(&mut is_local) {
                self.dependence = Dependence::of(self.problem, |j| self.is_used(j));
                continue;
            }
            let size = self.dependence.coefficients();
            self.follow_what_is_used();
            if let Some(measures) = measures {
                measures.grow(self.problem, &mut self.dependence, ROUND.max(size / 2));
            }
            if !is_found {
                // Too little may be free to move: all of it, if that is not too much.
                self.dependence = Dependence::full(self.problem);
            }
            let grown = self.dependence.coefficients();
            if grown == size || grown > LARGE {
                break;
            }
        }
        let nothing = || Node {
            part: self.range.clone(),
            bound: f64::INFINITY,
            slope: vec![0.0; self.problem.set.dim()],
            high: self.ascent.worst().to_vec(),
            number: 0,
        };
        Ok(root.unwrap_or_else(nothing))
    }

    /// Whether a recourse variable should follow ξ from the beginning: if ascents saw it in use, or if interior points
    /// do not tell and no prices would let it join later.
    fn is_used(&self, j: usize) -> bool {
        self.ascent.used()[j] || !self.problem.recourse.is_linear()
    }

    /// Lets every recourse variable that came into use since follow ξ.
    pub(super) fn follow_what_is_used(&mut self) {
        for (j, _) in self.ascent.used().iter().enumerate().filter(|(_, used)| **used) {
            self.dependence.add_variable(j);
        }
    }
}
