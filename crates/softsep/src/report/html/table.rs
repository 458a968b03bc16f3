//! Tables that scroll within themselves on a narrow screen, and bars in their cells.

use std::fmt::Write;

/// A column: its head, and whether it holds numbers.
pub(super) struct Column(pub(super) &'static str, pub(super) Holds);

/// What the cells of a column hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Words,
    Numbers,
    Bars,
}

impl Holds {
    fn class(self) -> &'static str {
        match self {
            Holds::Words => "words",
            Holds::Numbers => "number",
            Holds::Bars => "bars",
        }
    }
}

/// A table of cells that are HTML already. The first cell of a row is its head.
pub(super) fn table(label: &str, columns: &[Column], rows: &[Vec<String>]) -> String {
    let mut html =
        format!("<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\">\n<table>\n<thead><tr>");
    for Column(head, holds) in columns {
        let _ = write!(html, "<th scope=\"col\" class=\"{}\">{head}</th>", holds.class());
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (index, (cell, Column(_, holds))) in row.iter().zip(columns).enumerate() {
            let _ = match index {
                0 => write!(html, "<th scope=\"row\">{cell}</th>"),
                _ => write!(html, "<td class=\"{}\">{cell}</td>", holds.class()),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n");
    html
}

/// A bar from one value to another on a track from `low` to `high`; nothing where the track has no ends or no length.
pub(super) fn bar(low: f64, high: f64, from: f64, to: f64) -> String {
    let length = high - low;
    if !(length > 0.0 && length.is_finite()) {
        return String::new();
    }
    let place = |value: f64| (100.0 * (value - low) / length).clamp(0.0, 100.0);
    let (from, to) = (place(from), place(to));
    format!(
        "<span class=\"bar\" aria-hidden=\"true\"><span class=\"fill\" \
         style=\"left:{:.1}%;width:{:.1}%\"></span><span class=\"mark\" \
         style=\"left:{from:.1}%\"></span></span>",
        from.min(to),
        (to - from).abs()
    )
}

/// What a table leaves out.
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
