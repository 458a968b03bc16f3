//! An entire convex body as a state space: where Q is not convex in ξ, a maximum can be anywhere in it (Example 8 of
//! the paper).

use std::borrow::Cow;

use rand::RngExt;

use super::affine_hull::HalfSpaces;
use super::variates::{exponential, on_sphere};
use super::{LocalCoordinates, Space, State, States, point, point_mut};
use crate::run::Random;
use crate::uncertainty::{chord, dot};

/// `ξ = center + B u` with u in a body of simple shape, whose widths along the coordinates are about two.
pub(crate) struct Body<'a> {
    center: Cow<'a, [f64]>,
    /// The columns of B as sparse vectors: boxes and budgets have one entry in each.
    columns: Vec<MapColumn>,
    shape: BodyShape,
}

/// A column of B with the row of its left inverse: `u = ⟨inverse, ξ − center⟩`.
pub(crate) struct MapColumn {
    pub(crate) terms: Vec<(usize, f64)>,
    pub(crate) inverse: Vec<(usize, f64)>,
}

impl MapColumn {
    /// A column with the single entry `step`.
    pub(crate) fn of_entry(entry: usize, step: f64) -> Self {
        Self { terms: vec![(entry, step)], inverse: vec![(entry, step.recip())] }
    }

    /// A column along a unit vector, of length `half`.
    pub(crate) fn along(axis: &[f64], half: f64) -> Self {
        let scaled = |factor: f64| axis.iter().map(|axis| axis * factor).enumerate().collect();
        Self { terms: scaled(half), inverse: scaled(half.recip()) }
    }
}

/// Writes ξ = center + B u.
pub(super) fn map_to_xi(center: &[f64], columns: &[MapColumn], u: &[f64], xi: &mut [f64]) {
    xi.copy_from_slice(center);
    for (column, u) in columns.iter().zip(u) {
        column.terms.iter().for_each(|&(entry, value)| xi[entry] += value * u);
    }
}

/// Writes the u of ξ, or of the projection of ξ on the image of B.
pub(super) fn map_to_coordinates(center: &[f64], columns: &[MapColumn], xi: &[f64], u: &mut [f64]) {
    for (column, u) in columns.iter().zip(u) {
        *u = column.inverse.iter().map(|&(entry, value)| value * (xi[entry] - center[entry])).sum();
    }
}

/// The feasible set of u.
pub(crate) enum BodyShape {
    /// `‖u‖₂ ≤ 1`.
    Ball,
    /// `−1 ≤ u ≤ 1`.
    Cube,
    /// `|u| ≤ 1, Σ|u| ≤ budget`, with `0 ≤ u ≤ 1` instead of the first if one-sided; the budget is at least one.
    Deviations { budget: f64, one_sided: bool },
    /// Finitely many half-spaces.
    HalfSpaces(HalfSpaces),
}

impl<'a> Body<'a> {
    /// Creates the state space from at least one column.
    pub(crate) fn new(center: Cow<'a, [f64]>, columns: Vec<MapColumn>, shape: BodyShape) -> Self {
        Self { center, columns, shape }
    }
}

/// Draws uniformly from `0 ≤ u ≤ 1, Σu ≤ budget`, by rejection from independent entries with densities ∝ exp(−rate·u).
/// The rate is such that the entries spend the budget on average. A point within the budget is accepted with
/// probability exp(−rate·unspent budget). The acceptance rate is at least about 0.4/√n.
fn draw_deviations(budget: f64, random: &mut Random, u: &mut [f64]) {
    let rate = rate_of_mean(budget / u.len() as f64);
    'trial: loop {
        let slack = if rate > 0.0 { exponential(random) / rate } else { f64::INFINITY };
        let mut left = budget;
        for u in u.iter_mut() {
            // The inverse of the distribution function (1 − e^(−rate·u))/(1 − e^(−rate)).
            let share = random.random::<f64>();
            *u = if rate > 0.0 { -(share * (-rate).exp_m1()).ln_1p() / rate } else { share };
            left -= *u;
            if left < 0.0 {
                continue 'trial;
            }
        }
        if left <= slack {
            return;
        }
    }
}

/// Returns the rate for which the law on [0, 1] with density ∝ exp(−rate·u) has the given mean, 1/rate − 1/(e^rate −
/// 1). Returns zero for means of at least one half.
fn rate_of_mean(mean: f64) -> f64 {
    if mean >= 0.5 {
        return 0.0;
    }
    // The mean is below 1/rate. The rejection sampler is exact for any rate, so that a few bisections are enough.
    let (mut low, mut high) = (0.0, 1.0 / mean);
    for _ in 0..30 {
        let rate = 0.5 * (low + high);
        let there = 1.0 / rate - 1.0 / rate.exp_m1();
        *(if there > mean { &mut low } else { &mut high }) = rate;
    }
    0.5 * (low + high)
}

