//! The default decision of a diagnosis: the optimum for the nominal scenario alone.

use crate::definition::ScenarioList;
use crate::error::Error;
use crate::methods::ExtensiveSettings;
use crate::model::Problem;
use crate::run::{Clock, Silent};
use crate::settings::Settings;
use crate::solve::solve_with;
use crate::uncertainty::SetDefinition;

/// Returns the optimal decision for the nominal scenario, from one master problem. Errs if there is none.
pub fn nominal_decision(problem: &Problem, clock: &Clock) -> Result<Vec<f64>, Error> {
    let mut nominal = vec![0.0; problem.set.dim()];
    problem.set.nominal(&mut nominal);
    let mut points = ScenarioList::new(nominal.len());
    points.push(&nominal);
    let mut file = problem.definition();
    file.uncertainty.set = SetDefinition::scenarios(points);
    let alone = Problem::new(&file)?;
    let settings =
        Settings { method: ExtensiveSettings::default().into(), time_limit: clock.left(), ..Settings::default() };
    let without = |why: &str| Error::Settings(format!("{why}; give a decision by \"--x\""));
    let outcome = solve_with(&alone, &settings, &mut Silent, clock.interrupt()).map_err(|error| match error {
        Error::Unsupported(refusal) => {
            without(&format!("the nominal scenario alone cannot be solved: {}", refusal.feature))
        }
        error => error,
    })?;
    clock.check()?;
    if let Some(failure) = outcome.failure {
        return Err(failure);
    }
    let best = outcome.bounds.best().ok_or_else(|| without("the nominal scenario alone has no optimum"))?;
    Ok(best.x.clone())
}
