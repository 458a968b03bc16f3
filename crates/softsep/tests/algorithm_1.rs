//! Algorithm 1 as printed (`sgd --preset paper`) against a computation by hand: on location–transportation with two
//! sites the test makes the chain, the recourse by its dual vertices, the dual of Lemma 1, H of EC.3, the projection
//! and both averages itself, from the same random stream.
#![allow(clippy::unwrap_used, clippy::panic)]

use rand::RngExt;
use serde_json::{Map, Value, json};
use softsep::definition::Row;
use softsep::methods::MethodSettings;
use softsep::run::{Purpose, Random, Stop, stream};
use softsep::{Certify, Outcome, Problem, ProblemDefinition, SetDefinition, Settings, SgdSettings, solve};
use softsep_paper::instances::{LocationTransportation, Uncertain, location_transportation};

const SITES: usize = 2;
const SCENARIOS: usize = 7;
const ITERATIONS: usize = 10;

/// The data of the problem, read from its definition.
struct Data {
    /// Capacity costs.
    c: [f64; SITES],
    /// The largest capacity of a site, and of both together.
    most: f64,
    total: f64,
    shipping: [[f64; SITES]; SITES],
    emergency: [f64; SITES],
    /// Demands by scenario.
    demands: Vec<[f64; SITES]>,
}

/// Two sites that share a limit on their capacity, so that the projection has a row. On every second seed the first
/// site is too expensive, so that it is given up: its duals are not unique then.
fn definition(seed: u64) -> ProblemDefinition {
    let uncertainty = Uncertain::Scenarios(SCENARIOS);
    let drawn = LocationTransportation { n: SITES, uncertainty, mixed_integer: false, seed };
    let mut file = location_transportation(&drawn).unwrap();
    let names = file.first_stage.variables.iter().map(|capacity| (capacity.name.clone(), 1.0)).collect();
    file.first_stage.constraints.push(Row { x: names, upper: 400.0, ..Row::new("total") });
    if seed % 2 == 1 {
        file.first_stage.variables[0].cost = 165.0;
    }
    file
}

impl Data {
    fn of(file: &ProblemDefinition) -> Self {
        let cost = |name: &str| file.recourse.variables.iter().find(|y| y.name == name).unwrap().cost;
        let row = |name: String| file.recourse.constraints.iter().find(|row| row.name == name).unwrap();
        let SetDefinition::Scenarios { points, .. } = &file.uncertainty.set else { panic!("not a list") };
        let demand = |j: usize, xi: &[f64]| {
            let row = row(format!("demand_{}", j + 1));
            row.lower - row.xi[0].1 * xi[j]
        };
        Self {
            c: [0, 1].map(|i| file.first_stage.variables[i].cost),
            most: file.first_stage.variables[0].upper,
            total: file.first_stage.constraints[0].upper,
            shipping: [0, 1].map(|i| [0, 1].map(|j| cost(&format!("ship_{}_{}", i + 1, j + 1)))),
            emergency: [0, 1].map(|j| cost(&format!("emergency_{}", j + 1))),
            demands: points.iter().map(|xi| [0, 1].map(|j| demand(j, xi))).collect(),
        }
    }

    /// The vertices (λ₁, λ₂, μ₁, μ₂) of the dual: λ_j − μ_i ≤ t_ij, 0 ≤ λ_j ≤ p_j, μ ≥ 0.
    fn vertices(&self) -> Vec<[f64; 4]> {
        let mut rows: Vec<([f64; 4], f64)> = Vec::new();
        for k in 0..4 {
            let mut unit = [0.0; 4];
            unit[k] = -1.0;
            rows.push((unit, 0.0));
        }
        for j in 0..SITES {
            let mut unit = [0.0; 4];
            unit[j] = 1.0;
            rows.push((unit, self.emergency[j]));
            for i in 0..SITES {
                let mut row = unit;
                row[SITES + i] = -1.0;
                rows.push((row, self.shipping[i][j]));
            }
        }
        let mut vertices = Vec::new();
        for mask in (0_u32..1 << rows.len()).filter(|mask| mask.count_ones() == 4) {
            let tight: Vec<&([f64; 4], f64)> =
                (0..rows.len()).filter(|k| mask >> k & 1 == 1).map(|k| &rows[k]).collect();
            let Some(vertex) = solve_four(&tight) else { continue };
            let is_feasible =
                |(row, side): &([f64; 4], f64)| row.iter().zip(&vertex).map(|(a, v)| a * v).sum::<f64>() <= side + 1e-9;
            if rows.iter().all(is_feasible) {
                vertices.push(vertex);
            }
        }
        vertices
    }

