//! Ladder of attempts at a linear program for which the warm simplex gave no verified answer.

use softsep_lp::{Algorithm, Lp, LpError, Status, Toggle};

use crate::run::Clock;

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

/// Pivots per row and column after which a rung of the ladder ends.
const MAX_PIVOTS_PER_LINE: u32 = 20;

/// Solves a linear program on the later rungs of the ladder while its status is not definite. The options of the last
/// rung stay.
pub(crate) fn climb_ladder(lp: &mut Lp, mut status: Status, clock: &Clock) -> Result<Status, LpError> {
    for rung in SimplexRung::LADDER.into_iter().filter(|rung| *rung != SimplexRung::Warm) {
        if is_definite(status) || clock.check().is_err() {
            break;
        }
        rung.prepare(lp)?;
        // Simplex has cycled on programs that HiGHS had failed on before.
        lp.set_iteration_limit(Some(MAX_PIVOTS_PER_LINE.saturating_mul((lp.rows() + lp.cols()) as u32)))?;
        lp.set_time_limit(clock.left())?;
        status = lp.solve()?;
    }
    lp.set_iteration_limit(None)?;
    Ok(status)
}

/// Whether a status is conclusive about the program, or says that the solve was stopped.
pub(crate) fn is_definite(status: Status) -> bool {
    !matches!(status, Status::OtherLimit | Status::Failed)
}
