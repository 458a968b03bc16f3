//! Brute force that shares nothing with the library: recourse in closed form, dense grids over ξ with a pattern search from their best point, and
//! golden sections within one another over x.

use softsep::format::{SetFile, Sides};

/// The smallest step of a pattern search, in the unit coordinates of a set.
const FINE: f64 = 1e-5;

/// The unit coordinates of a set: `ξ = center + scale·z`, and where z must be.
pub(crate) struct Body<'s> {
    set: &'s SetFile,
    dim: usize,
    from: f64,
}

impl<'s> Body<'s> {
    pub(crate) fn new(set: &'s SetFile) -> Self {
        let (dim, from) = match set {
            SetFile::Ellipsoid { matrix, .. } => (matrix[0].len(), -1.0),
            SetFile::Box { lower, .. } => (lower.len(), -1.0),
            SetFile::Budget { center, sides, .. } => (center.len(), if *sides == Sides::One { 0.0 } else { -1.0 }),
            other => panic!("no unit coordinates for {other:?}"),
        };
        Self { set, dim, from }
    }

    /// The member of the set at z.
    pub(crate) fn point(&self, z: &[f64]) -> Vec<f64> {
        match self.set {
            SetFile::Ellipsoid { center, matrix } => center
                .iter()
                .zip(matrix)
                .map(|(center, row)| center + row.iter().zip(z).map(|(a, z)| a * z).sum::<f64>())
                .collect(),
            SetFile::Box { lower, upper } => lower
                .iter()
                .zip(upper)
                .zip(z)
                .map(|((lower, upper), z)| 0.5 * (lower + upper) + 0.5 * (upper - lower) * z)
                .collect(),
            SetFile::Budget { center, scale, .. } => center.iter().zip(scale).zip(z).map(|((c, s), z)| c + s * z).collect(),
            _ => unreachable!(),
        }
    }

    /// How much of the limit on z is used: 1 on the boundary, less inside.
    pub(crate) fn used(&self, z: &[f64]) -> f64 {
        let largest = z.iter().fold(0.0_f64, |most, z| most.max(z.abs()));
        match self.set {
            SetFile::Ellipsoid { .. } => z.iter().map(|z| z * z).sum::<f64>().sqrt(),
            SetFile::Budget { budget, .. } => largest.max(z.iter().map(|z| z.abs()).sum::<f64>() / budget),
            _ => largest,
        }
    }

    fn pull_in(&self, z: &mut [f64]) {
        z.iter_mut().for_each(|z| *z = z.clamp(self.from, 1.0));
        let used = self.used(z);
        if used > 1.0 {
            z.iter_mut().for_each(|z| *z /= used);
        }
    }

    /// The largest value over the set, and the z of it.
    pub(crate) fn worst(&self, per_axis: usize, value: &dyn Fn(&[f64]) -> f64) -> (f64, Vec<f64>) {
        let mut best = (f64::NEG_INFINITY, vec![0.0; self.dim]);
        let mut z = vec![0.0; self.dim];
        let spacing = (1.0 - self.from) / (per_axis - 1) as f64;
        for index in 0..per_axis.pow(self.dim as u32) {
            let mut rest = index;
            for z in &mut z {
                *z = self.from + spacing * (rest % per_axis) as f64;
                rest /= per_axis;
            }
            // What lies outside is drawn to the boundary, which is thus covered as densely as the inside.
            self.pull_in(&mut z);
            let found = value(&self.point(&z));
            if found > best.0 {
                best = (found, z.clone());
            }
        }
        let mut step = spacing;
        while step > FINE {
            let mut gained = false;
            for direction in 0..3_usize.pow(self.dim as u32) {
                let mut rest = direction;
                z.copy_from_slice(&best.1);
                for z in &mut z {
                    *z += step * ((rest % 3) as f64 - 1.0);
                    rest /= 3;
                }
                self.pull_in(&mut z);
                let found = value(&self.point(&z));
                if found > best.0 {
                    best = (found, z.clone());
                    gained = true;
                }
            }
            if !gained {
                step *= 0.5;
            }
        }
        best
    }
}

/// The least of a convex function over a box, by golden sections within one another; and where.
pub(crate) fn least(lower: &[f64], upper: &[f64], cost: &dyn Fn(&[f64]) -> f64) -> (f64, Vec<f64>) {
    fn next(x: &mut Vec<f64>, lower: &[f64], upper: &[f64], cost: &dyn Fn(&[f64]) -> f64) -> (f64, Vec<f64>) {
        let entry = x.len();
        if entry == lower.len() {
            return (cost(x), x.clone());
        }
        let mut at = |value: f64| {
            x.push(value);
            let found = next(x, lower, upper, cost);
            x.pop();
            found
        };
        let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
        let (mut low, mut high) = (lower[entry], upper[entry]);
        let (mut left, mut right) = (at(high - ratio * (high - low)), at(low + ratio * (high - low)));
        // The ends count too, where the minimum often is.
        let ends = (at(low), at(high));
        let mut best = if ends.0.0 < ends.1.0 { ends.0 } else { ends.1 };
        for _ in 0..18 {
            for side in [&left, &right] {
                if side.0 < best.0 {
                    best = side.clone();
                }
            }
            if left.0 < right.0 {
                high = low + ratio * (high - low);
                right = left;
                left = at(high - ratio * (high - low));
            } else {
                low = high - ratio * (high - low);
                left = right;
                right = at(low + ratio * (high - low));
            }
        }
        best
    }
    next(&mut Vec::new(), lower, upper, cost)
}

