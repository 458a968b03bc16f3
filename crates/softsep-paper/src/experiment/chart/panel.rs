//! Draws a panel: axes, goals, bands, lines and marks.

use std::fmt::Write;

use softsep::internals::report::html_text as text;

use super::{BOTTOM, Decades, HEIGHT, LEFT, LineStyle, Panel, RIGHT, Series, TOP, WIDTH, XAxis, label, tenth};

/// The map from values to the coordinates of a panel.
struct Scales<'p> {
    x_axis: &'p XAxis,
    decades: Decades,
    /// The margin that keeps marks at the ends inside the frame.
    inset: f64,
}

/// The y coordinate of the axis along the bottom, and the x coordinate of the right edge.
const FLOOR: f64 = HEIGHT - BOTTOM;
const EDGE: f64 = WIDTH - RIGHT;

impl Scales<'_> {
    fn x(&self, value: f64) -> f64 {
        tenth(LEFT + self.inset + self.x_axis.position(value) * (EDGE - LEFT - 2.0 * self.inset))
    }

    fn y(&self, value: f64) -> f64 {
        tenth(FLOOR - self.decades.position(value) * (FLOOR - TOP))
    }
}

impl Panel {
    pub(super) fn draw(&self, decades: Decades) -> String {
        let inset = if self.series.iter().any(|series| series.style != LineStyle::Curve) { 14.0 } else { 0.0 };
        let scales = Scales { x_axis: &self.x, decades, inset };
        let mut svg = String::new();
        let _ = writeln!(svg, "<text class=\"head\" x=\"{LEFT}\" y=\"14\">{}</text>", text(&self.title));
        self.draw_decades(&scales, &mut svg);
        self.draw_x_axis(&scales, &mut svg);
        // A goal at the very bottom would look like the axis.
        for goal in self.goals.iter().filter(|goal| (1e-6..1.0).contains(&decades.position(**goal))) {
            let _ = writeln!(svg, "<path class=\"goal\" d=\"M{LEFT} {}H{EDGE}\"/>", scales.y(*goal));
        }
        // All bands are below all lines.
        for series in &self.series {
            series.draw_band(&scales, &mut svg);
        }
        for series in &self.series {
            series.draw_line(&scales, &mut svg);
        }
        svg
    }

    /// A rule and a label for each power of ten.
    fn draw_decades(&self, scales: &Scales, svg: &mut String) {
        for power in scales.decades.first..=scales.decades.top.floor() as i32 {
            let at = scales.y(10f64.powi(power));
            let _ = writeln!(
                svg,
                "<path class=\"rule\" d=\"M{LEFT} {at}H{EDGE}\"/><text class=\"tick\" x=\"{}\" y=\"{}\" \
                 text-anchor=\"end\">{}</text>",
                LEFT - 10.0,
                tenth(at + 4.0),
                label(self.unit, power)
            );
        }
    }

    fn draw_x_axis(&self, scales: &Scales, svg: &mut String) {
        for (value, word) in &self.x.ticks {
            let at = scales.x(*value);
            let _ = writeln!(
                svg,
                "<path class=\"axis\" d=\"M{at} {FLOOR}v4\"/><text class=\"tick\" x=\"{at}\" y=\"{}\" \
                 text-anchor=\"middle\">{}</text>",
                FLOOR + 18.0,
                text(word)
            );
        }
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {FLOOR}H{EDGE}\"/><text x=\"{}\" y=\"{}\" \
             text-anchor=\"middle\">{}</text>",
            tenth((LEFT + EDGE) / 2.0),
            HEIGHT - 8.0,
            text(self.x.label)
        );
    }
}

impl Series {
    fn draw_band(&self, scales: &Scales, svg: &mut String) {
        let bands: Vec<(f64, f64, f64)> = self
            .points
            .iter()
            .filter_map(|point| point.band.map(|(low, high)| (scales.x(point.x), scales.y(low), scales.y(high))))
            .collect();
        if bands.len() > 1 {
            let lower = bands.iter().map(|(x, low, _)| format!("{x} {low}"));
            let upper = bands.iter().rev().map(|(x, _, high)| format!("{x} {high}"));
            let outline: Vec<String> = lower.chain(upper).collect();
            let _ = writeln!(svg, "<path class=\"band f{}\" d=\"M{}Z\"/>", self.class, outline.join("L"));
        }
    }

    /// The line, and its marks unless it is a curve.
    fn draw_line(&self, scales: &Scales, svg: &mut String) {
        let (class, dashes) = (self.class, self.dashes());
        let line: Vec<String> =
            self.points.iter().map(|point| format!("{} {}", scales.x(point.x), scales.y(point.y))).collect();
        if line.len() > 1 {
            let _ = writeln!(svg, "<path class=\"curve c{class}\"{dashes} d=\"M{}\"/>", line.join("L"));
        }
        for point in self.points.iter().filter(|_| self.style != LineStyle::Curve) {
            let (x, y) = (scales.x(point.x), scales.y(point.y));
            if point.is_over {
                let arrow = format!("M{x} {y}v-12m-3 4l3 -4l3 4");
                let _ = writeln!(svg, "<path class=\"mark c{class}\" fill=\"none\" d=\"{arrow}\"/>");
            }
            let _ = writeln!(svg, "{}", self.mark(x, y));
        }
    }
}
