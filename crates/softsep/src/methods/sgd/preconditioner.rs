//! H of EC.3, computed before the first step: `H_ii` is in proportion to the largest absolute value that entry i of a
//! subgradient `g_f(x) − Eᵀπ` can have.
//!
//! - `g_f` is c, and over the bounds of x an interval where f is quadratic.
//! - `−Eᵀπ` lies between the ends that linear programs over all feasible duals π give, where the recourse is linear
//!   with fixed costs.
//! - Where an end is infinite, because the duals are unbounded along a capacity that may be zero, the largest bounded
//!   price of a row without x replaces them: the unit cost of recourse that is available at every x, the h of EC.3. It
//!   is a size and not a bound.
//! - Elsewhere (quadratic or conic recourse, costs that move with ξ, quadratic f over unbounded x, no bounded price)
//!   the sizes are those of subgradients at the first x, for the nominal scenario and a few drawn ones.

use std::fmt;
use std::str::FromStr;

use super::descent::Descent;
use crate::error::Error;
use crate::master::Metric;
use crate::model::{FirstStage, Problem};
use crate::recourse::{Answer, RecourseOutcome, engine_with};
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
struct SlopeSizes {
    sizes: Vec<f64>,
    /// h, where it replaces an infinite end.
    price: Option<f64>,
}

