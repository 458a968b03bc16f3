//! H of EC.3, computed before the first step: `H_ii` is in proportion to the largest absolute value that entry i of a
//! subgradient `g_f(x) − Eᵀπ` can have.
//!
//! - `g_f` is c, and over the bounds of x an interval where f is quadratic.
//! - `−Eᵀπ` lies between the ends that linear programs over all feasible duals π give, where the recourse is linear with
//!   fixed costs.
//! - Where an end is infinite, because the duals are unbounded along a capacity that may be zero, the price of a row
//!   with a bounded dual stands in: the largest of these prices is the unit cost of recourse that is always there, the
//!   h of EC.3. An optimal vertex has prices of this size; the stand-in is a size and not a bound.
//! - Elsewhere (quadratic or conic recourse, costs that move with ξ, quadratic f over unbounded x, no bounded price)
//!   the sizes are those of subgradients at the first x, for the nominal scenario and a few drawn ones.

use std::fmt;
use std::str::FromStr;

use super::descent::Descent;
use crate::error::Error;
use crate::master::Metric;
use crate::model::{FirstStage, Problem};
use crate::recourse::{Answer, Outcome, engine_with};
use crate::run::{Clock, Purpose, Run, stream};
use crate::separation::SlopeRanges;
use crate::separation::soft::draw_states;

/// Scenarios that are drawn where no bound on the subgradients is known.
const DRAWS: usize = 20;

/// The metric of the steps of Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Preconditioner {
    /// H by the largest entries of the subgradients seen so far.
    #[default]
    Seen,
    /// H of EC.3, from the data, fixed before the first step.
    Data,
    /// The identity.
    None,
}

impl fmt::Display for Preconditioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seen => "seen",
            Self::Data => "data",
            Self::None => "none",
        })
    }
}

impl FromStr for Preconditioner {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "seen" => Ok(Self::Seen),
            "data" => Ok(Self::Data),
            "none" => Ok(Self::None),
            _ => Err(format!("\"{text}\" is no preconditioner; seen, data and none are")),
        }
    }
}

/// The largest absolute values of the entries of subgradients.
struct Sizes {
    sizes: Vec<f64>,
    /// h, where it stands in for an infinite end.
    price: Option<f64>,
}

/// Bounds the entries of subgradients by the data; `None` where nothing bounds them.
fn sizes(problem: &Problem, clock: &Clock) -> Result<Option<Sizes>, Error> {
    let recourse = &problem.recourse;
    let Some(gradients) = gradient_ranges(&problem.first) else { return Ok(None) };
    if !recourse.is_linear() || recourse.costs_move() {
        return Ok(None);
    }
    let ranges = match recourse.dim() {
        0 => SlopeRanges { least: vec![0.0; gradients.len()], most: vec![0.0; gradients.len()] },
        _ => match SlopeRanges::in_x(problem, clock)? {
            Some(ranges) => ranges,
            None => return Ok(None),
        },
    };
    let prices = match ranges.steepest().iter().all(|slope| slope.is_finite()) {
        true => None,
        false => match Prices::of(problem, clock)? {
            Some(prices) => Some(prices),
            None => return Ok(None),
        },
    };
    let largest = |(i, (lower, upper)): (usize, &(f64, f64))| {
        let stand_in = prices.as_ref().map_or(0.0, |prices| prices.of_entry[i]);
        let finite = |end: f64| if end.is_finite() { end } else { end.signum() * stand_in };
        (lower + finite(ranges.least[i])).abs().max((upper + finite(ranges.most[i])).abs())
    };
    let sizes = gradients.iter().enumerate().map(largest).collect();
    Ok(Some(Sizes { sizes, price: prices.map(|prices| prices.largest) }))
}

