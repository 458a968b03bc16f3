//! Rows brought to a common size.
//!
//! Solvers accept a row when it is violated by less than an absolute tolerance. A row in small units (1e-7 of
//! something) would then be no restriction at all, and an infeasible decision would be accepted. So every row that is
//! in no cone is multiplied by a power of two, which changes no digit, such that its coefficients lie around 1. A row
//! that is printed is divided by its scale again.

use super::{FirstStage, RecourseModel, Sparse};

/// The power of two that brings the smallest and the largest of `entries` equally far from 1; 1 for a row without
/// entries.
fn scale_for(entries: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
    for entry in entries.map(f64::abs).filter(|entry| *entry > 0.0) {
        smallest = smallest.min(entry);
        largest = largest.max(entry);
    }
    (largest > 0.0).then(|| (-0.5 * (smallest.log2() + largest.log2())).round().exp2())
}

fn entries(matrix: &Sparse, row: usize) -> impl Iterator<Item = f64> {
    matrix.row(row).map(|(_, value)| value)
}

impl FirstStage {
    /// Scales the rows.
    pub(super) fn scale_rows(&mut self) {
        self.row_scale = (0..self.rows.rows()).map(|row| scale_for(entries(&self.rows, row)).unwrap_or(1.0)).collect();
        self.rows.scale_rows(&self.row_scale);
        scale(&mut self.row_lower, &self.row_scale);
        scale(&mut self.row_upper, &self.row_scale);
    }
}

impl RecourseModel {
    /// Scales the rows outside cones by their terms in y, or in x where there are none in y. A row in ξ alone is scaled
    /// by its terms at a typical ξ, since the entries of ξ have units of their own.
    pub(super) fn scale_rows(&mut self, typical_xi: &[f64]) {
        let in_xi = |u: &Sparse, row: usize| {
            let terms = u
                .row(row)
                .map(|(entry, value)| if typical_xi[entry] == 0.0 { value } else { value * typical_xi[entry] });
            scale_for(terms.collect::<Vec<f64>>().into_iter())
        };
        self.row_scale = (0..self.rows())
            .map(|row| {
                let in_x = || scale_for(entries(&self.e, row));
                scale_for(entries(&self.g, row)).or_else(in_x).or_else(|| in_xi(&self.u, row)).unwrap_or(1.0)
            })
            .collect();
        for cone in &self.cones {
            for &row in &cone.rows {
                self.row_scale[row] = 1.0;
            }
        }
        for matrix in [&mut self.g, &mut self.e, &mut self.u] {
            matrix.scale_rows(&self.row_scale);
        }
        scale(&mut self.row_lower, &self.row_scale);
        scale(&mut self.row_upper, &self.row_scale);
    }
}

fn scale(bounds: &mut [f64], scales: &[f64]) {
    bounds.iter_mut().zip(scales).for_each(|(bound, scale)| *bound *= scale);
}

#[cfg(test)]
mod tests {
    use super::scale_for;

    #[test]
    fn scales_are_powers_of_two_around_one() {
        assert_eq!(scale_for([3.0, -3.0].into_iter()), Some(0.25));
        assert_eq!(scale_for([1e-7].into_iter()).map(|scale| (scale.log2(), scale * 1e-7 > 0.7)), Some((23.0, true)));
        assert_eq!(scale_for([1.0, 0.0, 1e12].into_iter()), Some((-20.0_f64).exp2()));
        assert_eq!(scale_for([0.0].into_iter()), None);
    }
}
