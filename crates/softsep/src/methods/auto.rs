//! `auto`: chooses methods by the problem's class and size, reports the choice, and continues with another method where
//! one does not close the gap, or fails.

use std::sync::Arc;

use super::{
    AdrSettings, BranchAndCutSettings, BundleSettings, Entry, ExtensiveSettings, GenerationSettings, Method,
    MethodSettings, Reaches, run_method,
};
use crate::certify::Certify;
use crate::cuts::WarmStart;
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::{Run, Stop};
use crate::separation::Exact;
use crate::uncertainty::Count;

/// The largest number of coefficients of an affine policy, one for each y and each entry of ξ, with which branch and
/// bound on ξ is fast enough for every iteration of `ccg`. Ellipsoids take longer.
const QUICK_COEFFICIENTS: usize = 30_000;

/// The largest number of coefficients with which an exact separation proves the final decision without being asked for:
/// its first bound takes seconds. With a time limit a proof is always tried.
const PROVABLE_COEFFICIENTS: usize = 400_000;

pub(super) const ENTRY: Entry = Entry {
    name: "auto",
    summary: "picks methods by the problem's class and size, and says which and why",
    accepts: "what one of the other methods accepts",
    guarantees: "what the methods that it picks guarantee",
    // With an exact separation that is not too expensive; elsewhere an estimate, as `bundle`.
    reaches: Reaches::Optimum,
    options: &[],
    parse: |options| match options.keys().next() {
        None => Ok(MethodSettings::Auto),
        Some(key) => Err(format!("it has no option \"{key}\": name the method that the option belongs to")),
    },
};

/// The automatic choice, with the methods to choose from.
pub(super) struct Auto {
    bundle: Arc<dyn Method>,
    branch_and_cut: Arc<dyn Method>,
    ccg: Arc<dyn Method>,
    /// The methods that continue where the others fail.
    substitutes: [Arc<dyn Method>; 2],
    /// The method that has an upper bound where the others have none.
    adr: Arc<dyn Method>,
}

/// The methods for a problem, and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    /// `ccg` alone: the set can be scanned, or each exact separation is fast.
    Ccg,
    /// A method with soft separation for the decision and an exact separation for the proof; `ccg` takes over where
    /// that does not close the gap.
    SoftThenProof,
    /// A method with soft separation, and a proof on request only.
    Soft,
}

impl Auto {
    /// The methods with their default settings.
    pub(super) fn new() -> Self {
        Self {
            bundle: MethodSettings::Bundle(BundleSettings::default()).build(),
            // Where a tree over cuts is slow, masters with scenario copies are strong.
            branch_and_cut: MethodSettings::BranchAndCut(BranchAndCutSettings {
                hands_over: true,
                ..BranchAndCutSettings::default()
            })
            .build(),
            ccg: MethodSettings::Ccg(GenerationSettings::default()).build(),
            substitutes: [
                MethodSettings::Benders(GenerationSettings::default()).build(),
                MethodSettings::Extensive(ExtensiveSettings::default()).build(),
            ],
            adr: MethodSettings::Adr(AdrSettings::default()).build(),
        }
    }

    /// The method with soft separation for the problem: one for continuous x, one for integers.
    fn soft(&self, problem: &Problem) -> &dyn Method {
        if problem.first.has_integers() { self.branch_and_cut.as_ref() } else { self.bundle.as_ref() }
    }

    /// The method that a strategy begins with.
    fn first(&self, strategy: Strategy, problem: &Problem) -> &dyn Method {
        match strategy {
            Strategy::Ccg => self.ccg.as_ref(),
            Strategy::SoftThenProof | Strategy::Soft => self.soft(problem),
        }
    }

