//! `auto`: picks methods by the problem's class and size, says so, and goes on with another where one does not close
//! the gap.

use super::ccg::{self, ccg};
use super::generation::{Generation, GenerationSettings};
use super::{BranchAndCut, Bundle, Entry, Method, MethodSettings, Reaches};
use crate::certify::Certify;
use crate::cuts::WarmStart;
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::{Run, Stop};
use crate::separation::Exact;
use crate::uncertainty::Count;

/// Coefficients of an affine policy, one for each y and each ξ, up to which an exact separation by branch and bound on
/// ξ is quick enough for every iteration of `ccg`. Ellipsoids take longer.
const QUICK: usize = 30_000;

/// The same, up to which a proof is looked for unasked once the decision is found: its first bound takes seconds. Where
/// there is a time limit there is no harm in trying.
const WORTHWHILE: usize = 400_000;

pub(super) const ENTRY: Entry = Entry {
    name: "auto",
    summary: "picks methods by the problem's class and size, and says which and why",
    accepts: "what one of the other methods accepts",
    guarantees: "what the methods that it picks guarantee",
    // Where there is an exact separation that is not too large; elsewhere what `bundle` reaches.
    reaches: Reaches::Optimum,
    options: &[],
    parse: |options| match options.keys().next() {
        None => Ok(MethodSettings::Auto),
        Some(key) => Err(format!("it has no option \"{key}\": name the method that the option belongs to")),
    },
};

/// The methods that it picks from.
pub(super) struct Auto {
    bundle: Bundle,
    branch_and_cut: BranchAndCut,
    ccg: Generation,
}

/// What it does with a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// `ccg` alone: every scenario can be asked, or each exact separation is quick.
    Ccg,
    /// A method with soft separation for the decision and an exact separation for the proof; `ccg` takes over where
    /// that does not close the gap.
    SoftThenProof,
    /// A method with soft separation, and no proof unless somebody asks for it.
    Soft,
}

impl Auto {
    /// The methods with their default settings.
    pub(super) fn new() -> Self {
        Self {
            bundle: Bundle::default(),
            branch_and_cut: BranchAndCut::default(),
            ccg: ccg(GenerationSettings::default()),
        }
    }

    /// The method with soft separation: that for continuous x, or that for integers.
    fn soft(&self, problem: &Problem) -> &dyn Method {
        if problem.first.has_integers() { &self.branch_and_cut } else { &self.bundle }
    }

    /// The way for a problem, or why there is none. `is_limited`: whether there is a time limit.
    fn choice(&self, problem: &Problem, is_limited: bool) -> Result<Choice, Unsupported> {
        let proves = self.ccg.accepts(problem);
        let descends = self.soft(problem).accepts(problem).is_ok();
        let coefficients = problem.recourse.dim() * problem.set.dim();
        // Policies of recourse with cones or a quadratic cost take an interior point much longer.
        let is_linear = problem.recourse.is_linear();
        let is_quick = is_linear && coefficients <= QUICK && problem.set.extremes() != Count::Infinite;
        match (proves, Exact::choose(problem)) {
            (Ok(()), Ok(Exact::Scan(_))) => Ok(Choice::Ccg),
            (Ok(()), _) if !descends || is_quick => Ok(Choice::Ccg),
            (Ok(()), _) if is_limited || is_linear && coefficients <= WORTHWHILE => Ok(Choice::SoftThenProof),
            (Ok(()), _) => Ok(Choice::Soft),
            (Err(_), _) if descends => Ok(Choice::Soft),
            (Err(refusal), _) => Err(refusal),
        }
    }

    /// Why, in words.
    fn reason(&self, problem: &Problem, choice: Choice) -> String {
        match (choice, Exact::choose(problem)) {
            (Choice::Ccg, Ok(Exact::Scan(_))) => "every scenario that matters can be asked".into(),
            (Choice::Ccg, _) => "an exact separation is quick here".into(),
            (Choice::SoftThenProof, _) => "it finds the decision, and one exact separation then proves it".into(),
            (Choice::Soft, Ok(_)) => {
                "it finds the decision; a proof would be long here, and is looked for with --certify exact or a \
                 --time-limit"
                    .into()
            }
            (Choice::Soft, Err(reason)) => format!("no separation here is exact: {reason}"),
        }
    }

