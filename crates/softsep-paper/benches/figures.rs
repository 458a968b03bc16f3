//! The settings of the paper's Figures 1 to 3 (Section 5.1): Algorithm 1 as printed on location–transportation with
//! three sites, over lists of scenarios drawn from an ellipsoid's boundary.
//!
//! `cargo bench --bench figures [-- FIGURE…]` runs the figures named (1, 2, 3; all by default). Seed s draws the
//! instance and drives the chain. Gaps are exact: the worst case of the average that would be returned, by a scan of
//! the list, against the optimum. `FIGURES_OPTIONS='{"step": "auto"}'` adds options of `sgd` to all rows: α₀ = 1 is the
//! paper's choice, auto is an α₀ that fits the problem.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/figures/replication.rs"]
mod replication;

use std::time::Instant;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use replication::{Instance, Trajectory, mean, quartiles};

/// Sites, and customers.
const SITES: usize = 3;

/// Replications, as in the paper.
const REPLICATIONS: u64 = 20;

/// Replications for two proposals whose difference 20 replications do not resolve.
const COMPARED: u64 = 100;

/// Numbers of iterations after which the gap is reported; a run ends at the last one.
const MOMENTS: [u64; 3] = [100, 1_000, 10_000];

/// A row of a table: its name, and the options that make it.
type Variant = (String, Map<String, Value>);

/// A figure's number, its setting, its replications, and the function that prints its rows.
type Figure = (&'static str, &'static str, u64, fn());

fn variant(name: impl Into<String>, options: &Value) -> Variant {
    let mut options = options.as_object().cloned().unwrap_or_default();
    if let Ok(more) = std::env::var("FIGURES_OPTIONS") {
        options.extend(serde_json::from_str::<Map<String, Value>>(&more).unwrap());
    }
    (name.into(), options)
}

/// Runs every variant on every instance and prints a row for each variant: gaps in per cent, rebounds and climb.
fn tabulate(scenarios: usize, variants: &[Variant], replications: u64) -> Vec<Vec<Trajectory>> {
    let replicate = |seed: u64| -> Vec<Trajectory> {
        let instance = Instance::draw(SITES, scenarios, seed);
        variants.iter().map(|(_, options)| instance.descend(options, MOMENTS[MOMENTS.len() - 1])).collect()
    };
    let replications: Vec<Vec<Trajectory>> = (1..=replications).into_par_iter().map(replicate).collect();
    for (row, (name, _)) in variants.iter().enumerate() {
        let of_row = |measure: &dyn Fn(&Trajectory) -> f64| {
            replications.iter().map(|of| measure(&of[row])).collect::<Vec<f64>>()
        };
        let gaps = MOMENTS.map(|moment| {
            let [first, median, third] = quartiles(of_row(&|path| 100.0 * path.after(moment)));
            format!("{median:8.4} ({first:.4}–{third:.4})")
        });
        let (rebounds, climb) = (mean(&of_row(&Trajectory::rebounds)).0, mean(&of_row(&Trajectory::climb)).0);
        println!("{name:16} {:>26} {:>26} {:>26} {rebounds:10.2} {climb:10.2}", gaps[0], gaps[1], gaps[2]);
    }
    replications
}

/// Convergence for lists of many lengths.
fn figure_1() {
    for scenarios in [1_000, 5_000, 10_000, 50_000, 100_000] {
        let row = variant(format!("|I| = {scenarios}"), &json!({"proposal": "uniform", "temperature": 0.001}));
        tabulate(scenarios, &[row], REPLICATIONS);
    }
}

/// Sensitivity to w.
fn figure_2() {
    let row = |w: f64| variant(format!("w = {w}"), &json!({"proposal": "uniform", "temperature": w}));
    tabulate(1_000, &[1.0, 5.0, 10.0, 50.0, 100.0].map(row), REPLICATIONS);
}

/// The adaptive proposal beside the uniform one, also instance by instance: gaps differ more from one instance to
/// another than between proposals.
fn figure_3() {
    let variants = [
        variant("uniform", &json!({"proposal": "uniform", "temperature": 0.001})),
        variant("adaptive κ = 10", &json!({"proposal": "adaptive", "temperature": 0.001, "kappa": 10.0})),
        variant("adaptive κ auto", &json!({"proposal": "adaptive", "temperature": 0.001})),
    ];
    let replications = tabulate(1_000, &variants, COMPARED);
    for (row, (name, _)) in variants.iter().enumerate().skip(1) {
        let against = MOMENTS.map(|moment| {
            let factors: Vec<f64> =
                replications.iter().map(|of| of[row].log_gap(moment) - of[0].log_gap(moment)).collect();
            let (mean, error) = mean(&factors);
            format!("{:.3} ({:.3}–{:.3}) after {moment}", mean.exp(), (mean - error).exp(), (mean + error).exp())
        });
        println!("{name}: gap over that of uniform, geometric mean (± standard error): {}", against.join(", "));
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let figures: [Figure; 3] = [
        ("1", "uniform, w = 0.001", REPLICATIONS, figure_1),
        ("2", "uniform, |I| = 1000", REPLICATIONS, figure_2),
        ("3", "w = 0.001, |I| = 1000", COMPARED, figure_3),
    ];
    for (name, setting, replications, figure) in figures {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            let start = Instant::now();
            println!("Figure {name} ({setting}): gap %, median (quartiles) of {replications}");
            println!(
                "{:16} {:>26} {:>26} {:>26} {:>10} {:>10}",
                "", "after 100", "after 1000", "after 10000", "rebounds", "climb"
            );
            figure();
            println!("{:.1?}\n", start.elapsed());
        }
    }
}
