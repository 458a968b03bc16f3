//! The choice of units, by least squares over the logarithms of the data (Curtis and Reid, 1972).
//!
//! Every datum is a product of units: a coefficient of x in a row has the row's unit per unit of x, a bound has the
//! unit of its variable, a cost that of costs per unit of its variable. The units are those that make the sum of the
//! squared logarithms of all data in them smallest. Writing a variable, a parameter, a row or the costs in another unit
//! moves the minimiser by that unit and leaves the internal problem as it was, up to the rounding to powers of two.

use super::Scaling;
use crate::definition::VariableKind;
use crate::model::{Problem, Sparse, Symmetric};
use crate::uncertainty::SetDefinition;

/// Data are ordinary if the logarithms of typical values of variables, parameters and unit costs are in this range:
/// tolerances of 1e-7 are small against 0.1, and 1e7 has as many digits behind the comma as a solver returns.
const ORDINARY: std::ops::RangeInclusive<f64> = -3.5..=23.5;

/// The same for coefficients of a problem that is ordinary without a further look.
const ORDINARY_COEFFICIENTS: std::ops::RangeInclusive<f64> = -10.0..=10.0;

/// Steps of the conjugate gradient method, and the residual, relative to the first one, at which it ends. Units are
/// rounded to powers of two anyway.
const STEPS: usize = 200;
const RESIDUAL: f64 = 1e-4;

/// The logarithm of a datum in internal units: `log` plus the unknowns `plus` minus the unknowns `minus`.
struct Datum {
    log: f64,
    plus: [Option<u32>; 2],
    minus: Option<u32>,
}

/// The unknown logarithms of units, numbered: x, y, ξ, first-stage rows, recourse rows, rows of the set, costs.
struct UnitIndex {
    recourse: usize,
    parameters: usize,
    first_rows: usize,
    recourse_rows: Vec<u32>,
    set_rows: usize,
    cost: usize,
    is_integer: Vec<bool>,
}

impl UnitIndex {
    fn of(problem: &Problem, set_rows: usize) -> Self {
        let recourse = problem.first.dim();
        let parameters = recourse + problem.recourse.dim();
        let first_rows = parameters + problem.set.dim();
        let first_recourse_row = first_rows + problem.first.rows.rows();
        let mut recourse_rows: Vec<u32> =
            (first_recourse_row..first_recourse_row + problem.recourse.rows()).map(|row| row as u32).collect();
        // A cone allows one factor for all of its rows.
        for cone in &problem.recourse.cones {
            for &row in &cone.rows {
                recourse_rows[row] = (first_recourse_row + cone.rows[0]) as u32;
            }
        }
        let first_set_row = first_recourse_row + problem.recourse.rows();
        Self {
            recourse,
            parameters,
            first_rows,
            recourse_rows,
            set_rows: first_set_row,
            cost: first_set_row + set_rows,
            is_integer: problem.first.kind.iter().map(|kind| *kind != VariableKind::Continuous).collect(),
        }
    }

    /// The unit of an entry of x; `None` for an integer, which is counted in ones.
    fn x(&self, entry: usize) -> Option<u32> {
        (!self.is_integer[entry]).then_some(entry as u32)
    }

    fn y(&self, entry: usize) -> Option<u32> {
        Some((self.recourse + entry) as u32)
    }

    fn xi(&self, entry: usize) -> Option<u32> {
        Some((self.parameters + entry) as u32)
    }

    fn count(&self) -> usize {
        self.cost + 1
    }
}

/// Data, as logarithms.
#[derive(Default)]
struct DataLogarithms {
    all: Vec<Datum>,
    is_ordinary: bool,
}

impl DataLogarithms {
    fn add(&mut self, value: f64, plus: [Option<u32>; 2], minus: Option<u32>, range: &std::ops::RangeInclusive<f64>) {
        if value == 0.0 || !value.is_finite() {
            return;
        }
        let log = value.abs().log2();
        self.is_ordinary &= range.contains(&log);
        self.all.push(Datum { log, plus, minus });
    }

    /// A value in a unit: a bound of a variable, a right-hand side.
    fn value(&mut self, value: f64, unit: Option<u32>) {
        self.add(value, [None, None], unit, &ORDINARY);
    }

    /// Coefficients of rows.
    fn matrix(
        &mut self,
        rows: &Sparse,
        scales: &[f64],
        column: impl Fn(usize) -> Option<u32>,
        row: impl Fn(usize) -> u32,
    ) {
        for i in 0..rows.rows() {
            for (j, value) in rows.row(i) {
                self.add(value / scales[i], [column(j), None], Some(row(i)), &ORDINARY_COEFFICIENTS);
            }
        }
    }

