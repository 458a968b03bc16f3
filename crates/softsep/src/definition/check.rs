//! The checker of names, numbers, terms and bounds that the stages and the polyhedral sets share.

use std::collections::HashMap;

use super::{Complaints, Terms, Variable, VariableKind, item, nearest, taken_for_infinite, too_large, too_small};

/// Coefficients of one row that are further apart than this factor: the small ones are below the rounding errors of the
/// large ones.
const SPAN: f64 = 1e18;

/// Names compared in the search for suggestions, for one list; to compare each of very many wrong names with each of
/// very many right ones would take hours.
const COMPARISONS: usize = 50_000;

/// The owner of the rows that are checked. It decides the wording of complaints: rows of a stage have terms of several
/// kinds, so a complaint names the kind; rows of a set have terms in ξ only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowOwner {
    /// The first stage or the recourse.
    Stage,
    /// A polyhedral set.
    Set,
}

/// The checks of one problem or of one set.
pub(crate) struct DefinitionCheck<'c> {
    pub(crate) complaints: &'c mut Complaints,
    /// Whether the reader has complained already. Data that it could not read are NaN, an empty name or an empty list,
    /// and are passed over.
    pub(crate) after_reader: bool,
    owner: RowOwner,
}

/// The names of a list and their indices.
pub(crate) struct Index<'f> {
    /// The kind of the items of this list, as `a recourse variable`.
    what: &'static str,
    names: Vec<&'f str>,
    index: HashMap<&'f str, usize>,
    /// Whether the list may lack names that the reader could not read, so that an unknown name means nothing.
    has_holes: bool,
    comparisons_left: usize,
    /// The terms that last used each name, to find repeated names without clearing the list.
    used: Vec<usize>,
    uses: usize,
}

impl<'f> Index<'f> {
    /// A list whose names are checked elsewhere, or not known yet.
    pub(crate) fn new(what: &'static str, names: impl IntoIterator<Item = &'f str>) -> Self {
        let mut index = Self::empty(what);
        for name in names {
            index.push(name);
        }
        index
    }

    fn empty(what: &'static str) -> Self {
        Self {
            what,
            names: Vec::new(),
            index: HashMap::new(),
            has_holes: false,
            comparisons_left: COMPARISONS,
            used: Vec::new(),
            uses: 0,
        }
    }

    /// The number of names in the list.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Appends a name and returns the index of an earlier item of the same name. An empty name is never found.
    fn push(&mut self, name: &'f str) -> Option<usize> {
        let i = self.names.len();
        self.names.push(name);
        self.used.push(0);
        if name.is_empty() {
            return None;
        }
        let first = *self.index.entry(name).or_insert(i);
        (first != i).then_some(first)
    }
}

impl<'c> DefinitionCheck<'c> {
    /// Checks of a stage; `after_reader` if the reader has complained already.
    pub(crate) fn of_stages(complaints: &'c mut Complaints, after_reader: bool) -> Self {
        Self { complaints, after_reader, owner: RowOwner::Stage }
    }

    /// Checks of a set, which passes over NaN: the reader or the model complains about it.
    pub(crate) fn of_set(complaints: &'c mut Complaints) -> Self {
        Self { complaints, after_reader: false, owner: RowOwner::Set }
    }

    /// Whether a value is a NaN that the reader or the set reports.
    fn is_poison(&self, value: f64) -> bool {
        value.is_nan() && (self.after_reader || self.owner == RowOwner::Set)
    }

