//! The dual of linear recourse with fixed costs as columns and rows, for exact separation over ξ.
//!
//! By strong duality `Q(x, ξ)` is the maximum over π in Π of `objective(π; x) + s(π)ᵀξ` with the slopes `s(π) = −Uᵀπ`.
//! Π does not depend on x or ξ. There is no recourse where a ray of its recession cone has a positive objective.

use softsep_lp::Model;

use crate::model::{RecourseModel, Sparse};

/// Set of dual multipliers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DualSet {
    /// Π: the feasible multipliers.
    Feasible,
    /// The recession cone of Π, intersected with `−1 ≤ π ≤ 1`.
    Rays,
}

/// Columns of the dual. They are the first columns of the model that they were written to.
///
/// A row with two sides has one multiplier for each, `π = π⁺ − π⁻`. A y with two bounds has two multipliers for its
/// reduced cost. A bound of zero adds nothing to the objective, so that its multiplier is the slack of a row and needs
/// no column.
#[derive(Debug, Clone)]
pub(crate) struct DualColumns {
    /// π of each row as signed columns.
    pi: Vec<Vec<(usize, f64)>>,
    /// Objective coefficient of each column at x = 0 and ξ = 0.
    base_objective: Vec<f64>,
    /// Rows of the dual.
    rows: Vec<DualRow>,
}

/// The dual constraint `least ≤ Σ terms ≤ most` of one y.
#[derive(Debug, Clone)]
pub(crate) struct DualRow {
    pub(crate) y: usize,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) terms: Vec<(usize, f64)>,
}

impl DualColumns {
    /// Writes columns and rows into `model`, which must be empty.
    pub(crate) fn write(recourse: &RecourseModel, duals: DualSet, model: &mut Model) -> Self {
        let most = if duals == DualSet::Feasible { f64::INFINITY } else { 1.0 };
        let mut base_objective = Vec::new();
        let mut add = |model: &mut Model, lower: f64, upper: f64, value: f64| {
            base_objective.push(value);
            model.add_col(0.0, lower, upper)
        };
        let mut pi = Vec::with_capacity(recourse.rows());
        for (&lower, &upper) in recourse.row_lower.iter().zip(&recourse.row_upper) {
            let mut sides = Vec::new();
            if lower == upper {
                sides.push((add(model, -most, most, lower), 1.0));
            } else {
                if lower.is_finite() {
                    sides.push((add(model, 0.0, most, lower), 1.0));
                }
                if upper.is_finite() {
                    sides.push((add(model, 0.0, most, -upper), -1.0));
                }
            }
            pi.push(sides);
        }
        let columns = recourse.g.transpose();
        let mut rows = Vec::with_capacity(recourse.dim());
        for j in 0..recourse.dim() {
            let cost = if duals == DualSet::Feasible { recourse.cost[j] } else { 0.0 };
            let (lower, upper) = (recourse.lower[j], recourse.upper[j]);
            let mut terms = Vec::new();
            for (i, g) in columns.row(j) {
                terms.extend(pi[i].iter().map(|&(col, sign)| (col, sign * g)));
            }
            // Gᵀπ + d⁺ − d⁻ = cost.
            let (mut least, mut most) = (cost, cost);
            if lower == 0.0 {
                least = f64::NEG_INFINITY;
            } else if lower == upper {
                terms.push((add(model, f64::NEG_INFINITY, f64::INFINITY, lower), 1.0));
            } else if lower.is_finite() {
                terms.push((add(model, 0.0, f64::INFINITY, lower), 1.0));
            }
            if upper == 0.0 {
                most = f64::INFINITY;
            } else if upper.is_finite() && lower != upper {
                terms.push((add(model, 0.0, f64::INFINITY, -upper), -1.0));
            }
            if least.is_finite() || most.is_finite() {
                model.add_row(least, most, &terms);
                rows.push(DualRow { y: j, least, most, terms });
            }
        }
        Self { pi, base_objective, rows }
    }

    /// Returns the rows.
    pub(crate) fn rows(&self) -> &[DualRow] {
        &self.rows
    }

    /// Returns for each column whether it can grow without end while the others stay, from any feasible point.
    pub(crate) fn lone_rays(&self, duals: DualSet) -> Vec<bool> {
        let mut grows = vec![duals == DualSet::Feasible; self.base_objective.len()];
        for row in &self.rows {
            for &(col, value) in &row.terms {
                let bound = if value > 0.0 { row.most } else { row.least };
                grows[col] &= value == 0.0 || bound.is_infinite();
            }
        }
        grows
    }

    /// Returns the slopes `s(π) = −Mᵀπ`, each as terms over the columns: in ξ for M = U, in x for M = E.
    pub(crate) fn slopes(&self, matrix: &Sparse) -> Vec<Vec<(usize, f64)>> {
        let mut slopes = vec![Vec::new(); matrix.cols()];
        for (i, sides) in self.pi.iter().enumerate() {
            for (entry, value) in matrix.row(i) {
                slopes[entry].extend(sides.iter().map(|&(col, sign)| (col, -sign * value)));
            }
        }
        slopes
    }

