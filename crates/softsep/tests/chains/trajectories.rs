//! Hamiltonian trajectories on every shape of body.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use softsep::definition::Row;
use softsep::internals::proposal::Hamiltonian;
use softsep::testing::{ProposalTrial, check_proposal, check_trajectories};
use softsep::uncertainty::{SetDefinition, Sides};

use super::{ellipsoid, engine, numbers, problem, spread, state_spec};

/// At high and at low temperature, trajectories are reversible, with several reflections on the way, and few of them
/// are given up.
#[test]
fn trajectories_lead_back() {
    let rng = &mut ChaCha8Rng::seed_from_u64(12);
    let (center, scale) = (numbers(rng, 4, -0.5, 0.5), numbers(rng, 4, 0.3, 1.0));
    let budget = |budget, sides| SetDefinition::Budget { budget, sides, center: center.clone(), scale: scale.clone() };
    let mut cut = Row::new("cut");
    cut.xi = (0..4).map(|entry| (format!("g{entry}"), 1.0)).collect();
    cut.upper = 0.8;
    let sets = [
        SetDefinition::Box { lower: numbers(rng, 4, -1.0, -0.2), upper: numbers(rng, 4, 0.2, 1.0) },
        budget(1.6, Sides::One),
        budget(2.3, Sides::Two),
        SetDefinition::L1 { center: center.clone(), scale: scale.clone() },
        SetDefinition::Polyhedron { lower: vec![-0.5; 4], upper: vec![0.7; 4], constraints: vec![cut] },
    ];
    let problems = sets.into_iter().map(|set| problem(set, 4, 5)).chain([ellipsoid(4, 9)]);
    for problem in problems {
        let states = problem.set.states(&state_spec(false)).unwrap();
        let moves = Hamiltonian::of(states.as_ref(), 1.0).unwrap();
        for share in [2.0, 1e-2, 1e-5] {
            let temperature = share * spread(&problem, states.as_ref());
            let trial = ProposalTrial { problem: &problem, states: states.as_ref(), proposal: &moves, temperature };
            check_proposal(&trial, &mut engine(&problem), 3);
            let complete = check_trajectories(&trial, &moves, &mut engine(&problem), 4);
            assert!(complete >= 150, "{}, {share}: {complete} of 200 trajectories", problem.name);
        }
    }
}
