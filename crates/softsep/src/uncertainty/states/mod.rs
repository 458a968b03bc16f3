//! States: what a chain walks on. A set says which of its members can hold the worst case, and how to draw and move
//! among them.
//!
//! A state is a row of a list or a vector of coordinates; [`States::realize`] makes a ξ of it. The reference measure ν
//! is the law of [`States::draw`]: uniform on rows, extreme points, a sphere or a body. All densities here are with
//! respect to ν.

mod body;
mod budget;
mod choice;
mod corners;
mod counts;
mod cross;
mod hull;
mod rows;
mod sphere;
mod variates;
pub(crate) mod von_mises_fisher;

pub(super) use body::{Body, Column, Form};
pub(super) use budget::BudgetPoints;
pub(super) use corners::Corners;
pub(super) use cross::Cross;
pub(super) use hull::{Facets, Hull};
pub(super) use rows::Rows;
pub(super) use sphere::Sphere;

use super::dot;
use crate::run::Random;

/// One state.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// A row of a list.
    Row(usize),
    /// Coordinates, whose meaning is the space's own.
    Point(Vec<f64>),
}

/// What kind of space the states make up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Finitely many states.
    Finite(super::Count),
    /// The unit sphere in so many dimensions.
    Sphere(usize),
    /// A convex body in so many dimensions.
    Body(usize),
}

impl std::fmt::Display for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Space::Finite(count) => write!(f, "finitely many ({count})"),
            Space::Sphere(dim) => write!(f, "a sphere in {dim} dimensions"),
            Space::Body(dim) => write!(f, "a convex body in {dim} dimensions"),
        }
    }
}

/// How Q moves with one entry of ξ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trend {
    /// It never falls as the entry grows.
    Rising,
    /// It never rises.
    Falling,
    /// Either, or not known.
    #[default]
    Unknown,
}

impl Trend {
    /// The trend of a function whose slope in the entry is never outside this range.
    pub fn between(least: f64, most: f64) -> Self {
        match (least >= 0.0, most <= 0.0) {
            (true, _) => Trend::Rising,
            (_, true) => Trend::Falling,
            _ => Trend::Unknown,
        }
    }
}

/// What is known of Q(x, ·), for all x, and so of where its maxima can be.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reach {
    /// Whether it is convex: then extreme points hold a maximum, and of an ellipsoid the boundary.
    pub convex: bool,
    /// Its trends, one per entry of ξ: where they are known, fewer extreme points hold a maximum (EC.2 of the paper).
    pub trends: Vec<Trend>,
    /// Which ν an ellipsoid's boundary is given.
    pub reference: Reference,
}

impl Reach {
    /// The trend in an entry of ξ.
    pub fn trend(&self, entry: usize) -> Trend {
        self.trends.get(entry).copied().unwrap_or_default()
    }
}

/// A law on the boundary of an ellipsoid `center + A u`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reference {
    /// u is uniform on the sphere.
    #[default]
    Sphere,
    /// ξ is uniform by area.
    Surface,
}

impl std::str::FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sphere" => Ok(Reference::Sphere),
            "surface" => Ok(Reference::Surface),
            _ => Err(format!("\"{text}\" is no reference; sphere and surface are")),
        }
    }
}

/// A measurable space of states with its reference measure.
pub trait States: Send + Sync {
    /// What kind of space it is.
    fn space(&self) -> Space;

    /// Some state, to be written over.
    fn blank(&self) -> State;

    /// Draws from ν.
    fn draw(&self, random: &mut Random, state: &mut State);

    /// Whether draws are from ν itself. If not they are steps of a walk that tends to it, and ν is uniform all the
    /// same.
    fn draws_exactly(&self) -> bool {
        true
    }

    /// The ξ of a state.
    fn realize(&self, state: &State, xi: &mut [f64]);

    /// The state nearest to a member of the set, exact for extreme points and boundary points; false if there is none
    /// to be found.
    fn locate(&self, xi: &[f64], state: &mut State) -> bool;

