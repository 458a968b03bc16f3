//! Parallel tempering: the law on every rung, swaps included, and the same result on any number of threads.

use std::collections::BTreeMap;

use super::{
    BATCH, DISTANCE, ellipsoid, engine, errors_of, finite_sets, grid_on_sphere, key, law, point, score, sector, spread,
    state_spec,
};
use softsep::Problem;
use softsep::internals::chain::{Acceptance, Ladder, Replicas, TransitionKernel};
use softsep::proposal::{ChainState, ProposalKind, ProposalOptions};
use softsep::recourse::Recourse;
use softsep::run::Clock;
use softsep::uncertainty::State;

/// Replicas on a ladder of three temperatures: after burn-in the law on each rung is p_x at its temperature.
fn check_replicas(
    problem: &Problem,
    convex: bool,
    bins: usize,
    bin: &dyn Fn(&ChainState) -> usize,
    nodes: &[(f64, f64, usize)],
) {
    let states = problem.set.states(&state_spec(convex)).unwrap();
    let proposal = ProposalKind::Local.build(states.as_ref(), &ProposalOptions::default()).unwrap();
    let scale = spread(problem, states.as_ref());
    let new = || Ok(Box::new(engine(problem)) as Box<dyn Recourse>);
    let ladder = Ladder::geometric(2.0 * scale, 0.7 * scale, 3);
    let mut replicas = Replicas::new(problem, states.as_ref(), ladder, 5, new).unwrap();
    replicas.set_incumbent(&[0.4]);
    let kernel = TransitionKernel {
        states: states.as_ref(),
        proposal: proposal.as_ref(),
        acceptance: Acceptance::Metropolis,
        temperature: f64::NAN,
    };
    for _ in 0..2 {
        (0..500).for_each(|_| replicas.sweep(&kernel, 2, &Clock::unlimited()).unwrap());
        replicas.even_out();
    }
    replicas.fix_adaptation();
    let want: Vec<Vec<f64>> = replicas
        .ladder()
        .temperatures()
        .iter()
        .map(|temperature| law(nodes.iter().copied(), bins, *temperature))
        .collect();
    let mut batches: [Vec<Vec<f64>>; 3] = Default::default();
    loop {
        let mut batch = vec![vec![0.0; bins]; 3];
        for _ in 0..BATCH {
            replicas.sweep(&kernel, 1, &Clock::unlimited()).unwrap();
            for (batch, state) in batch.iter_mut().zip(replicas.states()) {
                batch[bin(state)] += 1.0 / BATCH as f64;
            }
        }
        batches.iter_mut().zip(batch).for_each(|(batches, batch)| batches.push(batch));
        assert!(batches[0].len() < 2000, "{}: the replicas do not mix", problem.name);
        if batches[0].len() < 30 || !batches[0].len().is_multiple_of(10) {
            continue;
        }
        let errors = batches.each_ref().map(|batches| errors_of(batches));
        if errors.iter().all(|(_, expected, worst)| expected + 4.0 * worst <= DISTANCE) {
            for (rung, ((mean, ..), want)) in errors.iter().zip(&want).enumerate() {
                let distance = 0.5 * mean.iter().zip(want).map(|(found, want)| (found - want).abs()).sum::<f64>();
                assert!(distance <= DISTANCE, "{}, rung {rung}: {distance} from its law", problem.name);
            }
            break;
        }
    }
    let rates = replicas.ladder().swap_rates();
    let rates: Vec<f64> = rates.into_iter().map(|rate| rate.unwrap()).collect();
    assert!((rates[0] - rates[1]).abs() < 0.1 && rates[0] < 1.0, "{}: swap rates {rates:?}", problem.name);
    assert!(replicas.round_trips() > 100);
}

#[test]
fn tempered_replicas_on_finite_sets_have_their_laws() {
    for problem in &finite_sets(3) {
        let states = problem.set.states(&state_spec(true)).unwrap();
        let all = states.enumerate(13).unwrap();
        let index: BTreeMap<_, _> = all.iter().enumerate().map(|(index, state)| (key(state), index)).collect();
        let (mut engine, mut xi) = (engine(problem), vec![0.0; problem.set.dim()]);
        let mut node = |(index, state): (usize, &State)| {
            states.realize(state, &mut xi);
            (score(problem, &mut engine, &xi), 1.0, index)
        };
        let nodes: Vec<_> = all.iter().enumerate().map(&mut node).collect();
        check_replicas(problem, true, all.len(), &|chain_state| index[&key(&chain_state.state)], &nodes);
    }
}

#[test]
fn tempered_replicas_on_circles_have_their_laws() {
    let problem = &ellipsoid(2, 7);
    let states = problem.set.states(&state_spec(true)).unwrap();
    let (mut engine, mut xi) = (engine(problem), vec![0.0; 2]);
    let mut node = |u: Vec<f64>| {
        let bin = sector(&u);
        states.realize(&State::Point(u), &mut xi);
        (score(problem, &mut engine, &xi), 1.0, bin)
    };
    let nodes: Vec<_> = grid_on_sphere(2).into_iter().map(&mut node).collect();
    check_replicas(problem, true, 12, &|chain_state| sector(point(chain_state)), &nodes);
}

/// Bit for bit the same on any number of threads.
#[test]
fn replicas_do_not_depend_on_threads() {
    for problem in [&finite_sets(3)[3], &ellipsoid(3, 8)] {
        let states = problem.set.states(&state_spec(true)).unwrap();
        let proposal = ProposalKind::Local.build(states.as_ref(), &ProposalOptions::default()).unwrap();
        let scale = spread(problem, states.as_ref());
        let kernel = TransitionKernel {
            states: states.as_ref(),
            proposal: proposal.as_ref(),
            acceptance: Acceptance::Metropolis,
            temperature: f64::NAN,
        };
        let found = [1, 2, 4].map(|threads| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                let new = || Ok(Box::new(engine(problem)) as Box<dyn Recourse>);
                let ladder = Ladder::geometric(scale, 0.1 * scale, 5);
                let mut replicas = Replicas::new(problem, states.as_ref(), ladder, 5, new).unwrap();
                replicas.set_incumbent(&[0.4]);
                let mut trace = Vec::new();
                for _ in 0..100 {
                    replicas.sweep(&kernel, 3, &Clock::unlimited()).unwrap();
                    trace.extend(replicas.states().map(|state| (state.xi.clone(), state.answer.clone())));
                }
                (trace, replicas.ladder().clone(), replicas.solves())
            })
        });
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }
}
