//! Averages of iterates, the results of Algorithm 1.

use std::fmt;
use std::str::FromStr;

/// The weights of an average.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Averaging {
    /// Iterate n has weight n.
    #[default]
    Linear,
    /// Iterate n has the weight of the step that made it.
    StepSize,
}

impl fmt::Display for Averaging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linear => "linear",
            Self::StepSize => "step-size",
        })
    }
}

impl FromStr for Averaging {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "linear" => Ok(Self::Linear),
            "step-size" => Ok(Self::StepSize),
            _ => Err(format!("\"{text}\" is no average; linear and step-size are")),
        }
    }
}

/// A weighted mean of the iterates so far.
#[derive(Debug, Clone)]
pub(super) struct Average {
    averaging: Averaging,
    weight: f64,
    count: f64,
    mean: Vec<f64>,
}

impl Average {
    pub(super) fn new(averaging: Averaging, x: &[f64]) -> Self {
        Self { averaging, weight: 0.0, count: 0.0, mean: x.to_vec() }
    }

    /// Adds the iterate after a step of this size.
    pub(super) fn add(&mut self, x: &[f64], step: f64) {
        self.count += 1.0;
        let weight = match self.averaging {
            Averaging::Linear => self.count,
            Averaging::StepSize => step,
        };
        self.weight += weight;
        if self.weight > 0.0 {
            let share = weight / self.weight;
            for (mean, x) in self.mean.iter_mut().zip(x) {
                *mean += share * (x - *mean);
            }
        }
    }

    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_algorithm_1() {
        let mut linear = Average::new(Averaging::Linear, &[9.0]);
        let mut step_size = Average::new(Averaging::StepSize, &[9.0]);
        for (x, step) in [(1.0, 0.5), (2.0, 0.25), (4.0, 0.25)] {
            linear.add(&[x], step);
            step_size.add(&[x], step);
        }
        assert!((linear.mean()[0] - (1.0 + 2.0 * 2.0 + 3.0 * 4.0) / 6.0).abs() < 1e-15);
        assert!((step_size.mean()[0] - (0.5 + 0.5 + 1.0)).abs() < 1e-15);
    }
}
