//! The boundary of an ellipsoid, parametrised by the unit sphere (Example 7 of the paper): where Q is convex in ξ, some
//! boundary point is a maximiser.

use rand::RngExt;

use super::{
    CachedTilt, LocalCoordinates, ReferenceMeasure, Space, State, States, Tilt, dot, norm, point, point_mut, variates,
    von_mises_fisher,
};
use crate::run::Random;

/// κ per dimension. A von Mises–Fisher law with κ = a·r has a mean cosine of about 2a/(1 + √(1 + 4a²)) with its mean
/// direction in any number of dimensions r: 0.90 for a = 5.
const CONCENTRATION_PER_DIMENSION: f64 = 5.0;

/// A member whose u is shorter is the center: the direction of a shorter u is a rounding error.
const CENTER_TOL: f64 = 1e-12;

/// `ξ = center + Σₖ half_k·u_k·axis_k` with u on the unit sphere. The dimension of the sphere is the number of axes, at
/// least two.
///
/// A rank-deficient matrix would map a sphere of more dimensions onto the entire body, its interior included; the
/// boundary of the body suffices.
pub(crate) struct Sphere<'a> {
    center: &'a [f64],
    axes: &'a [(f64, Vec<f64>)],
    /// The density of ν, if ν is uniform by surface area.
    surface: Option<SurfaceDensity>,
}

/// The law that is uniform by area on the ellipsoid (Example 6 of the paper). Its density with respect to the uniform
/// law on the sphere is proportional to `‖(u_k/half_k)‖`.
struct SurfaceDensity {
    /// (least half / half_k)², at most one.
    weights: Vec<f64>,
    /// The logarithm of the mean of `√(Σ weights·u²)` over the sphere.
    log_mean: f64,
}

impl<'a> Sphere<'a> {
    /// Creates the state space from the axes along which the ellipsoid is not flat.
    pub(crate) fn new(center: &'a [f64], axes: &'a [(f64, Vec<f64>)], reference: ReferenceMeasure) -> Self {
        let surface = (reference == ReferenceMeasure::Surface).then(|| {
            let least = axes.iter().fold(f64::INFINITY, |least, axis| least.min(axis.0));
            let weights: Vec<f64> = axes.iter().map(|axis| (least / axis.0).powi(2)).collect();
            let log_mean = (mean_length(&weights) / mean_length(&vec![1.0; axes.len()])).ln();
            SurfaceDensity { weights, log_mean }
        });
        Self { center, axes, surface }
    }
}

impl SurfaceDensity {
    /// The density `√(Σ weights·u²)` up to a constant, at most one.
    fn relative_density(&self, u: &[f64]) -> f64 {
        self.weights.iter().zip(u).map(|(weight, u)| weight * u * u).sum::<f64>().sqrt()
    }
}

/// The mean of `√(Σ weights·g²)` for independent standard normal g, up to a constant: the integral of `(1 −
/// L(t))·t^(−3/2)` over t > 0, where `L(t) = Π(1 + 2·weight·t)^(−1/2)` is the mean of `exp(−t·Σ weights·g²)`.
///
/// In ln t the integrand is smooth and decays exponentially on both sides, so that the trapezoidal rule is exact up to
/// rounding.
fn mean_length(weights: &[f64]) -> f64 {
    const STEP: f64 = 0.25;
    /// e^(−HALF_RANGE/2) is below rounding.
    const HALF_RANGE: f64 = 80.0;
    let total: f64 = weights.iter().sum();
    let from = -total.ln() - HALF_RANGE;
    let steps = ((HALF_RANGE - from) / STEP) as usize;
    let term = |step: usize| {
        let t = from + STEP * step as f64;
        let log: f64 = weights.iter().map(|weight| (2.0 * weight * t.exp()).ln_1p()).sum();
        -(-0.5 * log).exp_m1() * (-0.5 * t).exp()
    };
    (0..=steps).map(term).sum()
}

