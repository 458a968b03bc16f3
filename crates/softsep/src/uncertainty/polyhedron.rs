//! A polytope given by bounds and linear rows.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::oracle::{Oracle, SparseRow};
use super::states::{AffineHull, Body, BodyShape, HalfSpaces, ListRows, MapColumn, VertexWalk};
use super::unimodular::Budgets;
use super::vertices::{self, EnumerationLimits, GaveUp, Halfspace};
use super::{
    Count, Part, Polytope, SetDefinition, SetError, Shape, StateSpec, States, TooMany, Uncertainty, allow, check, chord,
};
use crate::definition::{Complaints, DefinitionCheck, Index, Row, ScenarioList, item, taken_for_infinite, too_large};

/// The effort of [`Uncertainty::extremes`]: about a second.
const TRY: EnumerationLimits = EnumerationLimits { points: 20_000, work: 150_000_000 };

/// The effort of a count where the rows are budgets: a tenth of a second.
const COUNT: EnumerationLimits = EnumerationLimits { points: 1_000_000, work: 50_000_000 };

/// The error of the ranges, relative to their size.
const RANGE: f64 = 1e-9;

/// A parameter whose range is shorter than this, relative to its size, is fixed: the ranges are known to 1e-9.
const FIXED: f64 = 1e-8;

/// Bounds closer than this, relative to their size if that is above 1, and not equal are refused: ranges
/// are not known accurately enough.
const NARROW: f64 = 10.0 * FIXED;

/// `lower ≤ ξ ≤ upper` and linear rows; bounded and not empty.
#[derive(Debug)]
pub(crate) struct Polyhedron {
    lower: Vec<f64>,
    upper: Vec<f64>,
    constraints: Vec<Row>,
    /// The constraints by index.
    rows: Vec<SparseRow>,
    /// `None` without parameters.
    oracle: Option<Oracle>,
    /// The least and the greatest value of each parameter over the set.
    ranges: Vec<(f64, f64)>,
    /// The mean of the members in which those are taken.
    center: Vec<f64>,
    /// The rows as budgets, if they are that.
    budgets: Option<Budgets>,
    /// The vertices, or their number where the rows are budgets, once asked for.
    vertices: OnceLock<Result<ScenarioList, GaveUp>>,
    count: OnceLock<Result<usize, GaveUp>>,
    /// The first enumeration beyond the effort of [`TRY`], with its limit: it is long, and several callers ask for it.
    many: OnceLock<(usize, Result<ScenarioList, GaveUp>)>,
}

/// A polyhedron as `ξ = center + B u` with `⟨normal, u⟩ ≤ limit` for each facet. Normals have length one, zero is in
/// the relative interior, and the set has width two along each coordinate.
struct InHull {
    center: Vec<f64>,
    /// The columns of B.
    columns: Vec<MapColumn>,
    facets: Vec<(Vec<f64>, f64)>,
}

impl Polyhedron {
    pub(super) fn build(
        set: &SetDefinition,
        parameters: &[String],
        place: &str,
        complaints: &mut Complaints,
    ) -> Option<Self> {
        let SetDefinition::Polyhedron { lower, upper, constraints } = set else { return None };
        let mut usable = check::length(lower, "lower", parameters, place, complaints);
        usable &= check::length(upper, "upper", parameters, place, complaints);
        usable &= check::ordered(lower, upper, parameters, place, complaints);
        for (bounds, key, wrong) in [(lower, "lower", f64::INFINITY), (upper, "upper", f64::NEG_INFINITY)] {
            usable &= !bounds.iter().any(|bound| bound.is_nan());
            for (name, &bound) in parameters.iter().zip(bounds) {
                let no_value = (bound == wrong).then(|| format!("is {wrong}, which leaves it no value"));
                if let Some(why) = no_value.or_else(|| taken_for_infinite(bound)) {
                    usable = false;
                    complaints.add(place, format!("\"{key}\" of \"{name}\" {why}"));
                }
            }
        }
        for (name, (lower, upper)) in parameters.iter().zip(lower.iter().zip(upper)) {
            let size = lower.abs().max(upper.abs()).max(1.0);
            if upper > lower && upper - lower < NARROW * size {
                usable = false;
                let range = upper - lower;
                complaints.add(
                    place,
                    format!(
                        "the range of \"{name}\" is {range:e}, which solvers cannot tell from a \
                    point: use other units or a nearer origin, or equal bounds"
                    ),
                );
            }
        }
        let rows = resolve(constraints, parameters, place, complaints)?;
        if !usable {
            return None;
        }
        match Self::explore(lower, upper, constraints, rows, parameters, place, complaints) {
            Ok(polyhedron) => polyhedron,
            Err(SetError(why)) => {
                complaints
                    .add(place, format!("whether the set is bounded and not empty could not be found out: {why}"));
                None
            }
        }
    }

