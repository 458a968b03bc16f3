//! The cut pool: every valid cut that a run has met, with the scenario that proved it.
//!
//! Each answer of a recourse engine is a minorant of Q(·, ξ), and with it of the worst case, whatever led to the
//! scenario. The pool holds these minorants in flat arrays, so that evaluating all of them at some x takes a few dot
//! products.

use crate::model::Problem;
use crate::numeric::dot;
use crate::numeric::tolerances::{CUT_TOL, FARKAS_TOL};
use crate::recourse::{Answer, Cut, CutKind, RecourseOutcome};

/// The largest number of cuts. Beyond it the cut of the largest age is replaced.
const CAPACITY: usize = 4096;

/// The position of a reader: the cuts inserted before it have been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor(u64);

/// Valid cuts, each once, indexed by 0, 1, …, `len() − 1`. An index is stable until its cut is replaced.
#[derive(Debug, Clone)]
pub struct CutPool {
    dim: usize,
    dim_xi: usize,
    kinds: Vec<CutKind>,
    intercepts: Vec<f64>,
    slopes: Vec<f64>,
    scenarios: Vec<f64>,
    /// How many cuts had been inserted when each cut was, itself included.
    serials: Vec<u64>,
    /// The time at which each cut was last active; inserting counts.
    last_active: Vec<u64>,
    inserted: u64,
    time: u64,
}

impl CutPool {
    /// An empty pool for the cuts of a problem.
    pub fn new(problem: &Problem) -> Self {
        Self::with_dims(problem.first.dim(), problem.set.dim())
    }

    fn with_dims(dim: usize, dim_xi: usize) -> Self {
        Self {
            dim,
            dim_xi,
            kinds: Vec::new(),
            intercepts: Vec::new(),
            slopes: Vec::new(),
            scenarios: Vec::new(),
            serials: Vec::new(),
            last_active: Vec::new(),
            inserted: 0,
            time: 0,
        }
    }

    /// The number of cuts.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is no cut.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Whether some cut bounds the recourse cost.
    pub fn has_optimality_cuts(&self) -> bool {
        self.kinds.contains(&CutKind::Optimality)
    }

    /// The kind of a cut.
    pub fn kind(&self, cut: usize) -> CutKind {
        self.kinds[cut]
    }

    /// The value of a cut at x = 0.
    pub fn intercept(&self, cut: usize) -> f64 {
        self.intercepts[cut]
    }

    /// The slope of a cut in x.
    pub fn slope(&self, cut: usize) -> &[f64] {
        &self.slopes[cut * self.dim..(cut + 1) * self.dim]
    }

    /// The scenario that proved a cut.
    pub fn scenario(&self, cut: usize) -> &[f64] {
        &self.scenarios[cut * self.dim_xi..(cut + 1) * self.dim_xi]
    }

    /// The value of a cut at x.
    pub fn value_at(&self, cut: usize, x: &[f64]) -> f64 {
        self.intercepts[cut] + dot(self.slope(cut), x)
    }

    /// Insertions and activations since a cut was last active.
    pub fn age(&self, cut: usize) -> u64 {
        self.time - self.last_active[cut]
    }

    /// A copy of a cut.
    pub fn cut(&self, cut: usize) -> Cut {
        Cut { kind: self.kinds[cut], intercept: self.intercepts[cut], slope: self.slope(cut).to_vec() }
    }

    /// Inserts a cut that scenario `xi` proved; false if the pool has it.
    pub fn insert(&mut self, cut: &Cut, xi: &[f64]) -> bool {
        self.insert_parts(cut.kind, cut.intercept, &cut.slope, xi)
    }

    /// Inserts the cut of a recourse engine's answer at `xi`; false if the pool has it, or if the recourse was
    /// unbounded.
    pub fn insert_answer(&mut self, answer: &Answer, xi: &[f64]) -> bool {
        let kind = match answer.outcome {
            RecourseOutcome::Solved => CutKind::Optimality,
            RecourseOutcome::Infeasible => CutKind::Feasibility,
            RecourseOutcome::Unbounded => return false,
        };
        self.insert_parts(kind, answer.intercept, &answer.slope_x, xi)
    }

