//! The vertices of a polytope with too many of them to list, as states. A move goes along an edge.
//!
//! In a simple polytope of dimension d every vertex is on exactly d facets, and each of its d edges leaves one of them.
//! The walk that leaves one of the d facets, drawn uniformly, is therefore symmetric. The graph of a polytope is
//! connected, so that the walk reaches every vertex.
//!
//! A polytope need not be simple: more than d facets can meet in a vertex. The limits of all facets are therefore
//! raised by small fixed amounts, which makes the polytope simple. The states are the vertices of the perturbed
//! polytope, each known by its d tight facets. Their ξ are solutions for the limits as given. A vertex in which more
//! than d facets meet is the ξ of several states, and every vertex is the ξ of at least one.

use std::cell::RefCell;
use std::collections::HashSet;

use rand::{RngExt, SeedableRng};

use super::body::{MapColumn, map_to_coordinates, map_to_xi};
use super::tight_facets::{Parts, dot_in_lanes, project_out, solve};
use super::{Neighbours, Space, State, States, copy_state, make_unit, norm, point, point_mut};
use crate::run::{Random, normals};
use crate::uncertainty::Count;

/// The largest amount by which a limit is raised, relative to the limit, which is the facet's distance from the
/// interior point.
///
/// An amount relative to the limit keeps the perturbed polytope within the polytope scaled by 1 + 1e-7, in any units
/// and for thin polytopes too. It is eight orders above rounding errors: two facets then block an edge at the same
/// point, up to rounding, with negligible probability. It is as small as the tolerance of linear programs, so that
/// parts of the polytope that it changes are of no size for any other part of the library.
const PERTURBATION: f64 = 1e-7;

/// Limits below this are perturbed as if they were this large.
const LEAST_LIMIT: f64 = 1e-3;

/// The seed of the perturbation: the same set has the same states in every run.
const PERTURBATION_SEED: u64 = 7;

/// A basic solution that violates a facet by more is moved toward the interior. The polytope has width two; solutions
/// are exact up to rounding at the condition of their tight facets.
const VIOLATION_TOL: f64 = 1e-12;

/// A smaller rate at which a direction of length one approaches a facet is a rounding error.
const PARALLEL_TOL: f64 = 1e-11;

/// A smaller pivot of a matrix of normals of length one means that it is singular.
const SINGULAR_TOL: f64 = 1e-13;

/// A direction of which a smaller share is in a face is normal to the face.
const NORMAL_TOL: f64 = 1e-6;

/// A reduced cost is negative if it is below this share of the objective.
const REDUCED_COST_TOL: f64 = 1e-10;

/// The slacks up to which facets count as tight at a member whose vertex is looked for: the first for the vertices of
/// an exact method, the next for those of linear programs, the last for members that are known to few digits.
const TIGHT_TOLS: [f64; 3] = [1e-9, 1e-6, 1e-4];

/// A vertex this near to a member is the member.
const SAME_POINT_TOL: f64 = 1e-7;

/// Moves of a draw, and moves per dimension.
///
/// On a cube, d·ln(d)/4 moves are enough from any start, and the starts of draws are uniform on it already. How many
/// moves other polytopes need is unknown: draws are uniform in the limit only.
const MOVES_PER_DRAW: usize = 20;
const MOVES_PER_DIMENSION: usize = 2;

/// The vertices of `{u : ⟨normal, u⟩ ≤ limit}` with `ξ = center + B u`; zero is in the interior.
///
/// The coordinates of a state are d tight facets in ascending order, u, and the data of moves: the vertex of the
/// perturbed polytope, and the factors of the tight normals with the order of their rows. All are computed from the
/// tight facets alone, so that a state is the same, bit by bit, on every path to it. ν is uniform on the states.
pub(crate) struct VertexWalk {
    center: Vec<f64>,
    /// The columns of B.
    columns: Vec<MapColumn>,
    /// The normals, one after the other.
    normals: Vec<f64>,
    limits: Vec<f64>,
    perturbed_limits: Vec<f64>,
    count: Count,
    /// A fixed state, which blank states have.
    start: Vec<f64>,
}

