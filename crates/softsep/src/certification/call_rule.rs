//! ρ, δ̂(k) and r of eq. (certification-calls) for the chains of Algorithm 3, from constants that are given or derived.
//!
//! Three ways to ρ, the probability that a call misses the worst scenarios from a state that is not one of them:
//! - as printed, ρ = η̄ + (|I| − 1)·exp(−Δ⋆/w), with Δ⋆ given; δ̂(k) follows from Corollary 1 where L′ is known too;
//! - as in EC.3, where the user gives ρ itself;
//! - derived, where nothing is given and candidates are uniform: one of |I| states is proposed with probability 1/|I|,
//!   and a worst one is accepted for sure by Metropolis and with probability ½ at least by Barker. That needs neither
//!   Δ⋆ nor w.
//!
//! δ̂ is 1 where its constants are not known.

use crate::certify::{Assumed, ChainConstants, ProbabilisticTarget};
use crate::definition::VariableKind;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::norm;
use crate::proposal::ProposalKind;
use crate::run::{Assumption, Clock, ProbabilisticBound, Source};
use crate::separation::soft::{AutoOr, CatchUp, Temperature};
use crate::separation::{SlopeRanges, SoftSettings};
use crate::theory::{Adaptive, Certification, Finite, Mixing, uniform_by_peak};
use crate::uncertainty::{Count, Space, States};

/// The largest number of calls for one bound under derived constants. If more are needed, no bound is given.
const MOST_CALLS: u64 = 1_000_000;

/// How the calls of a chain certify.
pub(crate) struct CallRule {
    /// ρ and r, or the reason why calls certify nothing.
    certification: Result<Certification, String>,
    confidence: f64,
    assumes: Vec<Assumption>,
    is_given: bool,
    /// The constants of g(κ) and δ̂, where they are known.
    adaptive: Option<Adaptive>,
    /// The temperature that ρ is for, where it depends on one.
    temperature: Option<f64>,
}

impl CallRule {
    /// The rule for chains with these settings on `states`, which must hold a maximum of Q(x, ·) for every x. Without a
    /// target nothing is certified. Errs where constants are given that do not apply.
    pub(crate) fn of(
        problem: &Problem,
        states: &dyn States,
        soft: &SoftSettings,
        target: Option<ProbabilisticTarget>,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let Some(target) = target else { return Ok(Self::nothing("no certificate is asked for", 0.0)) };
        let false_rate = 1.0 - target.confidence;
        match target.assumed {
            Assumed::Miss { rho } => Ok(Self {
                certification: Ok(Certification::untracked(1.0 - rho, false_rate)),
                confidence: target.confidence,
                assumes: vec![assumption("rho", rho, Source::Given)],
                is_given: true,
                adaptive: None,
                temperature: None,
            }),
            Assumed::Chain(constants) => Self::printed(problem, states, soft, constants, &target, clock),
            Assumed::Nothing => Ok(match derived_mixing(states, soft) {
                Ok((count, mixing)) => Self {
                    certification: Ok(Certification::untracked(mixing.gamma(), false_rate)),
                    confidence: target.confidence,
                    assumes: vec![
                        assumption("states", count, Source::Derived),
                        assumption("rho", mixing.dobrushin(), Source::Derived),
                    ],
                    is_given: false,
                    adaptive: None,
                    temperature: None,
                },
                Err(why) => Self::nothing(&why, target.confidence),
            }),
        }
    }

    /// A rule by which nothing is certified.
    fn nothing(why: &str, confidence: f64) -> Self {
        Self {
            certification: Err(format!("no likely upper bound: {why}")),
            confidence,
            assumes: Vec::new(),
            is_given: false,
            adaptive: None,
            temperature: None,
        }
    }

    /// ρ and δ̂ as printed.
    fn printed(
        problem: &Problem,
        states: &dyn States,
        soft: &SoftSettings,
        ChainConstants { margin, eta, lipschitz }: ChainConstants,
        target: &ProbabilisticTarget,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let Space::Finite(Count::Exactly(count)) = states.space() else {
            return Err(Error::Settings(format!(
                "eta and margin are for finitely many states that can be counted, and here they are {}; rho can be \
                 given",
                states.space()
            )));
        };
        let (mixing, eta_source) = match eta {
            Some(eta) => (Mixing::new(1.0 - eta), Source::Given),
            None => {
                let (_, mixing) = derived_mixing(states, soft)
                    .map_err(|why| Error::Settings(format!("eta has to be given beside margin: {why}")))?;
                (mixing, Source::Derived)
            }
        };
        let slope = match lipschitz {
            Some(lipschitz) => Some((lipschitz, Source::Given)),
            None => slope_in_continuous(problem, clock)?.map(|slope| (slope, Source::Derived)),
        };
        let lipschitz = slope.map_or(0.0, |(slope, _)| slope);
        let at = |temperature: f64| {
            let states = count as f64;
            Finite { states, gap: margin, score_error: 0.0, lipschitz, mixing, temperature }
        };
        let temperature = match soft.temperature {
            Temperature::Given(temperature) => temperature,
            // A single state needs no temperature.
            Temperature::Auto => at(margin).certifying_temperature().unwrap_or(margin),
            Temperature::Adaptive => {
                return Err(Error::Settings(
                    "rho of eta and margin is for one temperature: give --temperature a number, or leave it at auto"
                        .into(),
                ));
            }
        };
        let finite = at(temperature);
        let adaptive = slope.and_then(|_| adaptive(finite, soft));
        let false_rate = 1.0 - target.confidence;
        let mut assumes = vec![
            assumption("eta", mixing.dobrushin(), eta_source),
            assumption("margin", margin, Source::Given),
            assumption("rho", 1.0 - finite.detection(), Source::Derived),
        ];
        if let (Some(_), Some((slope, source))) = (adaptive, slope) {
            assumes.push(assumption("lipschitz", slope, source));
        }
        let certification = match adaptive {
            _ if finite.detection() <= 0.0 => Err(too_warm(&finite)),
            Some(adaptive) => Ok(adaptive.certification(false_rate)),
            None => Ok(Certification::untracked(finite.detection(), false_rate)),
        };
        Ok(Self {
            certification,
            confidence: target.confidence,
            assumes,
            is_given: eta.is_some(),
            adaptive,
            temperature: Some(temperature),
        })
    }

