//! Terms of rows and costs, by name.

/// Linear terms: name and coefficient.
pub type Terms = Vec<(String, f64)>;

/// Quadratic entries: `("u", "u", v)` adds `½·v·u²`, `("u", "w", v)` adds `v·u·w`.
pub type Quadratic = Vec<(String, String, f64)>;
