//! Reduced measures of recourse variables: how much a policy would gain if more variables depended on ξ.
//!
//! The dual of a row that holds for every ξ is a measure on the region, of which the mass μ and the moment ν = ∫ξ
//! matter. A recourse variable with column G·ⱼ and cost bⱼ has the reduced measure `(b·μ₀ − Σ Gᵢⱼμᵢ, b·ν₀ − Σ Gᵢⱼνᵢ)`.
//! If the variable does not depend on ξ, dual feasibility requires a nonnegative mass only. If the reduced measure is a
//! multiple of a point of the region, the variable gains nothing from depending on ξ; the distance from that is its
//! price. The price is measured against the cube (or ball) around the region, so that a variable with price zero may
//! still gain if the region is smaller.

use super::coordinates::{Feature, PolicyCoordinates};
use super::dependence::Dependence;
use super::program::{Decision, PolicyProgram};
use super::robust::{CounterpartRows, CounterpartSide};
use crate::model::Problem;
use crate::numeric::norm;

/// A variable whose price is a smaller share of the largest price gets no coefficients yet.
const MIN_RELATIVE_PRICE: f64 = 1e-3;

/// Prices below this, relative to the cost of a unit, are rounding errors.
const PRICE_TOL: f64 = 1e-7;

/// A row whose activity is closer to a bound, relative to its size, is tight.
const TIGHT_ROW_TOL: f64 = 1e-9;

/// The reduced measures of the recourse variables, in features of ξ of size one.
#[derive(Debug, Clone)]
pub(crate) struct ReducedMeasures {
    /// The mass of each variable, and its moment in each feature.
    reduced: Vec<(f64, Vec<f64>)>,
    /// Whether the region is a ball in these features; otherwise it is contained in the cube.
    is_round: bool,
    /// Variables that are forced to a bound by rows for every ξ; their prices are meaningless.
    forced: Vec<bool>,
}

impl ReducedMeasures {
    /// Computes the reduced measures from the duals of the cost, the rows and the variables.
    pub(super) fn new(program: &PolicyProgram, written: &[CounterpartRows], duals: &[f64]) -> Self {
        let (problem, dim) = (program.problem, program.coordinates.dim());
        let base = program.base();
        let measure = |side: &Option<CounterpartSide>| -> Option<(f64, Vec<f64>)> {
            let side = side.as_ref()?;
            let mass = duals[side.main];
            let mut moment: Vec<f64> = base.iter().map(|base| mass * base).collect();
            for (row, direction) in &side.slopes {
                direction.iter().for_each(|&(coordinate, value)| moment[coordinate] += value * duals[*row]);
            }
            Some((mass, moment))
        };
        let mut measures: Vec<(f64, Vec<f64>)> = Vec::with_capacity(written.len());
        for written in written {
            let mut total = (0.0, vec![0.0; dim]);
            for (sign, side) in [1.0, -1.0].into_iter().zip(&written.sides) {
                if let Some((mass, moment)) = measure(side) {
                    total.0 += sign * mass;
                    total.1.iter_mut().zip(&moment).for_each(|(total, moment)| *total += sign * moment);
                }
            }
            measures.push(total);
        }
        // A row that does not depend on ξ has no moment of its own; its mass is placed at the mean of the cost's
        // measure.
        let (mass, moment) = measures[0].clone();
        for (written, measure) in written.iter().zip(&mut measures) {
            if let Some(row) = written.fixed {
                let scaled = moment.iter().map(|moment| duals[row] * moment / mass.max(f64::MIN_POSITIVE));
                *measure = (duals[row], scaled.collect());
            }
        }
        let columns = problem.recourse.g.transpose();
        let reduced = (0..problem.recourse.dim()).map(|j| {
            let (mut mass, mut moment) = (0.0, vec![0.0; dim]);
            let mut take = |factor: f64, measure: &(f64, Vec<f64>)| {
                mass += factor * measure.0;
                moment.iter_mut().zip(&measure.1).for_each(|(moment, other)| *moment += factor * other);
            };
            take(problem.recourse.cost[j], &measures[0]);
            columns.row(j).for_each(|(i, value)| take(-value, &measures[1 + i]));
            let in_feature = |feature: &Feature| feature.slope * moment[feature.coordinate] - feature.offset * mass;
            (mass, program.features.iter().map(in_feature).collect())
        });
        Self {
            reduced: reduced.collect(),
            is_round: matches!(program.coordinates, PolicyCoordinates::Axes(_)),
            forced: match program.decision {
                Decision::Fixed(x) => forced(problem, x),
                Decision::Free | Decision::FixedIntegers(_) => vec![false; problem.recourse.dim()],
            },
        }
    }

    /// Adds dependence on ξ for the variables with the largest prices among those without, up to about `most` new
    /// coefficients. Returns the number of new coefficients.
    pub(crate) fn grow(&self, problem: &Problem, dependence: &mut Dependence, most: usize) -> usize {
        let mut priced: Vec<(f64, usize)> = Vec::new();
        for (j, (mass, moments)) in self.reduced.iter().enumerate() {
            if self.forced[j] || !dependence.of_variable(j).is_empty() {
                continue;
            }
            let size = match self.is_round {
                true => norm(moments),
                false => moments.iter().fold(0.0_f64, |largest, moment| largest.max(moment.abs())),
            };
            let price = size - mass.max(0.0);
            if price > PRICE_TOL * (1.0 + problem.recourse.cost[j].abs()) {
                priced.push((price, j));
            }
        }
        priced.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let largest = priced.first().map_or(0.0, |priced| priced.0);
        let before = dependence.coefficients();
        for (price, j) in priced {
            if price < MIN_RELATIVE_PRICE * largest || dependence.coefficients() - before >= most {
                break;
            }
            dependence.add_variable(j);
        }
        dependence.coefficients() - before
    }
}

/// Finds the variables of rows that do not depend on ξ and hold only if every variable in them is at a bound: for
/// example, flows out of a facility that was not built.
fn forced(problem: &Problem, x: &[f64]) -> Vec<bool> {
    let recourse = &problem.recourse;
    let mut forced = vec![false; recourse.dim()];
    for i in (0..recourse.rows()).filter(|&i| recourse.u.row(i).len() == 0) {
        let fixed = recourse.e.dot(i, x);
        let end = |sign: f64| {
            let ends = recourse
                .g
                .row(i)
                .map(|(j, value)| value * if sign * value > 0.0 { recourse.lower[j] } else { recourse.upper[j] });
            fixed + ends.sum::<f64>()
        };
        let size = 1.0 + fixed.abs();
        if end(1.0) >= recourse.row_upper[i] - TIGHT_ROW_TOL * size
            || end(-1.0) <= recourse.row_lower[i] + TIGHT_ROW_TOL * size
        {
            recourse.g.row(i).for_each(|(j, _)| forced[j] = true);
        }
    }
    forced
}
