//! The recourse with a margin: rows and bounds of y that are tighter, or looser, by a share of their size.

use super::Problem;

impl Problem {
    /// The problem over the same decisions and the same set whose recourse keeps its rows and the bounds of y with a
    /// margin of this share of their size, which is at least one; a negative margin relaxes them.
    ///
    /// A decision with recourse everywhere under a positive margin is inside the robust feasible set, and costs no more
    /// without it. Equations and cones have no inside and stay; a negative margin relaxes equations as well.
    pub(crate) fn with_margin(&self, margin: f64) -> Problem {
        let mut problem = Problem { engine: None, ..self.clone() };
        let recourse = &mut problem.recourse;
        let rows = recourse.row_lower.iter_mut().zip(&mut recourse.row_upper);
        for (lower, upper) in rows.chain(recourse.lower.iter_mut().zip(&mut recourse.upper)) {
            let most = if margin > 0.0 { 0.25 * (*upper - *lower) } else { f64::INFINITY };
            let (below, above) = (margin * lower.abs().max(1.0), margin * upper.abs().max(1.0));
            // Infinite bounds stay.
            *lower = if lower.is_finite() { *lower + below.min(most) } else { *lower };
            *upper = if upper.is_finite() { *upper - above.min(most) } else { *upper };
        }
        problem
    }
}
