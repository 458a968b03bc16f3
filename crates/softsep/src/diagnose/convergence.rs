//! Bounds on the distance of Algorithm 1 from the optimum, by Theorems 1 and 4 and Proposition 2.

use super::constants::{Constant, Constants, Provenance};
use crate::chain::Acceptance;
use crate::theory::{Cooling, DescentConstants, Finite, Mixing, StepBound, uniform_by_peak};

/// The numbers of steps for which bounds are computed.
const STEPS: [u64; 3] = [100, 10_000, 1_000_000];

/// Bounds on how far the cost of an average of Algorithm 1 is above the optimum, in the mean, for independent draws as
/// candidates and the steps α₀/√k. Each bound is for the α₀ that is best for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence {
    /// The bounds after growing numbers of steps.
    pub after: Vec<AverageBounds>,
    /// The most that the costs of two decisions differ by: a bound that is no smaller says nothing.
    pub range: f64,
    /// The provenance of all bounds.
    pub provenance: Provenance,
}

/// Bounds after a number of steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AverageBounds {
    /// The number of steps n.
    pub steps: u64,
    /// The step-size average and the optimum of the soft problem: Theorem 1 on finitely many states, else Theorem 4.
    pub step_size: StepBound,
    /// The same for the linear average.
    pub linear: StepBound,
    /// The linear average with a falling temperature and the optimum itself (Proposition 2); `None` where there are
    /// infinitely many states, or the gap between their scores is not known.
    pub cooling: Option<StepBound>,
}

/// The constants of one temperature.
pub(super) struct TemperatureConstants {
    pub(super) temperature: f64,
    pub(super) acceptance: Acceptance,
    pub(super) mixing: (Mixing, Provenance),
}

impl Convergence {
    /// `None` where X is unbounded, or a constant is not known.
    pub(super) fn of(constants: &Constants, fixed: &TemperatureConstants, finite: Option<Finite>) -> Option<Self> {
        let Constants { slope_f, slope_x, diameter_x, spread, .. } = constants;
        let descent = DescentConstants {
            lipschitz_f: slope_f.value,
            lipschitz_q: slope_x.value,
            diameter: diameter_x.value,
            fundamental: fixed.mixing.0.fundamental(),
            temperature: fixed.temperature,
            acceptance: fixed.acceptance,
        };
        let range = (slope_f.value + slope_x.value) * diameter_x.value;
        let is_known = |constant: &Constant| constant.value.is_finite();
        if ![slope_f, slope_x, diameter_x].into_iter().all(is_known) {
            return None;
        }
        let cooling = finite.filter(|_| is_known(spread)).map(|finite| {
            // By the peak, candidates drawn independently have a γ that holds at every temperature.
            let mixing = uniform_by_peak(fixed.acceptance, finite.states.ln());
            let descent = DescentConstants { fundamental: mixing.fundamental(), ..descent };
            Cooling { descent, states: finite.states, gap: finite.gap, spread: spread.value }
        });
        let after = STEPS.map(|steps| AverageBounds {
            steps,
            step_size: descent.step_size_bound(diameter_x.value, steps),
            linear: descent.linear_bound(steps),
            cooling: cooling.map(|cooling| cooling.linear_bound(steps)),
        });
        let provenance = fixed.mixing.1.and(slope_x.provenance).and(slope_f.provenance);
        let provenance = if cooling.is_some() { provenance.and(spread.provenance) } else { provenance };
        Some(Self { after: after.to_vec(), range, provenance })
    }
}
