//! The range of the magnitudes of a problem's coefficients: a wide one is hard for solvers with a fixed tolerance.

use softsep::Problem;
use softsep::model::Sparse;

/// Ratios of coefficients beyond which solvers with tolerances around 1e-9 lose the small ones.
const WIDE: f64 = 1e9;

/// The absolute values of some coefficients, zeros and infinities left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// The smallest.
    pub(crate) smallest: f64,
    /// The largest.
    pub(crate) largest: f64,
}

impl Range {
    fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        values.into_iter().map(f64::abs).filter(|value| *value > 0.0 && value.is_finite()).fold(None, |range, value| {
            let range = range.unwrap_or(Range { smallest: value, largest: value });
            Some(Range { smallest: range.smallest.min(value), largest: range.largest.max(value) })
        })
    }

    /// Whether the ratio of the largest to the smallest value is above [`WIDE`].
    pub(crate) fn is_wide(&self) -> bool {
        self.largest / self.smallest > WIDE
    }
}

/// The ranges of a problem's coefficients, by their role; `None` where all are zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CoefficientRanges {
    /// Linear, quadratic and moving costs of both stages.
    pub(crate) costs: Option<Range>,
    /// Terms of the rows of both stages.
    pub(crate) matrix: Option<Range>,
    /// Bounds and offsets of the rows of both stages.
    pub(crate) right_hand_sides: Option<Range>,
}

impl CoefficientRanges {
    /// The ranges over all coefficients of a problem.
    pub(crate) fn of(problem: &Problem) -> Self {
        let (first, recourse) = (&problem.first, &problem.recourse);
        let linear = first.cost.iter().chain(&recourse.cost).copied();
        let quadratic = first.quadratic.iter().chain(recourse.quadratic.iter()).map(|(_, _, value)| value);
        let rows = [&first.rows, &recourse.g, &recourse.e, &recourse.u];
        let bounds = [&first.row_lower, &first.row_upper, &recourse.row_lower, &recourse.row_upper, &recourse.offset];
        Self {
            costs: Range::of(linear.chain(quadratic).chain(entries(&recourse.cost_xi))),
            matrix: Range::of(rows.into_iter().flat_map(entries)),
            right_hand_sides: Range::of(bounds.into_iter().flatten().copied()),
        }
    }

    /// The ranges with their names.
    pub(crate) fn parts(&self) -> [(&'static str, Option<Range>); 3] {
        [("costs", self.costs), ("matrix", self.matrix), ("right-hand sides", self.right_hand_sides)]
    }
}

fn entries(matrix: &Sparse) -> impl Iterator<Item = f64> + '_ {
    (0..matrix.rows()).flat_map(|row| matrix.row(row).map(|(_, value)| value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_infinities_have_no_scale() {
        assert_eq!(Range::of([0.0, f64::NEG_INFINITY]), None);
        let range = Range::of([0.0, -4.0, 0.5, f64::INFINITY]);
        assert_eq!(range, Some(Range { smallest: 0.5, largest: 4.0 }));
        assert!(range.is_some_and(|range| !range.is_wide()));
        assert!(Range::of([1e-5, 1e5]).is_some_and(|range| range.is_wide()));
    }
}
