//! How fast the kernel moves with x, where scores are L'_Q-Lipschitz in x and the proposal does not depend
//! on x.
//!
//! Proposals that follow the recourse's slope do depend on x; nothing here holds for them.

use crate::chain::Acceptance;

/// L_P of the largest sum of absolute differences in a row (Lemmas "Element/row-wise Lipschitz continuity"): 4L'_Q/w
/// for Metropolis, L'_Q/w for Barker. Half of it is off the diagonal, half on it. The paper's proof of the Poisson
/// lemma quotes 2L'_Q/w for Metropolis, which is the total variation, not the sum that it uses.
pub fn kernel_rows(acceptance: Acceptance, lipschitz: f64, temperature: f64) -> f64 {
    2.0 * kernel_variation(acceptance, lipschitz, temperature)
}

/// L_P in total variation, on any space of states (Lemma "Lipschitz continuous kernels for a general state space"):
/// 2L'_Q/w for Metropolis. For Barker the paper has the same; its acceptance is ¼-Lipschitz, and L'_Q/(2w) will do.
pub fn kernel_variation(acceptance: Acceptance, lipschitz: f64, temperature: f64) -> f64 {
    let of_acceptance = match acceptance {
        Acceptance::Metropolis => 1.0,
        Acceptance::Barker => 0.25,
    };
    of_acceptance * 2.0 * lipschitz / temperature
}
