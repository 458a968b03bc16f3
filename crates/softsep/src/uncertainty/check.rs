//! Checks that the sets' builders share: each reports every fault that it finds, and returns whether the data can be
//! used.
//!
//! A NaN stands where the reader has already complained about a number; it makes the data unusable and is not
//! complained about again.

use crate::definition::{Complaints, too_large};

/// `1 entry`, `2 entries`.
pub(super) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The number of parameters as a complaint says it.
pub(super) fn declared(parameters: &[String]) -> String {
    plural(parameters.len(), "parameter is declared", "parameters are declared")
}

/// An array with one entry per parameter.
pub(super) fn length(
    values: &[f64],
    key: &str,
    parameters: &[String],
    place: &str,
    complaints: &mut Complaints,
) -> bool {
    let fits = values.len() == parameters.len();
    if !fits {
        let entries = plural(values.len(), "entry", "entries");
        complaints.add(place, format!("\"{key}\" has {entries} where {}", declared(parameters)));
    }
    fits
}

/// Why a number cannot be computed with, or `None`; NaN is passed over.
pub(super) fn unfit(value: f64) -> Option<String> {
    if value.is_infinite() { Some(format!("is {value}; it must be finite")) } else { too_large(value) }
}

/// An array with one entry per parameter, all of them numbers to compute with.
pub(super) fn finite(
    values: &[f64],
    key: &str,
    parameters: &[String],
    place: &str,
    complaints: &mut Complaints,
) -> bool {
    let mut usable = length(values, key, parameters, place, complaints);
    for (index, &value) in values.iter().enumerate() {
        usable &= !value.is_nan();
        if let Some(why) = unfit(value) {
            usable = false;
            let whose = parameters.get(index).map_or_else(|| format!("[{index}]"), |name| format!(" of \"{name}\""));
            complaints.add(place, format!("\"{key}\"{whose} {why}"));
        }
    }
    usable
}

/// Bounds that do not cross; both arrays have one entry per parameter.
pub(super) fn ordered(
    lower: &[f64],
    upper: &[f64],
    parameters: &[String],
    place: &str,
    complaints: &mut Complaints,
) -> bool {
    let mut usable = true;
    for ((name, lower), upper) in parameters.iter().zip(lower).zip(upper).filter(|((_, lower), upper)| lower > upper) {
        usable = false;
        complaints.add(place, format!("\"{name}\" has a lower bound of {lower} above its upper bound of {upper}"));
    }
    usable
}

#[cfg(test)]
mod tests {
    use crate::definition::{Complaints, Row, ScenarioList};
    use crate::uncertainty::build;
    use crate::uncertainty::{SetDefinition, Sides};

    const INF: f64 = f64::INFINITY;

    /// The complaints about a set over parameters g1, g2, …
    fn complaints(set: &SetDefinition, dim: usize) -> Vec<String> {
        let parameters: Vec<String> = (1..=dim).map(|index| format!("g{index}")).collect();
        let mut complaints = Complaints::new();
        let built = build(set, &parameters, "uncertainty.set", &mut complaints);
        assert!(built.is_none(), "{set:?} should be refused");
        complaints.iter().map(ToString::to_string).collect()
    }

    fn boxed(lower: &[f64], upper: &[f64]) -> SetDefinition {
        SetDefinition::Box { lower: lower.to_vec(), upper: upper.to_vec() }
    }

    fn scenarios(dim: usize, rows: &[&[f64]]) -> SetDefinition {
        let mut points = ScenarioList::new(dim);
        rows.iter().for_each(|row| points.push(row));
        SetDefinition::scenarios(points)
    }

    fn row(name: &str, xi: &[(&str, f64)], lower: f64, upper: f64) -> Row {
        Row { xi: xi.iter().map(|&(name, value)| (name.into(), value)).collect(), lower, upper, ..Row::new(name) }
    }

    fn polyhedron(lower: &[f64], upper: &[f64], rows: Vec<Row>) -> SetDefinition {
        SetDefinition::Polyhedron { lower: lower.to_vec(), upper: upper.to_vec(), constraints: rows }
    }

