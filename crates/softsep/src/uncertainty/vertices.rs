//! The vertices of a polytope, by the double description method (Motzkin, Raiffa, Thompson and Thrall; Fukuda and
//! Prodon).
//!
//! It starts from a simplex around the polytope and applies the polytope's inequalities and equations one by one. Such
//! a cut keeps the vertices that satisfy it and adds one where it crosses an edge. Two vertices share an edge exactly
//! if no third one satisfies with equality every inequality that both of them do, so the edges need not be stored: each
//! vertex carries the set of its tight inequalities. This holds for degenerate and for flat polytopes, and whether or
//! not some inequalities are redundant.

use std::collections::HashMap;

/// Slacks below this are zero. The polytope has been scaled into the unit cube and the cuts to unit normals; the ranges
/// that the scaling rests on come from linear programs solved to 1e-9.
const TOLERANCE: f64 = 1e-8;

/// The half-space `normalᵀt ≤ bound`, or its boundary where `equality` is set.
#[derive(Debug, Clone)]
pub(super) struct Halfspace {
    normal: Vec<f64>,
    bound: f64,
    equality: bool,
}

impl Halfspace {
    /// The inequality `normalᵀt ≤ bound`; the normal is not zero.
    pub(super) fn at_most(normal: &[f64], bound: f64) -> Self {
        let norm = normal.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        Self { normal: normal.iter().map(|entry| entry / norm).collect(), bound: bound / norm, equality: false }
    }

    /// The inequalities `lower ≤ normalᵀt ≤ upper`, one of the bounds being finite; one equation if the two are the
    /// same up to rounding.
    pub(super) fn between(normal: &[f64], lower: f64, upper: f64) -> Vec<Self> {
        let above = Self::at_most(normal, upper);
        let opposite: Vec<f64> = normal.iter().map(|entry| -entry).collect();
        let below = Self::at_most(&opposite, -lower);
        if above.bound + below.bound <= TOLERANCE {
            return vec![Self { equality: true, ..above }];
        }
        [above, below].into_iter().filter(|cut| cut.bound < f64::INFINITY).collect()
    }

    fn slack(&self, point: &[f64]) -> f64 {
        self.bound - super::dot(&self.normal, point)
    }

    fn admits(&self, slack: f64) -> bool {
        slack >= -TOLERANCE && !(self.equality && slack > TOLERANCE)
    }
}

/// The limits of an enumeration.
#[derive(Debug, Clone, Copy)]
pub(super) struct EnumerationLimits {
    /// The largest number of vertices, also of intermediate polytopes.
    pub(super) points: usize,
    /// The largest number of operations on machine words, estimated roughly.
    pub(super) work: u64,
}

/// A vertex of the polytope so far.
#[derive(Debug, Clone)]
struct Vertex {
    point: Vec<f64>,
    /// The slack in every cut, applied or not.
    slack: Vec<f64>,
    /// One bit per facet of the simplex and per applied cut.
    tight: Vec<u64>,
}

impl Vertex {
    fn set_tight(&mut self, bit: usize) {
        self.tight[bit / 64] |= 1 << (bit % 64);
    }

    fn tight_count(&self) -> usize {
        self.tight.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether just as many inequalities are tight as there are dimensions. Then each of them can be left in turn,
    /// along an edge.
    fn is_simple(&self) -> bool {
        self.tight_count() == self.point.len()
    }

    /// The tight inequalities along each edge of a simple vertex.
    fn edges(&self) -> impl Iterator<Item = Vec<u64>> {
        (0..64 * self.tight.len()).filter(|bit| self.tight[bit / 64] >> (bit % 64) & 1 == 1).map(|bit| {
            let mut edge = self.tight.clone();
            edge[bit / 64] ^= 1 << (bit % 64);
            edge
        })
    }
}

/// The enumeration stopped; this number of vertices is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GaveUp {
    pub(super) certain: usize,
}

/// All vertices of `{t ≥ 0, Σt ≤ reach}` under the cuts, a non-empty polytope in the unit cube of `dim ≥ 1` dimensions.
pub(super) fn enumerate(
    dim: usize,
    reach: f64,
    cuts: &[Halfspace],
    effort: EnumerationLimits,
) -> Result<Vec<Vec<f64>>, GaveUp> {
    let mut polytope =
        DoubleDescription { dim, reach, cuts, applied: Vec::new(), vertices: Vec::new(), work: 0, effort };
    polytope.start();
    let mut waiting: Vec<usize> = (0..cuts.len()).collect();
    while let Some(next) = polytope.cheapest(&mut waiting) {
        polytope.apply(next).map_err(|()| polytope.give_up())?;
    }
    Ok(polytope.vertices.into_iter().map(|vertex| vertex.point).collect())
}

