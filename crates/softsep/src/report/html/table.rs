//! Tables that scroll horizontally on narrow screens, with bars in cells.

use std::fmt::Write;

/// A column: its head and the kind of its cells.
pub(super) struct TableColumn(pub(super) &'static str, pub(super) ColumnKind);

/// The kind of the cells of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Words,
    Numbers,
    Bars,
}

impl ColumnKind {
    fn class(self) -> &'static str {
        match self {
            ColumnKind::Words => "words",
            ColumnKind::Numbers => "number",
            ColumnKind::Bars => "bars",
        }
    }
}

/// Returns a table of cells that are HTML already. The first cell of a row is its head.
pub(super) fn table(label: &str, columns: &[TableColumn], rows: &[Vec<String>]) -> String {
    let mut html =
        format!("<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\">\n<table>\n<thead><tr>");
    for TableColumn(head, kind) in columns {
        let _ = write!(html, "<th scope=\"col\" class=\"{}\">{head}</th>", kind.class());
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (index, (cell, TableColumn(_, kind))) in row.iter().zip(columns).enumerate() {
            let _ = match index {
                0 => write!(html, "<th scope=\"row\">{cell}</th>"),
                _ => write!(html, "<td class=\"{}\">{cell}</td>", kind.class()),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
    html
}

/// A bar from one value to another on a track from `low` to `high`; empty if the track is not finite or has no length.
pub(super) fn bar(low: f64, high: f64, from: f64, to: f64) -> String {
    let length = high - low;
    if !(length > 0.0 && length.is_finite()) {
        return String::new();
    }
    let position = |value: f64| (100.0 * (value - low) / length).clamp(0.0, 100.0);
    let (from, to) = (position(from), position(to));
    format!(
        "<span class=\"bar\" aria-hidden=\"true\"><span class=\"fill\" \
         style=\"left:{:.1}%;width:{:.1}%\"></span><span class=\"mark\" \
         style=\"left:{from:.1}%\"></span></span>",
        from.min(to),
        (to - from).abs()
    )
}

/// A note about rows that are not shown.
pub(super) fn left_out(shown: usize, all: usize, what: &str) -> String {
    if all > shown {
        format!("<p class=\"note\">{} more {what}; the result file of <code>--out</code> has all.</p>\n", all - shown)
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stay_on_their_track() {
        assert!(bar(0.0, 10.0, 5.0, 2.0).contains("left:20.0%;width:30.0%"));
        assert!(bar(0.0, 10.0, 5.0, 99.0).contains("left:50.0%;width:50.0%"));
        for (low, high) in [(0.0, 0.0), (0.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0), (1.0, 0.0), (f64::NAN, 1.0)] {
            assert_eq!(bar(low, high, 0.0, 0.0), "");
        }
    }
}
