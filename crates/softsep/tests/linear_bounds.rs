//! Lower bounds of linear programs whose numbers are of very different sizes: the absolute dual tolerance of HiGHS
//! makes optima of bases that are not, and neither a cut nor the bound of a master may rest on such a basis.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::internals::format::load_text;
use softsep::methods::METHODS;
use softsep::{Certify, Settings, solve};
use softsep_lp::{Lp, Model, Status};

/// Cost of a decision of this problem, by exact arithmetic over all 16 extreme points of its box.
const KNOWN_COST: f64 = 40805.4597099845;

/// Coefficients over 12 decades: a dual of −2e-9 is within the dual tolerance of HiGHS, and its row has a slack of 6e9.
/// A cut of `bundle` was above the recourse cost by 53, and masters of `extensive` were as well.
#[test]
fn no_lower_bound_is_above_the_cost_of_a_known_decision() {
    let text = include_str!("data/twelve_decades.json");
    let problem = load_text(text, "text", Path::new("")).unwrap().check().unwrap();
    for method in METHODS {
        for certify in [Certify::Free, Certify::None] {
            let settings = Settings {
                method: method.name.parse().unwrap(),
                gap: 1e-6,
                seed: 397,
                certify,
                time_limit: Some(Duration::from_secs(20)),
                threads: Some(1),
                ..Settings::default()
            };
            let outcome = solve(&problem, &settings).unwrap();
            assert!(outcome.failure.is_none(), "{}: {:?}", method.name, outcome.failure);
            let lower = outcome.bounds.lower().unwrap();
            assert!(lower <= KNOWN_COST * (1.0 + 1e-9), "{}, {certify:?}: {lower}", method.name);
        }
    }
}

/// A linear program with a known optimal point, by complementary slackness, and the optimum. Coefficients are
/// multiplied by powers of ten from 1e-d to 1e+d.
fn program(decades: i32, rng: &mut ChaCha8Rng) -> (Model, f64) {
    let (cols, rows) = (rng.random_range(2..8), rng.random_range(1..6));
    let mut number = |least: i32| {
        let factor = 10_f64.powi(rng.random_range(-decades..=decades));
        f64::from(rng.random_range(least..=9)) * factor
    };
    let matrix: Vec<Vec<f64>> = (0..rows).map(|_| (0..cols).map(|_| number(-9)).collect()).collect();
    let duals: Vec<f64> = (0..rows).map(|_| number(0)).collect();
    let point: Vec<f64> = (0..cols).map(|_| number(0)).collect();
    let (reduced, slack): (Vec<f64>, Vec<f64>) =
        ((0..cols).map(|_| number(1)).collect(), (0..rows).map(|_| number(1)).collect());
    let mut model = Model::new();
    let mut optimum = 0.0;
    for j in 0..cols {
        // A column at its bound has a reduced cost; another one has none, and is free half of the time.
        let is_free = point[j] != 0.0 && j % 2 == 0;
        let priced: f64 = (0..rows).map(|i| matrix[i][j] * duals[i]).sum();
        let cost = priced + if point[j] == 0.0 { reduced[j] } else { 0.0 };
        model.add_col(cost, if is_free { f64::NEG_INFINITY } else { 0.0 }, f64::INFINITY);
        optimum += cost * point[j];
    }
    for i in 0..rows {
        let activity: f64 = (0..cols).map(|j| matrix[i][j] * point[j]).sum();
        let side = activity - if duals[i] == 0.0 { slack[i] } else { 0.0 };
        let terms: Vec<(usize, f64)> = matrix[i].iter().copied().enumerate().collect();
        model.add_row(side, f64::INFINITY, &terms);
    }
    (model, optimum)
}

/// Returns the number of programs, of 300, with a bound by the duals of HiGHS. No bound may be above the optimum.
fn proved(decades: i32) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(decades as u64);
    let mut proved = 0;
    for number in 0..300 {
        let (model, optimum) = program(decades, &mut rng);
        let mut lp = Lp::new(&model).unwrap();
        if lp.solve().unwrap() != Status::Optimal {
            continue;
        }
        let mut dual = vec![0.0; model.rows()];
        lp.dual(&mut dual).unwrap();
        let Some(bound) = model.dual_bound(&dual) else { continue };
        proved += 1;
        // The optimum is that of the program up to the rounding of its data, which is one of these sums' terms.
        let allowance = 1e-9 * optimum.abs() + 10.0 * bound.rounding;
        assert!(bound.value <= optimum + allowance, "{number}: {bound:?} above {optimum}");
        if decades == 0 {
            assert!(bound.value >= optimum - 1e-9 * optimum.abs().max(1.0), "{number}: {bound:?} below {optimum}");
        }
    }
    proved
}

#[test]
fn in_ordinary_units_duals_prove_the_optimum() {
    assert_eq!(proved(0), 300);
}

#[test]
fn over_many_decades_no_bound_is_above_the_optimum() {
    for decades in [2, 4, 6] {
        let proved = proved(decades);
        println!("±{decades} decades: {proved} of 300 bounds");
        assert!(proved >= 100, "±{decades} decades: {proved}");
    }
}
