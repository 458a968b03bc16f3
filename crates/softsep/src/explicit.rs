//! `explicit_rule`: what to do in the second stage, as an affine function of ξ that is written down before ξ is known.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::Error;
use crate::model::Problem;
use crate::policy::{Affine, Decision, Dependence, Ended, Policy, Proved, Region, Repair};
use crate::recourse::{RecourseError, engine};
use crate::run::Clock;
use crate::separation::{Ascent, Ask, Separation, Split};
use crate::solve::on_threads;
use crate::uncertainty::{Part, Shape};

/// A rule that is feasible for every ξ of the set.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// `y(ξ) = y₀ + Yξ`.
    pub policy: Policy,
    /// What the decision costs at most under it, for sure: f(x) included.
    pub upper: f64,
}

/// Why no affine rule is offered for a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRule {
    /// No recourse variables.
    #[error("an affine rule says what recourse variables do, and there are none here")]
    NoVariables,
    /// A quadratic cost or cones.
    #[error("an affine rule needs linear recourse, and this one has a quadratic cost or cones")]
    NotLinear,
    /// Costs that move with ξ.
    #[error("an affine rule needs costs that do not move with ξ, and some recourse variable here has \"cost_xi\"")]
    CostsMove,
    /// A list of scenarios.
    #[error(
        "an affine rule needs a set, not a list of scenarios: give a box, l1, budget, ellipsoid or polyhedron that holds them"
    )]
    List,
}

impl NoRule {
    /// Whether [`explicit_rule`] takes a problem.
    pub fn check(problem: &Problem) -> Result<(), Self> {
        if problem.recourse.dim() == 0 {
            Err(Self::NoVariables)
        } else if !problem.recourse.is_linear() {
            Err(Self::NotLinear)
        } else if problem.recourse.costs_move() {
            Err(Self::CostsMove)
        } else if problem.set.is_finite_list() {
            Err(Self::List)
        } else {
            Ok(())
        }
    }
}

/// Coefficients beyond which not every variable follows every entry of ξ.
const LARGE: usize = 120_000;

/// Ascents from random directions, besides two for each entry of ξ.
const STARTS: usize = 30;

/// An affine rule for `x`. The search ends when what the rule costs at most is within `gap` of the worst scenario met, relative to the cost, or when
/// affine rules come no closer. `None` if no rule was found; a limit that strikes before there is one is an error.
pub fn explicit_rule(
    problem: &Problem,
    x: &[f64],
    gap: f64,
    time_limit: Option<Duration>,
    threads: Option<usize>,
    interrupt: &Arc<AtomicBool>,
) -> Result<Option<Rule>, Error> {
    NoRule::check(problem).map_err(|reason| Error::Settings(reason.to_string()))?;
    if x.len() != problem.first.dim() {
        return Err(Error::Settings(format!("x has {} entries where the problem has {}", x.len(), problem.first.dim())));
    }
    let Some(shape) = problem.set.shape(&Part::whole(problem.set.dim())) else { return Ok(None) };
    let clock = Clock::new(time_limit, Arc::clone(interrupt));
    let mut search = Search { problem, x, shape: &shape, clock: &clock, best: None };
    let ended = on_threads(threads, || search.run(gap))?;
    match (search.best, ended) {
        (Some(Proved { policy, value }), Ok(()) | Err(Error::Stopped(_))) => {
            Ok(Some(Rule { policy, upper: problem.first.value(x) + value }))
        }
        (_, Err(error)) => Err(error),
        (None, Ok(())) => Ok(None),
    }
}

/// The search for a rule, and the best so far.
struct Search<'a> {
    problem: &'a Problem,
    x: &'a [f64],
    /// The whole set.
    shape: &'a Shape,
    clock: &'a Clock,
    best: Option<Proved>,
}

impl Search<'_> {
    fn run(&mut self, gap: f64) -> Result<(), Error> {
        self.clock.check()?;
        let mut lead = engine(self.problem, self.clock)?;
        let mut ascent = Ascent::new(self.problem, lead.as_mut(), self.x);
        ascent.climb_from_axes()?;
        if !ascent.value().is_finite() {
            // Some scenario has no recourse, or recourse costs −∞: no rule bounds that.
            return Ok(());
        }
        let tolerance = gap * (self.problem.first.value(self.x) + ascent.value()).abs();
        let mut split = Split::without_parts(self.problem);
        let found = split.separate(self.x, &Ask { beyond: None, tolerance }, self.clock)?;
        if found.value == f64::INFINITY {
            return Ok(());
        }
        if let Some(proved) = split.policy() {
            self.extend(&proved.policy)?;
            if self.is_within(proved.value + tolerance) {
                return Ok(());
            }
        }
        self.clock.check()?;
        ascent.climb_at_random(STARTS + 2 * self.problem.set.dim(), 0)?;
        let close = found.value.max(ascent.value()) + tolerance;
        let in_use = Dependence::of(self.problem, |j| ascent.used()[j]);
        for dependence in [in_use, Dependence::full(self.problem)] {
            if self.is_within(close) || dependence.coefficients() > LARGE {
                break;
            }
            self.solve(&dependence)?;
        }
        Ok(())
    }

    fn is_within(&self, value: f64) -> bool {
        self.best.as_ref().is_some_and(|best| best.value <= value)
    }

    /// Makes a rule for the whole set of one that a separation found. A separation leaves out where Q cannot be worst, and its policy need not be
    /// feasible there: Y is kept, y₀ chosen anew. A rule that was found is not lost because time is up meanwhile.
    fn extend(&mut self, policy: &Policy) -> Result<(), Error> {
        let repair = Repair::over_shape(self.problem, self.x, self.shape);
        let is_stop = |error: &RecourseError| matches!(error, RecourseError::Stopped(_));
        self.best = self.clock.insist(|clock| repair.run(policy, clock), is_stop)?;
        Ok(())
    }

    /// The best rule over the whole set in which variables follow no more than this.
    fn solve(&mut self, dependence: &Dependence) -> Result<(), Error> {
        let affine = Affine::new(self.problem, Region::Shape(self.shape), dependence, Decision::Fixed(self.x));
        let solved = affine.solve(self.clock)?;
        match solved.ended {
            Ended::Optimal if !self.is_within(solved.value) => {
                self.best = Some(Proved { policy: solved.policy, value: solved.value });
            }
            Ended::Stopped(stop) => return Err(stop.into()),
            Ended::Optimal | Ended::Infeasible | Ended::Unbounded | Ended::Failed(_) => {}
        }
        Ok(())
    }
}