/// The range of each entry of g_f(x) = c + Dx over the bounds of x; `None` if one is infinite.
fn gradient_ranges(first: &FirstStage) -> Option<Vec<(f64, f64)>> {
    let mut ranges: Vec<(f64, f64)> = first.cost.iter().map(|&cost| (cost, cost)).collect();
    let mut add = |entry: usize, value: f64, of: usize| {
        let ends = [value * first.lower[of], value * first.upper[of]];
        ranges[entry].0 += ends[0].min(ends[1]);
        ranges[entry].1 += ends[0].max(ends[1]);
    };
    for (i, j, value) in first.quadratic.iter() {
        add(i, value, j);
        if i != j {
            add(j, value, i);
        }
    }
    ranges.iter().all(|(lower, upper)| lower.is_finite() && upper.is_finite()).then_some(ranges)
}

/// Prices that stand in for infinite ends.
struct Prices {
    /// The largest bounded price of a row, h.
    largest: f64,
    /// `Σ |E_ki|·price_k` by entry i of x; a row k whose price is unbounded has the largest bounded one.
    of_entry: Vec<f64>,
}

impl Prices {
    /// The prices of all rows; `None` if none is bounded and positive.
    fn of(problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        let Some(ranges) = SlopeRanges::of_rows(problem, clock)? else { return Ok(None) };
        let of_row = ranges.steepest();
        let largest = of_row.iter().copied().filter(|price| price.is_finite()).fold(0.0, f64::max);
        let mut of_entry = vec![0.0; problem.first.dim()];
        for (row, price) in of_row.iter().enumerate() {
            let price = if price.is_finite() { *price } else { largest };
            problem.recourse.e.row(row).for_each(|(entry, value)| of_entry[entry] += value.abs() * price);
        }
        Ok((largest > 0.0).then_some(Self { largest, of_entry }))
    }
}

impl Descent<'_> {
    /// Sets H for good before the first step, at x, if the settings ask for that.
    pub(super) fn set_preconditioner(&mut self, run: &mut Run) -> Result<(), Error> {
        if self.settings.preconditioner != Preconditioner::Data {
            return Ok(());
        }
        let sizes = match sizes(self.problem, run.clock())? {
            Some(Sizes { sizes, price }) => {
                if let Some(price) = price {
                    run.say(&format!(
                        "preconditioner: duals are unbounded in some rows; the largest bounded price, {price}, stands in"
                    ));
                }
                sizes
            }
            None => {
                run.say(&format!(
                    "preconditioner: no bound on subgradients is known; it is made of those at the first x for the \
                     nominal and {DRAWS} drawn scenarios"
                ));
                self.drawn_sizes(run)?
            }
        };
        self.metric = Metric::fixed(&sizes);
        self.projection.set_metric(self.metric.diagonal());
        Ok(())
    }

    /// The largest absolute entries of subgradients at x, for the nominal scenario and [`DRAWS`] drawn ones.
    fn drawn_sizes(&self, run: &mut Run) -> Result<Vec<f64>, Error> {
        let (problem, first) = (self.problem, &self.problem.first);
        let mut gradient = first.cost.clone();
        first.quadratic.mul_add(1.0, &self.x, &mut gradient);
        let mut sizes: Vec<f64> = gradient.iter().map(|entry| entry.abs()).collect();
        let mut engine = engine_with(problem, self.settings.dual, run.clock())?;
        let mut answer = Answer::new(problem);
        let states = match draw_states(problem, self.settings.soft.reference, run.clock()) {
            // A set without states has no draws.
            Err(Error::Set(_)) => None,
            states => Some(states?),
        };
        let mut random = stream(run.limits().seed, Purpose::Estimate, 0);
        let mut scenarios = vec![vec![0.0; problem.set.dim()]];
        problem.set.nominal(&mut scenarios[0]);
        if let Some(states) = &states {
            let mut state = states.blank();
            for _ in 0..DRAWS {
                let mut xi = vec![0.0; problem.set.dim()];
                states.draw(&mut random, &mut state);
                states.realize(&state, &mut xi);
                scenarios.push(xi);
            }
        }
        engine.at(&self.x);
        for xi in scenarios {
            engine.solve(&xi, &mut answer)?;
            if answer.outcome == Outcome::Solved {
                for ((size, gradient), slope) in sizes.iter_mut().zip(&gradient).zip(&answer.slope_x) {
                    *size = size.max((gradient + slope).abs());
                }
            }
        }
        run.count_solves(engine.work().solves);
        Ok(sizes)
    }
}
