//! One exact separation at a decision, by each separation that applies: `cargo bench --bench exact -- PROBLEM DECISION
//! [SECONDS [KIND...]]`. DECISION is a result of `softsep solve` or a file of names and values. Each line has the CPU
//! seconds of the call, those of a second call at the same decision, recourse solves, nodes, and how far the bound is
//! above the worst scenario.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::time::Duration;

use softsep::cuts::CutPool;
use softsep::internals::format::read_decision;
use softsep::internals::separation::Exact;
use softsep::run::Clock;
use softsep::separation::{Claim, Query, SeparationKind};

/// The CPU seconds of this process.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<f64> = stat.rsplit(')').next().unwrap().split_whitespace().filter_map(|f| f.parse().ok()).collect();
    // After the state, which is a letter: user and system time are the fields 14 and 15 of all.
    (fields[10] + fields[11]) / 100.0
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [problem, decision, rest @ ..] = &arguments[..] else {
        println!("exact PROBLEM DECISION [SECONDS [KIND...]]");
        return;
    };
    let problem = softsep::read(Path::new(problem)).unwrap();
    let named = read_decision(&std::fs::read_to_string(decision).unwrap()).unwrap();
    let x = problem.decision(&named).unwrap();
    let seconds: f64 = rest.first().map_or(60.0, |seconds| seconds.parse().unwrap());
    let kinds: Vec<&str> = match rest.get(1..) {
        Some(kinds @ [_, ..]) => kinds.iter().map(String::as_str).collect(),
        _ => vec!["scan", "split", "bilinear"],
    };
    for kind in kinds {
        let named: SeparationKind = kind.parse().unwrap();
        let exact = match Exact::of_kind(&named, &problem) {
            Ok(exact) => exact,
            Err(reason) => {
                println!("{kind:>9}: {reason}");
                continue;
            }
        };
        let mut separation = exact.build(&problem).unwrap();
        let mut seconds_of = Vec::new();
        let mut said = String::new();
        for _ in 0..2 {
            let clock = Clock::new(Some(Duration::from_secs_f64(seconds)), Default::default());
            let query = Query::maximum(&x, &clock);
            let start = cpu();
            // The gap of a run is 1e-3: its proof may take up most of that.
            let found = separation.separate(&query.with_bound(0.0), &mut CutPool::new(&problem));
            seconds_of.push(format!("{:7.2}", cpu() - start));
            said = match found {
                Ok(found) => {
                    let above = match found.claim {
                        Claim::Surely(claim) => format!("{:.2e}", (claim - found.value) / found.value.abs()),
                        _ => "no bound".into(),
                    };
                    format!("{:>8} solves {:>6} nodes, {:.8e} + {above}", found.solves, found.nodes, found.value)
                }
                Err(error) => error.to_string(),
            };
        }
        println!("{kind:>9}: {} s, {said}", seconds_of.join(" "));
    }
}
