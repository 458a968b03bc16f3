//! What is known of the recourse of a decision without an upper bound: whether every scenario has some.

use crate::cuts::CutPool;
use crate::error::Error;
use crate::model::Problem;
use crate::recourse::{Answer, RecourseOutcome, absorbs_scenarios, engine};
use crate::run::{Clock, RecourseEvidence, Run};
use crate::separation::soft::{Schedule, ViolationSearch};
use crate::separation::{Query, Scan, Separation, finite_equivalent};
use crate::uncertainty::ReferenceMeasure;

/// The largest number of scenarios or extreme points that are asked one by one.
const MAX_SCANNED: usize = 2_000;

/// Looks for a scenario without recourse at the decision of a run that has ended. Withdraws a decision that has one.
/// Where the time is up, there is a moment for it.
pub(crate) fn check_recourse(problem: &Problem, run: &mut Run) -> Result<RecourseEvidence, Error> {
    let Some(best) = run.bounds().best().filter(|_| run.verdict().is_none()).cloned() else {
        return Ok(RecourseEvidence::Unknown);
    };
    if best.upper.is_some() {
        return Ok(RecourseEvidence::Proved);
    }
    let mut nominal = vec![0.0; problem.set.dim()];
    problem.set.nominal(&mut nominal);
    if absorbs_scenarios(problem)? && outcome_at(problem, &best.x, &nominal, run)? != RecourseOutcome::Infeasible {
        return Ok(RecourseEvidence::Proved);
    }
    let clock = if run.clock().check().is_err() { run.clock().grace() } else { run.clock().clone() };
    let elastic = problem.elastic();
    let (violated, evidence, solves) = match finite_equivalent(&elastic, MAX_SCANNED) {
        Ok(points) => {
            let query = Query::maximum(&best.x, &clock);
            let found = Scan::new(&elastic, points)?.separate(&query, &mut CutPool::new(&elastic))?;
            (Some(found.xi), RecourseEvidence::Proved, found.solves)
        }
        Err(_) => {
            let (reference, seed) = (ReferenceMeasure::default(), run.limits().seed);
            let mut search = ViolationSearch::new(&elastic, reference, Schedule::default(), seed, &clock)?;
            let violated = search.run(&best.x, std::slice::from_ref(&best.worst), None, &clock)?;
            (violated, RecourseEvidence::Searched, search.solves())
        }
    };
    run.count_solves(solves);
    // The elastic recourse leaves cones out.
    let evidence = if problem.recourse.cones.is_empty() { evidence } else { RecourseEvidence::Searched };
    let Some(xi) = violated else { return Ok(evidence) };
    // The recourse itself decides whether a row is violated by more than tolerances.
    if outcome_at(problem, &best.x, &xi, run)? == RecourseOutcome::Infeasible {
        run.say("the decision has no recourse at some scenario, and is withdrawn");
        run.withdraw_incumbent();
        return Ok(RecourseEvidence::Unknown);
    }
    Ok(evidence)
}

/// The recourse's outcome at (x, ξ).
fn outcome_at(problem: &Problem, x: &[f64], xi: &[f64], run: &mut Run) -> Result<RecourseOutcome, Error> {
    let mut engine = engine(problem, &Clock::unlimited())?;
    let mut answer = Answer::new(problem);
    engine.at(x);
    engine.solve(xi, &mut answer)?;
    run.count_solves(engine.work().solves);
    Ok(answer.outcome)
}
