//! The hot loop allocates nothing: a recourse solve that a known basis answers, the support functions with closed
//! forms, draws and tilts of states, steps of chains.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use softsep::definition::{Complaints, Row};
use softsep::internals::certification::{Certifier, Judgement};
use softsep::internals::chain::{Acceptance, Chain, TransitionKernel};
use softsep::internals::proposal::Uniform;
use softsep::internals::proposal::{HitAndRun, KernelMixture, Langevin, ProposalMixture, Tilted, Weighted};
use softsep::internals::recourse::Linear;
use softsep::internals::uncertainty::build;
use softsep::internals::uncertainty::vertex_walk;
use softsep::proposal::{Proposal, ProposalKind, ProposalOptions};
use softsep::recourse::{Answer, Recourse};
use softsep::run::{Clock, Purpose, stream};
use softsep::uncertainty::{CachedTilt, ReferenceMeasure, SetDefinition, Sides, Space, State, StateSpec, States};
use softsep::{ProbabilisticTarget, Problem};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

struct Counting;

/// Allocations of all threads.
static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Allocations of this thread: the test runner's own thread may allocate at any moment.
    static OWN: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    COUNT.fetch_add(1, Ordering::Relaxed);
    // A thread that ends may have no counter any more.
    let _ = OWN.try_with(|own| own.set(own.get() + 1));
}

