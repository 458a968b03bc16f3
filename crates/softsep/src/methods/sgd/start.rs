//! The first x.

use rand::RngExt;
use serde_json::{Map, Value};

use super::descent::Descent;
use super::settings::Start;
use crate::definition::nearest;
use crate::error::Error;
use crate::run::{Purpose, Run, stream};

/// Support points in random directions, beside the one along the slope at the nominal scenario.
const RANDOM_SUPPORTS: u32 = 4;

impl Descent<'_> {
    /// Finds the first x, and the first lower bound on the way.
    pub(super) fn start(&mut self, run: &mut Run) -> Result<(), Error> {
        // Names are looked up before any work is done for nothing.
        let given = match &self.settings.start {
            Start::Given(names) => Some(self.named(names)?),
            _ => None,
        };
        let nominal = self.bound(run)?;
        let x = match (given, &self.settings.start, nominal) {
            (Some(given), ..) => given,
            (None, Start::Nominal, Some(x)) => x,
            (None, Start::Support, Some(x)) => {
                let worst = self.worst_support(&x, run)?;
                self.evidence.add_copy(&worst, &x)?;
                self.oracle.start_at(&worst);
                self.bound(run)?.unwrap_or(x)
            }
            _ => vec![0.0; self.problem.first.dim()],
        };
        self.begin_at(x, run)
    }

    /// The worst for x of a few support points of the set.
    fn worst_support(&mut self, x: &[f64], run: &Run) -> Result<Vec<f64>, Error> {
        let set = &self.problem.set;
        let mut xi = vec![0.0; set.dim()];
        set.nominal(&mut xi);
        let mut worst = (xi.clone(), self.evidence.ask(x, &xi)?);
        let mut direction = self.evidence.slope_xi().to_vec();
        let mut random = stream(run.limits().seed, Purpose::Start, 0);
        for _ in 0..=RANDOM_SUPPORTS {
            set.support(&direction, &mut xi)?;
            let value = self.evidence.ask(x, &xi)?;
            if value > worst.1 {
                worst = (xi.clone(), value);
            }
            direction.iter_mut().for_each(|entry| *entry = random.random_range(-1.0..1.0));
        }
        Ok(worst.0)
    }

    /// A decision by names, the `x` of a result among them.
    fn named(&self, names: &Map<String, Value>) -> Result<Vec<f64>, Error> {
        let names = match names.get("x") {
            Some(Value::Object(of_result)) => of_result,
            _ => names,
        };
        let mut x = vec![0.0; self.problem.first.dim()];
        for (name, value) in names {
            let place = self.problem.names.first.iter().position(|known| known == name);
            let (Some(place), Some(value)) = (place, value.as_f64()) else {
                return Err(Error::Settings(match place {
                    None => {
                        let hint = nearest(name, self.problem.names.first.iter().map(String::as_str));
                        format!("the start names \"{name}\", which is not a first-stage variable{hint}")
                    }
                    Some(_) => format!("the start has {value} for \"{name}\", which is not a number"),
                }));
            };
            x[place] = value;
        }
        Ok(x)
    }
}