    /// Finds out the range of every parameter, and with that whether the set is bounded and not empty.
    fn explore(
        lower: &[f64],
        upper: &[f64],
        constraints: &[Row],
        rows: Vec<SparseRow>,
        parameters: &[String],
        place: &str,
        complaints: &mut Complaints,
    ) -> Result<Option<Self>, SetError> {
        let dim = parameters.len();
        let empty = "no point satisfies all bounds and constraints; the set must not be empty";
        let mut oracle = None;
        let mut ranges = vec![(0.0, 0.0); dim];
        let mut center = vec![0.0; dim];
        if dim > 0 {
            let Some(asked) = Oracle::new(lower, upper, &rows)? else {
                complaints.add(place, empty);
                return Ok(None);
            };
            if !extents(&asked, parameters, place, complaints, &mut ranges, &mut center)? {
                return Ok(None);
            }
            // With a free parameter a basic solution need not be a vertex; the ranges bound all of them and cut nothing
            // off.
            let least: Vec<f64> =
                (0..dim).map(|index| if lower[index].is_finite() { lower[index] } else { ranges[index].0 }).collect();
            let most: Vec<f64> =
                (0..dim).map(|index| if upper[index].is_finite() { upper[index] } else { ranges[index].1 }).collect();
            let all_finite = least == lower && most == upper;
            oracle = if all_finite { Some(asked) } else { Oracle::new(&least, &most, &rows)?.or(Some(asked)) };
        } else if rows.iter().any(|row| row.lower > 0.0 || row.upper < 0.0) {
            complaints.add(place, empty);
            return Ok(None);
        }
        Ok(Some(Self {
            lower: lower.to_vec(),
            upper: upper.to_vec(),
            constraints: constraints.to_vec(),
            budgets: Budgets::of(lower, upper, &rows),
            rows,
            oracle,
            ranges,
            center,
            vertices: OnceLock::new(),
            count: OnceLock::new(),
            many: OnceLock::new(),
        }))
    }

