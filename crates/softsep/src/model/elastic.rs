//! The elastic recourse: the least amount by which the rows must be violated.

use super::{Problem, RecourseModel, Sparse, Symmetric};

impl Problem {
    /// The problem over the same decisions and the same set whose recourse cost is the least s such that every row is
    /// violated by at most s.
    ///
    /// It always has a recourse, and the original one has a recourse at (x, ξ) exactly where its cost is not positive.
    /// Without equalities s may fall to −1, so that it also measures slack: a search then finds the boundary of
    /// feasibility from inside.
    pub(crate) fn elastic(&self) -> Problem {
        let from = &self.recourse;
        let s = from.dim();
        let mut names = self.names.clone();
        names.recourse.push("the rows' miss".into());
        names.recourse_rows.clear();
        let mut to = RecourseModel {
            cost: vec![0.0; s + 1],
            cost_xi: Sparse::new(self.set.dim()),
            quadratic: Symmetric::default(),
            lower: from.lower.clone(),
            upper: from.upper.clone(),
            g: Sparse::new(s + 1),
            e: Sparse::new(self.first.dim()),
            u: Sparse::new(self.set.dim()),
            row_lower: Vec::new(),
            row_upper: Vec::new(),
            offset: Vec::new(),
            cones: Vec::new(),
            row_scale: Vec::new(),
        };
        to.cost[s] = 1.0;
        (0..=s).for_each(|_| to.cost_xi.push_row([]));
        let mut least = -1.0;
        for i in 0..from.rows() {
            let (lower, upper) = (from.row_lower[i], from.row_upper[i]);
            if lower == upper {
                least = 0.0;
            }
            for (bound, sign) in [(lower, 1.0), (upper, -1.0)] {
                if !bound.is_finite() {
                    continue;
                }
                to.g.push_row(from.g.row(i).chain([(s, sign)]));
                to.e.push_row(from.e.row(i));
                to.u.push_row(from.u.row(i));
                to.row_lower.push(if sign > 0.0 { bound } else { f64::NEG_INFINITY });
                to.row_upper.push(if sign > 0.0 { f64::INFINITY } else { bound });
                to.offset.push(0.0);
                to.row_scale.push(from.row_scale[i]);
                names.recourse_rows.push(self.names.recourse_rows[i].clone());
            }
        }
        to.lower.push(least);
        to.upper.push(f64::INFINITY);
        Problem {
            name: self.name.clone(),
            first: self.first.clone(),
            set: self.set.clone(),
            recourse: to,
            names,
            engine: None,
        }
    }
}
