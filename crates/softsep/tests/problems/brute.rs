//! Brute force without master problems: nested searches over x, and grids of members of an uncertainty set.

use softsep::definition::Row;
use softsep::uncertainty::{SetDefinition, Sides};

use super::hand::{Hand, Range};

/// The least of `cost` over the ranges of `hand`: integers one by one, real ones by golden sections within one
/// another. A robust cost is convex in x, and stays so when it is minimised over the later variables, so that the
/// sections cannot miss.
pub(crate) fn least(hand: &Hand, steps: usize, cost: &mut dyn FnMut(&[f64]) -> f64) -> f64 {
    fn next(hand: &Hand, x: &mut Vec<f64>, steps: usize, cost: &mut dyn FnMut(&[f64]) -> f64) -> f64 {
        if x.len() == hand.dim {
            return cost(x);
        }
        let range = (hand.range)(x);
        let mut at = |value: f64| {
            x.push(value);
            let least = next(hand, x, steps, cost);
            x.pop();
            least
        };
        match range {
            Range::Whole(first, last) => (first..=last).map(|value| at(f64::from(value))).fold(f64::INFINITY, f64::min),
            Range::Real(lower, upper) if lower > upper => f64::INFINITY,
            Range::Real(lower, upper) if lower == upper => at(lower),
            Range::Real(lower, upper) => golden(lower, upper, steps, &mut at),
        }
    }
    next(hand, &mut Vec::new(), steps, cost)
}

fn golden(mut lower: f64, mut upper: f64, steps: usize, at: &mut dyn FnMut(f64) -> f64) -> f64 {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let mut least = at(lower).min(at(upper));
    let (mut left, mut right) = (upper - ratio * (upper - lower), lower + ratio * (upper - lower));
    let (mut at_left, mut at_right) = (at(left), at(right));
    for _ in 0..steps {
        least = least.min(at_left).min(at_right);
        if at_left <= at_right {
            (upper, right, at_right) = (right, left, at_left);
            left = upper - ratio * (upper - lower);
            at_left = at(left);
        } else {
            (lower, left, at_left) = (left, right, at_right);
            right = lower + ratio * (upper - lower);
            at_right = at(right);
        }
    }
    least.min(at_left).min(at_right)
}

/// Decisions spread over the ranges of `hand`, `count` values per real variable.
pub(crate) fn spread(hand: &Hand, count: usize) -> Vec<Vec<f64>> {
    let mut decisions = vec![Vec::new()];
    for _ in 0..hand.dim {
        let values = |x: &[f64]| match (hand.range)(x) {
            Range::Whole(first, last) => (first..=last).map(f64::from).collect(),
            Range::Real(lower, upper) if lower > upper => Vec::new(),
            Range::Real(lower, upper) => even(lower, upper, if lower == upper { 1 } else { count }),
        };
        decisions = decisions
            .iter()
            .flat_map(|x| values(x).into_iter().map(move |value| [&x[..], &[value]].concat()))
            .collect();
    }
    decisions
}

/// `count` evenly spaced numbers, both ends among them.
fn even(lower: f64, upper: f64, count: usize) -> Vec<f64> {
    (0..count).map(|k| lower + (upper - lower) * k as f64 / (count.max(2) - 1) as f64).collect()
}

/// Every combination of one value per list.
fn product(lists: &[Vec<f64>]) -> Vec<Vec<f64>> {
    lists.iter().fold(vec![Vec::new()], |points, list| {
        points.iter().flat_map(|point| list.iter().map(move |&value| [&point[..], &[value]].concat())).collect()
    })
}

/// Members of the set on a grid that is fine enough to have on it every extreme point of the polytopes in `problems/`,
/// and of an ellipsoid one boundary point in every 1/20 of a degree.
pub(crate) fn members(set: &SetDefinition, parameters: &[String]) -> Vec<Vec<f64>> {
    let dim = parameters.len();
    let moved = |center: &[f64], scale: &[f64], z: &[f64]| -> Vec<f64> {
        (0..dim).map(|i| center[i] + scale[i] * z[i]).collect()
    };
    match set {
        SetDefinition::Scenarios { points, .. } => points.iter().map(<[f64]>::to_vec).collect(),
        SetDefinition::Box { lower, upper } => {
            let count = if dim == 1 { 41 } else { 9 };
            product(&(0..dim).map(|i| even(lower[i], upper[i], count)).collect::<Vec<_>>())
        }
        SetDefinition::L1 { center, scale } => product(&vec![even(-1.0, 1.0, 17); dim])
            .iter()
            .filter(|u| u.iter().map(|u| u.abs()).sum::<f64>() <= 1.0)
            .map(|u| moved(center, scale, u))
            .collect(),
        SetDefinition::Budget { budget, sides, center, scale } => {
            let from = if *sides == Sides::One { 0.0 } else { -1.0 };
            product(&vec![even(from, 1.0, 9); dim])
                .iter()
                .filter(|z| z.iter().map(|z| z.abs()).sum::<f64>() <= *budget)
                .map(|z| moved(center, scale, z))
                .collect()
        }
        SetDefinition::Ellipsoid { center, matrix } => {
            assert!(matrix.iter().all(|row| row.len() == 2), "the scan goes around a circle");
            let circle = |radius: f64, count: u32| {
                (0..count).map(move |k| {
                    let angle = f64::from(k) * std::f64::consts::TAU / f64::from(count);
                    [radius * angle.cos(), radius * angle.sin()]
                })
            };
            circle(1.0, 7200)
                .chain(circle(0.5, 36))
                .chain([[0.0, 0.0]])
                .map(|u| (0..dim).map(|i| center[i] + matrix[i][0] * u[0] + matrix[i][1] * u[1]).collect())
                .collect()
        }
        SetDefinition::Polyhedron { lower, upper, constraints } => {
            let lists: Vec<_> = (0..dim)
                .map(|i| {
                    if upper[i].is_finite() {
                        even(lower[i], upper[i], 11)
                    } else {
                        even(lower[i], lower[i] + 20.0, 21)
                    }
                })
                .collect();
            product(&lists).into_iter().filter(|xi| constraints.iter().all(|row| holds(row, parameters, xi))).collect()
        }
        other => panic!("no grid is known for {other:?}"),
    }
}

/// Whether a row over the parameters holds, up to rounding.
fn holds(row: &Row, parameters: &[String], xi: &[f64]) -> bool {
    let value = |name: &String| parameters.iter().position(|parameter| parameter == name).map_or(f64::NAN, |i| xi[i]);
    let activity: f64 = row.xi.iter().map(|(name, coefficient)| coefficient * value(name)).sum();
    activity >= row.lower - 1e-9 && activity <= row.upper + 1e-9
}
