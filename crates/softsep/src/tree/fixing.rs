//! Reduced-cost fixing: where the objective would reach the cutoff before a column has gone far from its bound, it need not go there.

use super::frame::Frame;
use super::node::Change;
use super::relaxation::Relaxation;

/// Reduced costs below this are rounding.
const PRICE: f64 = 1e-7;

/// The optimum of a relaxation, as far as fixing needs it.
#[derive(Debug, Clone)]
pub(super) struct Prices {
    objective: f64,
    /// The guard of the node: what was fixed in it already costs no less, and is all that is known of it above that.
    guard: f64,
    /// Each integer column with its bounds and reduced cost.
    columns: Vec<(usize, f64, f64, f64)>,
}

impl Prices {
    /// Of the last optimum of a relaxation, whose reduced costs have been read, at a node with this guard.
    pub(super) fn of(program: &Relaxation, guard: f64, frame: &Frame) -> Self {
        let column = |&j: &usize| (j, program.lower[j], program.upper[j], program.reduced[j]);
        let has_room = |&(_, lower, upper, price): &(usize, f64, f64, f64)| lower < upper && price.abs() > PRICE;
        Self { objective: program.objective, guard, columns: frame.integers.iter().map(column).filter(has_room).collect() }
    }

    /// Bounds beyond which nothing costs less than the cutoff.
    pub(super) fn fixings(&self, cutoff: f64) -> Vec<Change> {
        let room = cutoff - self.objective;
        if !(room.is_finite() && room > 0.0 && cutoff <= self.guard) {
            return Vec::new();
        }
        let fixing = |&(col, lower, upper, price): &(usize, f64, f64, f64)| {
            // The first whole step that reaches the cutoff; one that does so by rounding only is taken all the same.
            let steps = (room / price.abs() + 1e-9).ceil().max(1.0) - 1.0;
            let (lower, upper) = if price > 0.0 { (lower, upper.min(lower + steps)) } else { (lower.max(upper - steps), upper) };
            (lower, upper, Change { col, lower, upper, under: cutoff })
        };
        let columns = self
            .columns
            .iter()
            .filter(|(_, lower, upper, price)| if *price > 0.0 { lower.is_finite() } else { upper.is_finite() });
        columns
            .map(|column| (column, fixing(column)))
            .filter(|(column, (lower, upper, _))| *lower > column.1 || *upper < column.2)
            .map(|(_, (_, _, change))| change)
            .collect()
    }
}
