//! A cone as it is stated.

/// A cone over named recourse rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ConeDefinition {
    /// The kind of the cone.
    pub kind: ConeKind,
    /// The rows, in the cone's order.
    pub rows: Vec<String>,
}

/// The kinds of cones.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ConeKind {
    /// First entry at least the norm of the rest.
    SecondOrder,
    /// `v·exp(u/v) ≤ w`.
    Exponential,
    /// `u^α v^(1−α) ≥ |w|`.
    Power {
        /// α in (0, 1).
        alpha: f64,
    },
    /// Upper triangle by columns, off-diagonals scaled by √2.
    Semidefinite,
}
