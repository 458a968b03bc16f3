//! Diagnoses against brute force: constants that are called bounds are, scores are the engine's, temperatures keep
//! their promise.
#![allow(clippy::unwrap_used, clippy::panic)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Row, ScenarioList, Variable};
use softsep::internals::chain::Acceptance;
use softsep::internals::diagnose::{Inquiry, Provenance, diagnose, nominal_decision, temperature_for};
use softsep::internals::theory::{Chance, Cooling, DescentConstants, MetricSpace, finite_error};
use softsep::recourse::{Answer, RecourseOutcome, engine};
use softsep::run::Clock;
use softsep::separation::soft::Score;
use softsep::testing::{Recipe, Size, random_problem};
use softsep::uncertainty::{ReferenceMeasure, SetDefinition, StateSpec};
use softsep::{Error, Problem, ProblemDefinition, evaluate};

fn norm(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// Random members of X, its integrality left out.
fn members(problem: &Problem, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let first = &problem.first;
    let mut found = Vec::new();
    for _ in 0..200 {
        let x: Vec<f64> = (0..first.dim()).map(|j| rng.random_range(first.lower[j]..=first.upper[j])).collect();
        let inside = (0..first.rows.rows()).all(|row| {
            let activity = first.rows.dot(row, &x);
            first.row_lower[row] <= activity && activity <= first.row_upper[row]
        });
        if inside {
            found.push(x);
        }
    }
    found.truncate(6);
    found
}

#[test]
fn constants_that_are_bounds_hold() {
    let (mut diagnosed, mut bounded) = (0, [0; 3]);
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let set = ["scenarios", "ellipsoid", "box", "budget", "l1", "polyhedron"][seed as usize % 6];
        let size = if seed % 3 == 0 { Size::Medium } else { Size::Small };
        let recipe = Recipe { set, cost_xi: seed % 7 == 0, quadratic: seed % 5 == 0, size, ..Recipe::default() };
        let problem = Problem::new(&random_problem(&recipe, seed)).unwrap();
        let clock = Clock::unlimited();
        let Ok(x) = nominal_decision(&problem, &clock) else { continue };
        let inquiry = Inquiry { temperature: Some(0.5), samples: 60, seed, ..Inquiry::default() };
        let diagnosis = match diagnose(&problem, &x, &inquiry, &clock) {
            Ok(diagnosis) => diagnosis,
            // No finite cost somewhere.
            Err(Error::Settings(_)) => continue,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        if seed % 10 < 2 {
            assert_eq!(diagnose(&problem, &x, &inquiry, &clock).unwrap(), diagnosis, "seed {seed}");
        }
        diagnosed += 1;

        let constants = &diagnosis.constants;
        let states =
            problem.set.states(&StateSpec { convex: !problem.recourse.costs_move(), ..StateSpec::default() }).unwrap();
        let mut engine = engine(&problem, &clock).unwrap();
        let mut answer = Answer::new(&problem);
        let (mut state, mut xi) = (states.blank(), vec![0.0; problem.set.dim()]);
        let at_x = members(&problem, &mut rng);
        for (a, b) in at_x.iter().zip(at_x.iter().skip(1)) {
            let apart = norm(a.iter().zip(b).map(|(a, b)| a - b));
            assert!(apart <= constants.diameter_x.value, "seed {seed}");
        }
        let mut values = Vec::new();
        for x in &at_x {
            let mut here = Vec::new();
            let mut draws = ChaCha8Rng::seed_from_u64(!seed);
            for _ in 0..8 {
                states.draw(&mut draws, &mut state);
                states.realize(&state, &mut xi);
                engine.at(x);
                engine.solve(&xi, &mut answer).unwrap();
                assert!(
                    answer.outcome == RecourseOutcome::Solved || recipe.cost_xi,
                    "seed {seed}: recourse is complete"
                );
                here.push((xi.clone(), answer.value));
            }
            values.push(here);
        }
        let slack = 1e-6;
        for (x, here) in at_x.iter().zip(&values) {
            for ((xi, value), (other, other_value)) in here.iter().zip(here.iter().skip(1)) {
                let (rise, apart) = ((value - other_value).abs(), norm(xi.iter().zip(other).map(|(a, b)| a - b)));
                if constants.spread.provenance == Provenance::Bounded {
                    bounded[0] += 1;
                    assert!(rise <= constants.spread.value * (1.0 + slack) + slack, "seed {seed}: Δ");
                }
                if constants.slope_xi.provenance == Provenance::Bounded {
                    bounded[1] += 1;
                    assert!(rise <= constants.slope_xi.value * apart * (1.0 + slack) + slack, "seed {seed}: L'_ξ");
                }
            }
            // The draws are the same at every x.
            for (y, there) in at_x.iter().zip(&values) {
                let apart = norm(x.iter().zip(y).map(|(a, b)| a - b));
                for ((_, value), (_, other)) in here.iter().zip(there) {
                    if constants.slope_x.provenance == Provenance::Bounded {
                        bounded[2] += 1;
                        let rise = (value - other).abs();
                        assert!(rise <= constants.slope_x.value * apart * (1.0 + slack) + slack, "seed {seed}: L'_Q");
                    }
                }
            }
        }
        if diagnosis.scores.all {
            let evaluation = evaluate(&problem, &x, &Default::default()).unwrap();
            let cost = diagnosis.first_cost + diagnosis.scores.worst;
            assert!((cost - evaluation.objective).abs() <= 1e-6 * (1.0 + cost.abs()), "seed {seed}");
            let sum: f64 = diagnosis.scores.likeliest.iter().map(|likely| likely.probability).sum();
            assert!(sum <= 1.0 + 1e-12 && diagnosis.scores.likeliest[0].score == diagnosis.scores.worst);
            assert!(diagnosis.scores.worst - diagnosis.scores.soft <= diagnosis.soft_error.value + 1e-9);
            let (everywhere, known) = diagnosis.mixing;
            let here = diagnosis.mixing_here.unwrap().gamma();
            assert!(here >= everywhere.gamma() * (1.0 - 1e-9) || known != Provenance::Bounded, "seed {seed}");
        }
    }
    assert!(diagnosed > 40 && bounded.iter().all(|count| *count > 100), "{diagnosed} {bounded:?}");
}

/// Q(x, ξ) = |ξ − x| on a list, x in [−1, 1]: all constants are known by hand.
fn line(list: &[f64]) -> Problem {
    let mut file = ProblemDefinition::default();
    file.first_stage.variables.push(Variable::new("x", 0.0).bounded(-1.0, 1.0));
    file.first_stage.constant = 10.0;
    file.uncertainty.parameters.push("xi".into());
    file.uncertainty.set = SetDefinition::scenarios(ScenarioList::from_flat(1, list.len(), list.to_vec()).unwrap());
    file.recourse.variables.push(Variable::new("y", 1.0));
    for (name, sign) in [("above", 1.0), ("below", -1.0)] {
        let mut row = Row::new(name);
        row.y = vec![("y".into(), 1.0)];
        row.x = vec![("x".into(), sign)];
        row.xi = vec![("xi".into(), -sign)];
        row.lower = 0.0;
        file.recourse.constraints.push(row);
    }
    Problem::new(&file).unwrap()
}

#[test]
fn a_problem_known_by_hand() {
    let problem = line(&[2.0, -2.0, 0.9, -0.9, 0.3, 0.0]);
    let clock = Clock::unlimited();
    let x = [0.75];
    let inquiry = Inquiry { gap: 0.01, ..Inquiry::default() };
    let diagnosis = diagnose(&problem, &x, &inquiry, &clock).unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-5 * b.abs().max(1e-3), "{a} is not {b}");
    let constants = &diagnosis.constants;
    for (constant, by_hand) in [
        (constants.spread, 4.0),
        (constants.slope_x, 1.0),
        (constants.slope_xi, 1.0),
        (constants.diameter_x, 2.0),
        (constants.diameter_xi, 4.0),
        (diagnosis.kernel, 4.0 / diagnosis.temperature),
        (diagnosis.soft_error, diagnosis.temperature * 6.0_f64.ln()),
    ] {
        assert_eq!(constant.provenance, Provenance::Bounded);
        close(constant.value, by_hand);
    }
    // −2 costs 2.75, then −0.9 costs 1.65.
    assert_eq!((diagnosis.scores.worst, diagnosis.scores.ties, diagnosis.scores.all), (2.75, 1, true));
    close(diagnosis.scores.gap.unwrap(), 1.1);
    assert_eq!(diagnosis.scores.likeliest[0].xi, [-2.0]);
    let wanted = 0.01 * 12.75;
    assert!(diagnosis.temperature * 6.0_f64.ln() <= wanted && diagnosis.temperature * 6.0_f64.ln() > 0.999 * wanted);
    close(diagnosis.mixing.0.gamma(), 1.0 / 6.0);
    assert_eq!(diagnosis.provenance, Provenance::Bounded);
    // w is far below the gap: after so many steps nothing is missed, whether incumbents move or not.
    let after = diagnosis.identification.last().unwrap();
    assert!(after.finite.unwrap().iter().all(|chance| chance.informative().is_some_and(|chance| chance < 1e-3)));
    let certified = diagnosis.certification.unwrap();
    close(certified.temperature.unwrap(), 1.1 / (2.0 * 5.0 * 6.0_f64).ln());
    assert!(certified.calls.is_some() && certified.miss.informative().is_some_and(|miss| miss < 0.84));
    // 1 + ln(20)/ln(6/5) steps.
    assert_eq!(certified.steps, Some(18));

    // A warm law says nothing, and says so.
    let warm = diagnose(&problem, &x, &Inquiry { temperature: Some(50.0), ..inquiry }, &clock).unwrap();
    let certified = warm.certification.unwrap();
    assert_eq!((certified.calls, certified.steps, certified.miss.informative()), (None, None, None));
    assert!(
        warm.identification.iter().all(|after| after
            .finite
            .unwrap()
            .iter()
            .all(|chance| chance.informative().is_none()))
    );
    assert!(warm.identification.iter().all(|after| after.adaptive.and_then(Chance::informative).is_none()));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let problem = line(&[2.0, -2.0]);
    let clock = Clock::unlimited();
    let refused = |x: &[f64], inquiry: Inquiry| match diagnose(&problem, x, &inquiry, &clock) {
        Err(Error::Settings(what)) => what,
        other => panic!("{other:?}"),
    };
    assert!(refused(&[0.0, 0.0], Inquiry::default()).contains("2 entries"));
    assert!(refused(&[0.0], Inquiry { temperature: Some(0.0), ..Inquiry::default() }).contains("temperature"));
    assert!(refused(&[0.0], Inquiry { gap: 0.0, ..Inquiry::default() }).contains("gap"));
    assert!(refused(&[0.0], Inquiry { samples: 0, ..Inquiry::default() }).contains("samples"));
    assert!(refused(&[0.0], Inquiry { false_rate: 1.0, ..Inquiry::default() }).contains("certificate"));
    // Two worst states: no gap to lose, nothing to find.
    let level = diagnose(&problem, &[0.0], &Inquiry::default(), &clock).unwrap();
    assert_eq!((level.scores.gap, level.scores.ties, level.certification), (Some(0.0), 2, None));
}

