//! The loop that column-and-constraint generation and Benders decomposition share: solve the master, separate at its decision, let the master
//! grow by what was found, until no scenario is worse than the master thinks.

use std::borrow::Cow;

use super::record::{is_stop, record};
use crate::error::{Error, Unsupported};
use crate::format::Points;
use crate::master::{Copies, Ended, explain_infeasible, explain_unbounded};
use crate::model::Problem;
use crate::recourse::Cut;
use crate::run::{Run, Verdict};
use crate::separation::{Ask, Found, Scan, stand_in};
use crate::settings::Certify;

/// Extreme points that are enumerated at most; a scenario list may have any length.
const ENUMERATED: usize = 200_000;

/// What a scenario that was found adds to the master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// A copy of the recourse.
    Copy,
    /// A cut.
    Cut,
}

/// Whether the loop can take a problem.
pub(super) fn accepts(method: &'static str, problem: &Problem) -> Result<(), Unsupported> {
    super::accepts_master(method, problem)?;
    stand_in(problem, ENUMERATED).map(|_| ()).map_err(|reason| Unsupported {
        method,
        feature: reason.to_string(),
        instead: "draw a list of scenarios from the set and solve that".into(),
    })
}

/// What the loop would do with a problem.
pub(super) fn plan(problem: &Problem, growth: Growth) -> String {
    match stand_in(problem, ENUMERATED) {
        Ok(points) => {
            let what = if problem.set.is_finite_list() { "scenarios" } else { "extreme points" };
            let grows = match growth {
                Growth::Copy => "adds a copy of the recourse for the worst to the master",
                Growth::Cut => "adds the cut of the worst to the master",
            };
            format!("each iteration scans {} {what} and {grows}", points.len())
        }
        Err(reason) => reason.to_string(),
    }
}

/// What the master consists of.
struct Grown<'p> {
    points: Cow<'p, Points>,
    /// Scenarios with a copy, and how many rows of `points` from the front on have one for want of a decision to separate.
    copies: Points,
    front: usize,
    cuts: Vec<Cut>,
    /// All scenarios met, for explanations.
    met: Points,
}

impl Grown<'_> {
    /// Takes up what was found; false if it is there already.
    fn take(&mut self, growth: Growth, found: Found) -> bool {
        let is_new = match (growth, found.cut) {
            (Growth::Cut, Some(cut)) => {
                let is_new = !self.cuts.contains(&cut);
                self.cuts.push(cut);
                is_new
            }
            _ => {
                let is_new = self.copies.iter().all(|xi| *xi != found.xi);
                self.copies.push(&found.xi);
                is_new
            }
        };
        if self.met.iter().all(|xi| *xi != found.xi) {
            self.met.push(&found.xi);
        }
        is_new
    }

    /// A relaxation may be unbounded where the problem is not, and then has no decision to separate: more copies, twice as many each time.
    fn take_more(&mut self) {
        let more = self.copies.len().min(self.points.len() - self.front);
        for row in self.front..self.front + more {
            self.copies.push(self.points.row(row));
            self.met.push(self.points.row(row));
        }
        self.front += more;
    }
}

/// Runs the loop.
pub(super) fn generate(problem: &Problem, growth: Growth, certify: Certify, run: &mut Run) -> Result<(), Error> {
    let points = stand_in(problem, ENUMERATED).map_err(|reason| Error::Master(reason.to_string()))?;
    let mut separation = Scan::new(problem, points.clone())?;
    let dim = problem.set.dim();
    let mut grown = Grown { points, copies: Points::new(dim), front: 1, cuts: Vec::new(), met: Points::new(dim) };
    // Both begin with one copy, which bounds θ from below.
    grown.copies.push(grown.points.row(0));
    grown.met.push(grown.points.row(0));
    loop {
        let master = Copies::new(problem, grown.copies.iter().collect(), run.clock())?.with_cuts(&grown.cuts);
        // A tenth of the gap is left to the master, so that rounding elsewhere cannot spoil the whole.
        let solved = master.solve(0.1 * run.limits().gap, run.limits().seed, run.clock())?;
        match solved.ended {
            Ended::Infeasible => {
                // Cuts do not tell where they come from; the scenarios behind them do.
                let behind = Copies::new(problem, grown.met.iter().collect(), run.clock())?;
                let verdict = run.clock().insist(|clock| explain_infeasible(&behind, clock), is_stop)?;
                return Err(run.prove(Verdict::Infeasible(verdict)).into());
            }
            Ended::Unbounded if grown.front == grown.points.len() => {
                let verdict = run.clock().insist(|clock| explain_unbounded(&master, clock), is_stop)?;
                return Err(run.prove(Verdict::Unbounded(verdict)).into());
            }
            Ended::Unbounded => {
                grown.take_more();
                run.tick()?;
                continue;
            }
            Ended::Optimal | Ended::Stopped(_) => {}
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        let found = match &solved.x {
            Some(x) => record(problem, x, grown.points.row(0), &mut separation, &Ask::MAXIMUM, certify, run)?,
            None => None,
        };
        run.tick()?;
        if let Ended::Stopped(stop) = solved.ended {
            return Err(stop.into());
        }
        // Where what is worst costs no more than the master thinks, or is there already, the bounds are as close as tolerances allow.
        let is_worse = |found: &Found| solved.theta.is_none_or(|theta| found.value > theta + 1e-9 * theta.abs().max(1.0));
        if !found.filter(is_worse).is_some_and(|found| grown.take(growth, found)) {
            return Ok(());
        }
    }
}
