//! Ranges that a mixed-integer program may rely on: computed by linear programs over a relaxation, which may assume that what is looked for is
//! worth at least so much.

use super::program::{Form, Known, Program};
use crate::error::Error;
use crate::run::Clock;
use crate::separation::slopes::{Extreme, bounding_program, extreme, widened};

/// Passes over all ranges at most.
const PASSES: usize = 4;

/// A pass that takes less than this share of the ranges' lengths is the last.
const WORTH: f64 = 0.1;

/// HiGHS's tolerance, relative: what a bound from a linear program is raised by.
pub(super) const TOLERANCE: f64 = 1e-7;

/// What tightening came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tightened {
    /// Nothing is worth as much as was assumed.
    Below,
    /// The relaxation is worth this; infinite if it is unbounded.
    Bounded(f64),
}

/// Tightens `known` for what is worth at least `least`. A clock that stops leaves ranges that hold, and `bound` as far as it came.
pub(super) fn tighten(
    program: &Program,
    known: &mut Known,
    least: f64,
    bound: &mut f64,
    clock: &Clock,
) -> Result<Tightened, Error> {
    for pass in 0..PASSES {
        let written = program.write(known, Form::Relaxed(Some(least)));
        let mut lp = bounding_program(&written.model, clock)?;
        let mut costs: Vec<f64> = written.value.iter().map(|value| -value).collect();
        match extreme(&mut lp, &costs, clock)? {
            Extreme::At(value) => *bound = bound.min(raised(-value)),
            Extreme::Empty => return Ok(Tightened::Below),
            Extreme::Unknown => {}
        }
        if *bound < least {
            return Ok(Tightened::Below);
        }
        costs.fill(0.0);
        let mut gain = Gain::default();
        let mut end = |column: usize, sign: f64| -> Result<Option<f64>, Error> {
            costs[column] = sign;
            let found = extreme(&mut lp, &costs, clock)?;
            costs[column] = 0.0;
            Ok(match found {
                Extreme::At(value) => Some(sign * value),
                Extreme::Empty => None,
                Extreme::Unknown => Some(-sign * f64::INFINITY),
            })
        };
        for &(entry, column) in &written.slope_columns {
            let before = known.slopes[entry];
            let (Some(lower), Some(upper)) = (end(column, 1.0)?, end(column, -1.0)?) else { return Ok(Tightened::Below) };
            let (lower, upper) = widened(lower, upper);
            known.slopes[entry] = (before.0.max(lower), before.1.min(upper));
            gain.add(before.1 - before.0, known.slopes[entry].1 - known.slopes[entry].0);
        }
        for (most, pair) in known.pairs.iter_mut().zip(&written.pairs) {
            for (most, &column) in most.iter_mut().zip(pair) {
                let Some(upper) = end(column, -1.0)? else { return Ok(Tightened::Below) };
                let before = *most;
                *most = before.min(widened(0.0, upper.max(0.0)).1);
                gain.add(before, *most);
            }
        }
        if !gain.worth_another() || pass + 1 == PASSES {
            break;
        }
    }
    Ok(Tightened::Bounded(*bound))
}

/// A bound that a linear program gave, raised by HiGHS's tolerance.
pub(super) fn raised(bound: f64) -> f64 {
    bound + TOLERANCE * bound.abs().max(1.0)
}

/// How much shorter ranges became, on average.
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

    fn worth_another(&self) -> bool {
        self.finite || self.ranges > 0.0 && self.shorter / self.ranges > WORTH
    }
}