    /// Enumerates the vertices, in lexicographic order.
    ///
    /// The parameters that are not fixed are scaled to `t` in the unit cube; the simplex to start from is `t ≥ 0` and
    /// the largest `Σt`.
    fn enumerate_within(&self, effort: EnumerationLimits) -> Result<ScenarioList, GaveUp> {
        if let Some(budgets) = &self.budgets {
            return budgets.enumerate(effort);
        }
        let width = |index: usize| self.ranges[index].1 - self.ranges[index].0;
        let free = self.free();
        let mut xi: Vec<f64> = self.ranges.iter().map(|&(least, most)| least.midpoint(most)).collect();
        let mut points = ScenarioList::new(self.dim());
        if free.is_empty() {
            points.push(&xi);
            return Ok(points);
        }
        free.iter().for_each(|&index| xi[index] = self.ranges[index].0);
        let cuts = self.halfspaces(&free, &xi);
        let mut direction = vec![0.0; self.dim()];
        free.iter().for_each(|&index| direction[index] = width(index).recip());
        let mut farthest = vec![0.0; self.dim()];
        let reach = match self.support(&direction, &mut farthest) {
            Ok(_) => free.iter().map(|&index| (farthest[index] - self.ranges[index].0) / width(index)).sum(),
            // Without the LP's answer the unit cube's corner bounds the sum, less tightly.
            Err(_) => free.len() as f64,
        };
        let mut found = vertices::enumerate(free.len(), reach, &cuts, effort)?;
        for vertex in &mut found {
            for (&index, t) in free.iter().zip(vertex.iter_mut()) {
                *t = self.at(index, *t);
            }
        }
        found.sort_by(|a, b| {
            a.iter()
                .zip(b)
                .map(|(a, b)| a.total_cmp(b))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        for vertex in &found {
            free.iter().zip(vertex).for_each(|(&index, &value)| xi[index] = value);
            points.push(&xi);
        }
        Ok(points)
    }

    /// The rows and the upper bounds over `t`, the free parameters scaled to the unit cube; t = 0 is at `base`.
    fn halfspaces(&self, free: &[usize], base: &[f64]) -> Vec<Halfspace> {
        let mut cuts = Vec::new();
        for row in &self.rows {
            let mut normal = vec![0.0; free.len()];
            for &(index, coefficient) in &row.terms {
                if let Ok(entry) = free.binary_search(&index) {
                    normal[entry] = coefficient * (self.ranges[index].1 - self.ranges[index].0);
                }
            }
            let moves = normal.iter().fold(0.0_f64, |moves, entry| moves.max(entry.abs()));
            let largest =
                row.terms.iter().fold(0.0_f64, |largest, &(index, c)| largest.max(c.abs() * self.size(index)));
            // A row over fixed parameters alone is redundant.
            if moves > FIXED * largest {
                let activity = row.activity(base);
                cuts.extend(Halfspace::between(&normal, row.lower - activity, row.upper - activity));
            }
        }
        for entry in 0..free.len() {
            let mut unit = vec![0.0; free.len()];
            unit[entry] = 1.0;
            cuts.push(Halfspace::at_most(&unit, 1.0));
        }
        cuts
    }

    /// The parameter's value at a share of its range, with rounding at the ends taken off.
    fn at(&self, index: usize, share: f64) -> f64 {
        let (least, most) = self.ranges[index];
        match share {
            share if share < 1e-11 => least,
            share if share > 1.0 - 1e-11 => most,
            share => least + share * (most - least),
        }
    }

    /// The size of a parameter, to which tolerances are relative.
    fn size(&self, index: usize) -> f64 {
        self.ranges[index].0.abs().max(self.ranges[index].1.abs()).max(1.0)
    }

    /// The parameters that are not fixed.
    fn free(&self) -> Vec<usize> {
        (0..self.dim())
            .filter(|&index| self.ranges[index].1 - self.ranges[index].0 > FIXED * self.size(index))
            .collect()
    }

    /// The set in coordinates of its affine hull. Directions are taken in units of the parameters' ranges.
    fn in_hull(&self) -> Result<InHull, SetError> {
        let free = self.free();
        let width = |index: usize| self.ranges[index].1 - self.ranges[index].0;
        let in_units = |xi: &[f64], t: &mut [f64]| {
            t.iter_mut().zip(&free).for_each(|(t, &index)| *t = (xi[index] - self.ranges[index].0) / width(index));
        };
        let furthest = |direction: &[f64], t: &mut [f64]| {
            let (mut slope, mut xi) = (vec![0.0; self.dim()], vec![0.0; self.dim()]);
            free.iter().zip(direction).for_each(|(&index, entry)| slope[index] = entry / width(index));
            self.support(&slope, &mut xi)?;
            in_units(&xi, t);
            Ok(())
        };
        let hull = AffineHull::find(free.len(), furthest)?;
        let mut center: Vec<f64> = self.ranges.iter().map(|&(least, most)| least.midpoint(most)).collect();
        free.iter()
            .zip(&hull.interior_point)
            .for_each(|(&index, t)| center[index] = self.ranges[index].0 + t * width(index));
        let column = |(half, axis): &(f64, Vec<f64>)| MapColumn {
            terms: free.iter().zip(axis).map(|(&index, axis)| (index, half * axis * width(index))).collect(),
            inverse: free.iter().zip(axis).map(|(&index, axis)| (index, axis / (half * width(index)))).collect(),
        };
        let columns: Vec<MapColumn> = hull.axes.iter().map(column).collect();
        // Each bound and row in terms of the columns; one that no column moves holds for all members.
        let mut facets = Vec::new();
        let mut add = |terms: &[(usize, f64)], lower: f64, upper: f64| {
            let mut along = vec![0.0; self.dim()];
            terms.iter().for_each(|&(index, value)| along[index] = value);
            let normal: Vec<f64> = columns
                .iter()
                .map(|column| column.terms.iter().map(|&(index, value)| along[index] * value).sum())
                .collect();
            let length = normal.iter().map(|entry: &f64| entry * entry).sum::<f64>().sqrt();
            let largest =
                terms.iter().fold(0.0_f64, |largest, &(index, value)| largest.max(value.abs() * self.size(index)));
            if length > FIXED * largest {
                let at: f64 = terms.iter().map(|&(index, value)| value * center[index]).sum();
                for (sign, bound) in [(-1.0, lower), (1.0, upper)] {
                    if bound.is_finite() {
                        facets.push((
                            normal.iter().map(|entry| sign * entry / length).collect(),
                            sign * (bound - at) / length,
                        ));
                    }
                }
            }
        };
        free.iter().for_each(|&index| add(&[(index, 1.0)], self.lower[index], self.upper[index]));
        self.rows.iter().for_each(|row| add(&row.terms, row.lower, row.upper));
        Ok(InHull { center, columns, facets })
    }

    /// The whole set as states.
    fn body(&self) -> Result<Body<'_>, SetError> {
        let InHull { center, columns, facets } = self.in_hull()?;
        let facets = HalfSpaces::new(columns.len(), &facets);
        Ok(Body::new(center.into(), columns, BodyShape::HalfSpaces(facets)))
    }

    /// The vertices as states, with moves along edges. `None` if rounding hides them.
    fn vertex_walk(&self) -> Result<Option<VertexWalk>, SetError> {
        let InHull { center, columns, facets } = self.in_hull()?;
        // There are as many states as vertices, or more.
        let known = match self.extremes() {
            Count::Exactly(count) => count.saturating_sub(1),
            Count::MoreThan(count) => count,
            Count::Infinite => 0,
        };
        Ok(VertexWalk::new(center, columns, &facets, Count::MoreThan(known)))
    }

    fn attempted(&self) -> &Result<ScenarioList, GaveUp> {
        self.vertices.get_or_init(|| self.enumerate_within(TRY))
    }

    /// At most `limit` vertices, with an effort in proportion. After a failure all smaller limits fail too.
    fn enumerate_many(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, GaveUp> {
        let more = (limit / TRY.points) as u64;
        let effort = EnumerationLimits { points: limit, work: TRY.work.saturating_mul(more) };
        match self.many.get_or_init(|| (limit, self.enumerate_within(effort))) {
            (_, Ok(points)) => Ok(Cow::Borrowed(points)),
            (tried, Err(gave_up)) if limit <= *tried => Err(*gave_up),
            _ => self.enumerate_within(effort).map(Cow::Owned),
        }
    }
}

/// The states of a polyhedron's vertices with moves along edges, however few the vertices are. They are counted if
/// there are at most `limit`. `None` if the definition is not that of a polyhedron, or not a valid one.
pub fn vertex_walk(set: &SetDefinition, parameters: &[String], limit: usize) -> Option<Box<dyn States>> {
    let polyhedron = Polyhedron::build(set, parameters, "set", &mut Complaints::new())?;
    Some(Box::new(polyhedron.vertex_walk().ok()??.counted(limit)))
}

/// Resolves the rows' names and checks their bounds. `None` after complaints, or where a number is NaN.
fn resolve(
    constraints: &[Row],
    parameters: &[String],
    place: &str,
    complaints: &mut Complaints,
) -> Option<Vec<SparseRow>> {
    let before = complaints.len();
    let list = format!("{place}.constraints");
    let mut check = DefinitionCheck::of_set(complaints);
    let mut index = Index::new("a parameter", parameters.iter().map(String::as_str));
    let mut names = Index::new("a row", []);
    let mut rows = Vec::with_capacity(constraints.len());
    for (number, row) in constraints.iter().enumerate() {
        let place = || item(&list, number, &row.name);
        check.name(&mut names, &list, &row.name);
        if !(row.x.is_empty() && row.y.is_empty() && row.offset.is_none()) {
            check.complaints.add(place(), "a row of an uncertainty set has \"xi\" terms and bounds only");
        }
        let terms = check.terms(&mut index, &row.xi, &place, "xi");
        check.row_bounds(row.lower, row.upper, &place);
        rows.push(SparseRow { terms, lower: row.lower, upper: row.upper });
    }
    let has_nan = |row: &SparseRow| {
        row.lower.is_nan() || row.upper.is_nan() || row.terms.iter().any(|(_, coefficient)| coefficient.is_nan())
    };
    (complaints.len() == before && !rows.iter().any(has_nan)).then_some(rows)
}

/// The range of every parameter and the mean of the members that attain the ends. False if there is an end missing.
fn extents(
    oracle: &Oracle,
    parameters: &[String],
    place: &str,
    complaints: &mut Complaints,
    ranges: &mut [(f64, f64)],
    center: &mut [f64],
) -> Result<bool, SetError> {
    let dim = parameters.len();
    let (mut direction, mut xi) = (vec![0.0; dim], vec![0.0; dim]);
    let mut bounded = true;
    for (index, name) in parameters.iter().enumerate() {
        for (sign, side) in [(-1.0, "lower"), (1.0, "upper")] {
            direction[index] = sign;
            if oracle.maximise(&direction, &mut xi)?.is_none() {
                bounded = false;
                // A limit that only rows set, some 1e13 away, is none to HiGHS.
                complaints.add(
                    place,
                    format!("\"{name}\" has no {side} limit, or a very distant one; the set must be bounded"),
                );
                continue;
            }
            if let Some(why) = too_large(xi[index]) {
                bounded = false;
                complaints.add(place, format!("the {side} limit of \"{name}\" {why}"));
            }
            let end = if sign < 0.0 { &mut ranges[index].0 } else { &mut ranges[index].1 };
            *end = xi[index];
            for (center, xi) in center.iter_mut().zip(&xi) {
                *center += xi / (2 * dim) as f64;
            }
        }
        direction[index] = 0.0;
    }
    Ok(bounded)
}

impl PartialEq for Polyhedron {
    fn eq(&self, other: &Self) -> bool {
        (&self.lower, &self.upper, &self.constraints) == (&other.lower, &other.upper, &other.constraints)
    }
}

impl Uncertainty for Polyhedron {
    fn kind(&self) -> &'static str {
        "polyhedron"
    }

    fn dim(&self) -> usize {
        self.lower.len()
    }

    /// A row's tolerance grows with its largest coefficient, so that multiplying a row by ten changes nothing.
    fn contains(&self, xi: &[f64], tolerance: f64) -> bool {
        let mut bounds = self.lower.iter().zip(&self.upper).zip(xi);
        let within = |value: f64, lower: f64, upper: f64, slack: f64| lower - slack <= value && value <= upper + slack;
        bounds.all(|((lower, upper), xi)| within(*xi, *lower, *upper, tolerance))
            && self.rows.iter().all(|row| {
                let largest =
                    row.terms.iter().fold(1.0_f64, |largest, (_, coefficient)| largest.max(coefficient.abs()));
                within(row.activity(xi), row.lower, row.upper, tolerance * largest)
            })
    }

    fn support(&self, direction: &[f64], xi: &mut [f64]) -> Result<f64, SetError> {
        match &self.oracle {
            None => Ok(0.0),
            Some(oracle) => {
                oracle.maximise(direction, xi)?.ok_or_else(|| SetError("HiGHS holds the set to be unbounded".into()))
            }
        }
    }

    fn nominal(&self, xi: &mut [f64]) {
        xi.copy_from_slice(&self.center);
    }

    /// Enumerates the vertices when first asked, for about a second at most. If that was not enough, the count is
    /// a lower bound. Vertices of budgets are counted further.
    fn extremes(&self) -> Count {
        let counted = match (self.attempted(), &self.budgets) {
            (Ok(points), _) => Ok(points.len()),
            (Err(_), Some(budgets)) => *self.count.get_or_init(|| budgets.count(COUNT)),
            (Err(gave_up), None) => Err(*gave_up),
        };
        match counted {
            Ok(count) => Count::Exactly(count as u128),
            Err(GaveUp { certain }) => Count::MoreThan(certain.saturating_sub(1) as u128),
        }
    }

    /// In lexicographic order. A limit beyond the points that [`Uncertainty::extremes`] tries gets proportionally
    /// more time.
    fn enumerate(&self, limit: usize) -> Result<Cow<'_, ScenarioList>, TooMany> {
        match self.attempted() {
            Ok(points) => allow(self.extremes(), limit).map(|_| Cow::Borrowed(points)),
            Err(_) if self.budgets.is_some() && allow(self.extremes(), limit).is_err() => {
                Err(TooMany { count: self.extremes(), limit })
            }
            Err(_) if limit > TRY.points => {
                let points = self.enumerate_many(limit).map_err(|GaveUp { certain }| TooMany {
                    count: Count::MoreThan(certain.saturating_sub(1) as u128),
                    limit,
                })?;
                allow(Count::Exactly(points.len() as u128), limit).map(|_| points)
            }
            Err(_) => Err(TooMany { count: self.extremes(), limit }),
        }
    }

