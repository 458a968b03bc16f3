//! The extreme points of a budget uncertainty set, with the exact tilts of EC.2 of the paper.

use rand::RngExt;

use super::count_recursion::{CountRecursion, PatternLevel};
use super::{CachedTilt, Neighbours, Space, State, States, Tilt, copy_state, make_unit, point, point_mut};
use crate::run::Random;
use crate::uncertainty::allow;
use crate::uncertainty::patterns::{PatternKind, Patterns};

/// κ per entry. For normally distributed slopes, tilted points are on average nine tenths of the way from the mean
/// point to the furthest point along the slope, as on a sphere with its default κ. The paper's experiments use 0.5,
/// which gives about half of the way.
const CONCENTRATION_PER_ENTRY: f64 = 2.0;

/// Deviations of a slope from its mean that are smaller, relative to its largest entry, are rounding errors.
const CONSTANT_SLOPE_TOL: f64 = 1e-14;

/// `ξ = center + step∘z` over the entries that can deviate.
pub(crate) struct BudgetPoints<'a> {
    center: &'a [f64],
    /// The entries that can deviate, each with its deviation at z = 1.
    moves: Vec<(usize, f64)>,
    patterns: Patterns,
    /// The recursion table of the uniform law.
    uniform: Vec<f64>,
    /// The logarithm of the number of extreme points.
    log_count: f64,
    /// The root mean square distance of z from its mean under the uniform law.
    radius: f64,
}

impl<'a> BudgetPoints<'a> {
    /// Creates the state space; the patterns are over the entries of `moves`.
    pub(crate) fn new(center: &'a [f64], moves: Vec<(usize, f64)>, patterns: Patterns) -> Self {
        let mut points = Self { center, moves, patterns, uniform: Vec::new(), log_count: 0.0, radius: 0.0 };
        let mut uniform = Vec::new();
        points.log_count = CountRecursion(patterns).fill(|_| points.weights_of(0.0), &mut uniform);
        points.uniform = uniform;
        points.radius = points.radius();
        points
    }

    /// The log-weights of an entry in full and in part, for an exponent of `index·z`.
    fn weights_of(&self, index: f64) -> (f64, f64) {
        let part = self.patterns.part * index;
        match self.patterns.kind {
            // ln(e^i + e^(−i)), with the larger term factored out.
            PatternKind::EitherSide => {
                let either = |i: f64| i.abs() + (-2.0 * i.abs()).exp().ln_1p();
                (either(index), either(part))
            }
            PatternKind::AtMost | PatternKind::Spent => (index, part),
        }
    }

    /// The root mean square distance of z from its mean under the uniform law. By symmetry, the mean of z is the same
    /// in every entry: Σz/n on average, and zero if both signs are equally likely. The mean square distance is
    /// therefore `E[Σz²] − (E[Σz])²/n`. For [`PatternKind::Spent`] this is the paper's r_Γ², the distance of all
    /// points.
    fn radius(&self) -> f64 {
        let Patterns { entries, full, part, .. } = self.patterns;
        let (mut sum, mut squares) = (0.0, 0.0);
        for (ones, share) in CountRecursion(self.patterns).starts(&self.uniform).iter().enumerate() {
            let (ones_sum, part) = if ones > full { (full as f64, part) } else { (ones as f64, 0.0) };
            sum += share * (ones_sum + part);
            squares += share * (ones_sum + part * part);
        }
        let mean = if self.patterns.kind == PatternKind::EitherSide { 0.0 } else { sum };
        (squares - mean * mean / (entries as f64).max(1.0)).max(0.0).sqrt()
    }

    /// Draws z by a recursion table of the law with the given indices (empty for the uniform law).
    fn draw_by(&self, table: &[f64], index: &[f64], random: &mut Random, state: &mut State) {
        let z = point_mut(state, self.moves.len());
        CountRecursion(self.patterns).draw(table, random, |random, entry, level| {
            let size = match level {
                PatternLevel::Zero => 0.0,
                PatternLevel::Part => self.patterns.part,
                PatternLevel::Full => 1.0,
            };
            let index = index.get(entry).copied().unwrap_or(0.0);
            // The odds of the two signs are e^(2·index·size).
            let is_below = || 1.0 / (1.0 + (2.0 * index * size).exp());
            let turns =
                self.patterns.kind == PatternKind::EitherSide && size > 0.0 && random.random::<f64>() < is_below();
            z[entry] = if turns { -size } else { size };
        });
    }
}