#[test]
fn temperatures_are_as_warm_as_the_error_allows() {
    let of_states = temperature_for(3.0, |w| finite_error(100.0, w)).unwrap();
    assert!(of_states <= 3.0 / 100.0_f64.ln() && of_states > 2.999 / 100.0_f64.ln());
    let body = MetricSpace::body(8, 2.0, 5.0);
    let found = temperature_for(0.3, |w| body.error(w)).unwrap();
    assert!(body.error(found) <= 0.3 && body.error(1.001 * found) > 0.3);
    // Where scores do not differ by that much, any temperature will do; a gap of zero allows none.
    assert_eq!(temperature_for(0.3, |w| w.min(0.2)), None);
    assert_eq!(temperature_for(0.0, |w| w), None);
}

/// ε = τ/2·L'_Q², the error of the scores measured at all states is below it, and it enters every bound as the theorems
/// say.
#[test]
fn scores_with_an_error() {
    let problem = line(&[2.0, -2.0, 0.9, -0.9, 0.3, 0.0]);
    let (clock, x, tau) = (Clock::unlimited(), [0.75], 0.05);
    let inquiry = Inquiry { gap: 0.1, temperature: Some(0.1), score: Score::Moreau(tau), ..Inquiry::default() };
    let diagnosis = diagnose(&problem, &x, &inquiry, &clock).unwrap();
    let exact = diagnose(&problem, &x, &Inquiry { score: Score::Exact, ..inquiry }, &clock).unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-5 * b.abs().max(1e-3), "{a} is not {b}");
    assert_eq!(diagnosis.score_error.provenance, Provenance::Bounded);
    close(diagnosis.score_error.value, 0.5 * tau);
    close(diagnosis.soft_error.value, exact.soft_error.value + 0.5 * tau);
    // |ξ − x| less τ/2 from |ξ − x| = τ on, and (ξ − x)²/2τ before: all states but none are that far from x.
    let scores: Vec<f64> = [2.0, -2.0, 0.9, -0.9, 0.3, 0.0].map(|xi: f64| (xi - 0.75).abs() - 0.5 * tau).to_vec();
    let (largest, soft) = (2.75 - 0.5 * tau, softsep::internals::theory::mellowmax(&scores, None, 0.1));
    close(diagnosis.scores.soft, soft);
    close(diagnosis.scores.log_peak, (largest - soft) / 0.1);
    close(diagnosis.scores.worst, 2.75);
    // Theorem 3 with Δ* − 2ε in the leak, and Theorem 2 with Δ̃ − 2ε.
    let certified = diagnosis.certification.unwrap();
    close(certified.miss.bound(), diagnosis.mixing.0.dobrushin() + 5.0 * (-(1.1 - tau) / 0.1_f64).exp());
    let (with, without) = (diagnosis.identification[2], exact.identification[2]);
    assert!(with.general[1].unwrap().bound() > without.general[1].unwrap().bound());
    assert!(diagnosis.convergence.is_none() && exact.convergence.is_some());
    // A gap Δ* of 1.1 is not above 4ε, and a gap of the cost not above ε.
    let coarse = |score, temperature| Inquiry { score, temperature, gap: 0.01, ..inquiry };
    let blurred = diagnose(&problem, &x, &coarse(Score::Moreau(0.6), Some(0.1)), &clock).unwrap();
    assert!(blurred.certification.is_none() && blurred.temperature_for_gap.is_none());
    assert!(blurred.identification.iter().all(|after| after.general == [None; 2] && after.finite.is_none()));
    let refused = diagnose(&problem, &x, &coarse(Score::Moreau(0.6), None), &clock).err().unwrap().to_string();
    assert!(refused.contains("take a smaller moreau:TAU"), "{refused}");
}

