//! QR factors of the active normals: Nᵀ = QR by Gram–Schmidt with reorthogonalization, which keeps Q orthonormal to the
//! last digits.
//!
//! The matrix NNᵀ would do where the metric is even. In an uneven metric the variables of small weight make all normals
//! nearly parallel, and NNᵀ squares their angle, which rounding then removes.

/// A normal is linearly dependent if its part outside of the span, relative to its length, is below this.
const DEPENDENCE_TOL: f64 = 1e-11;

/// Thin QR factors of normals, in coordinates where the metric is Euclidean.
#[derive(Debug)]
pub(super) struct ThinQr {
    dim: usize,
    size: usize,
    /// Rows of Qᵀ, followed by space for the next normal.
    q: Vec<f64>,
    /// Columns of R. Column k starts at k(k + 1)/2.
    r: Vec<f64>,
    product: Vec<f64>,
}

impl ThinQr {
    pub(super) fn new(dim: usize) -> Self {
        Self { dim, size: 0, q: vec![0.0; dim], r: Vec::new(), product: Vec::new() }
    }

    /// Returns the number of normals.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Drops all normals from this index on.
    pub(super) fn truncate(&mut self, size: usize) {
        self.size = self.size.min(size);
    }

    /// Returns zeros, to write the next normal into.
    pub(super) fn next_normal(&mut self) -> &mut [f64] {
        let begin = self.size * self.dim;
        if self.q.len() < begin + self.dim {
            self.q.resize(begin + self.dim, 0.0);
        }
        let next_normal = &mut self.q[begin..begin + self.dim];
        next_normal.fill(0.0);
        next_normal
    }

    /// Subtracts the part inside the span from the next normal, and stores its coefficients in `product`. Returns the
    /// length of the rest, or 0 if the normal is linearly dependent.
    fn orthogonalise(&mut self) -> f64 {
        let (frame, rest) = self.q.split_at_mut(self.size * self.dim);
        let rest = &mut rest[..self.dim];
        let length = norm(rest);
        self.product.clear();
        self.product.resize(self.size, 0.0);
        for _ in 0..2 {
            for (q, product) in frame.chunks_exact(self.dim.max(1)).zip(&mut self.product) {
                let inside: f64 = q.iter().zip(&*rest).map(|(q, rest)| q * rest).sum();
                rest.iter_mut().zip(q).for_each(|(rest, q)| *rest -= inside * q);
                *product += inside;
            }
        }
        let rest_norm = norm(rest);
        if rest_norm > DEPENDENCE_TOL * length { rest_norm } else { 0.0 }
    }

    /// Appends the next normal. Returns false if it is linearly dependent on the others.
    pub(super) fn append(&mut self) -> bool {
        let rest_norm = self.orthogonalise();
        if rest_norm.is_nan() || rest_norm <= 0.0 {
            return false;
        }
        self.r.truncate(self.size * (self.size + 1) / 2);
        self.r.extend_from_slice(&self.product);
        self.r.push(rest_norm);
        self.q[self.size * self.dim..(self.size + 1) * self.dim].iter_mut().for_each(|entry| *entry /= rest_norm);
        self.size += 1;
        true
    }

    /// Decomposes the next normal into `Nᵀ·inside + outside`. Returns the squared length of the part outside.
    pub(super) fn decompose(&mut self, inside: &mut Vec<f64>, outside: &mut [f64]) -> f64 {
        let rest_norm = self.orthogonalise();
        inside.clone_from(&self.product);
        self.back_substitute(inside);
        if rest_norm > 0.0 {
            outside.copy_from_slice(&self.q[self.size * self.dim..(self.size + 1) * self.dim]);
        } else {
            outside.fill(0.0);
        }
        rest_norm * rest_norm
    }

    /// Writes the minimum-norm `solution` of `N solution = b`. Replaces b by the multipliers of the normals with
    /// `solution = Nᵀb`.
    pub(super) fn min_norm_solution(&self, b: &mut [f64], solution: &mut [f64]) {
        solution.fill(0.0);
        for k in 0..self.size {
            let column = self.column(k);
            let known: f64 = column[..k].iter().zip(&*b).map(|(r, b)| r * b).sum();
            b[k] = (b[k] - known) / column[k];
            let q = &self.q[k * self.dim..(k + 1) * self.dim];
            solution.iter_mut().zip(q).for_each(|(solution, q)| *solution += b[k] * q);
        }
        self.back_substitute(b);
    }

    /// Computes `b = R⁻¹b`.
    fn back_substitute(&self, b: &mut [f64]) {
        for k in (0..self.size).rev() {
            let column = self.column(k);
            b[k] /= column[k];
            let solved = b[k];
            b[..k].iter_mut().zip(column).for_each(|(b, r)| *b -= solved * r);
        }
    }

    fn column(&self, k: usize) -> &[f64] {
        let begin = k * (k + 1) / 2;
        &self.r[begin..=begin + k]
    }
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}
