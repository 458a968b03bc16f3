//! Problems whose worst scenarios nothing leads to: the recourse costs nothing but at a few "locked" ones, where it
//! costs 1, and its slope is zero elsewhere. No climb helps (none is locked of the points that a set gives for a slope
//! of zero), so that what draws find has an exact probability.

use softsep::definition::{Row, ScenarioList, Variable};
use softsep::uncertainty::{SetDefinition, Sides, StateSpec, States};
use softsep::{Problem, ProblemDefinition};

/// The first stage costs this, so that a gap relative to the objective means something.
pub(crate) const FIRST_COST: f64 = 10.0;

/// What the worst case costs.
pub(crate) const WORST: f64 = FIRST_COST + 1.0;

/// A problem, and the share of its states that are locked.
pub(crate) struct Locked {
    pub(crate) problem: Problem,
    pub(crate) convex: bool,
    /// By how the problem was made.
    pub(crate) share: f64,
    /// The reference measure in words.
    pub(crate) measure: &'static str,
}

impl Locked {
    pub(crate) fn states(&self) -> Box<dyn States + '_> {
        self.problem.set.states(&StateSpec { convex: self.convex, ..StateSpec::default() }).unwrap()
    }
}

/// A set with locks: each is positive where `slope·ξ > level`, and costs 1 where that is `level + width`.
fn locked(set: SetDefinition, dim: usize, locks: &[(Vec<f64>, f64, f64)]) -> Problem {
    let names: Vec<String> = (0..dim).map(|entry| format!("g{entry}")).collect();
    let mut file = ProblemDefinition::default();
    file.first_stage.constant = FIRST_COST;
    file.uncertainty.parameters = names.clone();
    file.uncertainty.set = set;
    for (number, (slope, level, width)) in locks.iter().enumerate() {
        let name = format!("lock {number}");
        file.recourse.variables.push(Variable::new(name.clone(), 1.0 / width));
        let mut row = Row { lower: -level, ..Row::new(name.clone()) };
        row.y = vec![(name, 1.0)];
        row.xi = names.iter().cloned().zip(slope.iter().map(|slope| -slope)).collect();
        file.recourse.constraints.push(row);
    }
    Problem::new(&file).unwrap()
}

/// Locks at 0–1 points: `(2z − 1)·ξ` is |z| there, and less by 1 at least at all others.
fn at_patterns(patterns: &[Vec<f64>]) -> Vec<(Vec<f64>, f64, f64)> {
    let lock = |z: &Vec<f64>| (z.iter().map(|z| 2.0 * z - 1.0).collect(), z.iter().sum::<f64>() - 0.5, 0.5);
    patterns.iter().map(lock).collect()
}

/// The 0–1 point with ones at these entries.
fn ones(dim: usize, entries: &[usize]) -> Vec<f64> {
    (0..dim).map(|entry| f64::from(u8::from(entries.contains(&entry)))).collect()
}

/// So many points of the unit circle in a list, `locks` of them locked.
pub(crate) fn list(count: usize, locks: usize) -> Locked {
    let point = |row: usize| {
        let angle = std::f64::consts::TAU * row as f64 / count as f64;
        [angle.cos(), angle.sin()]
    };
    let mut points = ScenarioList::new(2);
    (0..count).for_each(|row| points.push(&point(row)));
    // The next point of the circle is below the lock by twice this.
    let half = 0.5 * (1.0 - (std::f64::consts::TAU / count as f64).cos());
    let locks: Vec<_> = (0..locks).map(|lock| (point(count / 3 + 2 * lock).to_vec(), 1.0 - half, half)).collect();
    let share = locks.len() as f64 / count as f64;
    let problem = locked(SetDefinition::scenarios(points), 2, &locks);
    Locked { problem, convex: true, share, measure: "uniform on the scenarios of the list" }
}

