//! A problem back in the words of the format.

use super::{Problem, Sparse, Symmetric};
use crate::format::{
    ConeFile, FirstStageFile, ProblemFile, Quadratic, RecourseFile, Row, Terms, UncertaintyFile, Variable, VariableKind,
};

pub(super) fn describe(problem: &Problem) -> ProblemFile {
    let (first, recourse, names) = (&problem.first, &problem.recourse, &problem.names);
    let first_variables = names.first.iter().enumerate().map(|(j, name)| Variable {
        name: name.clone(),
        cost: first.cost[j],
        lower: first.lower[j],
        upper: first.upper[j],
        kind: first.kind[j],
        cost_xi: Terms::new(),
    });
    let first_rows = names.first_rows.iter().enumerate().map(|(i, name)| Row {
        x: terms(&first.rows, i, &names.first),
        lower: first.row_lower[i],
        upper: first.row_upper[i],
        ..Row::new(name.clone())
    });
    let variables = names.recourse.iter().enumerate().map(|(j, name)| Variable {
        name: name.clone(),
        cost: recourse.cost[j],
        lower: recourse.lower[j],
        upper: recourse.upper[j],
        kind: VariableKind::Continuous,
        cost_xi: terms(&recourse.cost_xi, j, &names.parameters),
    });
    let rows = names.recourse_rows.iter().enumerate().map(|(i, name)| Row {
        name: name.clone(),
        y: terms(&recourse.g, i, &names.recourse),
        x: terms(&recourse.e, i, &names.first),
        xi: terms(&recourse.u, i, &names.parameters),
        lower: recourse.row_lower[i],
        upper: recourse.row_upper[i],
        offset: (recourse.offset[i] != 0.0).then_some(recourse.offset[i]),
    });
    let cones = recourse
        .cones
        .iter()
        .map(|cone| ConeFile { kind: cone.kind, rows: cone.rows.iter().map(|&row| names.recourse_rows[row].clone()).collect() });
    ProblemFile {
        name: problem.name.clone(),
        first_stage: FirstStageFile {
            variables: first_variables.collect(),
            constraints: first_rows.collect(),
            quadratic: quadratic(&first.quadratic, &names.first),
            constant: first.constant,
        },
        uncertainty: UncertaintyFile { parameters: names.parameters.clone(), set: problem.set.describe() },
        recourse: RecourseFile {
            variables: variables.collect(),
            constraints: rows.collect(),
            quadratic: quadratic(&recourse.quadratic, &names.recourse),
            cones: cones.collect(),
        },
    }
}

fn terms(matrix: &Sparse, row: usize, names: &[String]) -> Terms {
    matrix.row(row).map(|(col, value)| (names[col].clone(), value)).collect()
}

fn quadratic(matrix: &Symmetric, names: &[String]) -> Quadratic {
    matrix.iter().map(|(i, j, value)| (names[i].clone(), names[j].clone(), value)).collect()
}
