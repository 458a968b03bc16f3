//! A lower bound on the optimum of a linear program from multipliers of its rows.

use crate::Model;

/// Largest reduced cost that counts as zero on a column without a bound, as a share of the terms that it is a sum of.
const RESIDUAL_SHARE: f64 = 1e-9;

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

impl Model {
    /// The lower bound `offset + Σ πᵢ·sideᵢ + Σ dⱼ·boundⱼ` on the linear cost over rows and bounds, integrality aside,
    /// with the reduced costs `d = cost − Aᵀπ`. A positive multiplier takes the lower side or bound, a negative one the
    /// upper. A multiplier of a row without that side counts as zero.
    ///
    /// Returns `None` if a reduced cost on a column without the bound that it needs is more than 1e-9 of its own terms
    /// and above the rounding of the multipliers, if the cost has a quadratic part, or if `dual` has the wrong length.
    pub fn dual_bound(&self, dual: &[f64]) -> Option<DualBound> {
        if dual.len() != self.rows() || !self.hessian.is_empty() {
            return None;
        }
        let (mut value, mut size) = (self.offset, self.offset.abs());
        let mut reduced = self.cost.clone();
        let mut terms_size: Vec<f64> = self.cost.iter().map(|cost| cost.abs()).collect();
        let mut noise = vec![0.0; self.cols()];
        let multiplier_rounding = MULTIPLIER_ROUNDING * dual.iter().fold(0.0_f64, |most, pi| most.max(pi.abs()));
        for (row, &multiplier) in dual.iter().enumerate() {
            self.terms(row).for_each(|(col, entry)| noise[col] += multiplier_rounding * entry.abs());
            let side = if multiplier > 0.0 { self.row_lower[row] } else { self.row_upper[row] };
            if multiplier == 0.0 || !side.is_finite() {
                continue;
            }
            value += multiplier * side;
            size += (multiplier * side).abs();
            for (col, entry) in self.terms(row) {
                reduced[col] -= entry * multiplier;
                terms_size[col] += (entry * multiplier).abs();
            }
        }
        for (col, (&reduced, &terms_size)) in reduced.iter().zip(&terms_size).enumerate() {
            if reduced.abs() <= ROUNDING_SHARE * terms_size {
                continue;
            }
            let bound = if reduced > 0.0 { self.col_lower[col] } else { self.col_upper[col] };
            if bound.is_finite() {
                value += reduced * bound;
                size += (reduced * bound).abs();
            } else if reduced.is_nan() || reduced.abs() > RESIDUAL_SHARE * terms_size + noise[col] {
                return None;
            }
        }
        value.is_finite().then_some(DualBound { value, rounding: ROUNDING_SHARE * size })
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