impl States for Sphere<'_> {
    fn space(&self) -> Space {
        Space::Sphere(self.axes.len())
    }

    fn blank(&self) -> State {
        let mut u = vec![0.0; self.axes.len()];
        u[0] = 1.0;
        State::Point(u)
    }

    /// If ν is uniform by surface area, a uniform direction is accepted with the probability √(uᵀHu/λ_max(H)) of the
    /// paper, at least about 0.8/√r on average.
    fn draw(&self, random: &mut Random, state: &mut State) {
        let u = point_mut(state, self.axes.len());
        loop {
            variates::on_sphere(random, u);
            if self.surface.as_ref().is_none_or(|surface| random.random::<f64>() < surface.relative_density(u)) {
                return;
            }
        }
    }

    fn realize(&self, state: &State, xi: &mut [f64]) {
        xi.copy_from_slice(self.center);
        for ((half, axis), u) in self.axes.iter().zip(point(state)) {
            let along = half * u;
            xi.iter_mut().zip(axis).for_each(|(xi, axis)| *xi += along * axis);
        }
    }

    /// Moves an interior member outward from the center; returns false for the center itself.
    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        let u = point_mut(state, self.axes.len());
        for ((half, axis), u) in self.axes.iter().zip(u.iter_mut()) {
            *u = xi.iter().zip(self.center).zip(axis).map(|((xi, center), axis)| (xi - center) * axis).sum::<f64>()
                / half;
        }
        let length = norm(u);
        let found = length.is_finite() && length > CENTER_TOL;
        if found {
            u.iter_mut().for_each(|u| *u /= length);
        } else {
            *state = self.blank();
        }
        found
    }

    fn enumerate(&self, _limit: usize) -> Option<Vec<State>> {
        None
    }

    fn tilt(&self) -> Option<&dyn Tilt> {
        Some(self)
    }

    fn local_coordinates(&self) -> Option<&dyn LocalCoordinates> {
        Some(self)
    }
}

/// The von Mises–Fisher law with mean direction `μ = Aᵀslope/‖Aᵀslope‖`, for any ν. If ν is uniform by surface area,
/// the density is divided by that of ν, and `log_mean` is still the mean under the uniform law on the sphere.
///
/// `weights` is κ·μ. The table holds μ, then `ln M(κ) − κ`, then κ.
impl Tilt for Sphere<'_> {
    fn concentration(&self) -> f64 {
        CONCENTRATION_PER_DIMENSION * self.axes.len() as f64
    }

    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt) {
        let dim = self.axes.len();
        let known = tilt.table.len() == dim + 2;
        if known && tilt.is_for(slope, concentration) {
            return;
        }
        // The normalising constant does not depend on the slope. A zero slope leaves a zero in place of κ in the table.
        let below = match known && tilt.concentration == concentration && tilt.table[dim + 1] == concentration {
            true => tilt.table[dim],
            false => von_mises_fisher::log_mean_minus_kappa(concentration, dim),
        };
        tilt.set_key(slope, concentration);
        tilt.table.clear();
        tilt.table.resize(dim + 2, 0.0);
        tilt.weights.clear();
        tilt.weights.resize(dim, 0.0);
        tilt.log_mean = 0.0;
        let mean = &mut tilt.table[..dim];
        self.pull_back(slope, mean);
        if concentration > 0.0 && super::make_unit(mean) {
            tilt.weights.iter_mut().zip(mean).for_each(|(weight, mean)| *weight = concentration * *mean);
            tilt.table[dim] = below;
            tilt.table[dim + 1] = concentration;
            tilt.log_mean = concentration + below;
        }
    }

    fn draw(&self, tilt: &CachedTilt, random: &mut Random, state: &mut State) {
        match tilt.table.get(self.axes.len() + 1) {
            Some(&concentration) if concentration > 0.0 => {
                let mean = &tilt.table[..self.axes.len()];
                von_mises_fisher::draw(mean, concentration, random, point_mut(state, self.axes.len()));
            }
            _ => States::draw(self, random, state),
        }
    }

    fn log_density(&self, tilt: &CachedTilt, state: &State) -> f64 {
        let (u, dim) = (point(state), self.axes.len());
        match tilt.table.get(dim + 1) {
            Some(&concentration) if concentration > 0.0 => {
                // κ·⟨μ, u⟩ = κ − κ·|u − μ|²/2: this form avoids cancellation near μ.
                let apart: f64 = u.iter().zip(&tilt.table).map(|(u, mean)| (u - mean).powi(2)).sum();
                let reference =
                    self.surface.as_ref().map_or(0.0, |surface| surface.relative_density(u).ln() - surface.log_mean);
                -0.5 * concentration * apart - tilt.table[dim] - reference
            }
            _ => 0.0,
        }
    }
}

impl LocalCoordinates for Sphere<'_> {
    fn dim(&self) -> usize {
        self.axes.len()
    }

    fn pull_back(&self, slope_xi: &[f64], slope: &mut [f64]) {
        for ((half, axis), slope) in self.axes.iter().zip(slope) {
            *slope = half * dot(axis, slope_xi);
        }
    }

    fn chord(&self, _point: &[f64], _direction: &[f64]) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn log_reference(&self, point: &[f64]) -> f64 {
        self.surface.as_ref().map_or(0.0, |surface| surface.relative_density(point).ln())
    }

    fn log_least_density(&self) -> f64 {
        let least = |weights: &[f64]| weights.iter().fold(1.0_f64, |least, weight| least.min(*weight)).sqrt().ln();
        self.surface.as_ref().map_or(0.0, |surface| least(&surface.weights) - surface.log_mean)
    }

    fn log_mass(&self) -> Option<f64> {
        Some(self.surface.as_ref().map_or(0.0, |surface| surface.log_mean))
    }
}
