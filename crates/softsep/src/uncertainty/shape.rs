//! A set, or a part of it, written out in rows: what robust counterparts and searches over ξ need to know of it.

use softsep_lp::{Lp, Model, Status};

use super::SetError;

/// A part of a set: `lower ≤ ξ ≤ upper`, whose bounds may be infinite.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Lower bounds of ξ.
    pub lower: Vec<f64>,
    /// Upper bounds of ξ.
    pub upper: Vec<f64>,
}

impl Part {
    /// All of a set in `dim` entries.
    pub fn whole(dim: usize) -> Self {
        Self { lower: vec![f64::NEG_INFINITY; dim], upper: vec![f64::INFINITY; dim] }
    }
}

/// The members of a part: those of the polytope, where there is one, that are also in the ball, where there is one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shape {
    /// Its linear side.
    pub polytope: Option<Polytope>,
    /// Its curved side.
    pub ball: Option<Ball>,
}

/// `ξ = base + Σₖ ζₖ·step of column k` with `ζ ≥ 0` and rows over ζ. An absolute value takes two columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Polytope {
    /// ξ where ζ is zero.
    pub base: Vec<f64>,
    /// The entry of ξ that each ζ moves, and by how much.
    pub columns: Vec<(usize, f64)>,
    /// What ζ must satisfy besides `ζ ≥ 0`.
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

impl Polytope {
    /// No columns yet; `base` is the only member.
    pub(super) fn at(base: Vec<f64>) -> Self {
        Self { base, ..Self::default() }
    }

    /// Adds `0 ≤ ζ ≤ width`, which moves an entry of ξ by `step` per unit. An empty range is kept: it makes the part empty.
    pub(super) fn add_column(&mut self, entry: usize, step: f64, width: f64) -> usize {
        let column = self.columns.len();
        self.columns.push((entry, step));
        if width < f64::INFINITY {
            self.rows.push(ShapeRow { terms: vec![(column, 1.0)], limit: width, equal: false });
        }
        column
    }

    /// `lower ≤ ξ ≤ upper`; all bounds finite.
    pub(super) fn between(lower: &[f64], upper: &[f64]) -> Self {
        let mut polytope = Self::at(lower.to_vec());
        for (index, (lower, upper)) in lower.iter().zip(upper).enumerate() {
            if lower != upper {
                polytope.add_column(index, 1.0, upper - lower);
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
            let ends = [part.lower[index], part.upper[index]].map(|end| (end - center[index]) / scale);
            let least = ends[0].min(ends[1]).max(if one_sided { 0.0 } else { -1.0 });
            let most = ends[0].max(ends[1]).min(1.0);
            if least >= 0.0 || most <= 0.0 {
                // On one side of the center |z| is linear: it starts at the end nearer to the center and grows from there.
                let (start, sign) = if least >= 0.0 { (least, 1.0) } else { (most, -1.0) };
                polytope.base[index] += scale * start;
                limit -= start.abs();
                if least != most {
                    spent.push((polytope.add_column(index, sign * scale, most - least), 1.0));
                }
            } else {
                spent.push((polytope.add_column(index, scale, most), 1.0));
                spent.push((polytope.add_column(index, -scale, -least), 1.0));
            }
        }
        // A budget that is large enough for all limits nothing.
        if limit < spent.len() as f64 {
            polytope.rows.push(ShapeRow { terms: spent, limit, equal: false });
        }
        polytope
    }
}

impl Shape {
    /// A point of the polytope that is furthest along `direction`; `None` if it is empty or there is no polytope. The ball is not looked at.
    pub fn furthest(&self, direction: &[f64]) -> Result<Option<Vec<f64>>, SetError> {
        let Some(polytope) = &self.polytope else { return Ok(None) };
        let mut xi = polytope.base.clone();
        if polytope.columns.is_empty() {
            return Ok(Some(xi));
        }
        let mut model = Model::new();
        for &(entry, step) in &polytope.columns {
            model.add_col(-direction[entry] * step, 0.0, f64::INFINITY);
        }
        for row in &polytope.rows {
            model.add_row(if row.equal { row.limit } else { f64::NEG_INFINITY }, row.limit, &row.terms);
        }
        let mut lp = Lp::new(&model)?;
        if lp.solve()? != Status::Optimal {
            return Ok(None);
        }
        let mut zeta = vec![0.0; polytope.columns.len()];
        lp.primal(&mut zeta)?;
        for (&(entry, step), zeta) in polytope.columns.iter().zip(&zeta) {
            xi[entry] += step * zeta;
        }
        Ok(Some(xi))
    }

    /// Whether a row shows at a glance that the part has no members. `false` says nothing.
    pub fn is_plainly_empty(&self, tolerance: f64) -> bool {
        self.polytope
            .iter()
            .flat_map(|polytope| &polytope.rows)
            .any(|row| row.terms.iter().all(|&(_, coefficient)| coefficient >= 0.0) && row.limit < -tolerance)
    }
}