    /// Q(x, ξ) and the μ = −Eᵀπ of the optimal vertex with the least μ₁ + μ₂: the norm is linear on the dual, so that a
    /// vertex has the least.
    fn recourse(&self, vertices: &[[f64; 4]], x: &[f64; 2], scenario: usize) -> (f64, [f64; 2]) {
        let demand = &self.demands[scenario];
        let value = |v: &[f64; 4]| v[0] * demand[0] + v[1] * demand[1] - v[2] * x[0] - v[3] * x[1];
        let best = vertices.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let optimal: Vec<&[f64; 4]> = vertices.iter().filter(|v| value(v) >= best - 1e-9 * best.abs()).collect();
        let least = optimal.iter().map(|v| v[2] + v[3]).fold(f64::INFINITY, f64::min);
        let shortest: Vec<_> = optimal.iter().filter(|v| v[2] + v[3] <= least + 1e-9).collect();
        for other in &shortest {
            assert!((other[2] - shortest[0][2]).abs() < 1e-9, "the dual of Lemma 1 is not unique at {x:?}");
        }
        (best, [shortest[0][2], shortest[0][3]])
    }

    /// H of EC.3, with h the largest emergency cost.
    fn preconditioner(&self) -> [f64; 2] {
        let h = self.emergency[0].max(self.emergency[1]);
        let size = self.c.map(|c| c.abs().max((c - h).abs()).max(1e-8));
        let scale = (size[0] * size[1]).sqrt();
        size.map(|size| size / scale)
    }

    /// The point of X nearest to `a` in the norm of H.
    fn project(&self, a: [f64; 2], h: &[f64; 2]) -> [f64; 2] {
        let clamped = a.map(|a| a.clamp(0.0, self.most));
        if clamped[0] + clamped[1] <= self.total {
            return clamped;
        }
        // On the line v₁ + v₂ = total.
        let theta = (a[0] + a[1] - self.total) / (1.0 / h[0] + 1.0 / h[1]);
        let (from, to) = ((self.total - self.most).max(0.0), self.most.min(self.total));
        let first = (a[0] - theta / h[0]).clamp(from, to);
        [first, self.total - first]
    }
}

/// Solves four equations by Gauss with pivoting; `None` if they are singular.
fn solve_four(rows: &[&([f64; 4], f64)]) -> Option<[f64; 4]> {
    let mut m: Vec<[f64; 5]> = rows.iter().map(|(row, side)| [row[0], row[1], row[2], row[3], *side]).collect();
    for k in 0..4 {
        let pivot = (k..4).max_by(|&a, &b| m[a][k].abs().total_cmp(&m[b][k].abs()))?;
        m.swap(k, pivot);
        if m[k][k].abs() < 1e-9 {
            return None;
        }
        for i in (0..4).filter(|&i| i != k) {
            let factor = m[i][k] / m[k][k];
            let row = m[k];
            m[i].iter_mut().zip(row).for_each(|(entry, value)| *entry -= factor * value);
        }
    }
    Some([0, 1, 2, 3].map(|k| m[k][4] / m[k][k]))
}

/// The iterates and the averages of a descent.
#[derive(Default)]
struct Descent {
    iterates: Vec<[f64; 2]>,
    step_size: Vec<[f64; 2]>,
    linear: Vec<[f64; 2]>,
    /// The scenario after each transition, and its cost at the x before the step.
    states: Vec<usize>,
    values: Vec<f64>,
    accepted: usize,
    rejected: usize,
}

