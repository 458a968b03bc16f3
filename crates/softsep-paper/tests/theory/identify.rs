//! Identification bounds against the exact laws of small chains that follow moving incumbents, and against simulated
//! ones.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Row, ScenarioList, Variable};
use softsep::internals::chain::{Acceptance, Chain, TransitionKernel};
use softsep::internals::proposal::Uniform;
use softsep::internals::theory::*;
use softsep::recourse::engine;
use softsep::run::Clock;
use softsep::uncertainty::SetDefinition;
use softsep::{Problem, ProblemDefinition};
use softsep_paper::theory::*;

use super::{RULES, Scores, point, uniform};

/// Which states are worst, and by how much they are ahead of the others.
fn worst(values: &[f64]) -> (Vec<bool>, f64) {
    let most = values.iter().copied().fold(f64::MIN, f64::max);
    let best: Vec<bool> = values.iter().map(|value| *value == most).collect();
    let second = values.iter().zip(&best).filter(|(_, best)| !**best).map(|(value, _)| *value).fold(f64::MIN, f64::max);
    (best, most - second)
}

fn outside(law: &[f64], inside: &[bool]) -> f64 {
    law.iter().zip(inside).filter(|(_, inside)| !**inside).map(|(share, _)| share).sum()
}

/// A chain on scores that are off by up to ε, which follows incumbents that hop by at most `movement`.
struct Study {
    values: Scores,
    noise: Vec<f64>,
    error: f64,
    path: Vec<[f64; 2]>,
    temperature: f64,
    rule: Acceptance,
    states: usize,
}

impl Study {
    fn random(rng: &mut ChaCha8Rng, movement: Movement, steps: u64, error: f64, temperature: f64) -> Self {
        let states = rng.random_range(2..=5);
        let values = Scores::random(rng, states, 4.0);
        let noise = (0..states).map(|_| error * rng.random_range(-1.0..1.0)).collect();
        let mut path = vec![point(rng)];
        for n in 1..=steps {
            let [a, b] = *path.last().unwrap();
            let (angle, length) = (rng.random::<f64>() * std::f64::consts::TAU, movement.at(n) * rng.random::<f64>());
            path.push([a + length * angle.cos(), b + length * angle.sin()]);
        }
        Self { values, noise, error, path, temperature, rule: RULES[usize::from(rng.random::<bool>())], states }
    }

    fn kernel(&self, x: [f64; 2]) -> Transitions {
        let scores: Vec<f64> = self.values.at(x).iter().zip(&self.noise).map(|(value, noise)| value + noise).collect();
        Transitions::new(&scores, &uniform(self.states), self.rule, self.temperature).unwrap()
    }

    /// The exact mixing and gap along the path: all that the theorems use of their bounds over X.
    fn along(&self) -> (Mixing, f64) {
        let mixing = self.path.iter().map(|&x| self.kernel(x).dobrushin()).fold(0.0, f64::max);
        let gap = self.path.iter().map(|&x| worst(&self.values.at(x)).1).fold(f64::INFINITY, f64::min);
        (Mixing::new(1.0 - mixing), gap)
    }

    fn finite(&self) -> Finite {
        let (mixing, gap) = self.along();
        let (states, score_error, temperature) = (self.states as f64, self.error, self.temperature);
        Finite { states, gap, score_error, lipschitz: 1.0, mixing, temperature }
    }
}

