//! A set, or a part of it, written out in rows, for robust counterparts and searches over ξ.

use softsep_lp::{Lp, Model, Status, Toggle};

use super::SetError;
use super::apart::are_apart;

/// A part of a set: `lower ≤ ξ ≤ upper`, whose bounds may be infinite.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Lower bounds of ξ.
    pub lower: Vec<f64>,
    /// Upper bounds of ξ.
    pub upper: Vec<f64>,
}

impl Part {
    /// The part that contains every set in `dim` entries.
    pub fn whole(dim: usize) -> Self {
        Self { lower: vec![f64::NEG_INFINITY; dim], upper: vec![f64::INFINITY; dim] }
    }
}

/// The members of a part: those of the polytope, where there is one, that are also in the ball, where there is one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shape {
    /// The linear constraints.
    pub polytope: Option<Polytope>,
    /// The quadratic constraint.
    pub ball: Option<Ball>,
}

/// `ξ = base + Σₖ ζₖ·step of column k` with `ζ ≥ 0` and rows over ζ. An absolute value takes two columns. Steps are
/// such that ζ is at most 1: solvers see numbers of one size for all units of ξ.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Polytope {
    /// ξ where ζ is zero.
    pub base: Vec<f64>,
    /// The entry of ξ that each ζ moves, and by how much.
    pub columns: Vec<(usize, f64)>,
    /// The constraints on ζ besides `ζ ≥ 0`.
    pub rows: Vec<ShapeRow>,
}

/// `Σ terms ≤ limit`, or `=`.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeRow {
    /// Columns and coefficients.
    pub terms: Vec<(usize, f64)>,
    /// The right-hand side.
    pub limit: f64,
    /// Whether it must be met exactly.
    pub equal: bool,
}

/// `ξ = center + A u`, `‖u‖₂ ≤ 1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Ball {
    /// The center.
    pub center: Vec<f64>,
    /// A by columns.
    pub columns: Vec<Vec<f64>>,
}

impl Ball {
    /// The largest deviation of an entry of ξ from the center.
    pub(crate) fn half_width(&self, entry: usize) -> f64 {
        self.columns.iter().map(|column| column[entry].powi(2)).sum::<f64>().sqrt()
    }
}

/// A range whose ends cross by less than this, relative to their size, is a point: rounding let them cross.
const ROUNDING: f64 = 1e-12;

impl Polytope {
    /// No columns yet; `base` is the only member.
    pub(super) fn at(base: Vec<f64>) -> Self {
        Self { base, ..Self::default() }
    }

    /// Adds `0 ≤ ζ ≤ 1`, which moves an entry of ξ by `reach` in all.
    fn add_column(&mut self, entry: usize, reach: f64) -> usize {
        let column = self.columns.len();
        self.columns.push((entry, reach));
        self.rows.push(ShapeRow { terms: vec![(column, 1.0)], limit: 1.0, equal: false });
        column
    }

    /// Makes it empty by the row 0 ≤ −1.
    fn empty(&mut self) {
        self.rows.push(ShapeRow { terms: Vec::new(), limit: -1.0, equal: false });
    }

    /// Adds `Σ terms ≤ limit`, or `=`, brought to a largest coefficient of 1. A row without terms holds everywhere or
    /// makes the polytope empty.
    pub(super) fn add_row(&mut self, terms: Vec<(usize, f64)>, limit: f64, equal: bool, tolerance: f64) {
        let largest = terms.iter().fold(0.0_f64, |largest, term| largest.max(term.1.abs()));
        if largest > tolerance {
            let terms = terms.into_iter().map(|(column, value)| (column, value / largest)).collect();
            self.rows.push(ShapeRow { terms, limit: limit / largest, equal });
        } else if limit < -tolerance || equal && limit > tolerance {
            self.empty();
        }
    }

    /// `lower ≤ ξ ≤ upper`; all bounds finite.
    pub(crate) fn between(lower: &[f64], upper: &[f64]) -> Self {
        let mut polytope = Self::at(lower.to_vec());
        for (index, (lower, upper)) in lower.iter().zip(upper).enumerate() {
            let rounding = ROUNDING * (lower.abs() + upper.abs());
            if upper - lower > rounding {
                polytope.add_column(index, upper - lower);
            } else if lower - upper > rounding {
                polytope.empty();
            }
        }
        polytope
    }

