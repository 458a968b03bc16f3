//! A block that is in its cone for every point of a polytope, by multipliers that are in the cone themselves.
//!
//! Over `ξ = base + Sζ, 0 ≤ ζ ≤ 1, Bζ ≤ c` a block is `a(ζ) = ā + Σₖ dₖζₖ`. Let the columns be in groups g. For any μ
//! and λ it is the sum
//!
//! ```text
//! a(ζ) = [ā − Σₗ cₗμₗ − Σ_g λ_g] + Σ_g [λ_g + Σ_{k∈g} ζₖ·(dₖ + Σₗ Bₗₖμₗ)] + Σₗ (c − Bζ)ₗ·μₗ
//! ```
//!
//! so that μₗ in K (any vector where the row is an equation) with all brackets in K proves that a(ζ) is in K: sums and
//! nonnegative multiples stay there. The bracket of a group is affine in its ζ, so that its 2^|g| corners tell. For K
//! the nonnegative numbers this is linear duality, and exact. It is exact for every K where the polytope is a box of
//! one group, a simplex or a cross-polytope (with μ = ā the brackets are the values at the corners). Elsewhere it is
//! safe and may be too careful, the less so the larger the groups.

use super::block::{Affines, Block, Numbers};
use super::depth::{Sum, unit};
use crate::definition::{ConeKind, VariableKind};
use crate::policy::robust::Limits;
use crate::recourse::{Program, RecourseError, merged};
use crate::uncertainty::{Polytope, ShapeRow};

/// Columns in one group, and up to how many are all in one.
const GROUP: usize = 4;
const ALL: usize = 5;

/// The columns of the program that prove a block.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct Multipliers {
    /// For each row of the polytope that is needed the first column of its μ.
    rows: Vec<Option<usize>>,
    /// For each group its columns and the first column of its λ.
    groups: Vec<(Vec<usize>, usize)>,
}

/// Whether a row says of one ζ what holds anyway.
fn is_cap(row: &ShapeRow) -> bool {
    matches!(row.terms[..], [(_, coefficient)] if !row.equal && coefficient > 0.0 && row.limit >= coefficient)
}

/// Asks for a block in its cone, `room` units deep, on all of a polytope.
pub(super) fn hold(
    program: &mut dyn Program,
    limits: &Limits,
    polytope: &Polytope,
    block: &Block,
    room: f64,
) -> Result<Multipliers, RecourseError> {
    let (kind, len) = (block.kind, block.len());
    // What moves nothing and only uses limits up has its bracket in K whatever μ is.
    let matters = |column: &usize| block.moves(polytope.columns[*column].0) || !limits.only_costs[*column];
    let columns: Vec<usize> = (0..polytope.columns.len()).filter(matters).collect();
    let mut multipliers = Multipliers { rows: vec![None; polytope.rows.len()], groups: Vec::new() };
    let mut remainder = block.at(&polytope.base);
    for group in columns.chunks(if columns.len() <= ALL { ALL } else { GROUP }) {
        let lambda = multiplier(program, kind, len, true)?;
        let mut slopes: Vec<Affines> = Vec::with_capacity(group.len());
        for &column in group {
            let (coordinate, step) = polytope.columns[column];
            let mut slope = block.step(coordinate, step);
            for &(row, coefficient) in limits.by_column[column].iter().filter(|(row, _)| !is_cap(&polytope.rows[*row]))
            {
                let first = match multipliers.rows[row] {
                    Some(first) => first,
                    None => *multipliers.rows[row].insert(multiplier(program, kind, len, polytope.rows[row].equal)?),
                };
                slope.iter_mut().enumerate().for_each(|(place, entry)| entry.1.push((first + place, coefficient)));
            }
            slopes.push(slope);
        }
        for corner in 0..1_usize << group.len() {
            let mut bracket: Affines = (0..len).map(|place| (0.0, vec![(lambda + place, 1.0)])).collect();
            for slope in at_corner(&slopes, corner) {
                for (entry, (number, terms)) in bracket.iter_mut().zip(slope) {
                    entry.0 += number;
                    entry.1.extend(terms);
                }
            }
            in_cone(program, kind, bracket, 0.0)?;
        }
        remainder.iter_mut().enumerate().for_each(|(place, entry)| entry.1.push((lambda + place, -1.0)));
        multipliers.groups.push((group.to_vec(), lambda));
    }
    for (row, first) in polytope.rows.iter().zip(&multipliers.rows) {
        if let Some(first) = first {
            remainder.iter_mut().enumerate().for_each(|(place, entry)| entry.1.push((first + place, -row.limit)));
        }
    }
    in_cone(program, kind, remainder, room)?;
    Ok(multipliers)
}

