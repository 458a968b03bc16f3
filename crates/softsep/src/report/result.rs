//! An outcome as an `aro-result/1` file.

use crate::format::{CertificateFile, InfeasibleFile, NamedValues, ResultFile, WorstCaseFile};
use crate::model::Problem;
use crate::outcome::Outcome;
use crate::run::{Assumption, Bounds, Infeasible, Verdict};

/// Converts an outcome to the file format.
pub fn result_file(problem: &Problem, outcome: &Outcome) -> ResultFile {
    let names = &problem.names;
    let mut file = ResultFile::new(outcome.status, outcome.stop, outcome.method, outcome.seed);
    file.failure = outcome.failure.as_ref().map(ToString::to_string);
    file.lower_bound = outcome.bounds.lower();
    file.upper_bound = outcome.bounds.reported_upper();
    file.gap = outcome.bounds.gap();
    if let Some(best) = outcome.bounds.best() {
        file.objective = outcome.bounds.objective();
        file.nominal_cost = outcome.bounds.nominal_cost();
        file.x = Some(NamedValues::new(&names.first, &best.x));
        file.recourse = Some(outcome.recourse);
    }
    if outcome.verdict.is_none() {
        file.certificate = Some(certificate_file(&outcome.bounds));
    }
    file.worst_case = outcome.worst_case.as_ref().map(|worst| WorstCaseFile {
        xi: NamedValues::new(&names.parameters, &worst.xi),
        recourse_cost: worst.cost,
        y: (worst.y.len() == names.recourse.len()).then(|| NamedValues::new(&names.recourse, &worst.y)),
    });
    match &outcome.verdict {
        Some(Verdict::Infeasible(infeasible)) => file.infeasible = Some(infeasible_file(problem, infeasible)),
        Some(Verdict::Unbounded(unbounded)) if !unbounded.recourse.is_empty() => {
            file.unbounded = Some(unbounded.recourse.iter().map(|&j| names.recourse[j].clone()).collect());
        }
        _ => {}
    }
    file.iterations = outcome.iterations;
    file.recourse_solves = outcome.recourse_solves;
    file.seconds = outcome.seconds;
    file
}

fn certificate_file(bounds: &Bounds) -> CertificateFile {
    let mut file = CertificateFile::new(bounds.certificate());
    if let Some(likely) = bounds.likely() {
        file.confidence = Some(likely.confidence);
        file.assumes = likely.assumes.iter().map(Assumption::to_owned_name).collect();
    }
    file.violation = bounds.violation().cloned();
    file
}

fn infeasible_file(problem: &Problem, infeasible: &Infeasible) -> InfeasibleFile {
    let names = &problem.names;
    let first = infeasible.first_rows.iter().map(|&row| names.first_rows[row].clone());
    let recourse = infeasible.recourse_rows.iter().map(|&row| names.recourse_rows[row].clone());
    InfeasibleFile {
        stage: infeasible.stage,
        xi: infeasible.xi.iter().map(|xi| NamedValues::new(&names.parameters, xi)).collect(),
        rows: first.chain(recourse).collect(),
        why: infeasible.why.clone(),
    }
}
