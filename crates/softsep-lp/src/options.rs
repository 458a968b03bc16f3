//! The HiGHS options that softsep sets, as types.

/// The algorithm for linear programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// HiGHS decides.
    Choose,
    /// Dual simplex, for re-solves after changes of right-hand sides.
    DualSimplex,
    /// Primal simplex, for re-solves after changes of costs.
    PrimalSimplex,
    /// Interior point with crossover to a basis.
    InteriorPoint,
}

/// On, off, or the choice of HiGHS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toggle {
    /// HiGHS decides.
    Choose,
    /// On.
    On,
    /// Off.
    Off,
}

impl Toggle {
    pub(crate) fn word(self) -> &'static std::ffi::CStr {
        match self {
            Toggle::Choose => c"choose",
            Toggle::On => c"on",
            Toggle::Off => c"off",
        }
    }
}