#[test]
fn finite_chains_miss_no_more_than_theorem_3_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut said, mut settled, mut changes) = (0, 0, 0);
    for round in 0..600 {
        let movement = Movement { size: rng.random_range(0.1..4.0), power: rng.random_range(0.7..1.5) };
        let error = if round % 2 == 0 { 0.0 } else { 0.02 };
        let temperature = rng.random_range(0.05..0.4);
        let study = Study::random(&mut rng, movement, 60, error, temperature);
        let finite = study.finite();
        let mut law = vec![0.0; study.states];
        law[rng.random_range(0..study.states)] = 1.0;
        let mut next = law.clone();
        let mut start = 1.0;
        let mut before = Vec::new();
        for n in 1..=60_u64 {
            let x = study.path[n as usize - 1];
            study.kernel(x).step(&law, &mut next);
            std::mem::swap(&mut law, &mut next);
            let (best, _) = worst(&study.values.at(x));
            let missed = outside(&law, &best);
            changes += u32::from(n > 1 && best != before);
            if n == 1 {
                start = missed;
            } else {
                for (form, counts) in
                    [(finite.tracked(n, start, movement), &mut said), (finite.settled(n, movement), &mut settled)]
                {
                    assert!(missed <= form.bound() + 1e-12, "round {round}, n = {n}: {missed} above {form:?}");
                    *counts += u32::from(form.informative().is_some());
                }
                assert!(finite.miss_probability(n, movement).bound() <= finite.tracked(n, 1.0, movement).bound());
            }
            before = best;
        }
        // The proof's first case: one transition leaves a worst scenario with probability at most the leak. The second,
        // on which certification rests: one transition finds a worst scenario with probability 1 − ρ at least.
        let certification = Adaptive { finite, threshold: 1.0, power: 1.0 }.certification(0.05);
        for &x in &study.path {
            let (best, _) = worst(&study.values.at(x));
            let kernel = study.kernel(x);
            for state in 0..study.states {
                let bound = if best[state] { finite.leak() } else { certification.miss().bound() };
                assert!(outside(kernel.row(state), &best) <= bound + 1e-12);
            }
        }
    }
    // The study is not idle: bounds below 1 were checked, and worst scenarios did change.
    assert!(said > 2000 && settled > 2000 && changes > 100, "{said} {settled} {changes}");
}

#[test]
fn chains_miss_no_more_than_theorem_2_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mut said = 0;
    for round in 0..200 {
        let movement = Movement { size: rng.random_range(0.05..1.0), power: rng.random_range(0.8..1.2) };
        let error = if round % 2 == 0 { 0.0 } else { 0.02 };
        let temperature = rng.random_range(0.08..0.3);
        let study = Study::random(&mut rng, movement, 400, error, temperature);
        let (mixing, _) = study.along();
        let slack = rng.random_range(0.5..3.0);
        let general = General {
            slack,
            score_error: error,
            lipschitz: 1.0,
            kernel: kernel_variation(study.rule, 1.0, study.temperature),
            mixing,
            movement,
            ratio: finite_ratio(study.states as f64),
            temperature: study.temperature,
        };
        let mut law = vec![1.0 / study.states as f64; study.states];
        let mut next = law.clone();
        for n in 1..=400_u64 {
            let x = study.path[n as usize - 1];
            study.kernel(x).step(&law, &mut next);
            std::mem::swap(&mut law, &mut next);
            let values = study.values.at(x);
            let most = values.iter().copied().fold(f64::MIN, f64::max);
            let near: Vec<bool> = values.iter().map(|value| *value >= most - slack).collect();
            let missed = outside(&law, &near);
            if let Some(bound) = general.miss_probability(n) {
                assert!(missed <= bound.bound() + 1e-12, "round {round}, n = {n}: {missed} above {bound:?}");
                said += u32::from(bound.informative().is_some());
                assert!(general.window(n).is_some_and(|window| window >= 1 && 2 * window < n));
            }
        }
    }
    assert!(said > 1000, "{said}");
}