    fn insert_parts(&mut self, kind: CutKind, intercept: f64, slope: &[f64], xi: &[f64]) -> bool {
        let is_same =
            |cut: usize| self.intercepts[cut] == intercept && self.kinds[cut] == kind && self.slope(cut) == slope;
        if (0..self.len()).any(is_same) {
            return false;
        }
        self.inserted += 1;
        self.time += 1;
        if self.len() < CAPACITY {
            self.kinds.push(kind);
            self.intercepts.push(intercept);
            self.slopes.extend_from_slice(slope);
            self.scenarios.extend_from_slice(xi);
            self.serials.push(self.inserted);
            self.last_active.push(self.time);
            return true;
        }
        // Times are distinct, so that one cut is the oldest.
        let oldest = (0..CAPACITY).max_by_key(|&cut| self.age(cut)).unwrap_or(0);
        self.kinds[oldest] = kind;
        self.intercepts[oldest] = intercept;
        self.slopes[oldest * self.dim..(oldest + 1) * self.dim].copy_from_slice(slope);
        self.scenarios[oldest * self.dim_xi..(oldest + 1) * self.dim_xi].copy_from_slice(xi);
        self.serials[oldest] = self.inserted;
        self.last_active[oldest] = self.time;
        true
    }

    /// The cuts inserted since the cursor, in the order of insertion; the cursor moves to the end. Cuts that were
    /// replaced before they were read are left out.
    pub fn read_new(&self, cursor: &mut Cursor) -> Vec<usize> {
        let from = std::mem::replace(cursor, Cursor(self.inserted)).0;
        if from == self.inserted {
            return Vec::new();
        }
        let mut new: Vec<usize> = (0..self.len()).filter(|&cut| self.serials[cut] > from).collect();
        new.sort_unstable_by_key(|&cut| self.serials[cut]);
        new
    }

    /// The number of cuts inserted since the cursor.
    pub fn count_new(&self, cursor: Cursor) -> u64 {
        self.inserted - cursor.0
    }

    /// The cursor of a reader that has read everything.
    pub fn end(&self) -> Cursor {
        Cursor(self.inserted)
    }

    /// The optimality cut with the largest value at x, and that value: a lower bound on the worst recourse cost.
    pub fn largest_at(&self, x: &[f64]) -> Option<(usize, f64)> {
        let optimality = (0..self.len()).filter(|&cut| self.kinds[cut] == CutKind::Optimality);
        optimality.fold(None, |largest, cut| {
            let value = self.value_at(cut, x);
            if largest.is_none_or(|(_, most)| value > most) { Some((cut, value)) } else { largest }
        })
    }

    /// The scenarios whose cuts are largest at x, the largest first, each once, at most `count`.
    pub fn worst_scenarios(&self, x: &[f64], count: usize) -> Vec<Vec<f64>> {
        let optimality = (0..self.len()).filter(|&cut| self.kinds[cut] == CutKind::Optimality);
        let mut ranked: Vec<(usize, f64)> = optimality.map(|cut| (cut, self.value_at(cut, x))).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut scenarios: Vec<Vec<f64>> = Vec::with_capacity(count);
        for (cut, _) in ranked {
            if scenarios.len() == count {
                break;
            }
            let xi = self.scenario(cut);
            if scenarios.iter().all(|known| known != xi) {
                scenarios.push(xi.to_vec());
            }
        }
        scenarios
    }

    /// The scenarios of feasibility cuts whose slack at x is at most this share of their size, each once.
    pub fn scenarios_at_edge(&self, x: &[f64], slack: f64) -> Vec<Vec<f64>> {
        let is_near = |&cut: &usize| {
            self.kinds[cut] == CutKind::Feasibility
                && self.value_at(cut, x) >= -slack * self.intercepts[cut].abs().max(1.0)
        };
        let mut scenarios: Vec<Vec<f64>> = Vec::new();
        for xi in (0..self.len()).filter(is_near).map(|cut| self.scenario(cut)) {
            if scenarios.iter().all(|known| known != xi) {
                scenarios.push(xi.to_vec());
            }
        }
        scenarios
    }

