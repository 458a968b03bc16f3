//! The kernel of the chains: states, proposal, acceptance, and the temperature of a call.

use std::sync::Arc;

use super::settings::{AutoOr, SoftSettings, Temperature};
use super::weights::Weights;
use crate::chain::TransitionKernel;
use crate::error::Error;
use crate::model::Problem;
use crate::proposal::{Proposal, ProposalKind, ProposalOptions};
use crate::run::Clock;
use crate::separation::trends;
use crate::theory;
use crate::uncertainty::{Count, ReferenceMeasure, SetError, Space, StateSpec, States};

/// The share of the gap asked for that the automatic temperature may cost, over the dimension of ξ: how far below the
/// worst case p_x has its mass.
const SHARE_OF_GAP: f64 = 0.05;

/// The least gap that the automatic temperature is made for.
const LEAST_GAP: f64 = 1e-6;

/// Δ⋆ of Proposition 2 relative to the objective, where it is not given: by how much the worst scenario is worse than
/// the next.
const MARGIN: f64 = 1e-3;

/// The states that chains with these settings move on. Local moves on a large polyhedron are along its edges; the
/// other proposals move in the whole set.
pub(crate) fn chain_states<'p>(
    problem: &'p Problem,
    settings: &SoftSettings,
    clock: &Clock,
) -> Result<Arc<dyn States + 'p>, Error> {
    let edges = settings.proposal == ProposalKind::Local;
    worst_states(problem, StateSpec { reference: settings.reference, edges, ..StateSpec::default() }, clock)
}

/// The states that draws for certificates are made from.
pub(crate) fn draw_states<'p>(
    problem: &'p Problem,
    reference: ReferenceMeasure,
    clock: &Clock,
) -> Result<Arc<dyn States + 'p>, Error> {
    worst_states(problem, StateSpec { reference, ..StateSpec::default() }, clock)
}

/// The states that can hold a maximum of Q(x, ·) for some x, by the known properties of Q.
fn worst_states<'p>(problem: &'p Problem, choice: StateSpec, clock: &Clock) -> Result<Arc<dyn States + 'p>, Error> {
    let mut reach = StateSpec { convex: !problem.recourse.costs_move(), ..choice };
    let has_trends = reach.convex && problem.recourse.is_linear() && problem.recourse.dim() > 0;
    if has_trends
        && problem.set.heeds_trends()
        && let Some(trends) = trends(problem, clock)?
    {
        reach.trends = trends;
    }
    Ok(Arc::from(problem.set.states(&reach)?))
}

/// The space of [`chain_states`] with default settings, found by the problem's class alone.
pub(crate) fn chain_space(problem: &Problem) -> Result<Space, SetError> {
    let reach = StateSpec { convex: !problem.recourse.costs_move(), ..StateSpec::default() };
    problem.set.states(&reach).map(|states| states.space())
}

/// Everything that a chain's kernel is made of but the temperature.
pub(super) struct KernelParts<'p> {
    pub(super) states: Arc<dyn States + 'p>,
    proposal: Box<dyn Proposal>,
    dim: usize,
}

impl<'p> KernelParts<'p> {
    /// Refuses a proposal or a temperature that the states do not allow.
    pub(super) fn new(problem: &Problem, states: Arc<dyn States + 'p>, settings: &SoftSettings) -> Result<Self, Error> {
        if settings.weights.is_some() && settings.proposal != ProposalKind::Weighted {
            return Err(Error::Settings("weights are for --proposal weighted; leave --weights out, or say so".into()));
        }
        if settings.proposal == ProposalKind::Weighted && !problem.set.is_finite_list() {
            // The order of extreme points, where there is one, is not the user's.
            return Err(Error::Settings(format!(
                "weights are given to the scenarios of a list, and this set is of the kind {}; leave --proposal out",
                problem.set.kind()
            )));
        }
        let options = ProposalOptions {
            weights: settings.weights.as_ref().map(Weights::values),
            concentration: match settings.kappa {
                AutoOr::Auto => None,
                AutoOr::Given(kappa) => Some(kappa),
            },
            share: settings.share,
            ..ProposalOptions::default()
        };
        let refuse = |refused: String| Error::Settings(refused);
        let proposal = settings.proposal.build(states.as_ref(), &options).map_err(|error| refuse(error.to_string()))?;
        if settings.temperature == Temperature::Adaptive && count(states.as_ref()).is_none() {
            return Err(refuse(format!(
                "the adaptive temperature is for finitely many states, and here they are {}; leave --temperature out, \
                 or give a number",
                states.space()
            )));
        }
        Ok(Self { states, proposal, dim: problem.set.dim() })
    }

    /// The states of a tempered search: those of the chains, and for a polyhedron in whose interior the chains move its
    /// vertices, where Q is convex.
    pub(super) fn search_states(&self, problem: &'p Problem) -> Result<Arc<dyn States + 'p>, Error> {
        if problem.recourse.costs_move() || !matches!(self.states.space(), Space::Body(_)) {
            return Ok(Arc::clone(&self.states));
        }
        Ok(Arc::from(problem.set.states(&StateSpec { convex: true, edges: true, ..StateSpec::default() })?))
    }

    /// The kernel at a temperature.
    pub(super) fn at(&self, settings: &SoftSettings, temperature: f64) -> TransitionKernel<'_> {
        TransitionKernel {
            states: self.states.as_ref(),
            proposal: self.proposal.as_ref(),
            acceptance: settings.acceptance,
            temperature,
        }
    }

    /// The temperature w after `calls` earlier calls, for a relative gap and an objective of this size.
    pub(super) fn temperature(&self, settings: &SoftSettings, calls: u64, gap: f64, size: f64) -> f64 {
        let size = size.max(LEAST_GAP);
        match (settings.temperature, count(self.states.as_ref())) {
            (Temperature::Given(temperature), _) => temperature,
            (Temperature::Adaptive, Some(count)) => {
                let margin = match settings.margin {
                    AutoOr::Given(margin) => margin,
                    AutoOr::Auto => MARGIN * size,
                };
                theory::temperature_at(calls, margin, count)
            }
            _ => SHARE_OF_GAP * gap.max(LEAST_GAP) * size / self.dim.max(1) as f64,
        }
    }
}

/// The number of states, where there are finitely many.
fn count(states: &dyn States) -> Option<f64> {
    match states.space() {
        Space::Finite(Count::Exactly(count) | Count::MoreThan(count)) => Some(count as f64),
        _ => None,
    }
}
