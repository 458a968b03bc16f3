//! Names by index, for messages and files.

/// The names of everything that has an index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Names {
    /// First-stage variables.
    pub first: Vec<String>,
    /// Rows of the first stage.
    pub first_rows: Vec<String>,
    /// Uncertain parameters.
    pub parameters: Vec<String>,
    /// Recourse variables.
    pub recourse: Vec<String>,
    /// Rows of the recourse.
    pub recourse_rows: Vec<String>,
}
