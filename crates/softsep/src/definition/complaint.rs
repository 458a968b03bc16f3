//! The faults of a definition: one line each, all of them.

use std::borrow::Cow;
use std::fmt;

/// One fault and its location in the definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The location, as `recourse.constraints[3] "demand"`; empty for the problem or file as such.
    pub place: String,
    /// The fault, and how to correct it.
    pub what: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() { f.write_str(&self.what) } else { write!(f, "{}: {}", self.place, self.what) }
    }
}

/// The faults found so far, in the order of finding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Complaints(Vec<Complaint>);

impl Complaints {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a fault. A fault is one line: control characters, which names may hold, are escaped.
    pub fn add(&mut self, place: impl Into<String>, what: impl Into<String>) {
        let (place, what) = (place.into(), what.into());
        self.0.push(Complaint { place: one_line(&place).into_owned(), what: one_line(&what).into_owned() });
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of faults.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The faults in order.
    pub fn iter(&self) -> impl Iterator<Item = &Complaint> {
        self.0.iter()
    }

    /// Appends the faults of a later check.
    pub fn extend(&mut self, later: Complaints) {
        self.0.extend(later.0);
    }
}

impl From<Complaint> for Complaints {
    fn from(only: Complaint) -> Self {
        let mut complaints = Self::new();
        complaints.add(only.place, only.what);
        complaints
    }
}

/// The text with its control characters escaped: names may hold line breaks, and sequences that a terminal would obey.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let breaks = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    if !text.contains(breaks) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if breaks(character) { line.extend(character.escape_default()) } else { line.push(character) }
    }
    Cow::Owned(line)
}

impl fmt::Display for Complaints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, complaint) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{complaint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Complaints {}

/// The location of an item of a list: `recourse.constraints[3] "demand"`, or without the name where it has none.
pub(crate) fn item(list: &str, index: usize, name: &str) -> String {
    if name.is_empty() { format!("{list}[{index}]") } else { format!("{list}[{index}] \"{name}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(one_line("a\nb\u{1b}[31m\u{2028}ü"), "a\\nb\\u{1b}[31m\\u{2028}ü");
        assert!(matches!(one_line("plain ü"), Cow::Borrowed(_)));
    }
}