    #[test]
    fn faults_of_arrays_are_all_named() {
        let said = |set: SetDefinition, dim: usize, what: &[&str]| {
            let wanted: Vec<String> = what.iter().map(|what| format!("uncertainty.set{what}")).collect();
            assert_eq!(complaints(&set, dim), wanted);
        };
        said(boxed(&[0.0, 1.0], &[1.0; 3]), 3, &[": \"lower\" has 2 entries where 3 parameters are declared"]);
        said(
            boxed(&[0.0, 2.0], &[INF, 1.0]),
            2,
            &[
                ": \"upper\" of \"g1\" is inf; it must be finite",
                ": \"g2\" has a lower bound of 2 above its upper bound of 1",
            ],
        );
        said(boxed(&[f64::NAN], &[1.0]), 1, &[]);
        said(scenarios(2, &[]), 2, &[": the list of scenarios is empty; at least one is needed"]);
        said(scenarios(1, &[&[1.0]]), 2, &[": a scenario has 1 entry where 2 parameters are declared"]);
        said(scenarios(1, &[&[1.0], &[-INF]]), 1, &[".points[1]: \"g1\" is -inf; it must be finite"]);
        let budget =
            SetDefinition::Budget { budget: -1.0, sides: Sides::One, center: vec![0.0; 2], scale: vec![1.0; 2] };
        said(
            budget,
            1,
            &[
                ": \"center\" has 2 entries where 1 parameter is declared",
                ": \"scale\" has 2 entries where 1 parameter is declared",
                ": \"budget\" is -1; it must be finite and not negative",
            ],
        );
        said(
            SetDefinition::L1 { center: vec![0.0], scale: vec![INF] },
            1,
            &[": \"scale\" of \"g1\" is inf; it must be finite"],
        );
        let matrix = vec![vec![1.0, 2.0], vec![1.0], vec![INF, 0.0]];
        said(
            SetDefinition::Ellipsoid { center: vec![0.0; 2], matrix },
            2,
            &[
                ": \"matrix\" has 3 rows where 2 parameters are declared",
                ": row 1 of \"matrix\" has 1 entry where row 0 has 2",
                ": entry 0 in row 2 of \"matrix\" is inf; it must be finite",
            ],
        );
    }

    #[test]
    fn faults_of_polyhedra_are_all_named() {
        let loose = row("cap", &[("g1", 1.0), ("g1", 2.0), ("G_1", 1.0)], -INF, INF);
        let crossed = row("cap", &[("g2", 1.0)], 2.0, 1.0);
        let here = "uncertainty.set.constraints";
        assert_eq!(
            complaints(&polyhedron(&[0.0, INF], &[1.0, INF], vec![loose, crossed]), 2),
            [
                "uncertainty.set: \"lower\" of \"g2\" is inf, which leaves it no value".to_owned(),
                format!("{here}[0] \"cap\": \"g1\" has two terms; add them up"),
                format!("{here}[0] \"cap\": \"G_1\" is not a parameter (did you mean \"g1\"?)"),
                format!("{here}[0] \"cap\": a row needs at least one finite bound, \"lower\" or \"upper\""),
                format!("{here}[1] \"cap\": the name is already that of constraints[0]; names must differ"),
                format!("{here}[1] \"cap\": the lower bound of 2 is above the upper bound of 1"),
            ]
        );
        let empty = "uncertainty.set: no point satisfies all bounds and constraints; the set must not be empty";
        assert_eq!(complaints(&polyhedron(&[0.0], &[1.0], vec![row("cap", &[("g1", 1.0)], 2.0, INF)]), 1), [empty]);
        assert_eq!(complaints(&polyhedron(&[], &[], vec![row("cap", &[], 1.0, INF)]), 0), [empty]);
        let open = polyhedron(&[0.0, -INF], &[1.0, INF], vec![row("floor", &[("g1", 1.0), ("g2", 1.0)], -3.0, INF)]);
        assert_eq!(
            complaints(&open, 2),
            ["uncertainty.set: \"g2\" has no upper limit, or a very distant one; the set must be bounded"]
        );
    }
}
