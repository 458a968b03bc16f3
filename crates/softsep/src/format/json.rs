//! JSON as a tree with the position of each value.
//!
//! Written by hand because every fault of a problem file is reported: `serde_json` stops at the first fault, silently
//! keeps one of two repeated keys, and refuses `NaN` and `1e999` without saying where they are. Here repeated keys stay
//! in the tree, and a number that is not finite is a value of its own, so that the reader can complain about them and
//! continue. Otherwise strict RFC 8259, in linear time.

use std::borrow::Cow;

use super::parser::Parser;
use crate::definition::Complaint;

/// The position at which a value begins, counted from 1 in lines and characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A value and its position.
#[derive(Debug)]
pub(super) struct Node<'t> {
    pub(super) at: Position,
    pub(super) value: Value<'t>,
}

/// A JSON value.
#[derive(Debug)]
pub(super) enum Value<'t> {
    Null,
    Bool(bool),
    Number(f64),
    /// `1e999`, `NaN`, `Infinity`, `-Infinity` (Python's `json.dump` writes the last three), as written in
    /// the text.
    NotFinite(&'t str),
    Text(Cow<'t, str>),
    List(Vec<Node<'t>>),
    Object(Vec<Member<'t>>),
}

/// A key, its position, and its value.
#[derive(Debug)]
pub(super) struct Member<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) at: Position,
    pub(super) value: Node<'t>,
}

impl Node<'_> {
    /// The kind of the value and its position: `a string (line 7, column 12)`.
    pub(super) fn describe(&self) -> String {
        let kind = match self.value {
            Value::Null => "null",
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::Number(_) | Value::NotFinite(_) => "a number",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        };
        format!("{kind} ({})", self.at)
    }

    /// The string under `key`, if the value is an object and has one.
    pub(super) fn text_at(&self, key: &str) -> Option<&str> {
        let Value::Object(members) = &self.value else { return None };
        members.iter().find(|member| member.key == key).and_then(|member| match &member.value.value {
            Value::Text(text) => Some(text.as_ref()),
            _ => None,
        })
    }
}

/// Parses a whole text. A byte order mark before it is passed over.
pub(super) fn parse(text: &str) -> Result<Node<'_>, Complaint> {
    Parser::new(text.strip_prefix('\u{feff}').unwrap_or(text)).whole()
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        parse(text).map_or_else(|complaint| complaint.to_string(), |node| format!("accepted: {node:?}"))
    }

    #[test]
    fn faults_say_where_they_are_and_what_was_expected() {
        for (text, says) in [
            ("", "line 1, column 1: expected a value, but the file ends here"),
            ("{\n \"ä\": 1,\n}", "line 3, column 1: the last item of the object must not be followed by a comma"),
            (
                "[1 2]",
                "line 1, column 4: expected a comma or the end of the list that begins in line 1, column 1, but found \
                 2",
            ),
            ("{\"ä\" 1}", "line 1, column 6: expected a colon after the key, but found 1"),
            ("[01]", "line 1, column 3: a number must not begin with 0 and a further digit"),
            ("[1.]", "line 1, column 4: expected a digit, but found ]"),
            ("[nan]", "line 1, column 2: expected a value, but found nan; strings have double quotes"),
            ("1 2", "line 1, column 3: expected the end of the file, but found 2"),
            ("// no", "line 1, column 1: expected a value, but found a comment, and JSON has none"),
            ("\"\\ud800\"", "line 1, column 2: \\ud800 is one half of a surrogate pair without the other"),
            ("\"\\u00g0\"", "line 1, column 2: expected four hexadecimal digits after \\u"),
            (
                "\"a\nb\"",
                "line 1, column 3: a string must not hold the bare character U+000A (is the string that begins in \
                 line 1, column 1 closed?)",
            ),
            ("[\"a", "line 1, column 4: the file ends within the string that begins in line 1, column 2"),
        ] {
            assert_eq!(fault(text), says, "{text}");
        }
        assert!(fault(&"[".repeat(1_000_000)).ends_with("nested more than 128 deep"));
    }

    #[test]
    fn values_that_are_not_finite_and_repeated_keys_stay_in_the_tree() {
        let node =
            parse("\u{feff}{\"a\": [NaN, Infinity, -Infinity, 1e999, -0], \"a\": \"\\ud83d\\ude00\\n\\u00e9x\"}");
        let Ok(Node { value: Value::Object(members), .. }) = node else { panic!("{node:?}") };
        assert_eq!(members.iter().map(|member| member.key.as_ref()).collect::<Vec<_>>(), ["a", "a"]);
        let Value::List(items) = &members[0].value.value else { panic!("{members:?}") };
        let written: Vec<_> = items
            .iter()
            .filter_map(|item| if let Value::NotFinite(text) = item.value { Some(text) } else { None })
            .collect();
        assert_eq!(written, ["NaN", "Infinity", "-Infinity", "1e999"]);
        assert!(matches!(items[4].value, Value::Number(zero) if zero == 0.0 && zero.is_sign_negative()));
        assert!(matches!(&members[1].value.value, Value::Text(text) if text == "😀\néx"));
        assert_eq!(members[1].at, Position { line: 1, column: 46 });
    }
}
