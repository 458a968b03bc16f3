//! Rays of a conic program along which its cost falls, by a linear program.
//!
//! An interior-point method returns rays that violate everything a little. Where a cost is quadratic that decides: a
//! curvature of 1e-12 of the descent ends it, at a y of 1e12. A simplex method returns vertices, where rows hold up to
//! rounding and zeros are exact. The ray is in the recession cone of the rows and bounds, in the null space of the
//! quadratic cost, and in the unit cube.
//!
//! Of cones only those of quadratic costs become linear: `‖(√2·Ly, t − 1)‖ ≤ t + 1` along a ray is Ly = 0 and t ≥ 0.

use std::sync::Arc;

use softsep_lp::{Lp, Model, Status};

use super::standard_form::{ActivitySource, StandardForm};
use crate::definition::ConeKind;
use crate::numeric::tolerances::SUMMATION_TOL;
use crate::run::Clock;

/// Least descent of a ray, relative to the sum of the absolute terms of its cost.
const DESCENT_TOL: f64 = 1e-9;

/// A ray by a linear program.
pub(super) enum LinearRay {
    /// A ray, with a largest entry of 1.
    Found(Vec<f64>),
    /// There is none, or none that holds up to rounding.
    Missing(String),
    /// The program has cones that are not those of quadratic costs.
    Curved,
}

/// A row of the recession cone: terms whose sum is zero, or nonnegative.
struct RayRow {
    terms: Vec<(usize, f64)>,
    is_equation: bool,
}

impl RayRow {
    /// Whether it holds up to the rounding of its own terms.
    fn holds(&self, ray: &[f64]) -> bool {
        let (sum, mass) = self.terms.iter().fold((0.0, 0.0), |(sum, mass): (f64, f64), &(col, value)| {
            (sum + value * ray[col], mass + (value * ray[col]).abs())
        });
        let violation = if self.is_equation { sum.abs() } else { -sum };
        violation <= SUMMATION_TOL * mass
    }
}

/// Looks for a ray of `form` along which `cost` falls.
pub(super) fn linear_ray(form: &StandardForm, cost: &[f64], clock: &Clock) -> LinearRay {
    let Some(rows) = ray_rows(form) else { return LinearRay::Curved };
    let (mut lower, mut upper): (Vec<f64>, Vec<f64>) = (form.lower.iter().zip(&form.upper))
        .map(|(lower, upper)| (if lower.is_finite() { 0.0 } else { -1.0 }, if upper.is_finite() { 0.0 } else { 1.0 }))
        .unzip();
    // An equation of one term is a bound, which holds exactly.
    for row in rows.iter().filter(|row| row.is_equation) {
        if let [(col, _)] = row.terms[..] {
            (lower[col], upper[col]) = (0.0, 0.0);
        }
    }
    let largest = cost.iter().fold(f64::MIN_POSITIVE, |largest, cost| largest.max(cost.abs()));
    let mut model = Model::new();
    for ((cost, lower), upper) in cost.iter().zip(&lower).zip(&upper) {
        model.add_col(cost / largest, *lower, *upper);
    }
    for row in rows.iter().filter(|row| row.terms.len() > 1 || !row.is_equation) {
        let size = row.terms.iter().fold(f64::MIN_POSITIVE, |size, term| size.max(term.1.abs()));
        let terms: Vec<(usize, f64)> = row.terms.iter().map(|&(col, value)| (col, value / size)).collect();
        model.add_row(0.0, if row.is_equation { 0.0 } else { f64::INFINITY }, &terms);
    }
    let ray = match vertex(&model, clock) {
        Ok(ray) => ray,
        Err(why) => return LinearRay::Missing(format!("no ray of descent was found: {why}")),
    };
    let ray: Vec<f64> = ray.iter().zip(lower.iter().zip(&upper)).map(|(y, (l, u))| y.max(*l).min(*u)).collect();
    let (fall, mass) = cost
        .iter()
        .zip(&ray)
        .fold((0.0, 0.0), |(fall, mass): (f64, f64), (cost, y)| (fall - cost * y, mass + (cost * y).abs()));
    let scale = ray.iter().fold(0.0, |size: f64, y| size.max(y.abs())).recip();
    if !(fall > DESCENT_TOL * mass && scale.is_finite() && rows.iter().all(|row| row.holds(&ray))) {
        return LinearRay::Missing(format!("no ray of descent holds up to rounding; the best one falls by {fall:e}"));
    }
    LinearRay::Found(ray.iter().map(|y| y * scale).collect())
}

/// The rows of the recession cone; `None` if a cone is none of a quadratic cost.
fn ray_rows(form: &StandardForm) -> Option<Vec<RayRow>> {
    let terms_of = |entry: usize| match form.entries[entry].source {
        ActivitySource::Row(row) => {
            form.rows.row(row).map(|(col, value)| (col, form.entries[entry].sign * value)).collect::<Vec<_>>()
        }
        ActivitySource::Col(_) => Vec::new(),
    };
    let mut rows: Vec<RayRow> = (0..form.zero + form.nonnegative)
        .map(|entry| RayRow { terms: terms_of(entry), is_equation: entry < form.zero })
        .collect();
    for (kind, entries) in &form.cones {
        let first = terms_of(entries.start);
        if *kind != ConeKind::SecondOrder || entries.len() < 2 || first != terms_of(entries.start + 1) {
            return None;
        }
        rows.push(RayRow { terms: first, is_equation: false });
        rows.extend((entries.start + 2..entries.end).map(|entry| RayRow { terms: terms_of(entry), is_equation: true }));
    }
    let mut curved = vec![Vec::new(); form.cost.len()];
    for (i, j, value) in form.quadratic.iter() {
        curved[i].push((j, value));
        if i != j {
            curved[j].push((i, value));
        }
    }
    rows.extend(curved.into_iter().map(|terms| RayRow { terms, is_equation: true }));
    rows.retain(|row| !row.terms.is_empty());
    Some(rows)
}

/// An optimal vertex of a linear program.
fn vertex(model: &Model, clock: &Clock) -> Result<Vec<f64>, String> {
    let solve = || -> Result<(Status, Vec<f64>), softsep_lp::LpError> {
        let mut lp = Lp::new(model)?;
        lp.set_interrupt(Arc::clone(clock.interrupt()))?;
        lp.set_time_limit(clock.left())?;
        let status = lp.solve()?;
        let mut point = vec![0.0; model.cols()];
        if status == Status::Optimal {
            lp.primal(&mut point)?;
        }
        Ok((status, point))
    };
    match solve() {
        Ok((Status::Optimal, point)) => Ok(point),
        Ok((status, _)) => Err(format!("HiGHS ended with {status:?}")),
        Err(error) => Err(error.to_string()),
    }
}