    /// Checks that names are not empty and unique in their list. `list` is its location in the definition.
    pub(crate) fn names<'f>(
        &mut self,
        list: &str,
        what: &'static str,
        names: impl Iterator<Item = &'f str>,
    ) -> Index<'f> {
        let mut index = Index::empty(what);
        names.for_each(|name| self.name(&mut index, list, name));
        index.has_holes |= self.after_reader && index.len() == 0;
        index
    }

    /// Appends a name to `index`, after a check that it is not empty and unique in its list.
    pub(crate) fn name<'f>(&mut self, index: &mut Index<'f>, list: &str, name: &'f str) {
        let i = index.len();
        if let Some(first) = index.push(name) {
            let what = match self.owner {
                RowOwner::Stage => format!("the name is already that of {list}[{first}]"),
                RowOwner::Set => format!("the name is already that of constraints[{first}]; names must differ"),
            };
            self.complaints.add(item(list, i, name), what);
        }
        if name.is_empty() {
            index.has_holes |= self.after_reader;
            // A set passes over empty names as it does over NaN.
            if !self.after_reader && self.owner == RowOwner::Stage {
                self.complaints.add(item(list, i, ""), "the name must not be empty");
            }
        }
    }

    /// The index of a name, or a complaint; `said_by` is the field that has the name, as `"xi"`.
    pub(crate) fn resolve(
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
            let what = index.what;
            self.complaints.add(
                place(),
                match self.owner {
                    RowOwner::Stage => format!("{said_by} names \"{name}\", which is not {what}{meant}"),
                    RowOwner::Set => format!("\"{name}\" is not {what}{meant}"),
                },
            );
        }
        found
    }

    /// Linear terms by index; `key` is the field that holds them.
    pub(crate) fn terms(
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
                let what = match self.owner {
                    RowOwner::Stage => format!("{said_by} names \"{name}\" twice"),
                    RowOwner::Set => format!("\"{name}\" has two terms; add them up"),
                };
                self.complaints.add(place(), what);
                continue;
            }
            index.used[i] = index.uses;
            let coefficient = || match self.owner {
                RowOwner::Stage => format!("the coefficient of \"{name}\" in \"{key}\""),
                RowOwner::Set => format!("the coefficient of \"{name}\""),
            };
            if let Some(why) = self.unfit(*value).or_else(|| too_small(*value)) {
                self.complaints.add(place(), format!("{} {why}", coefficient()));
            }
            resolved.push((i, *value));
        }
        // Rows of a set are checked by the linear programs that build it.
        if self.owner == RowOwner::Stage {
            self.span(index, &resolved, place, key);
        }
        resolved
    }

    /// Coefficients of one row that can be added up in double precision.
    fn span(&mut self, index: &Index, terms: &[(usize, f64)], place: &dyn Fn() -> String, key: &str) {
        // A coefficient that is too small or too large by itself has a complaint already.
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

    /// The reason why a number is not finite or too large to compute with, or `None`.
    fn unfit(&self, value: f64) -> Option<String> {
        if value.is_finite() || self.is_poison(value) {
            return too_large(value);
        }
        Some(match self.owner {
            RowOwner::Stage => format!("is {value}, which is not a finite number"),
            RowOwner::Set => format!("is {value}; it must be finite"),
        })
    }

    /// A number that must be finite, and small enough to compute with.
    pub(crate) fn finite(&mut self, value: f64, place: &dyn Fn() -> String, what: impl Fn() -> String) {
        if let Some(why) = self.unfit(value) {
            self.complaints.add(place(), format!("{} {why}", what()));
        }
    }

    /// A pair of bounds, each of which may be infinite on its own side. False after a complaint, or one of the
    /// reader's.
    fn bounds(&mut self, lower: f64, upper: f64, place: &dyn Fn() -> String) -> bool {
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
                    let what = match self.owner {
                        RowOwner::Stage => format!("\"{key}\" is {value}, which bounds nothing"),
                        RowOwner::Set => "an infinite bound on that side leaves the row no value".to_owned(),
                    };
                    self.complaints.add(place(), what);
                }
            }
        }
        if lower > upper && fine {
            fine = false;
            let what = match self.owner {
                RowOwner::Stage => format!("the bounds cross: \"lower\" {lower} is above \"upper\" {upper}"),
                RowOwner::Set => format!("the lower bound of {lower} is above the upper bound of {upper}"),
            };
            self.complaints.add(place(), what);
        }
        fine
    }

    /// The bounds of a row that is in no cone, at least one of which is finite.
    pub(crate) fn row_bounds(&mut self, lower: f64, upper: f64, place: &dyn Fn() -> String) {
        if self.bounds(lower, upper, place) && lower == f64::NEG_INFINITY && upper == f64::INFINITY {
            let what = match self.owner {
                RowOwner::Stage => "has no finite bound; \"lower\", \"upper\" or both must be given",
                RowOwner::Set => "a row needs at least one finite bound, \"lower\" or \"upper\"",
            };
            self.complaints.add(place(), what);
        }
    }

    /// The numbers of a variable: its cost, and bounds that do not cross and suit its kind.
    pub(crate) fn variable(&mut self, variable: &Variable, place: &dyn Fn() -> String) {
        self.finite(variable.cost, place, || "\"cost\"".to_owned());
        let (lower, upper) = (variable.lower, variable.upper);
        if !self.bounds(lower, upper, place) {
            return;
        }
        match variable.kind {
            // Bounds without an integer between them make the problem infeasible, and no fault.
            VariableKind::Continuous | VariableKind::Integer => {}
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