    fn costs(&mut self, costs: &[f64], variable: impl Fn(usize) -> Option<u32>, unit: u32) {
        for (j, &cost) in costs.iter().enumerate() {
            self.add(cost, [variable(j), None], Some(unit), &ORDINARY);
        }
    }

    fn quadratic(&mut self, matrix: &Symmetric, variable: impl Fn(usize) -> Option<u32>, unit: u32) {
        for (i, j, value) in matrix.iter() {
            self.add(value, [variable(i), variable(j)], Some(unit), &ORDINARY);
        }
    }

    fn of(problem: &Problem, set: Option<&SetDefinition>, units: &UnitIndex) -> Option<Self> {
        let (first, recourse) = (&problem.first, &problem.recourse);
        let cost = units.cost as u32;
        let mut data = Self { all: Vec::new(), is_ordinary: true };
        data.costs(&first.cost, |j| units.x(j), cost);
        data.costs(&recourse.cost, |j| units.y(j), cost);
        data.quadratic(&first.quadratic, |j| units.x(j), cost);
        data.quadratic(&recourse.quadratic, |j| units.y(j), cost);
        for j in 0..recourse.dim() {
            for (l, value) in recourse.cost_xi.row(j) {
                data.add(value, [units.y(j), units.xi(l)], Some(cost), &ORDINARY);
            }
        }
        for (bounds, unit) in [
            ([&first.lower, &first.upper], &(|j| units.x(j)) as &dyn Fn(usize) -> Option<u32>),
            ([&recourse.lower, &recourse.upper], &|j| units.y(j)),
        ] {
            for (j, &bound) in bounds.into_iter().flat_map(|bounds| bounds.iter().enumerate()) {
                data.value(bound, unit(j));
            }
        }
        data.matrix(&first.rows, &first.row_scale, |j| units.x(j), |i| (units.first_rows + i) as u32);
        let row = |i: usize| units.recourse_rows[i];
        data.matrix(&recourse.g, &recourse.row_scale, |j| units.y(j), row);
        data.matrix(&recourse.e, &recourse.row_scale, |j| units.x(j), row);
        data.matrix(&recourse.u, &recourse.row_scale, |l| units.xi(l), row);
        for i in 0..first.rows.rows() {
            for side in distinct(first.row_lower[i], first.row_upper[i]) {
                data.value(side / first.row_scale[i], Some((units.first_rows + i) as u32));
            }
        }
        for i in 0..recourse.rows() {
            for side in distinct(recourse.row_lower[i], recourse.row_upper[i]).chain([recourse.offset[i]]) {
                data.value(side / recourse.row_scale[i], Some(row(i)));
            }
        }
        data.set(problem, set, units)?;
        Some(data)
    }

    /// The ranges of the parameters, and the rows of a polyhedron.
    fn set(&mut self, problem: &Problem, set: Option<&SetDefinition>, units: &UnitIndex) -> Option<()> {
        let Some(set) = set else {
            let points = problem.set.enumerate(usize::MAX).ok()?;
            let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); problem.set.dim()];
            for point in points.iter() {
                for ((lower, upper), &entry) in ranges.iter_mut().zip(point) {
                    (*lower, *upper) = (lower.min(entry), upper.max(entry));
                }
            }
            for (l, (lower, upper)) in ranges.into_iter().enumerate() {
                self.range(l, lower, upper, units);
            }
            return Some(());
        };
        match set {
            SetDefinition::Box { lower, upper } | SetDefinition::Polyhedron { lower, upper, .. } => {
                for (l, (lower, upper)) in lower.iter().zip(upper).enumerate() {
                    self.range(l, *lower, *upper, units);
                }
            }
            SetDefinition::L1 { center, scale } | SetDefinition::Budget { center, scale, .. } => {
                for (l, (center, scale)) in center.iter().zip(scale).enumerate() {
                    self.range(l, center - scale, center + scale, units);
                }
            }
            SetDefinition::Ellipsoid { center, matrix } => {
                for (l, (center, row)) in center.iter().zip(matrix).enumerate() {
                    let radius = row.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
                    self.range(l, center - radius, center + radius, units);
                }
            }
            SetDefinition::Scenarios { .. } | SetDefinition::Custom(_) => return None,
        }
        if let SetDefinition::Polyhedron { constraints, .. } = set {
            let index = problem.names.parameters.iter().enumerate().map(|(l, name)| (name.as_str(), l));
            let index: std::collections::HashMap<&str, usize> = index.collect();
            for (i, row) in constraints.iter().enumerate() {
                let unit = Some((units.set_rows + i) as u32);
                for (name, value) in &row.xi {
                    let parameter = units.xi(*index.get(name.as_str())?);
                    self.add(*value, [parameter, None], unit, &ORDINARY_COEFFICIENTS);
                }
                for side in distinct(row.lower, row.upper) {
                    self.value(side, unit);
                }
            }
        }
        Some(())
    }

    /// The size of an entry of ξ and the length of its range.
    fn range(&mut self, entry: usize, lower: f64, upper: f64, units: &UnitIndex) {
        self.value(lower.abs().max(upper.abs()), units.xi(entry));
        if upper - lower < lower.abs().max(upper.abs()) {
            self.value(upper - lower, units.xi(entry));
        }
    }
}

