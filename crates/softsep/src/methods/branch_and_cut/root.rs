//! The root: who solves the relaxation (line 1 of Algorithm 3).

use super::settings::{BranchAndCutSettings, Root};
use crate::cuts::WarmStart;
use crate::error::Error;
use crate::methods::relaxation::{self, Relaxed, THOROUGH_SOLVES};
use crate::methods::{MethodSettings, SgdSettings};
use crate::model::Problem;
use crate::run::Run;
use crate::separation::SoftSettings;

/// Solves the relaxation as the settings say.
pub(super) fn relax(
    problem: &Problem,
    settings: &BranchAndCutSettings,
    warm: &mut WarmStart,
    run: &mut Run,
) -> Result<Relaxed, Error> {
    let soft = || SoftSettings { thorough_solves: Some(THOROUGH_SOLVES), ..settings.soft.clone() };
    let method = match settings.root {
        Root::None => return Ok(Relaxed::Solved(None)),
        Root::Sgd => MethodSettings::Sgd(SgdSettings { soft: soft(), ..SgdSettings::default() }),
        // Algorithm 1 with the chains of the tree.
        Root::Paper => MethodSettings::Sgd(SgdSettings { soft: soft(), ..SgdSettings::paper() }),
        Root::Bundle => relaxation::cutting_planes(&settings.separation, &settings.soft),
    };
    relaxation::relax(problem, &method, settings.root_iterations, warm, run)
}