    /// Returns the objective coefficient of each column at ξ = 0, where x shifts the rows by `shift = Ex`.
    pub(crate) fn objective(&self, shift: &[f64]) -> Vec<f64> {
        let mut objective = self.base_objective.clone();
        for (sides, shift) in self.pi.iter().zip(shift) {
            for &(col, sign) in sides {
                objective[col] -= sign * shift;
            }
        }
        objective
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use softsep_lp::{Lp, Status};

    use super::*;
    use crate::model::Problem;
    use crate::recourse::{Answer, RecourseOutcome, engine};
    use crate::run::Clock;

    /// The maximum of the dual objective at (x, ξ).
    fn dual_value(problem: &Problem, duals: DualSet, x: &[f64], xi: &[f64]) -> (Status, f64) {
        let recourse = &problem.recourse;
        let mut model = Model::new();
        let columns = DualColumns::write(recourse, duals, &mut model);
        let mut shift = vec![0.0; recourse.rows()];
        recourse.e.mul_add(1.0, x, &mut shift);
        let mut costs = columns.objective(&shift);
        for (terms, xi) in columns.slopes(&recourse.u).iter().zip(xi) {
            terms.iter().for_each(|&(col, value)| costs[col] += value * xi);
        }
        costs.iter_mut().for_each(|cost| *cost = -*cost);
        let mut lp = Lp::new(&model).unwrap();
        lp.set_presolve(softsep_lp::Toggle::Off).unwrap();
        lp.set_costs(&costs).unwrap();
        (lp.solve().unwrap(), -lp.objective())
    }

    /// A random problem with rows of every kind and y of every kind. The generator of the format's tests is behind a
    /// feature.
    fn random(seed: u64) -> Problem {
        use crate::definition::{Row, Variable};
        use crate::model::ProblemDefinition;
        use crate::uncertainty::SetDefinition;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut file = ProblemDefinition::default();
        file.first_stage.variables.push(Variable::new("x", 1.0).bounded(0.0, 4.0));
        file.uncertainty.parameters = vec!["g0".into(), "g1".into()];
        file.uncertainty.set = SetDefinition::Box { lower: vec![-1.0; 2], upper: vec![1.0; 2] };
        let mut integer = |low: i32, high: i32| f64::from(rng.random_range(low..=high));
        let inf = f64::INFINITY;
        for j in 0..4 {
            let (lower, upper) = match integer(0, 5) as i32 {
                0 => (-inf, inf),
                1 => (0.0, inf),
                2 => (-2.0, 3.0),
                3 => (-inf, 1.0),
                4 => (1.0, 1.0),
                _ => (1.0, inf),
            };
            file.recourse.variables.push(Variable::new(format!("y{j}"), integer(-3, 5)).bounded(lower, upper));
        }
        for i in 0..3 {
            let mut row = Row::new(format!("r{i}"));
            row.y = (0..4).map(|j| (format!("y{j}"), integer(-2, 3))).filter(|term| term.1 != 0.0).collect();
            row.x = vec![("x".into(), integer(1, 2))];
            row.xi = (0..2).map(|j| (format!("g{j}"), integer(-2, 2))).filter(|term| term.1 != 0.0).collect();
            let side = integer(-3, 3);
            (row.lower, row.upper) = match integer(0, 3) as i32 {
                0 => (side, side),
                1 => (side, inf),
                2 => (-inf, side),
                _ => (side, side + 2.0),
            };
            file.recourse.constraints.push(row);
        }
        Problem::new(&file).unwrap()
    }

    #[test]
    fn the_dual_value_is_the_recourse_value_and_a_ray_gains_where_recourse_is_infeasible() {
        let mut met = [0; 3];
        for seed in 0..300 {
            let problem = random(seed);
            let mut rng = ChaCha8Rng::seed_from_u64(!seed);
            let x = [rng.random_range(0.0..4.0)];
            let xi = [rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)];
            let mut engine = engine(&problem, &Clock::unlimited()).unwrap();
            let mut answer = Answer::new(&problem);
            engine.at(&x);
            engine.solve(&xi, &mut answer).unwrap();
            let (status, value) = dual_value(&problem, DualSet::Feasible, &x, &xi);
            let (rays, gain) = dual_value(&problem, DualSet::Rays, &x, &xi);
            assert_eq!(rays, Status::Optimal, "seed {seed}");
            match answer.outcome {
                RecourseOutcome::Solved => {
                    met[0] += 1;
                    assert_eq!(status, Status::Optimal, "seed {seed}");
                    assert!(
                        (value - answer.value).abs() <= 1e-6 * (1.0 + value.abs()),
                        "seed {seed}: {value} {answer:?}"
                    );
                    assert!(gain <= 1e-7, "seed {seed}: a ray gains {gain}");
                }
                RecourseOutcome::Infeasible => {
                    met[1] += 1;
                    assert_ne!(status, Status::Optimal, "seed {seed}");
                    assert!(gain > 1e-7, "seed {seed}: no ray gains");
                }
                RecourseOutcome::Unbounded => {
                    met[2] += 1;
                    assert_eq!(status, Status::Infeasible, "seed {seed}");
                    assert!(gain <= 1e-7, "seed {seed}: a ray gains {gain}");
                }
            }
        }
        assert!(met.iter().all(|&count| count > 10), "{met:?}");
    }
}
