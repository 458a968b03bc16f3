# `make demo` and `make test` set up what they need themselves, in a fresh clone; everything else builds on the same set-up.
.PHONY: demo test check bench soak setup
SHELL := /bin/bash

demo: setup
	@echo "demo: building softsep (the first build compiles HiGHS, which takes about three minutes)"
	@cargo build --release --package softsep-cli
	@mkdir -p demo
	@echo "demo: generating the paper's location-transportation instance (n = 10, 1,000 scenarios)"
	@target/release/softsep generate location-transportation --n 10 --uncertainty scenarios --scenarios 1000 --seed 1 --out demo/depots.json
	@echo "demo: solving it"
	@target/release/softsep solve demo/depots.json --verbose --out demo/result.json

test: setup
	@echo "test: building softsep and its tests (the first build compiles HiGHS, which takes about three minutes)"
	@cargo test --release --workspace --all-features

# What CI asks for beyond the tests: formatting, lints, documentation.
check: setup
	@cargo fmt --all --check
	@cargo clippy --release --workspace --all-targets --all-features -- -D warnings
	@RUSTDOCFLAGS="-D warnings" cargo doc --release --package softsep-lp --package softsep --package softsep-paper --all-features --no-deps --quiet

bench: setup
	@cargo bench --package softsep --package softsep-paper

# The long random studies: hours on two cores.
soak: setup
	@SOFTSEP_SOAK=1 cargo test --release --workspace --all-features

setup:
	@tools/setup.sh