    fn shape(&self, part: &Part) -> Option<Shape> {
        let widened = |index: usize| {
            let (least, most) = self.ranges[index];
            let size = least.abs().max(most.abs()).max(1.0);
            if most - least <= FIXED * size {
                // Its range is rounding: it does not move.
                return (least.midpoint(most), least.midpoint(most));
            }
            let slack = RANGE * size;
            ((least - slack).max(self.lower[index]), (most + slack).min(self.upper[index]))
        };
        let lower: Vec<f64> = (0..self.dim()).map(|index| widened(index).0.max(part.lower[index])).collect();
        let upper: Vec<f64> = (0..self.dim()).map(|index| widened(index).1.min(part.upper[index])).collect();
        let mut polytope = Polytope::between(&lower, &upper);
        let mut column_of = vec![None; self.dim()];
        for (column, &(entry, step)) in polytope.columns.iter().enumerate() {
            column_of[entry] = Some((column, step));
        }
        for row in &self.rows {
            let base = row.activity(&polytope.base);
            let along = |sign: f64| -> Vec<(usize, f64)> {
                let term = |&(index, value): &(usize, f64)| {
                    column_of[index].map(|(column, step)| (column, sign * value * step))
                };
                row.terms.iter().filter_map(term).collect()
            };
            // If no entry of the row moves, its residual is rounding at the size of its terms.
            let size: f64 = row.terms.iter().map(|&(index, value)| (value * polytope.base[index]).abs()).sum();
            let tolerance = 2.0 * FIXED * size.max(row.lower.abs().min(row.upper.abs()).min(1.0));
            if row.lower == row.upper {
                polytope.add_row(along(1.0), row.upper - base, true, tolerance);
                continue;
            }
            for (bound, sign) in [(row.lower, -1.0), (row.upper, 1.0)] {
                if bound.is_finite() {
                    polytope.add_row(along(sign), sign * (bound - base), false, tolerance);
                }
            }
        }
        Some(Shape { polytope: Some(polytope), ball: None })
    }

