//! The contract of uncertainty sets, as a conformance suite.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep_lp::{Lp, Model, Status};

use super::shape::check_shape;
use super::states::check_states;
use crate::definition::{Complaints, ScenarioList};
use crate::numeric::dot;
use crate::uncertainty::{self, Count, Uncertainty};

/// Required agreement, relative to the size of the members.
const TOLERANCE: f64 = 1e-6;
/// Directions that the support function is tried in.
const DIRECTIONS: usize = 24;
/// Sets with more extreme points are not enumerated here.
const FEW: u128 = 5_000;
/// Sets with more extreme points are not checked for redundant ones, which takes a linear program each.
const VERY_FEW: usize = 40;

/// Checks a set against the contract of [`Uncertainty`]; panics with the set and the fault.
///
/// `parameters` are the names that it was built with. Random choices come from `seed`.
pub fn check_set(set: &dyn Uncertainty, parameters: &[String], seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    assert_eq!(set.dim(), parameters.len(), "{}: one entry per parameter", set.kind());
    let directions = directions(set.dim(), &mut rng);
    let suite = SetSuite::new(set, directions);
    suite.nominal_is_a_member();
    suite.support_is_attained_by_members();
    suite.nothing_beyond_the_support_is_a_member();
    suite.members_do_not_exceed_the_support(&mut rng);
    match set.extremes() {
        Count::Exactly(count) if count <= FEW => suite.enumeration_is_right(count as usize),
        Count::Exactly(_) | Count::MoreThan(_) | Count::Infinite => {
            assert!(set.enumerate(1).is_err(), "{suite}: enumerates although it has {} extreme points", set.extremes());
        }
    }
    suite.description_gives_an_equal_set(parameters);
    check_shape(set, &suite.directions, suite.close, &mut rng);
    check_states(set, suite.close, &mut rng);
}

/// Zero, the axes, random ones, and ones with small integral entries, which have ties.
fn directions(dim: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut directions = vec![vec![0.0; dim]];
    for number in 0..DIRECTIONS {
        directions.push(
            (0..dim)
                .map(
                    |_| if number % 2 == 0 { rng.random_range(-1.0..1.0) } else { f64::from(rng.random_range(-2..=2)) },
                )
                .collect(),
        );
    }
    for index in 0..dim.min(4) {
        for sign in [-1.0, 1.0] {
            directions.push((0..dim).map(|other| if other == index { sign } else { 0.0 }).collect());
        }
    }
    directions
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |largest, (a, b)| largest.max((a - b).abs()))
}

/// A set with its support in some directions.
struct SetSuite<'a> {
    set: &'a dyn Uncertainty,
    directions: Vec<Vec<f64>>,
    values: Vec<f64>,
    maximisers: Vec<Vec<f64>>,
    /// The absolute tolerance for points.
    close: f64,
}

impl std::fmt::Display for SetSuite<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.set.describe() {
            Some(description) => write!(f, "{description:?}"),
            None => write!(f, "{:?}", self.set),
        }
    }
}

impl<'a> SetSuite<'a> {
    fn new(set: &'a dyn Uncertainty, directions: Vec<Vec<f64>>) -> Self {
        let mut suite = Self { set, directions, values: Vec::new(), maximisers: Vec::new(), close: TOLERANCE };
        for direction in &suite.directions {
            let mut xi = vec![f64::NAN; set.dim()];
            suite.values.push(set.support(direction, &mut xi).unwrap_or_else(|error| panic!("{suite}: {error}")));
            suite.maximisers.push(xi);
        }
        let size = suite.maximisers.iter().flatten().fold(1.0_f64, |size, entry| size.max(entry.abs()));
        suite.close = TOLERANCE * size;
        suite
    }

    /// The tolerance for a value of `directionᵀξ`.
    fn margin(&self, direction: &[f64]) -> f64 {
        self.close * (1.0 + direction.iter().map(|entry| entry.abs()).sum::<f64>())
    }

    fn nominal_is_a_member(&self) {
        let mut xi = vec![f64::NAN; self.set.dim()];
        self.set.nominal(&mut xi);
        assert!(self.set.contains(&xi, self.close), "{self}: the nominal {xi:?} is not a member");
    }

    fn support_is_attained_by_members(&self) {
        for ((direction, value), xi) in self.directions.iter().zip(&self.values).zip(&self.maximisers) {
            assert!(self.set.contains(xi, self.close), "{self}: the maximiser {xi:?} of {direction:?} is not a member");
            let attained = dot(direction, xi);
            assert!(
                (attained - value).abs() <= self.margin(direction),
                "{self}: {direction:?} has {value}, but {attained} at {xi:?}"
            );
            let mut again = vec![0.0; self.set.dim()];
            let repeated = self.set.support(direction, &mut again);
            assert_eq!(
                (repeated.as_ref(), &again),
                (Ok(value), xi),
                "{self}: a repeated call in {direction:?} answers differently"
            );
        }
    }