/// A row `y·y + x·x + ξ·xi ≥ side` of the recourse.
#[derive(Debug, Clone)]
pub(crate) struct Demand {
    pub(crate) y: Vec<f64>,
    pub(crate) x: Vec<f64>,
    pub(crate) xi: Vec<f64>,
    pub(crate) side: f64,
}

impl Demand {
    fn right(&self, x: &[f64], xi: &[f64]) -> f64 {
        self.side - dot(&self.x, x) - dot(&self.xi, xi)
    }
}

/// `Q(x, ξ) = min ½ Σ h y² + (b + Bξ)'y` over y ≥ 0 that meet the demands: Example 7 of the paper.
#[derive(Debug, Clone)]
pub(crate) struct Quadratic {
    pub(crate) h: Vec<f64>,
    pub(crate) cost: Vec<f64>,
    pub(crate) cost_xi: Vec<Vec<f64>>,
    pub(crate) demands: Vec<Demand>,
}

/// Q by its dual: the optimal multipliers vanish but on some independent rows, on which they solve a linear system. The largest dual value of all
/// such systems with nonnegative solutions is Q, because no dual value is above it.
pub(crate) struct ClosedForm<'q> {
    recourse: &'q Quadratic,
    rows: Vec<Demand>,
    /// Sets of rows with the inverses of their systems.
    systems: Vec<(Vec<usize>, Vec<Vec<f64>>)>,
}

impl<'q> ClosedForm<'q> {
    pub(crate) fn new(recourse: &'q Quadratic) -> Self {
        let width = recourse.h.len();
        let mut rows = recourse.demands.clone();
        let (dim_x, dim_xi) = (rows[0].x.len(), rows[0].xi.len());
        for j in 0..width {
            let unit = (0..width).map(|k| f64::from(u8::from(k == j))).collect();
            rows.push(Demand { y: unit, x: vec![0.0; dim_x], xi: vec![0.0; dim_xi], side: 0.0 });
        }
        let mut systems = Vec::new();
        for chosen in 0..1_usize << rows.len() {
            let set: Vec<usize> = (0..rows.len()).filter(|row| chosen >> row & 1 == 1).collect();
            if set.len() > width {
                continue;
            }
            let entry = |i: usize, k: usize| (0..width).map(|j| rows[i].y[j] * rows[k].y[j] / recourse.h[j]).sum();
            let matrix: Vec<Vec<f64>> = set.iter().map(|&i| set.iter().map(|&k| entry(i, k)).collect()).collect();
            if let Some(inverse) = inverse(matrix) {
                systems.push((set, inverse));
            }
        }
        Self { recourse, rows, systems }
    }

    pub(crate) fn value(&self, x: &[f64], xi: &[f64]) -> f64 {
        let (h, width) = (&self.recourse.h, self.recourse.h.len());
        let cost: Vec<f64> = (0..width).map(|j| self.recourse.cost[j] + dot(&self.recourse.cost_xi[j], xi)).collect();
        let right: Vec<f64> = self.rows.iter().map(|row| row.right(x, xi)).collect();
        let mut best = f64::NEG_INFINITY;
        let mut target = [0.0; 3];
        let mut force = [0.0; 3];
        'systems: for (set, inverse) in &self.systems {
            for (target, &i) in target.iter_mut().zip(set) {
                *target = right[i] + (0..width).map(|j| self.rows[i].y[j] * cost[j] / h[j]).sum::<f64>();
            }
            force[..width].fill(0.0);
            let mut value = 0.0;
            for (row, &i) in inverse.iter().zip(set) {
                let multiplier: f64 = row.iter().zip(&target).map(|(a, b)| a * b).sum();
                if multiplier < 0.0 {
                    continue 'systems;
                }
                value += multiplier * right[i];
                for (force, y) in force.iter_mut().zip(&self.rows[i].y) {
                    *force += multiplier * y;
                }
            }
            value -= (0..width).map(|j| (force[j] - cost[j]).powi(2) / (2.0 * h[j])).sum::<f64>();
            best = best.max(value);
        }
        best
    }
}

/// The inverse of a positive definite matrix; none where it is close to singular.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend((0..size).map(|k| f64::from(u8::from(k == i))));
    }
    for i in 0..size {
        let pivot = matrix[i][i];
        if pivot < 1e-9 {
            return None;
        }
        matrix[i].iter_mut().for_each(|entry| *entry /= pivot);
        let pivotal = matrix[i].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            let factor = row[i];
            row.iter_mut().zip(&pivotal).for_each(|(entry, pivotal)| *entry -= factor * pivotal);
        }
    }
    Some(matrix.into_iter().map(|row| row[size..].to_vec()).collect())
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
