//! Moves to neighbours on extreme points of budgets.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use softsep::internals::proposal::Neighbour;
use softsep::testing::{ProposalTrial, check_proposal};
use softsep::uncertainty::{SetDefinition, Sides, StateSpec, Trend};

use super::{engine, numbers, problem, state_spec};

/// Detailed balance of moves to neighbours, exactly, for every kind of budget: fractional and not, on one side and on
/// both, with all of the budget spent and without, and for the degenerate ones.
#[test]
fn neighbours_on_budgets_are_in_detailed_balance() {
    let rng = &mut ChaCha8Rng::seed_from_u64(6);
    let (center, scale) = (numbers(rng, 4, -0.5, 0.5), numbers(rng, 4, 0.3, 1.0));
    for amount in [0.0, 0.4, 1.0, 1.6, 2.0, 2.7, 3.3, 4.0, 9.0] {
        for sides in [Sides::One, Sides::Two] {
            for trend in [Trend::Unknown, Trend::Rising] {
                let set = SetDefinition::Budget { budget: amount, sides, center: center.clone(), scale: scale.clone() };
                let problem = &problem(set, 4, 3);
                let spec = StateSpec { trends: vec![trend; 4], ..state_spec(true) };
                let states = problem.set.states(&spec).unwrap();
                let proposal = Neighbour::of(states.as_ref()).unwrap();
                let trial = ProposalTrial { problem, states: states.as_ref(), proposal: &proposal, temperature: 0.3 };
                check_proposal(&trial, &mut engine(problem), 5);
            }
        }
    }
}