/// The lemma of the proof of Theorem 2, for every state at the window's start: the law of the chain over the window is
/// near the soft law at the incumbent where the window begins. And its inclusions: states that score within
/// (Δ̃ − 2ε)/2 of the best there score within Δ̃ − 2ε at the last incumbent, and these cost within Δ̃ of the worst.
#[test]
fn laws_follow_their_targets_over_the_window_of_theorem_2() {
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    let (mut checked, mut tight, mut included) = (0, 0.0_f64, 0);
    for round in 0..100 {
        let movement = Movement { size: rng.random_range(0.05..1.0), power: rng.random_range(0.8..1.2) };
        let error = if round % 2 == 0 { 0.0 } else { 0.02 };
        let temperature = rng.random_range(0.2..0.6);
        let study = Study::random(&mut rng, movement, 300, error, temperature);
        let (mixing, _) = study.along();
        let (slack, kernel) = (rng.random_range(0.3..2.0), kernel_variation(study.rule, 1.0, temperature));
        let ratio = finite_ratio(study.states as f64);
        let general =
            General { slack, score_error: error, lipschitz: 1.0, kernel, mixing, movement, ratio, temperature };
        for n in [20, 60, 150, 300_u64] {
            let Some(window) = general.window(n) else { continue };
            let first = (n - window) as usize;
            let target = study.kernel(study.path[first]);
            let moved = 2.0_f64.powf(movement.power) * window as f64 * movement.at(n);
            let bound = mixing.contraction_after(window as f64) + kernel * moved / mixing.gamma();
            for start in 0..study.states {
                let mut law = vec![0.0; study.states];
                law[start] = 1.0;
                let mut next = law.clone();
                for k in first..n as usize {
                    study.kernel(study.path[k]).step(&law, &mut next);
                    std::mem::swap(&mut law, &mut next);
                }
                let apart = 0.5 * law.iter().zip(target.law()).map(|(a, b)| (a - b).abs()).sum::<f64>();
                assert!(apart <= bound + 1e-12, "round {round}, n = {n}: {apart} above {bound}");
                (checked, tight) = (checked + 1, tight.max(apart / bound));
            }
            let (before, after) = (study.path[first], study.path[n as usize - 1]);
            let scores = |x| -> Vec<f64> { study.values.at(x).iter().zip(&study.noise).map(|(q, e)| q + e).collect() };
            let within = |values: &[f64], slack: f64| -> Vec<bool> {
                let most = values.iter().copied().fold(f64::MIN, f64::max);
                values.iter().map(|value| *value >= most - slack - 1e-12).collect()
            };
            let near = within(&scores(before), 0.5 * (slack - 2.0 * error));
            let later = within(&scores(after), slack - 2.0 * error);
            let adversarial = within(&study.values.at(after), slack);
            for state in 0..study.states {
                assert!(!near[state] || later[state], "round {round}, n = {n}");
                assert!(!later[state] || adversarial[state], "round {round}, n = {n}");
                included += u32::from(near[state] && !near.iter().all(|near| *near));
            }
        }
    }
    assert!(checked > 200 && tight > 0.005 && included > 50, "{checked} {tight} {included}");
}

/// Where one transition forgets everything the formula for the window gives zero steps, from which nothing follows; one
/// step is right.
#[test]
fn windows_look_back_one_step_at_least() {
    let movement = Movement { size: 0.1, power: 1.0 };
    let (slack, temperature) = (2.0, 0.05);
    let mixing = Mixing::new(1.0);
    let general =
        General { slack, score_error: 0.0, lipschitz: 1.0, kernel: 1.0, mixing, movement, ratio: 3.0, temperature };
    assert_eq!((general.window(2), general.window(3)), (None, Some(1)));
    assert!(general.miss_probability(10).and_then(Chance::informative).is_some_and(|bound| bound < 0.1));
    // Not yet: the window does not fit, or the incumbents move too far in it; never: nothing mixes, or the slack is
    // within the error.
    let slow = General { mixing: Mixing::new(1e-3), ..general };
    assert_eq!((slow.window(1000), slow.window(100_000).is_some()), (None, true));
    assert_eq!(General { movement: Movement { size: 10.0, power: 1.0 }, ..general }.miss_probability(3), None);
    assert_eq!(General { mixing: Mixing::new(0.0), ..general }.miss_probability(1 << 40), None);
    assert_eq!(General { score_error: 1.0, ..general }.miss_probability(1 << 40), None);
}

#[test]
fn adaptive_chains_miss_no_more_than_corollary_1_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let (mut said, mut jumps) = (0, 0);
    for round in 0..300 {
        let movement = Movement { size: rng.random_range(0.1..2.0), power: rng.random_range(0.7..1.3) };
        let error = if round % 2 == 0 { 0.0 } else { 0.02 };
        let temperature = rng.random_range(0.05..0.4);
        let mut study = Study::random(&mut rng, movement, 40, error, temperature);
        // Now and then the incumbent jumps to somewhere else.
        for k in 1..study.path.len() {
            if rng.random::<f64>() < 0.3 {
                study.path[k] = point(&mut rng);
            }
        }
        let adaptive = Adaptive { finite: study.finite(), threshold: movement.size, power: movement.power };
        if adaptive.finite.change_rate().is_none() {
            assert_eq!(adaptive.miss_probability(5), Chance::VACUOUS);
            continue;
        }
        let mut law = vec![1.0 / study.states as f64; study.states];
        let mut next = law.clone();
        for calls in 1..=40_u64 {
            let (x, kappa) = (study.path[calls as usize - 1], calls - 1);
            let stayed = kappa == 0
                || super::distance(x, study.path[kappa as usize - 1])
                    <= movement.size * (kappa as f64).powf(-movement.power);
            let transitions = if stayed { 1 } else { adaptive.transitions(kappa).unwrap() };
            jumps += u32::from(!stayed);
            let kernel = study.kernel(x);
            for _ in 0..transitions {
                kernel.step(&law, &mut next);
                std::mem::swap(&mut law, &mut next);
            }
            let missed = outside(&law, &worst(&study.values.at(x)).0);
            let (sum, closed) = (adaptive.miss_probability(calls), adaptive.miss_probability_closed(calls));
            assert!(missed <= sum.bound() + 1e-12, "round {round}, κ = {calls}: {missed} above {sum:?}");
            assert!(
                sum.bound() <= closed.bound() * (1.0 + 1e-12),
                "round {round}, κ = {calls}: {sum:?} above {closed:?}"
            );
            said += u32::from(sum.informative().is_some());
        }
    }
    assert!(said > 1000 && jumps > 1000, "{said} {jumps}");
}

