//! Checks of names, numbers, bounds and terms, and the complaints they lead to.

use std::collections::HashMap;

use crate::format::{
    Complaints, Terms, Variable, VariableKind, item, nearest, taken_for_infinite, too_large, too_small,
};

/// Coefficients of one row that are further apart than this factor: the small ones drown in the rounding of the large
/// ones.
const SPAN: f64 = 1e18;

/// Names compared in the search for suggestions, for one list; to compare each of very many wrong names with each of
/// very many right ones would take hours.
const COMPARISONS: usize = 50_000;

/// The checks of one problem.
#[derive(Default)]
pub(super) struct Check {
    pub(super) complaints: Complaints,
    /// Whether the reader has complained already. What it could not read is NaN, an empty name or an empty list, and is
    /// passed over.
    pub(super) after_reader: bool,
}

/// The names of a list and their indices.
pub(super) struct Index<'f> {
    /// What a name of this list is, as `a recourse variable`.
    what: &'static str,
    names: Vec<&'f str>,
    index: HashMap<&'f str, usize>,
    /// Whether the list may lack names that the reader could not read, so that an unknown name means nothing.
    has_holes: bool,
    comparisons_left: usize,
    /// The terms that last used each name, to notice one that is used twice without clearing anything.
    used: Vec<usize>,
    uses: usize,
}

impl Index<'_> {
    /// How many names the list has.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

impl Check {
    /// Whether NaN stands for a number that the reader has complained about.
    fn is_poison(&self, value: f64) -> bool {
        self.after_reader && value.is_nan()
    }

