//! The boundary of an ellipsoid as the unit sphere (Example 6 of the paper): where Q is convex in ξ, a maximum is
//! there.

use rand::RngExt;

use super::{
    CachedTilt, Reference, Space, State, States, Tilt, Walk, dot, norm, point, point_mut, variates, von_mises_fisher,
};
use crate::run::Random;

/// κ per dimension: a von Mises–Fisher law with κ = a·r has a mean cosine of about 2a/(1 + √(1 + 4a²)) with its
/// direction, 0.90 for a = 5, in any number of dimensions.
const PER_DIMENSION: f64 = 5.0;

/// `ξ = center + Σₖ half_k·u_k·axis_k` with u on the unit sphere of as many dimensions as there are axes, at least two.
///
/// A flat matrix maps a sphere of more dimensions onto the whole body in its image, inside included; the body's
/// boundary suffices.
pub(crate) struct Sphere<'a> {
    center: &'a [f64],
    axes: &'a [(f64, Vec<f64>)],
    /// Where ν is uniform by surface.
    surface: Option<Surface>,
}

/// The law that is uniform by area on the ellipsoid (Example 5 of the paper): its density with respect to the uniform
/// law on the sphere is proportional to `‖(u_k/half_k)‖`.
struct Surface {
    /// (least half / half_k)²: the density's squares, at most one.
    weights: Vec<f64>,
    /// The logarithm of the mean of `√(Σ weights·u²)` over the sphere.
    log_mean: f64,
}

impl<'a> Sphere<'a> {
    /// The axes are those along which the ellipsoid is not flat.
    pub(crate) fn new(center: &'a [f64], axes: &'a [(f64, Vec<f64>)], reference: Reference) -> Self {
        let surface = (reference == Reference::Surface).then(|| {
            let least = axes.iter().fold(f64::INFINITY, |least, axis| least.min(axis.0));
            let weights: Vec<f64> = axes.iter().map(|axis| (least / axis.0).powi(2)).collect();
            let log_mean = (mean_length(&weights) / mean_length(&vec![1.0; axes.len()])).ln();
            Surface { weights, log_mean }
        });
        Self { center, axes, surface }
    }
}

impl Surface {
    /// `√(Σ weights·u²)`, at most one.
    fn stretch(&self, u: &[f64]) -> f64 {
        self.weights.iter().zip(u).map(|(weight, u)| weight * u * u).sum::<f64>().sqrt()
    }
}

/// The mean of `√(Σ weights·g²)` for independent standard normal g, up to a factor: the integral of `(1 −
/// L(t))·t^(−3/2)` over t > 0, where `L(t) = Π(1 + 2·weight·t)^(−1/2)` is the mean of `exp(−t·Σ weights·g²)`.
///
/// In ln t the integrand is smooth and falls off exponentially to both sides, so that the trapezoidal rule is exact to
/// rounding.
fn mean_length(weights: &[f64]) -> f64 {
    const STEP: f64 = 0.25;
    /// e^(−AWAY/2) is rounding.
    const AWAY: f64 = 80.0;
    let total: f64 = weights.iter().sum();
    let from = -total.ln() - AWAY;
    let steps = ((AWAY - from) / STEP) as usize;
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

    /// By surface: a uniform direction is taken with the probability √(uᵀHu/λ_max(H)) of the paper, at least about
    /// 0.8/√r on average.
    fn draw(&self, random: &mut Random, state: &mut State) {
        let u = point_mut(state, self.axes.len());
        loop {
            variates::on_sphere(random, u);
            if self.surface.as_ref().is_none_or(|surface| random.random::<f64>() < surface.stretch(u)) {
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

    /// A member inside is moved outward from the center; the center itself has no direction.
    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        let u = point_mut(state, self.axes.len());
        for ((half, axis), u) in self.axes.iter().zip(u.iter_mut()) {
            *u = xi.iter().zip(self.center).zip(axis).map(|((xi, center), axis)| (xi - center) * axis).sum::<f64>()
                / half;
        }
        let length = norm(u);
        let found = length.is_finite() && length > 1e-12;
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

    fn walk(&self) -> Option<&dyn Walk> {
        Some(self)
    }
}

/// The von Mises–Fisher law about `Aᵀslope/‖Aᵀslope‖`, whatever ν is: where ν is uniform by surface, its density is
/// divided by ν's, and `log_mean` is still the mean under the uniform law on the sphere.
///
/// `weights` is κ·μ, and the table holds μ, then `ln M(κ) − κ`, then κ again.
impl Tilt for Sphere<'_> {
    fn concentration(&self) -> f64 {
        PER_DIMENSION * self.axes.len() as f64
    }

    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt) {
        let dim = self.axes.len();
        let known = tilt.table.len() == dim + 2;
        if known && tilt.is_for(slope, concentration) {
            return;
        }
        // The normalising constant does not depend on the slope. A zero slope leaves zero behind in place of κ.
        let below = match known && tilt.concentration == concentration && tilt.table[dim + 1] == concentration {
            true => tilt.table[dim],
            false => von_mises_fisher::log_mean_below(concentration, dim),
        };
        tilt.remember(slope, concentration);
        tilt.table.clear();
        tilt.table.resize(dim + 2, 0.0);
        tilt.weights.clear();
        tilt.weights.resize(dim, 0.0);
        tilt.log_mean = 0.0;
        let mean = &mut tilt.table[..dim];
        self.pull(slope, mean);
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
                // κ·⟨μ, u⟩ = κ − κ·|u − μ|²/2: near μ nothing is lost in the difference of large numbers.
                let apart: f64 = u.iter().zip(&tilt.table).map(|(u, mean)| (u - mean).powi(2)).sum();
                let reference = self.surface.as_ref().map_or(0.0, |surface| surface.stretch(u).ln() - surface.log_mean);
                -0.5 * concentration * apart - tilt.table[dim] - reference
            }
            _ => 0.0,
        }
    }
}

impl Walk for Sphere<'_> {
    fn dim(&self) -> usize {
        self.axes.len()
    }

    fn pull(&self, slope_xi: &[f64], slope: &mut [f64]) {
        for ((half, axis), slope) in self.axes.iter().zip(slope) {
            *slope = half * dot(axis, slope_xi);
        }
    }

    fn chord(&self, _point: &[f64], _direction: &[f64]) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn log_reference(&self, point: &[f64]) -> f64 {
        self.surface.as_ref().map_or(0.0, |surface| surface.stretch(point).ln())
    }

    fn log_mass(&self) -> Option<f64> {
        Some(self.surface.as_ref().map_or(0.0, |surface| surface.log_mean))
    }
}