#[test]
fn certification_counts_its_calls() {
    let states = 20.0;
    let mixing = uniform_by_peak(Acceptance::Metropolis, f64::ln(states));
    let finite = |temperature| Finite { states, gap: 1.0, score_error: 0.1, lipschitz: 2.0, mixing, temperature };
    let adaptive = |temperature| Adaptive { finite: finite(temperature), threshold: 0.5, power: 1.0 };
    let certification = |temperature| adaptive(temperature).certification(0.01);
    let cold = certification(1.0).temperature().unwrap();
    let miss = certification(cold).miss().bound();
    assert!((miss - 0.5 * (1.0 + mixing.dobrushin())).abs() < 1e-12, "{miss}");
    assert!(certification(1.5 * cold).miss().bound() > miss && certification(0.5 * cold).miss().bound() < miss);
    for (label, calls) in [(1, 1), (3, 10), (50, 1000)] {
        let certification = certification(0.8 * cold);
        let (r, rho) = (certification.excess(label, calls), certification.miss().bound());
        let more = certification.calls(label, calls).unwrap() as f64;
        assert!(rho.powf(more) * r <= 1.0 + 1e-9 && (more == 0.0 || rho.powf(more - 1.0) * r > 1.0), "{more} calls");
    }
    // Steps until missing is unlikely enough: so many, and not two fewer.
    for chance in [0.5, 0.05] {
        let (finite, still) = (finite(0.5 * cold), Movement { size: 0.0, power: 1.0 });
        let steps = finite.steps_until(chance).unwrap();
        assert!(
            finite.miss_probability(steps, still).bound() <= chance + 1e-12
                && finite.miss_probability(steps - 2, still).bound() > chance
        );
    }
    assert_eq!(finite(10.0).steps_until(0.5), None);
    // Too warm: nothing is ever certified. A gap within the scores' error: nothing is known at all.
    assert_eq!(certification(10.0).calls(1, 1), None);
    let blurred = Adaptive { finite: Finite { score_error: 0.25, ..finite(cold) }, ..adaptive(cold) };
    assert_eq!((blurred.transitions(3), blurred.miss_probability(3).informative()), (None, None));
    // What depends on γ = e^(−Δ/w) cannot be met at any temperature.
    for temperature in [1.0, 0.1, 0.01] {
        let mixing = uniform_by_spread(Acceptance::Metropolis, 1.0, temperature);
        let finite = Finite { mixing, score_error: 0.0, ..finite(temperature) };
        let certification = Adaptive { finite, ..adaptive(temperature) }.certification(0.01);
        assert!(certification.temperature().unwrap() < temperature);
    }
    // A chain that forgets everything at once needs one transition; scores that do not move need no more either.
    let at_once = Adaptive { finite: Finite { mixing: Mixing::new(1.0), ..finite(cold) }, ..adaptive(cold) };
    assert_eq!(at_once.transitions(100), Some(1));
    assert!(
        at_once.miss_probability_closed(2).bound() >= at_once.miss_probability(2).bound()
            && at_once.miss_probability(2).bound() < 1.0
    );
    let still = Adaptive { finite: Finite { lipschitz: 0.0, ..finite(cold) }, ..adaptive(cold) };
    assert_eq!(still.transitions(100), Some(1));
    let frozen = Adaptive { finite: Finite { mixing: Mixing::new(0.0), ..finite(cold) }, ..adaptive(cold) };
    assert_eq!((frozen.transitions(100), frozen.miss_probability(100).informative()), (None, None));
}

/// Q(x, ξ) = |ξ − x|: ξ = ±2 is worst wherever |x| ≥ ½, by a gap of 1 at least; four others stay behind.
const LIST: [f64; 6] = [2.0, -2.0, 0.9, -0.9, 0.3, 0.0];

