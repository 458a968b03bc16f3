//! The conformance suite of states, whatever is known of Q.

use rand::RngExt;

use crate::definition::ScenarioList;
use crate::numeric::dot;
use crate::run::Random;
use crate::uncertainty::{CachedTilt, Count, LocalCoordinates, Space, State, StateSpec, States, Tilt, Uncertainty};

/// Draws that are looked at.
const DRAWS: usize = 20;
/// States that are enumerated at most.
const FEW: usize = 5_000;

/// Checks the states of a set; `close` is the tolerance for points.
pub(super) fn check_states(set: &dyn Uncertainty, close: f64, random: &mut Random) {
    for convex in [true, false] {
        let spec = StateSpec { convex, ..StateSpec::default() };
        let what = format!("{:?} with {spec:?}", set.describe());
        let states = set.states(&spec).unwrap_or_else(|error| panic!("{what}: {error}"));
        let suite = StatesSuite { set, states: &*states, close, what };
        suite.draws_are_members_and_found_again(random);
        suite.other_states_do_no_harm();
        if convex && let Count::Exactly(count) = set.extremes() {
            suite.states_are_the_extreme_points(count);
        }
        if let Some(tilt) = states.tilt() {
            suite.tilts_are_densities(tilt, random);
        }
        match states.local_coordinates() {
            Some(local) => suite.walks_keep_to_the_set(local, random),
            None => assert!(matches!(states.space(), Space::Finite(_)), "{}: no way to walk", suite.what),
        }
    }
}

struct StatesSuite<'a> {
    set: &'a dyn Uncertainty,
    states: &'a dyn States,
    close: f64,
    what: String,
}