impl States for BudgetPoints<'_> {
    fn space(&self) -> Space {
        Space::Finite(self.patterns.count())
    }

    fn blank(&self) -> State {
        let Patterns { full, part, .. } = self.patterns;
        let size = |entry: usize| if entry < full { 1.0 } else { f64::from(u8::from(entry == full)) * part };
        State::Point((0..self.moves.len()).map(size).collect())
    }

    fn draw(&self, random: &mut Random, state: &mut State) {
        self.draw_by(&self.uniform, &[], random, state);
    }

    fn realize(&self, state: &State, xi: &mut [f64]) {
        xi.copy_from_slice(self.center);
        for (&(entry, step), z) in self.moves.iter().zip(point(state)) {
            xi[entry] = self.center[entry] + step * z;
        }
    }

    /// For a member that is not an extreme point, the entries with the largest deviations are rounded up and the others
    /// down.
    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        if !xi.iter().all(|xi| xi.is_finite()) {
            return false;
        }
        let lower = if self.patterns.kind == PatternKind::EitherSide { -1.0 } else { 0.0 };
        let z = point_mut(state, self.moves.len());
        for (z, &(entry, step)) in z.iter_mut().zip(&self.moves) {
            *z = ((xi[entry] - self.center[entry]) / step).clamp(lower, 1.0);
        }
        let Patterns { kind, full, part, .. } = self.patterns;
        let or_fewer = kind == PatternKind::AtMost;
        // Each iteration fixes the free entry with the largest deviation; fixed entries are marked by an offset beyond
        // ±1.
        const SETTLED: f64 = 4.0;
        let mut spent_all = true;
        for round in 0..z.len() {
            let Some(next) = furthest(z, SETTLED - 1.0) else { break };
            let sign = if z[next] < 0.0 { -1.0 } else { 1.0 };
            let size = match round {
                round if round < full && or_fewer && z[next].abs() < 0.5 => 0.0,
                round if round < full => 1.0,
                round if round == full && spent_all && !(or_fewer && z[next].abs() < 0.5 * part) => part,
                _ => 0.0,
            };
            spent_all &= round >= full || size == 1.0;
            z[next] = sign * (SETTLED + size);
        }
        z.iter_mut().for_each(|z| *z = if z.abs() > SETTLED { z.signum() * (z.abs() - SETTLED) } else { 0.0 });
        true
    }

    fn enumerate(&self, limit: usize) -> Option<Vec<State>> {
        allow(self.patterns.count(), limit).ok()?;
        let mut listed = Vec::new();
        self.patterns.visit(|z| listed.push(State::Point(z.to_vec())));
        Some(listed)
    }

    fn tilt(&self) -> Option<&dyn Tilt> {
        Some(self)
    }

    fn neighbours(&self) -> Option<&dyn Neighbours> {
        Some(self)
    }
}

/// The probability that a move exchanges two entries, where it may also change a single one.
const EXCHANGE_SHARE: f64 = 0.5;

/// Two entries with different deviations exchange them, or the deviation of one entry changes.
///
/// An exchange is uniform among the pairs of entries that differ, and does not change their number. A change of one
/// entry is uniform among the entries and is undone by the same entry. Both are therefore symmetric.
impl BudgetPoints<'_> {
    /// The probability that a move is an exchange. If all of the budget is spent upward, there is no other move.
    fn exchange_share(&self) -> f64 {
        if self.patterns.kind == PatternKind::Spent { 1.0 } else { EXCHANGE_SHARE }
    }

    /// The number of pairs of entries with different deviations.
    fn differing_pairs(&self, z: &[f64]) -> usize {
        let later = |entry: usize| z[entry + 1..].iter().filter(|other| **other != z[entry]).count();
        (0..z.len()).map(later).sum()
    }

    /// Changes the deviation of one entry, if the pattern that results is one. With both sides, the entry changes its
    /// sign. With one side and the budget not spent in full, it moves between zero and one; where ⌊Γ⌋ entries are at
    /// one, an entry moves between zero and the fraction.
    fn change_entry(&self, z: &mut [f64], entry: usize) {
        let Patterns { kind, full, part, .. } = self.patterns;
        let value = z[entry];
        if kind == PatternKind::EitherSide {
            z[entry] = if value == 0.0 { 0.0 } else { -value };
            return;
        }
        let ones = z.iter().filter(|z| **z == 1.0).count();
        let has_part = z.iter().any(|z| *z != 0.0 && *z != 1.0);
        z[entry] = match (value, has_part) {
            (1.0, false) => 0.0,
            (0.0, false) if ones < full => 1.0,
            (0.0, false) => part,
            (value, true) if value != 0.0 && value != 1.0 => 0.0,
            (value, _) => value,
        };
    }
}

