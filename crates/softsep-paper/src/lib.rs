//! Reproduction of the soft-separation paper with the solver `softsep`: the random instances of its Section 5 and of
//! the literature ([`instances`]), its tables and figures ([`experiment`]), and the bounds of its theory that the
//! solver does not need ([`theory`]).
#![forbid(unsafe_code)]

pub mod experiment;
pub mod instances;
pub mod theory;
