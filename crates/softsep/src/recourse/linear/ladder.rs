//! Ladder of attempts at a linear program for which the warm simplex gave no verified answer.

use softsep_lp::{Algorithm, Lp, LpError, Toggle};

/// One rung of the ladder of attempts at a linear program. Later rungs are slower and safer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SimplexRung {
    /// From the current basis: the normal case.
    Warm,
    /// From scratch.
    Fresh,
    /// From scratch, after presolve.
    Presolved,
    /// From scratch, without scaling.
    Unscaled,
    /// By an interior-point method with crossover.
    InteriorPoint,
    /// From scratch, by the primal simplex.
    Primal,
}

impl SimplexRung {
    pub(crate) const LADDER: [SimplexRung; 6] = [
        SimplexRung::Warm,
        SimplexRung::Fresh,
        SimplexRung::Presolved,
        SimplexRung::Unscaled,
        SimplexRung::InteriorPoint,
        SimplexRung::Primal,
    ];

    /// Sets the options of this rung.
    pub(crate) fn prepare(self, lp: &mut Lp) -> Result<(), LpError> {
        if self == SimplexRung::Warm {
            return Ok(());
        }
        lp.clear_solver()?;
        lp.set_presolve(if self == SimplexRung::Presolved { Toggle::On } else { Toggle::Off })?;
        lp.set_scaling(self != SimplexRung::Unscaled)?;
        lp.set_algorithm(match self {
            SimplexRung::InteriorPoint => Algorithm::InteriorPoint,
            SimplexRung::Primal => Algorithm::PrimalSimplex,
            _ => Algorithm::DualSimplex,
        })
    }

    /// Restores the options that [`prepare`](Self::prepare) changed.
    pub(crate) fn restore(self, lp: &mut Lp) -> Result<(), LpError> {
        if self == SimplexRung::Warm {
            return Ok(());
        }
        lp.set_presolve(Toggle::Off)?;
        lp.set_scaling(true)?;
        lp.set_algorithm(Algorithm::DualSimplex)
    }
}
