//! The definition of a checked problem.

use std::sync::Arc;

use super::{Problem, ProblemDefinition, Sparse, Symmetric};
use crate::definition::{
    ConeDefinition, FirstStageDefinition, Quadratic, RecourseDefinition, Row, Terms, Variable, VariableKind,
};
use crate::uncertainty::{SetDefinition, UncertaintyDefinition};

pub(super) fn describe(problem: &Problem) -> ProblemDefinition {
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
        x: terms(&first.rows, i, &names.first, first.row_scale[i]),
        lower: first.row_lower[i] / first.row_scale[i],
        upper: first.row_upper[i] / first.row_scale[i],
        ..Row::new(name.clone())
    });
    let variables = names.recourse.iter().enumerate().map(|(j, name)| Variable {
        name: name.clone(),
        cost: recourse.cost[j],
        lower: recourse.lower[j],
        upper: recourse.upper[j],
        kind: VariableKind::Continuous,
        cost_xi: terms(&recourse.cost_xi, j, &names.parameters, 1.0),
    });
    let rows = names.recourse_rows.iter().enumerate().map(|(i, name)| Row {
        name: name.clone(),
        y: terms(&recourse.g, i, &names.recourse, recourse.row_scale[i]),
        x: terms(&recourse.e, i, &names.first, recourse.row_scale[i]),
        xi: terms(&recourse.u, i, &names.parameters, recourse.row_scale[i]),
        lower: recourse.row_lower[i] / recourse.row_scale[i],
        upper: recourse.row_upper[i] / recourse.row_scale[i],
        offset: (recourse.offset[i] != 0.0).then_some(recourse.offset[i]),
    });
    let cones = recourse.cones.iter().map(|cone| ConeDefinition {
        kind: cone.kind,
        rows: cone.rows.iter().map(|&row| names.recourse_rows[row].clone()).collect(),
    });
    let set = problem.set.describe().unwrap_or_else(|| SetDefinition::Custom(Arc::clone(&problem.set)));
    ProblemDefinition {
        name: problem.name.clone(),
        first_stage: FirstStageDefinition {
            variables: first_variables.collect(),
            constraints: first_rows.collect(),
            quadratic: quadratic(&first.quadratic, &names.first),
            constant: first.constant,
        },
        uncertainty: UncertaintyDefinition { parameters: names.parameters.clone(), set },
        recourse: RecourseDefinition {
            variables: variables.collect(),
            constraints: rows.collect(),
            quadratic: quadratic(&recourse.quadratic, &names.recourse),
            cones: cones.collect(),
        },
    }
}

/// The terms of a row before it was scaled.
fn terms(matrix: &Sparse, row: usize, names: &[String], scale: f64) -> Terms {
    matrix.row(row).map(|(col, value)| (names[col].clone(), value / scale)).collect()
}

fn quadratic(matrix: &Symmetric, names: &[String]) -> Quadratic {
    matrix.iter().map(|(i, j, value)| (names[i].clone(), names[j].clone(), value)).collect()
}
