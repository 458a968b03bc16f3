//! Brute force that shares nothing with the library: recourse in closed form, and golden sections within one another
//! over x.

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

/// `Q(x, ξ) = min ½ Σ h y² + (b + Bξ)'y` over y ≥ 0 that meet the demands: Example 8 of the paper.
#[derive(Debug, Clone)]
pub(crate) struct Quadratic {
    pub(crate) h: Vec<f64>,
    pub(crate) cost: Vec<f64>,
    pub(crate) cost_xi: Vec<Vec<f64>>,
    pub(crate) demands: Vec<Demand>,
}

/// Q by its dual: the optimal multipliers vanish but on some independent rows, on which they solve a linear system. The
/// largest dual value of all such systems with nonnegative solutions is Q, because no dual value is above it.
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
