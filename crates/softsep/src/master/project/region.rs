//! X without integrality, as bounds and rows, with what counts as broken.

use crate::model::{FirstStage, Sparse};

/// How far a row may be missed, relative to its side.
const KEPT: f64 = 1e-10;
/// How far a bound may be missed on the way, relative to the numbers there; the answer is clamped.
const ROUNDING: f64 = 1e-13;

/// A constraint with the side that is broken or met: +1 the upper one, −1 the lower one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Bound(usize, f64),
    Row(usize, f64),
}

/// `lower ≤ v ≤ upper`, `row_lower ≤ Av ≤ row_upper`.
#[derive(Debug)]
pub(super) struct Region {
    lower: Vec<f64>,
    upper: Vec<f64>,
    rows: Sparse,
    row_lower: Vec<f64>,
    row_upper: Vec<f64>,
    /// What 1 in the units of the file is in the units of the row, at most 1: a side of zero is met to [`KEPT`] of
    /// this.
    unit: Vec<f64>,
    /// What rows that were added were multiplied by.
    scale_added: Vec<f64>,
}

impl Region {
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

    /// Adds `slopeᵀv ≤ upper`, scaled to a largest entry around 1; the number of the row.
    pub(super) fn add(&mut self, slope: &[f64], upper: f64) -> usize {
        let largest = slope.iter().fold(0.0_f64, |largest, slope| largest.max(slope.abs()));
        let scale = if largest > 0.0 { (-largest.log2().round()).exp2() } else { 1.0 };
        self.rows.push_row(slope.iter().enumerate().map(|(j, slope)| (j, scale * slope)));
        self.row_lower.push(f64::NEG_INFINITY);
        self.row_upper.push(scale * upper);
        self.unit.push(scale.min(1.0));
        self.scale_added.push(scale);
        self.rows() - 1
    }

    /// Gives a row that was added another upper side.
    pub(super) fn move_upper(&mut self, row: usize, upper: f64) {
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

    /// The upper side of a row for +1, the lower one for −1.
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

    /// By how much v misses this side of a row, and by how much it may.
    pub(super) fn row_miss(&self, row: usize, sign: f64, v: &[f64]) -> (f64, f64) {
        let (mut activity, mut size) = (0.0, 0.0);
        for (j, value) in self.rows.row(row) {
            activity += value * v[j];
            size += (value * v[j]).abs();
        }
        let side = self.side(row, sign);
        (sign * (activity - side), KEPT * side.abs().max(self.unit[row]) + 1e-15 * size)
    }

    /// By how much v misses its worst row, relative to the side.
    pub(super) fn largest_miss(&self, v: &[f64]) -> f64 {
        let mut largest = 0.0_f64;
        for row in 0..self.rows() {
            for sign in [1.0, -1.0] {
                if self.side(row, sign).is_finite() {
                    let (miss, allowed) = self.row_miss(row, sign, v);
                    largest = largest.max(KEPT * miss / allowed);
                }
            }
        }
        largest
    }

    /// By how much v misses a side of a constraint.
    pub(super) fn miss(&self, place: Place, v: &[f64]) -> f64 {
        match place {
            Place::Row(row, sign) => sign * (self.activity(row, v) - self.side(row, sign)),
            Place::Bound(j, sign) => sign * (v[j] - if sign > 0.0 { self.upper[j] } else { self.lower[j] }),
        }
    }

    /// The constraint that v breaks most, by the distance to it in the metric 1 / `ease`.
    pub(super) fn worst(&self, v: &[f64], ease: &[f64]) -> Option<Place> {
        let mut worst = None;
        let mut farthest = 0.0;
        self.each_broken(v, |place, miss| {
            let square = match place {
                Place::Bound(j, _) => ease[j],
                Place::Row(row, _) => self.rows.row(row).map(|(j, value)| value * value * ease[j]).sum(),
            };
            // A row without variables is infinitely far.
            let distance = if square > 0.0 { miss * miss / square } else { f64::INFINITY };
            if distance > farthest {
                farthest = distance;
                worst = Some(place);
            }
        });
        worst
    }

    /// Shows every constraint that v breaks, and by how much.
    pub(super) fn each_broken(&self, v: &[f64], mut show: impl FnMut(Place, f64)) {
        for (j, &value) in v.iter().enumerate() {
            for (sign, bound) in [(1.0, self.upper[j]), (-1.0, self.lower[j])] {
                let miss = sign * (value - bound);
                if miss > ROUNDING * bound.abs().max(value.abs()) {
                    show(Place::Bound(j, sign), miss);
                }
            }
        }
        for row in 0..self.rows() {
            for sign in [1.0, -1.0] {
                if self.side(row, sign).is_finite() {
                    let (miss, allowed) = self.row_miss(row, sign, v);
                    if miss > allowed {
                        show(Place::Row(row, sign), miss);
                    }
                }
            }
        }
    }
}
