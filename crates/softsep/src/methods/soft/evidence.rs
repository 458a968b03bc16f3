//! What a run has learned: the cuts seen, the lower bound that they prove, and the best decision in their light.

use serde_json::Map;

use super::memory::Memory;
use crate::error::Error;
use crate::master::{Growing, MasterSolution, MasterStatus, explain_infeasible};
use crate::methods::Method;
use crate::methods::generate::{Generator, Growth};
use crate::methods::record::is_stop;
use crate::model::Problem;
use crate::numeric::tolerances::FEASIBILITY_TOL;
use crate::proposal::ChainState;
use crate::recourse::{Answer, Cut, CutKind, Recourse, RecourseBasis, engine};
use crate::run::{Run, Stop, Verdict};
use crate::separation::{Ascent, Exact};
use crate::settings::Certify;

/// Cuts that a master takes in at once.
const MASTER_CUTS: usize = 256;

/// Scenarios that the next method is handed.
const HANDED_OVER: usize = 8;

/// Two costs closer than this, relative to their size, are equal up to the solvers' tolerances.
const TELLABLE: f64 = 1e-9;

/// A cut that left the master comes back where it says more than the master thinks by this share.
const MISSED: f64 = 1e-7;

/// A difference of costs of this size that nobody can tell.
pub(in crate::methods) fn tellable(value: f64) -> f64 {
    TELLABLE * value.abs().max(1.0)
}

/// A decision with the worst scenario known for it.
#[derive(Debug, Clone)]
pub(in crate::methods) struct Candidate {
    pub(in crate::methods) x: Vec<f64>,
    /// f(x) + Q(x, worst).
    pub(in crate::methods) value: f64,
    pub(in crate::methods) worst: Vec<f64>,
}

/// The cuts seen, and which of them are news to whom.
struct Seen<'a> {
    memory: Memory<'a>,
    /// Cuts that the master has not seen.
    pending: Vec<(Cut, Vec<f64>)>,
    /// Cuts that whoever moves x has not seen.
    fresh: Vec<Cut>,
}

impl Seen<'_> {
    /// Keeps the cut of an answer; false if it is known.
    fn keep(&mut self, answer: &Answer, xi: &[f64]) -> bool {
        let is_new = self.memory.keep(answer, xi);
        if is_new && let Some(cut) = answer.cut() {
            self.fresh.push(cut.clone());
            self.pending.push((cut, xi.to_vec()));
        }
        is_new
    }
}

/// What bounds the master from below. A copy of the recourse for the nominal scenario always does, but makes a large
/// program of a small one; once there are cuts, these may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoundedBy {
    /// The copy, and whether cuts would do is not known.
    Nominal,
    /// Cuts.
    Cuts,
    /// The copy, since cuts do not.
    NominalOnly,
}

/// What a run hands to the next one.
#[derive(Debug, Clone, Default)]
pub(in crate::methods) struct Learned {
    /// The cuts seen, with the scenarios that proved them.
    pub(in crate::methods) cuts: Vec<(Cut, Vec<f64>)>,
    /// The scenarios that hurt the best decision most.
    pub(in crate::methods) worst: Vec<Vec<f64>>,
}

/// A method that has something to tell the next one.
pub(in crate::methods) trait Teacher {
    /// Solves, and writes down what was learned however it ends.
    fn solve_telling(
        &self,
        problem: &Problem,
        certify: Certify,
        run: &mut Run,
        learned: &mut Learned,
    ) -> Result<(), Error>;

    /// Solves; what was learned, for whoever goes on from here, and how it ended.
    fn search(&self, problem: &Problem, certify: Certify, run: &mut Run) -> (Learned, Result<(), Error>) {
        let mut learned = Learned::default();
        let ended = self.solve_telling(problem, certify, run, &mut learned);
        (learned, ended)
    }
}

/// A scenario that hurts.
#[derive(Debug, Clone)]
pub(in crate::methods) struct Prey {
    pub(in crate::methods) xi: Vec<f64>,
    /// f(x) + Q(x, ξ).
    pub(in crate::methods) value: f64,
}