fn allocations() -> u64 {
    OWN.with(Cell::get)
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// One test only: certification by draws counts the allocations of all threads.
#[test]
fn the_hot_loop_allocates_nothing() {
    solves_by_reuse_and_support_points();
    draws_and_tilts();
    moves_along_edges();
    steps_of_chains();
    draws_that_verify();
}

fn solves_by_reuse_and_support_points() {
    for uncertainty in [Uncertain::Ellipsoid, Uncertain::Budget { gamma: 0.35 }, Uncertain::Scenarios(50)] {
        let instance = LocationTransportation { n: 8, uncertainty, mixed_integer: false, seed: 3 };
        let problem = Problem::new(&location_transportation(&instance).unwrap()).unwrap();
        let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
        let mut answer = Answer::new(&problem);
        let mut xi = vec![0.0; 8];
        let mut counted = 0;
        // The first pass meets the bases and factors them; the second finds them all known.
        for pass in 0..2 {
            let (mut x, mut direction) = (vec![250.0; 8], vec![1.0; 8]);
            for round in 0..2000 {
                let before = (allocations(), engine.work().reused);
                x[round % 8] += 1e-3;
                direction[round % 8] -= 1e-3;
                problem.set.support(&direction, &mut xi).unwrap();
                engine.at(&x);
                engine.solve(&xi, &mut answer).unwrap();
                if pass == 1 && engine.work().reused > before.1 {
                    counted += 1;
                    assert_eq!(allocations(), before.0, "round {round} of {} allocates", problem.name);
                }
            }
        }
        assert!(counted > 1500, "only {counted} solves were answered by reuse");
    }
}

fn draws_and_tilts() {
    let dim = 6;
    let matrix = (0..dim).map(|row| (0..dim).map(|column| if row <= column { 1.0 } else { 0.5 }).collect()).collect();
    let (center, scale) = (vec![1.0; dim], vec![2.0; dim]);
    let sum = Row { xi: (1..=dim).map(|index| (format!("g{index}"), 1.0)).collect(), upper: 4.0, ..Row::new("sum") };
    let budget = |sides| SetDefinition::Budget { budget: 2.5, sides, center: center.clone(), scale: scale.clone() };
    let names: Vec<String> = (1..=dim).map(|index| format!("g{index}")).collect();
    for set in [
        SetDefinition::Ellipsoid { center: center.clone(), matrix },
        budget(Sides::One),
        budget(Sides::Two),
        SetDefinition::L1 { center: center.clone(), scale: scale.clone() },
        SetDefinition::Box { lower: center.clone(), upper: scale.clone() },
        SetDefinition::Polyhedron { lower: vec![0.0; dim], upper: scale.clone(), constraints: vec![sum] },
    ] {
        let set = build(&set, &names, "set", &mut Complaints::new()).unwrap();
        for (convex, reference) in
            [(true, ReferenceMeasure::Sphere), (true, ReferenceMeasure::Surface), (false, ReferenceMeasure::Sphere)]
        {
            let states = set.states(&StateSpec { convex, reference, ..StateSpec::default() }).unwrap();
            let mut random = stream(1, Purpose::Start, 0);
            let (mut state, mut cached, mut slope) = (states.blank(), CachedTilt::default(), vec![1.0; dim]);
            let (mut xi, mut pull, mut direction) = (vec![0.0; dim], vec![0.0; dim], vec![1.0; dim]);
            let mut before = 0;
            // The first round fills the buffers.
            for round in 0..200 {
                if round == 1 {
                    before = allocations();
                }
                slope[round % dim] -= 0.1;
                states.draw(&mut random, &mut state);
                states.realize(&state, &mut xi);
                states.locate(&xi, &mut state);
                if let Some(tilt) = states.tilt() {
                    tilt.prepare(&slope, tilt.concentration(), &mut cached);
                    tilt.draw(&cached, &mut random, &mut state);
                    assert!(tilt.log_density(&cached, &state).is_finite());
                }
                if let (Some(walk), State::Point(point)) = (states.local_coordinates(), &state) {
                    walk.pull_back(&slope, &mut pull);
                    walk.chord(point, &pull);
                    direction.copy_from_slice(&slope);
                    set.chord(&xi, &direction);
                }
            }
            assert_eq!(allocations(), before, "{} with convex = {convex} allocates", set.kind());
        }
    }
}

/// Draws and moves on the vertices of a polyhedron, at each of which several sets of tight facets are possible.
fn moves_along_edges() {
    let dim = 6;
    let names: Vec<String> = (1..=dim).map(|index| format!("g{index}")).collect();
    let sum = |sign: f64, upper| Row {
        xi: names.iter().map(|name| (name.clone(), sign)).collect(),
        upper,
        ..Row::new(format!("at most {upper}"))
    };
    let constraints = vec![sum(1.0, 4.0), sum(-1.0, -1.0)];
    let set = SetDefinition::Polyhedron { lower: vec![0.0; dim], upper: vec![1.0; dim], constraints };
    let states = vertex_walk(&set, &names, 0).unwrap();
    let mut random = stream(1, Purpose::Start, 0);
    let (mut state, mut to, mut xi) = (states.blank(), states.blank(), vec![0.0; dim]);
    let mut before = 0;
    for round in 0..200 {
        if round == 1 {
            before = allocations();
        }
        states.draw(&mut random, &mut state);
        states.neighbours().unwrap().draw_neighbour(&state, &mut random, &mut to);
        states.realize(&to, &mut xi);
        assert!(states.locate(&xi, &mut state));
    }
    assert_eq!(allocations(), before, "moves along edges allocate");
}

/// Every proposal that the states can carry.
fn proposals(states: &dyn States) -> Vec<Box<dyn Proposal>> {
    let options = ProposalOptions { share: 0.3, ..ProposalOptions::default() };
    let mut all: Vec<_> =
        ProposalKind::NAMES.iter().filter_map(|(_, choice)| choice.build(states, &options).ok()).collect();
    if let Some(tilted) = Tilted::of(states, 0.0) {
        all.push(Box::new(ProposalMixture::new(states, Box::new(tilted), Box::new(Uniform), 0.5).unwrap()));
        all.push(Box::new(KernelMixture::new(Box::new(tilted), Box::new(Uniform), 0.5).unwrap()));
    }
    match states.space() {
        Space::Body(_) => {
            let langevin = Box::new(Langevin::of(states, 1.0).unwrap());
            all.push(Box::new(KernelMixture::new(langevin, Box::new(HitAndRun::of(states).unwrap()), 0.5).unwrap()));
        }
        Space::Finite(_) => {
            all.extend(Weighted::new(states, &[1.0; 50], 0.0).map(|weighted| Box::new(weighted) as Box<dyn Proposal>))
        }
        Space::Sphere(_) => {}
    }
    all
}

fn steps_of_chains() {
    for uncertainty in [Uncertain::Ellipsoid, Uncertain::Budget { gamma: 0.35 }, Uncertain::Scenarios(50)] {
        let instance = LocationTransportation { n: 8, uncertainty, mixed_integer: false, seed: 3 };
        let problem = Problem::new(&location_transportation(&instance).unwrap()).unwrap();
        for convex in [true, false] {
            let states = problem.set.states(&StateSpec { convex, ..StateSpec::default() }).unwrap();
            for (number, proposal) in proposals(states.as_ref()).iter().enumerate() {
                let kernel = TransitionKernel {
                    states: states.as_ref(),
                    proposal: proposal.as_ref(),
                    acceptance: Acceptance::Metropolis,
                    temperature: 100.0,
                };
                let mut engine = Linear::new(&problem, &Clock::unlimited()).unwrap();
                engine.at(&[250.0; 8]);
                let mut chain = Chain::new(&problem, states.as_ref(), 1, 0);
                let mut counted = 0;
                // The first steps meet the bases, and the tilts that belong to their slopes.
                for step in 0..20_000 {
                    let (before, work) = (allocations(), engine.work());
                    chain.step(&kernel, &mut engine).unwrap();
                    let asked = engine.work().solves - work.solves;
                    if step >= 10_000 && engine.work().reused - work.reused == asked {
                        counted += 1;
                        assert_eq!(allocations(), before, "step {step} of proposal {number} on {}", problem.name);
                    }
                }
                assert!(counted > 9000, "proposal {number}: only {counted} steps were answered by reuse");
            }
        }
    }
}

/// Draws and climbs from them allocate nothing: what is counted is for rounds of many draws, and for bases that are
/// new.
fn draws_that_verify() {
    for uncertainty in [Uncertain::Ellipsoid, Uncertain::Budget { gamma: 0.35 }, Uncertain::Scenarios(50)] {
        let instance = LocationTransportation { n: 8, uncertainty, mixed_integer: false, seed: 3 };
        let problem = Problem::new(&location_transportation(&instance).unwrap()).unwrap();
        let states = problem.set.states(&StateSpec { convex: true, ..StateSpec::default() }).unwrap();
        let wanted = ProbabilisticTarget { level: 3e-4, ..ProbabilisticTarget::default() };
        let mut certifier = Certifier::new(&problem, states, wanted, 1e-3, 1, &Clock::unlimited()).unwrap();
        let x = [250.0; 8];
        // The first attempt meets the bases.
        for attempt in 0..2 {
            let before = COUNT.load(Ordering::Relaxed);
            let judged = certifier.certify(&x, 1e9).unwrap();
            let allocated = COUNT.load(Ordering::Relaxed) - before;
            assert!(matches!(judged, Judgement::Stands { solves, .. } if solves > 12_000));
            assert!(attempt == 0 || allocated < 12_000 / 2, "{allocated} allocations on {}", problem.name);
        }
    }
}