/// Those of a group whose ζ is 1 at a corner.
fn at_corner<T>(of_group: &[T], corner: usize) -> impl Iterator<Item = &T> {
    of_group.iter().enumerate().filter(move |(place, _)| corner >> place & 1 == 1).map(|(_, of_column)| of_column)
}

/// Columns of a multiplier: a member of the cone, or free.
fn multiplier(program: &mut dyn Program, kind: ConeKind, len: usize, is_free: bool) -> Result<usize, RecourseError> {
    let columns: Vec<usize> =
        (0..len).map(|_| program.col(0.0, f64::NEG_INFINITY, f64::INFINITY, VariableKind::Continuous)).collect();
    if !is_free {
        let rows: Vec<_> = columns.iter().map(|&column| (vec![(column, 1.0)], 0.0)).collect();
        program.cone(kind, &rows)?;
    }
    Ok(columns.first().copied().unwrap_or(0))
}

/// Asks for affine functions of the columns in a cone, `room` units deep.
pub(in crate::policy) fn in_cone(
    program: &mut dyn Program,
    kind: ConeKind,
    entries: Affines,
    room: f64,
) -> Result<(), RecourseError> {
    let len = entries.len();
    let row = |(place, (number, terms)): (usize, (f64, Vec<(usize, f64)>))| {
        (merged(terms), room * unit(kind, len, place) - number)
    };
    let rows: Vec<_> = entries.into_iter().enumerate().map(row).collect();
    program.cone(kind, &rows).map(|_| ())
}

/// How deep a block in numbers is in its cone on all of the polytope at least, by the multipliers among these values:
/// what a μ lacks is added to it, and what the bracket of a group lacks at its worst corner is missing once.
pub(super) fn depth(
    limits: &Limits,
    polytope: &Polytope,
    kind: ConeKind,
    numbers: &Numbers,
    multipliers: &Multipliers,
    values: &[f64],
) -> f64 {
    let len = numbers.constant.value.len();
    let read = |first: usize| {
        let value = values[first..][..len].to_vec();
        Sum { size: value.iter().map(|value| value.abs()).sum(), value }
    };
    let of_row = |(first, row): (&Option<usize>, &ShapeRow)| {
        let mut mu = read((*first)?);
        let lacks = -mu.depth(kind);
        if !row.equal && lacks > 0.0 {
            mu.lift(kind, lacks);
        }
        Some(mu)
    };
    let of_rows: Vec<Option<Sum>> = multipliers.rows.iter().zip(&polytope.rows).map(of_row).collect();
    let mut remainder = numbers.at(&polytope.base);
    for (row, mu) in polytope.rows.iter().zip(&of_rows) {
        if let Some(mu) = mu {
            remainder.add(-row.limit, mu);
        }
    }
    let mut lacking = 0.0;
    for (group, first) in &multipliers.groups {
        let lambda = read(*first);
        remainder.add(-1.0, &lambda);
        let slope = |&column: &usize| {
            let (coordinate, step) = polytope.columns[column];
            let mut slope = Sum::zero(len);
            slope.add(step, &numbers.slopes[coordinate]);
            for &(row, coefficient) in &limits.by_column[column] {
                if let Some(mu) = &of_rows[row] {
                    slope.add(coefficient, mu);
                }
            }
            slope
        };
        let slopes: Vec<Sum> = group.iter().map(slope).collect();
        let mut most = 0.0_f64;
        for corner in 0..1_usize << group.len() {
            let mut bracket = lambda.clone();
            at_corner(&slopes, corner).for_each(|slope| bracket.add(1.0, slope));
            most = most.max(-bracket.depth(kind));
        }
        lacking += most;
    }
    remainder.depth(kind) - lacking
}
