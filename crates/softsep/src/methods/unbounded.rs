//! A master over cuts that is unbounded: whether the problem is, or is infeasible, a method with exact separations
//! finds out.

use super::{Certify, GenerationSettings, MethodSettings};
use crate::cuts::WarmStart;
use crate::error::Error;
use crate::model::Problem;
use crate::run::{Run, Stop};

/// Proves the problem unbounded or infeasible by Benders decomposition. Errs where costs move with ξ: then the master
/// may lack a scenario that bounds it.
pub(super) fn prove_unbounded(problem: &Problem, certify: Certify, run: &mut Run) -> Result<Stop, Error> {
    if problem.recourse.costs_move() {
        let instead = match super::scope::has_proof(problem) {
            true => "try --method ccg",
            false => "give bounds to the variables that it falls along",
        };
        return Err(Error::Master(format!(
            "the cost at a typical scenario falls without end, and there is no decision to start from; {instead}"
        )));
    }
    run.say("the cost at a typical scenario falls without end: a proof by cuts");
    let method = MethodSettings::Benders(GenerationSettings::default()).build();
    method.accepts(problem)?;
    method.solve(problem, certify, &mut WarmStart::cold(problem), run)
}
