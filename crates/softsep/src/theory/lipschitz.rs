//! The Lipschitz modulus of the kernel in x, where scores are L'_Q-Lipschitz in x and the proposal does not depend on
//! x.
//!
//! Proposals that follow the slope of the recourse do depend on x; these bounds do not apply to them.

use crate::chain::Acceptance;

/// L_P for the largest sum of absolute differences in a row (Lemmas "Element/row-wise Lipschitz continuity"): 4L'_Q/w
/// for Metropolis, L'_Q/w for Barker. Half of it is off the diagonal, half on it. The paper's proof of the Poisson
/// lemma quotes 2L'_Q/w for Metropolis, which is the total variation and not the sum that the proof uses.
pub fn kernel_rows(acceptance: Acceptance, lipschitz: f64, temperature: f64) -> f64 {
    2.0 * kernel_variation(acceptance, lipschitz, temperature)
}

/// L_P in total variation, on any state space (Lemma "Lipschitz continuous kernels for a general state space"): 2L'_Q/w
/// for Metropolis. The paper has the same for Barker; its acceptance is ¼-Lipschitz, so that L'_Q/(2w) is valid.
pub fn kernel_variation(acceptance: Acceptance, lipschitz: f64, temperature: f64) -> f64 {
    let of_acceptance = match acceptance {
        Acceptance::Metropolis => 1.0,
        Acceptance::Barker => 0.25,
    };
    of_acceptance * 2.0 * lipschitz / temperature
}