    fn nothing_beyond_the_support_is_a_member(&self) {
        for (direction, xi) in self.directions.iter().zip(&self.maximisers) {
            let largest = distance(direction, &vec![0.0; direction.len()]);
            if largest > 0.0 {
                let beyond: Vec<f64> =
                    xi.iter().zip(direction).map(|(xi, entry)| xi + 1e4 * self.close * entry / largest).collect();
                assert!(
                    !self.set.contains(&beyond, self.close),
                    "{self}: {beyond:?} is a member beyond the support in {direction:?}"
                );
            }
        }
    }

    fn members_do_not_exceed_the_support(&self, rng: &mut ChaCha8Rng) {
        for _ in 0..DIRECTIONS {
            let member = self.random_member(rng);
            assert!(self.set.contains(&member, self.close), "{self}: {member:?} should be a member");
            for (direction, value) in self.directions.iter().zip(&self.values) {
                let there = dot(direction, &member);
                assert!(
                    there <= value + self.margin(direction),
                    "{self}: the member {member:?} has {there} > {value} in {direction:?}"
                );
            }
        }
    }

    /// A mixture of maximisers; of a finite list, which need not be convex, one of them.
    fn random_member(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut pick = || &self.maximisers[rng.random_range(0..self.maximisers.len())];
        if self.set.is_finite_list() {
            return pick().clone();
        }
        let parts = [pick(), pick(), pick()];
        let weights = [(); 3].map(|()| rng.random_range(0.01..1.0));
        let total: f64 = weights.iter().sum();
        (0..self.set.dim())
            .map(|index| (0..3).map(|part| weights[part] * parts[part][index]).sum::<f64>() / total)
            .collect()
    }

    fn enumeration_is_right(&self, count: usize) {
        let points = self.set.enumerate(count).unwrap_or_else(|error| panic!("{self}: {error}"));
        assert_eq!(points.len(), count, "{self}: the enumeration has another length than the count");
        assert!(count > 0, "{self}: has no extreme point");
        let refused = self.set.enumerate(count - 1).expect_err("a limit below the count must be refused");
        assert_eq!((refused.count, refused.limit), (Count::Exactly(count as u128), count - 1), "{self}");
        for point in points.iter() {
            assert!(self.set.contains(point, self.close), "{self}: the extreme point {point:?} is not a member");
        }
        for ((direction, value), xi) in self.directions.iter().zip(&self.values).zip(&self.maximisers) {
            let best = points.iter().map(|point| dot(direction, point)).fold(f64::NEG_INFINITY, f64::max);
            assert!(
                (best - value).abs() <= self.margin(direction),
                "{self}: {direction:?} has {value}, the extreme points {best}"
            );
            let extreme = points.iter().any(|point| distance(point, xi) <= self.close);
            assert!(extreme, "{self}: the maximiser {xi:?} of {direction:?} is not among the extreme points");
        }
        if !self.set.is_finite_list() {
            self.points_differ(&points);
            if count <= VERY_FEW {
                self.no_point_is_a_mixture_of_others(&points);
            }
        }
    }

    fn points_differ(&self, points: &ScenarioList) {
        let mut sorted: Vec<&[f64]> = points.iter().collect();
        sorted.sort_by(|a, b| a.partial_cmp(b).expect("extreme points are finite"));
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]), "{self}: an extreme point is listed twice");
    }

    fn no_point_is_a_mixture_of_others(&self, points: &ScenarioList) {
        for (number, point) in points.iter().enumerate() {
            let mut model = Model::new();
            for other in 0..points.len() {
                model.add_col(0.0, 0.0, if other == number { 0.0 } else { 1.0 });
            }
            let all: Vec<(usize, f64)> = (0..points.len()).map(|other| (other, 1.0)).collect();
            model.add_row(1.0, 1.0, &all);
            for index in 0..self.set.dim() {
                let terms: Vec<(usize, f64)> =
                    points.iter().map(|other| other[index] - point[index]).enumerate().collect();
                model.add_row(-self.close, self.close, &terms);
            }
            let status = Lp::new(&model).and_then(|mut lp| lp.solve()).expect("HiGHS answers");
            assert_eq!(status, Status::Infeasible, "{self}: the extreme point {point:?} is a mixture of the others");
        }
    }

    fn description_gives_an_equal_set(&self, parameters: &[String]) {
        // A set that a program implements has no description.
        let Some(description) = self.set.describe() else { return };
        let mut complaints = Complaints::new();
        let twin = uncertainty::build(&description, parameters, "set", &mut complaints);
        let twin = twin.unwrap_or_else(|| panic!("{self}: the description is refused: {complaints}"));
        assert_eq!(twin.describe().as_ref(), Some(&description), "the description of the set built from it differs");
        assert_eq!(
            (twin.kind(), twin.dim(), twin.extremes()),
            (self.set.kind(), self.set.dim(), self.set.extremes()),
            "{self}"
        );
        let mut xi = vec![0.0; self.set.dim()];
        for ((direction, value), maximiser) in self.directions.iter().zip(&self.values).zip(&self.maximisers) {
            let answer = twin.support(direction, &mut xi);
            assert_eq!(
                (answer.as_ref(), &xi),
                (Ok(value), maximiser),
                "{self}: its twin answers differently in {direction:?}"
            );
        }
    }
}