impl VertexWalk {
    /// Creates the states from facets of a polytope, pairs of a normal of length one and a limit; negative limits are
    /// set to zero. `count` is the known number of states. `None` if no vertex can be computed.
    pub(crate) fn new(
        center: Vec<f64>,
        columns: Vec<MapColumn>,
        facets: &[(Vec<f64>, f64)],
        count: Count,
    ) -> Option<Self> {
        let dim = columns.len();
        let mut random = Random::seed_from_u64(PERTURBATION_SEED);
        let limits: Vec<f64> = facets.iter().map(|facet| facet.1.max(0.0)).collect();
        let mut raised = |limit: &f64| limit + PERTURBATION * limit.max(LEAST_LIMIT) * random.random_range(0.0..1.0);
        let perturbed_limits = limits.iter().map(&mut raised).collect();
        let normals = facets.iter().flat_map(|facet| facet.0.iter().copied()).collect();
        let start = vec![0.0; dim * (4 + dim)];
        let mut states = Self { center, columns, normals, limits, perturbed_limits, count, start };
        let mut start = states.start.clone();
        let mut parts = Parts::of(&mut start, dim);
        parts.u.fill(1.0);
        if !states.find_vertex(&mut parts) {
            return None;
        }
        states.finish(&mut parts);
        states.start = start;
        Some(states)
    }

    /// Counts the states, if there are at most `limit`.
    pub(crate) fn counted(mut self, limit: usize) -> Self {
        if let Some(all) = self.enumerate(limit) {
            self.count = Count::Exactly(all.len() as u128);
        }
        self
    }

    fn dim(&self) -> usize {
        self.columns.len()
    }

    fn normal(&self, facet: usize) -> &[f64] {
        &self.normals[facet * self.dim()..(facet + 1) * self.dim()]
    }

    /// The coordinates of a state, or of the start if the state is of another space.
    fn coordinates<'s>(&'s self, state: &'s State) -> &'s [f64] {
        let own = point(state);
        if own.len() == self.start.len() { own } else { &self.start }
    }

    /// The facet that blocks the way from the perturbed vertex along `direction`, with the distance to it. Tight facets
    /// do not block; `tight` is in ascending order.
    fn blocking(&self, tight: &[f64], vertex: &[f64], direction: &[f64]) -> Option<(usize, f64)> {
        let least_rate = PARALLEL_TOL * norm(direction);
        let mut nearest = None;
        let mut shortest = f64::INFINITY;
        let mut tight = tight.iter().map(|facet| *facet as usize).peekable();
        for (facet, limit) in self.perturbed_limits.iter().enumerate() {
            if tight.next_if_eq(&facet).is_some() {
                continue;
            }
            let normal = self.normal(facet);
            let rate = dot_in_lanes(normal, direction);
            if rate > least_rate {
                let length = (limit - dot_in_lanes(normal, vertex)) / rate;
                if length < shortest {
                    (nearest, shortest) = (Some(facet), length);
                }
            }
        }
        nearest.map(|facet| (facet, shortest))
    }

    /// Factors the tight normals with partial pivoting and computes the vertex of the perturbed polytope. Returns false
    /// if the normals are dependent.
    fn factorize(&self, parts: &mut Parts) -> bool {
        let dim = self.dim();
        let Parts { tight, vertex, order, factors, .. } = parts;
        for (row, facet) in tight.iter().enumerate() {
            factors[row * dim..(row + 1) * dim].copy_from_slice(self.normal(*facet as usize));
            order[row] = row as f64;
        }
        for pivot in 0..dim {
            let (mut best, mut largest) = (pivot, 0.0);
            for row in pivot..dim {
                let size = factors[row * dim + pivot].abs();
                if size > largest {
                    (best, largest) = (row, size);
                }
            }
            if !(largest > SINGULAR_TOL) {
                return false;
            }
            let (above, below) = factors.split_at_mut((pivot + 1) * dim);
            let lead = &mut above[pivot * dim..];
            if best != pivot {
                lead.swap_with_slice(&mut below[(best - pivot - 1) * dim..(best - pivot) * dim]);
                order.swap(best, pivot);
            }
            for own in below.chunks_exact_mut(dim).filter(|own| own[pivot] != 0.0) {
                let factor = own[pivot] / lead[pivot];
                own[pivot] = factor;
                own[pivot + 1..].iter_mut().zip(&lead[pivot + 1..]).for_each(|(own, lead)| *own -= factor * lead);
            }
        }
        solve(factors, vertex, |row| self.perturbed_limits[tight[order[row] as usize] as usize]);
        true
    }

    /// Computes u of a factored state: the solution for the limits as given, which is a vertex of the polytope.
    ///
    /// Where facets miss each other by less than the perturbation, that solution may violate some of them. It is then
    /// moved toward the interior point as far as the set goes: ξ is a member in any case, and a vertex up to the
    /// perturbation.
    fn finish(&self, parts: &mut Parts) {
        let Parts { tight, u, order, factors, .. } = parts;
        solve(factors, u, |row| self.limits[tight[order[row] as usize] as usize]);
        let mut share = 1.0_f64;
        for (facet, limit) in self.limits.iter().enumerate() {
            let at = dot_in_lanes(self.normal(facet), u);
            if at > limit + VIOLATION_TOL {
                share = share.min(limit / at);
            }
        }
        if share < 1.0 {
            u.iter_mut().for_each(|u| *u *= share);
        }
    }

