//! The paper's theory in numbers: the distance of the soft maximum from the maximum, the mixing of a chain, the
//! probability that it misses the worst scenario. Only the bounds that certificates, temperatures and
//! [`diagnose`](crate::diagnose) use are here; the crate `softsep-paper` has the others, and the tests of all.
//!
//! All items are pure functions of constants; the caller provides the constants. Norms of x are Euclidean throughout.
//! The paper measures the diameter of X in the 1-norm and uses that a Euclidean projection is nonexpansive in that
//! norm. It need not be, but it is nonexpansive in the Euclidean norm, and the proofs hold with that norm.
//!
//! Total variation is `sup over B of |P(B) − Q(B)|`, half the sum of absolute differences. Each function states which
//! of the two it bounds.

mod adaptive;
mod certification;
mod chance;
mod concentration;
mod convergence;
mod doeblin;
mod identification;
mod lipschitz;
mod mellowmax;
mod sphere;
mod temperature;

pub use adaptive::Adaptive;
pub use certification::Certification;
pub use chance::Chance;
pub use concentration::{body_ratio, finite_ratio, sphere_ratio};
pub use convergence::{Cooling, DescentConstants, StepBound, law_modulus};
pub use doeblin::{Mixing, uniform_by_peak, uniform_by_spread};
pub use identification::{Finite, General, Movement};
pub use lipschitz::{kernel_rows, kernel_variation};
pub use mellowmax::{MetricSpace, finite_error, mellowmax, soft_law};
pub use sphere::{cap, log_peak};
pub use temperature::temperature_at;