    /// `ξ = center + scale∘z` with `|z| ≤ 1` (or `0 ≤ z ≤ 1` if `one_sided`) and `Σ|z| ≤ budget`, within a part.
    pub(super) fn deviations(center: &[f64], scale: &[f64], budget: f64, one_sided: bool, part: &Part) -> Self {
        let mut polytope = Self::at(center.to_vec());
        let mut spent = Vec::new();
        let mut limit = budget;
        for (index, &scale) in scale.iter().enumerate() {
            if scale == 0.0 {
                continue;
            }
            // A part's ends are sums that were rounded at the size of ξ, which may be far above the scale's.
            let rounding = ROUNDING * (1.0 + center[index].abs() / scale.abs());
            let ends =
                [part.lower[index], part.upper[index]].map(|end| snapped((end - center[index]) / scale, rounding));
            let least = ends[0].min(ends[1]).max(if one_sided { 0.0 } else { -1.0 });
            let most = ends[0].max(ends[1]).min(1.0);
            if least - most > rounding {
                polytope.empty();
            } else if least >= 0.0 || most <= 0.0 {
                // On one side of the center |z| is linear: it starts at the end nearer to the center and grows from
                // there.
                let (start, sign) = if least >= 0.0 { (least, 1.0) } else { (most, -1.0) };
                polytope.base[index] += scale * start;
                limit -= start.abs();
                if most - least > rounding {
                    spent.push((polytope.add_column(index, sign * scale * (most - least)), most - least));
                }
            } else {
                spent.push((polytope.add_column(index, scale * most), most));
                spent.push((polytope.add_column(index, scale * least), -least));
            }
        }
        // A budget that is large enough for all limits nothing.
        if limit < spent.iter().map(|term| term.1).sum() {
            polytope.add_row(spent, limit, false, ROUNDING);
        }
        polytope
    }
}

/// A number that is almost −1, 0 or 1 is that.
fn snapped(z: f64, rounding: f64) -> f64 {
    let integer = z.round();
    if integer.abs() <= 1.0 && (z - integer).abs() <= rounding { integer } else { z }
}

impl Shape {
    /// A point of the polytope that is furthest along `direction`; `None` if it is empty or there is no polytope. The
    /// ball is not looked at.
    pub fn furthest(&self, direction: &[f64]) -> Result<Option<Vec<f64>>, SetError> {
        let Some(polytope) = &self.polytope else { return Ok(None) };
        let mut xi = polytope.base.clone();
        if polytope.columns.is_empty() {
            return Ok(Some(xi));
        }
        let mut model = Model::new();
        // Tolerances on reduced costs are absolute, so the direction is brought to size one.
        let earns = |&(entry, step): &(usize, f64)| direction[entry] * step;
        let largest = polytope.columns.iter().map(earns).fold(0.0_f64, |largest, earned| largest.max(earned.abs()));
        for column in &polytope.columns {
            model.add_col(if largest > 0.0 { -earns(column) / largest } else { 0.0 }, 0.0, 1.0);
        }
        for row in &polytope.rows {
            model.add_row(if row.equal { row.limit } else { f64::NEG_INFINITY }, row.limit, &row.terms);
        }
        let mut lp = Lp::new(&model)?;
        if lp.solve()? != Status::Optimal {
            // Presolve is sometimes wrong, mostly about flat sets: solve again without it.
            lp.clear_solver()?;
            lp.set_presolve(Toggle::Off)?;
            match lp.solve()? {
                Status::Optimal => {}
                Status::Infeasible => return Ok(None),
                status => return Err(SetError(format!("HiGHS ended with {status:?} on a part of the set"))),
            }
        }
        let mut zeta = vec![0.0; polytope.columns.len()];
        lp.primal(&mut zeta)?;
        for (&(entry, step), zeta) in polytope.columns.iter().zip(&zeta) {
            xi[entry] += step * zeta;
        }
        Ok(Some(xi))
    }

    /// Whether a row, or a plane between the polytope and the ball, shows that the part has no members, without a
    /// solve. `false` proves nothing.
    pub fn is_plainly_empty(&self, tolerance: f64) -> bool {
        let Some(polytope) = &self.polytope else { return false };
        let never_holds =
            |row: &ShapeRow| row.terms.iter().all(|&(_, coefficient)| coefficient >= 0.0) && row.limit < -tolerance;
        polytope.rows.iter().any(never_holds)
            || self.ball.as_ref().is_some_and(|ball| are_apart(polytope, ball, tolerance))
    }
}
