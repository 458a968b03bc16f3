//! Transition matrices of small chains, for checking the bounds.

use faer::Mat;
use faer::linalg::solvers::DenseSolveCore;

use softsep::internals::chain::Acceptance;
use softsep::internals::theory::soft_law;

/// P_x on finitely many states, with its intended invariant law.
#[derive(Debug, Clone, PartialEq)]
pub struct Transitions {
    size: usize,
    /// Row by row.
    matrix: Vec<f64>,
    law: Vec<f64>,
}

impl Transitions {
    /// The chain of an acceptance rule with a proposal `q(j|i)`, given row by row, at these scores. `None` if the sizes
    /// do not match, there are no states, or a score is not finite.
    pub fn new(scores: &[f64], proposal: &[f64], acceptance: Acceptance, temperature: f64) -> Option<Self> {
        let size = scores.len();
        if size == 0 || proposal.len() != size * size || !scores.iter().all(|score| score.is_finite()) {
            return None;
        }
        let mut matrix = vec![0.0; size * size];
        for i in 0..size {
            let mut leaves = 0.0;
            for j in (0..size).filter(|&j| j != i) {
                let (there, back) = (proposal[i * size + j], proposal[j * size + i]);
                if there > 0.0 {
                    let log_ratio = (scores[j] - scores[i]) / temperature + back.ln() - there.ln();
                    matrix[i * size + j] = there * acceptance.probability(log_ratio);
                    leaves += matrix[i * size + j];
                }
            }
            matrix[i * size + i] = (1.0 - leaves).max(0.0);
        }
        Some(Self { size, matrix, law: soft_law(scores, None, temperature) })
    }

    /// Number of states.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The law p_x ∝ exp(score/w).
    pub fn law(&self) -> &[f64] {
        &self.law
    }

    /// The transition probabilities from state i.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.matrix[i * self.size..(i + 1) * self.size]
    }

    /// One step of a law: `next = lawᵀP`.
    pub fn step(&self, law: &[f64], next: &mut [f64]) {
        next.fill(0.0);
        for (i, &share) in law.iter().enumerate() {
            next.iter_mut().zip(self.row(i)).for_each(|(next, p)| *next += share * p);
        }
    }

    /// The largest `|p(i)P(i,j) − p(j)P(j,i)|`: zero up to rounding if detailed balance holds.
    pub fn imbalance(&self) -> f64 {
        let flow = |i: usize, j: usize| self.law[i] * self.row(i)[j];
        let pairs = (0..self.size).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| (flow(i, j) - flow(j, i)).abs()).fold(0.0, f64::max)
    }

    /// The stationary law of the matrix itself, for an irreducible chain, by the elimination of Grassmann, Taksar and
    /// Heyman. It needs no subtractions, so that small probabilities have a small relative error as well.
    pub fn stationary(&self) -> Vec<f64> {
        let n = self.size;
        let mut reduced = self.matrix.clone();
        for last in (1..n).rev() {
            let leaves: f64 = reduced[last * n..last * n + last].iter().sum();
            for i in 0..last {
                reduced[i * n + last] /= leaves;
                for j in (0..last).filter(|&j| j != i) {
                    reduced[i * n + j] += reduced[i * n + last] * reduced[last * n + j];
                }
            }
        }
        let mut law = vec![1.0; n];
        for j in 1..n {
            law[j] = (0..j).map(|i| law[i] * reduced[i * n + j]).sum();
        }
        let sum: f64 = law.iter().sum();
        law.iter_mut().for_each(|share| *share /= sum);
        law
    }

    /// Dobrushin's coefficient: the largest total variation of two rows.
    pub fn dobrushin(&self) -> f64 {
        let variation =
            |i: usize, k: usize| 0.5 * self.row(i).iter().zip(self.row(k)).map(|(a, b)| (a - b).abs()).sum::<f64>();
        let pairs = (0..self.size).flat_map(|i| (0..i).map(move |k| (i, k)));
        pairs.map(|(i, k)| variation(i, k)).fold(0.0, f64::max)
    }

    /// The largest γ with `P(i,·) ≥ γ·μ` for some law μ and all i: the sum of the smallest entries of the columns.
    pub fn minorization(&self) -> f64 {
        (0..self.size).map(|j| (0..self.size).map(|i| self.row(i)[j]).fold(f64::INFINITY, f64::min)).sum()
    }

    /// The norm ‖(Id − P + 1pᵀ)⁻¹‖ induced by the maximum norm; `None` if the inverse does not exist, as for a
    /// reducible chain.
    pub fn fundamental_norm(&self) -> Option<f64> {
        let matrix = Mat::from_fn(self.size, self.size, |i, j| f64::from(i == j) - self.row(i)[j] + self.law[j]);
        let inverse = matrix.partial_piv_lu().inverse();
        let row_sum = |i: usize| (0..self.size).map(|j| inverse[(i, j)].abs()).sum::<f64>();
        let norm = (0..self.size).map(row_sum).fold(0.0, f64::max);
        norm.is_finite().then_some(norm)
    }
}
