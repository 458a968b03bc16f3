//! The entries of ξ in which Q(x, ·) is monotone for every x.

use super::SlopeRanges;
use crate::error::Error;
use crate::model::Problem;
use crate::run::Clock;
use crate::uncertainty::Trend;

/// Returns the trend of Q in each entry of ξ, for linear recourse with fixed costs. Ranges of slopes, which take two
/// linear programs per entry, are computed only if the sides of rows leave a trend unknown. Returns `None` if that
/// shows that no dual is feasible, so that Q is ∞ or −∞ everywhere.
pub(crate) fn trends(problem: &Problem, clock: &Clock) -> Result<Option<Vec<Trend>>, Error> {
    let by_sides = by_sides(problem);
    if by_sides.iter().all(|trend| *trend != Trend::Unknown) {
        return Ok(Some(by_sides));
    }
    Ok(SlopeRanges::of(problem, clock)?.map(|ranges| ranges.trends()))
}

/// Trends by the sides of rows: π ≥ 0 on rows with a lower side only, and π ≤ 0 on rows with an upper side only, so
/// that the slope `−Uᵀπ` of an entry has one sign if all its rows are of one kind and its coefficients in them have one
/// sign.
fn by_sides(problem: &Problem) -> Vec<Trend> {
    let recourse = &problem.recourse;
    let (mut may_rise, mut may_fall) = (vec![false; problem.set.dim()], vec![false; problem.set.dim()]);
    for i in 0..recourse.rows() {
        for (entry, value) in recourse.u.row(i) {
            let (by_lower, by_upper) =
                if value < 0.0 { (&mut may_rise, &mut may_fall) } else { (&mut may_fall, &mut may_rise) };
            by_lower[entry] |= recourse.row_lower[i].is_finite();
            by_upper[entry] |= recourse.row_upper[i].is_finite();
        }
    }
    let trend = |(rises, falls): (&bool, &bool)| match (*rises, *falls) {
        (_, false) => Trend::Rising,
        (false, true) => Trend::Falling,
        (true, true) => Trend::Unknown,
    };
    may_rise.iter().zip(&may_fall).map(trend).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::definition::{Row, Variable};
    use crate::model::ProblemDefinition;
    use crate::uncertainty::SetDefinition;

    /// min y over y + ξ₁ − ξ₂ ≥ 0, y + 2ξ₂ + ξ₃ ≤ 9, 0 ≤ y + ξ₄ ≤ 9, with ξ₅ nowhere.
    fn problem() -> Problem {
        let mut file = ProblemDefinition::default();
        file.uncertainty.parameters = (1..=5).map(|k| format!("xi_{k}")).collect();
        file.uncertainty.set = SetDefinition::Box { lower: vec![0.0; 5], upper: vec![1.0; 5] };
        file.recourse.variables.push(Variable::new("y", 1.0));
        for (name, lower, upper, xi) in [
            ("a", 0.0, f64::INFINITY, vec![("xi_1", 1.0), ("xi_2", -1.0)]),
            ("b", f64::NEG_INFINITY, 9.0, vec![("xi_2", 2.0), ("xi_3", 1.0)]),
            ("c", 0.0, 9.0, vec![("xi_4", 1.0)]),
        ] {
            let mut row = Row::new(name);
            row.y = vec![("y".into(), 1.0)];
            row.xi = xi.into_iter().map(|(name, value)| (name.into(), value)).collect();
            (row.lower, row.upper) = (lower, upper);
            file.recourse.constraints.push(row);
        }
        Problem::new(&file).unwrap()
    }

    #[test]
    fn sides_of_rows_give_signs_of_slopes() {
        let expected = [Trend::Falling, Trend::Rising, Trend::Rising, Trend::Unknown, Trend::Rising];
        assert_eq!(by_sides(&problem()), expected);
    }

    #[test]
    fn ranges_of_slopes_confirm_trends_by_sides() {
        let problem = problem();
        let ranges = SlopeRanges::of(&problem, &Clock::unlimited()).unwrap().unwrap();
        for (entry, trend) in by_sides(&problem).into_iter().enumerate() {
            match trend {
                Trend::Rising => assert!(ranges.least[entry] >= 0.0),
                Trend::Falling => assert!(ranges.most[entry] <= 0.0),
                Trend::Unknown => {}
            }
        }
    }
}
