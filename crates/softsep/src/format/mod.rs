//! The files: `aro/1` problems, scenario CSVs, `aro-result/1` results and `softsep-policy/1` rules.

mod complaint;
mod fields;
mod json;
mod limits;
mod parser;
mod points;
mod policy;
mod problem;
mod reader;
mod result;
mod scenarios;
mod set_reader;
mod writer;

pub use complaint::{Complaint, Complaints, ReadError, nearest, one_line};
pub(crate) use fields::item;
pub(crate) use limits::{taken_for_infinite, too_large, too_small};
pub use points::Points;
pub use policy::{PolicyFile, RuleFile};
pub use problem::{
    ConeFile, ConeKind, FirstStageFile, ProblemFile, Quadratic, RecourseFile, Row, SetFile, Sides, Terms,
    UncertaintyFile, Variable, VariableKind,
};
pub use reader::{Loaded, load, load_text};
pub use result::{
    Assumption, AssumptionSource, CertificateFile, CertificateKind, InfeasibleFile, NamedValues, ResultFile,
    ResultFormat, Stage, Status, StopWord, ViolationFile, WorstCaseFile, read_decision,
};
pub use scenarios::{read_scenarios, write_scenarios};
pub use writer::write;
