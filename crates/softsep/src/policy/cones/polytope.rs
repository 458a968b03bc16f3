//! Robust counterparts of cone blocks over a polytope, by multipliers that are members of the cone.
//!
//! Over `ξ = base + Sζ, 0 ≤ ζ ≤ 1, Bζ ≤ c` a block is `a(ζ) = ā + Σₖ dₖζₖ`. Let the columns be partitioned into groups
//! g. For any μ and λ the block is the sum
//!
//! ```text
//! a(ζ) = [ā − Σₗ cₗμₗ − Σ_g λ_g] + Σ_g [λ_g + Σ_{k∈g} ζₖ·(dₖ + Σₗ Bₗₖμₗ)] + Σₗ (c − Bζ)ₗ·μₗ
//! ```
//!
//! If each μₗ is in K (any vector if the row is an equation) and all brackets are in K, then a(ζ) is in K, because K is
//! closed under sums and nonnegative multiples. The bracket of a group is affine in its ζ, so that its 2^|g| corners
//! suffice. For K the nonnegative numbers this is linear duality, and exact. It is exact for every K if the polytope is
//! a box of one group, a simplex or a cross-polytope (with μ = ā the brackets are the values at the corners). Otherwise
//! it is safe and may be conservative, less so for larger groups.

use super::block::{AffineVector, ConeBlock, NumericBlock};
use super::depth::{SizedSum, unit};
use crate::definition::{ConeKind, VariableKind};
use crate::policy::robust::PolytopeColumns;
use crate::recourse::{ProgramBuilder, RecourseError, merged};
use crate::uncertainty::{Polytope, ShapeRow};

/// PolicyColumns per group, and the largest number of columns that form a single group.
const GROUP_SIZE: usize = 4;
const SINGLE_GROUP_SIZE: usize = 5;

/// The columns of the multipliers that prove a block.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct PolytopeMultipliers {
    /// For each row of the polytope that is needed, the first column of its μ.
    rows: Vec<Option<usize>>,
    /// For each group, its columns and the first column of its λ.
    groups: Vec<(Vec<usize>, usize)>,
}

/// Whether a row is implied by ζ ≤ 1.
fn is_cap(row: &ShapeRow) -> bool {
    matches!(row.terms[..], [(_, coefficient)] if !row.equal && coefficient > 0.0 && row.limit >= coefficient)
}

/// Requires a block in its cone on the entire polytope, with a depth of `margin`. Returns its multipliers.
pub(super) fn require(
    program: &mut dyn ProgramBuilder,
    limits: &PolytopeColumns,
    polytope: &Polytope,
    block: &ConeBlock,
    margin: f64,
) -> Result<PolytopeMultipliers, RecourseError> {
    let (kind, len) = (block.kind, block.len());
    // The bracket of a column that does not move the block and only consumes limits is in K for every μ.
    let matters = |column: &usize| block.moves(polytope.columns[*column].0) || !limits.only_consumes[*column];
    let columns: Vec<usize> = (0..polytope.columns.len()).filter(matters).collect();
    let mut multipliers = PolytopeMultipliers { rows: vec![None; polytope.rows.len()], groups: Vec::new() };
    let mut remainder = block.at(&polytope.base);
    for group in columns.chunks(if columns.len() <= SINGLE_GROUP_SIZE { SINGLE_GROUP_SIZE } else { GROUP_SIZE }) {
        let lambda = multiplier(program, kind, len, true)?;
        let mut slopes: Vec<AffineVector> = Vec::with_capacity(group.len());
        for &column in group {
            let (coordinate, step) = polytope.columns[column];
            let mut slope = block.step(coordinate, step);
            for &(row, coefficient) in limits.by_column[column].iter().filter(|(row, _)| !is_cap(&polytope.rows[*row]))
            {
                let first = match multipliers.rows[row] {
                    Some(first) => first,
                    None => *multipliers.rows[row].insert(multiplier(program, kind, len, polytope.rows[row].equal)?),
                };
                slope.iter_mut().enumerate().for_each(|(index, entry)| entry.1.push((first + index, coefficient)));
            }
            slopes.push(slope);
        }
        for corner in 0..1_usize << group.len() {
            let mut bracket: AffineVector = (0..len).map(|index| (0.0, vec![(lambda + index, 1.0)])).collect();
            for slope in at_corner(&slopes, corner) {
                for (entry, (number, terms)) in bracket.iter_mut().zip(slope) {
                    entry.0 += number;
                    entry.1.extend(terms);
                }
            }
            require_in_cone(program, kind, bracket, 0.0)?;
        }
        remainder.iter_mut().enumerate().for_each(|(index, entry)| entry.1.push((lambda + index, -1.0)));
        multipliers.groups.push((group.to_vec(), lambda));
    }
    for (row, first) in polytope.rows.iter().zip(&multipliers.rows) {
        if let Some(first) = first {
            remainder.iter_mut().enumerate().for_each(|(index, entry)| entry.1.push((first + index, -row.limit)));
        }
    }
    require_in_cone(program, kind, remainder, margin)?;
    Ok(multipliers)
}