/// The corners of a box, some locked.
pub(crate) fn corners(dim: usize, locks: usize) -> Locked {
    let patterns: Vec<_> = (0..locks).map(|lock| ones(dim, &[lock, lock + 1, lock + 2])).collect();
    let set = SetDefinition::Box { lower: vec![0.0; dim], upper: vec![1.0; dim] };
    let problem = locked(set, dim, &at_patterns(&patterns));
    Locked {
        problem,
        convex: true,
        share: locks as f64 / 2_f64.powi(dim as i32),
        measure: "uniform on the extreme points",
    }
}

/// A budget of 2 in `dim` entries, both sides or one: 1 + n + n(n−1)/2 points, or 4·n(n−1)/2 of them.
pub(crate) fn budget(dim: usize, sides: Sides, locks: usize) -> Locked {
    let pairs = (dim * (dim - 1) / 2) as f64;
    let patterns: Vec<_> = (0..locks).map(|lock| ones(dim, &[lock + 2, lock + 3])).collect();
    let (locks_at, count) = match sides {
        Sides::One => (at_patterns(&patterns), 1.0 + dim as f64 + pairs),
        // Both entries at 1 make 2, everything else 1 at most.
        Sides::Two => (patterns.iter().map(|z| (z.clone(), 1.5, 0.5)).collect(), 4.0 * pairs),
    };
    let set = SetDefinition::Budget { budget: 2.0, sides, center: vec![0.0; dim], scale: vec![1.0; dim] };
    let problem = locked(set, dim, &locks_at);
    Locked { problem, convex: true, share: locks as f64 / count, measure: "uniform on the extreme points" }
}

/// The 2n points of an ℓ1 ball, one locked.
pub(crate) fn cross(dim: usize) -> Locked {
    let set = SetDefinition::L1 { center: vec![0.0; dim], scale: vec![1.0; dim] };
    let problem = locked(set, dim, &[(ones(dim, &[1]), 0.5, 0.5)]);
    Locked { problem, convex: true, share: 0.5 / dim as f64, measure: "uniform on the extreme points" }
}

/// A sphere with a cap of this height locked: its share is height/2 in three dimensions (Archimedes), angle/π in two.
pub(crate) fn sphere(dim: usize, height: f64) -> Locked {
    let matrix = (0..dim).map(|row| ones(dim, &[row])).collect();
    let set = SetDefinition::Ellipsoid { center: vec![0.0; dim], matrix };
    let problem = locked(set, dim, &[(ones(dim, &[0]), 1.0 - height, height)]);
    let share = if dim == 3 { 0.5 * height } else { (1.0 - height).acos() / std::f64::consts::PI };
    let measure = "uniform on the boundary, by the unit sphere that it is the image of";
    Locked { problem, convex: true, share, measure }
}

/// A whole cube with a corner of this depth locked: a simplex of volume depth³/6.
pub(crate) fn cube(depth: f64) -> Locked {
    let set = SetDefinition::Box { lower: vec![0.0; 3], upper: vec![1.0; 3] };
    let problem = locked(set, 3, &[(vec![1.0; 3], 3.0 - depth, depth)]);
    Locked { problem, convex: false, share: depth.powi(3) / 6.0, measure: "uniform on the set, by volume" }
}

/// The same with a first stage: a shield from 0 to 1 at this price lowers what every lock costs, to nothing at 1.
pub(crate) fn shielded(problem: &Problem, price: f64) -> Problem {
    let mut file = problem.definition();
    file.first_stage.variables.push(Variable::new("shield", price).bounded(0.0, 1.0));
    for (row, variable) in file.recourse.constraints.iter_mut().zip(&file.recourse.variables) {
        row.x = vec![("shield".into(), 1.0 / variable.cost)];
    }
    Problem::new(&file).unwrap()
}

/// The same with a price that moves with ξ, of something that nobody can buy: the worst case may be anywhere in the set
/// then, as far as is known.
pub(crate) fn moving(problem: &Problem) -> Problem {
    let mut file = problem.definition();
    let mut idle = Variable::new("idle", 1.0).bounded(0.0, 0.0);
    idle.cost_xi = vec![("g0".into(), 1.0)];
    file.recourse.variables.push(idle);
    Problem::new(&file).unwrap()
}
