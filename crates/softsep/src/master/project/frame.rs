//! Normals taken apart into an orthonormal frame: Nᵀ = QR by Gram and Schmidt, each normal twice, which keeps Q
//! orthonormal to the last digits.
//!
//! The matrix NNᵀ would do as well where the metric is even. Where it is not, the variables of little weight make all
//! normals nearly parallel, and the square of their angle is lost in rounding long before the angle is.

/// A normal whose part outside the frame is shorter than this against all of it counts as inside.
const DEPENDENT: f64 = 1e-11;

/// Normals in the metric where lengths are Euclidean, one after the other.
#[derive(Debug)]
pub(super) struct Frame {
    dim: usize,
    size: usize,
    /// The rows of Qᵀ; one more is where the next normal is written.
    q: Vec<f64>,
    /// The columns of R, column k from k(k + 1)/2.
    r: Vec<f64>,
    product: Vec<f64>,
}

impl Frame {
    pub(super) fn new(dim: usize) -> Self {
        Self { dim, size: 0, q: vec![0.0; dim], r: Vec::new(), product: Vec::new() }
    }

    /// How many normals there are.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Lets go of all normals from this one on.
    pub(super) fn truncate(&mut self, size: usize) {
        self.size = self.size.min(size);
    }

    /// Zeros, to write the next normal into.
    pub(super) fn next(&mut self) -> &mut [f64] {
        let begin = self.size * self.dim;
        if self.q.len() < begin + self.dim {
            self.q.resize(begin + self.dim, 0.0);
        }
        let next = &mut self.q[begin..begin + self.dim];
        next.fill(0.0);
        next
    }

    /// Takes the part inside the frame out of the next normal; `product` has that part then. Gives the length of what
    /// is left, 0 if that is none.
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
        let left = norm(rest);
        if left > DEPENDENT * length { left } else { 0.0 }
    }

    /// Takes the next normal into the frame; false if it is a combination of the others.
    pub(super) fn extend(&mut self) -> bool {
        let left = self.orthogonalise();
        if left.is_nan() || left <= 0.0 {
            return false;
        }
        self.r.truncate(self.size * (self.size + 1) / 2);
        self.r.extend_from_slice(&self.product);
        self.r.push(left);
        self.q[self.size * self.dim..(self.size + 1) * self.dim].iter_mut().for_each(|entry| *entry /= left);
        self.size += 1;
        true
    }

    /// Splits the next normal into `Nᵀ·inside + outside`; gives the square of the part outside.
    pub(super) fn split(&mut self, inside: &mut Vec<f64>, outside: &mut [f64]) -> f64 {
        let left = self.orthogonalise();
        inside.clone_from(&self.product);
        self.back_substitute(inside);
        if left > 0.0 {
            outside.copy_from_slice(&self.q[self.size * self.dim..(self.size + 1) * self.dim]);
        } else {
            outside.fill(0.0);
        }
        left * left
    }

    /// The shortest `short` with `N short = b`, and b becomes the combination of normals that it is: `short = Nᵀb`.
    pub(super) fn shortest(&self, b: &mut [f64], short: &mut [f64]) {
        short.fill(0.0);
        for k in 0..self.size {
            let column = self.column(k);
            let known: f64 = column[..k].iter().zip(&*b).map(|(r, b)| r * b).sum();
            b[k] = (b[k] - known) / column[k];
            let q = &self.q[k * self.dim..(k + 1) * self.dim];
            short.iter_mut().zip(q).for_each(|(short, q)| *short += b[k] * q);
        }
        self.back_substitute(b);
    }

    /// R⁻¹ in place.
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
