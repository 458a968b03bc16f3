//! The few HiGHS options that softsep sets, as types.

/// Which algorithm solves a linear program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// HiGHS decides.
    Choose,
    /// Dual simplex, the one to re-solve with after right-hand sides changed.
    DualSimplex,
    /// Primal simplex, the one to re-solve with after costs changed.
    PrimalSimplex,
    /// Interior point with crossover to a basis.
    InteriorPoint,
}

/// On, off, or as HiGHS thinks best.
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