/// The cuts seen, the master over them and the best decision.
pub(in crate::methods) struct Evidence<'a> {
    problem: &'a Problem,
    method: &'static str,
    certify: Certify,
    /// For questions beside the chains'.
    engine: Box<dyn Recourse>,
    answer: Answer,
    seen: Seen<'a>,
    master: Growing<'a>,
    bounded_by: BoundedBy,
    master_gap: f64,
    /// The master's decision.
    lowest: Option<Vec<f64>>,
    /// The best decision by what is known of it.
    best: Option<Candidate>,
    /// Solves that are in the ledger.
    counted: u64,
}

impl<'a> Evidence<'a> {
    /// Nothing seen yet, but the nominal scenario that every master begins with.
    pub(in crate::methods) fn new(
        problem: &'a Problem,
        method: &'static str,
        certify: Certify,
        run: &Run,
    ) -> Result<Self, Error> {
        Ok(Self {
            problem,
            method,
            certify,
            engine: engine(problem, run.clock())?,
            answer: Answer::new(problem),
            seen: Seen { memory: Memory::new(problem), pending: Vec::new(), fresh: Vec::new() },
            master: Growing::new(problem, run.clock())?,
            bounded_by: BoundedBy::Nominal,
            master_gap: 0.0,
            lowest: None,
            best: None,
            counted: 0,
        })
    }

    /// The relative gap to which masters with integers are solved.
    pub(in crate::methods) fn with_master_gap(self, master_gap: f64) -> Self {
        Self { master_gap, ..self }
    }

    /// Takes up the cuts that another run has learned on the same recourse.
    pub(in crate::methods) fn adopt(&mut self, learned: &Learned) {
        for (cut, xi) in &learned.cuts {
            if self.seen.memory.insert(cut.kind, cut.intercept, &cut.slope, xi) {
                self.seen.fresh.push(cut.clone());
                self.seen.pending.push((cut.clone(), xi.clone()));
            }
        }
    }

    /// What this run has learned, for another.
    pub(in crate::methods) fn learned(&self) -> Learned {
        let memory = &self.seen.memory;
        let cut = |cut: usize| Cut {
            kind: memory.kind(cut),
            intercept: memory.intercept(cut),
            slope: memory.slope(cut).to_vec(),
        };
        Learned {
            cuts: (0..memory.len()).map(|index| (cut(index), memory.scenario(index).to_vec())).collect(),
            worst: self.best.as_ref().map_or_else(Vec::new, |best| memory.worst_scenarios(&best.x, HANDED_OVER)),
        }
    }

