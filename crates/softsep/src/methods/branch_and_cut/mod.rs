//! `branch-and-cut`: mixed-integer x, Algorithms 2 and 3 of the paper in a tree of our own.

mod assignments;
mod judge;
mod multi;
mod polish;
mod root;
mod settings;

use serde_json::{Map, Value};

use self::assignments::Assignments;
use self::judge::Costs;
use self::root::Relaxed;
use self::settings::{BranchAndCutSettings, TreeKind};
use super::options::parse_options;
use super::record::is_stop;
use super::soft::{self, ChainSettings, End, Evidence, Hunt, Learned, Oracle, Teacher};
use super::{Entry, Method, Reaches};
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::{Run, Stop};
use crate::settings::Certify;
use crate::tree::{Tree, TreeSettings};
use crate::uncertainty::{ReferenceMeasure, States};

pub(super) const ENTRY: Entry = Entry {
    name: "branch-and-cut",
    summary: "one search tree over x; at its whole points ascents and a chain per integer assignment look for \
        scenarios that hurt",
    accepts: "mixed-integer x, every set, every recourse",
    guarantees: "a lower bound for sure; the objective is an estimate, or with --certify exact (and wherever that is \
        cheap) an upper bound for sure; \
                 --certify probabilistic certifies incumbents by calls of the chain (Algorithm 3)",
    reaches: Reaches::Estimate,
    options: settings::OPTIONS,
    build: |options: &Map<String, Value>| {
        let settings: BranchAndCutSettings = parse_options(options)?;
        Ok(Box::new(BranchAndCut { settings }))
    },
};

/// The share of the gap that the tree leaves to a proof of its decision. For a tree the last part is the longest, and a
/// proof comes close at once.
const BEFORE_PROOF: f64 = 0.4;

/// The share of the gap to which masters of many trees are solved.
const MASTER: f64 = 0.1;

/// Searches in a row that end where the last one did, after which there is nothing left to find.
const NOTHING_NEW: u32 = 10;

/// Branch and cut with soft separation.
#[derive(Debug, Clone, Default)]
pub struct BranchAndCut {
    settings: BranchAndCutSettings,
}

impl BranchAndCut {
    /// The judge of a run.
    fn costs<'a>(
        &self,
        problem: &'a Problem,
        certify: Certify,
        states: &'a dyn States,
        run: &Run,
    ) -> Result<Costs<'a>, Error> {
        let chains = ChainSettings { proposal: self.settings.proposal, ..ChainSettings::default() };
        Ok(Costs {
            problem,
            evidence: Evidence::new(problem, ENTRY.name, certify, run)?.with_master_gap(MASTER * run.limits().gap),
            oracle: Oracle::new(problem, states, chains.clone(), run)?,
            assignments: Assignments::new(problem, states, chains, self.settings.pace(), run)?,
            hunt: Hunt::new(problem, run.limits().seed),
            end: End::new(problem, states, certify, run)?.with_share_before_proof(BEFORE_PROOF),
            to_polish: self.settings.polish,
            certifications: 0,
        })
    }
}

impl Method for BranchAndCut {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        if self.settings.tree == TreeKind::Multi {
            super::accepts_master(ENTRY.name, problem)?;
        }
        soft::accepts_states(ENTRY.name, problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        match soft::space(problem) {
            Ok(space) => format!(
                "solves the relaxation, then searches a tree; at whole points it climbs toward bad scenarios and \
                 steps a chain over {space}"
            ),
            Err(why) => why,
        }
    }

    fn promise(&self, problem: &Problem) -> String {
        soft::promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, run: &mut Run) -> Result<(), Error> {
        self.search(problem, certify, run).1
    }
}

/// Searches one tree, and tells what that took.
fn search_tree(problem: &Problem, nodes: Option<u64>, costs: &mut Costs, run: &mut Run) -> Result<(), Error> {
    let mut tree = Tree::new(problem, TreeSettings { nodes, ..TreeSettings::default() }, run.clock())?;
    let ended = search_again(&mut tree, costs, run);
    let work = tree.work();
    run.say(&format!(
        "the tree: {} nodes, {} linear programs with {} pivots, {} more to choose branches; {} cuts",
        work.nodes,
        work.programs,
        work.pivots,
        work.probes,
        tree.cuts()
    ));
    ended
}

/// Searches a tree, again after what the end of a search has found out about its decision.
fn search_again(tree: &mut Tree, costs: &mut Costs, run: &mut Run) -> Result<(), Error> {
    let mut stale = 0;
    while stale < NOTHING_NEW {
        let cuts = costs.evidence.take_fresh();
        stale = if cuts.is_empty() { stale + 1 } else { 0 };
        tree.add(cuts);
        match tree.search(costs, run) {
            // Calls at the incumbent were for its bound alone; draws have more to say of it, and may refute it.
            Err(Error::Stopped(Stop::Gap)) if costs.end.draws() => {}
            searched => searched?,
        }
        let ended = costs.end_if_due(run);
        costs.count(run);
        ended?;
        run.tick()?;
    }
    Err(Stop::Stalled.into())
}

impl Teacher for BranchAndCut {
    fn solve_telling(
        &self,
        problem: &Problem,
        certify: Certify,
        run: &mut Run,
        learned: &mut Learned,
    ) -> Result<(), Error> {
        let states = soft::states(problem, ReferenceMeasure::default(), run.clock())?;
        let mut costs = self.costs(problem, certify, states.as_ref(), run)?;
        match root::relax(problem, self.settings.root, run)? {
            Relaxed::Solved(learned) => costs.evidence.adopt(&learned),
            Relaxed::Unbounded => return Err(costs.evidence.unbounded(run)),
        }
        let ended = match self.settings.tree {
            TreeKind::Multi => multi::search(&mut costs, run),
            TreeKind::Single => search_tree(problem, self.settings.nodes, &mut costs, run),
        };
        if ended.as_ref().is_err_and(is_stop) && run.verdict().is_none() {
            costs.prove_what_is_left(run)?;
        }
        costs.count(run);
        run.say(&format!(
            "{} integer assignments met, {} certifications",
            costs.assignments.len(),
            costs.certifications
        ));
        *learned = costs.evidence.learned();
        ended
    }
}
