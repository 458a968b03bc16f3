//! Second-order cones in linear programs, approximated from outside by tangents.
//!
//! HiGHS combines integers with linear rows only. `‖v‖ ≤ t` is written as `Σ wₖ ≤ t` with `wₖ ≥ vₖ²/t`, and each of
//! these as tangents `wₖ ≥ 2a·vₖ − a²·t`, one for each ratio a of vₖ to t that was met. Tangents of single entries
//! combine, so that few of them do the work of many tangent planes of the norm (Vielma, Dunning, Huchette and Lubin
//! 2017). Every point of the cone satisfies them: the program is a relaxation.

use std::ops::Range;

use softsep_lp::Model;

use super::{ProgramBuilder, RecourseError};
use crate::definition::{ConeKind, VariableKind};

/// An entry of a cone: `Σ terms − offset`.
pub(crate) type ConeRow = (Vec<(usize, f64)>, f64);

/// The cone `‖v‖ ≤ t` in a linear program.
#[derive(Debug, Clone)]
pub(crate) struct TangentCone {
    /// t, then v.
    rows: Vec<ConeRow>,
    /// The columns of t and v.
    columns: Vec<usize>,
    /// The columns of w.
    squares: Vec<usize>,
}

impl TangentCone {
    /// Writes a cone over rows, of which the first is t, with tangents at these ratios for each entry. No point of the
    /// program may have t < 0.
    pub(crate) fn write(model: &mut Model, rows: Vec<ConeRow>, ratios: &[f64]) -> Self {
        let columns: Vec<usize> = rows.iter().map(|row| column_of(model, row)).collect();
        let squares: Vec<usize> = columns[1..].iter().map(|_| model.add_col(0.0, 0.0, f64::INFINITY)).collect();
        let mut sum: Vec<(usize, f64)> = squares.iter().map(|&square| (square, 1.0)).collect();
        sum.push((columns[0], -1.0));
        model.add_row(f64::NEG_INFINITY, 0.0, &sum);
        let cone = Self { rows, columns, squares };
        for &ratio in ratios {
            (0..cone.squares.len()).for_each(|entry| cone.add_tangent(model, entry, ratio));
        }
        cone
    }

    /// Returns `‖v‖ − t` at a point of the program, and ‖v‖.
    pub(crate) fn excess(&self, point: &[f64]) -> (f64, f64) {
        let values = self.values(point);
        let norm = values[1..].iter().map(|value| value * value).sum::<f64>().sqrt();
        (norm - values[0], norm)
    }

    /// Adds the tangents at the direction of v at a point. A point outside of the cone violates their sum.
    pub(crate) fn add_tangents(&self, model: &mut Model, point: &[f64]) {
        let (_, norm) = self.excess(point);
        if norm > 0.0 {
            for (entry, value) in self.values(point)[1..].iter().enumerate() {
                self.add_tangent(model, entry, value / norm);
            }
        }
    }

    fn values(&self, point: &[f64]) -> Vec<f64> {
        let value = |(terms, offset): &ConeRow| terms.iter().map(|&(col, by)| by * point[col]).sum::<f64>() - offset;
        self.rows.iter().map(value).collect()
    }

    fn add_tangent(&self, model: &mut Model, entry: usize, ratio: f64) {
        let (value, square) = (self.columns[entry + 1], self.squares[entry]);
        let terms = [(square, 1.0), (value, -2.0 * ratio), (self.columns[0], ratio * ratio)];
        model.add_row(0.0, f64::INFINITY, &terms);
    }
}

/// Returns a column with the value of a row: that of its only term, or a new one.
fn column_of(model: &mut Model, (terms, offset): &ConeRow) -> usize {
    if let ([(column, 1.0)], 0.0) = (&terms[..], *offset) {
        return *column;
    }
    let column = model.add_col(0.0, f64::NEG_INFINITY, f64::INFINITY);
    let mut terms = terms.clone();
    terms.push((column, -1.0));
    model.add_row(*offset, *offset, &terms);
    column
}

/// A program under construction whose second-order cones become [`TangentCone`]s. Their columns follow all others, so
/// that a point of the program begins with a point of the same program in any other builder.
#[derive(Debug, Default)]
pub(crate) struct TangentProgram {
    model: Model,
    cones: Vec<Vec<ConeRow>>,
}

impl TangentProgram {
    /// Returns the linear program with its cones, with tangents at these ratios.
    pub(crate) fn finish(self, ratios: &[f64]) -> (Model, Vec<TangentCone>) {
        let Self { mut model, cones } = self;
        let cones = cones.into_iter().map(|rows| TangentCone::write(&mut model, rows, ratios)).collect();
        (model, cones)
    }
}

impl ProgramBuilder for TangentProgram {
    fn col(&mut self, cost: f64, lower: f64, upper: f64, kind: VariableKind) -> usize {
        self.model.col(cost, lower, upper, kind)
    }

    fn row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize {
        self.model.row(lower, upper, terms)
    }

    fn quadratic(&mut self, i: usize, j: usize, value: f64) {
        self.model.quadratic(i, j, value);
    }

    /// The cone has no rows of its own in the program; the range is empty.
    fn cone(&mut self, kind: ConeKind, rows: &[ConeRow]) -> Result<Range<usize>, RecourseError> {
        if kind != ConeKind::SecondOrder {
            return Err(RecourseError::Unsupported(format!("tangents of a {kind:?} cone are not written")));
        }
        self.cones.push(rows.to_vec());
        Ok(0..0)
    }
}