/// Theorem 1 and Proposition 2 by their constants: L_f = 0, L'_Q = 1, D = 2.
#[test]
fn averages_by_hand() {
    let problem = line(&[2.0, -2.0, 0.9, -0.9, 0.3, 0.0]);
    let inquiry = Inquiry { temperature: Some(20.0), ..Inquiry::default() };
    let diagnosis = diagnose(&problem, &[0.75], &inquiry, &Clock::unlimited()).unwrap();
    let convergence = diagnosis.convergence.unwrap();
    assert_eq!(convergence.provenance, Provenance::Bounded);
    assert!((convergence.range - 2.0).abs() < 1e-5);
    let descent = DescentConstants {
        lipschitz_f: 0.0,
        lipschitz_q: 1.0,
        diameter: 2.0,
        fundamental: diagnosis.mixing.0.fundamental(),
        temperature: 20.0,
        acceptance: Acceptance::Metropolis,
    };
    let everywhere = DescentConstants { fundamental: 11.0, ..descent };
    let cooling = Cooling { descent: everywhere, states: 6.0, gap: 1.1, spread: 4.0 };
    for bounds in &convergence.after {
        for (found, by_hand) in [
            (bounds.step_size, descent.step_size_bound(2.0, bounds.steps)),
            (bounds.linear, descent.linear_bound(bounds.steps)),
            (bounds.cooling.unwrap(), cooling.linear_bound(bounds.steps)),
        ] {
            assert!((found.least() / by_hand.least() - 1.0).abs() < 1e-4, "{found:?} and {by_hand:?}");
        }
    }
    let last = convergence.after.last().unwrap();
    assert!(last.linear.least() < 0.1 * convergence.range, "a million steps say something here: {last:?}");
}