    /// Chooses the strategy for a problem, with the reason in words. Errs if no method accepts it. `is_limited`:
    /// whether there is a time limit.
    fn choose(&self, problem: &Problem, is_limited: bool) -> Result<(Strategy, String), Unsupported> {
        let proves = self.ccg.accepts(problem);
        let soft_applies = self.soft(problem).accepts(problem).is_ok();
        let coefficients = problem.recourse.dim() * problem.set.dim();
        // Policies for recourse with cones or a quadratic cost take interior-point solves, which are much slower.
        let is_linear = problem.recourse.is_linear();
        let is_quick = is_linear && coefficients <= QUICK_COEFFICIENTS && problem.set.extremes() != Count::Infinite;
        let exact = Exact::choose(problem);
        let is_exact_quick = is_quick || matches!(exact, Ok(Exact::Scan(_)));
        let is_provable = is_exact_quick || is_limited || is_linear && coefficients <= PROVABLE_COEFFICIENTS;
        let strategy = match proves {
            Ok(()) if !soft_applies => Strategy::Ccg,
            // Masters with integers take far longer than separations: one tree is searched, not one per scenario.
            Ok(()) if is_exact_quick && !problem.first.has_integers() => Strategy::Ccg,
            Ok(()) if is_provable => Strategy::SoftThenProof,
            Err(refusal) if !soft_applies => return Err(refusal),
            Ok(()) | Err(_) => Strategy::Soft,
        };
        let reason = match (strategy, exact) {
            (Strategy::Ccg, Ok(Exact::Scan(_))) => "every scenario that matters can be asked".into(),
            (Strategy::Ccg, _) => "an exact separation is quick here".into(),
            (Strategy::SoftThenProof, _) => "it finds the decision, and one exact separation then proves it".into(),
            (Strategy::Soft, Ok(_)) => {
                "it finds the decision; a proof would be long here, and is looked for with --certify exact or a \
                 --time-limit"
                    .into()
            }
            (Strategy::Soft, Err(reason)) => format!("no separation here is exact: {reason}"),
        };
        Ok((strategy, reason))
    }

    /// All methods in the order of a strategy; those after its own continue where one fails.
    fn in_order(&self, strategy: Strategy, problem: &Problem) -> [&dyn Method; 4] {
        let (soft, ccg) = (self.soft(problem), self.ccg.as_ref());
        let [first, second] = match strategy {
            Strategy::Ccg => [ccg, soft],
            Strategy::SoftThenProof | Strategy::Soft => [soft, ccg],
        };
        let [benders, extensive] = &self.substitutes;
        [first, second, benders.as_ref(), extensive.as_ref()]
    }

    /// Runs the methods in their order until one ends. The next one continues where a method fails, and where soft
    /// separation leaves the gap open although a proof is wanted. Where all fail, the first failure is reported.
    fn run_in_order(
        &self,
        methods: &[&dyn Method],
        problem: &Problem,
        certify: Certify,
        warm: &mut WarmStart,
        run: &mut Run,
    ) -> Result<Stop, Error> {
        let mut ended = run_method(methods[0], problem, certify, warm, run);
        let mut reason = self.reason_to_continue(methods[0], &ended, problem, certify, run);
        for &method in &methods[1..] {
            let Some(why) = &reason else { break };
            if method.accepts(problem).is_err() {
                continue;
            }
            run.say(&format!("{why}: {} continues from here", method.name()));
            run.set_method(method.name());
            let next = run_method(method, problem, certify, warm, run);
            if matches!(&next, Err(error) if error.is_refusal()) {
                continue;
            }
            reason = self.reason_to_continue(method, &next, problem, certify, run);
            // The first failure is the one to report, and an end without a failure is better than any.
            if !matches!(&next, Err(error) if !error.is_interrupt()) {
                ended = next;
            }
        }
        ended
    }

    /// The reason why another method continues after one that ended so; `None` where the run is over.
    fn reason_to_continue(
        &self,
        method: &dyn Method,
        ended: &Result<Stop, Error>,
        problem: &Problem,
        certify: Certify,
        run: &Run,
    ) -> Option<String> {
        let is_soft = method.name() == self.soft(problem).name();
        match ended {
            Err(error) if error.is_interrupt() || error.is_refusal() => None,
            Err(error) => Some(format!("{} failed ({error})", method.name())),
            Ok(Stop::Stalled) if is_soft && certify == Certify::Exact && !run.bounds().meet(run.limits().gap) => {
                Some("the gap is still open".into())
            }
            Ok(_) => None,
        }
    }
}

