//! Sparse LU factors of a square matrix, with solves in place.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, MatMut, Par};

/// LU factors with the scratch memory of a solve, so that solves do not allocate.
pub(super) struct Lu {
    factors: Arc<Factors>,
    scratch: MemBuffer,
}

struct Factors {
    symbolic: SymbolicLu<usize>,
    numeric: NumericLu<usize, f64>,
}

impl Factors {
    fn scratch(&self) -> Option<MemBuffer> {
        let need = self
            .symbolic
            .solve_in_place_scratch::<f64>(1, Par::Seq)
            .or(self.symbolic.solve_transpose_in_place_scratch::<f64>(1, Par::Seq));
        MemBuffer::try_new(need).ok()
    }
}

impl Lu {
    /// Factors the matrix with the given entries. Returns `None` if it is singular. The size must be positive.
    pub(super) fn new(size: usize, entries: &[Triplet<usize, usize, f64>]) -> Option<Self> {
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(size, size, entries).ok()?;
        // A basis of a sparse program is nearly triangular, so dense supernodes would only cost time.
        let params = LuSymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SIMPLICIAL,
            ..Default::default()
        };
        let symbolic = factorize_symbolic_lu(matrix.symbolic(), params).ok()?;
        let mut numeric = NumericLu::new();
        let mut work =
            MemBuffer::try_new(symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default())).ok()?;
        symbolic
            .factorize_numeric_lu(&mut numeric, matrix.as_ref(), Par::Seq, MemStack::new(&mut work), Default::default())
            .ok()?;
        let factors = Factors { symbolic, numeric };
        let scratch = factors.scratch()?;
        Some(Self { factors: Arc::new(factors), scratch })
    }

    /// Makes `slot` use the factors of `self`. Allocates only if `slot` is empty. All factors of one pool have the same
    /// size, hence the same need of scratch memory.
    pub(super) fn share_with(&self, slot: &mut Option<Lu>) -> Option<()> {
        match slot {
            Some(lu) => lu.factors = Arc::clone(&self.factors),
            None => *slot = Some(Self { factors: Arc::clone(&self.factors), scratch: self.factors.scratch()? }),
        }
        Some(())
    }

    /// Computes `values = M⁻¹ values`.
    pub(super) fn solve(&mut self, values: &mut [f64]) {
        let size = values.len();
        let right_side = MatMut::from_column_major_slice_mut(values, size, 1);
        let stack = MemStack::new(&mut self.scratch);
        LuRef::new_unchecked(&self.factors.symbolic, &self.factors.numeric).solve_in_place_with_conj(
            Conj::No,
            right_side,
            Par::Seq,
            stack,
        );
    }

    /// Computes `values = M⁻ᵀ values`.
    pub(super) fn solve_transpose(&mut self, values: &mut [f64]) {
        let size = values.len();
        let right_side = MatMut::from_column_major_slice_mut(values, size, 1);
        let stack = MemStack::new(&mut self.scratch);
        LuRef::new_unchecked(&self.factors.symbolic, &self.factors.numeric).solve_transpose_in_place_with_conj(
            Conj::No,
            right_side,
            Par::Seq,
            stack,
        );
    }
}
