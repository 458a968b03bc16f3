//! `auto`: picks a method by the problem's class and size, and says so.

use serde_json::{Map, Value};

use super::{Entry, Method, Reaches, ccg};
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::Run;
use crate::settings::Certify;

pub(super) const ENTRY: Entry = Entry {
    name: "auto",
    summary: "picks a method by the problem's class and size, and says which and why",
    accepts: "what one of the other methods accepts",
    guarantees: "what the method that it picks guarantees",
    reaches: Reaches::Optimum,
    options: &[],
    build: |options: &Map<String, Value>| match options.keys().next() {
        None => Ok(Box::new(Auto { choice: (ccg::ENTRY.build)(options)? })),
        Some(key) => Err(format!("it has no option \"{key}\": name the method that the option belongs to")),
    },
};

/// The choice: `ccg` takes all that `extensive` does and more, and its masters hold few scenarios.
struct Auto {
    choice: Box<dyn Method>,
}

impl Method for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        self.choice.accepts(problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        format!("picks {}: {}", self.choice.name(), self.choice.plan(problem))
    }

    fn promise(&self, problem: &Problem) -> String {
        self.choice.promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error> {
        run.say(&format!("auto picks {}: {}", self.choice.name(), self.choice.plan(problem)));
        run.set_method(self.choice.name());
        self.choice.solve(problem, certify, run)
    }
}
