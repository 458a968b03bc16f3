//! Affine policies.

use crate::model::Problem;

/// An affine policy `y(ξ) = y₀ + Yξ`: the second-stage decision as a function of ξ, fixed before ξ is known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AffinePolicy {
    /// y₀.
    pub constant: Vec<f64>,
    /// Y by rows: for each recourse variable, the entries of ξ that it depends on, with their coefficients.
    pub slopes: Vec<Vec<(usize, f64)>>,
}

impl AffinePolicy {
    /// Converts to other units: entries of y and of ξ are multiplied by theirs.
    pub(crate) fn convert(&mut self, y: &[f64], xi: &[f64]) {
        for ((constant, slopes), unit) in self.constant.iter_mut().zip(&mut self.slopes).zip(y) {
            *constant *= unit;
            slopes.iter_mut().for_each(|(entry, slope)| *slope *= unit / xi[*entry]);
        }
    }

    /// Writes `y = y(ξ)`.
    pub fn at(&self, xi: &[f64], y: &mut [f64]) {
        for ((y, constant), slopes) in y.iter_mut().zip(&self.constant).zip(&self.slopes) {
            *y = constant + slopes.iter().map(|&(entry, slope)| slope * xi[entry]).sum::<f64>();
        }
    }

    /// The slope of the linear part of the cost in ξ, `Yᵀb`.
    pub(super) fn linear_cost_slope(&self, problem: &Problem) -> Vec<f64> {
        self.moved_by(&problem.recourse.cost, problem.set.dim())
    }

    /// The slope of the cost in ξ at a point, `Yᵀ(b + Hy)`.
    pub(crate) fn cost_slope(&self, problem: &Problem, xi: &[f64]) -> Vec<f64> {
        let mut cost = problem.recourse.cost.clone();
        if !problem.recourse.quadratic.is_zero() {
            let mut y = vec![0.0; cost.len()];
            self.at(xi, &mut y);
            problem.recourse.quadratic.mul_add(1.0, &y, &mut cost);
        }
        self.moved_by(&cost, problem.set.dim())
    }

    fn moved_by(&self, costs: &[f64], dim: usize) -> Vec<f64> {
        let mut slope = vec![0.0; dim];
        for (cost, slopes) in costs.iter().zip(&self.slopes) {
            slopes.iter().for_each(|&(entry, value)| slope[entry] += cost * value);
        }
        slope
    }

    /// Writes the slope of a row's activity in ξ, `GᵢY + Uᵢ`.
    pub(super) fn row_slope(&self, problem: &Problem, row: usize, slope: &mut [f64]) {
        slope.fill(0.0);
        problem.recourse.u.row(row).for_each(|(entry, value)| slope[entry] += value);
        for (j, coefficient) in problem.recourse.g.row(row) {
            self.slopes[j].iter().for_each(|&(entry, value)| slope[entry] += coefficient * value);
        }
    }
}
