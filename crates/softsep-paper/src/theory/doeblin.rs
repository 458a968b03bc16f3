//! Doeblin constants of independent and of aligned proposals (Examples 3 and 4).

use softsep::internals::chain::Acceptance;
use softsep::internals::theory::Mixing;

/// Example 3: an independent proposal with `q(j) ≥ p_x(j)/c` for all j and x.
///
/// The paper asks for `q ≤ c·p_x` too and finds γ = 1/c² (Barker: 1/(1 + c²)). Without it, `q(j)·A(i,j) =
/// p(j)·min(q(j)/p(j), q(i)/p(i)) ≥ p(j)/c`, and for Barker `p(j)/(p(j)/q(j) + p(i)/q(i)) ≥ p(j)/(2c)`.
pub fn independent(acceptance: Acceptance, c: f64) -> Mixing {
    Mixing::new(match acceptance {
        Acceptance::Metropolis => 1.0 / c,
        Acceptance::Barker => 0.5 / c,
    })
}

/// Example 4: a proposal whose ratios are right up to a factor κ, with `least(j) ≤ q(j|i)` for all i; `least_sum` is
/// their sum.
///
/// The paper takes the least of `least(j)/κ` and q(j|j); the former is never larger.
pub fn aligned(acceptance: Acceptance, kappa: f64, least_sum: f64) -> Mixing {
    Mixing::new(match acceptance {
        Acceptance::Metropolis => least_sum / kappa,
        Acceptance::Barker => least_sum / (1.0 + kappa),
    })
}
