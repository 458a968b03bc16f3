//! Internal units: a problem in odd units is solved in others, and its result converted back.
//!
//! Solvers compare with absolute tolerances. A cost of 1e-8 per unit then counts as zero, and a variable that is
//! measured in millionths may violate its bounds by all of its range. So the problem is rewritten before a run such
//! that its numbers lie around 1: each continuous variable, each parameter and the cost get a unit, a power of two,
//! which changes no digit. `exponents.rs` chooses the units; they are those that make the logarithms of all data
//! smallest in the least-squares sense, and so do not depend on the units that the problem was written in. A problem
//! whose units are ordinary is solved as it is written.

mod exponents;
mod rewrite;

use super::Problem;

/// The units of the internal problem: a quantity of the problem as written is its internal value times its unit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scaling {
    /// The unit of each entry of x; 1 for integers.
    pub(crate) first: Vec<f64>,
    /// The unit of each entry of y.
    pub(crate) recourse: Vec<f64>,
    /// The unit of each entry of ξ.
    pub(crate) parameters: Vec<f64>,
    /// The factor of each cone's rows: these are multiplied by it.
    cones: Vec<f64>,
    /// The unit of costs.
    pub(crate) cost: f64,
}

impl Scaling {
    /// The units for a problem and the problem in them; `None` where its own units are ordinary, and where a program
    /// implements its set or its engine, which are in the units of the problem.
    pub(crate) fn of(problem: &Problem) -> Option<(Self, Problem)> {
        if problem.engine.is_some() {
            return None;
        }
        let scaling = exponents::choose(problem)?;
        let mut definition = problem.definition();
        scaling.rewrite(&mut definition)?;
        Some((scaling, Problem::new(&definition).ok()?))
    }

    /// Given units of variables, parameters and costs; the rows of `cones` cones stay in theirs.
    #[cfg(feature = "testing")]
    pub(crate) fn given(first: Vec<f64>, recourse: Vec<f64>, parameters: Vec<f64>, cost: f64, cones: usize) -> Self {
        Self { first, recourse, parameters, cones: vec![1.0; cones], cost }
    }

    /// Converts a decision to internal units.
    pub(crate) fn to_internal(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.first).map(|(x, unit)| x / unit).collect()
    }

    /// Converts a scenario, the recourse to it and its cost from internal units.
    pub(crate) fn convert_worst_case(&self, xi: &mut [f64], cost: &mut f64, y: &mut [f64]) {
        Self::convert(xi, &self.parameters);
        Self::convert(y, &self.recourse);
        *cost *= self.cost;
    }

    /// Converts entries from internal units.
    pub(crate) fn convert(entries: &mut [f64], units: &[f64]) {
        entries.iter_mut().zip(units).for_each(|(entry, unit)| *entry *= unit);
    }
}
