//! A lower bound on the optimum of a linear program from multipliers of its rows.

use crate::Model;

/// Largest reduced cost that counts as rounding on a column without a bound, as a share of the terms that it is a sum
/// of.
const RESIDUAL_SHARE: f64 = 1e-13;

/// Reduced costs below this share of their own terms are rounding errors, and sums are known up to this share of their
/// terms.
const ROUNDING_SHARE: f64 = 1e-14;

/// Rounding error of a multiplier that a simplex method computes, as a share of the largest one.
const MULTIPLIER_ROUNDING: f64 = 1e-13;

/// A lower bound by duality.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DualBound {
    /// The bound.
    pub value: f64,
    /// Rounding error of the bound, at most.
    pub rounding: f64,
}

/// A lower bound by duality that is summed up row by row: `offset + Σ πᵢ·sideᵢ + Σ dⱼ·boundⱼ` with the reduced costs
/// `d = cost − Aᵀπ`. A positive multiplier takes the lower side or bound, a negative one the upper. A multiplier of a
/// row without that side counts as zero.
#[derive(Debug, Clone, Default)]
pub struct DualSum {
    value: f64,
    size: f64,
    multiplier_rounding: f64,
    reduced: Vec<f64>,
    /// Sum of the absolute terms of each reduced cost, and the effect of the rounding of multipliers on it.
    terms_size: Vec<f64>,
    noise: Vec<f64>,
}

impl DualSum {
    /// Begins with the cost of a model and its rows. `dual` may go on with multipliers of rows that are added later.
    pub fn begin(&mut self, model: &Model, dual: &[f64]) {
        self.reduced.clone_from(&model.cost);
        (self.value, self.size) = (model.offset, model.offset.abs());
        self.multiplier_rounding = MULTIPLIER_ROUNDING * dual.iter().fold(0.0_f64, |most, pi| most.max(pi.abs()));
        self.terms_size.clear();
        self.terms_size.extend(self.reduced.iter().map(|cost| cost.abs()));
        self.noise.clear();
        self.noise.resize(self.reduced.len(), 0.0);
        for (row, &multiplier) in dual.iter().enumerate().take(model.rows()) {
            self.add_row(multiplier, (model.row_lower[row], model.row_upper[row]), model.terms(row));
        }
    }

    /// Adds a row with its multiplier.
    pub fn add_row(&mut self, multiplier: f64, sides: (f64, f64), terms: impl Iterator<Item = (usize, f64)>) {
        let side = if multiplier > 0.0 { sides.0 } else { sides.1 };
        let counts = multiplier != 0.0 && side.is_finite();
        if counts {
            self.value += multiplier * side;
            self.size += (multiplier * side).abs();
        }
        for (col, entry) in terms {
            self.noise[col] += self.multiplier_rounding * entry.abs();
            if counts {
                self.reduced[col] -= entry * multiplier;
                self.terms_size[col] += (entry * multiplier).abs();
            }
        }
    }

    /// Returns the bound over these bounds of the columns, or `None` if a reduced cost on a column without the bound
    /// that it needs is not due to rounding.
    pub fn bound(&self, lower: &[f64], upper: &[f64]) -> Option<DualBound> {
        let (bound, is_proved) = self.bound_over_finite(lower, upper);
        is_proved.then_some(bound)
    }

    /// Returns the bound with the reduced costs of columns without the bound that they need as zero, and whether they
    /// are zero up to rounding.
    pub fn bound_over_finite(&self, lower: &[f64], upper: &[f64]) -> (DualBound, bool) {
        let (mut value, mut size, mut is_proved) = (self.value, self.size, true);
        for (col, (&reduced, &terms_size)) in self.reduced.iter().zip(&self.terms_size).enumerate() {
            if reduced.abs() <= ROUNDING_SHARE * terms_size {
                continue;
            }
            let bound = if reduced > 0.0 { lower[col] } else { upper[col] };
            if bound.is_finite() {
                value += reduced * bound;
                size += (reduced * bound).abs();
            } else {
                is_proved &= reduced.abs() <= RESIDUAL_SHARE * terms_size + self.noise[col];
            }
        }
        (DualBound { value, rounding: ROUNDING_SHARE * size }, is_proved && value.is_finite())
    }

    /// The reduced costs.
    pub fn reduced_costs(&self) -> &[f64] {
        &self.reduced
    }
}

impl Model {
    /// The lower bound that multipliers of the rows prove on the linear cost over rows and bounds, integrality aside:
    /// see [`DualSum`].
    ///
    /// Returns `None` if the multipliers prove none, if the cost has a quadratic part, or if `dual` has the wrong
    /// length.
    pub fn dual_bound(&self, dual: &[f64]) -> Option<DualBound> {
        if dual.len() != self.rows() || !self.hessian.is_empty() {
            return None;
        }
        let mut sum = DualSum::default();
        sum.begin(self, dual);
        sum.bound(&self.col_lower, &self.col_upper)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Lp, Status};

    /// min x + 2y over x + y ≥ 3, x ≤ 2, x and y ≥ 0: 4.
    fn small() -> Model {
        let mut model = Model::new();
        let (x, y) = (model.add_col(1.0, 0.0, 2.0), model.add_col(2.0, 0.0, f64::INFINITY));
        model.add_row(3.0, f64::INFINITY, &[(x, 1.0), (y, 1.0)]);
        model.set_offset(10.0);
        model
    }

    #[test]
    fn every_dual_feasible_point_bounds_the_optimum_and_the_optimal_one_meets_it() {
        let model = small();
        assert_eq!(model.dual_bound(&[2.0]).unwrap().value, 14.0);
        assert_eq!(model.dual_bound(&[1.0]).unwrap().value, 13.0);
        assert_eq!(model.dual_bound(&[-1.0]).unwrap().value, 10.0, "a row without an upper side");
        assert_eq!(model.dual_bound(&[2.1]), None, "y has no upper bound");
        assert_eq!(model.dual_bound(&[]), None);
    }

    #[test]
    fn the_duals_of_a_solve_prove_its_optimum() {
        let model = small();
        let mut lp = Lp::new(&model).unwrap();
        assert_eq!(lp.solve().unwrap(), Status::Optimal);
        let mut dual = [0.0];
        lp.dual(&mut dual).unwrap();
        let bound = model.dual_bound(&dual).unwrap();
        assert!((bound.value - lp.objective()).abs() <= bound.rounding);
    }
}
