//! The tight facets of a vertex, with the factors of their normals.

/// The coordinates of a state of [`VertexWalk`](super::VertexWalk), as slices.
pub(super) struct Parts<'s> {
    pub(super) tight: &'s mut [f64],
    pub(super) u: &'s mut [f64],
    /// The vertex of the perturbed polytope.
    pub(super) vertex: &'s mut [f64],
    /// The tight normals as P⁻¹LU: the row of the tight normals that each row of the factors is.
    pub(super) order: &'s mut [f64],
    pub(super) factors: &'s mut [f64],
}

impl<'s> Parts<'s> {
    pub(super) fn of(coordinates: &'s mut [f64], dim: usize) -> Self {
        let (tight, rest) = coordinates.split_at_mut(dim);
        let (u, rest) = rest.split_at_mut(dim);
        let (vertex, rest) = rest.split_at_mut(dim);
        let (order, factors) = rest.split_at_mut(dim);
        Self { tight, u, vertex, order, factors }
    }

    /// Replaces the tight facet at a position by another one, and returns the position of that.
    pub(super) fn replace(&mut self, mut position: usize, facet: f64) -> usize {
        self.tight[position] = facet;
        while position > 0 && self.tight[position - 1] > facet {
            self.tight.swap(position - 1, position);
            position -= 1;
        }
        while position + 1 < self.tight.len() && self.tight[position + 1] < facet {
            self.tight.swap(position + 1, position);
            position += 1;
        }
        position
    }

    /// Writes the direction of the edge that leaves the tight facet at a position, in place of u.
    pub(super) fn write_edge(&mut self, position: usize) {
        let (order, factors) = (&*self.order, &*self.factors);
        solve(factors, self.u, |row| if order[row] as usize == position { -1.0 } else { 0.0 });
    }

    /// Writes the combination of the tight normals that gives `objective`, in place of u.
    pub(super) fn write_multipliers(&mut self, objective: &[f64]) {
        let dim = objective.len();
        // Uᵀ first, then Lᵀ; the vertex is free until the next factorization.
        let result = &mut *self.vertex;
        result.copy_from_slice(objective);
        for row in 0..dim {
            let factors = &self.factors[row * dim..(row + 1) * dim];
            result[row] /= factors[row];
            let value = result[row];
            (row + 1..dim).for_each(|later| result[later] -= factors[later] * value);
        }
        for row in (0..dim).rev() {
            let value = result[row];
            (0..row).for_each(|earlier| result[earlier] -= self.factors[row * dim + earlier] * value);
        }
        (0..dim).for_each(|row| self.u[self.order[row] as usize] = result[row]);
    }
}

/// Solves LU·solution = right-hand side.
pub(super) fn solve(factors: &[f64], solution: &mut [f64], right: impl Fn(usize) -> f64) {
    let dim = solution.len();
    for row in 0..dim {
        solution[row] = right(row) - dot_in_lanes(&factors[row * dim..row * dim + row], &solution[..row]);
    }
    for row in (0..dim).rev() {
        let own = &factors[row * dim..(row + 1) * dim];
        solution[row] = (solution[row] - dot_in_lanes(&own[row + 1..], &solution[row + 1..])) / own[row];
    }
}

/// Projects a vector on the complement of orthonormal vectors, which follow each other in `known`. The second pass
/// removes the rounding errors of the first.
pub(super) fn project_out(known: &[f64], vector: &mut [f64]) {
    for _ in 0..2 {
        for known in known.chunks_exact(vector.len()) {
            let along = dot_in_lanes(known, vector);
            vector.iter_mut().zip(known).for_each(|(entry, known)| *entry -= along * known);
        }
    }
}

/// The dot product with four partial sums, which a compiler can compute at once.
pub(super) fn dot_in_lanes(a: &[f64], b: &[f64]) -> f64 {
    let (a_blocks, b_blocks) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; 4];
    for (a, b) in a_blocks.zip(b_blocks) {
        (0..4).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
