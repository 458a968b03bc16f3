//! `extensive`: one copy of the recourse per scenario or extreme point, all in one program.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::options::parse_options;
use super::{Entry, Method, MethodSettings, NONZEROS, OptionInfo, Reaches, scope};
use crate::certification::separate_and_record;
use crate::certify::Certify;
use crate::cuts::WarmStart;
use crate::definition::ScenarioList;
use crate::error::{Error, Unsupported};
use crate::master::{MasterStart, MasterStatus, ScenarioCopies, explain_infeasible, explain_unbounded};
use crate::model::Problem;
use crate::run::{MasterSize, Run, Stop, Verdict};
use crate::separation::soft::positive_count;
use crate::separation::{NoFiniteEquivalent, Query, Scan, finite_equivalent};
use crate::uncertainty::{Count, TooMany};

pub(super) const ENTRY: Entry = Entry {
    name: "extensive",
    summary: "one copy of the recourse per scenario or extreme point, all in one program",
    accepts: "scenario lists, and sets with few extreme points where costs do not move with ξ; linear recourse with \
              continuous or integer x, quadratic and conic recourse with continuous x",
    guarantees: "the optimum, with deterministic bounds",
    reaches: Reaches::Optimum,
    options: OPTIONS,
    parse: |options| parse_options(options, OPTIONS).map(MethodSettings::Extensive),
};

const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "max-copies",
    default: "20000",
    help: "refuse a problem that needs more copies of the recourse than this",
}];

/// The settings of `extensive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ExtensiveSettings {
    /// The largest number of scenario copies.
    #[serde(deserialize_with = "positive_count")]
    pub max_copies: usize,
}

impl Default for ExtensiveSettings {
    fn default() -> Self {
        Self { max_copies: 20_000 }
    }
}

impl ExtensiveSettings {
    /// The same settings with another limit on scenario copies.
    pub fn with_max_copies(self, max_copies: usize) -> Self {
        Self { max_copies }
    }
}

/// The extensive form.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extensive {
    settings: ExtensiveSettings,
}

impl Extensive {
    /// The method with its settings.
    pub(crate) fn new(settings: ExtensiveSettings) -> Self {
        Self { settings }
    }

    fn refuse(feature: String, instead: &str) -> Unsupported {
        Unsupported { method: "extensive", feature, instead: instead.into() }
    }

    /// Returns a finite equivalent of the set. Errs if it is too large.
    fn points<'p>(&self, problem: &'p Problem) -> Result<Cow<'p, ScenarioList>, Unsupported> {
        let limit = self.settings.max_copies;
        let points = finite_equivalent(problem, limit).map_err(|reason| {
            let instead = match reason {
                NoFiniteEquivalent::TooMany(TooMany { count: Count::Exactly(_) | Count::MoreThan(_), .. }) => {
                    "raise --max-copies if memory allows, or draw a list of scenarios from the set and solve that"
                }
                _ => &scope::advice(problem, scope::DRAW_A_LIST),
            };
            Self::refuse(reason.to_string(), instead)
        })?;
        if points.len() > limit {
            return Err(Self::refuse(
                format!("there are {} scenarios, and it takes at most {limit} copies of the recourse", points.len()),
                "raise --max-copies if memory allows, or solve a part of the list",
            ));
        }
        let recourse = &problem.recourse;
        let nonzeros = points.len().saturating_mul(recourse.g.nonzeros() + recourse.e.nonzeros() + recourse.dim());
        if nonzeros > NONZEROS {
            return Err(Self::refuse(
                format!(
                    "{} copies of the recourse have {nonzeros} nonzeros, and it takes at most {NONZEROS}",
                    points.len()
                ),
                "solve a part of the scenarios",
            ));
        }
        Ok(points)
    }
}

impl Method for Extensive {
    fn name(&self) -> &'static str {
        "extensive"
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        super::accepts_master("extensive", problem)?;
        self.points(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem) -> String {
        match self.points(problem) {
            Ok(points) => {
                let what = if problem.set.is_finite_list() { "scenarios" } else { "extreme points" };
                let (rows, cols) = (problem.recourse.rows() + 1, problem.recourse.dim());
                let count = points.len();
                format!(
                    "{count} {what}, one program with {} columns and {} rows",
                    problem.first.dim() + 1 + count * cols,
                    problem.first.rows.rows() + count * rows
                )
            }
            Err(refusal) => refusal.to_string(),
        }
    }

    fn promise(&self, _problem: &Problem) -> String {
        "the optimum, both bounds for sure; before its one program is solved, a bound from one scenario only".into()
    }

    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        let points = self.points(problem)?;
        // One scenario first: a valid lower bound and a decision, should the clock stop the second program.
        let mut stop = self.round(problem, &points, 1, certify, warm, run)?;
        if points.len() > 1 && stop.is_none() {
            stop = self.round(problem, &points, points.len(), certify, warm, run)?;
        }
        // Solvers' tolerances allow no tighter bounds.
        Ok(stop.unwrap_or(Stop::Stalled))
    }
}

impl Extensive {
    /// Solves with the first `count` scenarios, and evaluates the decision on all.
    fn round(
        &self,
        problem: &Problem,
        points: &ScenarioList,
        count: usize,
        certify: Certify,
        warm: &mut WarmStart,
        run: &mut Run,
    ) -> Result<Option<Stop>, Error> {
        let is_complete = count == points.len();
        let scenarios: Vec<&[f64]> = points.iter().take(count).collect();
        run.say(&format!("solving for {count} of {} scenarios at once", points.len()));
        let copies = ScenarioCopies::new(problem, scenarios, run.clock())?.with_solver(run.solver());
        // The master gets a tenth of the gap; the rest covers tolerances elsewhere.
        let solved = copies.solve(&MasterStart::Cold, 0.1 * run.limits().gap, run.limits().seed, run.clock())?;
        run.set_master(MasterSize { scenarios: count, cuts: 0 });
        run.count_nodes(solved.nodes);
        match solved.status {
            MasterStatus::Infeasible => {
                let verdict =
                    run.clock().with_grace(|clock| explain_infeasible(&copies, clock), Error::is_interrupt)?;
                return Ok(Some(run.prove(Verdict::Infeasible(verdict))));
            }
            MasterStatus::Unbounded if is_complete => {
                let verdict = run.clock().with_grace(|clock| explain_unbounded(&copies, clock), Error::is_interrupt)?;
                return Ok(Some(run.prove(Verdict::Unbounded(verdict))));
            }
            // With fewer scenarios the program is a relaxation, which may be unbounded where the problem is not.
            MasterStatus::Unbounded => return Ok(None),
            MasterStatus::Optimal | MasterStatus::Stopped(_) => {}
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        if let Some(x) = &solved.x {
            let mut separation = Scan::new(problem, Cow::Borrowed(points))?;
            let clock = run.clock().clone();
            let query = Query::maximum(x, &clock);
            separate_and_record(problem, &query, &mut separation, &mut warm.cuts, certify, run)?;
        }
        Ok(match (run.tick(), solved.status) {
            (None, MasterStatus::Stopped(interrupt)) => Some(interrupt.into()),
            (stop, _) => stop,
        })
    }
}