impl States for Body<'_> {
    fn space(&self) -> Space {
        Space::Body(self.columns.len())
    }

    fn blank(&self) -> State {
        State::Point(vec![0.0; self.columns.len()])
    }

    fn draw(&self, random: &mut Random, state: &mut State) {
        let u = point_mut(state, self.columns.len());
        match &self.shape {
            BodyShape::Ball => {
                on_sphere(random, u);
                let radius = random.random::<f64>().powf(1.0 / u.len() as f64);
                u.iter_mut().for_each(|u| *u *= radius);
            }
            BodyShape::Cube => u.iter_mut().for_each(|u| *u = random.random_range(-1.0..=1.0)),
            BodyShape::Deviations { budget, one_sided } => {
                if *budget > 1.0 {
                    draw_deviations(*budget, random, u);
                } else {
                    // A Dirichlet law with all parameters one: normalised exponential numbers, the last of which is the
                    // unspent budget.
                    u.iter_mut().for_each(|u| *u = exponential(random));
                    let total = u.iter().sum::<f64>() + exponential(random);
                    u.iter_mut().for_each(|u| *u /= total);
                }
                if !one_sided {
                    u.iter_mut().for_each(|u| *u = if random.random() { *u } else { -*u });
                }
            }
            BodyShape::HalfSpaces(half_spaces) => half_spaces.draw(random, u),
        }
    }

    fn draws_exactly(&self) -> bool {
        !matches!(self.shape, BodyShape::HalfSpaces(_))
    }

    fn realize(&self, state: &State, xi: &mut [f64]) {
        map_to_xi(&self.center, &self.columns, point(state), xi);
    }

    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        let found = xi.iter().all(|xi| xi.is_finite());
        let u = point_mut(state, self.columns.len());
        match found {
            true => map_to_coordinates(&self.center, &self.columns, xi, u),
            false => u.fill(0.0),
        }
        found
    }

    fn enumerate(&self, _limit: usize) -> Option<Vec<State>> {
        None
    }

    fn local_coordinates(&self) -> Option<&dyn LocalCoordinates> {
        Some(self)
    }
}

impl LocalCoordinates for Body<'_> {
    fn dim(&self) -> usize {
        self.columns.len()
    }

    fn pull_back(&self, slope_xi: &[f64], slope: &mut [f64]) {
        for (column, slope) in self.columns.iter().zip(slope) {
            *slope = column.terms.iter().map(|&(entry, value)| value * slope_xi[entry]).sum();
        }
    }

    fn chord(&self, point: &[f64], direction: &[f64]) -> (f64, f64) {
        let pairs = point.iter().copied().zip(direction.iter().copied());
        match &self.shape {
            BodyShape::Ball => chord::in_ball(dot(point, point), dot(point, direction), dot(direction, direction)),
            BodyShape::Cube => chord::between(pairs.map(|(u, step)| (u + 1.0, 1.0 - u, step))),
            BodyShape::Deviations { budget, one_sided } => chord::deviations(pairs, *budget, *one_sided),
            BodyShape::HalfSpaces(half_spaces) => half_spaces.chord(point, direction),
        }
    }

    /// Of several facets, the one that the line meets first; at the boundary it has no distance left.
    fn outward_normal(&self, point: &[f64], direction: &[f64], normal: &mut [f64]) -> bool {
        let lower = match &self.shape {
            BodyShape::Ball => {
                normal.copy_from_slice(point);
                return true;
            }
            BodyShape::HalfSpaces(half_spaces) => return half_spaces.outward_normal(point, direction, normal),
            BodyShape::Deviations { one_sided: true, .. } => 0.0,
            BodyShape::Cube | BodyShape::Deviations { .. } => -1.0,
        };
        let pairs = point.iter().zip(direction);
        let distances = pairs.clone().map(|(u, step)| match *step > 0.0 {
            true => (1.0 - u) / step,
            false if *step < 0.0 => (lower - u) / step,
            false => f64::INFINITY,
        });
        let Some((entry, distance)) = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) else { return false };
        if let BodyShape::Deviations { budget, .. } = &self.shape {
            let (mut left, mut rate) = (*budget, 0.0);
            for (u, step) in pairs {
                (left, rate) = (left - u.abs(), rate + u.signum() * step);
            }
            if rate > 0.0 && left / rate < distance {
                normal.iter_mut().zip(point).for_each(|(normal, u)| *normal = u.signum());
                return true;
            }
        }
        normal.fill(0.0);
        normal[entry] = direction[entry].signum();
        distance.is_finite()
    }

    /// The volume, for shapes with a closed formula.
    fn log_mass(&self) -> Option<f64> {
        let dim = self.columns.len();
        let signs = dim as f64 * std::f64::consts::LN_2;
        match &self.shape {
            // π^(r/2)/Γ(r/2 + 1) by V(r) = 2π/r·V(r − 2), from V(0) = 1 or V(1) = 2.
            BodyShape::Ball => {
                let first = if dim.is_multiple_of(2) { 0.0 } else { std::f64::consts::LN_2 };
                Some(
                    (2..=dim)
                        .filter(|r| r % 2 == dim % 2)
                        .map(|r| (std::f64::consts::TAU / r as f64).ln())
                        .sum::<f64>()
                        + first,
                )
            }
            BodyShape::Cube => Some(signs),
            // A simplex in every orthant.
            BodyShape::Deviations { budget, one_sided } if *budget == 1.0 => {
                Some(-(1..=dim).map(|r| (r as f64).ln()).sum::<f64>() + if *one_sided { 0.0 } else { signs })
            }
            BodyShape::Deviations { .. } | BodyShape::HalfSpaces(_) => None,
        }
    }
}
