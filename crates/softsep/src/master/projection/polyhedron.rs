//! X without integrality as bounds and rows, with the tolerances of violations.

use crate::model::{FirstStage, Sparse};

/// Largest violation of a row, relative to its side.
const ROW_TOL: f64 = 1e-10;

/// Largest violation of a bound by an iterate, relative to its numbers. The result is clamped.
const BOUND_ROUNDING_TOL: f64 = 1e-13;

/// Rounding error of a row activity, relative to the sum of its absolute terms.
const ACTIVITY_ROUNDING_TOL: f64 = 1e-15;

/// One side of a bound or row: +1 for the upper side, −1 for the lower side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ConstraintSide {
    Bound(usize, f64),
    Row(usize, f64),
}

/// The polyhedron `lower ≤ v ≤ upper`, `row_lower ≤ Av ≤ row_upper`.
#[derive(Debug)]
pub(super) struct FirstStagePolyhedron {
    lower: Vec<f64>,
    upper: Vec<f64>,
    rows: Sparse,
    row_lower: Vec<f64>,
    row_upper: Vec<f64>,
    /// One unit of the problem file in the units of the row, at most 1. The tolerance of a side at zero is [`ROW_TOL`]
    /// times this.
    unit: Vec<f64>,
    /// Scaling factors of the added rows.
    scale_added: Vec<f64>,
}

impl FirstStagePolyhedron {
    pub(super) fn new(first: &FirstStage) -> Self {
        Self {
            lower: first.lower.clone(),
            upper: first.upper.clone(),
            rows: first.rows.clone(),
            row_lower: first.row_lower.clone(),
            row_upper: first.row_upper.clone(),
            unit: first.row_scale.iter().map(|scale| scale.min(1.0)).collect(),
            scale_added: Vec::new(),
        }
    }

    /// Adds `slopeᵀv ≤ upper`, scaled to a largest entry around 1. Returns the index of the row.
    pub(super) fn add_row(&mut self, slope: &[f64], upper: f64) -> usize {
        let largest = slope.iter().fold(0.0_f64, |largest, slope| largest.max(slope.abs()));
        let scale = if largest > 0.0 { (-largest.log2().round()).exp2() } else { 1.0 };
        self.rows.push_row(slope.iter().enumerate().map(|(j, slope)| (j, scale * slope)));
        self.row_lower.push(f64::NEG_INFINITY);
        self.row_upper.push(scale * upper);
        self.unit.push(scale.min(1.0));
        self.scale_added.push(scale);
        self.rows() - 1
    }

    /// Sets the upper side of an added row.
    pub(super) fn set_row_upper(&mut self, row: usize, upper: f64) {
        let scale = self.scale_added[row + self.scale_added.len() - self.rows()];
        self.row_upper[row] = scale * upper;
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.rows()
    }

    pub(super) fn bounds(&self, j: usize) -> (f64, f64) {
        (self.lower[j], self.upper[j])
    }

    pub(super) fn sides(&self, row: usize) -> (f64, f64) {
        (self.row_lower[row], self.row_upper[row])
    }

    /// Returns the upper side of a row for +1, the lower side for −1.
    pub(super) fn side(&self, row: usize, sign: f64) -> f64 {
        if sign > 0.0 { self.row_upper[row] } else { self.row_lower[row] }
    }

    pub(super) fn terms(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        self.rows.row(row)
    }

    pub(super) fn activity(&self, row: usize, v: &[f64]) -> f64 {
        self.rows.dot(row, v)
    }

    pub(super) fn clamp(&self, j: usize, value: f64) -> f64 {
        value.max(self.lower[j]).min(self.upper[j])
    }

    /// Returns the violation of a side of a row by v (negative if satisfied), and its tolerance.
    pub(super) fn row_violation(&self, row: usize, sign: f64, v: &[f64]) -> (f64, f64) {
        let (mut activity, mut size) = (0.0, 0.0);
        for (j, value) in self.rows.row(row) {
            activity += value * v[j];
            size += (value * v[j]).abs();
        }
        let side = self.side(row, sign);
        (sign * (activity - side), ROW_TOL * side.abs().max(self.unit[row]) + ACTIVITY_ROUNDING_TOL * size)
    }

    /// Returns the largest row violation by v, relative to the side.
    pub(super) fn max_row_violation(&self, v: &[f64]) -> f64 {
        let mut largest = 0.0_f64;
        for row in 0..self.rows() {
            for sign in [1.0, -1.0] {
                if self.side(row, sign).is_finite() {
                    let (violation, allowed) = self.row_violation(row, sign, v);
                    largest = largest.max(ROW_TOL * violation / allowed);
                }
            }
        }
        largest
    }

    /// Returns the violation of a side of a constraint by v.
    pub(super) fn violation(&self, side: ConstraintSide, v: &[f64]) -> f64 {
        match side {
            ConstraintSide::Row(row, sign) => sign * (self.activity(row, v) - self.side(row, sign)),
            ConstraintSide::Bound(j, sign) => sign * (v[j] - if sign > 0.0 { self.upper[j] } else { self.lower[j] }),
        }
    }

    /// Returns the constraint that v violates most, by the distance to it in the metric.
    pub(super) fn most_violated(&self, v: &[f64], inverse_metric: &[f64]) -> Option<ConstraintSide> {
        let mut most_violated = None;
        let mut farthest = 0.0;
        self.for_each_violated(v, |side, violation| {
            let square = match side {
                ConstraintSide::Bound(j, _) => inverse_metric[j],
                ConstraintSide::Row(row, _) => {
                    self.rows.row(row).map(|(j, value)| value * value * inverse_metric[j]).sum()
                }
            };
            // A violated row without variables is infinitely far away.
            let distance = if square > 0.0 { violation * violation / square } else { f64::INFINITY };
            if distance > farthest {
                farthest = distance;
                most_violated = Some(side);
            }
        });
        most_violated
    }

    /// Calls `visit` with every violated constraint and its violation.
    pub(super) fn for_each_violated(&self, v: &[f64], mut visit: impl FnMut(ConstraintSide, f64)) {
        for (j, &value) in v.iter().enumerate() {
            for (sign, bound) in [(1.0, self.upper[j]), (-1.0, self.lower[j])] {
                let violation = sign * (value - bound);
                if violation > BOUND_ROUNDING_TOL * bound.abs().max(value.abs()) {
                    visit(ConstraintSide::Bound(j, sign), violation);
                }
            }
        }
        for row in 0..self.rows() {
            for sign in [1.0, -1.0] {
                if self.side(row, sign).is_finite() {
                    let (violation, allowed) = self.row_violation(row, sign, v);
                    if violation > allowed {
                        visit(ConstraintSide::Row(row, sign), violation);
                    }
                }
            }
        }
    }
}
