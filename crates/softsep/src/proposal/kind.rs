//! Selection of a proposal by name.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{
    Geodesic, Hamiltonian, HitAndRun, KernelMixture, Langevin, LangevinOnSphere, Neighbour, Proposal, ProposalError,
    RandomStep, Tangent, Tilted, TiltedChord, Uniform, Weighted,
};
use crate::uncertainty::{Space, States};

/// The proposal of the chains: one that is fully specified by a name, or one of another crate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ProposalKind {
    /// A proposal that mixes well on the given states.
    #[default]
    Auto,
    /// [`Uniform`].
    Uniform,
    /// [`Weighted`], by [`ProposalOptions::weights`].
    Weighted,
    /// [`Tilted`], or [`TiltedChord`] in a body.
    Adaptive,
    /// [`HitAndRun`].
    HitAndRun,
    /// [`Geodesic`].
    Geodesic,
    /// [`Tangent`].
    Tangent,
    /// [`Langevin`] or [`LangevinOnSphere`].
    Langevin,
    /// [`Hamiltonian`].
    Hamiltonian,
    /// [`Neighbour`], or [`RandomStep`] on a sphere and in a body.
    Local,
    /// A proposal of another crate.
    Custom(CustomProposal),
}

/// Builds a proposal outside of this crate, once for each separation.
pub trait ProposalFactory: Send + Sync {
    /// The proposal for these states. Errs where it does not apply to them, or an option makes no sense for it.
    fn build(&self, states: &dyn States, options: &ProposalOptions<'_>) -> Result<Box<dyn Proposal>, ProposalError>;
}

/// A shared [`ProposalFactory`]; equal to its clones only.
#[derive(Clone)]
pub struct CustomProposal(Arc<dyn ProposalFactory>);

impl fmt::Debug for CustomProposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CustomProposal")
    }
}

impl PartialEq for CustomProposal {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CustomProposal {}

/// Options of a proposal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProposalOptions<'a> {
    /// One weight for each row of a list, for the weighted proposal.
    pub weights: Option<&'a [f64]>,
    /// κ of the tilt; the default of the states if `None`.
    pub concentration: Option<f64>,
    /// The weight of the uniform law in a mixture with a tilted or a weighted law.
    pub share: f64,
    /// The step length of geodesic, tangent, Langevin and Hamiltonian moves, in units of the proposal.
    pub step: f64,
}

impl Default for ProposalOptions<'_> {
    fn default() -> Self {
        Self { weights: None, concentration: None, share: 0.1, step: 1.0 }
    }
}

impl ProposalKind {
    /// A proposal of another crate.
    pub fn custom(factory: impl ProposalFactory + 'static) -> Self {
        Self::Custom(CustomProposal(Arc::new(factory)))
    }

