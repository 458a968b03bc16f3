//! Links OpenBLAS where semidefinite cones are asked for: Clarabel leaves the choice of a LAPACK to us.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_PSD").is_some() {
        println!("cargo:rustc-link-lib=openblas");
    }
}
