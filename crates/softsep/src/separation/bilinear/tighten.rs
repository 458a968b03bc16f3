//! Ranges that a mixed-integer program may rely on: computed by linear programs over a relaxation, which may assume
//! that what is looked for is worth at least so much.

use softsep_lp::{Algorithm, Lp, Toggle};

use super::program::{Form, Known, Program, Written};
use crate::error::Error;
use crate::run::Clock;
use crate::separation::slopes::{Extreme, bounding_program, extreme, widened};

/// Passes over all ranges at most, with either relaxation.
const PASSES: usize = 4;

/// A pass that takes less than this share of the ranges' lengths is the last.
const WORTH: f64 = 0.1;

/// HiGHS's tolerance, relative: what a bound from a linear program is raised by.
pub(super) const TOLERANCE: f64 = 1e-7;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wanted {
    /// What is worth less is of no interest.
    pub(super) least: f64,
    /// A bound that is no larger is all that is asked for.
    pub(super) enough: f64,
}

/// What tightening came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tightened {
    /// Nothing is worth as much as was assumed.
    Below,
    /// The bound is all that was asked for.
    Enough,
    /// The ranges are as tight as was worth the effort.
    Tight,
}

/// Tightens `known` for what is wanted. A clock that stops leaves ranges that hold, and `bound` as far as it came.
///
/// The closer relaxation, with products, takes many times as long: it is asked for a bound in any case, but for ranges
/// only where others would be infinite.
pub(super) fn tighten(
    program: &Program,
    known: &mut Known,
    wanted: Wanted,
    bound: &mut f64,
    clock: &Clock,
) -> Result<Tightened, Error> {
    let least = wanted.least;
    for products in [false, true] {
        for _ in 0..PASSES {
            let written = program.write(known, Form::Relaxed { least, products });
            let mut relaxation =
                Relaxation { lp: bounding_program(&written.model, clock)?, costs: written.value.clone(), clock };
            relaxation.costs.iter_mut().for_each(|cost| *cost = -*cost);
            let for_bound = products && written.lacks.is_none();
            if for_bound {
                // One solve, of a large program: as HiGHS thinks best.
                relaxation.lp.set_algorithm(Algorithm::Choose)?;
                relaxation.lp.set_presolve(Toggle::Choose)?;
            }
            match extreme(&mut relaxation.lp, &relaxation.costs, clock)? {
                Extreme::At(value) => *bound = bound.min(raised(-value)),
                Extreme::Empty => return Ok(Tightened::Below),
                Extreme::Unknown => {}
            }
            if *bound < least {
                return Ok(Tightened::Below);
            }
            if *bound < f64::INFINITY && *bound <= wanted.enough {
                return Ok(Tightened::Enough);
            }
            if for_bound {
                break;
            }
            match relaxation.pass(&written, known)? {
                None => return Ok(Tightened::Below),
                Some(gain) if !gain.is_worth_another() => break,
                Some(_) => {}
            }
        }
    }
    Ok(Tightened::Tight)
}

/// A relaxation whose columns are bounded one after the other.
struct Relaxation<'a> {
    lp: Lp,
    costs: Vec<f64>,
    clock: &'a Clock,
}

impl Relaxation<'_> {
    /// One pass over all ranges; `None` if the relaxation turns out to be empty.
    fn pass(&mut self, written: &Written, known: &mut Known) -> Result<Option<Gain>, Error> {
        self.costs.fill(0.0);
        let mut gain = Gain::default();
        for &(entry, column) in &written.slope_columns {
            let before = known.slopes[entry];
            let (Some(lower), Some(upper)) = (self.end(column, 1.0)?, self.end(column, -1.0)?) else { return Ok(None) };
            let (lower, upper) = widened(lower, upper);
            known.slopes[entry] = (before.0.max(lower), before.1.min(upper));
            gain.add(before.1 - before.0, known.slopes[entry].1 - known.slopes[entry].0);
        }
        for (most, pair) in known.pairs.iter_mut().zip(&written.pairs) {
            for (most, &column) in most.iter_mut().zip(pair) {
                let Some(upper) = self.end(column, -1.0)? else { return Ok(None) };
                let before = *most;
                *most = before.min(widened(0.0, upper.max(0.0)).1);
                gain.add(before, *most);
            }
        }
        Ok(Some(gain))
    }

    /// The least (sign 1) or most (sign −1) of a column, infinite if there is none.
    fn end(&mut self, column: usize, sign: f64) -> Result<Option<f64>, Error> {
        self.costs[column] = sign;
        let found = extreme(&mut self.lp, &self.costs, self.clock)?;
        self.costs[column] = 0.0;
        Ok(match found {
            Extreme::At(value) => Some(sign * value),
            Extreme::Empty => None,
            Extreme::Unknown => Some(-sign * f64::INFINITY),
        })
    }
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

    fn is_worth_another(&self) -> bool {
        self.finite || self.ranges > 0.0 && self.shorter / self.ranges > WORTH
    }
}