impl StatesSuite<'_> {
    fn xi(&self, state: &State) -> Vec<f64> {
        let mut xi = vec![f64::NAN; self.set.dim()];
        self.states.realize(state, &mut xi);
        assert!(self.set.contains(&xi, self.close), "{}: {state:?} is {xi:?}, not a member", self.what);
        xi
    }

    fn draws_are_members_and_found_again(&self, random: &mut Random) {
        let (mut state, mut again) = (self.states.blank(), self.states.blank());
        self.xi(&state);
        for _ in 0..DRAWS {
            self.states.draw(random, &mut state);
            let xi = self.xi(&state);
            assert!(self.states.locate(&xi, &mut again), "{}: {xi:?} is not found again", self.what);
            assert!(distance(&self.xi(&again), &xi) <= self.close, "{}: {state:?} is found as {again:?}", self.what);
        }
        let mut direction = vec![0.0; self.set.dim()];
        for _ in 0..DRAWS {
            direction.iter_mut().for_each(|entry| *entry = random.random_range(-1.0..1.0));
            let mut xi = direction.clone();
            self.set.support(&direction, &mut xi).expect("the support is finite");
            assert!(self.states.locate(&xi, &mut again), "{}: {xi:?} is not found", self.what);
            assert!(distance(&self.xi(&again), &xi) <= self.close, "{}: {xi:?} is found as {again:?}", self.what);
        }
        assert!(
            !self.states.locate(&vec![f64::NAN; self.set.dim()], &mut again) || self.set.dim() == 0,
            "{}: finds NaN",
            self.what
        );
        self.xi(&again);
    }

    /// A state of another kind is some member, or is written over.
    fn other_states_do_no_harm(&self) {
        let mut random: Random = rand::SeedableRng::seed_from_u64(1);
        for mut state in [State::Row(usize::MAX), State::Row(0), State::Point(vec![])] {
            let mut xi = vec![f64::NAN; self.set.dim()];
            self.states.realize(&state, &mut xi);
            if let Some(tilt) = self.states.tilt() {
                assert!(!tilt.log_density(&CachedTilt::default(), &state).is_nan(), "{}: {state:?}", self.what);
            }
            self.states.draw(&mut random, &mut state);
            self.xi(&state);
        }
    }

    fn states_are_the_extreme_points(&self, count: u128) {
        assert_eq!(self.states.space(), Space::Finite(Count::Exactly(count)), "{}", self.what);
        if count > FEW as u128 {
            return;
        }
        assert!(self.states.enumerate(count as usize - 1).is_none(), "{}: enumerates more than allowed", self.what);
        let all = self.states.enumerate(FEW).unwrap_or_else(|| panic!("{}: does not enumerate", self.what));
        let mut points = ScenarioList::new(self.set.dim());
        all.iter().for_each(|state| points.push(&self.xi(state)));
        let wanted = self.set.enumerate(FEW).expect("there are few");
        assert_eq!(
            sorted(&points),
            sorted(&wanted),
            "{}: the states are other points than the extreme ones",
            self.what
        );
    }

    /// Densities are finite, those of finitely many states have mean one, and a slope of zero gives ν.
    fn tilts_are_densities(&self, tilt: &dyn Tilt, random: &mut Random) {
        let all = self.states.enumerate(FEW);
        let mut cached = CachedTilt::default();
        let mut state = self.states.blank();
        let dim = self.set.dim();
        for concentration in [0.5, tilt.concentration(), 1e3] {
            for size in [1.0, 1e-6, 0.0] {
                let slope: Vec<f64> = (0..dim).map(|_| size * random.random_range(-1.0..1.0)).collect();
                tilt.prepare(&slope, concentration, &mut cached);
                let mut fresh = CachedTilt::default();
                tilt.prepare(&slope, concentration, &mut fresh);
                assert_eq!(cached, fresh, "{}: a cached tilt depends on what it was used for before", self.what);
                for _ in 0..DRAWS {
                    tilt.draw(&cached, random, &mut state);
                    self.xi(&state);
                    let density = tilt.log_density(&cached, &state);
                    assert!(
                        density.is_finite() && (size > 0.0 || density.abs() < 1e-9),
                        "{}: {state:?} has {density}",
                        self.what
                    );
                }
                if let Some(all) = &all {
                    let mean =
                        all.iter().map(|state| tilt.log_density(&cached, state).exp()).sum::<f64>() / all.len() as f64;
                    assert!((mean - 1.0).abs() < 1e-9, "{}: densities have mean {mean}", self.what);
                }
            }
        }
    }

    /// At the end of a chord the outward normal, where it is known, points away from every state.
    fn normal_supports_the_body(
        &self,
        local: &dyn LocalCoordinates,
        point: &[f64],
        direction: &[f64],
        most: f64,
        random: &mut Random,
    ) {
        let end: Vec<f64> = point.iter().zip(direction).map(|(point, entry)| point + most * entry).collect();
        let (mut normal, mut state) = (vec![0.0; local.dim()], self.states.blank());
        if !local.outward_normal(&end, direction, &mut normal) {
            return;
        }
        assert!(dot(&normal, direction) > 0.0, "{}: {normal:?} is no outward normal at {end:?}", self.what);
        for _ in 0..20 {
            self.states.draw(random, &mut state);
            let State::Point(other) = &state else { panic!("{}: walks on {state:?}", self.what) };
            let beyond: f64 = normal.iter().zip(other).zip(&end).map(|((n, other), end)| n * (other - end)).sum();
            let size = dot(&normal, &normal).sqrt();
            assert!(beyond <= 1e-6 * size, "{}: {other:?} is beyond {end:?} along {normal:?}", self.what);
        }
    }

    fn walks_keep_to_the_set(&self, local: &dyn LocalCoordinates, random: &mut Random) {
        let mut state = self.states.blank();
        let dim = local.dim();
        let mut slope = vec![0.0; dim];
        for _ in 0..DRAWS {
            self.states.draw(random, &mut state);
            let State::Point(point) = &state else { panic!("{}: walks on {state:?}", self.what) };
            assert_eq!(point.len(), dim, "{}", self.what);
            let direction: Vec<f64> = (0..dim).map(|_| random.random_range(-1.0..1.0)).collect();
            let (least, most) = local.chord(point, &direction);
            assert!(least <= 0.0 && 0.0 <= most && least < most, "{}: a chord from {least} to {most}", self.what);
            let moved = |t: f64| {
                let mut xi = vec![0.0; self.set.dim()];
                let there = point.iter().zip(&direction).map(|(point, entry)| point + t * entry).collect();
                self.states.realize(&State::Point(there), &mut xi);
                xi
            };
            if matches!(self.states.space(), Space::Body(_)) {
                for (end, beyond) in [(least, least - 0.01), (most, most + 0.01)] {
                    assert!(
                        self.set.contains(&moved(end), self.close),
                        "{}: {:?} at the chord's end",
                        self.what,
                        moved(end)
                    );
                    assert!(
                        !self.set.contains(&moved(beyond), 1e-3 * self.close),
                        "{}: {:?} is beyond",
                        self.what,
                        moved(beyond)
                    );
                }
                self.normal_supports_the_body(local, point, &direction, most, random);
                // The set's own chord is the same.
                let (here, there) = (moved(0.0), moved(1.0));
                let along: Vec<f64> = there.iter().zip(&here).map(|(there, here)| there - here).collect();
                let own = self.set.chord(&here, &along);
                assert!(
                    (own.0 - least).abs().max((own.1 - most).abs()) < 1e-4,
                    "{}: {own:?} and {least} to {most}",
                    self.what
                );
            }
            // The pull is the derivative of the slope's product with ξ, which is linear in the coordinates.
            let slope_xi: Vec<f64> = (0..self.set.dim()).map(|_| random.random_range(-1.0..1.0)).collect();
            local.pull_back(&slope_xi, &mut slope);
            let rise = dot(&slope_xi, &moved(1.0)) - dot(&slope_xi, &moved(0.0));
            assert!(
                (rise - dot(&slope, &direction)).abs() <= 10.0 * self.close,
                "{}: rises by {rise}, not as pulled",
                self.what
            );
        }
    }
}

fn sorted(points: &ScenarioList) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = points.iter().map(<[f64]>::to_vec).collect();
    rows.sort_by(|a, b| a.partial_cmp(b).expect("extreme points are finite"));
    rows
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |largest, (a, b)| largest.max((a - b).abs()))
}
