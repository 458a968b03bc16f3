//! State spaces of the chains. An uncertainty set defines which of its members can attain the worst case, and how to
//! draw from them and move among them.
//!
//! A state is a row of a list or a vector of coordinates; [`States::realize`] maps it to ξ. The reference measure ν is
//! the law of [`States::draw`]: uniform on rows, extreme points, a sphere or a body. All densities here are with
//! respect to ν.

mod affine_hull;
mod body;
mod box_corners;
mod budget;
mod categorical;
mod count_recursion;
mod cross_polytope;
mod list_rows;
mod row_tree;
mod sphere;
mod tight_facets;
mod variates;
mod vertex_walk;
pub(crate) mod von_mises_fisher;

pub(super) use affine_hull::{AffineHull, HalfSpaces};
pub(super) use body::{Body, BodyShape, MapColumn};
pub(super) use box_corners::BoxCorners;
pub(super) use budget::BudgetPoints;
pub(super) use cross_polytope::CrossPolytope;
pub(super) use list_rows::{ListRows, ListSurface};
pub(super) use sphere::Sphere;
pub(super) use vertex_walk::VertexWalk;

use crate::numeric::{dot, norm};
use crate::run::Random;

/// A state.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// A row of a list.
    Row(usize),
    /// Coordinates; their meaning depends on the space.
    Point(Vec<f64>),
}

/// The kind of a state space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Finitely many states.
    Finite(super::Count),
    /// The unit sphere in the given number of dimensions.
    Sphere(usize),
    /// A convex body in the given number of dimensions.
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

/// Monotonicity of Q in one entry of ξ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trend {
    /// Q is nondecreasing in the entry.
    Rising,
    /// Q is nonincreasing in the entry.
    Falling,
    /// Neither, or unknown.
    #[default]
    Unknown,
}

impl Trend {
    /// The trend of a function whose slope in the entry is always within [least, most].
    pub fn between(least: f64, most: f64) -> Self {
        match (least >= 0.0, most <= 0.0) {
            (true, _) => Trend::Rising,
            (_, true) => Trend::Falling,
            _ => Trend::Unknown,
        }
    }
}

/// Properties of Q(x, ·) that hold for all x and restrict where its maxima can be, and the choice of ν.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateSpec {
    /// Whether Q(x, ·) is convex: then some extreme point is a maximiser, and for an ellipsoid some boundary point.
    pub convex: bool,
    /// Trends of Q, one per entry of ξ. Known trends reduce the extreme points that can be maximisers (EC.2 of the
    /// paper). Missing entries are unknown.
    pub trends: Vec<Trend>,
    /// The reference measure ν on the boundary of an ellipsoid.
    pub reference: ReferenceMeasure,
    /// Whether the states of a polyhedron with too many vertices to enumerate are its vertices, with moves along its
    /// edges, where Q is convex. If not, they are the whole set, and ν is uniform by volume.
    pub edges: bool,
}

impl StateSpec {
    /// The trend in an entry of ξ.
    pub fn trend(&self, entry: usize) -> Trend {
        self.trends.get(entry).copied().unwrap_or_default()
    }
}

/// A reference measure on the boundary of an ellipsoid `center + A u`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReferenceMeasure {
    /// u is uniform on the sphere.
    #[default]
    Sphere,
    /// ξ is uniform by area.
    Surface,
}

impl std::fmt::Display for ReferenceMeasure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sphere => "sphere",
            Self::Surface => "surface",
        })
    }
}

impl std::str::FromStr for ReferenceMeasure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sphere" => Ok(ReferenceMeasure::Sphere),
            "surface" => Ok(ReferenceMeasure::Surface),
            _ => Err(format!("\"{text}\" is no reference; sphere and surface are")),
        }
    }
}

/// A state space with its reference measure ν.
pub trait States: Send + Sync {
    /// The kind of the space.
    fn space(&self) -> Space;

    /// Returns an arbitrary state, as a buffer.
    fn blank(&self) -> State;

    /// Draws a state from ν.
    fn draw(&self, random: &mut Random, state: &mut State);

    /// Whether `draw` samples ν exactly. If not, it runs a chain that converges to ν, and ν is uniform.
    fn draws_exactly(&self) -> bool {
        true
    }

    /// Writes the ξ of a state.
    fn realize(&self, state: &State, xi: &mut [f64]);

    /// Finds the state nearest to a member of the set; exact for extreme points and boundary points. Returns false if
    /// none is found.
    fn locate(&self, xi: &[f64], state: &mut State) -> bool;

    /// All states in a fixed order; `None` if there are more than `limit` or infinitely many.
    fn enumerate(&self, limit: usize) -> Option<Vec<State>>;

    /// The exponential tilt of ν, if it can be sampled exactly.
    fn tilt(&self) -> Option<&dyn Tilt> {
        None
    }

    /// Coordinates for local moves, if the states are points on a sphere or in a body.
    fn local_coordinates(&self) -> Option<&dyn LocalCoordinates> {
        None
    }

