//! The `softsep-policy/1` file: a decision, and the recourse as an affine function of ξ, by names.

use super::NamedValues;
use super::writer::{number, object, string, terms};

/// A whole file, its fields in the order of the file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PolicyFile {
    /// The title of the problem.
    pub problem: String,
    /// A bound on the worst-case cost of the decision under the policy: f(x) and the recourse.
    pub upper_bound: f64,
    /// The decision.
    pub x: NamedValues,
    /// The recourse variables and their policies.
    pub recourse: Vec<(String, VariablePolicy)>,
}

/// One recourse variable: `constant + Σ slope·parameter`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VariablePolicy {
    /// Its value where all parameters are zero.
    pub constant: f64,
    /// The parameters that it follows; a slope of zero is left out.
    pub slopes: NamedValues,
}

impl PolicyFile {
    /// The file as JSON text, one recourse variable per line.
    pub fn write(&self) -> String {
        let lines: Vec<String> =
            self.recourse.iter().map(|(name, policy)| format!("    {}: {}", string(name), policy.write())).collect();
        let recourse = if lines.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n  }}", lines.join(",\n")) };
        let whole = [
            ("format", string("softsep-policy/1")),
            ("problem", string(&self.problem)),
            ("upper_bound", number(self.upper_bound)),
            ("x", terms(&self.x.0)),
            ("recourse", recourse),
        ];
        let lines: Vec<String> = whole.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

impl VariablePolicy {
    fn write(&self) -> String {
        object([("constant", number(self.constant)), ("slopes", terms(&self.slopes.0))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_variable_per_line() {
        let policy = |constant, slopes: &[(&str, f64)]| VariablePolicy {
            constant,
            slopes: NamedValues(slopes.iter().map(|&(name, slope)| (name.to_owned(), slope)).collect()),
        };
        let mut file = PolicyFile {
            problem: "a \"depot\"".into(),
            upper_bound: 10240.0,
            x: NamedValues(vec![("open".into(), 1.0), ("capacity".into(), 246.5)]),
            recourse: vec![
                ("ship[1,2]".into(), policy(206.0, &[("demand[2]", 40.0)])),
                ("emergency".into(), policy(0.0, &[])),
            ],
        };
        let expected = r#"{
  "format": "softsep-policy/1",
  "problem": "a \"depot\"",
  "upper_bound": 10240,
  "x": {"open": 1, "capacity": 246.5},
  "recourse": {
    "ship[1,2]": {"constant": 206, "slopes": {"demand[2]": 40}},
    "emergency": {"constant": 0, "slopes": {}}
  }
}
"#;
        assert_eq!(file.write(), expected);
        file.recourse.clear();
        assert!(file.write().ends_with("\"recourse\": {}\n}\n"));
    }
}
