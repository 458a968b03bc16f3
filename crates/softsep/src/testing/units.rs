//! The same problem in other units.

use std::collections::HashMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::definition::VariableKind;
use crate::model::{Problem, ProblemDefinition, Scaling};

/// Draws of units until a problem is within the range of numbers that are accepted.
const TRIES: u64 = 200;

/// A problem written in random units, and the factor by which its costs are smaller: costs in units from 1e-8 to 1e8;
/// rows, continuous variables and parameters in units from 1e-6 to 1e6. Draws whose numbers are too small or too large
/// to be accepted are drawn again; `None` where none is accepted.
pub fn in_random_units(problem: &Problem, seed: u64) -> Option<(Problem, f64)> {
    (0..TRIES).find_map(|attempt| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(TRIES).wrapping_add(attempt));
        let mut unit = |most: i32| 10_f64.powi(rng.random_range(-most..=most));
        let first = problem.first.kind.iter().map(|kind| match kind {
            VariableKind::Continuous => unit(6),
            _ => 1.0,
        });
        let first = first.collect();
        let recourse = (0..problem.recourse.dim()).map(|_| unit(6)).collect();
        let parameters = (0..problem.set.dim()).map(|_| unit(6)).collect();
        let scaling = Scaling::given(first, recourse, parameters, unit(8), problem.recourse.cones.len());
        let mut definition = problem.definition();
        scaling.rewrite(&mut definition)?;
        write_rows_in_units(&mut definition, &mut unit);
        Problem::new(&definition).ok().map(|written| (written, scaling.cost))
    })
}

fn write_rows_in_units(definition: &mut ProblemDefinition, unit: &mut dyn FnMut(i32) -> f64) {
    let mut factors: HashMap<String, f64> = HashMap::new();
    for cone in &definition.recourse.cones {
        let factor = unit(6);
        factors.extend(cone.rows.iter().map(|row| (row.clone(), factor)));
    }
    let stages = [&mut definition.first_stage.constraints, &mut definition.recourse.constraints];
    for (stage, rows) in stages.into_iter().enumerate() {
        for row in rows {
            let in_cone = factors.get(&row.name).copied().filter(|_| stage == 1);
            let factor = in_cone.unwrap_or_else(|| unit(6));
            for terms in [&mut row.x, &mut row.y, &mut row.xi] {
                terms.iter_mut().for_each(|(_, value)| *value *= factor);
            }
            row.lower *= factor;
            row.upper *= factor;
            row.offset = row.offset.map(|offset| offset * factor);
        }
    }
}
