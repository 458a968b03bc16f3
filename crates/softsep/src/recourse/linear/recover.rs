//! When the simplex has no plain answer: the ladder of other attempts, and certificates that are verified here, whoever
//! computed them.

use softsep_lp::{Algorithm, Lp, LpError, Model, Status, Toggle};

use super::frame::{FEASIBLE, Frame};

/// Sums of a few numbers around 1 are off by less.
const ROUNDING: f64 = 1e-13;

/// A certificate may be wrong only about recourse that needs a y above the inverse of this.
const FALSE: f64 = 1e-9;

/// One attempt at a linear program. Each rung gives up more of the speed for more safety.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rung {
    /// From the basis at hand: the normal way.
    Warm,
    /// From scratch.
    Fresh,
    /// From scratch, after presolve.
    Presolved,
    /// From scratch, without scaling.
    Unscaled,
    /// By interior point, with crossover.
    InteriorPoint,
}

impl Rung {
    pub(super) const LADDER: [Rung; 5] =
        [Rung::Warm, Rung::Fresh, Rung::Presolved, Rung::Unscaled, Rung::InteriorPoint];

    /// Sets the solver up for this rung.
    pub(super) fn prepare(self, lp: &mut Lp) -> Result<(), LpError> {
        if self == Rung::Warm {
            return Ok(());
        }
        lp.forget()?;
        lp.set_presolve(if self == Rung::Presolved { Toggle::On } else { Toggle::Off })?;
        lp.set_scaling(self != Rung::Unscaled)?;
        lp.set_algorithm(if self == Rung::InteriorPoint { Algorithm::InteriorPoint } else { Algorithm::DualSimplex })
    }

    /// Undoes `prepare`.
    pub(super) fn restore(self, lp: &mut Lp) -> Result<(), LpError> {
        if self == Rung::Warm {
            return Ok(());
        }
        lp.set_presolve(Toggle::Off)?;
        lp.set_scaling(true)?;
        lp.set_algorithm(Algorithm::DualSimplex)
    }
}

/// Turns `ray` into a Farkas certificate of infeasibility at `shift` if it is one up to sign, rounding and scale: every
/// feasible y would satisfy `gain ≤ 0` for the gain returned, which is positive.
pub(super) fn farkas(frame: &Frame, shift: &[f64], ray: &mut [f64]) -> Option<f64> {
    let size = ray.iter().fold(0.0_f64, |size, entry| size.max(entry.abs()));
    if !(size.is_finite() && size > 0.0) {
        return None;
    }
    ray.iter_mut().for_each(|entry| *entry /= size);
    gain(frame, shift, ray).or_else(|| {
        ray.iter_mut().for_each(|entry| *entry = -*entry);
        gain(frame, shift, ray)
    })
}

fn gain(frame: &Frame, shift: &[f64], ray: &mut [f64]) -> Option<f64> {
    let no_bound = |multiplier: f64, lower: f64, upper: f64| {
        multiplier > 0.0 && lower == f64::NEG_INFINITY || multiplier < 0.0 && upper == f64::INFINITY
    };
    // What should vanish and does not: a y that large could make up for the gain.
    let mut residual = 0.0_f64;
    for (i, entry) in ray.iter_mut().enumerate() {
        if no_bound(*entry, frame.row_lower[i], frame.row_upper[i]) {
            residual = residual.max(entry.abs());
            *entry = 0.0;
        }
    }
    for j in 0..frame.cols() {
        let multiplier = -frame.price(j, ray);
        if no_bound(multiplier, frame.lower[j], frame.upper[j]) {
            residual = residual.max(multiplier.abs());
        }
    }
    let gain = frame.dual_objective(None, ray) - ray.iter().zip(shift).map(|(pi, s)| pi * s).sum::<f64>();
    (gain > 0.1 * FEASIBLE && residual <= ROUNDING + FALSE * gain).then_some(gain)
}

/// The Farkas ray of the elastic program `min Σt` in which every row may be broken by t at a price of one: its dual.
/// `None` if the rows can be satisfied after all.
pub(super) fn elastic_ray(frame: &Frame, shift: &[f64], ray: &mut [f64]) -> Result<Option<f64>, LpError> {
    let mut model = Model::new();
    for j in 0..frame.cols() {
        model.add_col(0.0, frame.lower[j], frame.upper[j]);
    }
    for i in 0..frame.rows() {
        let mut terms: Vec<_> = frame.by_rows.row(i).collect();
        let (lower, upper) = (frame.row_lower[i] - shift[i], frame.row_upper[i] - shift[i]);
        if lower.is_finite() {
            terms.push((model.add_col(1.0, 0.0, f64::INFINITY), 1.0));
        }
        if upper.is_finite() {
            terms.push((model.add_col(1.0, 0.0, f64::INFINITY), -1.0));
        }
        model.add_row(lower, upper, &terms);
    }
    let mut lp = Lp::new(&model)?;
    if lp.solve()? != Status::Optimal || lp.objective() <= FEASIBLE {
        return Ok(None);
    }
    lp.dual(ray)?;
    Ok(farkas(frame, shift, ray))
}

/// A direction in which every y stays feasible and the cost falls, if there is one: the steepest in the unit cube.
pub(super) fn descent_ray(frame: &Frame, cost: &[f64], ray: &mut [f64]) -> Result<bool, LpError> {
    let cone = |lower: f64, upper: f64, far: f64| {
        (if lower.is_finite() { 0.0 } else { -far }, if upper.is_finite() { 0.0 } else { far })
    };
    let mut model = Model::new();
    for j in 0..frame.cols() {
        let (lower, upper) = cone(frame.lower[j], frame.upper[j], 1.0);
        model.add_col(cost[j], lower, upper);
    }
    for i in 0..frame.rows() {
        let terms: Vec<_> = frame.by_rows.row(i).collect();
        let (lower, upper) = cone(frame.row_lower[i], frame.row_upper[i], f64::INFINITY);
        model.add_row(lower, upper, &terms);
    }
    let mut lp = Lp::new(&model)?;
    if lp.solve()? != Status::Optimal || lp.objective() >= -FEASIBLE {
        return Ok(false);
    }
    lp.primal(ray)?;
    Ok(true)
}