    /// The cuts seen.
    pub(in crate::methods) fn memory(&self) -> &Memory<'a> {
        &self.seen.memory
    }

    /// The cuts seen, for whoever steps by them.
    pub(in crate::methods) fn memory_mut(&mut self) -> &mut Memory<'a> {
        &mut self.seen.memory
    }

    /// The best decision by what is known of it.
    pub(in crate::methods) fn best(&self) -> Option<&Candidate> {
        self.best.as_ref()
    }

    /// The last master's decision.
    pub(in crate::methods) fn lowest(&self) -> Option<&[f64]> {
        self.lowest.as_deref()
    }

    /// Cuts that the master has not seen.
    pub(in crate::methods) fn pending(&self) -> usize {
        self.seen.pending.len()
    }

    /// The cuts that came since this was last asked.
    pub(in crate::methods) fn take_fresh(&mut self) -> Vec<Cut> {
        std::mem::take(&mut self.seen.fresh)
    }

    /// The slope in ξ of the last question.
    pub(in crate::methods) fn slope_xi(&self) -> &[f64] {
        &self.answer.slope_xi
    }

    /// Gives the master a copy of the recourse to a scenario.
    pub(in crate::methods) fn add_copy(&mut self, xi: &[f64], x: &[f64]) -> Result<(), Error> {
        self.master.add_copy(xi, x).map(|_| ())
    }

    /// Keeps the cuts of places that chains looked at; false if all are known.
    pub(in crate::methods) fn keep_places<'b>(&mut self, places: impl Iterator<Item = &'b ChainState>) -> bool {
        places.filter(|place| self.seen.keep(&place.answer, &place.xi)).count() > 0
    }

    /// What x costs at a scenario, with the cut that proves it kept.
    pub(in crate::methods) fn ask(&mut self, x: &[f64], xi: &[f64]) -> Result<f64, Error> {
        self.engine.at(x);
        self.engine.solve(xi, &mut self.answer)?;
        self.seen.keep(&self.answer, xi);
        Ok(self.problem.first.value(x) + self.answer.value)
    }

    /// Lets the next question begin where the master's copy of the recourse ended, which saves it a first solve from
    /// nothing.
    pub(in crate::methods) fn start_from_master(&mut self) -> Result<(), Error> {
        match self.master.recourse_start() {
            Some(start) => Ok(self.engine.start_from(&start)?),
            None => Ok(()),
        }
    }

    /// Where the last question's solve ended.
    pub(in crate::methods) fn warm_start(&self) -> RecourseBasis {
        self.engine.warm_start()
    }

    /// Climbs at x from a scenario, as long as a step gains more than this share, with the cuts of all scenarios on the
    /// way kept; the worst of them.
    pub(in crate::methods) fn climb(&mut self, x: &[f64], start: &[f64], gain: f64) -> Result<Prey, Error> {
        let Self { problem, engine, seen, .. } = self;
        let mut ascent = Ascent::new(problem, engine.as_mut(), x);
        ascent.climb_while(start, gain, &mut |xi, answer| {
            seen.keep(answer, xi);
        })?;
        Ok(Prey { xi: ascent.worst().to_vec(), value: problem.first.value(x) + ascent.value() })
    }

    /// Writes the solves since the last time into the ledger; the chains have made `elsewhere` in all.
    pub(in crate::methods) fn count(&mut self, elsewhere: u64, run: &mut Run) {
        let solves = elsewhere + self.engine.work().solves;
        run.count_solves(solves - std::mem::replace(&mut self.counted, solves) + self.master.take_solves());
    }

    /// Solves the master over the cuts seen for a lower bound; its decision. Where there are thousands of new cuts,
    /// those that matter most near a decision are taken in first, and of the others what it turns out to need.
    pub(in crate::methods) fn bound(&mut self, near: &[f64], run: &mut Run) -> Result<Option<Vec<f64>>, Error> {
        if self.seen.pending.len() > MASTER_CUTS {
            let weight = |cut: &Cut| if cut.kind == CutKind::Feasibility { f64::INFINITY } else { cut.at(near) };
            self.seen.pending.sort_by(|(a, _), (b, _)| weight(b).total_cmp(&weight(a)));
            self.seen.pending.truncate(MASTER_CUTS);
        }
        for (cut, xi) in self.seen.pending.drain(..) {
            self.master.add_cut(&xi, cut);
        }
        let solved = self.solve_bounded(run)?;
        run.set_master(self.master.size());
        match solved.status {
            MasterStatus::Infeasible => {
                let verdict =
                    run.clock().with_grace(|clock| explain_infeasible(&self.master.behind(), clock), is_stop)?;
                return Err(run.prove(Verdict::Infeasible(verdict)).into());
            }
            MasterStatus::Unbounded => return Err(self.unbounded(run)),
            MasterStatus::Stopped(stop) => return Err(stop.into()),
            MasterStatus::Optimal => {}
        }
        if let Some(lower) = solved.lower {
            run.lower(lower);
        }
        self.lowest.clone_from(&solved.x);
        Ok(solved.x)
    }

    /// Solves the master with as little as bounds it.
    fn solve_bounded(&mut self, run: &Run) -> Result<MasterSolution, Error> {
        if self.bounded_by == BoundedBy::Nominal && self.seen.memory.has_costs() {
            let nominal = self.master.release_bounds();
            let solved = self.solve_whole(run)?;
            if solved.status != MasterStatus::Unbounded {
                self.bounded_by = BoundedBy::Cuts;
                return Ok(solved);
            }
            self.bounded_by = BoundedBy::NominalOnly;
            nominal.iter().for_each(|xi| self.master.add_bound(xi));
        }
        self.solve_whole(run)
    }

    /// Solves the master until it holds all that it needs of what was seen: a cut may have been idle and left it, or
    /// have come when there were too many.
    fn solve_whole(&mut self, run: &Run) -> Result<MasterSolution, Error> {
        loop {
            let solved = self.master.solve(None, self.master_gap, run.limits().seed, run.clock())?;
            let (MasterStatus::Optimal, Some(x), Some(theta)) = (solved.status, &solved.x, solved.theta) else {
                return Ok(solved);
            };
            let beyond = theta + MISSED * theta.abs().max(1.0);
            let is_back = self.master.bring_back(x, beyond)?
                || self.seen.memory.worst(x).filter(|(_, value)| *value > beyond).is_some_and(|(cut, _)| {
                    let memory = &self.seen.memory;
                    let (intercept, slope) = (memory.intercept(cut), memory.slope(cut).to_vec());
                    self.master.add_cut(memory.scenario(cut), Cut { kind: CutKind::Optimality, intercept, slope })
                });
            if !is_back {
                return Ok(solved);
            }
        }
    }

    /// A master without a lower bound: where costs are fixed, the problem is unbounded or infeasible, and the loop of
    /// cuts proves which.
    pub(in crate::methods) fn unbounded(&self, run: &mut Run) -> Error {
        if self.problem.recourse.costs_move() {
            let instead = match Exact::choose(self.problem) {
                Ok(_) => "try --method ccg",
                Err(_) => "give bounds to the variables that it falls along",
            };
            return Error::Master(format!(
                "what a typical scenario costs falls without end, and there is no decision to start from; {instead}"
            ));
        }
        run.say("the cost of a typical scenario falls without end: a proof by cuts");
        let proof = Generator::new(self.method, Growth::Cut, &Map::new()).map_err(Error::Settings);
        match proof.and_then(|cuts| {
            cuts.accepts(self.problem).map_err(Error::from).and_then(|()| cuts.solve(self.problem, self.certify, run))
        }) {
            Ok(()) => Stop::Stalled.into(),
            Err(error) => error,
        }
    }

    /// Whether x is in X, up to what solvers return, and no scenario seen lacks recourse there.
    pub(in crate::methods) fn allows(&self, x: &[f64]) -> bool {
        self.problem.first.violation(x).is_none_or(|violation| violation.amount <= FEASIBILITY_TOL)
            && !self.seen.memory.forbids(x)
    }

    /// Notes a decision by what is known of it: the better one stays.
    pub(in crate::methods) fn consider(&mut self, x: &[f64], value: f64, worst: &[f64], run: &mut Run) -> bool {
        let is_better = value.is_finite() && self.best.as_ref().is_none_or(|best| value < best.value) && self.allows(x);
        if is_better {
            self.best = Some(Candidate { x: x.to_vec(), value, worst: worst.to_vec() });
            run.estimate(x, value, worst);
        }
        is_better
    }

    /// Notes the decision that the run would return now, better than the last one or not.
    pub(in crate::methods) fn replace(&mut self, x: Vec<f64>, value: f64, worst: Vec<f64>, run: &mut Run) {
        if value.is_finite() && self.allows(&x) {
            run.replace_estimate(&x, value, &worst);
            self.best = Some(Candidate { x, value, worst });
        }
    }

    /// What x costs at the worst scenario in memory, asked for where a cut says that it is more than `known`; and that
    /// scenario.
    pub(in crate::methods) fn recall(&mut self, x: &[f64], known: f64) -> Result<Option<(f64, Vec<f64>)>, Error> {
        match self.seen.memory.worst(x) {
            Some((cut, remembered)) if self.problem.first.value(x) + remembered > known + tellable(known) => {
                let xi = self.seen.memory.scenario(cut).to_vec();
                Ok(Some((self.ask(x, &xi)?, xi)))
            }
            _ => Ok(None),
        }
    }

    /// Looks at the best decision again in the light of new cuts.
    pub(in crate::methods) fn revise(&mut self, run: &mut Run) -> Result<(), Error> {
        let Some(best) = self.best.clone() else { return Ok(()) };
        let recalled = self.recall(&best.x, best.value)?;
        let value = recalled.as_ref().map_or(best.value, |(value, _)| *value);
        if value == f64::INFINITY || self.seen.memory.forbids(&best.x) {
            self.best = None;
            run.withdraw();
        } else if let Some((value, worst)) = recalled {
            run.revise(&best.x, value, &worst);
            self.best = Some(Candidate { value, worst, ..best });
        }
        Ok(())
    }

    /// Whether the best decision is within a relative gap of the lower bound, as far as is known.
    pub(in crate::methods) fn is_within(&self, gap: f64, run: &Run) -> bool {
        match (&self.best, run.bounds().lower()) {
            (Some(best), Some(lower)) => best.value - lower <= (gap * best.value.abs()).max(tellable(best.value)),
            _ => false,
        }
    }
}
