//! Reading a CSV of 100,000 × 100 numbers beside the parsing of its digits alone, in the same run.
#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::io::BufWriter;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Complaints, ScenarioList};
use softsep::internals::format::{read_scenarios, write_scenarios};

fn main() {
    let (rows, dim) = (100_000, 100);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let values: Vec<f64> = (0..rows * dim).map(|_| rng.random_range(-1.0..1.0)).collect();
    let points = ScenarioList::from_flat(dim, rows, values).unwrap();
    let parameters: Vec<String> = (0..dim).map(|k| format!("xi_{k}")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenarios.csv");
    write_scenarios(&points, &parameters, &mut BufWriter::new(fs::File::create(&path).unwrap())).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    // The digits alone: every cell already found, nothing but `parse`.
    let cells: Vec<&str> = text.lines().skip(1).flat_map(|line| line.split(',')).collect();

    let (mut reading, mut parsing) = (Duration::MAX, Duration::MAX);
    for _ in 0..5 {
        let start = Instant::now();
        let sum: f64 = cells.iter().map(|cell| cell.parse::<f64>().unwrap()).sum();
        parsing = parsing.min(start.elapsed());
        std::hint::black_box(sum);
        let start = Instant::now();
        let read = read_scenarios(&path, &parameters, "", &mut Complaints::new()).unwrap();
        reading = reading.min(start.elapsed());
        assert_eq!(read, points);
    }
    println!(
        "{} numbers, {} MB: reading {reading:.2?}, parsing the digits alone {parsing:.2?}, ratio {:.2}",
        rows * dim,
        text.len() / 1_000_000,
        reading.as_secs_f64() / parsing.as_secs_f64()
    );
}
