//! A problem in a few lines, for logs and `softsep check`.

use super::Problem;
use crate::definition::{ConeKind, VariableKind};

impl Problem {
    /// Sizes and kinds, one line each.
    pub fn facts(&self) -> Vec<String> {
        let (first, recourse) = (&self.first, &self.recourse);
        let count = |kind| first.kind.iter().filter(|&&k| k == kind).count();
        let mut kinds = format!("{} continuous", count(VariableKind::Continuous));
        for (kind, word) in [(VariableKind::Integer, "integer"), (VariableKind::Binary, "binary")] {
            if count(kind) > 0 {
                kinds += &format!(", {} {word}", count(kind));
            }
        }
        let quadratic = if first.quadratic.is_zero() { "" } else { ", quadratic cost" };
        let mut lines = vec![format!(
            "first stage  {} ({kinds}), {}{quadratic}",
            plural(first.dim(), "variable"),
            plural(first.rows.rows(), "row")
        )];
        let extremes = match (self.set.is_finite_list(), self.set.extremes()) {
            (true, count) => format!("{count} rows"),
            (false, count) => format!("{count} extreme points"),
        };
        lines.push(format!("uncertainty  {} in {}, {extremes}", self.set.kind(), plural(self.set.dim(), "parameter")));
        let mut features = Vec::new();
        if !recourse.quadratic.is_zero() {
            features.push("quadratic cost".to_owned());
        }
        if recourse.costs_move() {
            features.push("costs that move with ξ".to_owned());
        }
        for (kind, word) in
            [("soc", "second-order"), ("exp", "exponential"), ("power", "power"), ("psd", "semidefinite")]
        {
            let cones = recourse.cones.iter().filter(|cone| word_of(cone.kind) == kind).count();
            if cones > 0 {
                features.push(plural(cones, &format!("{word} cone")));
            }
        }
        let what = if features.is_empty() { "linear".to_owned() } else { features.join(", ") };
        let rows = plural(recourse.rows(), "row");
        lines.push(format!(
            "recourse     {}, {rows}, {} nonzeros; {what}",
            plural(recourse.dim(), "variable"),
            recourse.g.nonzeros()
        ));
        lines
    }
}

fn word_of(kind: ConeKind) -> &'static str {
    match kind {
        ConeKind::SecondOrder => "soc",
        ConeKind::Exponential => "exp",
        ConeKind::Power { .. } => "power",
        ConeKind::Semidefinite => "psd",
    }
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
