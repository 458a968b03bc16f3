//! The conformance suite of recourse engines.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::model::Problem;
use crate::numeric::dot;
use crate::recourse::{Answer, Recourse, RecourseError, RecourseOutcome};

/// Required relative agreement of values computed in two ways.
const CLOSE: f64 = 2e-6;

/// Tests `engine` on `problem` at random (x, ξ): weak and strong duality from y and π themselves, cuts at other x,
/// slopes in ξ against other ξ, rays against their definitions, hints that change no answer, and no memory after
/// `start_from`. `other` is an independent engine for the same values.
pub fn check_engine(problem: &Problem, engine: &mut dyn Recourse, other: &mut dyn Recourse, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut answer, mut second) = (Answer::new(problem), Answer::new(problem));
    let mut xi = vec![0.0; problem.set.dim()];
    for round in 0..6 {
        let x = random_x(problem, &mut rng);
        engine.at(&x);
        random_xi(problem, &mut rng, &mut xi);
        let context = format!("{}, round {round}, x = {x:?}, ξ = {xi:?}", problem.name);
        engine.solve(&xi, &mut answer).unwrap_or_else(|error| panic!("{context}: {error}"));
        other.at(&x);
        match other.solve(&xi, &mut second) {
            Ok(()) => {
                assert_eq!(answer.outcome, second.outcome, "{context}: two engines disagree");
                if answer.outcome == RecourseOutcome::Solved {
                    close(answer.value, second.value, &format!("{context}: two engines' values"));
                }
            }
            // An interior-point method may fail where the simplex method does not; an error that reports it is
            // accepted.
            Err(RecourseError::Numerical { .. }) => {}
            Err(error) => panic!("{context}: {error}"),
        }
        // A hint is for later solves and does not change the last answer.
        if round % 2 == 1 {
            engine.hint(&other.warm_start());
        }
        match answer.outcome {
            RecourseOutcome::Solved => check_solved(problem, engine, &x, &xi, &answer, &mut rng, &context),
            RecourseOutcome::Infeasible => check_infeasible(problem, engine, &x, &xi, &answer, &mut rng, &context),
            RecourseOutcome::Unbounded => check_unbounded(problem, engine, &xi, &context),
        }
    }
    check_forgetful(problem, engine, &mut rng);
}

fn check_solved(
    problem: &Problem,
    engine: &mut dyn Recourse,
    x: &[f64],
    xi: &[f64],
    answer: &Answer,
    rng: &mut ChaCha8Rng,
    context: &str,
) {
    let model = &problem.recourse;
    let mut y = vec![0.0; model.dim()];
    engine.decision(&mut y);
    let mut pi = vec![0.0; model.rows()];
    engine.dual(&mut pi);
    check_rows(problem, x, xi, &y, &pi, context);
    let mut cost = vec![0.0; model.dim()];
    model.cost_at(xi, &mut cost);
    let primal: f64 = cost.iter().zip(&y).map(|(c, y)| c * y).sum::<f64>() + model.quadratic.half_square(&y);
    close(primal, answer.value, &format!("{context}: cost of y against value"));
    close(primal, answer.cost, &format!("{context}: cost of y against the cost told"));
    close(answer.intercept + dot(&answer.slope_x, x), answer.value, &format!("{context}: cut at its own x"));

    // The slopes are those of the dual: −Eᵀπ, and −Uᵀπ + Bᵀy.
    let mut slope = vec![0.0; x.len()];
    model.e.transpose_mul_add(-1.0, &pi, &mut slope);
    for (a, b) in slope.iter().zip(&answer.slope_x) {
        close(*a, *b, &format!("{context}: slope in x against the dual"));
    }
    check_cut_elsewhere(problem, engine, xi, answer, rng, context);
    check_differences(problem, engine, x, xi, answer, context);
}

