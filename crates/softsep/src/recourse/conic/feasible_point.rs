//! Repair of a primal point that violates its rows by the tolerance of the interior-point method.
//!
//! The cost of such a point may be below the optimum by the violation times its price, which is much where prices are
//! large or costs are small. The slacks s that the solver returns are inside their cones, and the slacks of its point y
//! differ from them by a residual r. With B for the map from y to slacks, the repair moves y by the Δ that minimises
//! `(BΔ − r)ᵀW(BΔ − r) + εΔᵀDΔ`, with W the Hessian of the cones' barrier at s: a slack within a distance of 1 from s
//! in this norm is inside, however thin the cone is there. Equations have no slack, and must hold up to rounding.

use clarabel::algebra::CscMatrix;
use clarabel::qdldl::{QDLDLFactorisation, QDLDLSettings};

use super::certificate::SolveData;
use super::cones::into_cone;
use super::standard_form::{ActivitySource, StandardForm};
use crate::definition::ConeKind;
use crate::numeric::dot;
use crate::numeric::tolerances::SUMMATION_TOL;

/// Most terms of the matrix of a repair. Larger programs are left as they are.
const MAX_TERMS: usize = 4_000_000;

/// Rounds of repair. Each begins with the residual that the last one has left.
const ROUNDS: usize = 5;

/// The weight ε of moves of y by its own size, against moves of slacks by theirs.
const MOVE_WEIGHT: f64 = 1e-10;

/// Least size of an entry of y as a unit of its moves, relative to the largest entry.
const LEAST_SIZE: f64 = 1e-6;

/// Regularisation of the matrix, whose rows have a largest entry of 1. The next round removes its effect.
const REGULARISATION: f64 = 1e-13;

/// Move of the slacks that makes them members of their cones, and how large it is.
#[derive(Debug, Clone, Default)]
pub(super) struct Violation {
    /// The move, by entries. Zero on bounds of y, which hold exactly.
    pub(super) moves: Vec<f64>,
    /// Sum of the absolute terms of each entry.
    pub(super) terms: Vec<f64>,
    /// Largest move, relative to the sum of the absolute terms of its entry.
    share: f64,
    /// Sum of the moves, each relative to the terms of its entry.
    total: f64,
}

impl Violation {
    /// Whether rounding explains it.
    pub(super) fn is_rounding(&self) -> bool {
        self.share <= SUMMATION_TOL
    }

    /// Largest move, relative to the terms of its entry where their sum is above 1. Rows that hold at zero alone have
    /// no terms to compare with.
    pub(super) fn largest(&self) -> f64 {
        let moves = self.moves.iter().zip(&self.terms).map(|(moved, terms)| moved.abs() / terms.max(1.0));
        moves.fold(0.0, |largest, moved| if moved.is_nan() { f64::INFINITY } else { largest.max(moved) })
    }

    /// Measures the violation of a point within its bounds.
    fn measure(&mut self, form: &StandardForm, data: &SolveData, y: &[f64], matrix: &mut [f64]) {
        let Self { moves, terms, share, total } = self;
        moves.clear();
        terms.clear();
        for (entry, b) in form.entries.iter().zip(&data.right_side) {
            let (slack, size) = match entry.source {
                ActivitySource::Row(row) => {
                    let size: f64 = form.rows.row(row).map(|(col, value)| (value * y[col]).abs()).sum();
                    (b + form.activity_of(entry, y), size + entry.target.abs() + data.shift[row].abs())
                }
                ActivitySource::Col(_) => (0.0, 0.0),
            };
            moves.push(slack);
            terms.push(size);
        }
        for slack in &mut moves[..form.zero] {
            *slack = -*slack;
        }
        for slack in &mut moves[form.zero..form.zero + form.nonnegative] {
            *slack = (-*slack).max(0.0);
        }
        (*share, *total) = (0.0, 0.0);
        for (kind, entries) in &form.cones {
            let slacks = &mut moves[entries.clone()];
            let outside = slacks.to_vec();
            into_cone(*kind, slacks, matrix);
            slacks.iter_mut().zip(outside).for_each(|(slack, outside)| *slack -= outside);
            // The entries of a cone are one vector, whose rounding is that of its largest entry.
            let size = terms[entries.clone()].iter().fold(0.0, |size: f64, term| size.max(*term));
            terms[entries.clone()].fill(size);
        }
        for (moved, size) in moves.iter().zip(&*terms).filter(|(moved, _)| **moved != 0.0) {
            // The maximum would drop a NaN.
            let own = moved.abs() / size;
            let own = if own.is_nan() { f64::INFINITY } else { own };
            *share = share.max(own);
            *total += own;
        }
    }
}

/// Moves `y` into its bounds and, as far as possible, into its rows and cones. `slacks` are those of the solver. Writes
/// the violation that remains.
pub(super) fn make_feasible(
    form: &StandardForm,
    data: &SolveData,
    slacks: &[f64],
    y: &mut [f64],
    violation: &mut Violation,
    matrix: &mut [f64],
) {
    clamp(form, y);
    violation.measure(form, data, y, matrix);
    if violation.is_rounding() {
        return;
    }
    let (mut point, mut remaining) = (y.to_vec(), violation.clone());
    for _ in 0..ROUNDS {
        let residual: Vec<f64> = (form.entries.iter().zip(&data.right_side).zip(slacks))
            .map(|((entry, b), slack)| slack - (b + form.activity_of(entry, &point)))
            .collect();
        let Some(step) = step(form, slacks, &residual, &point) else { break };
        point.iter_mut().zip(&step).for_each(|(y, step)| *y += step);
        clamp(form, &mut point);
        remaining.measure(form, data, &point, matrix);
        if remaining.total < violation.total {
            y.copy_from_slice(&point);
            violation.clone_from(&remaining);
        }
        if violation.is_rounding() {
            break;
        }
    }
}

