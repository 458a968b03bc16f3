//! What is wrong with a file: one line each, all of them.

use std::borrow::Cow;
use std::fmt;

/// One fault: where it is and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The place, as `recourse.constraints[3] "demand"`; empty for the file as a whole.
    pub place: String,
    /// What is wrong there and what would be right.
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
    /// None yet.
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them.
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

/// A file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The file as the caller named it.
    pub file: String,
    /// What is wrong with it.
    pub complaints: Complaints,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, complaint) in self.complaints.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{}: {complaint}", self.file)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

/// The known name closest to a misspelt one, if it is close enough to be meant: ` (did you mean "…"?)`, or nothing.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let length = wrong.chars().count();
    // A name that shares no letter with the wrong one is not meant, however short both are.
    let is_near = |distance: usize| distance <= 1 + length / 4 && distance < length;
    known
        .into_iter()
        .map(|name| (distance(wrong, name), name))
        .filter(|&(distance, _)| is_near(distance))
        .min_by_key(|&(distance, _)| distance)
        .map_or(String::new(), |(_, name)| format!(" (did you mean \"{name}\"?)"))
}

/// Edits (insert, delete, replace, swap of neighbours) between two names, whatever their case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut this = vec![i + 1];
        for j in 0..b.len() {
            let mut best = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(this[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            this.push(best);
        }
        before = std::mem::replace(&mut last, this);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_when_it_is_near() {
        let known = ["demand", "capacity", "g"];
        assert_eq!(nearest("demnad", known), " (did you mean \"demand\"?)");
        assert_eq!(nearest("gg", known), " (did you mean \"g\"?)");
        assert_eq!(nearest("Capacity", known), " (did you mean \"capacity\"?)");
        assert_eq!(nearest("G", known), " (did you mean \"g\"?)");
        for far in ["emergency", "", "2", "b"] {
            assert_eq!(nearest(far, known), "", "{far}");
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(one_line("a\nb\u{1b}[31m\u{2028}ü"), "a\\nb\\u{1b}[31m\\u{2028}ü");
        assert!(matches!(one_line("plain ü"), Cow::Borrowed(_)));
    }
}
