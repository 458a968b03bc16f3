//! Conic programs as they are stated (columns, rows, cones), and their translation into the standard form of Clarabel.
//!
//! Clarabel solves `min ½yᵀPy + qᵀy` over `Ay + s = b, s ∈ K`. Each entry of s is the slack of one side of one row or
//! bound, `s = sign·(activity − target)`: the sign is +1 for a lower bound, an equality and a cone, −1 for an upper
//! bound. So `A = −sign·g` and `b = sign·(shift − target)`, where the shift is the constant part of the activity.
//! Infinite sides have no entry.

use std::ops::Range;

use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT;

use crate::definition::ConeKind;
use crate::model::{Sparse, Symmetric};
use crate::recourse::RecourseError;

/// The program `min constant + cᵀy + ½ yᵀHy` over bounded columns, rows `lower ≤ terms ≤ upper` and cones over further
/// rows.
///
/// Bounds may be infinite and must not cross.
#[derive(Debug, Clone)]
pub(crate) struct ConicProgram {
    constant: f64,
    cost: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    quadratic: Symmetric,
    /// Terms of all rows, one row after the other. Those of row r end at `ends[r]`.
    terms: Vec<(usize, f64)>,
    ends: Vec<usize>,
    sides: Vec<RowSides>,
    cones: Vec<(ConeKind, Range<usize>)>,
}

/// Sides of a row.
#[derive(Debug, Clone, Copy)]
enum RowSides {
    Bounds(f64, f64),
    InCone { offset: f64 },
}

impl ConicProgram {
    /// A program without columns and rows, with this constant in the objective.
    pub(crate) fn new(constant: f64) -> Self {
        Self {
            constant,
            cost: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            quadratic: Symmetric::default(),
            terms: Vec::new(),
            ends: Vec::new(),
            sides: Vec::new(),
            cones: Vec::new(),
        }
    }

    /// Returns the numbers of columns, rows and terms.
    pub(super) fn size(&self) -> (usize, usize, usize) {
        (self.cost.len(), self.ends.len(), self.terms.len())
    }

    /// Adds a column and returns its index.
    pub(crate) fn add_col(&mut self, cost: f64, lower: f64, upper: f64) -> usize {
        self.cost.push(cost);
        self.lower.push(lower);
        self.upper.push(upper);
        self.cost.len() - 1
    }

    /// Adds `½·v·y_i²` (i = j) or `v·y_i·y_j` to the objective. The objective must be convex in the end.
    pub(crate) fn add_quadratic(&mut self, i: usize, j: usize, value: f64) {
        self.quadratic.push(i, j, value);
    }

    /// Adds a row and returns its index.
    pub(crate) fn add_row(&mut self, lower: f64, upper: f64, terms: impl IntoIterator<Item = (usize, f64)>) -> usize {
        self.append_row(RowSides::Bounds(lower, upper), terms)
    }

    /// Adds the rows of a cone, each `terms − offset`, in the order and scaling of the `aro/1` format. Returns their
    /// indices. Fails if the cone does not have the right number of rows or is not supported by this build.
    pub(crate) fn add_cone<T: IntoIterator<Item = (usize, f64)>>(
        &mut self,
        kind: ConeKind,
        rows: impl IntoIterator<Item = (T, f64)>,
    ) -> Result<Range<usize>, RecourseError> {
        let first = self.ends.len();
        for (terms, offset) in rows {
            self.append_row(RowSides::InCone { offset }, terms);
        }
        let rows = first..self.ends.len();
        standard_cone(kind, rows.len())?;
        self.cones.push((kind, rows.clone()));
        Ok(rows)
    }

    fn append_row(&mut self, sides: RowSides, terms: impl IntoIterator<Item = (usize, f64)>) -> usize {
        self.terms.extend(terms);
        self.ends.push(self.terms.len());
        self.sides.push(sides);
        self.ends.len() - 1
    }
}

