//! What a policy would gain by following more of ξ: the prices that its duals put on it.
//!
//! The dual of a row that holds for every ξ is a measure on the region, and what counts of it is its mass μ and its
//! moment ν = ∫ξ. A recourse variable with column G·ⱼ and cost bⱼ has the reduced measure `(b·μ₀ − Σ Gᵢⱼμᵢ, b·ν₀ − Σ
//! Gᵢⱼνᵢ)`. If it follows nothing, only its mass had to be nonnegative. If it is a multiple of a point of the region,
//! the variable has nothing to gain by following ξ; how far it is from that is its price. It is measured against the
//! cube (or ball) around the region, so that a variable without a price may still gain where the region is smaller than
//! that.

use super::affine::{Affine, Decision};
use super::coordinates::{Coordinates, Feature};
use super::dependence::Dependence;
use super::robust::{Side, Written};
use crate::model::Problem;

/// A price below this share of the largest is not worth a coefficient yet.
const WORTH: f64 = 1e-3;

/// A price below this, relative to the cost of a unit, is rounding.
const NOTHING: f64 = 1e-7;

/// How close to the end of its range a row may be to be there, relative to its size.
const HELD: f64 = 1e-9;

/// The reduced measures of the recourse variables, in features of ξ of size one.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    /// For each variable its mass, and its moment in each feature.
    reduced: Vec<(f64, Vec<f64>)>,
    /// Whether the region is round in these features, else it is within the cube.
    is_round: bool,
    /// Variables that rows hold where they are, whatever ξ is: prices say nothing of them.
    held: Vec<bool>,
}

impl Moments {
    /// From the duals of the rows that were written for the cost, the rows and the variables.
    pub(super) fn new(program: &Affine, written: &[Written], duals: &[f64]) -> Self {
        let (problem, dim) = (program.problem, program.coordinates.dim());
        let base = program.base();
        let measure = |side: &Option<Side>| -> Option<(f64, Vec<f64>)> {
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
        // A row that does not move yet has its mass where the cost has its own, for want of better.
        let (mass, moment) = measures[0].clone();
        for (written, measure) in written.iter().zip(&mut measures) {
            if let Some(row) = written.fixed {
                let place = moment.iter().map(|moment| duals[row] * moment / mass.max(f64::MIN_POSITIVE));
                *measure = (duals[row], place.collect());
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
            is_round: matches!(program.coordinates, Coordinates::Axes(_)),
            held: match program.decision {
                Decision::Fixed(x) => held(problem, x),
                Decision::Free | Decision::Around(_) => vec![false; problem.recourse.dim()],
            },
        }
    }

    /// Lets the variables with the largest prices that follow nothing yet follow ξ, until so many coefficients came;
    /// how many did.
    pub(crate) fn grow(&self, problem: &Problem, dependence: &mut Dependence, most: usize) -> usize {
        let mut worth: Vec<(f64, usize)> = Vec::new();
        for (j, (mass, moments)) in self.reduced.iter().enumerate() {
            if self.held[j] || !dependence.of_variable(j).is_empty() {
                continue;
            }
            let size = match self.is_round {
                true => moments.iter().map(|moment| moment * moment).sum::<f64>().sqrt(),
                false => moments.iter().fold(0.0_f64, |largest, moment| largest.max(moment.abs())),
            };
            let price = size - mass.max(0.0);
            if price > NOTHING * (1.0 + problem.recourse.cost[j].abs()) {
                worth.push((price, j));
            }
        }
        worth.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let largest = worth.first().map_or(0.0, |worth| worth.0);
        let before = dependence.coefficients();
        for (price, j) in worth {
            if price < WORTH * largest || dependence.coefficients() - before >= most {
                break;
            }
            dependence.include(j);
        }
        dependence.coefficients() - before
    }
}

/// The variables of rows that ξ does not move and that hold only if every variable in them stands at the end of its
/// range: goods cannot leave a site that was not built.
fn held(problem: &Problem, x: &[f64]) -> Vec<bool> {
    let recourse = &problem.recourse;
    let mut held = vec![false; recourse.dim()];
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
        if end(1.0) >= recourse.row_upper[i] - HELD * size || end(-1.0) <= recourse.row_lower[i] + HELD * size {
            recourse.g.row(i).for_each(|(j, _)| held[j] = true);
        }
    }
    held
}
