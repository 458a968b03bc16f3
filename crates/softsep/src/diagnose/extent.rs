//! The extent of X and Ξ along each axis.

use softsep_lp::Model;

use crate::error::Error;
use crate::model::Problem;
use crate::run::Clock;
use crate::separation::{LpMinimum, minimum_of, range_program, widen_range};

/// The extent of X without integrality, and of Ξ.
pub(super) struct Extent {
    /// The width of X along each entry of x; infinite if X is unbounded along it.
    pub(super) x: Vec<f64>,
    /// The range of each entry of x over X.
    pub(super) x_ends: Vec<(f64, f64)>,
    /// Points of X at the ends of those ranges.
    pub(super) corners: Vec<Vec<f64>>,
    /// The width of Ξ along each entry of ξ.
    pub(super) xi: Vec<f64>,
}

impl Extent {
    pub(super) fn of(problem: &Problem, clock: &Clock) -> Result<Self, Error> {
        let (x_ends, corners) = of_first_stage(problem, clock)?;
        let x = x_ends.iter().map(|(least, most)| (most - least).max(0.0)).collect();
        let xi = problem.set.widths()?;
        Ok(Self { x, x_ends, corners, xi })
    }
}

/// The ends of a range.
type Ends = (f64, f64);

/// Solves two linear programs for each entry of x. Returns the ranges and the optimal points.
fn of_first_stage(problem: &Problem, clock: &Clock) -> Result<(Vec<Ends>, Vec<Vec<f64>>), Error> {
    let first = &problem.first;
    let mut model = Model::new();
    first.lower.iter().zip(&first.upper).for_each(|(&lower, &upper)| {
        model.add_col(0.0, lower, upper);
    });
    for row in 0..first.rows.rows() {
        let terms: Vec<(usize, f64)> = first.rows.row(row).collect();
        model.add_row(first.row_lower[row], first.row_upper[row], &terms);
    }
    let (mut ranges, mut corners) = (Vec::new(), Vec::new());
    if first.dim() == 0 {
        return Ok((ranges, corners));
    }
    let mut lp = range_program(&model, clock)?;
    let mut costs = vec![0.0; first.dim()];
    for entry in 0..first.dim() {
        let mut ends = [f64::NEG_INFINITY, f64::INFINITY];
        for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
            costs[entry] = sign;
            if let LpMinimum::Value(value) = minimum_of(&mut lp, &costs, clock)? {
                *end = sign * value;
                let mut corner = vec![0.0; first.dim()];
                lp.primal(&mut corner)?;
                corners.push(corner);
            }
        }
        costs[entry] = 0.0;
        let (least, most) = widen_range(ends[0], ends[1]);
        // The tolerance must not extend an entry beyond its own bounds.
        ranges.push((least.max(first.lower[entry]), most.min(first.upper[entry])));
    }
    Ok((ranges, corners))
}
