//! Lists drawn from the boundary of an ellipsoid: the paper's proposal with the surface factor.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::ScenarioList;
use softsep::internals::proposal::Tilted;
use softsep::proposal::{ChainState, Proposal};
use softsep::uncertainty::{SetDefinition, State};

use super::{Target, engine, key, law, numbers, problem, score, spread, state_spec};

/// A list of points `center + A u` with `|u| = 1`, and A.
fn drawn(count: usize, dim: usize, seed: u64) -> (SetDefinition, Vec<Vec<f64>>) {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let center = numbers(rng, dim, -0.5, 0.5);
    let matrix: Vec<Vec<f64>> = (0..dim).map(|_| numbers(rng, dim, -1.0, 1.0)).collect();
    let mut points = ScenarioList::new(dim);
    for _ in 0..count {
        let u: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
        let length = u.iter().map(|u| u * u).sum::<f64>().sqrt();
        let along = |row: &Vec<f64>| row.iter().zip(&u).map(|(entry, u)| entry * u / length).sum::<f64>();
        let xi: Vec<f64> = center.iter().zip(&matrix).map(|(center, row)| center + along(row)).collect();
        points.push(&xi);
    }
    let origin = SetDefinition::ellipsoid(center, matrix.clone());
    (SetDefinition::Scenarios { points, file: None, drawn_from: Some(Box::new(origin)) }, matrix)
}

/// The solution of `A z = b` in two dimensions, and of `Aᵀz = b` by the transposed matrix.
fn solve(matrix: [[f64; 2]; 2], b: [f64; 2]) -> [f64; 2] {
    let [[a, c], [d, e]] = matrix;
    let determinant = a * e - c * d;
    [(e * b[0] - c * b[1]) / determinant, (a * b[1] - d * b[0]) / determinant]
}

/// q(j|i) ∝ exp(κ⟨μ, u_j⟩)/‖A⁻ᵀu_j‖ with μ = Aᵀs/‖Aᵀs‖, by formula; the recourse gives the slope s at each row.
#[test]
fn the_list_proposal_is_the_one_of_the_paper() {
    let (set, matrix) = drawn(9, 2, 21);
    let SetDefinition::Scenarios { points, drawn_from: Some(origin), .. } = &set else { panic!("no list") };
    let SetDefinition::Ellipsoid { center, .. } = origin.as_ref() else { panic!("no ellipsoid") };
    let (points, center) = (points.clone(), center.clone());
    let problem = &problem(set, 2, 8);
    let states = problem.set.states(&state_spec(true)).unwrap();
    let a = [[matrix[0][0], matrix[0][1]], [matrix[1][0], matrix[1][1]]];
    let transposed = [[a[0][0], a[1][0]], [a[0][1], a[1][1]]];
    let (kappa, mut engine) = (10.0, engine(problem));
    let proposal = Tilted { concentration: kappa, share: 0.0 };
    for row in 0..9 {
        let mut place = ChainState::new(problem, states.as_ref());
        place.state = State::Row(row);
        states.realize(&place.state, &mut place.xi);
        softsep::recourse::Recourse::solve(&mut engine, &place.xi, &mut place.answer).unwrap();
        proposal.prepare(states.as_ref(), &mut place, 1.0);
        let s = &place.answer.slope_xi;
        let pulled = [0, 1].map(|k| transposed[k][0] * s[0] + transposed[k][1] * s[1]);
        let length = pulled[0].hypot(pulled[1]);
        let weights: Vec<f64> = points
            .iter()
            .map(|xi| {
                let u = solve(a, [xi[0] - center[0], xi[1] - center[1]]);
                let factor = solve(transposed, u);
                (kappa * (pulled[0] * u[0] + pulled[1] * u[1]) / length).exp() / factor[0].hypot(factor[1])
            })
            .collect();
        let total: f64 = weights.iter().sum();
        for (to, weight) in weights.iter().enumerate() {
            let density = proposal.log_density(states.as_ref(), &place, &State::Row(to)).unwrap();
            let want = (9.0 * weight / total).ln();
            assert!((density - want).abs() < 1e-9 * (1.0 + want.abs()), "{row} to {to}: {density} is not {want}");
        }
    }
}

/// The chain with this proposal has p_x as its law.
#[test]
fn chains_on_drawn_lists() {
    let problem = &problem(drawn(12, 3, 22).0, 3, 8);
    let states = problem.set.states(&state_spec(true)).unwrap();
    let states = states.as_ref();
    let all = states.enumerate(12).unwrap();
    let index: BTreeMap<_, _> = all.iter().enumerate().map(|(index, state)| (key(state), index)).collect();
    let (mut engine, mut xi, temperature) = (engine(problem), vec![0.0; 3], 1.5 * spread(problem, states));
    let nodes = all.iter().enumerate().map(|(index, state)| {
        states.realize(state, &mut xi);
        (score(problem, &mut engine, &xi), 1.0, index)
    });
    let want = law(nodes.collect::<Vec<_>>(), all.len(), temperature);
    let bin = |place: &ChainState| index[&key(&place.state)];
    let target = Target { problem, states, temperature, bin: &bin, want };
    target.check("tilted", &Tilted { concentration: 1.0, share: 0.0 });
    target.check("tilted with a share", &Tilted { concentration: 5.0, share: 0.3 });
}
