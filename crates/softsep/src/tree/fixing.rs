//! Reduced-cost fixing: where the objective would reach the cutoff before a column has gone far from its bound, it need
//! not go there.

use super::frame::Frame;
use super::node::Change;
use super::relaxation::Relaxation;

/// Reduced costs below this are rounding.
const PRICE: f64 = 1e-7;

/// A step that reaches the cutoff by no more than this is left, in case rounding did it.
const ALMOST: f64 = 1e-9;

/// An integer column at the optimum of a relaxation.
#[derive(Debug, Clone, Copy)]
struct Priced {
    col: usize,
    lower: f64,
    upper: f64,
    /// Its reduced cost: positive at the lower bound, negative at the upper one.
    price: f64,
}

/// The optimum of a relaxation, as far as fixing needs it.
#[derive(Debug, Clone)]
pub(super) struct Prices {
    objective: f64,
    /// The guard of the node: what was fixed in it already costs no less, and is all that is known of it above that.
    guard: f64,
    columns: Vec<Priced>,
}

impl Prices {
    /// Of the last optimum of a relaxation, whose reduced costs have been read, at a node with this guard.
    pub(super) fn of(program: &Relaxation, guard: f64, frame: &Frame) -> Self {
        let priced = |&col: &usize| Priced {
            col,
            lower: program.lower[col],
            upper: program.upper[col],
            price: program.reduced[col],
        };
        let stands_at_a_bound = |column: &Priced| match column.price {
            price if price > PRICE => column.lower.is_finite() && column.lower < column.upper,
            price if price < -PRICE => column.upper.is_finite() && column.lower < column.upper,
            _ => false,
        };
        let columns = frame.integers.iter().map(priced).filter(stands_at_a_bound).collect();
        Self { objective: program.objective, guard, columns }
    }

    /// Bounds beyond which nothing costs less than the cutoff.
    pub(super) fn fixings(&self, cutoff: f64) -> Vec<Change> {
        let room = cutoff - self.objective;
        if !(room.is_finite() && room > 0.0 && cutoff <= self.guard) {
            return Vec::new();
        }
        let fixing = |&Priced { col, lower, upper, price }: &Priced| {
            // The last whole step before the one that reaches the cutoff.
            let steps = (room / price.abs() + ALMOST).ceil() - 1.0;
            let change = match price > 0.0 {
                true => Change { col, lower, upper: lower + steps, under: cutoff },
                false => Change { col, lower: upper - steps, upper, under: cutoff },
            };
            (change.upper < upper || change.lower > lower).then_some(change)
        };
        self.columns.iter().filter_map(fixing).collect()
    }
}