    /// The method with soft separation, and `ccg` with its warm start if the gap is still open.
    fn solve_and_prove(
        &self,
        problem: &Problem,
        certify: Certify,
        warm: &mut WarmStart,
        run: &mut Run,
    ) -> Result<Stop, Error> {
        let soft = self.soft(problem);
        let ended = soft.solve(problem, certify, warm, run);
        let is_open = run.verdict().is_none() && !run.bounds().meet(run.limits().gap);
        let continues = match &ended {
            Ok(stop) => *stop == Stop::Stalled,
            Err(error) => !error.is_stop(),
        };
        // Where there is no exact separation, the error of the first method is to the point.
        let can_prove = certify == Certify::Exact && self.ccg.accepts(problem).is_ok();
        if !(is_open && continues && can_prove) {
            return ended;
        }
        if let Err(error) = &ended {
            run.say(&format!("{} failed: {error}", soft.name()));
        }
        run.say(&format!("the gap is still open: {} continues from here", ccg::ENTRY.name));
        run.set_method(ccg::ENTRY.name);
        self.ccg.solve(problem, certify, warm, run)
    }

    /// `ccg`, and the method with soft separation where it fails: its masters hold copies of the recourse, and are the harder
    /// ones to solve.
    fn solve_by_ccg(
        &self,
        problem: &Problem,
        certify: Certify,
        warm: &mut WarmStart,
        run: &mut Run,
    ) -> Result<Stop, Error> {
        let error = match self.ccg.solve(problem, certify, warm, run) {
            Err(error) if !error.is_stop() => error,
            ended => return ended,
        };
        let soft = self.soft(problem);
        if soft.accepts(problem).is_err() {
            return Err(error);
        }
        run.say(&format!("{} failed ({error}): {} continues", ccg::ENTRY.name, soft.name()));
        run.set_method(soft.name());
        // Where this fails too, the first failure is reported.
        match soft.solve(problem, certify, warm, run) {
            Err(other) if !other.is_stop() => Err(error),
            ended => ended,
        }
    }
}

impl Method for Auto {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        self.choice(problem, false).map(|_| ())
    }

    fn plan(&self, problem: &Problem) -> String {
        match self.choice(problem, false) {
            Ok(choice @ Choice::Ccg) => {
                format!("picks {}, since {}: {}", ccg::ENTRY.name, self.reason(problem, choice), self.ccg.plan(problem))
            }
            Ok(choice) => {
                let soft = self.soft(problem);
                format!("picks {}, since {}: {}", soft.name(), self.reason(problem, choice), soft.plan(problem))
            }
            Err(refusal) => refusal.to_string(),
        }
    }

    fn promise(&self, problem: &Problem) -> String {
        match self.choice(problem, false) {
            Ok(Choice::Ccg | Choice::SoftThenProof) => self.ccg.promise(problem),
            Ok(Choice::Soft) => self.soft(problem).promise(problem),
            Err(refusal) => refusal.to_string(),
        }
    }

    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        let choice = self.choice(problem, run.clock().left().is_some())?;
        let name = if choice == Choice::Ccg { ccg::ENTRY.name } else { self.soft(problem).name() };
        run.say(&format!("auto picks {name}: {}", self.reason(problem, choice)));
        run.set_method(name);
        match (choice, certify) {
            (Choice::Ccg, _) => self.solve_by_ccg(problem, certify, warm, run),
            (Choice::SoftThenProof, Certify::Free) => self.solve_and_prove(problem, Certify::Exact, warm, run),
            (Choice::SoftThenProof | Choice::Soft, _) => self.solve_and_prove(problem, certify, warm, run),
        }
    }
}