    /// Moves to nearby states, if there are finitely many states.
    fn neighbours(&self) -> Option<&dyn Neighbours> {
        None
    }
}

/// A symmetric random walk on finitely many states: the probability of a move is that of its reverse, so that the walk
/// leaves the uniform law invariant. It reaches every state, and a move changes few entries of ξ, or changes ξ by
/// little.
pub trait Neighbours: Send + Sync {
    /// Draws a neighbour of `from`. `to` becomes `from` where the move drawn leads to no other state.
    fn draw_neighbour(&self, from: &State, random: &mut Random, to: &mut State);

    /// The probability of a move from `from` to `to`, which may be the same state.
    fn probability(&self, from: &State, to: &State) -> f64;
}

/// The data of a tilt for one slope, with reusable buffers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CachedTilt {
    /// The slope for which the tilt was prepared; with the concentration, the key of the cache.
    pub slope: Vec<f64>,
    /// The concentration for which the tilt was prepared.
    pub concentration: f64,
    /// The weight of each coordinate or each row in the exponent.
    pub weights: Vec<f64>,
    /// Data for drawing: partial sums of weights, or the table of a dynamic program.
    pub table: Vec<f64>,
    /// The logarithm of the mean of exp(weights · state) under ν.
    pub log_mean: f64,
}

impl CachedTilt {
    /// Whether the tilt was prepared for this slope and concentration.
    fn is_for(&self, slope: &[f64], concentration: f64) -> bool {
        self.slope == slope && self.concentration == concentration
    }

    /// Sets the slope and concentration for which the tilt is prepared.
    fn set_key(&mut self, slope: &[f64], concentration: f64) {
        self.slope.clear();
        self.slope.extend_from_slice(slope);
        self.concentration = concentration;
    }
}

/// The exponential family of laws with densities ∝ exp(κ·⟨slope, state⟩). The slope is scaled to the unit of the space,
/// so that κ has the same meaning for any units of ξ.
pub trait Tilt: Send + Sync {
    /// The default κ of proposals. It grows with the dimension, because the law for a fixed κ approaches the uniform
    /// law.
    fn concentration(&self) -> f64;

    /// Prepares the tilt along `slope`, a slope in ξ. A zero slope gives ν itself.
    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt);

    /// Draws from the tilted law.
    fn draw(&self, tilt: &CachedTilt, random: &mut Random, state: &mut State);

    /// The logarithm of the tilted law's density with respect to ν.
    fn log_density(&self, tilt: &CachedTilt, state: &State) -> f64;
}

/// Coordinates on a sphere or in a body, for local moves.
pub trait LocalCoordinates: Send + Sync {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// Writes the slope in coordinates that corresponds to a slope in ξ: the transposed Jacobian of the map to ξ, times
    /// `slope_xi`.
    fn pull_back(&self, slope_xi: &[f64], slope: &mut [f64]);

    /// Returns the range of t for which `point + t·direction` stays in the body; it contains zero. On a sphere, all t.
    fn chord(&self, point: &[f64], direction: &[f64]) -> (f64, f64);

    /// Writes the outward normal of the body at `point` on its boundary, where the line along `direction` leaves it.
    /// Returns false if the normal is unknown, as by default.
    fn outward_normal(&self, _point: &[f64], _direction: &[f64], _normal: &mut [f64]) -> bool {
        false
    }

    /// The log-density of ν with respect to the uniform measure on the sphere or in the body, up to a constant.
    fn log_reference(&self, _point: &[f64]) -> f64 {
        0.0
    }

    /// The logarithm of the least density of ν with respect to the uniform law.
    fn log_least_density(&self) -> f64 {
        0.0
    }

    /// The logarithm of the integral of exp(log_reference), with respect to volume in a body and to the uniform law on
    /// a sphere; `None` if it is unknown.
    fn log_mass(&self) -> Option<f64> {
        None
    }
}

/// Copies a state without allocating where both have as many coordinates.
fn copy_state(from: &State, to: &mut State) {
    match (from, &mut *to) {
        (State::Point(point), State::Point(own)) if own.len() == point.len() => own.copy_from_slice(point),
        _ => to.clone_from(from),
    }
}

/// The row of a state; zero if the state has coordinates instead.
fn row(state: &State) -> usize {
    match state {
        State::Row(row) => *row,
        State::Point(_) => 0,
    }
}

/// The coordinates of a state; empty if the state is a row.
fn point(state: &State) -> &[f64] {
    match state {
        State::Point(point) => point,
        State::Row(_) => &[],
    }
}

/// The coordinates of a state as a mutable slice of length `dim`; replaces a row.
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

/// Scales a vector to length one. Returns false if it is zero or not finite.
fn make_unit(values: &mut [f64]) -> bool {
    // Division by the largest entry prevents underflow and overflow of the squares.
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return false;
    }
    values.iter_mut().for_each(|value| *value /= largest);
    let length = norm(values);
    values.iter_mut().for_each(|value| *value /= length);
    length.is_finite()
}