    /// Moves along the edge that leaves the tight facet at a position. Returns false, and stays, if rounding keeps the
    /// edge back from leading to where it came from: moves are symmetric under any rounding.
    fn go(&self, parts: &mut Parts, position: usize) -> bool {
        let left = parts.tight[position];
        parts.write_edge(position);
        let Some((entered, _)) = self.blocking(parts.tight, parts.vertex, parts.u) else {
            self.finish(parts);
            return false;
        };
        let position = parts.replace(position, entered as f64);
        let returns = self.factorize(parts) && {
            parts.write_edge(position);
            self.blocking(parts.tight, parts.vertex, parts.u).is_some_and(|(facet, _)| facet == left as usize)
        };
        if !returns {
            parts.replace(position, left);
            self.factorize(parts);
        }
        self.finish(parts);
        returns
    }

    /// Finds a vertex: goes from the interior point along the direction in u until a facet blocks the way, then along
    /// the projection of the direction on that facet, and so on. Returns false if the vertex is not found, because of
    /// rounding.
    fn find_vertex(&self, parts: &mut Parts) -> bool {
        let dim = self.dim();
        // The factors hold an orthonormal basis of the normals of the facets found.
        let Parts { tight, u: direction, vertex: point, order: step, factors: basis } = parts;
        // One of the axes has a component of at least this size in any face.
        let least_component = 0.5 / (dim as f64).sqrt();
        point.fill(0.0);
        for found in 0..dim {
            let (known, rest) = basis.split_at_mut(found * dim);
            step.copy_from_slice(direction);
            let length = norm(step);
            project_out(known, step);
            if !(norm(step) > NORMAL_TOL * length && make_unit(step)) {
                // The direction is normal to the face.
                let in_face = |axis: usize| {
                    step.fill(0.0);
                    step[axis] = 1.0;
                    project_out(known, step);
                    norm(step) > least_component && make_unit(step)
                };
                if !(0..dim).any(in_face) {
                    return false;
                }
            }
            let Some((facet, length)) = self.blocking(&tight[..found], point, step) else { return false };
            point.iter_mut().zip(step.iter()).for_each(|(point, step)| *point += length * step);
            let own = &mut rest[..dim];
            own.copy_from_slice(self.normal(facet));
            project_out(known, own);
            if !make_unit(own) {
                return false;
            }
            tight[found] = facet as f64;
            tight[..=found].sort_by(f64::total_cmp);
        }
        self.factorize(parts)
    }

    /// Goes to a vertex that maximises ⟨objective, u⟩ over the perturbed polytope, by the simplex method. The polytope
    /// is simple, so that every pivot gains.
    fn maximise(&self, parts: &mut Parts, objective: &[f64]) -> bool {
        let least = -REDUCED_COST_TOL * norm(objective);
        let most_pivots = 100 + 20 * self.limits.len();
        for _ in 0..most_pivots {
            parts.write_multipliers(objective);
            // The vertex has held intermediate results.
            solve(parts.factors, parts.vertex, |row| {
                self.perturbed_limits[parts.tight[parts.order[row] as usize] as usize]
            });
            let worst = (0..self.dim()).min_by(|&a, &b| parts.u[a].total_cmp(&parts.u[b]));
            let Some(position) = worst.filter(|&position| parts.u[position] < least) else { return true };
            parts.write_edge(position);
            let Some((entered, _)) = self.blocking(parts.tight, parts.vertex, parts.u) else { return false };
            parts.replace(position, entered as f64);
            if !self.factorize(parts) {
                return false;
            }
        }
        true
    }

    /// Finds the vertex at which the facets within `tolerance` of a member are tight. They are tight together where the
    /// sum of their normals is largest: at the vertex if the member is one, else on the face around the member. Returns
    /// their number, and whether a vertex was found.
    fn find_near(&self, at: &[f64], tolerance: f64, objective: &mut [f64], parts: &mut Parts) -> (usize, bool) {
        let dim = self.dim();
        objective.fill(0.0);
        let mut count = 0;
        for (facet, limit) in self.limits.iter().enumerate() {
            let normal = self.normal(facet);
            if limit - dot_in_lanes(normal, at) <= tolerance {
                objective.iter_mut().zip(normal).for_each(|(sum, normal)| *sum += normal);
                if count < dim {
                    parts.tight[count] = facet as f64;
                }
                count += 1;
            }
        }
        if count == dim && self.factorize(parts) && self.is_vertex(parts) {
            return (count, true);
        }
        if count == 0 {
            objective.copy_from_slice(at);
        }
        parts.u.copy_from_slice(if norm(at) > 0.0 { at } else { &self.start[dim..2 * dim] });
        (count, self.find_vertex(parts) && self.maximise(parts, objective))
    }