/// Returns Clarabel's cone over `len` entries. Its exponential cone is `(x, y, z): y·exp(x/y) ≤ z`, and its
/// semidefinite cone is the upper triangle by columns with off-diagonals scaled by √2; both agree with the format.
fn standard_cone(kind: ConeKind, len: usize) -> Result<SupportedConeT<f64>, RecourseError> {
    let unsupported = |what: &str| Err(RecourseError::Unsupported(what.to_owned()));
    match kind {
        ConeKind::SecondOrder => Ok(SupportedConeT::SecondOrderConeT(len)),
        ConeKind::Exponential if len == 3 => Ok(SupportedConeT::ExponentialConeT()),
        ConeKind::Power { alpha } if len == 3 => Ok(SupportedConeT::PowerConeT(alpha)),
        ConeKind::Exponential => unsupported("an exponential cone has 3 rows"),
        ConeKind::Power { .. } => unsupported("a power cone has 3 rows"),
        #[cfg(feature = "psd")]
        ConeKind::Semidefinite => match matrix_side(len) {
            side if side * (side + 1) / 2 == len => Ok(SupportedConeT::PSDTriangleConeT(side)),
            _ => unsupported("a psd cone has n(n+1)/2 rows, the upper triangle of a matrix"),
        },
        #[cfg(not(feature = "psd"))]
        ConeKind::Semidefinite => unsupported("psd cones need a build with the cargo feature `psd`"),
    }
}

/// Returns the size n of a symmetric matrix whose upper triangle has n(n+1)/2 = `len` entries.
pub(super) fn matrix_side(len: usize) -> usize {
    ((8 * len + 1).isqrt() - 1) / 2
}

/// A program in standard form, with the row or column of each slack entry.
#[derive(Debug)]
pub(super) struct StandardForm {
    pub(super) constant: f64,
    pub(super) cost: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) quadratic: Symmetric,
    /// G, by rows of the program.
    pub(super) rows: Sparse,
    /// Largest absolute coefficient of G, at least 1.
    pub(super) max_coefficient: f64,
    pub(super) entries: Vec<SlackEntry>,
    /// Number of entries in the zero cone. They come first.
    pub(super) zero: usize,
    /// Number of entries in the nonnegative cone. They come second.
    pub(super) nonnegative: usize,
    /// The other cones and their entries.
    pub(super) cones: Vec<(ConeKind, Range<usize>)>,
    pub(super) p: CscMatrix<f64>,
    pub(super) a: CscMatrix<f64>,
    pub(super) standard_cones: Vec<SupportedConeT<f64>>,
}

/// One entry of s: `sign·(activity − target)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlackEntry {
    pub(super) source: ActivitySource,
    pub(super) sign: f64,
    pub(super) target: f64,
}

/// The row or column whose activity an entry bounds.
#[derive(Debug, Clone, Copy)]
pub(super) enum ActivitySource {
    Row(usize),
    Col(usize),
}

impl StandardForm {
    pub(super) fn new(program: ConicProgram) -> Result<Self, RecourseError> {
        let ConicProgram { constant, cost, lower, upper, quadratic, terms, ends, sides, cones } = program;

        let mut rows = Sparse::new(cost.len());
        let mut begin = 0;
        for &end in &ends {
            rows.push_row(terms[begin..end].iter().copied());
            begin = end;
        }
        let max_coefficient = terms.iter().fold(1.0, |largest: f64, term| largest.max(term.1.abs()));

        let (mut entries, mut inequalities) = bound_entries(&sides, &lower, &upper);
        let (zero, nonnegative) = (entries.len(), inequalities.len());
        entries.append(&mut inequalities);

        let mut standard_cones = vec![SupportedConeT::ZeroConeT(zero), SupportedConeT::NonnegativeConeT(nonnegative)];
        let mut cone_entries = Vec::with_capacity(cones.len());
        for (kind, cone_rows) in cones {
            standard_cones.push(standard_cone(kind, cone_rows.len())?);
            let first = entries.len();
            entries.extend(cone_rows.filter_map(|row| match sides[row] {
                RowSides::InCone { offset } => {
                    Some(SlackEntry { source: ActivitySource::Row(row), sign: 1.0, target: offset })
                }
                RowSides::Bounds(..) => None,
            }));
            cone_entries.push((kind, first..entries.len()));
        }

        let p = upper_triangle(cost.len(), &quadratic);
        let a = constraint_matrix(cost.len(), &rows, &entries);
        let cones = cone_entries;
        Ok(Self {
            constant,
            cost,
            lower,
            upper,
            quadratic,
            rows,
            max_coefficient,
            entries,
            zero,
            nonnegative,
            cones,
            p,
            a,
            standard_cones,
        })
    }

