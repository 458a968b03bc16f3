//! Masters that are unbounded: whether the problem is, or is infeasible, methods with exact separations find out.

use super::{Certify, GenerationSettings, Method, MethodSettings};
use crate::cuts::WarmStart;
use crate::error::Error;
use crate::master::Recession;
use crate::model::{Problem, ProblemDefinition};
use crate::run::{Limits, Run, Silent, Stop, Unbounded, Verdict};

/// Continues after a master that is unbounded at a typical scenario.
///
/// Where costs are fixed, Benders decomposition proves the problem unbounded or infeasible. Where they move with ξ,
/// other scenarios may bound it: of a list `ccg` adds as many as it takes; over another set there is a ray that falls
/// at all of them. Errs where such a ray was not found.
pub(super) fn prove_unbounded(problem: &Problem, certify: Certify, run: &mut Run) -> Result<Stop, Error> {
    let settings = GenerationSettings::default();
    if !problem.recourse.costs_move() {
        run.say("the cost at a typical scenario falls without end: a proof by cuts");
        return hand_over_to(&MethodSettings::Benders(settings), problem, certify, run);
    }
    if problem.set.is_finite_list() {
        run.say("the cost at a typical scenario falls without end: ccg adds scenarios that bound it");
        return hand_over_to(&MethodSettings::Ccg(settings), problem, certify, run);
    }
    match Recession::of(problem, run.clock())? {
        Recession::Falls(ray) => {
            prove_if_feasible(problem, ray, MethodSettings::Benders(settings).build().as_ref(), run)
        }
        Recession::Bounded(_) | Recession::Unknown => Err(Error::Master(
            "the cost at a typical scenario falls without end, and there is no decision to start from; give bounds to \
             the variables that it falls along"
                .into(),
        )),
    }
}

fn hand_over_to(settings: &MethodSettings, problem: &Problem, certify: Certify, run: &mut Run) -> Result<Stop, Error> {
    let method = settings.build();
    method.accepts(problem)?;
    method.solve(problem, certify, &mut WarmStart::cold(problem), run)
}

/// Proves the problem unbounded along a ray that falls at every scenario, or infeasible: `method` solves the problem
/// without costs, which shows whether some decision is feasible.
pub(super) fn prove_if_feasible(
    problem: &Problem,
    ray: Unbounded,
    method: &dyn Method,
    run: &mut Run,
) -> Result<Stop, Error> {
    run.say("the master is unbounded, and so is the problem if some decision is feasible; looking for one");
    let free = without_costs(problem)?;
    let used = run.iterations();
    let iterations = run.limits().iterations.map(|limit| limit.saturating_sub(used).max(1));
    let mut silent = Silent;
    let limits = Limits { iterations, ..run.limits().clone() };
    let mut search = Run::new(run.method(), limits, run.clock().clone(), &mut silent).with_solver(run.solver());
    let stop = method.solve(&free, Certify::Exact, &mut WarmStart::cold(&free), &mut search)?;
    let (verdict, is_feasible) = (search.verdict().cloned(), search.bounds().upper().is_some());
    run.count_solves(search.recourse_solves());
    run.count_exact(search.exact_separations());
    run.count_nodes(search.nodes());
    Ok(match verdict {
        Some(verdict) => run.prove(verdict),
        None if is_feasible => run.prove(Verdict::Unbounded(ray)),
        None => stop,
    })
}

/// The same problem without costs.
fn without_costs(problem: &Problem) -> Result<Problem, Error> {
    let ProblemDefinition { mut first_stage, mut recourse, uncertainty, name } = problem.definition();
    first_stage.constant = 0.0;
    first_stage.quadratic.clear();
    recourse.quadratic.clear();
    for variable in first_stage.variables.iter_mut().chain(&mut recourse.variables) {
        variable.cost = 0.0;
        variable.cost_xi.clear();
    }
    Ok(Problem::new(&ProblemDefinition { first_stage, recourse, uncertainty, name })?)
}