/// The two sides of a row, once where they are equal.
fn distinct(lower: f64, upper: f64) -> impl Iterator<Item = f64> {
    std::iter::once(lower).chain((upper != lower).then_some(upper))
}

/// The units for a problem; `None` where its own are ordinary, or where its set is no built-in one.
pub(super) fn choose(problem: &Problem) -> Option<Scaling> {
    let set = if problem.set.is_finite_list() { None } else { Some(problem.set.describe()?) };
    let set_rows = if let Some(SetDefinition::Polyhedron { constraints, .. }) = &set { constraints.len() } else { 0 };
    let units = UnitIndex::of(problem, set_rows);
    let data = DataLogarithms::of(problem, set.as_ref(), &units)?;
    if data.is_ordinary {
        return None;
    }
    let logs = minimise(&data.all, units.count());
    // A datum in internal units is its own value less the units.
    let cost = logs[units.cost];
    let is_ordinary = |range: std::ops::Range<usize>| logs[range].iter().all(|log| ORDINARY.contains(log));
    let costs = problem.first.cost.iter().chain(&problem.recourse.cost);
    let has_ordinary_costs =
        costs.zip(&logs[..units.parameters]).all(|(value, log)| *value == 0.0 || ORDINARY.contains(&(cost - log)));
    if is_ordinary(0..units.first_rows) && has_ordinary_costs {
        return None;
    }
    let power = |log: &f64| log.round().exp2();
    Some(Scaling {
        first: logs[..units.recourse].iter().map(power).collect(),
        recourse: logs[units.recourse..units.parameters].iter().map(power).collect(),
        parameters: logs[units.parameters..units.first_rows].iter().map(power).collect(),
        cones: problem
            .recourse
            .cones
            .iter()
            .map(|cone| power(&-logs[units.recourse_rows[cone.rows[0]] as usize]))
            .collect(),
        cost: power(&cost),
    })
}

/// The unknowns that minimise the sum of squares, by conjugate gradients on the normal equations from zero, with the
/// diagonal as preconditioner.
fn minimise(data: &[Datum], count: usize) -> Vec<f64> {
    let residual_of = |datum: &Datum, unknowns: &[f64]| -> f64 {
        let value = |unit: Option<u32>| unit.map_or(0.0, |unit| unknowns[unit as usize]);
        value(datum.plus[0]) + value(datum.plus[1]) - value(datum.minus)
    };
    let spread = |datum: &Datum, amount: f64, out: &mut [f64]| {
        for unit in datum.plus.into_iter().flatten() {
            out[unit as usize] += amount;
        }
        if let Some(unit) = datum.minus {
            out[unit as usize] -= amount;
        }
    };
    let (mut diagonal, mut residual) = (vec![0.0; count], vec![0.0; count]);
    for datum in data {
        spread(datum, -datum.log, &mut residual);
        for unit in datum.plus.into_iter().chain([datum.minus]).flatten() {
            diagonal[unit as usize] += 1.0;
        }
    }
    let precondition = |residual: &[f64]| -> Vec<f64> {
        residual.iter().zip(&diagonal).map(|(r, d): (&f64, &f64)| if *d > 0.0 { r / d } else { 0.0 }).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut unknowns = vec![0.0; count];
    let mut direction = precondition(&residual);
    let mut size = dot(&residual, &direction);
    let enough = RESIDUAL * RESIDUAL * size;
    for _ in 0..STEPS {
        if size <= enough || size == 0.0 {
            break;
        }
        let mut image = vec![0.0; count];
        for datum in data {
            spread(datum, residual_of(datum, &direction), &mut image);
        }
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 {
            break;
        }
        let step = size / curvature;
        for i in 0..count {
            unknowns[i] += step * direction[i];
            residual[i] -= step * image[i];
        }
        let next = precondition(&residual);
        let new_size = dot(&residual, &next);
        for (direction, next) in direction.iter_mut().zip(&next) {
            *direction = next + new_size / size * *direction;
        }
        size = new_size;
    }
    unknowns
}