/// The decision is feasible and complementary to the dual: bounds and plain rows here; the tests of cones check cones.
fn check_rows(problem: &Problem, x: &[f64], xi: &[f64], y: &[f64], pi: &[f64], context: &str) {
    let model = &problem.recourse;
    for (j, &value) in y.iter().enumerate() {
        assert!(
            value >= model.lower[j] - 1e-6 && value <= model.upper[j] + 1e-6,
            "{context}: y{j} = {value} leaves its bounds"
        );
    }
    let mut activity = vec![0.0; model.rows()];
    model.shift(x, xi, &mut activity);
    model.g.mul_add(1.0, y, &mut activity);
    for (i, &value) in activity.iter().enumerate() {
        let (lower, upper) = (model.row_lower[i], model.row_upper[i]);
        assert!(
            value >= lower - 1e-5 && value <= upper + 1e-5,
            "{context}: row {i} = {value} not in [{lower}, {upper}]"
        );
        let sign_ok = (pi[i] <= 1e-6 || lower.is_finite()) && (pi[i] >= -1e-6 || upper.is_finite());
        let in_cone = lower == f64::NEG_INFINITY && upper == f64::INFINITY;
        assert!(sign_ok || in_cone, "{context}: π{i} = {} has the wrong sign", pi[i]);
        let slack = if pi[i] > 0.0 { value - lower } else { upper - value };
        // Interior points have both, with a small product.
        let is_complementary = pi[i].abs() < 1e-6 || slack < 1e-3 || pi[i].abs() * slack < 1e-8;
        assert!(in_cone || is_complementary, "{context}: π{i} = {} on a slack row ({slack})", pi[i]);
    }
}

/// The cut is valid at other x, and with fixed costs the plane is valid at other (x, ξ).
fn check_cut_elsewhere(
    problem: &Problem,
    engine: &mut dyn Recourse,
    xi: &[f64],
    answer: &Answer,
    rng: &mut ChaCha8Rng,
    context: &str,
) {
    let model = &problem.recourse;
    let mut elsewhere = Answer::new(problem);
    let mut other_xi = vec![0.0; xi.len()];
    for _ in 0..3 {
        let other_x = random_x(problem, rng);
        engine.at(&other_x);
        engine.solve(xi, &mut elsewhere).unwrap_or_else(|error| panic!("{context}: {error}"));
        let plane = answer.intercept + dot(&answer.slope_x, &other_x);
        assert!(
            elsewhere.value >= plane - CLOSE * (1.0 + plane.abs()),
            "{context}: cut {plane} above {} at {other_x:?}",
            elsewhere.value
        );
        if !model.costs_move() {
            random_xi(problem, rng, &mut other_xi);
            engine.solve(&other_xi, &mut elsewhere).unwrap_or_else(|error| panic!("{context}: {error}"));
            let plane =
                plane + other_xi.iter().zip(xi).zip(&answer.slope_xi).map(|((b, a), s)| s * (b - a)).sum::<f64>();
            assert!(
                elsewhere.value >= plane - CLOSE * (1.0 + plane.abs()),
                "{context}: plane {plane} above {} at {other_x:?}, {other_xi:?}",
                elsewhere.value
            );
        }
    }
}

/// Where Q is differentiable in ξ at (x, ξ), differences must show the slope; where it has a kink, the slope lies
/// between them.
fn check_differences(
    problem: &Problem,
    engine: &mut dyn Recourse,
    x: &[f64],
    xi: &[f64],
    answer: &Answer,
    context: &str,
) {
    engine.at(x);
    let step = 1e-4;
    let (mut up, mut down) = (Answer::new(problem), Answer::new(problem));
    let mut moved = xi.to_vec();
    for k in 0..xi.len() {
        moved[k] = xi[k] + step;
        let right = engine.solve(&moved, &mut up).is_ok() && up.outcome == RecourseOutcome::Solved;
        moved[k] = xi[k] - step;
        let left = engine.solve(&moved, &mut down).is_ok() && down.outcome == RecourseOutcome::Solved;
        moved[k] = xi[k];
        if !(right && left) {
            continue;
        }
        let (after, before) = ((up.value - answer.value) / step, (answer.value - down.value) / step);
        let (low, high) = (after.min(before), after.max(before));
        let margin = 0.02 * (1.0 + answer.value.abs() + low.abs().max(high.abs()));
        let slope = answer.slope_xi[k];
        assert!(
            slope >= low - margin && slope <= high + margin,
            "{context}: slope {slope} in ξ{k} not in [{low}, {high}]"
        );
    }
}

