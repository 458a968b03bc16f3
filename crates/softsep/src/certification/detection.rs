//! The probability 1 − ρ that one call refutes a false bound: derived from the problem, or given.

use std::f64::consts::PI;

use crate::certify::{Assumed, ChainConstants};
use crate::chain::Acceptance;
use crate::error::Error;
use crate::model::Problem;
use crate::run::{Assumption, Clock, Source};
use crate::separation::SlopeRanges;
use crate::theory::{Finite, Mixing, cap, uniform_by_peak};
use crate::uncertainty::{Count, Space, States};

/// The source of 1 − ρ.
pub(super) enum Detection {
    /// The user vouches that a draw misses with probability at most ρ.
    Given { rho: f64 },
    /// The user vouches for the mixing of a chain over finitely many states, and for the distance of the worst state's
    /// cost from the next: eq. (certification-calls).
    Chain { mixing: Mixing, eta: Source, margin: f64, states: f64 },
    /// One of this many equally probable states is the worst.
    States(f64),
    /// The cost has the Lipschitz modulus `slope` on the sphere of states.
    Sphere { dim: usize, slope: f64 },
    /// The costs of any two scenarios of the body differ by at most `spread`.
    Body { dim: usize, spread: f64 },
    /// No bound on ρ is known, for this reason.
    Unknown(&'static str),
}

impl Detection {
    /// Takes ρ from the user, or else derives it. The states must hold a maximum of Q(x, ·) for every x. Errs where the
    /// user's constants do not apply to the states.
    pub(super) fn of(problem: &Problem, states: &dyn States, assumed: Assumed, clock: &Clock) -> Result<Self, Error> {
        match (assumed, states.space()) {
            (Assumed::Miss { rho }, _) => Ok(Self::Given { rho }),
            (Assumed::Chain(ChainConstants { margin, eta, .. }), Space::Finite(Count::Exactly(count))) => {
                let states = count as f64;
                // Without a given η̄, that of uniform candidates, which the calls have.
                let (mixing, eta) = match eta {
                    Some(eta) => (Mixing::new(1.0 - eta), Source::Given),
                    None => (uniform_by_peak(Acceptance::Metropolis, states.ln()), Source::Derived),
                };
                Ok(Self::Chain { mixing, eta, margin, states })
            }
            (Assumed::Chain(_), space) => Err(Error::Settings(format!(
                "eta and margin are for finitely many states that can be counted, and here they are {space}; rho can \
                 be given"
            ))),
            (Assumed::Nothing, Space::Finite(Count::Exactly(count))) => Ok(Self::States(count as f64)),
            (Assumed::Nothing, Space::Finite(_)) => Ok(Self::Unknown("the states are more than can be counted")),
            (Assumed::Nothing, Space::Sphere(_)) if is_by_area(states) => {
                Ok(Self::Unknown("nothing is derived for draws that are uniform by area"))
            }
            (Assumed::Nothing, space) => Self::by_slopes(problem, states, space, clock),
        }
    }

    /// Derives ρ from bounds on the slopes of Q, which linear programs over the duals give where costs are fixed.
    fn by_slopes(problem: &Problem, states: &dyn States, space: Space, clock: &Clock) -> Result<Self, Error> {
        if !problem.recourse.is_linear() || problem.recourse.costs_move() {
            return Ok(Self::Unknown(
                "the slopes of the recourse cost are bounded for linear recourse with fixed costs only",
            ));
        }
        let Some(ranges) = SlopeRanges::of(problem, clock)? else {
            return Ok(Self::Unknown("the recourse cost is nowhere finite"));
        };
        let derived = match space {
            Space::Sphere(dim) => ranges.on_sphere(states).map(|slope| (slope, Self::Sphere { dim, slope })),
            Space::Body(dim) => {
                let spread = ranges.spread(&problem.set.widths()?);
                Some((spread, Self::Body { dim, spread }))
            }
            Space::Finite(_) => None,
        };
        let derived = derived.filter(|(steep, _)| steep.is_finite()).map(|(_, derived)| derived);
        Ok(derived.unwrap_or(Self::Unknown("the recourse cost may be as steep as can be")))
    }

    /// Whether the user vouches for it.
    pub(super) fn is_given(&self) -> bool {
        matches!(self, Self::Given { .. } | Self::Chain { eta: Source::Given, .. })
    }

    /// Returns a lower bound on the probability that one call refutes a decision whose worst case is above the
    /// refutation level by more than `margin`.
    pub(super) fn refutation_probability(&self, margin: f64) -> f64 {
        match *self {
            Self::Given { rho } => 1.0 - rho,
            Self::Chain { .. } => self.chain().map_or(0.0, |chain| chain.detection().max(0.0)),
            // The worst state itself has to be drawn.
            Self::States(count) => 1.0 / count,
            // All states at a chord of at most margin/slope from the worst one refute.
            Self::Sphere { dim, slope } => {
                let half_chord = 0.5 * margin / slope;
                cap(dim, if half_chord < 1.0 { 2.0 * half_chord.asin() } else { PI })
            }
            // In the body shrunk toward the worst scenario by the factor t = margin/spread, costs are lower by at most
            // t·spread. Its share of the volume is tᵈ.
            Self::Body { dim, spread } => (margin / spread).min(1.0).powf(dim as f64),
            Self::Unknown(_) => 0.0,
        }
    }

    /// Returns the temperature of the calls, for a chain.
    pub(super) fn temperature(&self) -> Option<f64> {
        self.chain().map(|chain| chain.temperature)
    }

    /// Returns the constants of a chain at the paper's temperature, at which ρ = (1 + η̄)/2.
    fn chain(&self) -> Option<Finite> {
        let Self::Chain { mixing, margin, states, .. } = *self else { return None };
        // The decision is fixed, so that neither movement nor L'_Q matters.
        let chain = Finite { states, gap: margin, score_error: 0.0, lipschitz: 0.0, mixing, temperature: margin };
        // A single state needs no temperature.
        Some(Finite { temperature: chain.certifying_temperature().unwrap_or(margin), ..chain })
    }

    /// Returns the assumptions of a bound, for a refutation probability of `found`.
    pub(super) fn assumes(&self, found: f64) -> Vec<Assumption> {
        let given = |name, value| Assumption { name, value, source: Source::Given };
        let derived = |name, value| Assumption { name, value, source: Source::Derived };
        let rho = derived("rho", 1.0 - found);
        match *self {
            Self::Given { rho } => vec![given("rho", rho)],
            Self::Chain { mixing, eta, margin, .. } => {
                let eta = Assumption { name: "eta", value: mixing.dobrushin(), source: eta };
                vec![eta, given("margin", margin), rho]
            }
            Self::States(count) => vec![derived("states", count), rho],
            Self::Sphere { slope, .. } => vec![derived("slope", slope), rho],
            Self::Body { spread, .. } => vec![derived("spread", spread), rho],
            Self::Unknown(_) => Vec::new(),
        }
    }
}

/// Whether draws from the image of a sphere are uniform by the image's area, rather than by that of the sphere.
pub(super) fn is_by_area(states: &dyn States) -> bool {
    states.local_coordinates().is_some_and(|local| local.log_mass() != Some(0.0))
}
