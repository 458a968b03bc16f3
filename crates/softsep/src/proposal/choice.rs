//! Proposals by name.

use std::fmt;
use std::str::FromStr;

use super::{
    Alternate, Geodesic, HitAndRun, Langevin, LangevinOnSphere, Proposal, Refused, Tilted, TiltedChord, Uniform,
};
use crate::uncertainty::{Space, States};

/// The proposals that need no more than a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// What mixes well on these states.
    #[default]
    Auto,
    /// [`Uniform`].
    Uniform,
    /// [`Tilted`], or [`TiltedChord`] in a body.
    Adaptive,
    /// [`HitAndRun`].
    HitAndRun,
    /// [`Geodesic`].
    Geodesic,
    /// [`Langevin`] or [`LangevinOnSphere`].
    Langevin,
}

/// What may be said about a proposal beside its name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// κ of the tilt; the states' own if not given.
    pub concentration: Option<f64>,
    /// How much of the uniform law is mixed into a tilted one.
    pub share: f64,
    /// How long the steps of geodesic and Langevin moves are, in their own units.
    pub step: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { concentration: None, share: 0.1, step: 1.0 }
    }
}

impl Choice {
    /// All of them with their names.
    pub const NAMES: [(&'static str, Choice); 6] = [
        ("auto", Choice::Auto),
        ("uniform", Choice::Uniform),
        ("adaptive", Choice::Adaptive),
        ("hit-and-run", Choice::HitAndRun),
        ("geodesic", Choice::Geodesic),
        ("langevin", Choice::Langevin),
    ];

    /// The proposal for these states, or why there is none and what there is instead.
    pub fn build(self, states: &dyn States, options: &Options) -> Result<Box<dyn Proposal>, Refused> {
        options.check()?;
        self.try_build(states, options).map_err(|Refused(why)| {
            let works = Self::NAMES
                .iter()
                .filter(|(_, choice)| choice.try_build(states, options).is_ok())
                .map(|(name, _)| *name);
            Refused(format!("{why}; {} would work", works.collect::<Vec<_>>().join(", ")))
        })
    }

    fn try_build(self, states: &dyn States, options: &Options) -> Result<Box<dyn Proposal>, Refused> {
        Ok(match self {
            Choice::Auto => match states.space() {
                // The tilt finds the mode that the slope points to, Langevin moves work it out: a fixed κ is too much
                // for a high temperature and too little for a low one.
                Space::Sphere(dim) if dim >= 2 => {
                    let (local, global) =
                        (Choice::Langevin.try_build(states, options)?, Choice::Adaptive.try_build(states, options)?);
                    Box::new(Alternate::new(local, global, 0.5)?)
                }
                Space::Sphere(_) | Space::Body(_) | Space::Finite(_) => Choice::Adaptive.try_build(states, options)?,
            },
            Choice::Uniform if states.draws_exactly() => Box::new(Uniform),
            Choice::Uniform => {
                return Err(Refused(format!("these states ({}) cannot be drawn uniformly at once", states.space())));
            }
            Choice::Adaptive => match (Tilted::of(states, options.share), states.space()) {
                (Some(tilted), _) => {
                    Box::new(Tilted { concentration: options.concentration.unwrap_or(tilted.concentration), ..tilted })
                }
                (None, Space::Body(_)) => Box::new(TiltedChord::of(states, options.share)?),
                (None, space) => {
                    return Err(Refused(format!("these states ({space}) have no tilt that can be drawn from")));
                }
            },
            Choice::HitAndRun => Box::new(HitAndRun::of(states)?),
            Choice::Geodesic => Box::new(Geodesic::of(states, options.step)?),
            Choice::Langevin => match states.space() {
                Space::Sphere(_) => Box::new(LangevinOnSphere::of(states, options.step)?),
                Space::Body(_) | Space::Finite(_) => Box::new(Langevin::of(states, options.step)?),
            },
        })
    }
}

impl Options {
    fn check(&self) -> Result<(), Refused> {
        if let Some(concentration) =
            self.concentration.filter(|concentration| !(concentration.is_finite() && *concentration >= 0.0))
        {
            return Err(Refused(format!("a concentration of {concentration} is not a finite number from 0 on")));
        }
        if !(0.0..=1.0).contains(&self.share) {
            return Err(Refused(format!("a share of {} is not between 0 and 1", self.share)));
        }
        if !(self.step.is_finite() && self.step > 0.0) {
            return Err(Refused(format!("a step of {} is not a positive number", self.step)));
        }
        Ok(())
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, choice)| *choice)
            .ok_or_else(|| format!("\"{text}\" is no proposal; {} are", Self::NAMES.map(|(name, _)| name).join(", ")))
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, choice)| choice == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}
