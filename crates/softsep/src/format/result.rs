//! The `aro-result/1` result file, and first-stage decisions taken from one.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::fields::{complain_about_repeats, number};
use super::json::{self, Value};
use crate::definition::{Complaint, Complaints};
use crate::outcome::Status;
use crate::run::{Assumption, Certificate, RecourseEvidence, Stage, Stop, ViolationLevel};

/// A whole result, its fields in the order of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultFile {
    /// Always the same.
    pub format: ResultFormat,
    /// The kind of result: an optimum, a decision, a proof that there is none, or nothing.
    pub status: Status,
    /// The reason why the run ended.
    pub stop: Stop,
    /// The reason, where a failure ended the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The best known value of f(x) plus the worst recourse cost of the returned x.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<f64>,
    /// The cost of the returned x at the nominal scenario, where its worst case was never searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal_cost: Option<f64>,
    /// A bound on the optimum from below, if one is known.
    pub lower_bound: Option<f64>,
    /// A bound on the optimum from above, if one is known.
    pub upper_bound: Option<f64>,
    /// `(upper − lower) / max(1e-10, |upper|)`, if both bounds are known.
    pub gap: Option<f64>,
    /// The kind of proof of the bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<CertificateFile>,
    /// The decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<NamedValues>,
    /// Whether every scenario has recourse there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recourse: Option<RecourseEvidence>,
    /// The worst ξ known for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_case: Option<WorstCaseFile>,
    /// The reason why a problem is infeasible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub infeasible: Option<InfeasibleFile>,
    /// The recourse variables of an unbounded ray.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<Vec<String>>,
    /// The method that ran.
    pub method: String,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The number of its iterations.
    pub iterations: u64,
    /// The number of recourse problems solved.
    pub recourse_solves: u64,
    /// The time it took: the only field in which two equal runs differ.
    pub seconds: f64,
    /// The version of the solver.
    pub version: String,
}

/// The format's own name: reading one that is not known fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResultFormat {
    /// `aro-result/1`.
    #[serde(rename = "aro-result/1")]
    AroResult1,
}

/// The kind of proof of the two bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateFile {
    /// Deterministic, probabilistic or none.
    pub kind: Certificate,
    /// A lower bound on the probability that the upper bound holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The constants that this probability rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<Assumption<String>>,
    /// The share of the set that may cost more than the objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<ViolationLevel>,
}

impl CertificateFile {
    /// A certificate without assumptions, confidence or violation level.
    pub fn new(kind: Certificate) -> Self {
        Self { kind, confidence: None, assumes: Vec::new(), violation: None }
    }
}

/// The worst ξ known for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorstCaseFile {
    /// The scenario ξ.
    pub xi: NamedValues,
    /// The recourse cost there.
    pub recourse_cost: f64,
    /// The recourse there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<NamedValues>,
}

/// The stage and the reason of an infeasible problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InfeasibleFile {
    /// The stage without solution.
    pub stage: Stage,
    /// The scenarios without recourse, if the recourse is infeasible. In the file an object where one is enough, and a
    /// list of objects where several are served one by one, but not together.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "one_or_several")]
    pub xi: Vec<NamedValues>,
    /// The rows that contradict one another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// The reason in words.
    pub why: String,
}

/// Values by name, in the order of the problem; a JSON object in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NamedValues(pub Vec<(String, f64)>);

impl NamedValues {
    /// Ties values to their names. A negative zero, as solvers leave it at a bound, becomes zero.
    pub fn new(names: &[String], values: &[f64]) -> Self {
        Self(names.iter().cloned().zip(values.iter().map(|value| value + 0.0)).collect())
    }
}

impl Serialize for NamedValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for NamedValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = NamedValues;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object of names and numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NamedValues, A::Error> {
                let mut values = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    values.push(entry);
                }
                Ok(NamedValues(values))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A list of scenarios, of which a single one stands without the list.
mod one_or_several {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::NamedValues;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrSeveral {
        One(NamedValues),
        Several(Vec<NamedValues>),
    }

    pub(super) fn serialize<S: Serializer>(scenarios: &[NamedValues], serializer: S) -> Result<S::Ok, S::Error> {
        match scenarios {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<NamedValues>, D::Error> {
        Ok(match OneOrSeveral::deserialize(deserializer)? {
            OneOrSeveral::One(one) => vec![one],
            OneOrSeveral::Several(several) => several,
        })
    }
}

impl ResultFile {
    /// A result with the counters of the run only; the caller fills in the fields that apply.
    pub fn new(status: Status, stop: Stop, method: impl Into<String>, seed: u64) -> Self {
        Self {
            format: ResultFormat::AroResult1,
            status,
            stop,
            failure: None,
            objective: None,
            nominal_cost: None,
            lower_bound: None,
            upper_bound: None,
            gap: None,
            certificate: None,
            x: None,
            recourse: None,
            worst_case: None,
            infeasible: None,
            unbounded: None,
            method: method.into(),
            seed,
            iterations: 0,
            recourse_solves: 0,
            seconds: 0.0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Reads a result. These files are written by programs, so the first fault is enough.
    pub fn read(text: &str) -> Result<Self, Complaint> {
        serde_json::from_str(text).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let what = error.to_string();
            // serde_json repeats the position at the end.
            let what = what.rsplit_once(" at line ").map_or(what.clone(), |(what, _)| what.to_owned());
            Complaint { place, what }
        })
    }

    /// The result as JSON text.
    pub fn write(&self) -> String {
        // Serialization into memory fails only for maps whose keys are not strings, and there are none here.
        serde_json::to_string_pretty(self).map_or(String::new(), |text| text + "\n")
    }
}

/// The decision in a text that is a result or a plain object `{"name": value}`: names and values as written.
/// Whether they are those of a problem is checked by [`Problem::decision`](crate::Problem::decision).
pub fn read_decision(text: &str) -> Result<Vec<(String, f64)>, Complaints> {
    let root = json::parse(text)?;
    let whole = |what: &str| Complaints::from(Complaint { place: String::new(), what: what.to_owned() });
    let (node, place) = match (root.text_at("format"), &root.value) {
        (Some("aro-result/1"), Value::Object(members)) => match members.iter().find(|member| member.key == "x") {
            Some(member) => (&member.value, "x"),
            None => return Err(whole("this result holds no decision: \"x\" is missing")),
        },
        (Some(_), _) => {
            return Err(whole("this is neither a result (\"aro-result/1\") nor an object of names and numbers"));
        }
        (None, _) => (&root, ""),
    };
    let Value::Object(members) = &node.value else {
        return Err(Complaint {
            place: place.to_owned(),
            what: format!("must be an object of names and numbers, not {}", node.describe()),
        }
        .into());
    };
    let mut complaints = Complaints::new();
    complain_about_repeats(members, place, "", &mut complaints);
    let decision = members
        .iter()
        .map(|member| {
            (member.key.to_string(), number(&member.value, place, format_args!("\"{}\"", member.key), &mut complaints))
        })
        .collect();
    if complaints.is_empty() { Ok(decision) } else { Err(complaints) }
}

#[cfg(test)]
mod tests {
    use super::NamedValues;

    #[test]
    fn negative_zero_is_written_without_sign() {
        let values = NamedValues::new(&["open".into(), "capacity".into()], &[-0.0, -2.0]);
        assert_eq!(serde_json::to_string(&values).unwrap_or_default(), r#"{"open":0.0,"capacity":-2.0}"#);
    }
}
