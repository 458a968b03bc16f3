//! One transition of the oracle (Algorithm 1, lines 3 to 7) in recourse solves, and states that a chain keeps while the
//! incumbent moves (Definition 1).
#![allow(clippy::unwrap_used)]

use softsep::definition::{Row, ScenarioList, Variable};
use softsep::internals::chain::{Acceptance, Chain, TransitionKernel};
use softsep::internals::proposal::Uniform;
use softsep::recourse::engine;
use softsep::run::Clock;
use softsep::uncertainty::{SetDefinition, StateSpec};
use softsep::{Problem, ProblemDefinition};

/// Q(x, ξ) = |ξ − x| on the list 0, 1, …, 9.
fn line() -> Problem {
    let mut file = ProblemDefinition::default();
    file.first_stage.variables.push(Variable::new("x", 0.0).bounded(0.0, 9.0));
    file.uncertainty.parameters.push("xi".into());
    let points = ScenarioList::from_flat(1, 10, (0..10).map(f64::from).collect()).unwrap();
    file.uncertainty.set = SetDefinition::Scenarios { points, file: None, drawn_from: None };
    file.recourse.variables.push(Variable::new("y", 1.0));
    for (name, sign) in [("above", 1.0), ("below", -1.0)] {
        let mut row = Row { lower: 0.0, ..Row::new(name) };
        (row.y, row.x, row.xi) = (vec![("y".into(), 1.0)], vec![("x".into(), sign)], vec![("xi".into(), -sign)]);
        file.recourse.constraints.push(row);
    }
    Problem::new(&file).unwrap()
}

/// A transition after a move of the incumbent evaluates the state and the candidate; one at the same incumbent the
/// candidate alone; a candidate that is the state costs nothing.
#[test]
fn a_transition_evaluates_the_state_and_the_candidate() {
    let problem = line();
    let states = problem.set.states(&StateSpec { convex: true, ..StateSpec::default() }).unwrap();
    let mut recourse = engine(&problem, &Clock::unlimited()).unwrap();
    let kernel = TransitionKernel {
        states: states.as_ref(),
        proposal: &Uniform,
        acceptance: Acceptance::Barker,
        temperature: 2.0,
    };
    let mut chain = Chain::new(&problem, states.as_ref(), 3, 0);
    let mut counts = [0; 3];
    for step in 0..600 {
        let is_moved = step % 3 == 0;
        if is_moved {
            recourse.at(&[f64::from(step % 10)]);
            chain.incumbent_moved();
        }
        let (state, before) = (chain.current().state.clone(), recourse.work().solves);
        let has_moved = chain.step(&kernel, recourse.as_mut()).unwrap();
        let solves = recourse.work().solves - before;
        let candidate = if has_moved { &chain.current().state } else { &chain.previous_or_rejected().state };
        let expected = u64::from(is_moved) + u64::from(*candidate != state);
        assert_eq!(solves, expected, "step {step}: the incumbent moved: {is_moved}; {state:?} to {candidate:?}");
        assert_eq!(has_moved, chain.current().state != state, "step {step}");
        counts[solves as usize] += 1;
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

/// The state is carried from one incumbent to the next, and its score is that of the new incumbent.
#[test]
fn a_state_stays_while_the_incumbent_moves() {
    let problem = line();
    let states = problem.set.states(&StateSpec { convex: true, ..StateSpec::default() }).unwrap();
    let mut recourse = engine(&problem, &Clock::unlimited()).unwrap();
    let kernel = TransitionKernel {
        states: states.as_ref(),
        proposal: &Uniform,
        acceptance: Acceptance::Metropolis,
        temperature: 1e-3,
    };
    let mut chain = Chain::new(&problem, states.as_ref(), 4, 0);
    for x in [2.0, 3.5, 8.0] {
        let state = chain.current().state.clone();
        recourse.at(&[x]);
        chain.incumbent_moved();
        let (xi, value) = {
            let there = chain.evaluate(&kernel, recourse.as_mut()).unwrap();
            (there.xi[0], there.answer.value)
        };
        assert_eq!((&chain.current().state, value), (&state, (xi - x).abs()), "x = {x}");
        for _ in 0..100 {
            chain.step(&kernel, recourse.as_mut()).unwrap();
        }
        // A cold chain with uniform candidates is at the worst row but with probability 0.9¹⁰⁰ < 3e-5.
        assert_eq!(chain.current().xi[0], if x < 4.5 { 9.0 } else { 0.0 }, "x = {x}");
    }
}
