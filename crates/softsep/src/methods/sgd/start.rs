//! The first x.

use std::ops::ControlFlow;

use super::descent::Descent;
use super::settings::{Start, Steps};
use crate::definition::nearest;
use crate::error::Error;
use crate::run::{Purpose, Run, Stop, stream};
use rand::RngExt;

/// The number of support points in random directions, besides the one along the slope at a typical scenario.
const RANDOM_SUPPORTS: u32 = 4;

impl Descent<'_> {
    /// Sets the first x, and computes the first lower bound.
    pub(super) fn start(&mut self, run: &mut Run) -> Result<Option<Stop>, Error> {
        // Names are resolved before any work is done.
        let given = match &self.settings.start {
            Start::Given(names) => Some(self.named(names)?),
            _ => None,
        };
        let nominal = match self.bound(run)? {
            ControlFlow::Continue(x) => x,
            ControlFlow::Break(stop) => return Ok(Some(stop)),
        };
        let x = match (given, &self.settings.start) {
            (Some(given), _) => given,
            (None, Start::Nominal) => nominal,
            (None, Start::Support) => {
                let worst = self.worst_support(&nominal, run)?;
                self.master.add_copy(&worst, &nominal)?;
                // The chain of Algorithm 1 starts at a uniform state.
                if self.settings.steps == Steps::Level {
                    self.separation.start_at(&worst);
                }
                match self.bound(run)? {
                    ControlFlow::Continue(x) => x,
                    ControlFlow::Break(stop) => return Ok(Some(stop)),
                }
            }
            (None, Start::Zero | Start::Given(_)) => vec![0.0; self.problem.first.dim()],
        };
        self.begin_at(x, run)
    }

    /// Returns the support point with the largest recourse cost at x, among a few.
    fn worst_support(&mut self, x: &[f64], run: &mut Run) -> Result<Vec<f64>, Error> {
        let set = &self.problem.set;
        let mut xi = self.master.typical().to_vec();
        let mut worst = (xi.clone(), self.evaluator.cost(x, &xi, self.pool, run)?);
        let mut direction = self.evaluator.slope_xi().to_vec();
        let mut random = stream(run.limits().seed, Purpose::Start, 0);
        for _ in 0..=RANDOM_SUPPORTS {
            set.support(&direction, &mut xi)?;
            let value = self.evaluator.cost(x, &xi, self.pool, run)?;
            if value > worst.1 {
                worst = (xi.clone(), value);
            }
            direction.iter_mut().for_each(|entry| *entry = random.random_range(-1.0..1.0));
        }
        Ok(worst.0)
    }

    /// Returns a decision given by names. Errs for a name that is no first-stage variable.
    fn named(&self, names: &[(String, f64)]) -> Result<Vec<f64>, Error> {
        let known = &self.problem.names.first;
        let mut x = vec![0.0; self.problem.first.dim()];
        for (name, value) in names {
            let Some(index) = known.iter().position(|known| known == name) else {
                let hint = nearest(name, known.iter().map(String::as_str));
                return Err(Error::Settings(format!(
                    "the start names \"{name}\", which is not a first-stage variable{hint}"
                )));
            };
            x[index] = *value;
        }
        Ok(x)
    }
}