fn line() -> Problem {
    let mut file = ProblemDefinition::default();
    file.first_stage.variables.push(Variable::new("x", 0.0).bounded(-1.0, 1.0));
    file.uncertainty.parameters.push("xi".into());
    file.uncertainty.set = SetDefinition::scenarios(ScenarioList::from_flat(1, LIST.len(), LIST.to_vec()).unwrap());
    file.recourse.variables.push(Variable::new("y", 1.0));
    for (name, sign) in [("above", 1.0), ("below", -1.0)] {
        let mut row = Row::new(name);
        row.y = vec![("y".into(), 1.0)];
        row.x = vec![("x".into(), sign)];
        row.xi = vec![("xi".into(), -sign)];
        row.lower = 0.0;
        file.recourse.constraints.push(row);
    }
    Problem::new(&file).unwrap()
}

/// Hoeffding: the mean of 1,000 runs is further off than this with probability 1e-6.
const RUNS: u32 = 1000;

fn margin() -> f64 {
    (1e6_f64.ln() / (2.0 * f64::from(RUNS))).sqrt()
}

/// Real chains whose incumbents flee: whenever they may, they go where the state is not the worst. How often `I_n` is
/// missed, for n = 1, 2, ….
fn flee(rule: Acceptance, temperature: f64, movement: Movement, steps: u64, adversarial: bool) -> Vec<f64> {
    let problem = line();
    let states = problem.set.states(&Default::default()).unwrap();
    let mut recourse = engine(&problem, &Clock::unlimited()).unwrap();
    let kernel = TransitionKernel { states: &*states, proposal: &Uniform, acceptance: rule, temperature };
    let mut missed = vec![0.0; steps as usize];
    for run in 0..RUNS {
        let mut chain = Chain::new(&problem, &*states, 21, run);
        let mut x = 0.75;
        for n in 1..=steps {
            recourse.at(&[x]);
            chain.step(&kernel, &mut *recourse).unwrap();
            let xi = chain.current().xi[0];
            missed[n as usize - 1] += f64::from(u8::from(xi != -2.0 * f64::signum(x))) / f64::from(RUNS);
            let away = if adversarial { xi * x < 0.0 } else { n % 3 == 0 };
            // From 0.75 on one side to 0.75 on the other.
            if away && movement.at(n) >= 1.5 {
                x = -x;
                chain.incumbent_moved();
            }
        }
    }
    missed
}

#[test]
fn simulated_chains_miss_no_more_than_theorem_3_says() {
    let movement = Movement { size: 12.0, power: 1.0 };
    for rule in RULES {
        let temperature = 0.25;
        let mixing = uniform_by_peak(rule, f64::ln(6.0));
        // At |x| = 0.75 the gap is 1.1, to ξ = ∓0.9.
        let finite = Finite { states: 6.0, gap: 1.1, score_error: 0.0, lipschitz: 1.0, mixing, temperature };
        let missed = flee(rule, temperature, movement, 60, true);
        let mut said = 0;
        for (n, missed) in (2..=60).zip(&missed[1..]) {
            if let Some(bound) = finite.miss_probability(n, movement).informative() {
                said += 1;
                assert!(*missed <= bound + margin(), "n = {n}: {missed} above {bound}");
            }
        }
        assert!(said >= 20, "{said}");
        // Incumbents that flee make a difference while they may.
        assert!(missed[5] > missed[59]);
    }
}

/// The same chains with incumbents that move by the clock: simulated and exact laws agree.
#[test]
fn simulated_chains_have_the_exact_law() {
    let movement = Movement { size: 12.0, power: 1.0 };
    for rule in RULES {
        let temperature = 0.4;
        let simulated = flee(rule, temperature, movement, 20, false);
        let mut law = vec![1.0 / 6.0; 6];
        let mut next = law.clone();
        let mut x = 0.75_f64;
        for (n, simulated) in (1..=20).zip(&simulated) {
            let scores: Vec<f64> = LIST.iter().map(|xi| (xi - x).abs()).collect();
            Transitions::new(&scores, &uniform(6), rule, temperature).unwrap().step(&law, &mut next);
            std::mem::swap(&mut law, &mut next);
            let exact = outside(&law, &worst(&scores).0);
            assert!((simulated - exact).abs() <= margin(), "n = {n}: {simulated} is not {exact}");
            if n % 3 == 0 && movement.at(n) >= 1.5 {
                x = -x;
            }
        }
    }
}
