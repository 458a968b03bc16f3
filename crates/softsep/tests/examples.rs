//! The programs in `examples/` run, and find the optima that they assert.
#![allow(clippy::unwrap_used)]

#[path = "../examples/custom.rs"]
mod custom;
#[path = "../examples/depot.rs"]
mod depot;
#[path = "../examples/network_design.rs"]
mod network_design;
#[path = "../examples/newsvendor.rs"]
mod newsvendor;
#[path = "../examples/unit_commitment.rs"]
mod unit_commitment;

#[test]
fn custom_parts() {
    custom::main().unwrap();
}

#[test]
fn depot() {
    depot::main().unwrap();
}

#[test]
fn network_design() {
    network_design::main().unwrap();
}

#[test]
fn newsvendor() {
    newsvendor::main().unwrap();
}

#[test]
fn unit_commitment() {
    unit_commitment::main().unwrap();
}