/// The items of a group whose ζ is 1 at a corner.
fn at_corner<T>(of_group: &[T], corner: usize) -> impl Iterator<Item = &T> {
    of_group.iter().enumerate().filter(move |(index, _)| corner >> index & 1 == 1).map(|(_, of_column)| of_column)
}

/// Adds the columns of a multiplier, a member of the cone or a free vector. Returns the first column.
fn multiplier(
    program: &mut dyn ProgramBuilder,
    kind: ConeKind,
    len: usize,
    is_free: bool,
) -> Result<usize, RecourseError> {
    let columns: Vec<usize> =
        (0..len).map(|_| program.col(0.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous)).collect();
    if !is_free {
        let rows: Vec<_> = columns.iter().map(|&column| (vec![(column, 1.0)], 0.0)).collect();
        program.cone(kind, &rows)?;
    }
    Ok(columns.first().copied().unwrap_or(0))
}

/// Requires affine functions of the columns in a cone, with a depth of `margin`.
pub(in crate::policy) fn require_in_cone(
    program: &mut dyn ProgramBuilder,
    kind: ConeKind,
    entries: AffineVector,
    margin: f64,
) -> Result<(), RecourseError> {
    let len = entries.len();
    let row = |(index, (number, terms)): (usize, (f64, Vec<(usize, f64)>))| {
        (merged(terms), margin * unit(kind, len, index) - number)
    };
    let rows: Vec<_> = entries.into_iter().enumerate().map(row).collect();
    program.cone(kind, &rows).map(|_| ())
}

/// A lower bound on the depth of a numeric block in its cone over the polytope, by the multipliers at these values. A
/// deficit of μ is added to μ, and the deficit of a group's bracket at its worst corner counts once.
pub(super) fn depth(
    limits: &PolytopeColumns,
    polytope: &Polytope,
    kind: ConeKind,
    numbers: &NumericBlock,
    multipliers: &PolytopeMultipliers,
    values: &[f64],
) -> f64 {
    let len = numbers.constant.value.len();
    let read = |first: usize| {
        let value = values[first..][..len].to_vec();
        SizedSum { size: value.iter().map(|value| value.abs()).sum(), value }
    };
    let of_row = |(first, row): (&Option<usize>, &ShapeRow)| {
        let mut mu = read((*first)?);
        let deficit = -mu.depth(kind);
        if !row.equal && deficit > 0.0 {
            mu.add_unit(kind, deficit);
        }
        Some(mu)
    };
    let of_rows: Vec<Option<SizedSum>> = multipliers.rows.iter().zip(&polytope.rows).map(of_row).collect();
    let mut remainder = numbers.at(&polytope.base);
    for (row, mu) in polytope.rows.iter().zip(&of_rows) {
        if let Some(mu) = mu {
            remainder.add(-row.limit, mu);
        }
    }
    let mut total_deficit = 0.0;
    for (group, first) in &multipliers.groups {
        let lambda = read(*first);
        remainder.add(-1.0, &lambda);
        let slope = |&column: &usize| {
            let (coordinate, step) = polytope.columns[column];
            let mut slope = SizedSum::zero(len);
            slope.add(step, &numbers.slopes[coordinate]);
            for &(row, coefficient) in &limits.by_column[column] {
                if let Some(mu) = &of_rows[row] {
                    slope.add(coefficient, mu);
                }
            }
            slope
        };
        let slopes: Vec<SizedSum> = group.iter().map(slope).collect();
        let mut most = 0.0_f64;
        for corner in 0..1_usize << group.len() {
            let mut bracket = lambda.clone();
            at_corner(&slopes, corner).for_each(|slope| bracket.add(1.0, slope));
            most = most.max(-bracket.depth(kind));
        }
        total_deficit += most;
    }
    remainder.depth(kind) - total_deficit
}
