//! Optimization-based bound tightening: linear programs over a relaxation compute the bounds that the mixed-integer
//! program needs. The relaxation may be restricted to points with at least some objective value.

use softsep_lp::{Algorithm, Lp, Toggle};

use super::milp::{BilinearProgram, Formulation, MilpModel, VariableBounds};
use crate::error::Error;
use crate::run::Clock;
use crate::separation::slopes::{LpMinimum, minimum_of, raised, range_program, widen_range};

/// The largest number of passes over all ranges, for each relaxation.
const MAX_PASSES: usize = 4;

/// A pass that shortens ranges by less than this share on average is the last.
const MIN_SHORTENING: f64 = 0.1;

/// The objective values between which a bound is useful.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BoundTarget {
    /// Points with smaller objective values are excluded.
    pub(super) least: f64,
    /// A bound that is no larger ends the search.
    pub(super) enough: f64,
}

/// The result of bound tightening.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tightened {
    /// No point has the smallest objective value of the target.
    Below,
    /// The bound is at most the target's `enough`.
    Enough,
    /// Further passes would shorten the ranges by little.
    Tight,
}

/// The relaxations without and with products of dual rows, in the order in which they tighten bounds.
pub(super) const BOTH: &[bool] = &[false, true];

/// Tightens `bounds` by relaxations without products or with them, and lowers `bound`, an upper bound on the objective
/// value. Errs if the clock stops it; both are valid then.
///
/// The relaxation with products takes many times as long as the other one. It is solved once for `bound`, and for
/// ranges only where a bound is missing.
pub(super) fn tighten(
    program: &BilinearProgram,
    relaxations: &[bool],
    bounds: &mut VariableBounds,
    target: BoundTarget,
    bound: &mut f64,
    clock: &Clock,
) -> Result<Tightened, Error> {
    let least = target.least;
    for &products in relaxations {
        for _ in 0..MAX_PASSES {
            let milp = program.write(bounds, Formulation::Relaxation { least, products });
            let mut tightening =
                BoundTightening { lp: range_program(&milp.model, clock)?, costs: milp.value.clone(), clock };
            tightening.costs.iter_mut().for_each(|cost| *cost = -*cost);
            let for_bound = products && milp.missing_bound.is_none();
            if for_bound {
                // This large program is solved once: HiGHS chooses the algorithm.
                tightening.lp.set_algorithm(Algorithm::Choose)?;
                tightening.lp.set_presolve(Toggle::Choose)?;
            }
            match minimum_of(&mut tightening.lp, &tightening.costs, clock)? {
                LpMinimum::Value(value) => *bound = bound.min(raised(-value)),
                LpMinimum::Infeasible => return Ok(Tightened::Below),
                LpMinimum::Unknown => {}
            }
            if *bound < least {
                return Ok(Tightened::Below);
            }
            if *bound < f64::INFINITY && *bound <= target.enough {
                return Ok(Tightened::Enough);
            }
            if for_bound {
                break;
            }
            match tightening.pass(&milp, bounds)? {
                None => return Ok(Tightened::Below),
                Some(gain) if !gain.is_worth_another() => break,
                Some(_) => {}
            }
        }
    }
    Ok(Tightened::Tight)
}

/// A relaxation whose columns are minimised and maximised one after the other.
struct BoundTightening<'a> {
    lp: Lp,
    costs: Vec<f64>,
    clock: &'a Clock,
}

impl BoundTightening<'_> {
    /// Tightens every range once. Returns `None` if the relaxation is infeasible.
    fn pass(&mut self, milp: &MilpModel, bounds: &mut VariableBounds) -> Result<Option<Gain>, Error> {
        self.costs.fill(0.0);
        let mut gain = Gain::default();
        for &(entry, column) in &milp.slope_columns {
            let before = bounds.slopes[entry];
            let (Some(lower), Some(upper)) = (self.end(column, 1.0)?, self.end(column, -1.0)?) else { return Ok(None) };
            let (lower, upper) = widen_range(lower, upper);
            bounds.slopes[entry] = (before.0.max(lower), before.1.min(upper));
            gain.add(before.1 - before.0, bounds.slopes[entry].1 - bounds.slopes[entry].0);
        }
        for (most, pair) in bounds.pairs.iter_mut().zip(&milp.pairs) {
            for (most, &column) in most.iter_mut().zip(pair) {
                let Some(upper) = self.end(column, -1.0)? else { return Ok(None) };
                let before = *most;
                *most = before.min(widen_range(0.0, upper.max(0.0)).1);
                gain.add(before, *most);
            }
        }
        Ok(Some(gain))
    }

    /// Returns the minimum (sign 1) or maximum (sign −1) of a column, infinite if there is none, or `None` if the
    /// relaxation is infeasible.
    fn end(&mut self, column: usize, sign: f64) -> Result<Option<f64>, Error> {
        self.costs[column] = sign;
        let found = minimum_of(&mut self.lp, &self.costs, self.clock)?;
        self.costs[column] = 0.0;
        Ok(match found {
            LpMinimum::Value(value) => Some(sign * value),
            LpMinimum::Infeasible => None,
            LpMinimum::Unknown => Some(-sign * f64::INFINITY),
        })
    }
}

/// The mean relative shortening of ranges in a pass.
#[derive(Default)]
struct Gain {
    shorter: f64,
    ranges: f64,
    /// Whether a range became finite.
    finite: bool,
}

impl Gain {
    fn add(&mut self, before: f64, after: f64) {
        self.finite |= before.is_infinite() && after.is_finite();
        if before.is_finite() && before > 0.0 {
            self.shorter += 1.0 - (after / before).max(0.0);
            self.ranges += 1.0;
        }
    }

    fn is_worth_another(&self) -> bool {
        self.finite || self.ranges > 0.0 && self.shorter / self.ranges > MIN_SHORTENING
    }
}