    fn levels(&self, entry: usize) -> Option<Vec<f64>> {
        self.budgets.as_ref().map(|budgets| budgets.levels(entry))
    }

    /// Rows whose activity does not change along the line beyond rounding, as equations, do not limit it.
    fn chord(&self, xi: &[f64], direction: &[f64]) -> (f64, f64) {
        let bounds =
            (0..xi.len()).map(|index| (xi[index] - self.lower[index], self.upper[index] - xi[index], direction[index]));
        let rows = self.rows.iter().map(|row| {
            let step: f64 = row.terms.iter().map(|&(index, value)| value * direction[index]).sum();
            let size: f64 = row.terms.iter().map(|&(index, value)| (value * direction[index]).abs()).sum();
            let at = row.activity(xi);
            (at - row.lower, row.upper - at, if step.abs() > 1e-12 * size { step } else { 0.0 })
        });
        chord::between(bounds.chain(rows))
    }

    /// The vertices where Q is convex and they can be enumerated in about a second, or moves along edges are asked for;
    /// else the whole set. Trends are not used.
    fn states(&self, spec: &StateSpec) -> Result<Box<dyn States + '_>, SetError> {
        if (spec.convex || self.free().is_empty())
            && let Ok(points) = self.attempted()
        {
            return Ok(Box::new(ListRows::new(Cow::Borrowed(points))));
        }
        if spec.convex
            && spec.edges
            && let Some(walk) = self.vertex_walk()?
        {
            return Ok(Box::new(walk));
        }
        Ok(Box::new(self.body()?))
    }

    fn describe(&self) -> Option<SetDefinition> {
        Some(SetDefinition::Polyhedron {
            lower: self.lower.clone(),
            upper: self.upper.clone(),
            constraints: self.constraints.clone(),
        })
    }
}