impl Auto {
    /// Bounds the optimum by the best affine policy where the other methods `ended` without an upper bound: they
    /// failed, or a bound is wanted and its program is small enough. Returns how the run ended.
    fn bound_by_policy(
        &self,
        problem: &Problem,
        certify: Certify,
        ended: Result<Stop, Error>,
        warm: &mut WarmStart,
        run: &mut Run,
    ) -> Result<Stop, Error> {
        let has_time = match &ended {
            Ok(stop) => *stop == Stop::Stalled,
            Err(error) => !error.is_interrupt(),
        };
        let is_wanted = match certify {
            _ if ended.is_err() => true,
            Certify::Exact => true,
            Certify::Free => problem.recourse.dim() * problem.set.dim() <= PROVABLE_COEFFICIENTS,
            Certify::None | Certify::Probabilistic(_) => false,
        };
        let is_open = run.verdict().is_none() && run.bounds().upper().is_none();
        if !(has_time && is_wanted && is_open && self.adr.accepts(problem).is_ok()) {
            return ended;
        }
        let method = run.method();
        if let Err(error) = &ended {
            run.say(&format!("{method} failed: {error}"));
        }
        run.say(&format!("no upper bound is known: {} looks for one", self.adr.name()));
        run.set_method(self.adr.name());
        let stop = run_method(self.adr.as_ref(), problem, certify, warm, run);
        if run.verdict().is_some() || run.bounds().upper().is_some() {
            return stop;
        }
        run.set_method(method);
        ended
    }
}

impl Method for Auto {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        self.choose(problem, false).map(|_| ())
    }

    fn plan(&self, problem: &Problem) -> String {
        match self.choose(problem, false) {
            Ok((strategy, reason)) => {
                let method = self.first(strategy, problem);
                format!("picks {}, since {reason}: {}", method.name(), method.plan(problem))
            }
            Err(refusal) => refusal.to_string(),
        }
    }

    fn promise(&self, problem: &Problem) -> String {
        match self.choose(problem, false) {
            Ok((Strategy::Ccg | Strategy::SoftThenProof, _)) => self.ccg.promise(problem),
            Ok((Strategy::Soft, _)) => self.soft(problem).promise(problem),
            Err(refusal) => refusal.to_string(),
        }
    }

    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        let (strategy, reason) = self.choose(problem, run.clock().left().is_some())?;
        let name = self.first(strategy, problem).name();
        run.say(&format!("auto picks {name}: {reason}"));
        run.set_method(name);
        let wanted = match (strategy, certify) {
            (Strategy::Ccg | Strategy::SoftThenProof, Certify::Free) => Certify::Exact,
            _ => certify,
        };
        let ended = self.run_in_order(&self.in_order(strategy, problem), problem, wanted, warm, run);
        self.bound_by_policy(problem, certify, ended, warm, run)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::{Clock, Limits, Silent};
    use crate::testing::{Recipe, random_problem};

    /// A method that finds nothing: it stalls, or fails.
    struct Nothing {
        fails: bool,
    }

    impl Method for Nothing {
        fn name(&self) -> &'static str {
            "nothing"
        }

        fn accepts(&self, _problem: &Problem) -> Result<(), Unsupported> {
            Ok(())
        }

        fn plan(&self, _problem: &Problem) -> String {
            String::new()
        }

        fn promise(&self, _problem: &Problem) -> String {
            String::new()
        }

        fn solve(&self, _: &Problem, _: Certify, _: &mut WarmStart, _: &mut Run) -> Result<Stop, Error> {
            if self.fails { Err(Error::Master("it fails".into())) } else { Ok(Stop::Stalled) }
        }
    }

    #[test]
    fn affine_policies_bound_the_optimum_where_no_other_method_has() {
        for (seed, fails) in [(1, false), (2, true)] {
            let nothing: Arc<dyn Method> = Arc::new(Nothing { fails });
            let auto = Auto {
                bundle: Arc::clone(&nothing),
                branch_and_cut: Arc::clone(&nothing),
                ccg: Arc::clone(&nothing),
                substitutes: [Arc::clone(&nothing), nothing],
                adr: Auto::new().adr,
            };
            let recipe = Recipe { set: "ellipsoid", ..Recipe::default() };
            let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
            let solve = |certify: Certify| {
                let mut silent = Silent;
                let limits = Limits { gap: 1e-3, iterations: None, seed: 1 };
                let mut run = Run::new("auto", limits, Clock::unlimited(), &mut silent);
                let ended = auto.solve(&problem, certify, &mut WarmStart::cold(&problem), &mut run);
                (ended.is_ok(), run.bounds().upper().is_some(), run.method())
            };
            assert_eq!(solve(Certify::Free), (true, true, "adr"));
            assert_eq!(solve(Certify::Exact), (true, true, "adr"));
            assert_eq!(solve(Certify::None), (!fails, false, "nothing"));
        }
    }
}