    /// Whether the solution for the tight facets satisfies all perturbed limits.
    fn is_vertex(&self, parts: &Parts) -> bool {
        let mut tight = parts.tight.iter().map(|facet| *facet as usize).peekable();
        let mut limits = self.perturbed_limits.iter().enumerate();
        limits.all(|(facet, limit)| {
            tight.next_if_eq(&facet).is_some() || dot_in_lanes(self.normal(facet), parts.vertex) < *limit
        })
    }
}

impl States for VertexWalk {
    fn space(&self) -> Space {
        Space::Finite(self.count)
    }

    fn blank(&self) -> State {
        State::Point(self.start.clone())
    }

    /// Finds a vertex from the interior point in a random direction, and makes a number of moves that is drawn from two
    /// consecutive ones: the graph of a cube, for instance, has vertices of two kinds, and each move changes the kind.
    fn draw(&self, random: &mut Random, state: &mut State) {
        let dim = self.dim();
        let coordinates = point_mut(state, self.start.len());
        let mut parts = Parts::of(coordinates, dim);
        normals(random, parts.u);
        if !self.find_vertex(&mut parts) {
            coordinates.copy_from_slice(&self.start);
            parts = Parts::of(coordinates, dim);
        }
        self.finish(&mut parts);
        if dim == 0 {
            return;
        }
        for _ in 0..MOVES_PER_DRAW + MOVES_PER_DIMENSION * dim + random.random_range(0..2) {
            self.go(&mut parts, random.random_range(0..dim));
        }
    }

    fn draws_exactly(&self) -> bool {
        false
    }

    fn realize(&self, state: &State, xi: &mut [f64]) {
        let dim = self.dim();
        map_to_xi(&self.center, &self.columns, &self.coordinates(state)[dim..2 * dim], xi);
    }

    /// Finds a state of a vertex exactly. For another member, finds some vertex of the smallest face around it.
    fn locate(&self, xi: &[f64], state: &mut State) -> bool {
        thread_local! {
            static SCRATCH: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
        }
        let dim = self.dim();
        let coordinates = point_mut(state, self.start.len());
        if xi.iter().any(|xi| !xi.is_finite()) {
            coordinates.copy_from_slice(&self.start);
            return false;
        }
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.resize(2 * dim, 0.0);
            let (at, objective) = scratch.split_at_mut(dim);
            map_to_coordinates(&self.center, &self.columns, xi, at);
            let mut parts = Parts::of(coordinates, dim);
            let mut last = None;
            for tolerance in TIGHT_TOLS {
                let (count, found) = self.find_near(at, tolerance, objective, &mut parts);
                if !found {
                    last = None;
                    continue;
                }
                self.finish(&mut parts);
                let is_same = at.iter().zip(parts.u.iter()).all(|(a, b)| (a - b).abs() <= SAME_POINT_TOL);
                if is_same || last == Some(count) {
                    return true;
                }
                last = Some(count);
            }
            if last.is_none() {
                coordinates.copy_from_slice(&self.start);
            }
            last.is_some()
        })
    }

    /// By breadth-first search from a fixed vertex.
    fn enumerate(&self, limit: usize) -> Option<Vec<State>> {
        let dim = self.dim();
        let key = |state: &State| -> Vec<u32> { point(state)[..dim].iter().map(|facet| *facet as u32).collect() };
        let mut found = vec![self.blank()];
        let mut known: HashSet<Vec<u32>> = found.iter().map(key).collect();
        let mut next = 0;
        while next < found.len() {
            for position in 0..dim {
                let mut state = found[next].clone();
                let moved = self.go(&mut Parts::of(point_mut(&mut state, self.start.len()), dim), position);
                if moved && known.insert(key(&state)) {
                    found.push(state);
                }
                if found.len() > limit {
                    return None;
                }
            }
            next += 1;
        }
        (found.len() <= limit).then_some(found)
    }

    fn neighbours(&self) -> Option<&dyn Neighbours> {
        Some(self)
    }
}

