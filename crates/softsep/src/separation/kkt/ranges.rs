//! Ranges of the columns of a linear program, for big-M constants.
//!
//! The program describes the feasible points of the recourse, or its feasible duals, and the range of a column may be
//! infinite there. Only one optimum is needed, and one has smaller ranges. Among the optima take one with the smallest
//! `Σ |column − rest|`, where rest is the number within the column's limits that is nearest to zero. Move one column
//! that is not at rest towards it, and leave the others as they are. That must violate a constraint or change the
//! objective; and if it changes the objective, moving the column away from rest must violate a constraint, or the point
//! is not optimal. (The objective of the dual is piecewise linear, and its kinks take the place of constraints.) So
//! each column is at rest, or one of its *walls* is reached: another column, which depends on it, is at a given value.
//! Ranges over the walls are often finite and mostly shorter.

use softsep_lp::{Lp, Model};

use crate::error::Error;
use crate::run::Clock;
use crate::separation::slopes::{LpMinimum, minimum_of, range_program, widen_range};

/// The largest number of passes over all columns. A further pass helps only if the last one made a range finite.
const MAX_PASSES: usize = 4;

/// A column whose range is computed.
pub(super) struct RangedColumn {
    pub(super) column: usize,
    /// Whether the lower and the upper end are computed.
    pub(super) ends: [bool; 2],
    /// The pairs of a column and its value of which one is reached if this column is not at rest; `None` if the column
    /// follows from others and has no walls.
    pub(super) walls: Option<Vec<(usize, f64)>>,
}

/// Returns valid lower and upper bounds of all columns of a program, or `None` if it is infeasible.
pub(super) fn column_ranges(
    model: &Model,
    ranged: &[RangedColumn],
    clock: &Clock,
) -> Result<Option<Vec<(f64, f64)>>, Error> {
    let (lower, upper) = model.col_bounds();
    let bounds: Vec<(f64, f64)> = lower.into_iter().zip(upper).collect();
    let mut search = RangeSearch { lp: range_program(model, clock)?, costs: vec![0.0; bounds.len()], bounds, clock };
    if minimum_of(&mut search.lp, &search.costs, clock)? == LpMinimum::Infeasible {
        return Ok(None);
    }
    for _ in 0..MAX_PASSES {
        let mut is_new_finite = false;
        for ranged in ranged {
            let before = search.bounds[ranged.column];
            search.shorten(ranged)?;
            let after = search.bounds[ranged.column];
            is_new_finite |= before.0.is_infinite() && after.0.is_finite();
            is_new_finite |= before.1.is_infinite() && after.1.is_finite();
        }
        let is_infinite = |ranged: &RangedColumn| {
            let (lower, upper) = search.bounds[ranged.column];
            ranged.ends[0] && lower.is_infinite() || ranged.ends[1] && upper.is_infinite()
        };
        if !is_new_finite || !ranged.iter().any(is_infinite) {
            break;
        }
    }
    Ok(Some(search.bounds))
}

/// A program whose columns are minimised and maximised one after the other.
struct RangeSearch<'a> {
    lp: Lp,
    costs: Vec<f64>,
    bounds: Vec<(f64, f64)>,
    clock: &'a Clock,
}

impl RangeSearch<'_> {
    /// Shortens the range of a column, and sets it as the column's bounds.
    fn shorten(&mut self, ranged: &RangedColumn) -> Result<(), Error> {
        let column = ranged.column;
        let (lower, upper) = self.bounds[column];
        let range = match &ranged.walls {
            None => self.range(ranged)?,
            Some(walls) => {
                let rest = 0.0_f64.clamp(lower, upper);
                let mut hull = (rest, rest);
                for &(wall, at) in walls {
                    let (least, most) = self.bounds[wall];
                    self.lp.set_bounds_of_col(wall, at, at)?;
                    let range = self.range(ranged);
                    self.lp.set_bounds_of_col(wall, least, most)?;
                    if let Some((least, most)) = range? {
                        hull = (hull.0.min(least), hull.1.max(most));
                    }
                }
                Some(hull)
            }
        };
        if let Some((least, most)) = range {
            let range = (lower.max(least), upper.min(most));
            // Rounding may let the ends of a range cross.
            if range.0 <= range.1 {
                self.bounds[column] = range;
                self.lp.set_bounds_of_col(column, range.0, range.1)?;
            }
        }
        Ok(())
    }

    /// Returns the range of a column in the program as it stands, or `None` if that is infeasible.
    fn range(&mut self, ranged: &RangedColumn) -> Result<Option<(f64, f64)>, Error> {
        let (least, most) = self.bounds[ranged.column];
        let mut ends = [least, most];
        for (end, (sign, is_wanted)) in ends.iter_mut().zip([(1.0, ranged.ends[0]), (-1.0, ranged.ends[1])]) {
            if is_wanted {
                self.costs[ranged.column] = sign;
                let found = minimum_of(&mut self.lp, &self.costs, self.clock);
                self.costs[ranged.column] = 0.0;
                match found? {
                    LpMinimum::Value(value) => *end = sign * value,
                    LpMinimum::Infeasible => return Ok(None),
                    LpMinimum::Unknown => {}
                }
            }
        }
        Ok(Some(widen_range(ends[0], ends[1])))
    }
}
