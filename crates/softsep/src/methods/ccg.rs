//! `ccg`: column-and-constraint generation (Zeng and Zhao 2013). The master holds one copy of the recourse per scenario found so far; the worst
//! scenario of its decision joins it, until no scenario is worse than the master thinks.

use serde_json::{Map, Value};

use super::record::{is_stop, record};
use super::{Entry, Method};
use crate::error::{Error, Unsupported};
use crate::format::Points;
use crate::master::{Copies, Ended, explain_infeasible, explain_unbounded};
use crate::model::Problem;
use crate::run::{Run, Verdict};
use crate::separation::{Scan, stand_in};
use crate::settings::Certify;

pub(super) const ENTRY: Entry = Entry {
    name: "ccg",
    summary: "column-and-constraint generation: the worst scenario of each decision joins the master with a copy of the recourse",
    accepts: "scenario lists of any length, and sets whose extreme points can be enumerated where costs do not move with ξ; linear recourse with \
              continuous or integer x, quadratic and conic ones with continuous x",
    guarantees: "the optimum, with deterministic bounds after every iteration",
    options: &[],
    build: |options: &Map<String, Value>| match options.keys().next() {
        None => Ok(Box::new(Ccg)),
        Some(key) => Err(format!("it has no option \"{key}\"")),
    },
};

/// Extreme points that are enumerated at most; a scenario list may have any length.
const ENUMERATED: usize = 200_000;

/// Column-and-constraint generation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ccg;

impl Method for Ccg {
    fn name(&self) -> &'static str {
        "ccg"
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        super::accepts_master("ccg", problem)?;
        stand_in(problem, ENUMERATED).map(|_| ()).map_err(|reason| Unsupported {
            method: "ccg",
            feature: reason.to_string(),
            instead: "draw a list of scenarios from the set and solve that".into(),
        })
    }

    fn plan(&self, problem: &Problem) -> String {
        match stand_in(problem, ENUMERATED) {
            Ok(points) => {
                let what = if problem.set.is_finite_list() { "scenarios" } else { "extreme points" };
                format!("each iteration scans {} {what} and adds the worst to the master", points.len())
            }
            Err(reason) => reason.to_string(),
        }
    }

    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error> {
        let points = match stand_in(problem, ENUMERATED) {
            Ok(points) => points,
            Err(reason) => return Err(Error::Master(reason.to_string())),
        };
        let mut separation = Scan::new(problem, points.clone())?;
        let mut chosen = Points::new(problem.set.dim());
        chosen.push(points.row(0));
        let mut next = 1;
        loop {
            let copies = Copies::new(problem, chosen.iter().collect(), run.clock())?;
            // A tenth of the gap is left to the master, so that rounding elsewhere cannot spoil the whole.
            let solved = copies.solve(0.1 * run.limits().gap, run.limits().seed, run.clock())?;
            match solved.ended {
                Ended::Infeasible => {
                    let verdict = run.clock().insist(|clock| explain_infeasible(&copies, clock), is_stop)?;
                    return Err(run.prove(Verdict::Infeasible(verdict)).into());
                }
                Ended::Unbounded if next >= points.len() => {
                    let verdict = run.clock().insist(|clock| explain_unbounded(&copies, clock), is_stop)?;
                    return Err(run.prove(Verdict::Unbounded(verdict)).into());
                }
                Ended::Unbounded => {
                    // A relaxation may be unbounded where the problem is not, and then has no decision to separate: more scenarios, twice as
                    // many each time.
                    let more = chosen.len().min(points.len() - next);
                    (next..next + more).for_each(|row| chosen.push(points.row(row)));
                    next += more;
                    run.tick()?;
                    continue;
                }
                Ended::Optimal | Ended::Stopped(_) => {}
            }
            if let Some(lower) = solved.lower {
                run.lower(lower);
            }
            let found = match &solved.x {
                Some(x) => record(problem, x, points.row(0), &mut separation, certify, run)?,
                None => None,
            };
            run.tick()?;
            if let Ended::Stopped(stop) = solved.ended {
                return Err(stop.into());
            }
            match found {
                Some(found) if chosen.iter().all(|xi| *xi != found.xi) => chosen.push(&found.xi),
                // The worst scenario is in the master already: the bounds are as close as the solvers' tolerances allow.
                _ => return Ok(()),
            }
        }
    }
}
