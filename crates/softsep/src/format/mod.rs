//! The files: `aro/1` problems, scenario CSVs, `aro-result/1` results and `softsep-policy/1` policies.

mod fields;
mod json;
mod parser;
mod policy;
mod reader;
mod result;
mod scenarios;
mod set_reader;
mod writer;

pub use policy::{PolicyFile, VariablePolicy};
pub use reader::{load, load_text};
pub use result::{
    CertificateFile, InfeasibleFile, NamedValues, ResultFile, ResultFormat, WorstCaseFile, read_decision,
};
pub use scenarios::{read_scenarios, write_scenarios};
pub use writer::{WriteError, write};