/// Algorithm 1, line by line, with the temperature of each iteration.
fn by_hand(data: &Data, start: [f64; 2], w: &dyn Fn(usize) -> f64, barker: bool, seed: u64) -> Descent {
    let (vertices, h) = (data.vertices(), data.preconditioner());
    let mut random: Random = stream(seed, Purpose::Chain, 0);
    let mut state = random.random_range(0..SCENARIOS);
    // H is there for the steps; the nearest point of X to a start is in the Euclidean norm.
    let mut x = data.project(start, &[1.0, 1.0]);
    let mut made = Descent::default();
    let (mut sums, mut weighted) = ([0.0; 2], [[0.0; 2]; 2]);
    for n in 0..ITERATIONS {
        let step = 1.0 / ((n + 1) as f64).sqrt();
        let candidate = random.random_range(0..SCENARIOS);
        let (here, there) = (data.recourse(&vertices, &x, state).0, data.recourse(&vertices, &x, candidate).0);
        if candidate != state {
            let ratio = ((there - here) / w(n)).exp();
            let acceptance = if barker { ratio / (1.0 + ratio) } else { ratio.min(1.0) };
            if random.random::<f64>() < acceptance {
                state = candidate;
                made.accepted += 1;
            } else {
                made.rejected += 1;
            }
        }
        let (value, mu) = data.recourse(&vertices, &x, state);
        made.states.push(state);
        made.values.push(data.c[0] * x[0] + data.c[1] * x[1] + value);
        let moved = [0, 1].map(|i| x[i] - step * (data.c[i] - mu[i]) / h[i]);
        x = data.project(moved, &h);
        made.iterates.push(x);
        for (kind, weight) in [step, (n + 1) as f64].into_iter().enumerate() {
            sums[kind] += weight;
            [0, 1].iter().for_each(|&i| weighted[kind][i] += weight * x[i]);
        }
        made.step_size.push(weighted[0].map(|sum| sum / sums[0]));
        made.linear.push(weighted[1].map(|sum| sum / sums[1]));
    }
    made
}

fn settings(options: Value, iterations: usize, seed: u64) -> Settings {
    let mut all = Map::from_iter([("preset".to_owned(), json!("paper"))]);
    all.extend(options.as_object().unwrap().clone());
    Settings {
        method: MethodSettings::parse("sgd", &all).unwrap(),
        iterations: Some(iterations as u64),
        certify: Certify::None,
        seed,
        ..Settings::default()
    }
}

fn decision(outcome: &Outcome) -> [f64; 2] {
    let best = outcome.bounds.best().unwrap();
    [best.x[0], best.x[1]]
}

fn assert_near(found: [f64; 2], wanted: [f64; 2], what: &str) {
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{what}: {found} instead of {wanted}");
    }
}

/// The averages of N = 1, …, 10 iterations are those by hand, and so are the iterates, which are differences of the
/// sums behind the linear average.
#[test]
fn ten_iterates_by_hand() {
    let (mut accepted, mut rejected, mut at_zero, mut on_row) = (0, 0, 0, 0);
    for seed in 1..=6 {
        let file = definition(seed);
        let (data, problem) = (Data::of(&file), Problem::new(&file).unwrap());
        // The last start is outside of X.
        let start = [[0.0, 0.0], [100.0, 250.0], [500.0, 300.0]][seed as usize % 3];
        for (acceptance, w) in [("metropolis", 3000.0), ("barker", 1000.0)] {
            let hand = by_hand(&data, start, &|_| w, acceptance == "barker", seed);
            accepted += hand.accepted;
            rejected += hand.rejected;
            let mut sum = [0.0; 2];
            for n in 1..=ITERATIONS {
                let what = format!("seed {seed}, {acceptance}, iteration {n}");
                let run = |average: &str| {
                    let start = json!({"capacity_1": start[0], "capacity_2": start[1]});
                    let options =
                        json!({"acceptance": acceptance, "temperature": w, "average": average, "start": start});
                    let outcome = solve(&problem, &settings(options, n, seed)).unwrap();
                    assert_eq!((outcome.iterations, outcome.stop), (n as u64, Stop::IterationLimit), "{what}");
                    assert_eq!(outcome.bounds.upper(), None, "{what}: nothing was proved");
                    decision(&outcome)
                };
                let linear = run("linear");
                assert_near(linear, hand.linear[n - 1], &format!("{what}, linear average"));
                assert_near(run("step-size"), hand.step_size[n - 1], &format!("{what}, step-size average"));
                let weights = (n * (n + 1) / 2) as f64;
                let iterate = [0, 1].map(|i| (weights * linear[i] - sum[i]) / n as f64);
                assert_near(iterate, hand.iterates[n - 1], &format!("{what}, iterate"));
                sum = linear.map(|mean| weights * mean);
                at_zero += usize::from(iterate.iter().any(|x| x.abs() < 1e-9));
                on_row += usize::from((iterate[0] + iterate[1] - data.total).abs() < 1e-9);
            }
        }
    }
    // The cases that make a difference have all been there.
    assert!(accepted > 20 && rejected > 5, "{accepted} and {rejected}");
    assert!(at_zero > 5 && on_row > 5, "{at_zero}, {on_row}");
}

