//! `auto`: picks a method by the problem's class and size, and says so.

use serde_json::{Map, Value};

use super::{Entry, Method, Reaches, ccg, sgd};
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::Run;
use crate::settings::Certify;

pub(super) const ENTRY: Entry = Entry {
    name: "auto",
    summary: "picks a method by the problem's class and size, and says which and why",
    accepts: "what one of the other methods accepts",
    guarantees: "what the method that it picks guarantees",
    // Of `ccg`; where that does not apply, what `sgd` reaches.
    reaches: Reaches::Optimum,
    options: &[],
    build: |options: &Map<String, Value>| match options.keys().next() {
        None => Ok(Box::new(Auto { proves: (ccg::ENTRY.build)(options)?, estimates: (sgd::ENTRY.build)(options)? })),
        Some(key) => Err(format!("it has no option \"{key}\": name the method that the option belongs to")),
    },
};

/// The choice: `ccg` takes all that `extensive` does and more, and its masters hold few scenarios. Where it cannot separate, `sgd` finds a decision all the
/// same, with an estimate of what it costs.
struct Auto {
    proves: Box<dyn Method>,
    estimates: Box<dyn Method>,
}

impl Auto {
    /// The method for a problem, or why there is none.
    fn choice(&self, problem: &Problem) -> Result<&dyn Method, Unsupported> {
        match self.proves.accepts(problem) {
            Ok(()) => Ok(self.proves.as_ref()),
            Err(_) if self.estimates.accepts(problem).is_ok() => Ok(self.estimates.as_ref()),
            Err(refusal) => Err(refusal),
        }
    }
}

impl Method for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        self.choice(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem) -> String {
        match self.choice(problem) {
            Ok(choice) => format!("picks {}: {}", choice.name(), choice.plan(problem)),
            Err(refusal) => refusal.to_string(),
        }
    }

    fn promise(&self, problem: &Problem) -> String {
        match self.choice(problem) {
            Ok(choice) => choice.promise(problem),
            Err(refusal) => refusal.to_string(),
        }
    }

    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error> {
        let choice = self.choice(problem)?;
        if choice.name() != ccg::ENTRY.name
            && let Err(refusal) = self.proves.accepts(problem)
        {
            run.say(&format!("{} does not apply: {}", ccg::ENTRY.name, refusal.feature));
        }
        run.say(&format!("auto picks {}: {}", choice.name(), choice.plan(problem)));
        run.set_method(choice.name());
        choice.solve(problem, certify, run)
    }
}
