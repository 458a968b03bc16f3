//! An explicit affine policy as a `softsep-policy/1` file.

use crate::explicit::ExplicitPolicy;
use crate::format::{NamedValues, PolicyFile, VariablePolicy};
use crate::model::Problem;

/// Converts the policy of a decision to the file format.
pub fn policy_file(problem: &Problem, x: &[f64], explicit: &ExplicitPolicy) -> PolicyFile {
    let names = &problem.names;
    let slopes = |slopes: &[(usize, f64)]| {
        let moving = slopes.iter().filter(|(_, slope)| *slope != 0.0);
        NamedValues(moving.map(|&(entry, slope)| (names.parameters[entry].clone(), slope)).collect())
    };
    let policies = explicit.policy.constant.iter().zip(&explicit.policy.slopes);
    PolicyFile {
        problem: problem.name.clone(),
        upper_bound: explicit.upper,
        x: NamedValues::new(&names.first, x),
        recourse: names
            .recourse
            .iter()
            .zip(policies)
            // Solvers return negative zeros at bounds; they become zeros.
            .map(|(name, (constant, of))| {
                (name.clone(), VariablePolicy { constant: constant + 0.0, slopes: slopes(of) })
            })
            .collect(),
    }
}
