//! The ascents of one tempered search. Each local maximum is climbed once: an ascent that begins at a scenario of an
//! earlier one ends where that one did.

use std::collections::BTreeMap;

use rand::RngExt;

use super::local_maxima::{LocalMaxima, Recombination};
use super::tempered::SearchQuery;
use crate::error::Error;
use crate::model::Problem;
use crate::numeric::tolerances::ASCENT_GAIN_TOL;
use crate::recourse::{Answer, Recourse, RecourseOutcome};
use crate::run::Random;
use crate::separation::Ascent;

/// The largest multiple of a deviation at which an ascent begins beyond the set. Twice and five times the deviation
/// found the worst scenario less often than three times.
const FARTHEST: f64 = 3.0;

/// Ascents at one decision.
pub(super) struct Climber<'a> {
    problem: &'a Problem,
    pub(super) query: &'a SearchQuery<'a>,
    pub(super) engine: &'a mut dyn Recourse,
    /// Called with the end of each ascent.
    show: &'a mut dyn FnMut(&[f64], &Answer),
    /// The scenarios of all ascents, by the bits of their entries, with the costs of the ends.
    ends: BTreeMap<Vec<u64>, f64>,
    maxima: LocalMaxima,
}

impl<'a> Climber<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        query: &'a SearchQuery<'a>,
        engine: &'a mut dyn Recourse,
        show: &'a mut dyn FnMut(&[f64], &Answer),
    ) -> Self {
        engine.at(query.x);
        Self { problem, query, engine, show, ends: BTreeMap::new(), maxima: LocalMaxima::default() }
    }

    /// Ascends from the point of the set that the slope at a point beyond it leads to: there each entry of ξ deviates
    /// from the nominal scenario by a random multiple, from 0 to [`FARTHEST`], of its deviation at `xi`. Returns the
    /// cost of the end; `None` where there is no slope, and for lists, where each step takes a product with all rows.
    pub(super) fn climb_from_beyond(&mut self, xi: &[f64], random: &mut Random) -> Result<Option<f64>, Error> {
        if self.problem.set.is_finite_list() {
            return Ok(None);
        }
        let mut start = vec![0.0; xi.len()];
        self.problem.set.nominal(&mut start);
        for (start, xi) in start.iter_mut().zip(xi) {
            *start += random.random_range(0.0..FARTHEST) * (xi - *start);
        }
        let mut answer = Answer::new(self.problem);
        self.engine.solve(&start, &mut answer)?;
        if answer.outcome == RecourseOutcome::Unbounded {
            return Ok(None);
        }
        self.problem.set.support(&answer.slope_xi, &mut start)?;
        self.climb(&start).map(|(_, value)| Some(value))
    }

    /// Ascends from the point of the set that a direction between known local maxima leads to. Returns the cost of the
    /// end; `None` where fewer than two are known, and for lists, where each step takes a product with all rows.
    pub(super) fn climb_between(&mut self, kind: Recombination, random: &mut Random) -> Result<Option<f64>, Error> {
        if self.problem.set.is_finite_list() {
            return Ok(None);
        }
        let Some(direction) = self.maxima.direction(kind, random) else { return Ok(None) };
        let mut start = vec![0.0; direction.len()];
        self.problem.set.support(&direction, &mut start)?;
        self.climb(&start).map(|(_, value)| Some(value))
    }

    /// Ascends from a scenario; returns its cost, or that of the end where it is known, and the cost of the end.
    pub(super) fn climb(&mut self, start: &[f64]) -> Result<(f64, f64), Error> {
        self.query.clock.check()?;
        if let Some(value) = self.ends.get(&bits(start)) {
            return Ok((*value, *value));
        }
        let mut ascent = Ascent::new(self.problem, self.engine, self.query.x);
        let mut path: Vec<Vec<u64>> = Vec::new();
        let (mut first, mut last): (_, Option<(Vec<f64>, Answer)>) = (None, None);
        ascent.climb_while(start, ASCENT_GAIN_TOL, &mut |xi, answer| {
            first.get_or_insert(answer.value);
            path.push(bits(xi));
            if last.as_ref().is_none_or(|(_, known)| answer.value >= known.value) {
                last = Some((xi.to_vec(), answer.clone()));
            }
        })?;
        let Some((xi, answer)) = last else { return Ok((f64::NEG_INFINITY, f64::NEG_INFINITY)) };
        (self.show)(&xi, &answer);
        self.maxima.insert(answer.value, &answer.slope_xi);
        self.ends.extend(path.into_iter().map(|xi| (xi, answer.value)));
        Ok((first.unwrap_or(answer.value), answer.value))
    }
}

fn bits(xi: &[f64]) -> Vec<u64> {
    xi.iter().map(|entry| entry.to_bits()).collect()
}