    /// Names are not empty, and none stands twice in its list. `list` is its place in the file.
    pub(super) fn names<'f>(
        &mut self,
        list: &str,
        what: &'static str,
        names: impl Iterator<Item = &'f str>,
    ) -> Index<'f> {
        let names: Vec<&str> = names.collect();
        let count = names.len();
        let mut index: HashMap<&str, usize> = HashMap::with_capacity(count);
        let mut has_holes = self.after_reader && count == 0;
        for (i, &name) in names.iter().enumerate() {
            if name.is_empty() {
                has_holes |= self.after_reader;
                if !self.after_reader {
                    self.complaints.add(item(list, i, ""), "the name must not be empty");
                }
                continue;
            }
            let first = *index.entry(name).or_insert(i);
            if first != i {
                self.complaints.add(item(list, i, name), format!("the name is already that of {list}[{first}]"));
            }
        }
        Index { what, names, index, has_holes, comparisons_left: COMPARISONS, used: vec![0; count], uses: 0 }
    }

    /// The index of a name, or a complaint; `said_by` is what names it, as `"xi"`.
    pub(super) fn resolve(
        &mut self,
        index: &mut Index,
        name: &str,
        place: &dyn Fn() -> String,
        said_by: &str,
    ) -> Option<usize> {
        let found = index.index.get(name).copied();
        if found.is_none() && !index.has_holes && !(self.after_reader && name.is_empty()) {
            let mut meant = String::new();
            if index.comparisons_left > 0 && name.len() < 100 {
                index.comparisons_left = index.comparisons_left.saturating_sub(index.names.len());
                meant = nearest(name, index.names.iter().copied().filter(|known| !known.is_empty()));
            }
            self.complaints.add(place(), format!("{said_by} names \"{name}\", which is not {}{meant}", index.what));
        }
        found
    }

    /// Linear terms by index; `key` is what the file calls them.
    pub(super) fn terms(
        &mut self,
        index: &mut Index,
        terms: &Terms,
        place: &dyn Fn() -> String,
        key: &str,
    ) -> Vec<(usize, f64)> {
        index.uses += 1;
        let said_by = format!("\"{key}\"");
        let mut resolved = Vec::with_capacity(terms.len());
        for (name, value) in terms {
            let Some(i) = self.resolve(index, name, place, &said_by) else { continue };
            if index.used[i] == index.uses {
                self.complaints.add(place(), format!("{said_by} names \"{name}\" twice"));
                continue;
            }
            index.used[i] = index.uses;
            self.finite(*value, place, || format!("the coefficient of \"{name}\" in \"{key}\""));
            if let Some(why) = too_small(*value) {
                self.complaints.add(place(), format!("the coefficient of \"{name}\" in \"{key}\" {why}"));
            }
            resolved.push((i, *value));
        }
        self.span(index, &resolved, place, key);
        resolved
    }

    /// Coefficients of one row that can be added up in double precision.
    fn span(&mut self, index: &Index, terms: &[(usize, f64)], place: &dyn Fn() -> String, key: &str) {
        // What is too small or too large by itself has had its complaint.
        let fits =
            |value: f64| value != 0.0 && value.is_finite() && too_small(value).is_none() && too_large(value).is_none();
        let sizes = || terms.iter().filter(|(_, value)| fits(*value)).map(|&(i, value)| (i, value.abs()));
        let smallest = sizes().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let largest = sizes().max_by(|(_, a), (_, b)| a.total_cmp(b));
        if let (Some((i, smallest)), Some((j, largest))) = (smallest, largest)
            && largest / smallest > SPAN
        {
            let (i, j) = (index.names[i], index.names[j]);
            let what = format!(
                "the coefficients in \"{key}\" reach from {smallest:e} of \"{i}\" to {largest:e} of \"{j}\", and \
                 solvers take no \
                 more than a factor of {SPAN:e}: use units that bring them closer"
            );
            self.complaints.add(place(), what);
        }
    }

    /// A number that must be finite, and small enough to compute with.
    pub(super) fn finite(&mut self, value: f64, place: &dyn Fn() -> String, what: impl Fn() -> String) {
        if !value.is_finite() && !self.is_poison(value) {
            self.complaints.add(place(), format!("{} is {value}, which is not a finite number", what()));
        } else if let Some(why) = too_large(value) {
            self.complaints.add(place(), format!("{} {why}", what()));
        }
    }

    /// A pair of bounds, each of which may be infinite on its own side. False after a complaint, or one of the
    /// reader's.
    pub(super) fn bounds(&mut self, lower: f64, upper: f64, place: &dyn Fn() -> String) -> bool {
        let mut fine = true;
        for (value, key) in [(lower, "lower"), (upper, "upper")] {
            if let Some(why) = taken_for_infinite(value) {
                fine = false;
                self.complaints.add(place(), format!("\"{key}\" {why}"));
            }
        }
        for (value, wrong, key) in [(lower, f64::INFINITY, "lower"), (upper, f64::NEG_INFINITY, "upper")] {
            if value.is_nan() || value == wrong {
                fine = false;
                if !self.is_poison(value) {
                    self.complaints.add(place(), format!("\"{key}\" is {value}, which bounds nothing"));
                }
            }
        }
        if lower > upper && fine {
            fine = false;
            self.complaints.add(place(), format!("the bounds cross: \"lower\" {lower} is above \"upper\" {upper}"));
        }
        fine
    }

    /// The numbers of a variable: its cost, and bounds that leave it a value of its kind.
    pub(super) fn variable(&mut self, variable: &Variable, place: &dyn Fn() -> String) {
        self.finite(variable.cost, place, || "\"cost\"".to_owned());
        let (lower, upper) = (variable.lower, variable.upper);
        if !self.bounds(lower, upper, place) {
            return;
        }
        match variable.kind {
            VariableKind::Continuous => {}
            VariableKind::Integer if lower.ceil() <= upper.floor() => {}
            VariableKind::Integer => {
                self.complaints
                    .add(place(), format!("there is no whole number between \"lower\" {lower} and \"upper\" {upper}"));
            }
            VariableKind::Binary => {
                for (value, key) in [(lower, "lower"), (upper, "upper")] {
                    if value != 0.0 && value != 1.0 {
                        let what = format!(
                            "\"{key}\" is {value}, and a binary variable has bounds 0 and 1 (or is an \"integer\")"
                        );
                        self.complaints.add(place(), what);
                    }
                }
            }
        }
    }
}
