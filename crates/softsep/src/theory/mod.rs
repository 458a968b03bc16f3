//! The paper's theory in numbers: how far the soft maximum is from the maximum, how fast a chain mixes, how likely it
//! misses the worst scenario. Only the bounds that certificates, temperatures and [`diagnose`](crate::diagnose) use are
//! here; the crate `softsep-paper` has the others, and the tests of all.
//!
//! Pure functions of constants; where those come from is for others to say. Norms of x are Euclidean throughout. The
//! paper measures the diameter of X by sums of absolute values and uses that a Euclidean projection does not stretch
//! those; it may, but it never stretches the Euclidean norm, and with that norm its proofs hold.
//!
//! Total variation is `sup over B of |P(B) − Q(B)|`, half the sum of absolute differences; functions say which of the
//! two they bound.

mod adaptive;
mod chance;
mod concentration;
mod doeblin;
mod identification;
mod lipschitz;
mod mellowmax;
mod sphere;
mod temperature;

pub use adaptive::{Adaptive, Certification};
pub use chance::Chance;
pub use concentration::{body_ratio, finite_ratio, sphere_ratio};
pub use doeblin::{Mixing, uniform_by_peak, uniform_by_spread};
pub use identification::{Finite, General, Movement};
pub use lipschitz::{kernel_rows, kernel_variation};
pub use mellowmax::{MetricSpace, finite_error, mellowmax, soft_law};
pub use sphere::{cap, log_peak};
pub use temperature::temperature_at;
