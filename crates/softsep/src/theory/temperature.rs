//! Temperatures that fall with the iterations (Proposition 2).

/// Proposition 2: the temperature `w_n = 2Δ*/ln((n + 2)·|I|²)` of iteration n, for a gap Δ* between the worst scenarios
/// and all others.
///
/// The proposition takes C* for the same at all temperatures. For fresh draws from ν it is, as γ ≥ 1/|I|; for other
/// proposals it need not be.
pub fn temperature_at(iteration: u64, gap: f64, states: f64) -> f64 {
    2.0 * gap / ((iteration as f64 + 2.0).ln() + 2.0 * states.ln())
}
