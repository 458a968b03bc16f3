//! The affine hull of a polytope, found by maximising linear functions over the polytope, and the half-spaces of the
//! polytope in coordinates of the hull.

use std::cell::RefCell;

use rand::RngExt;

use super::{dot, make_unit};
use crate::run::{Random, normals};
use crate::uncertainty::{SetError, chord};

/// Hit-and-run sweeps per draw. Each sweep moves along every coordinate in turn and then along a random direction.
///
/// If the body is about equally wide along all coordinates, some ten sweeps make the draw nearly independent of the
/// start. How many more sweeps a thin body oblique to the coordinates needs is unknown: such draws are uniform in the
/// limit only.
const SWEEPS_PER_DRAW: usize = 50;

/// Smaller widths are rounding errors. The coordinates are scaled such that the set has width one along the axes; its
/// members are known to 1e-9.
const FLATNESS_TOL: f64 = 1e-7;

/// The affine hull of a polytope that has width one along every axis: orthonormal directions, each with half the
/// polytope's width along it, and a point of the relative interior.
pub(crate) struct AffineHull {
    pub(crate) axes: Vec<(f64, Vec<f64>)>,
    pub(crate) interior_point: Vec<f64>,
}

impl AffineHull {
    /// Finds the hull in `dim` dimensions. `furthest` writes a maximiser of a linear function over the polytope. Errs
    /// if `furthest` errs.
    ///
    /// Each iteration maximises and minimises along a direction orthogonal to the spanning directions and normals found
    /// so far. If the two maximisers differ along it, the direction between them spans the hull; otherwise the
    /// direction is a normal of the hull. The mean of members that span the hull is in its relative interior.
    pub(crate) fn find(
        dim: usize,
        furthest: impl Fn(&[f64], &mut [f64]) -> Result<(), SetError>,
    ) -> Result<Self, SetError> {
        let mut spans: Vec<Vec<f64>> = Vec::new();
        let mut normals: Vec<Vec<f64>> = Vec::new();
        let mut interior_point = vec![0.0; dim];
        let mut members = 0.0;
        let (mut low, mut high) = (vec![0.0; dim], vec![0.0; dim]);
        let extremes = |direction: &[f64], low: &mut [f64], high: &mut [f64]| {
            let opposite: Vec<f64> = direction.iter().map(|entry| -entry).collect();
            furthest(&opposite, low)?;
            furthest(direction, high)
        };
        while spans.len() + normals.len() < dim {
            let Some(direction) = next_axis(dim, [&spans, &normals]) else { break };
            extremes(&direction, &mut low, &mut high)?;
            for (interior_point, (low, high)) in interior_point.iter_mut().zip(low.iter().zip(&high)) {
                *interior_point += low + high;
            }
            members += 2.0;
            let mut span: Vec<f64> = high.iter().zip(&low).map(|(high, low)| high - low).collect();
            let wide = dot(&span, &direction) > FLATNESS_TOL;
            [&spans, &normals].iter().for_each(|known| project_out(known, &mut span));
            if wide && make_unit(&mut span) {
                spans.push(span);
            } else {
                normals.push(direction);
            }
        }
        interior_point.iter_mut().for_each(|interior_point| *interior_point /= members);
        // The axes are the coordinate axes if there is no normal, otherwise a basis of the complement of the normals.
        let mut axes: Vec<(f64, Vec<f64>)> = Vec::new();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        while basis.len() + normals.len() < dim {
            let Some(axis) = next_axis(dim, [&basis, &normals]) else { break };
            extremes(&axis, &mut low, &mut high)?;
            axes.push((0.5 * (dot(&axis, &high) - dot(&axis, &low)).max(FLATNESS_TOL), axis.clone()));
            basis.push(axis);
        }
        Ok(Self { axes, interior_point })
    }
}

/// Returns the coordinate axis with the smallest component in the span of `known`, orthogonalised against `known`.
fn next_axis(dim: usize, known: [&Vec<Vec<f64>>; 2]) -> Option<Vec<f64>> {
    let explained =
        |axis: usize| known.iter().flat_map(|known| known.iter()).map(|vector| vector[axis].powi(2)).sum::<f64>();
    let axis = (0..dim).min_by(|&a, &b| explained(a).total_cmp(&explained(b)))?;
    let mut direction = vec![0.0; dim];
    direction[axis] = 1.0;
    known.iter().for_each(|known| project_out(known, &mut direction));
    make_unit(&mut direction).then_some(direction)
}