    /// All states in a fixed order, if they are at most `limit`.
    fn enumerate(&self, limit: usize) -> Option<Vec<State>>;

    /// The exponential tilt of ν, where it can be drawn from exactly.
    fn tilt(&self) -> Option<&dyn Tilt> {
        None
    }

    /// Local moves, where states are coordinates on a sphere or in a body.
    fn walk(&self) -> Option<&dyn Walk> {
        None
    }
}

/// What a tilt prepares for one slope; buffers that are used again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CachedTilt {
    /// The slope and concentration it was made for, so that the same are not prepared again.
    pub slope: Vec<f64>,
    /// The concentration it was made for.
    pub concentration: f64,
    /// The exponent's weight per coordinate, or per row.
    pub weights: Vec<f64>,
    /// Whatever drawing needs: sums of weights, the table of a dynamic program.
    pub table: Vec<f64>,
    /// The logarithm of the mean of exp(weights · state) under ν.
    pub log_mean: f64,
}

impl CachedTilt {
    /// Whether it was made for these.
    fn is_for(&self, slope: &[f64], concentration: f64) -> bool {
        self.slope == slope && self.concentration == concentration
    }

    /// Notes what it is being made for.
    fn remember(&mut self, slope: &[f64], concentration: f64) {
        self.slope.clear();
        self.slope.extend_from_slice(slope);
        self.concentration = concentration;
    }
}

/// The family of laws with densities ∝ exp(κ·⟨slope, state⟩), the slope brought to the space's own unit: κ means the
/// same whatever ξ is measured in.
pub trait Tilt: Send + Sync {
    /// The κ that makes a good proposal: it grows with the dimension, as a fixed one is ever nearer to uniform.
    fn concentration(&self) -> f64;

    /// Prepares the tilt along `slope`, a slope in ξ. A slope of zero gives ν itself.
    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt);

    /// Draws from the tilted law.
    fn draw(&self, tilt: &CachedTilt, random: &mut Random, state: &mut State);

    /// The logarithm of the tilted law's density.
    fn log_density(&self, tilt: &CachedTilt, state: &State) -> f64;
}

/// Coordinates that can be moved by little.
pub trait Walk: Send + Sync {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// The slope in coordinates that a slope in ξ comes to.
    fn pull(&self, slope_xi: &[f64], slope: &mut [f64]);

    /// In a body: the t for which `point + t·direction` stays inside, zero among them. On a sphere: all t.
    fn chord(&self, point: &[f64], direction: &[f64]) -> (f64, f64);

    /// The density of ν with respect to the uniform measure on the sphere or in the body, up to a factor, as a
    /// logarithm.
    fn log_reference(&self, _point: &[f64]) -> f64 {
        0.0
    }

    /// The integral of exp(log_reference), by volume in a body, under the uniform law on a sphere, as a logarithm;
    /// where it is known.
    fn log_mass(&self) -> Option<f64> {
        None
    }
}

/// The row of a state; the first, if it has coordinates instead.
fn row(state: &State) -> usize {
    match state {
        State::Row(row) => *row,
        State::Point(_) => 0,
    }
}

/// The coordinates of a state; none, if it has a row instead.
fn point(state: &State) -> &[f64] {
    match state {
        State::Point(point) => point,
        State::Row(_) => &[],
    }
}

/// The `dim` coordinates of a state that is to be written over, whatever it was.
fn point_mut(state: &mut State, dim: usize) -> &mut [f64] {
    if !matches!(state, State::Point(_)) {
        *state = State::Point(Vec::new());
    }
    match state {
        State::Point(point) => {
            point.resize(dim, 0.0);
            point
        }
        State::Row(_) => &mut [],
    }
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

/// Brings a vector to length one; false if it is zero or not finite.
fn make_unit(values: &mut [f64]) -> bool {
    // Dividing by the largest entry keeps the squares from underflow and overflow.
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return false;
    }
    values.iter_mut().for_each(|value| *value /= largest);
    let length = norm(values);
    values.iter_mut().for_each(|value| *value /= length);
    length.is_finite()
}
