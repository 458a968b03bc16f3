//! `branch-and-cut`: mixed-integer x, Algorithms 2 and 3 of the paper in a tree of our own.

mod callback;
mod certified;
mod multi;
mod root;
mod settings;

use self::callback::SeparationCallback;
use self::certified::CertifyingCallback;
pub use self::settings::{BranchAndCutSettings, Root, TreeKind};
use super::options::parse_with_presets;
use super::relaxation::Relaxed;
use super::unbounded::prove_unbounded;
use super::{Certify, Entry, Method, MethodSettings, Reaches, scope};
use crate::cuts::{Cursor, WarmStart};
use crate::error::{Error, Unsupported};
use crate::model::Problem;
use crate::run::{Run, Stop};
use crate::separation::SeparationKind;
use crate::separation::soft::Search;
use crate::tree::{Tree, TreeSettings};

pub(super) const ENTRY: Entry = Entry {
    name: "branch-and-cut",
    summary: "one search tree over x; at its integral points ascents and a chain per integer assignment look for bad \
              scenarios",
    accepts: "mixed-integer x, every set, every recourse",
    guarantees: "a lower bound for sure; the objective is an estimate, or with --certify exact (and wherever that is \
                 cheap) an upper bound for sure; --certify probabilistic certifies incumbents by calls of the chain \
                 (Algorithm 3)",
    reaches: Reaches::Estimate,
    options: settings::OPTIONS,
    parse: |options| {
        parse_with_presets(options, settings::OPTIONS, &[("paper", BranchAndCutSettings::paper())])
            .map(MethodSettings::BranchAndCut)
    },
};

/// Searches in a row without a new cut after which the search has stalled.
const MOST_STALE: u32 = 10;

/// A trial of a tree without scenario copies: where its lower bound has come less than `share` of the way from the
/// root's bound to the incumbent's cost after so many nodes, the tree is slow.
struct Trial {
    nodes: u64,
    share: f64,
}

/// Trials after which another method continues, if one does. Of 23 instances (docs/design/masters-and-tree.md), most of
/// lot sizing and the slowest unit commitment had come at most 0.48 of the way after 800 nodes. Those that the tree
/// closes sooner than `ccg` had come at least 0.58, and 0.23 after 400.
const HAND_OVER_TRIALS: [Trial; 2] = [Trial { nodes: 400, share: 0.1 }, Trial { nodes: 800, share: 0.5 }];

/// Trials after which the tree starts again with copies, which make a node two to four times as expensive. On network
/// design a tree over cuts has come three quarters of the way after 1500 nodes, and copies double its time.
const COPY_TRIALS: [Trial; 2] = [Trial { nodes: 1500, share: 0.35 }, Trial { nodes: 4000, share: 0.8 }];

/// Copies after a slow trial.
const AUTO_COPIES: usize = 4;

/// Scenarios of the relaxation and of the incumbent that a method which continues may begin with.
const HANDED_OVER: usize = 16;
const HANDED_OVER_OF_INCUMBENT: usize = 4;

/// Branch and cut.
#[derive(Debug, Clone, Default)]
pub(crate) struct BranchAndCut {
    settings: BranchAndCutSettings,
}

impl BranchAndCut {
    /// The method with its settings.
    pub(crate) fn new(settings: BranchAndCutSettings) -> Self {
        Self { settings }
    }

    /// Refuses settings that `Search::Chains` does not go with.
    fn accepts_chains_alone(&self) -> Result<(), Unsupported> {
        let refuse = |feature: &str, instead: &str| {
            Err(Unsupported { method: ENTRY.name, feature: feature.into(), instead: instead.into() })
        };
        match (self.settings.tree, &self.settings.separation) {
            (TreeKind::Multi, _) => {
                refuse("--search chains certifies in one tree", "leave --tree multi or --search chains out")
            }
            (TreeKind::Single, SeparationKind::Auto | SeparationKind::Soft) => Ok(()),
            (TreeKind::Single, _) => {
                refuse("--search chains is a soft separation of its own", "leave --separation or --search chains out")
            }
        }
    }
}

impl Method for BranchAndCut {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn accepts(&self, problem: &Problem) -> Result<(), Unsupported> {
        if self.settings.tree == TreeKind::Multi {
            super::accepts_master(ENTRY.name, problem).map_err(|refusal| match scope::is_searchable(problem) {
                true => Unsupported { instead: "leave --tree multi out".into(), ..refusal },
                false => refusal,
            })?;
        }
        if self.settings.search == Search::Chains {
            self.accepts_chains_alone()?;
        }
        scope::accepts(ENTRY.name, &self.settings.separation, problem)
    }