/// Orthogonalises a vector twice: the second pass removes the rounding errors of the first.
fn project_out(known: &[Vec<f64>], vector: &mut [f64]) {
    for _ in 0..2 {
        for other in known {
            let along = dot(other, vector);
            vector.iter_mut().zip(other).for_each(|(entry, other)| *entry -= along * other);
        }
    }
}

/// `⟨normal, u⟩ ≤ limit` for each of the normals; zero is feasible.
pub(crate) struct HalfSpaces {
    dim: usize,
    /// The normals by coordinate: entry j of all normals, then entry j + 1. A move along one coordinate reads one
    /// contiguous block.
    normals: Vec<f64>,
    limits: Vec<f64>,
}

impl HalfSpaces {
    /// Creates the set from pairs of a normal and a limit; negative limits are set to zero. Zero normals have no
    /// effect.
    pub(crate) fn new(dim: usize, rows: &[(Vec<f64>, f64)]) -> Self {
        let normals = (0..dim).flat_map(|entry| rows.iter().map(move |row| row.0[entry])).collect();
        Self { dim, normals, limits: rows.iter().map(|row| row.1.max(0.0)).collect() }
    }

    fn along(&self, entry: usize) -> &[f64] {
        &self.normals[entry * self.limits.len()..(entry + 1) * self.limits.len()]
    }

    /// Writes the product of every normal with a vector.
    fn products(&self, vector: &[f64], products: &mut [f64]) {
        products.fill(0.0);
        for (entry, value) in vector.iter().enumerate() {
            products.iter_mut().zip(self.along(entry)).for_each(|(product, normal)| *product += value * normal);
        }
    }

    pub(super) fn chord(&self, point: &[f64], direction: &[f64]) -> (f64, f64) {
        let count = self.limits.len();
        let entries = (0..count).map(|row| {
            let (mut at, mut step) = (0.0, 0.0);
            for entry in 0..self.dim {
                let normal = self.normals[entry * count + row];
                at += normal * point[entry];
                step += normal * direction[entry];
            }
            (f64::INFINITY, self.limits[row] - at, step)
        });
        chord::between(entries)
    }

    /// The normal of the half-space that the line along `direction` leaves first; false if it leaves none.
    pub(super) fn outward_normal(&self, point: &[f64], direction: &[f64], normal: &mut [f64]) -> bool {
        let count = self.limits.len();
        let mut nearest = (None, f64::INFINITY);
        for row in 0..count {
            let along = |vector: &[f64]| -> f64 {
                vector.iter().enumerate().map(|(entry, value)| self.normals[entry * count + row] * value).sum()
            };
            let (left, rate) = (self.limits[row] - along(point), along(direction));
            if rate > 0.0 && left / rate < nearest.1 {
                nearest = (Some(row), left / rate);
            }
        }
        let Some(row) = nearest.0 else { return false };
        normal.iter_mut().enumerate().for_each(|(entry, normal)| *normal = self.normals[entry * count + row]);
        true
    }

    /// Draws an approximately uniform point by hit-and-run from zero.
    pub(super) fn draw(&self, random: &mut Random, u: &mut [f64]) {
        thread_local! {
            static SCRATCH: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let count = self.limits.len();
            scratch.resize(self.dim + 2 * count, 0.0);
            let (direction, rest) = scratch.split_at_mut(self.dim);
            let (slack, steps) = rest.split_at_mut(count);
            u.fill(0.0);
            for _ in 0..SWEEPS_PER_DRAW {
                // Recomputed in every sweep, so that rounding errors do not accumulate.
                self.products(u, slack);
                slack.iter_mut().zip(&self.limits).for_each(|(slack, limit)| *slack = limit - *slack);
                for entry in 0..self.dim {
                    u[entry] += draw_step(self.along(entry), slack, random);
                }
                normals(random, direction);
                self.products(direction, steps);
                let t = draw_step(steps, slack, random);
                u.iter_mut().zip(direction.iter()).for_each(|(u, direction)| *u += t * direction);
            }
        });
    }
}

/// Draws t uniformly among the values that keep all slacks nonnegative and updates the slacks. `steps` has the decrease
/// of each slack per unit of t.
fn draw_step(steps: &[f64], slack: &mut [f64], random: &mut Random) -> f64 {
    let (least, most) = chord::between(slack.iter().zip(steps).map(|(slack, step)| (f64::INFINITY, *slack, *step)));
    let t = least + (most - least) * random.random::<f64>();
    if !t.is_finite() {
        return 0.0;
    }
    slack.iter_mut().zip(steps).for_each(|(slack, step)| *slack -= t * step);
    t
}
