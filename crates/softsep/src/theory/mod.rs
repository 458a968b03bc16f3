//! The bounds of the paper in numbers: the error of the soft maximum, the mixing of the chains, the probability that a
//! chain misses the worst scenario, and the accuracy of the averages of a subgradient method.
//!
//! All items are pure functions of constants; the caller provides the constants. Norms of x are Euclidean throughout.
//! The paper measures the diameter of X in the 1-norm and uses that a Euclidean projection is nonexpansive in that
//! norm. It need not be, but it is nonexpansive in the Euclidean norm, and the proofs hold with that norm.
//!
//! Total variation is `sup over B of |P(B) − Q(B)|`, half the sum of absolute differences. Each function states which
//! of the two it bounds.

mod adaptive;
mod chance;
mod concentration;
mod convergence;
mod doeblin;
mod identification;
mod kernel;
mod lipschitz;
mod mellowmax;
mod sphere;

pub use adaptive::{Adaptive, Certification};
pub use chance::Chance;
pub use concentration::{body_ratio, finite_ratio, sphere_ratio};
pub use convergence::{Descent, temperature_at};
pub use doeblin::{Mixing, aligned, independent, uniform_by_peak, uniform_by_spread};
pub use identification::{Finite, General, Movement};
pub use kernel::Transitions;
pub use lipschitz::{kernel_rows, kernel_variation, law_modulus};
pub use mellowmax::{MetricSpace, finite_error, mellowmax, soft_law};
pub use sphere::{cap, cap_below, log_peak, log_peak_paper};