    /// Marks the cuts that bind at x as active now: the optimality cuts with the largest value, and the feasibility
    /// cuts without slack. A method calls it at the decisions of its master or tree.
    pub fn activate_binding(&mut self, x: &[f64]) {
        let largest = self.largest_at(x).map_or(f64::INFINITY, |(_, value)| value);
        for cut in 0..self.len() {
            let top = if self.kinds[cut] == CutKind::Optimality { largest } else { 0.0 };
            let size = if self.kinds[cut] == CutKind::Optimality { top } else { self.intercepts[cut] };
            if self.value_at(cut, x) >= top - CUT_TOL * size.abs().max(1.0) {
                self.activate(cut);
            }
        }
    }

    /// Marks a cut as active now.
    pub fn activate(&mut self, cut: usize) {
        self.time += 1;
        self.last_active[cut] = self.time;
    }

    /// The feasibility cut that x violates most, relative to its size, if it violates one: some scenario has no
    /// recourse at x.
    pub fn violated_feasibility_cut(&self, x: &[f64]) -> Option<usize> {
        let violation = |cut: usize| self.value_at(cut, x) / self.intercepts[cut].abs().max(1.0);
        let violated = (0..self.len())
            .filter(|&cut| self.kinds[cut] == CutKind::Feasibility)
            .map(|cut| (cut, violation(cut)))
            .filter(|(_, violation)| *violation > FARKAS_TOL);
        violated.reduce(|most, other| if other.1 > most.1 { other } else { most }).map(|(cut, _)| cut)
    }

    /// Whether x violates no feasibility cut.
    pub fn admits(&self, x: &[f64]) -> bool {
        self.violated_feasibility_cut(x).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> CutPool {
        CutPool::with_dims(1, 1)
    }

    fn cut(intercept: f64, slope: f64) -> Cut {
        Cut { kind: CutKind::Optimality, intercept, slope: vec![slope] }
    }

    #[test]
    fn each_reader_sees_each_cut_once_and_in_order() {
        let mut pool = pool();
        let (mut first, mut second) = (Cursor::default(), Cursor::default());
        assert!(pool.insert(&cut(1.0, 0.0), &[0.0]) && !pool.insert(&cut(1.0, 0.0), &[5.0]));
        assert_eq!((pool.read_new(&mut first), pool.read_new(&mut first)), (vec![0], vec![]));
        assert!(pool.insert(&cut(2.0, -1.0), &[1.0]));
        assert_eq!((pool.count_new(first), pool.count_new(second)), (1, 2));
        assert_eq!((pool.read_new(&mut first), pool.read_new(&mut second)), (vec![1], vec![0, 1]));
        assert_eq!(pool.largest_at(&[0.5]), Some((1, 1.5)));
        assert_eq!(pool.worst_scenarios(&[3.0], 2), [[0.0], [1.0]]);
    }

    #[test]
    fn the_cut_that_was_active_longest_ago_is_replaced() {
        let mut pool = pool();
        for serial in 0..CAPACITY {
            assert!(pool.insert(&cut(serial as f64, 0.0), &[0.0]));
        }
        pool.activate(0);
        let mut cursor = pool.end();
        assert!(pool.insert(&cut(-1.0, 1.0), &[0.0]));
        assert_eq!((pool.len(), pool.intercept(0), pool.intercept(1)), (CAPACITY, 0.0, -1.0));
        assert_eq!(pool.read_new(&mut cursor), [1]);
    }

    #[test]
    fn cuts_that_bind_become_active() {
        let mut pool = pool();
        for (intercept, slope) in [(1.0, 0.0), (0.0, 1.0), (-2.0, 1.0)] {
            pool.insert(&cut(intercept, slope), &[0.0]);
        }
        pool.insert(&Cut { kind: CutKind::Feasibility, intercept: -1.0, slope: vec![1.0] }, &[0.0]);
        // At 1 the first two cuts are the largest, and the feasibility cut has no slack.
        pool.activate_binding(&[1.0]);
        assert_eq!([0, 1, 2, 3].map(|cut| pool.age(cut)), [2, 1, 4, 0]);
    }

    #[test]
    fn a_violated_feasibility_cut_is_found() {
        let mut pool = pool();
        pool.insert(&Cut { kind: CutKind::Feasibility, intercept: 3.0, slope: vec![-1.0] }, &[0.0]);
        assert_eq!((pool.violated_feasibility_cut(&[2.0]), pool.admits(&[3.0])), (Some(0), true));
    }
}