/// With `--temperature adaptive` iteration n, from 0 on, has w_n = 2Δ⋆/ln((n + 2)|I|²) of Proposition 2. Where w stays
/// at w₀, or is half as large, some seeds have another descent.
#[test]
fn temperatures_fall_as_in_proposition_2() {
    let margin = 5e3;
    let cooled = |n: usize| 2.0 * margin / ((n + 2) as f64 * (SCENARIOS * SCENARIOS) as f64).ln();
    let (start, mut others) = ([100.0, 250.0], [0; 2]);
    for seed in 1..=60 {
        let file = definition(seed);
        let (data, problem) = (Data::of(&file), Problem::new(&file).unwrap());
        let options = json!({
            "acceptance": "barker", "temperature": "adaptive", "margin": margin,
            "start": {"capacity_1": start[0], "capacity_2": start[1]},
        });
        let outcome = solve(&problem, &settings(options, ITERATIONS, seed)).unwrap();
        let hand = by_hand(&data, start, &cooled, true, seed).linear[ITERATIONS - 1];
        assert_near(decision(&outcome), hand, &format!("seed {seed}"));
        for (count, other) in
            others.iter_mut().zip([&|_| cooled(0), &|n| 0.5 * cooled(n)] as [&dyn Fn(usize) -> f64; 2])
        {
            let other = by_hand(&data, start, other, true, seed).linear[ITERATIONS - 1];
            *count += u32::from((other[0] - hand[0]).abs() > 1e-6);
        }
    }
    assert!(others.iter().all(|count| *count > 1), "{others:?}");
}

/// F̲_n is the optimum over the scenarios that the chain has visited, and the run ends where F̄_n is within the gap.
#[test]
fn the_stop_by_bounds_is_that_by_hand() {
    let (mut early, mut late) = (0, 0);
    for seed in 1..=12 {
        let file = definition(seed);
        let (data, problem) = (Data::of(&file), Problem::new(&file).unwrap());
        let (w, gap, margin) = (100.0, 0.02, 40.0 * (seed % 4) as f64 + 1.0);
        let start = [200.0, 200.0];
        let options = json!({
            "stop": "bounds", "margin": margin, "temperature": w, "start": {"capacity_1": 200, "capacity_2": 200},
        });
        let outcome = solve(&problem, &Settings { gap, ..settings(options, ITERATIONS, seed) }).unwrap();
        let hand = by_hand(&data, start, &|_| w, false, seed);
        // The bounds are computed at the tenth iteration for the first time.
        let mut visited = file.clone();
        let SetDefinition::Scenarios { points, .. } = &mut visited.uncertainty.set else { panic!("not a list") };
        let (mut seen, mut flat) = (hand.states.clone(), Vec::new());
        seen.sort_unstable();
        seen.dedup();
        seen.iter().for_each(|&state| flat.extend_from_slice(points.row(state)));
        *points = softsep::definition::ScenarioList::from_flat(SITES, seen.len(), flat).unwrap();
        let exact = Settings { method: "extensive".parse().unwrap(), gap: 1e-9, ..Settings::default() };
        let lower = solve(&Problem::new(&visited).unwrap(), &exact).unwrap().bounds.lower().unwrap();
        let upper = hand.values[ITERATIONS - 1] + margin;
        let is_met = upper - lower <= gap * upper;
        let stop = if is_met { Stop::Stalled } else { Stop::IterationLimit };
        assert_eq!(outcome.stop, stop, "seed {seed}: F̲ = {lower}, F̄ = {upper}");
        (early, late) = (early + u32::from(is_met), late + u32::from(!is_met));
        // The estimate never becomes a bound, and F̲ is one.
        assert_eq!((outcome.bounds.upper(), outcome.bounds.reported_upper()), (None, None), "seed {seed}");
        assert!(outcome.bounds.lower().unwrap() >= lower - 1e-6 * lower, "seed {seed}: {outcome:?}");
        if is_met {
            assert!((outcome.bounds.lower().unwrap() - lower).abs() <= 1e-6 * lower, "seed {seed}: {outcome:?}");
        }
        let optimum = solve(&problem, &exact).unwrap().bounds.upper().unwrap();
        assert!(outcome.bounds.lower().unwrap() <= optimum * (1.0 + 1e-9), "seed {seed}");
    }
    assert!(early > 1 && late > 1, "{early} runs ended early, {late} did not");
}

