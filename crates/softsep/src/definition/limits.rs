//! Numbers outside the range of the solvers, and the messages about them. Each function completes a sentence that names
//! the number.

/// HiGHS refuses coefficients of this size.
const LARGE: f64 = 1e15;

/// HiGHS takes a bound of this size for infinite.
const INFINITE: f64 = 1e20;

/// HiGHS drops coefficients of this size and below.
const SMALL: f64 = 1e-12;

/// The reason why a finite number is too large to compute with, or `None`.
pub(crate) fn too_large(value: f64) -> Option<String> {
    (value.is_finite() && value.abs() >= LARGE)
        .then(|| format!("is {value:e}, and solvers take numbers below {LARGE:e} only: use larger units"))
}

/// The reason why a nonzero coefficient would count as zero, or `None`.
pub(crate) fn too_small(value: f64) -> Option<String> {
    (value != 0.0 && value.abs() <= SMALL)
        .then(|| format!("is {value:e}, and solvers drop numbers of {SMALL:e} and below: use smaller units"))
}

/// The reason why a finite bound would count as infinite, or `None`.
pub(crate) fn taken_for_infinite(bound: f64) -> Option<String> {
    (bound.is_finite() && bound.abs() >= INFINITE)
        .then(|| format!("is {bound:e}, which solvers take for infinite: write null for no bound"))
}