fn clamp(form: &StandardForm, y: &mut [f64]) {
    for ((y, lower), upper) in y.iter_mut().zip(&form.lower).zip(&form.upper) {
        *y = y.max(*lower).min(*upper);
    }
}

/// The move Δ for a residual, from `[εD, Bᵀ; B, −W⁻¹]·[Δ; λ] = [0; r]`, scaled to rows with a largest entry of 1.
/// `None` if the matrix is too large or could not be factored.
fn step(form: &StandardForm, slacks: &[f64], residual: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    let (cols, entries) = (form.cost.len(), form.entries.len());
    let blocks = inverse_hessian(form, slacks)?;
    let least = LEAST_SIZE * y.iter().fold(f64::MIN_POSITIVE / LEAST_SIZE, |size, y| size.max(y.abs()));
    let unit: Vec<f64> = y.iter().map(|y| y.abs().max(least)).collect();
    let mut scale = vec![0.0_f64; entries];
    for &(i, _, value) in blocks.iter().filter(|(i, j, _)| i == j) {
        scale[i] = scale[i].max(value.max(0.0).sqrt());
    }
    for (col, unit) in unit.iter().enumerate() {
        for at in form.a.colptr[col]..form.a.colptr[col + 1] {
            let row = form.a.rowval[at];
            scale[row] = scale[row].max((form.a.nzval[at] * unit).abs());
        }
    }
    scale.iter_mut().for_each(|scale| *scale = if *scale > 0.0 { scale.recip() } else { 1.0 });

    let (mut row, mut col, mut value) = (Vec::new(), Vec::new(), Vec::new());
    let mut push = |i: usize, j: usize, entry: f64| {
        row.push(i);
        col.push(j);
        value.push(entry);
    };
    (0..cols).for_each(|j| push(j, j, MOVE_WEIGHT));
    for (j, unit) in unit.iter().enumerate() {
        for at in form.a.colptr[j]..form.a.colptr[j + 1] {
            let i = form.a.rowval[at];
            // A is −B.
            push(j, cols + i, -form.a.nzval[at] * unit * scale[i]);
        }
    }
    (0..entries).for_each(|i| push(cols + i, cols + i, 0.0));
    blocks.iter().for_each(|&(i, j, entry)| push(cols + i, cols + j, -entry * scale[i] * scale[j]));
    let settings = QDLDLSettings {
        regularize_eps: REGULARISATION,
        regularize_delta: REGULARISATION,
        Dsigns: Some((0..cols + entries).map(|at| if at < cols { 1 } else { -1 }).collect()),
        ..QDLDLSettings::default()
    };
    let dim = cols + entries;
    let csc = CscMatrix::new_from_triplets(dim, dim, row, col, value);
    let mut factors = QDLDLFactorisation::new(&csc, Some(settings)).ok()?;
    let mut solution: Vec<f64> = vec![0.0; cols];
    solution.extend(residual.iter().zip(&scale).map(|(residual, scale)| residual * scale));
    factors.solve(&mut solution);
    solution.truncate(cols);
    solution.iter_mut().zip(&unit).for_each(|(step, unit)| *step *= unit);
    solution.iter().all(|step| step.is_finite()).then_some(solution)
}

/// The upper triangle of W⁻¹: s² in the nonnegative cone, `ssᵀ − ½ det(s)·J` in second-order cones with J the signs of
/// the determinant, and ssᵀ with a small diagonal in the others. `None` if it is too large.
fn inverse_hessian(form: &StandardForm, slacks: &[f64]) -> Option<Vec<(usize, usize, f64)>> {
    let terms: usize = form.cones.iter().map(|(_, entries)| entries.len() * entries.len()).sum();
    if terms + form.a.nzval.len() > MAX_TERMS {
        return None;
    }
    let mut blocks = Vec::with_capacity(form.nonnegative + terms);
    blocks.extend((form.zero..form.zero + form.nonnegative).map(|i| (i, i, slacks[i] * slacks[i])));
    for (kind, entries) in &form.cones {
        let s = &slacks[entries.clone()];
        let (first, others) = diagonal(*kind, s);
        for (a, i) in entries.clone().enumerate() {
            for (b, j) in entries.clone().enumerate().skip(a) {
                let on_diagonal = if a != b {
                    0.0
                } else if a == 0 {
                    first
                } else {
                    others
                };
                blocks.push((i, j, s[a] * s[b] + on_diagonal));
            }
        }
    }
    Some(blocks)
}

/// What W⁻¹ has beside ssᵀ: its first diagonal entry, and the others.
fn diagonal(kind: ConeKind, s: &[f64]) -> (f64, f64) {
    match (kind, s) {
        (ConeKind::SecondOrder, [first, rest @ ..]) => {
            let norm = dot(rest, rest).sqrt();
            let half = 0.5 * (first - norm).max(0.0) * (first + norm);
            (-half, half)
        }
        // Moves across the cone by a ten-thousandth of the slacks' size.
        _ => {
            let size = 1e-8 * s.iter().fold(0.0, |size: f64, s| size.max(s * s));
            (size, size)
        }
    }
}
