//! How chains of a method walk: on which states, by which proposal, at which temperature.

use super::settings::{ChainSettings, Choice, Temperature};
use crate::chain::TransitionKernel;
use crate::error::Error;
use crate::model::Problem;
use crate::proposal::{Proposal, ProposalOptions};
use crate::run::{Clock, Run};
use crate::separation::trends;
use crate::theory;
use crate::uncertainty::{Count, ReferenceMeasure, Space, StateSpec, States};

/// The share of the gap asked for that the automatic temperature may cost, over the dimension of ξ: how far below the
/// worst case p_x has its mass.
const WARMTH: f64 = 0.05;

/// The least gap that the automatic temperature is made for.
const LEAST_GAP: f64 = 1e-6;

/// The share of the objective by which the worst scenario is taken to be worse than the next, where nobody says better
/// (Δ⋆ of Proposition 2).
const MARGIN: f64 = 1e-3;

/// What a chain walks on.
pub(in crate::methods) fn states<'p>(
    problem: &'p Problem,
    reference: ReferenceMeasure,
    clock: &Clock,
) -> Result<Box<dyn States + 'p>, Error> {
    let mut spec = StateSpec { convex: !problem.recourse.costs_move(), reference, ..StateSpec::default() };
    let has_trends = spec.convex && problem.recourse.is_linear() && problem.recourse.dim() > 0;
    if has_trends
        && problem.set.heeds_trends()
        && let Some(trends) = trends(problem, clock)?
    {
        spec.trends = trends;
    }
    Ok(problem.set.states(&spec)?)
}

/// The kernel of a method's chains, but for the temperature of the moment.
pub(in crate::methods) struct Walk<'a> {
    pub(in crate::methods) states: &'a dyn States,
    settings: ChainSettings,
    proposal: Box<dyn Proposal>,
    dim: usize,
}

impl<'a> Walk<'a> {
    pub(in crate::methods) fn new(
        problem: &Problem,
        states: &'a dyn States,
        settings: ChainSettings,
    ) -> Result<Self, Error> {
        let options = ProposalOptions {
            concentration: match settings.kappa {
                Choice::Auto => None,
                Choice::Given(kappa) => Some(kappa),
            },
            share: settings.share,
            ..ProposalOptions::default()
        };
        let proposal =
            settings.proposal.build(states, &options).map_err(|refused| Error::Settings(refused.to_string()))?;
        if settings.temperature == Temperature::Adaptive && states_count(states).is_none() {
            return Err(Error::Settings(format!(
                "the adaptive temperature is for finitely many states, and here they are {}; leave --temperature out, \
                 or give a number",
                states.space()
            )));
        }
        Ok(Self { states, settings, proposal, dim: problem.set.dim() })
    }

    /// How the chains are set up.
    pub(in crate::methods) fn settings(&self) -> &ChainSettings {
        &self.settings
    }

    /// The kernel at this moment.
    pub(in crate::methods) fn kernel(&self, run: &Run) -> TransitionKernel<'_> {
        TransitionKernel {
            states: self.states,
            proposal: self.proposal.as_ref(),
            acceptance: self.settings.acceptance,
            temperature: self.temperature(run),
        }
    }

    /// w at this moment.
    pub(in crate::methods) fn temperature(&self, run: &Run) -> f64 {
        // The lower bound tells the size of the objective before anything else does.
        let size = run.bounds().lower().map_or(1.0, f64::abs).max(LEAST_GAP);
        match (self.settings.temperature, states_count(self.states)) {
            (Temperature::Given(temperature), _) => temperature,
            (Temperature::Adaptive, Some(count)) => {
                let margin = match self.settings.margin {
                    Choice::Given(margin) => margin,
                    Choice::Auto => MARGIN * size,
                };
                theory::temperature_at(run.iterations(), margin, count)
            }
            _ => WARMTH * run.limits().gap.max(LEAST_GAP) * size / self.dim.max(1) as f64,
        }
    }
}

/// How many states there are, where they are finitely many.
fn states_count(states: &dyn States) -> Option<f64> {
    match states.space() {
        Space::Finite(Count::Exactly(count) | Count::MoreThan(count)) => Some(count as f64),
        _ => None,
    }
}