    fn plan(&self, problem: &Problem) -> String {
        scope::space(problem).map_or_else(
            |reason| reason,
            |space| {
                format!(
                    "solves the relaxation, then searches a tree; at integral points it ascends to bad scenarios and \
                     steps a chain over {space}"
                )
            },
        )
    }

    fn promise(&self, problem: &Problem) -> String {
        scope::promise(problem)
    }

    fn solve(&self, problem: &Problem, certify: Certify, warm: &mut WarmStart, run: &mut Run) -> Result<Stop, Error> {
        // Constants that do not apply are refused before any work is done.
        let oracle = match self.settings.search {
            Search::Chains => Some(certified::oracle(problem, &self.settings, certify, run)?),
            Search::Combined => None,
        };
        let relaxed = match root::relax(problem, &self.settings, warm, run)? {
            Relaxed::Solved(x) => x,
            Relaxed::Ended(stop) => return Ok(stop),
            Relaxed::Unbounded => return prove_unbounded(problem, certify, run),
        };
        if let Some(oracle) = oracle {
            let callback = CertifyingCallback::new(problem, &self.settings, certify, oracle, &mut warm.cuts, run)?;
            let ended = search_by_chains(problem, self.settings.nodes, callback, run);
            super::hand_over(warm, run);
            return ended;
        }
        let mut callback = SeparationCallback::new(problem, &self.settings, certify, &mut warm.cuts, run)?;
        let ended = match self.settings.tree {
            TreeKind::Multi => multi::search(&mut callback, certify, run),
            TreeKind::Single => {
                let hands_over = self.settings.hands_over && certify == Certify::Exact;
                match search_tree(problem, &self.settings, hands_over, relaxed.as_deref(), &mut callback, run) {
                    Ok(Searched::Ended(stop)) => Ok(stop),
                    Ok(Searched::IsSlow) => {
                        drop(callback);
                        hand_over(relaxed.as_deref(), warm, run);
                        return Ok(Stop::Stalled);
                    }
                    Err(error) => Err(error),
                }
            }
        };
        if matches!(&ended, Ok(_) | Err(Error::Interrupted(_))) {
            callback.certify_at_end(run)?;
        }
        if callback.uses_draws() {
            run.say(&format!("{} certifications by draws", callback.certifications()));
        }
        drop(callback);
        super::hand_over(warm, run);
        ended
    }
}

/// Searches one tree by Algorithm 3 as printed, and logs the work of the search.
fn search_by_chains(
    problem: &Problem,
    nodes: Option<u64>,
    mut callback: CertifyingCallback,
    run: &mut Run,
) -> Result<Stop, Error> {
    // Cuts come at integral points. A relaxation without any cut needs one.
    let root_rounds = u32::from(!callback.pool.has_optimality_cuts());
    let settings = TreeSettings { nodes, root_rounds, cut_depth: 0, ..TreeSettings::default() };
    let mut tree = Tree::new(problem, settings, run.clock())?;
    let ended = tree.search(&mut callback, run);
    let stop = ended.map(|stop| stop.or_else(|| callback.ended(run)).unwrap_or(Stop::Stalled));
    log_work(&tree, run);
    if matches!(&stop, Ok(_) | Err(Error::Interrupted(_))) {
        callback.finish(run)?;
    }
    stop
}

/// How the search of one tree ended.
enum Searched {
    /// The run is over, or the tree is done.
    Ended(Stop),
    /// The lower bound rises slowly, and another method continues.
    IsSlow,
}

/// Hands the worst scenarios at the relaxation's decision to the next method, and those at the incumbent.
fn hand_over(relaxed: Option<&[f64]>, warm: &mut WarmStart, run: &Run) {
    super::hand_over(warm, run);
    let mut scenarios = relaxed.map_or_else(Vec::new, |x| warm.cuts.worst_scenarios(x, HANDED_OVER));
    for xi in warm.scenarios.drain(..).take(HANDED_OVER_OF_INCUMBENT) {
        if !scenarios.contains(&xi) {
            scenarios.push(xi);
        }
    }
    warm.scenarios = scenarios;
}