/// Bounds the entries of subgradients by the data; `None` where nothing bounds them.
fn sizes(problem: &Problem, clock: &Clock) -> Result<Option<SlopeSizes>, Error> {
    let recourse = &problem.recourse;
    let Some(gradients) = gradient_ranges(&problem.first) else { return Ok(None) };
    if !recourse.is_linear() || recourse.costs_move() {
        return Ok(None);
    }
    let ranges = match recourse.dim() {
        0 => SlopeRanges { least: vec![0.0; gradients.len()], most: vec![0.0; gradients.len()] },
        _ => match SlopeRanges::sizes_in_x(problem, clock)? {
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
        let price = prices.as_ref().map_or(0.0, |prices| prices.of_entry[i]);
        let finite = |end: f64| if end.is_finite() { end } else { end.signum() * price };
        (lower + finite(ranges.least[i])).abs().max((upper + finite(ranges.most[i])).abs())
    };
    let sizes = gradients.iter().enumerate().map(largest).collect();
    Ok(Some(SlopeSizes { sizes, price: prices.map(|prices| prices.largest) }))
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

/// Prices that replace infinite ends.
struct Prices {
    /// h: the largest bounded price of a row without x.
    largest: f64,
    /// `Σ |E_ki|·h` by entry i of x.
    of_entry: Vec<f64>,
}

impl Prices {
    /// The prices; `None` if none is bounded and positive.
    fn of(problem: &Problem, clock: &Clock) -> Result<Option<Self>, Error> {
        let Some(ranges) = SlopeRanges::sizes_of_prices(problem, clock)? else { return Ok(None) };
        let largest = ranges.steepest().into_iter().filter(|price| price.is_finite()).fold(0.0, f64::max);
        let e = &problem.recourse.e;
        let mut of_entry = vec![0.0; problem.first.dim()];
        for row in 0..e.rows() {
            e.row(row).for_each(|(entry, value)| of_entry[entry] += value.abs() * largest);
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
            Some(SlopeSizes { sizes, price }) => {
                if let Some(price) = price {
                    run.say(&format!(
                        "preconditioner: the duals of rows with x are unbounded; the largest price of a row without x, \
                         {price}, replaces them"
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
            if answer.outcome == RecourseOutcome::Solved {
                for ((size, gradient), slope) in sizes.iter_mut().zip(&gradient).zip(&answer.slope_x) {
                    *size = size.max((gradient + slope).abs());
                }
            }
        }
        run.count_solves(engine.work().solves);
        Ok(sizes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::definition::{Row, Variable};
    use crate::model::ProblemDefinition;
    use crate::uncertainty::SetDefinition;

    const CAPACITY_COSTS: [f64; 3] = [12.0, 120.0, 0.0];
    const SETUP_COSTS: [f64; 3] = [350.0, 0.0, 310.0];
    const EMERGENCY_COSTS: [f64; 2] = [130.0, 180.0];

    /// Location–transportation with three sites and two customers, its openings relaxed, as in EC.3.
    fn transportation() -> ProblemDefinition {
        let mut file = ProblemDefinition::default();
        let opening = |(i, cost): (usize, &f64)| Variable::new(format!("open{i}"), *cost).bounded(0.0, 1.0);
        let capacity = |(i, cost): (usize, &f64)| Variable::new(format!("capacity{i}"), *cost).bounded(0.0, 900.0);
        file.first_stage.variables.extend(SETUP_COSTS.iter().enumerate().map(opening));
        file.first_stage.variables.extend(CAPACITY_COSTS.iter().enumerate().map(capacity));
        file.uncertainty.parameters = vec!["g0".into(), "g1".into()];
        file.uncertainty.set = SetDefinition::Box { lower: vec![0.0; 2], upper: vec![1.0; 2] };
        for i in 0..3 {
            for j in 0..2 {
                let cost = f64::from(20 + 3 * i + 5 * j);
                file.recourse.variables.push(Variable::new(format!("ship{i}{j}"), cost));
            }
            let y = (0..2).map(|j| (format!("ship{i}{j}"), -1.0)).collect();
            let x = vec![(format!("capacity{i}"), 1.0)];
            file.recourse.constraints.push(Row { y, x, lower: 0.0, ..Row::new(format!("supply{i}")) });
        }
        for (j, cost) in EMERGENCY_COSTS.iter().enumerate() {
            file.recourse.variables.push(Variable::new(format!("emergency{j}"), *cost));
            let mut row = Row { lower: 250.0, ..Row::new(format!("demand{j}")) };
            row.y = (0..3).map(|i| (format!("ship{i}{j}"), 1.0)).collect();
            row.y.push((format!("emergency{j}"), 1.0));
            row.xi = vec![(format!("g{j}"), -50.0)];
            file.recourse.constraints.push(row);
        }
        file
    }

    fn sizes_of(file: &ProblemDefinition) -> Option<SlopeSizes> {
        sizes(&Problem::new(file).unwrap(), &Clock::unlimited()).unwrap()
    }

    fn assert_near(found: &[f64], wanted: &[f64]) {
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1e-9), "{found} instead of {wanted}");
        }
    }

    #[test]
    fn on_location_transportation_it_is_the_closed_form_of_ec_3() {
        let SlopeSizes { sizes, price } = sizes_of(&transportation()).unwrap();
        let h = 180.0;
        assert!((price.unwrap() - h).abs() < 1e-9);
        let setup = SETUP_COSTS.iter().map(|c| c.abs().max(1e-8));
        let capacity = CAPACITY_COSTS.iter().map(|c| c.abs().max((c - h).abs()).max(1e-8));
        let wanted: Vec<f64> = setup.chain(capacity).collect();
        let scale = wanted.iter().product::<f64>().powf(1.0 / 6.0);
        let wanted: Vec<f64> = wanted.iter().map(|size| size / scale).collect();
        assert_near(Metric::fixed(&sizes).diagonal(), &wanted);
    }

    /// Order x at c each; a shortage costs 7 each, and a surplus 3: slopes of Q are between −7 and 3.
    fn newsvendor(c: f64) -> ProblemDefinition {
        let mut file = ProblemDefinition::default();
        file.first_stage.variables.push(Variable::new("x", c).bounded(0.0, 10.0));
        file.uncertainty.parameters = vec!["demand".into()];
        file.uncertainty.set = SetDefinition::Box { lower: vec![0.0], upper: vec![9.0] };
        for (name, cost, sign) in [("short", 7.0, 1.0), ("surplus", 3.0, -1.0)] {
            file.recourse.variables.push(Variable::new(name, cost));
            let mut row = Row { lower: 0.0, ..Row::new(name) };
            (row.y, row.x) = (vec![(name.into(), 1.0)], vec![("x".into(), sign)]);
            row.xi = vec![("demand".into(), -sign)];
            file.recourse.constraints.push(row);
        }
        file
    }

    #[test]
    fn bounded_slopes_and_quadratic_costs_have_their_ends() {
        for (c, wanted) in [(1.0, 6.0), (4.0, 7.0), (-5.0, 12.0)] {
            let SlopeSizes { sizes, price } = sizes_of(&newsvendor(c)).unwrap();
            assert_near(&sizes, &[wanted]);
            assert_eq!(price, None);
        }
        // f(x) = x + ½·2x²: its slope is between 1 and 21.
        let mut file = newsvendor(1.0);
        file.first_stage.quadratic.push(("x".into(), "x".into(), 2.0));
        assert_near(&sizes_of(&file).unwrap().sizes, &[24.0]);
        file.first_stage.variables[0].upper = f64::INFINITY;
        assert!(sizes_of(&file).is_none(), "x is unbounded, and so is the slope of f");
    }

    #[test]
    fn nothing_bounds_quadratic_recourse_and_moving_costs() {
        let mut quadratic = newsvendor(1.0);
        quadratic.recourse.quadratic.push(("short".into(), "short".into(), 1.0));
        assert!(sizes_of(&quadratic).is_none());
        let mut moving = newsvendor(1.0);
        moving.recourse.variables[0].cost_xi = vec![("demand".into(), 1.0)];
        assert!(sizes_of(&moving).is_none());
    }
}
