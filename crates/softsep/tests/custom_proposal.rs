//! A proposal that a user of the crate implements: it keeps the contract of proposals, and chains of every method with
//! soft separation move by it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::RngExt;
use softsep::methods::MethodSettings;
use softsep::proposal::{ChainState, Proposal, ProposalError, ProposalFactory, ProposalKind, ProposalOptions};
use softsep::recourse::engine;
use softsep::run::{Clock, Random};
use softsep::testing::{ProposalTrial, Recipe, Size, check_proposal, random_problem};
use softsep::uncertainty::{Count, Space, State, StateSpec, States};
use softsep::{
    BranchAndCutSettings, BundleSettings, GenerationSettings, Problem, SeparationKind, Settings, SgdSettings, solve,
};

/// Swaps the end of one entry of a corner of a box, each entry with the same probability.
struct Swap {
    proposed: Arc<AtomicU64>,
}

fn corner(state: &State) -> &[f64] {
    match state {
        State::Point(corner) => corner,
        State::Row(row) => panic!("row {row} is no corner"),
    }
}

impl Proposal for Swap {
    fn propose(&self, _states: &dyn States, from: &ChainState, random: &mut Random, to: &mut ChainState) {
        self.proposed.fetch_add(1, Ordering::Relaxed);
        to.state.clone_from(&from.state);
        if let State::Point(corner) = &mut to.state {
            let entry = random.random_range(0..corner.len());
            corner[entry] = -corner[entry];
        }
    }

    /// The move back is as likely.
    fn log_ratio(&self, _states: &dyn States, _from: &ChainState, _to: &ChainState) -> f64 {
        0.0
    }

    fn has_density(&self, _states: &dyn States) -> bool {
        true
    }

    /// With respect to the uniform law on 2ⁿ corners, each of the n neighbours has the density 2ⁿ/n.
    fn log_density(&self, _states: &dyn States, from: &ChainState, to: &State) -> Option<f64> {
        let (from, to) = (corner(&from.state), corner(to));
        let swapped = from.iter().zip(to).filter(|(from, to)| from != to).count();
        let entries = from.len() as f64;
        Some(if swapped == 1 { entries * 2.0_f64.ln() - entries.ln() } else { f64::NEG_INFINITY })
    }
}

/// Builds [`Swap`] for the corners of a box, and counts its candidates.
struct Swaps(Arc<AtomicU64>);

impl ProposalFactory for Swaps {
    fn build(&self, states: &dyn States, _: &ProposalOptions<'_>) -> Result<Box<dyn Proposal>, ProposalError> {
        match (states.space(), states.blank()) {
            (Space::Finite(Count::Exactly(count)), State::Point(corner)) if count == 1 << corner.len() && count > 1 => {
                Ok(Box::new(Swap { proposed: Arc::clone(&self.0) }))
            }
            (space, _) => Err(ProposalError(format!("swaps are for corners of a box, and these states are {space}"))),
        }
    }
}

fn swaps() -> (ProposalKind, Arc<AtomicU64>) {
    let proposed = Arc::new(AtomicU64::new(0));
    (ProposalKind::custom(Swaps(Arc::clone(&proposed))), proposed)
}

fn boxes(integers: bool, seed: u64) -> Problem {
    let recipe = Recipe { set: "box", integers, size: Size::Medium, ..Recipe::default() };
    Problem::new(&random_problem(&recipe, seed)).unwrap()
}

#[test]
fn a_custom_proposal_keeps_the_contract_of_proposals() {
    for seed in 0..5 {
        let problem = boxes(false, seed);
        let states = problem.set.states(&StateSpec { convex: true, ..StateSpec::default() }).unwrap();
        let proposal = swaps().0.build(states.as_ref(), &ProposalOptions::default()).unwrap();
        let mut recourse = engine(&problem, &Clock::unlimited()).unwrap();
        recourse.at(&problem.first.upper);
        let trial =
            ProposalTrial { problem: &problem, states: states.as_ref(), proposal: proposal.as_ref(), temperature: 3.0 };
        check_proposal(&trial, recourse.as_mut(), seed);
    }
}

/// The methods with soft separation whose chains move by this proposal, with the gap to which they come.
fn methods(proposal: &ProposalKind, integers: bool) -> Vec<(MethodSettings, f64)> {
    let mut tree = BranchAndCutSettings::default().with_separation(SeparationKind::Soft);
    let mut generation = GenerationSettings::default().with_separation(SeparationKind::Soft);
    let mut bundle = BundleSettings::default().with_separation(SeparationKind::Soft);
    let mut descent = SgdSettings::default();
    descent.separation = SeparationKind::Soft;
    for soft in [&mut tree.soft, &mut generation.soft, &mut bundle.soft, &mut descent.soft] {
        soft.proposal = proposal.clone();
    }
    let mut methods = vec![
        (tree.into(), 1e-4),
        (MethodSettings::Ccg(generation.clone()), 1e-4),
        (MethodSettings::Benders(generation), 1e-4),
    ];
    if !integers {
        methods.extend([(bundle.into(), 1e-4), (descent.into(), 1e-2)]);
    }
    methods
}

#[test]
fn chains_of_every_method_move_by_a_custom_proposal() {
    let mut moved = 0;
    for (integers, seed) in [(false, 0), (true, 1), (false, 2), (true, 3)] {
        let problem = boxes(integers, seed);
        let all_copies = Settings { method: "extensive".parse().unwrap(), gap: 1e-9, ..Settings::default() };
        let optimum = solve(&problem, &all_copies).unwrap().bounds.upper().unwrap();
        for kind in 0..methods(&ProposalKind::Auto, integers).len() {
            let (proposal, proposed) = swaps();
            let (method, gap) = methods(&proposal, integers).swap_remove(kind);
            let run = |threads| {
                let settings = Settings { gap, ..Settings::default().method(method.clone()).threads(threads) };
                solve(&problem, &settings).unwrap_or_else(|error| panic!("{}, {method}: {error}", problem.name))
            };
            let outcome = run(1);
            let found = outcome.bounds.best().unwrap().value;
            let context = format!("seed {seed}, {method}");
            assert!((found - optimum).abs() <= 2.0 * gap * optimum.abs().max(1.0), "{context}: {found}, not {optimum}");
            assert!(proposed.load(Ordering::Relaxed) > 0, "{context}: no chain moved by it");
            let other = run(2);
            assert_eq!((other.x(), other.recourse_solves), (outcome.x(), outcome.recourse_solves), "{context}");
            moved += 1;
        }
    }
    assert_eq!(moved, 16);
}

#[test]
fn a_refusal_names_the_proposals_that_would_work() {
    let recipe = Recipe { set: "ellipsoid", ..Recipe::default() };
    let problem = Problem::new(&random_problem(&recipe, 3)).unwrap();
    let (proposal, _) = swaps();
    let settings = Settings::default().method(methods(&proposal, false).swap_remove(3).0);
    let said = solve(&problem, &settings).err().unwrap().to_string();
    assert!(said.starts_with("swaps are for corners of a box, and these states are"), "{said}");
    assert!(said.contains("auto, uniform") && said.ends_with("would work"), "{said}");
}

#[test]
fn a_custom_proposal_is_equal_to_its_clones_and_has_no_name() {
    let (proposal, _) = swaps();
    assert_eq!(proposal, proposal.clone());
    assert_ne!(proposal, swaps().0);
    assert_eq!(proposal.to_string(), "custom");
    assert!("custom".parse::<ProposalKind>().is_err());
    for (method, _) in methods(&proposal, false) {
        assert!(method.validate().is_ok(), "{method}");
    }
}