fn check_infeasible(
    problem: &Problem,
    engine: &mut dyn Recourse,
    x: &[f64],
    xi: &[f64],
    answer: &Answer,
    rng: &mut ChaCha8Rng,
    context: &str,
) {
    assert_eq!(answer.value, f64::INFINITY, "{context}");
    assert!(answer.intercept + dot(&answer.slope_x, x) > 0.0, "{context}: the feasibility cut does not cut x off");
    let mut pi = vec![0.0; problem.recourse.rows()];
    engine.dual(&mut pi);
    assert!(pi.iter().any(|pi| pi.abs() > 0.5), "{context}: the Farkas ray is not normalised");
    let mut elsewhere = Answer::new(problem);
    for _ in 0..5 {
        let other_x = random_x(problem, rng);
        engine.at(&other_x);
        engine.solve(xi, &mut elsewhere).unwrap_or_else(|error| panic!("{context}: {error}"));
        if elsewhere.outcome == RecourseOutcome::Solved {
            let value = answer.intercept + dot(&answer.slope_x, &other_x);
            assert!(value <= 1e-5, "{context}: the feasibility cut cuts off the feasible {other_x:?} by {value}");
        }
    }
}

fn check_unbounded(problem: &Problem, engine: &mut dyn Recourse, xi: &[f64], context: &str) {
    let model = &problem.recourse;
    let mut ray = vec![0.0; model.dim()];
    engine.decision(&mut ray);
    let mut cost = vec![0.0; model.dim()];
    model.cost_at(xi, &mut cost);
    assert!(dot(&cost, &ray) < -1e-9, "{context}: the ray does not lower the cost");
    for (j, &entry) in ray.iter().enumerate() {
        assert!(entry >= -1e-6 || model.lower[j] == f64::NEG_INFINITY, "{context}: ray entry {j}");
        assert!(entry <= 1e-6 || model.upper[j] == f64::INFINITY, "{context}: ray entry {j}");
    }
}

/// After `start_from` the answers depend on the questions alone, to the last digit.
fn check_forgetful(problem: &Problem, engine: &mut dyn Recourse, rng: &mut ChaCha8Rng) {
    let mut xi = vec![0.0; problem.set.dim()];
    let questions: Vec<(Vec<f64>, Vec<f64>)> = (0..4)
        .map(|_| {
            random_xi(problem, rng, &mut xi);
            (random_x(problem, rng), xi.clone())
        })
        .collect();
    let warm = engine.warm_start();
    let mut ask = || -> Vec<Option<Answer>> {
        assert!(engine.start_from(&warm).is_ok());
        questions
            .iter()
            .map(|(x, xi)| {
                let mut answer = Answer::new(problem);
                engine.at(x);
                engine.solve(xi, &mut answer).ok().map(|()| answer)
            })
            .collect()
    };
    let once = ask();
    assert!(once == ask(), "{}: answers differ after start_from: {once:?}", problem.name);
}

fn random_x(problem: &Problem, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..problem.first.dim())
        .map(|j| {
            let (lower, upper) = (problem.first.lower[j].max(-10.0), problem.first.upper[j].min(10.0));
            // Integral values now and then, at which bases are degenerate.
            let value = rng.random_range(0.0..=1.0) * (upper - lower) + lower;
            if rng.random_bool(0.3) { value.round() } else { value }
        })
        .collect()
}

fn random_xi(problem: &Problem, rng: &mut ChaCha8Rng, xi: &mut [f64]) {
    let direction: Vec<f64> = (0..xi.len()).map(|_| rng.random_range(-1.0..=1.0)).collect();
    let support = problem.set.support(&direction, xi);
    assert!(support.is_ok(), "{}: {support:?}", problem.name);
    if rng.random_bool(0.5) && !problem.set.is_finite_list() {
        let mut center = vec![0.0; xi.len()];
        problem.set.nominal(&mut center);
        let weight = rng.random_range(0.0..=1.0);
        xi.iter_mut().zip(center).for_each(|(xi, center)| *xi = weight * *xi + (1.0 - weight) * center);
    }
}

fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= CLOSE * (1.0 + a.abs().max(b.abs())), "{what}: {a} and {b}");
}
