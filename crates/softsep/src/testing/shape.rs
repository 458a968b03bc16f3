//! The contract of the shape of a set: it has the members of the part that it was made for, and no others.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::numeric::dot;
use crate::uncertainty::{Ball, Count, Part, Shape, Uncertainty};

/// Checks the shapes and levels of a set; `close` is the tolerance for points, `directions` are where its support is
/// tried.
pub(super) fn check_shape(set: &dyn Uncertainty, directions: &[Vec<f64>], close: f64, rng: &mut ChaCha8Rng) {
    let Some(whole) = set.shape(&Part::whole(set.dim())) else {
        assert!(set.is_finite_list(), "{:?}: has no shape", set.describe());
        return;
    };
    assert!(!whole.is_plainly_empty(close), "{:?}: its shape is empty", set.describe());
    let mut xi = vec![0.0; set.dim()];
    for direction in directions {
        let value = set.support(direction, &mut xi).expect("the support is finite");
        let margin = close * (1.0 + direction.iter().map(|entry| entry.abs()).sum::<f64>());
        let bound = match (&whole.polytope, &whole.ball) {
            (Some(_), None) => dot(direction, &furthest(&whole, direction).expect("the whole shape has members")),
            (None, Some(ball)) => reach(ball, direction),
            (polytope, ball) => panic!("{:?}: {polytope:?} and {ball:?}", set.describe()),
        };
        assert!((bound - value).abs() <= margin, "{:?}: {direction:?} has {value}, its shape {bound}", set.describe());
        // A part around the maximiser.
        let reach: f64 = rng.random_range(0.0..2.0);
        let around = |sign: f64, rng: &mut ChaCha8Rng| -> Vec<f64> {
            xi.iter()
                .map(|xi| {
                    if rng.random_bool(0.3) { sign * f64::INFINITY } else { xi + sign * rng.random_range(0.0..=reach) }
                })
                .collect()
        };
        let part = Part { lower: around(-1.0, rng), upper: around(1.0, rng) };
        let shape = set.shape(&part).expect("a part of a shape has a shape");
        if shape.polytope.is_none() {
            continue;
        }
        let member = furthest(&shape, direction).unwrap_or_else(|| panic!("{part:?} of {:?} is empty", set.describe()));
        let best = dot(direction, &member);
        assert!(best >= value - margin, "{:?}: {part:?} leaves its member {xi:?} out", set.describe());
        let within = (0..set.dim()).all(|i| part.lower[i] - close <= member[i] && member[i] <= part.upper[i] + close);
        assert!(within, "{:?}: {part:?} has {member:?}", set.describe());
        assert!(
            shape.ball.is_some() || set.contains(&member, 2.0 * close),
            "{:?}: {member:?} is no member",
            set.describe()
        );
    }
    check_levels(set, close);
}

/// Every entry of every extreme point is at a level.
fn check_levels(set: &dyn Uncertainty, close: f64) {
    let few = matches!(set.extremes(), Count::Exactly(count) if count <= 5_000);
    for (entry, levels) in (0..set.dim()).filter_map(|entry| Some((entry, set.levels(entry)?))) {
        assert!(levels.windows(2).all(|pair| pair[0] < pair[1]), "{:?}: levels {levels:?}", set.describe());
        if few {
            let points = set.enumerate(5_000).expect("there are few");
            for xi in points.iter() {
                let at_level = levels.iter().any(|level| (level - xi[entry]).abs() <= close);
                assert!(at_level, "{:?}: {xi:?} is at none of {levels:?}", set.describe());
            }
        }
    }
}

fn furthest(shape: &Shape, direction: &[f64]) -> Option<Vec<f64>> {
    shape.furthest(direction).expect("HiGHS answers")
}

fn reach(ball: &Ball, direction: &[f64]) -> f64 {
    dot(direction, &ball.center) + ball.columns.iter().map(|column| dot(direction, column).powi(2)).sum::<f64>().sqrt()
}