/// f(x) = x²/2 − x on [−1, 1]: its slope is between −2 and 0. A decision without bounds has no diameter.
#[test]
fn slopes_of_the_first_stage() {
    let mut file = line(&[2.0, -2.0]).definition();
    file.first_stage.variables[0].cost = -1.0;
    file.first_stage.quadratic = vec![("x".into(), "x".into(), 1.0)];
    let slope = |file: &ProblemDefinition| {
        let problem = Problem::new(file).unwrap();
        let inquiry = Inquiry { temperature: Some(1.0), ..Inquiry::default() };
        let diagnosis = diagnose(&problem, &[0.5], &inquiry, &Clock::unlimited()).unwrap();
        (diagnosis.constants.slope_f.value, diagnosis.convergence.is_some())
    };
    let (steepest, is_bounded) = slope(&file);
    assert!((steepest - 2.0).abs() < 1e-5 && is_bounded);
    file.first_stage.variables[0].upper = f64::INFINITY;
    assert_eq!(slope(&file), (f64::INFINITY, false));
}

/// By area on an ellipsoid the bounds make up for the thinnest part of ν: at draws the soft maximum is within its
/// bound.
#[test]
fn the_surface_of_an_ellipsoid_as_reference() {
    let mut file = line(&[0.0]).definition();
    file.uncertainty.parameters.push("other".into());
    file.uncertainty.set = SetDefinition::ellipsoid([0.0, 0.0], [vec![2.0, 0.0], vec![0.0, 0.1]]);
    let problem = Problem::new(&file).unwrap();
    let bound = |reference| {
        let inquiry = Inquiry { temperature: Some(0.05), reference, samples: 4000, ..Inquiry::default() };
        let diagnosis = diagnose(&problem, &[0.5], &inquiry, &Clock::unlimited()).unwrap();
        assert!(diagnosis.scores.worst - diagnosis.scores.soft < diagnosis.soft_error.value);
        (diagnosis.soft_error.value, diagnosis.scores.soft, diagnosis.mixing.0.gamma())
    };
    let [(on_sphere, soft, gamma), (by_area, flat, least)] =
        [ReferenceMeasure::Sphere, ReferenceMeasure::Surface].map(bound);
    // By area there is less of the ellipse's ends, where ξ is largest.
    assert!(flat < soft && by_area > on_sphere && least < gamma);
    // The least density is (0.1/2)/E√(u₁² + u₂²/400 …): the mean of √(cos² + sin²/400) is 0.643 by quadrature.
    let mean = (0..100_000)
        .map(|k| (f64::from(k) + 0.5) * std::f64::consts::TAU / 1e5)
        .map(|t| (t.cos().powi(2) + (0.05 * t.sin()).powi(2)).sqrt() / 1e5)
        .sum::<f64>();
    assert!((by_area - on_sphere + 0.05 * (0.05 / mean).ln()).abs() < 1e-6, "{by_area} {on_sphere} {mean}");
}