    /// All kinds that have a name, with their names.
    pub const NAMES: [(&'static str, ProposalKind); 10] = [
        ("auto", ProposalKind::Auto),
        ("uniform", ProposalKind::Uniform),
        ("weighted", ProposalKind::Weighted),
        ("adaptive", ProposalKind::Adaptive),
        ("hit-and-run", ProposalKind::HitAndRun),
        ("geodesic", ProposalKind::Geodesic),
        ("tangent", ProposalKind::Tangent),
        ("langevin", ProposalKind::Langevin),
        ("hamiltonian", ProposalKind::Hamiltonian),
        ("local", ProposalKind::Local),
    ];

    /// Builds the proposal for these states. The error states why the proposal is not available here, and lists those
    /// that are.
    pub fn build(
        &self,
        states: &dyn States,
        options: &ProposalOptions<'_>,
    ) -> Result<Box<dyn Proposal>, ProposalError> {
        options.check()?;
        self.try_build(states, options).map_err(|ProposalError(why)| {
            let works =
                Self::NAMES.iter().filter(|(_, kind)| kind.try_build(states, options).is_ok()).map(|(name, _)| *name);
            ProposalError(format!("{why}; {} would work", works.collect::<Vec<_>>().join(", ")))
        })
    }

    /// The proposal that mixes well on these states.
    fn auto(states: &dyn States, options: &ProposalOptions<'_>) -> Result<Box<dyn Proposal>, ProposalError> {
        match states.space() {
            // The tilt finds the mode in the direction of the slope, and Langevin moves refine it: a fixed κ is too
            // large for a high temperature and too small for a low one.
            Space::Sphere(dim) if dim >= 2 => {
                let local = ProposalKind::Langevin.try_build(states, options)?;
                let global = ProposalKind::Adaptive.try_build(states, options)?;
                Ok(Box::new(KernelMixture::new(local, global, 0.5)?))
            }
            Space::Finite(_) if states.tilt().is_none() && states.neighbours().is_some() => {
                ProposalKind::Local.try_build(states, options)
            }
            Space::Sphere(_) | Space::Body(_) | Space::Finite(_) => ProposalKind::Adaptive.try_build(states, options),
        }
    }

    fn try_build(
        &self,
        states: &dyn States,
        options: &ProposalOptions<'_>,
    ) -> Result<Box<dyn Proposal>, ProposalError> {
        Ok(match self {
            ProposalKind::Auto => return Self::auto(states, options),
            ProposalKind::Uniform if states.draws_exactly() => Box::new(Uniform),
            ProposalKind::Uniform => {
                return Err(ProposalError(format!(
                    "these states ({}) cannot be drawn uniformly at once",
                    states.space()
                )));
            }
            ProposalKind::Weighted => match options.weights {
                Some(weights) => Box::new(Weighted::new(states, weights, options.share)?),
                None => {
                    return Err(ProposalError(
                        "a weighted proposal needs a weight for each scenario (--weights FILE)".into(),
                    ));
                }
            },
            ProposalKind::Adaptive => match (Tilted::of(states, options.share), states.space()) {
                (Some(tilted), _) => {
                    Box::new(Tilted { concentration: options.concentration.unwrap_or(tilted.concentration), ..tilted })
                }
                (None, Space::Body(_)) => Box::new(TiltedChord::of(states, options.share)?),
                (None, space) => {
                    return Err(ProposalError(format!("these states ({space}) have no tilt that can be drawn from")));
                }
            },
            ProposalKind::HitAndRun => Box::new(HitAndRun::of(states)?),
            ProposalKind::Geodesic => Box::new(Geodesic::of(states, options.step)?),
            ProposalKind::Tangent => Box::new(Tangent::of(states, options.step)?),
            ProposalKind::Hamiltonian => Box::new(Hamiltonian::of(states, options.step)?),
            ProposalKind::Langevin => match states.space() {
                Space::Sphere(_) => Box::new(LangevinOnSphere::of(states, options.step)?),
                Space::Body(_) | Space::Finite(_) => Box::new(Langevin::of(states, options.step)?),
            },
            ProposalKind::Local => match states.space() {
                Space::Finite(_) => Box::new(Neighbour::of(states)?),
                Space::Sphere(_) | Space::Body(_) => Box::new(RandomStep::of(states)?),
            },
            ProposalKind::Custom(CustomProposal(factory)) => factory.build(states, options)?,
        })
    }
}

impl ProposalOptions<'_> {
    fn check(&self) -> Result<(), ProposalError> {
        if let Some(concentration) =
            self.concentration.filter(|concentration| !(concentration.is_finite() && *concentration >= 0.0))
        {
            return Err(ProposalError(format!("a concentration of {concentration} is not a finite number from 0 on")));
        }
        if !(0.0..=1.0).contains(&self.share) {
            return Err(ProposalError(format!("a share of {} is not between 0 and 1", self.share)));
        }
        if !(self.step.is_finite() && self.step > 0.0) {
            return Err(ProposalError(format!("a step of {} is not a positive number", self.step)));
        }
        Ok(())
    }
}

impl FromStr for ProposalKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::NAMES.into_iter().find(|(name, _)| *name == text).map(|(_, kind)| kind).ok_or_else(|| {
            format!("\"{text}\" is not a proposal; {} are", Self::NAMES.map(|(name, _)| name).join(", "))
        })
    }
}

impl fmt::Display for ProposalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, kind)| kind == self).map_or("custom", |(name, _)| name);
        f.write_str(name)
    }
}