/// Searches one tree, and logs the work of the search. `relaxed` is the decision of the root's method. With copies by
/// the automatic rule the search begins without any. A slow search ends after [`HAND_OVER_TRIALS`] if it `hands_over`,
/// and starts again with some copies after [`COPY_TRIALS`].
fn search_tree(
    problem: &Problem,
    settings: &BranchAndCutSettings,
    hands_over: bool,
    relaxed: Option<&[f64]>,
    callback: &mut SeparationCallback,
    run: &mut Run,
) -> Result<Searched, Error> {
    let copies_of = |callback: &SeparationCallback, count: usize| -> Vec<Vec<f64>> {
        relaxed.map_or_else(Vec::new, |x| callback.pool.worst_scenarios(x, count))
    };
    let is_auto = settings.copies.is_none() && problem.recourse.is_linear() && problem.first.quadratic.is_zero();
    let copies = copies_of(callback, settings.copies.unwrap_or(0));
    let root_bound = run.bounds().lower();
    let mut tree = Tree::new(problem, TreeSettings { copies, ..TreeSettings::default() }, run.clock())?;
    let hand_over_trials = HAND_OVER_TRIALS.iter().filter(|_| hands_over).map(|trial| (trial, true));
    for (trial, hands_over) in hand_over_trials.chain(COPY_TRIALS.iter().map(|trial| (trial, false))) {
        if !is_auto || settings.nodes.is_some_and(|limit| limit <= trial.nodes) {
            break;
        }
        tree.set_node_limit(Some(trial.nodes));
        let ended = search_with_reserve(&mut tree, callback, run);
        if !matches!(ended, Ok(Stop::IterationLimit)) || tree.work().nodes < trial.nodes {
            log_work(&tree, run);
            return ended.map(Searched::Ended);
        }
        if closed_share(root_bound, run) < trial.share {
            log_work(&tree, run);
            if hands_over {
                run.say("the bound of the tree rises slowly");
                return Ok(Searched::IsSlow);
            }
            let copies = copies_of(callback, AUTO_COPIES);
            run.say(&format!("the bound rises slowly: the tree starts again with {} scenario copies", copies.len()));
            tree = Tree::new(problem, TreeSettings { copies, ..TreeSettings::default() }, run.clock())?;
            break;
        }
    }
    tree.set_node_limit(settings.nodes);
    let ended = search_with_reserve(&mut tree, callback, run);
    log_work(&tree, run);
    ended.map(Searched::Ended)
}

/// The share of the way from the root's bound to the incumbent's cost that the lower bound has come; 0 without an
/// incumbent.
fn closed_share(root_bound: Option<f64>, run: &Run) -> f64 {
    match (root_bound, run.bounds().lower(), run.incumbent()) {
        (Some(root), Some(lower), Some(incumbent)) if incumbent.value > root => {
            (lower - root) / (incumbent.value - root)
        }
        _ => 0.0,
    }
}

/// Searches a tree, and keeps some of a limited time for a bound of the incumbent; the search goes on in what is left
/// of it then.
fn search_with_reserve(tree: &mut Tree, callback: &mut SeparationCallback, run: &mut Run) -> Result<Stop, Error> {
    callback.keep_reserve(run);
    let ended = search_until_verified(tree, callback, run);
    if !run.free_reserve() || !matches!(ended, Ok(Stop::TimeLimit)) {
        return ended;
    }
    callback.bound_incumbent(run)?;
    match run.bounds().meet(run.limits().gap) {
        true => Ok(Stop::Gap),
        false => search_until_verified(tree, callback, run),
    }
}

/// Logs the work of a search.
fn log_work(tree: &Tree, run: &mut Run) {
    let work = tree.work();
    run.say(&format!(
        "the tree: {} nodes, {} linear programs with {} pivots, {} more to choose branches; {} cuts",
        work.nodes,
        work.programs,
        work.pivots,
        work.probes,
        tree.cuts()
    ));
}

/// Searches a tree, again after a verification has raised the incumbent's cost.
fn search_until_verified(tree: &mut Tree, callback: &mut SeparationCallback, run: &mut Run) -> Result<Stop, Error> {
    let (mut stale, mut read) = (0, Cursor::default());
    while stale < MOST_STALE {
        stale = if callback.pool.count_new(read) == 0 { stale + 1 } else { 0 };
        read = callback.pool.end();
        match tree.search(callback, run)? {
            // Calls at the incumbent were for its bound alone; draws have more to say of it, and may refute it.
            Some(Stop::Gap) if callback.uses_draws() => {}
            Some(stop) => return Ok(stop),
            None => {}
        }
        let stop = match callback.verify_if_due(run)? {
            Some(stop) => Some(stop),
            None => run.tick(),
        };
        if let Some(stop) = stop {
            return Ok(stop);
        }
    }
    Ok(Stop::Stalled)
}