    /// The settings of the chains, with the temperature and the g(κ) of this rule.
    pub(crate) fn settings(&self, soft: SoftSettings) -> SoftSettings {
        let catch_up = soft.per_assignment.unwrap_or_default();
        SoftSettings {
            temperature: self.temperature.map_or(soft.temperature, Temperature::Given),
            per_assignment: Some(CatchUp { theory: self.adaptive, ..catch_up }),
            ..soft
        }
    }

    /// max{0, ⌈log_(1/ρ) r⌉} for chain j = `label` and its k-th call. Errs with the reason why no bound is certified.
    pub(crate) fn calls(&self, label: u64, calls: u64) -> Result<u64, String> {
        let certification = self.certification.as_ref().map_err(String::clone)?;
        match certification.calls(label, calls) {
            Some(needed) if self.is_given || needed <= MOST_CALLS => Ok(needed),
            _ => Err(format!(
                "no likely upper bound: by the constants that can be derived, a call finds a false one with \
                 probability {:.1e}, so that more than the {MOST_CALLS} calls would be needed that are made at most",
                certification.detection()
            )),
        }
    }

    /// The bound that calls have certified.
    pub(crate) fn bound(&self, upper: f64) -> ProbabilisticBound {
        ProbabilisticBound { upper, confidence: self.confidence, assumes: self.assumes.clone() }
    }

    /// The rule in words, for the log.
    pub(crate) fn describe(&self) -> String {
        let Ok(certification) = &self.certification else {
            return self.certification.as_ref().err().cloned().unwrap_or_default();
        };
        let constants: Vec<String> =
            self.assumes.iter().map(|of| format!("{} = {:.6} ({})", of.name, of.value, word(of.source))).collect();
        let tracked = match self.adaptive {
            Some(adaptive) => format!("g(κ) and δ̂(k) of Corollary 1 with c₀ = {:.3e}", adaptive.threshold),
            None => "δ̂(k) = 1".into(),
        };
        format!(
            "Algorithm 3: {}; {tracked}; the first call of the first chain asks for {} more",
            constants.join(", "),
            certification.calls(1, 1).unwrap_or(u64::MAX)
        )
    }
}

fn assumption(name: &'static str, value: f64, source: Source) -> Assumption {
    Assumption { name, value, source }
}

fn word(source: Source) -> &'static str {
    match source {
        Source::Given => "given",
        Source::Estimated => "estimated",
        Source::Derived => "derived",
    }
}

/// Why the temperature certifies nothing.
fn too_warm(finite: &Finite) -> String {
    format!(
        "no likely upper bound: with these constants rho is 1 or more at the temperature {:e}; it must be at most \
         {:.3e} \
         for rho to be at most (1 + eta)/2",
        finite.temperature,
        finite.certifying_temperature().unwrap_or(finite.gap)
    )
}

/// |I| and γ of a chain over finitely many states with uniform candidates: γ = 1/|I| at every temperature, and half of
/// it for Barker. Errs with the reason where that is not the chain.
fn derived_mixing(states: &dyn States, soft: &SoftSettings) -> Result<(f64, Mixing), String> {
    let Space::Finite(Count::Exactly(count)) = states.space() else {
        return Err(format!("nothing is derived for states that are {}", states.space()));
    };
    if soft.proposal != ProposalKind::Uniform || !states.draws_exactly() {
        return Err("constants of a chain are derived for uniform candidates only".into());
    }
    let count = count as f64;
    Ok((count, uniform_by_peak(soft.acceptance, count.ln())))
}

/// L′ in the continuous part of x, which alone moves while a chain lives: a bound by linear programs over the duals.
/// `None` where that is not to be had.
fn slope_in_continuous(problem: &Problem, clock: &Clock) -> Result<Option<f64>, Error> {
    if !problem.recourse.is_linear() || problem.recourse.costs_move() {
        return Ok(None);
    }
    let Some(ranges) = SlopeRanges::in_x(problem, clock)? else { return Ok(None) };
    let entries = ranges.steepest().into_iter().zip(&problem.first.kind);
    let continuous: Vec<f64> =
        entries.filter(|(_, kind)| **kind == VariableKind::Continuous).map(|(steepest, _)| steepest).collect();
    Ok(Some(norm(&continuous)).filter(|slope| slope.is_finite()))
}

/// The constants of Corollary 1 with c₀ and p of the settings; `None` where g(κ) would be infinite or too large to be
/// made.
fn adaptive(finite: Finite, soft: &SoftSettings) -> Option<Adaptive> {
    let CatchUp { near, power, .. } = soft.per_assignment.unwrap_or_default();
    let threshold = match near {
        AutoOr::Given(near) => near,
        // Where movement does not matter any c₀ will do.
        AutoOr::Auto => Adaptive::unit_threshold(&finite).unwrap_or(1.0),
    };
    let adaptive = Adaptive { finite, threshold, power };
    adaptive.transitions(1).filter(|transitions| *transitions <= MOST_CALLS).map(|_| adaptive)
}
