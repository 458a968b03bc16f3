//! The settings of the paper's Figures 1 to 3 (Section 5.1): Algorithm 1 with steps α₀/√n on location–transportation with three sites, over lists of
//! scenarios drawn from an ellipsoid's boundary.
//!
//! `cargo bench --bench figures [-- FIGURE…]` runs the figures named (1, 2, 3; all by default), 20 replications each: seed s draws the instance and
//! drives the chain. Gaps are exact: the worst case of the average that would be returned, by a scan of the list, against the optimum.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/figures/replication.rs"]
mod replication;

use std::time::Instant;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use replication::{Instance, Trajectory, quartiles};

const REPLICATIONS: u64 = 20;

/// After how many iterations the gap is told; the last is where the run ends.
const MOMENTS: [u64; 3] = [100, 1_000, 10_000];

/// A row of a table: its name, and the options that make it.
type Variant = (String, Map<String, Value>);

fn variant(name: impl Into<String>, options: Value) -> Variant {
    (name.into(), options.as_object().cloned().unwrap_or_default())
}

/// Runs every variant on every instance and prints a row for each variant.
fn tabulate(scenarios: usize, variants: &[Variant]) {
    let replicate = |seed: u64| -> Vec<Trajectory> {
        let instance = Instance::draw(scenarios, seed);
        variants.iter().map(|(_, options)| instance.descend(options, MOMENTS[MOMENTS.len() - 1])).collect()
    };
    let replications: Vec<Vec<Trajectory>> = (1..=REPLICATIONS).into_par_iter().map(replicate).collect();
    for (row, (name, _)) in variants.iter().enumerate() {
        let of_row = || replications.iter().map(|trajectories| &trajectories[row]);
        let gaps = MOMENTS.map(|moment| {
            let [first, median, third] = quartiles(of_row().map(|path| 100.0 * path.after(moment)).collect());
            format!("{median:8.4} ({first:.4}–{third:.4})")
        });
        let rebounds = of_row().map(Trajectory::rebounds).sum::<f64>() / REPLICATIONS as f64;
        println!("{name:16} {:>26} {:>26} {:>26} {rebounds:10.2}", gaps[0], gaps[1], gaps[2]);
    }
}

/// Convergence for lists of many lengths.
fn figure_1(extra: &Map<String, Value>) {
    for scenarios in [1_000, 5_000, 10_000, 50_000, 100_000] {
        let mut row = variant(format!("|I| = {scenarios}"), json!({"proposal": "uniform", "temperature": 0.001}));
        row.1.extend(extra.clone());
        tabulate(scenarios, &[row]);
    }
}

/// Sensitivity to w.
fn figure_2(extra: &Map<String, Value>) {
    let row = |w: f64| {
        let mut row = variant(format!("w = {w}"), json!({"proposal": "uniform", "temperature": w}));
        row.1.extend(extra.clone());
        row
    };
    tabulate(1_000, &[1.0, 5.0, 10.0, 50.0, 100.0].map(row));
}

/// The adaptive proposal beside the uniform one.
fn figure_3(extra: &Map<String, Value>) {
    let row = |(name, mut options): Variant| {
        options.insert("temperature".into(), 0.001.into());
        options.extend(extra.clone());
        (name, options)
    };
    let rows = [
        variant("uniform", json!({"proposal": "uniform"})),
        variant("adaptive κ = 10", json!({"proposal": "adaptive", "kappa": 10.0})),
        variant("adaptive", json!({"proposal": "adaptive"})),
    ];
    tabulate(1_000, &rows.map(row));
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let extra: Map<String, Value> =
        std::env::var("SGD_OPTIONS").map_or_else(|_| Map::new(), |text| serde_json::from_str(&text).unwrap());
    let figures: [(&str, &str, fn(&Map<String, Value>)); 3] = [
        ("1", "uniform, w = 0.001", figure_1),
        ("2", "uniform, |I| = 1000", figure_2),
        ("3", "w = 0.001, |I| = 1000", figure_3),
    ];
    for (name, setting, figure) in figures {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            let start = Instant::now();
            println!("Figure {name} ({setting}): gap %, median (quartiles) of {REPLICATIONS}");
            println!("{:16} {:>26} {:>26} {:>26} {:>10}", "", "after 100", "after 1000", "after 10000", "rebounds");
            figure(&extra);
            println!("{:.1?}\n", start.elapsed());
        }
    }
}