/// The preset is where other options start from, and is refused where it makes no sense.
#[test]
fn the_preset_is_where_other_options_start_from() {
    let parse = |options: Value| MethodSettings::parse("sgd", options.as_object().unwrap());
    assert_eq!(parse(json!({"preset": "paper"})).unwrap(), SgdSettings::paper().into());
    let written = json!({
        "steps": "sqrt", "step": 1.0, "preconditioner": "data", "dual": "least-norm", "stop": "iterations",
        "proposal": "uniform", "temperature": 0.001, "kappa": 10.0, "share": 0.0,
    });
    assert_eq!(Value::Object(MethodSettings::from(SgdSettings::paper()).options()), written);
    assert_eq!(parse(written).unwrap(), SgdSettings::paper().into());
    let other = parse(json!({"preset": "paper", "proposal": "adaptive", "kappa": 5, "temperature": 0.1})).unwrap();
    let mut wanted = MethodSettings::from(SgdSettings::paper()).options();
    for (name, value) in [("proposal", json!("adaptive")), ("kappa", json!(5.0)), ("temperature", json!(0.1))] {
        wanted.insert(name.into(), value);
    }
    assert_eq!(Value::Object(other.options()), Value::Object(wanted));
    let refused = parse(json!({"preset": "papers"})).unwrap_err().to_string();
    assert!(refused.contains("\"papers\" is no preset; paper is"), "{refused}");
    // Steps toward a level have a metric and an end of their own.
    let problem = Problem::new(&definition(1)).unwrap();
    for options in [json!({"stop": "bounds"}), json!({"preconditioner": "data"})] {
        let settings = Settings { method: parse(options).unwrap(), ..Settings::default() };
        let refused = solve(&problem, &settings).unwrap_err().to_string();
        assert!(refused.contains("are for --steps sqrt"), "{refused}");
    }
}

/// All iterations are made, however close the estimate is to the bound; the decision is certified at the end where
/// that is cheap.
#[test]
fn all_iterations_are_made_and_the_average_is_certified_at_the_end() {
    let problem = Problem::new(&definition(2)).unwrap();
    let free = Settings { certify: Certify::Free, gap: 0.5, ..settings(json!({}), 400, 1) };
    let none = Settings { certify: Certify::None, ..free.clone() };
    let [free, none] = [free, none].map(|settings| solve(&problem, &settings).unwrap());
    assert_eq!((free.iterations, none.iterations), (400, 400));
    assert_eq!(decision(&free), decision(&none), "a proof moves no decision");
    let (upper, value) = (free.bounds.upper().unwrap(), free.bounds.best().unwrap().value);
    assert!((upper - value).abs() <= 1e-9 * upper, "a scan knows the worst case");
    assert!(none.bounds.upper().is_none() && none.bounds.best().unwrap().value <= upper * (1.0 + 1e-9));
}