impl Neighbours for BudgetPoints<'_> {
    fn draw_neighbour(&self, from: &State, random: &mut Random, to: &mut State) {
        copy_state(from, to);
        let z = point_mut(to, self.moves.len());
        if z.is_empty() {
            return;
        }
        if random.random::<f64>() >= self.exchange_share() {
            let entry = random.random_range(0..z.len());
            return self.change_entry(z, entry);
        }
        if z.iter().all(|other| *other == z[0]) {
            return;
        }
        // Rejection makes the pair uniform among those that differ.
        let (one, other) = loop {
            let (one, other) = (random.random_range(0..z.len()), random.random_range(0..z.len()));
            if z[one] != z[other] {
                break (one, other);
            }
        };
        z.swap(one, other);
    }

    fn probability(&self, from: &State, to: &State) -> f64 {
        let (from, to) = (point(from), point(to));
        if from.is_empty() {
            return 1.0;
        }
        let (pairs, share) = (self.differing_pairs(from), self.exchange_share());
        let mut changed = from.to_vec();
        let mut changes = 0;
        for entry in 0..from.len() {
            self.change_entry(&mut changed, entry);
            changes += usize::from(changed == to);
            changed[entry] = from[entry];
        }
        let apart: Vec<usize> = (0..from.len()).filter(|&entry| from[entry] != to[entry]).collect();
        let exchange = match apart[..] {
            [] if pairs == 0 => 1.0,
            [one, other] if from[one] == to[other] && from[other] == to[one] => 1.0 / pairs as f64,
            _ => 0.0,
        };
        share * exchange + (1.0 - share) * changes as f64 / from.len() as f64
    }
}

/// The entry with the largest absolute value of at most `beyond`; the first on ties.
fn furthest(z: &[f64], beyond: f64) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (entry, value) in z.iter().enumerate().filter(|(_, value)| value.abs() <= beyond) {
        if best.is_none_or(|best| value.abs() > z[best].abs()) {
            best = Some(entry);
        }
    }
    best
}

/// `weights` is the paper's index: κ·g/(‖g‖·radius), where g is the slope in z. If the budget is always spent in full,
/// adding a constant to g does not change the law, and g is projected on the complement of the vector of ones. The
/// exponent minus its value at the mean point is therefore within ±κ (on average, where points differ in their distance
/// from the mean), for any units of ξ, any Γ and any number of entries.
///
/// The paper writes the fraction as Γ − ⌊nΓ⌋ once; nΓ − ⌊nΓ⌋ is meant.
impl Tilt for BudgetPoints<'_> {
    fn concentration(&self) -> f64 {
        CONCENTRATION_PER_ENTRY * self.moves.len() as f64
    }

    fn prepare(&self, slope: &[f64], concentration: f64, tilt: &mut CachedTilt) {
        if tilt.is_for(slope, concentration) && tilt.table.len() == self.uniform.len() {
            return;
        }
        tilt.set_key(slope, concentration);
        tilt.weights.clear();
        tilt.weights.extend(self.moves.iter().map(|&(entry, step)| step * slope[entry]));
        let largest = tilt.weights.iter().fold(0.0_f64, |largest, weight| largest.max(weight.abs()));
        if self.patterns.kind == PatternKind::Spent {
            let mean = tilt.weights.iter().sum::<f64>() / tilt.weights.len().max(1) as f64;
            // The projection of a constant slope is zero up to rounding.
            let rounded =
                |weight: f64| if (weight - mean).abs() > CONSTANT_SLOPE_TOL * largest { weight - mean } else { 0.0 };
            tilt.weights.iter_mut().for_each(|weight| *weight = rounded(*weight));
        }
        let unit = if make_unit(&mut tilt.weights) && self.radius > 0.0 { concentration / self.radius } else { 0.0 };
        tilt.weights.iter_mut().for_each(|weight| *weight *= unit);
        if unit > 0.0 {
            let weights = &tilt.weights;
            tilt.log_mean = CountRecursion(self.patterns)
                .fill(|entry| self.weights_of(weights[entry]), &mut tilt.table)
                - self.log_count;
        } else {
            tilt.weights.fill(0.0);
            tilt.table.clear();
            tilt.table.extend_from_slice(&self.uniform);
            tilt.log_mean = 0.0;
        }
    }

    fn draw(&self, tilt: &CachedTilt, random: &mut Random, state: &mut State) {
        match tilt.table.len() == self.uniform.len() {
            true => self.draw_by(&tilt.table, &tilt.weights, random, state),
            false => States::draw(self, random, state),
        }
    }

    fn log_density(&self, tilt: &CachedTilt, state: &State) -> f64 {
        super::dot(&tilt.weights, point(state)) - tilt.log_mean
    }
}