/// The other end of an edge, which is drawn uniformly.
impl Neighbours for VertexWalk {
    fn draw_neighbour(&self, from: &State, random: &mut Random, to: &mut State) {
        let dim = self.dim();
        match point(from).len() == self.start.len() {
            true => copy_state(from, to),
            false => point_mut(to, self.start.len()).copy_from_slice(&self.start),
        }
        if dim > 0 {
            self.go(&mut Parts::of(point_mut(to, self.start.len()), dim), random.random_range(0..dim));
        }
    }

    fn probability(&self, from: &State, to: &State) -> f64 {
        let dim = self.dim();
        if dim == 0 {
            return 1.0;
        }
        let (from, to) = (self.coordinates(from), self.coordinates(to));
        let mut state = from.to_vec();
        let mut count = 0;
        for position in 0..dim {
            let leaves = !to[..dim].contains(&from[position]);
            if leaves || from[..dim] == to[..dim] {
                state.copy_from_slice(from);
                self.go(&mut Parts::of(&mut state, dim), position);
                count += usize::from(state[..dim] == to[..dim]);
            }
        }
        count as f64 / dim as f64
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn states(facets: &[(&[f64], f64)]) -> VertexWalk {
        let dim = facets[0].0.len();
        let columns = (0..dim).map(|entry| MapColumn::of_entry(entry, 1.0)).collect();
        let unit = |(normal, limit): &(&[f64], f64)| {
            let length = norm(normal);
            (normal.iter().map(|entry| entry / length).collect(), limit / length)
        };
        let facets: Vec<(Vec<f64>, f64)> = facets.iter().map(unit).collect();
        VertexWalk::new(vec![0.0; dim], columns, &facets, Count::MoreThan(0)).unwrap()
    }

    /// The corner of a square is cut off, or just missed, by less than the perturbation. All ξ are members.
    #[test]
    fn facets_that_nearly_meet_leave_members() {
        for cut in [1e-5, 1e-7, 1e-9, 1e-12, 1e-15, 0.0, -1e-15, -1e-9, -1e-7] {
            let diagonal = (&[1.0, 1.0][..], 2.0 - cut);
            let square =
                [(&[1.0, 0.0][..], 1.0), (&[-1.0, 0.0], 1.0), (&[0.0, 1.0], 1.0), (&[0.0, -1.0], 1.0), diagonal];
            let states = states(&square);
            let all = states.enumerate(10).unwrap_or_default();
            assert!((4..=5).contains(&all.len()), "{cut}: {} states", all.len());
            for state in &all {
                let u = &point(state)[2..4];
                assert!(square.iter().all(|(normal, limit)| dot_in_lanes(normal, u) <= limit + 1e-11), "{cut}: {u:?}");
                assert!(u.iter().all(|u| (u.abs() - 1.0).abs() < 2.0 * cut.abs() + 1e-6), "{cut}: {u:?}");
                let total: f64 = all.iter().map(|to| states.probability(state, to)).sum();
                assert_eq!(total, 1.0);
            }
        }
    }

    /// The factors solve for an edge, which leaves one tight facet and stays on the others, and for multipliers.
    #[test]
    fn edges_and_multipliers_solve_their_systems() {
        let mut random = Random::seed_from_u64(1);
        let dim = 7;
        let rows: Vec<Vec<f64>> = (0..40)
            .map(|_| {
                let mut row = vec![0.0; dim];
                normals(&mut random, &mut row);
                row
            })
            .collect();
        let facets: Vec<(&[f64], f64)> = rows.iter().map(|row| (&row[..], 1.0)).collect();
        let states = states(&facets);
        let mut state = states.blank();
        for _ in 0..50 {
            states.draw(&mut random, &mut state);
            let mut parts = Parts::of(point_mut(&mut state, states.start.len()), dim);
            for left in 0..dim {
                parts.write_edge(left);
                for (position, facet) in parts.tight.iter().enumerate() {
                    let rate = dot_in_lanes(states.normal(*facet as usize), parts.u);
                    assert!((rate + f64::from(u8::from(position == left))).abs() < 1e-9, "{rate}");
                }
            }
            let mut objective = vec![0.0; dim];
            normals(&mut random, &mut objective);
            parts.write_multipliers(&objective);
            for (entry, value) in objective.iter().enumerate() {
                let sum: f64 = (0..dim).map(|row| parts.u[row] * states.normal(parts.tight[row] as usize)[entry]).sum();
                assert!((sum - value).abs() < 1e-9, "{sum} {value}");
            }
            assert!(states.factorize(&mut parts) && states.maximise(&mut parts, &objective));
            parts.write_multipliers(&objective);
            assert!(parts.u.iter().all(|multiplier| *multiplier >= -1e-9));
        }
    }
}