struct DoubleDescription<'a> {
    dim: usize,
    reach: f64,
    cuts: &'a [Halfspace],
    applied: Vec<usize>,
    vertices: Vec<Vertex>,
    work: u64,
    effort: EnumerationLimits,
}

impl DoubleDescription<'_> {
    /// The corners of the simplex. Its facets have the bits 0 to `dim`: `t_i ≥ 0` in order, then `Σt ≤ reach`.
    fn start(&mut self) {
        self.vertices = (0..=self.dim)
            .map(|corner| {
                let mut point = vec![0.0; self.dim];
                if let Some(entry) = point.get_mut(corner) {
                    *entry = self.reach;
                }
                self.vertex(point)
            })
            .collect();
    }

    fn vertex(&self, point: Vec<f64>) -> Vertex {
        let words = (self.dim + 1 + self.cuts.len()).div_ceil(64);
        let slack = self.cuts.iter().map(|cut| cut.slack(&point)).collect();
        let mut vertex = Vertex { point, slack, tight: vec![0; words] };
        for index in 0..self.dim {
            if vertex.point[index] <= TOLERANCE {
                vertex.set_tight(index);
            }
        }
        if self.reach - vertex.point.iter().sum::<f64>() <= TOLERANCE * (self.dim as f64).sqrt() {
            vertex.set_tight(self.dim);
        }
        for &cut in &self.applied {
            if vertex.slack[cut].abs() <= TOLERANCE {
                vertex.set_tight(self.dim + 1 + cut);
            }
        }
        vertex
    }

    /// The waiting cut with the fewest pairs of vertices to look at, equations first. Cuts that all vertices satisfy
    /// are done with.
    fn cheapest(&mut self, waiting: &mut Vec<usize>) -> Option<usize> {
        self.work += (waiting.len() * self.vertices.len()) as u64;
        waiting.retain(|&cut| !self.vertices.iter().all(|vertex| self.cuts[cut].admits(vertex.slack[cut])));
        let pairs = |cut: usize| {
            let outside = self.vertices.iter().filter(|vertex| vertex.slack[cut] < -TOLERANCE).count();
            let inside = self.vertices.iter().filter(|vertex| vertex.slack[cut] > TOLERANCE).count();
            outside * inside
        };
        let best =
            (0..waiting.len()).min_by_key(|&index| (!self.cuts[waiting[index]].equality, pairs(waiting[index])))?;
        Some(waiting.remove(best))
    }

    fn apply(&mut self, cut: usize) -> Result<(), ()> {
        self.applied.push(cut);
        let (outside, others): (Vec<Vertex>, Vec<Vertex>) =
            std::mem::take(&mut self.vertices).into_iter().partition(|vertex| vertex.slack[cut] < -TOLERANCE);
        let (inside, mut on): (Vec<Vertex>, Vec<Vertex>) =
            others.into_iter().partition(|vertex| vertex.slack[cut] > TOLERANCE);
        // Where both ends of an edge are simple, each finds the other by the tight inequalities that they share;
        // only the rest is tried pair by pair.
        let simple_ends: HashMap<Vec<u64>, usize> = (inside.iter().enumerate())
            .filter(|(_, inner)| inner.is_simple())
            .flat_map(|(within, inner)| inner.edges().map(move |edge| (edge, within)))
            .collect();
        let all: Vec<usize> = (0..inside.len()).collect();
        let degenerate: Vec<usize> = all.iter().copied().filter(|&within| !inside[within].is_simple()).collect();
        let mut incidence = Incidence::new(self.dim, inside.iter().chain(&outside).chain(&on));
        let mut crossings = Vec::new();
        let mut complete = true;
        for (out, outer) in outside.iter().enumerate() {
            let mut ends: Vec<usize> = Vec::new();
            if outer.is_simple() {
                ends.extend(outer.edges().filter_map(|edge| simple_ends.get(&edge)));
            }
            let others = if outer.is_simple() { &degenerate } else { &all };
            ends.extend(others.iter().filter(|&&within| incidence.share_an_edge(within, inside.len() + out)));
            crossings.extend(ends.iter().map(|&within| self.crossing(outer, &inside[within], cut)));
            self.work += (self.dim + (1 + ends.len()) * (self.dim * self.cuts.len())) as u64;
            if self.work + incidence.work > self.effort.work || on.len() + crossings.len() > self.effort.points {
                complete = false;
                break;
            }
        }
        self.work += incidence.work;
        for vertex in &mut on {
            vertex.set_tight(self.dim + 1 + cut);
        }
        on.append(&mut crossings);
        if !self.cuts[cut].equality {
            on.extend(inside);
        }
        self.vertices = on;
        // No vertex at all is a failure of the arithmetic: the polytope is not empty.
        let sound = complete && !self.vertices.is_empty() && self.vertices.len() <= self.effort.points;
        if sound { Ok(()) } else { Err(()) }
    }

    /// The intersection of `cut` with the edge between two vertices.
    fn crossing(&self, outer: &Vertex, inner: &Vertex, cut: usize) -> Vertex {
        let (beyond, left) = (-outer.slack[cut], inner.slack[cut]);
        let share = left / (beyond + left);
        let point =
            outer.point.iter().zip(&inner.point).map(|(outer, inner)| inner + share * (outer - inner)).collect();
        let mut vertex = self.vertex(point);
        vertex.set_tight(self.dim + 1 + cut);
        // Inequalities that are tight along the edge are tight here, also after rounding.
        for (tight, (outer, inner)) in vertex.tight.iter_mut().zip(outer.tight.iter().zip(&inner.tight)) {
            *tight |= outer & inner;
        }
        vertex
    }

    /// A vertex of the polytope so far that satisfies the cuts still to come is a vertex of the result.
    fn give_up(&self) -> GaveUp {
        let stays = |vertex: &&Vertex| self.cuts.iter().zip(&vertex.slack).all(|(cut, &slack)| cut.admits(slack));
        GaveUp { certain: self.vertices.iter().filter(stays).count() }
    }
}