    /// Writes Clarabel's b for given shifts of the rows.
    pub(super) fn right_side(&self, shift: &[f64], b: &mut [f64]) {
        for (b, entry) in b.iter_mut().zip(&self.entries) {
            let shift = match entry.source {
                ActivitySource::Row(row) => shift[row],
                ActivitySource::Col(_) => 0.0,
            };
            *b = entry.sign * (shift - entry.target);
        }
    }

    /// Returns the part of an entry's slack that depends on y: `sign·gᵀy`, which is minus its row of A times y.
    pub(super) fn activity_of(&self, entry: &SlackEntry, y: &[f64]) -> f64 {
        entry.sign
            * match entry.source {
                ActivitySource::Row(row) => self.rows.dot(row, y),
                ActivitySource::Col(col) => y[col],
            }
    }
}

/// Entries of rows and columns with bounds: equalities first, then inequalities.
fn bound_entries(sides: &[RowSides], lower: &[f64], upper: &[f64]) -> (Vec<SlackEntry>, Vec<SlackEntry>) {
    let rows = sides.iter().enumerate().filter_map(|(row, sides)| match *sides {
        RowSides::Bounds(lower, upper) => Some((ActivitySource::Row(row), lower, upper)),
        RowSides::InCone { .. } => None,
    });
    let cols = lower.iter().zip(upper).enumerate();
    let cols = cols.map(|(col, (&lower, &upper))| (ActivitySource::Col(col), lower, upper));
    let (mut equalities, mut inequalities) = (Vec::new(), Vec::new());
    for (source, lower, upper) in rows.chain(cols) {
        if lower == upper {
            equalities.push(SlackEntry { source, sign: 1.0, target: lower });
            continue;
        }
        if lower.is_finite() {
            inequalities.push(SlackEntry { source, sign: 1.0, target: lower });
        }
        if upper.is_finite() {
            inequalities.push(SlackEntry { source, sign: -1.0, target: upper });
        }
    }
    (equalities, inequalities)
}

fn upper_triangle(cols: usize, quadratic: &Symmetric) -> CscMatrix<f64> {
    let (mut row, mut col, mut value) = (Vec::new(), Vec::new(), Vec::new());
    for (i, j, entry) in quadratic.iter() {
        row.push(j);
        col.push(i);
        value.push(entry);
    }
    CscMatrix::new_from_triplets(cols, cols, row, col, value)
}

fn constraint_matrix(cols: usize, rows: &Sparse, entries: &[SlackEntry]) -> CscMatrix<f64> {
    let (mut row, mut col, mut value) = (Vec::new(), Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        let mut push = |j: usize, coefficient: f64| {
            row.push(index);
            col.push(j);
            value.push(-entry.sign * coefficient);
        };
        match entry.source {
            ActivitySource::Row(source) => rows.row(source).for_each(|(j, coefficient)| push(j, coefficient)),
            ActivitySource::Col(j) => push(j, 1.0),
        }
    }
    CscMatrix::new_from_triplets(entries.len(), cols, row, col, value)
}
