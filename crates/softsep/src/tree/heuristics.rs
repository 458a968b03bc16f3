//! Decisions from relaxations: by rounding, and by diving. Both keep the rows of X: only integers are rounded, the rest
//! is solved around them.

use std::collections::HashSet;

use super::frame::Frame;
use super::node::{Change, Node};
use super::pool::Pool;
use super::relaxation::{Ended, Relaxation, WHOLE};
use crate::error::Error;

/// In a dive all integers this close to a whole number are fixed there at once.
const CLOSE: f64 = 0.1;

#[derive(Debug)]
pub(super) struct Scout {
    pub(super) program: Relaxation,
    /// Integer assignments that were tried.
    tried: HashSet<Vec<i64>>,
}

impl Scout {
    pub(super) fn new(frame: &Frame) -> Result<Self, Error> {
        Ok(Self { program: Relaxation::new(frame)?, tried: HashSet::new() })
    }

    /// Whether these integers are new; from now on they are not.
    pub(super) fn is_new(&mut self, x: &[f64], frame: &Frame) -> bool {
        self.tried.insert(frame.integers.iter().map(|&j| x[j].round() as i64).collect())
    }

    /// The best decision for the integers of `x` rounded, if they were not tried before and cost less than the cutoff
    /// as far as the pool knows.
    pub(super) fn round(
        &mut self,
        from: &Node,
        x: &[f64],
        cutoff: f64,
        frame: &Frame,
        pool: &Pool,
    ) -> Result<Option<Vec<f64>>, Error> {
        let mut node = from.clone();
        if !self.is_new(x, frame) || !self.program.load(&mut node, &[], cutoff, frame, pool)? {
            return Ok(None);
        }
        self.program.solve_around(&self.program.rounded(x, frame), cutoff, frame, pool)
    }

    /// Fixes integers one after the other, those first that are nearest to a whole number, and follows the relaxation.
    pub(super) fn dive(
        &mut self,
        from: &Node,
        fixings: &[Change],
        cutoff: f64,
        frame: &Frame,
        pool: &Pool,
    ) -> Result<Option<Vec<f64>>, Error> {
        let mut node = from.clone();
        if !self.program.load(&mut node, fixings, cutoff, frame, pool)? {
            return Ok(None);
        }
        // Each pass fixes one integer at least.
        for _ in 0..=frame.integers.len() {
            if self.program.optimise(cutoff, frame, pool)? != Ended::Solved {
                return Ok(None);
            }
            let fractional = self.program.fractional(frame);
            let distance = |value: f64| (value - value.round()).abs();
            let Some(nearest) = fractional.iter().map(|&(_, value)| distance(value)).min_by(f64::total_cmp) else {
                break;
            };
            if fractional.iter().all(|&(_, value)| distance(value) <= WHOLE) {
                break;
            }
            for (j, value) in fractional {
                if distance(value) <= nearest.max(CLOSE) {
                    self.program.narrow(j, value.round(), value.round())?;
                }
            }
        }
        let x = self.program.values[..frame.dim()].to_vec();
        if !self.is_new(&x, frame) {
            return Ok(None);
        }
        self.program.solve_around(&self.program.rounded(&x, frame), cutoff, frame, pool)
    }
}