/// The tight inequalities of all vertices in one block of memory.
struct Incidence {
    dim: usize,
    /// Words per vertex.
    words: usize,
    tight: Vec<u64>,
    /// The number of tight inequalities, by vertex.
    counts: Vec<usize>,
    /// The tight inequalities that the pair in question has in common.
    common: Vec<u64>,
    /// The vertex that last showed a pair not to be adjacent; it often does so again.
    last_between: usize,
    work: u64,
}

impl Incidence {
    fn new<'a>(dim: usize, vertices: impl Iterator<Item = &'a Vertex>) -> Self {
        let (mut tight, mut counts, mut words) = (Vec::new(), Vec::new(), 1);
        for vertex in vertices {
            words = vertex.tight.len();
            tight.extend_from_slice(&vertex.tight);
            counts.push(vertex.tight_count());
        }
        Self { dim, words, tight, counts, common: vec![0; words], last_between: 0, work: 0 }
    }

    fn row(&self, vertex: usize) -> &[u64] {
        &self.tight[vertex * self.words..(vertex + 1) * self.words]
    }

    /// Whether no third vertex has all of the tight inequalities that the two have in common.
    fn share_an_edge(&mut self, a: usize, b: usize) -> bool {
        self.work += self.words as u64;
        let shared: usize = self.row(a).iter().zip(self.row(b)).map(|(a, b)| (a & b).count_ones() as usize).sum();
        // Along an edge all but one of the dimensions are used up.
        let needed = self.dim - 1;
        if shared < needed {
            return false;
        }
        // Any `dim − 1` of the inequalities at a vertex that has just `dim` of them meet in an edge.
        if shared == needed && (self.counts[a] == self.dim || self.counts[b] == self.dim) {
            return true;
        }
        for word in 0..self.words {
            self.common[word] = self.tight[a * self.words + word] & self.tight[b * self.words + word];
        }
        if self.comes_between(self.last_between, a, b) {
            return false;
        }
        let between = (0..self.counts.len()).find(|&third| self.comes_between(third, a, b));
        self.work += (between.map_or(self.counts.len(), |third| third + 1) * self.words) as u64;
        self.last_between = between.unwrap_or(self.last_between);
        between.is_none()
    }

    fn comes_between(&self, third: usize, a: usize, b: usize) -> bool {
        self.common.iter().zip(self.row(third)).all(|(common, tight)| common & !tight == 0) && third != a && third != b
    }
}
