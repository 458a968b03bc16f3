//! Line charts as inline SVG. Colours come from the style sheet of the page, which supports light and dark mode.

use std::fmt::Write;

use super::axis::Axis;
use super::escape::text;

/// The size of the drawing in its own units; the page scales it to the available width.
const WIDTH: f64 = 390.0;
const HEIGHT: f64 = 235.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 42.0;
/// The width of a digit of a label in a wide font.
const LETTER_WIDTH: f64 = 8.0;

/// A step function: each value holds until the next point. The line is broken where there is no value.
pub(super) struct ChartLine {
    /// The class in the style sheet.
    pub(super) class: &'static str,
    pub(super) points: Vec<(f64, Option<f64>)>,
}

/// A chart.
pub(super) struct Chart<'a> {
    /// Unique on the page.
    pub(super) id: &'a str,
    /// The accessible title.
    pub(super) title: &'a str,
    /// The accessible description in numbers.
    pub(super) description: &'a str,
    pub(super) x: Axis,
    pub(super) x_label: &'a str,
    pub(super) y: Axis,
    /// Later lines are drawn over earlier ones.
    pub(super) lines: Vec<ChartLine>,
    /// The indices of two lines with a shaded area between them.
    pub(super) shade: Option<(usize, usize)>,
    /// A target value.
    pub(super) goal: Option<f64>,
}

/// The plotting area in units of the drawing.
struct PlotArea<'c> {
    x: &'c Axis,
    y: &'c Axis,
    left: f64,
}

impl PlotArea<'_> {
    fn x(&self, value: f64) -> f64 {
        tenth(self.left + self.x.position(value) * (WIDTH - RIGHT - self.left))
    }

    /// Values far off the axis are clamped near it, which keeps the numbers short and changes nothing visible.
    fn y(&self, value: f64) -> f64 {
        tenth(HEIGHT - BOTTOM - self.y.position(value).clamp(-1.0, 2.0) * (HEIGHT - BOTTOM - TOP))
    }
}

/// Rounds to a tenth of a unit, which is below the visible resolution.
fn tenth(value: f64) -> f64 {
    (10.0 * value).round() / 10.0
}

impl Chart<'_> {
    /// Returns the chart as an `svg` element.
    pub(super) fn draw(&self) -> String {
        let longest = self.y.ticks().iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
        let area = PlotArea { x: &self.x, y: &self.y, left: 10.0 + LETTER_WIDTH * longest as f64 };
        let id = self.id;
        let mut svg = String::new();
        let _ = write!(
            svg,
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-title {id}-text\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-text\">{}</desc>\n",
            text(self.title),
            text(self.description)
        );
        self.draw_axes(&area, &mut svg);
        let (left, width, height) = (tenth(area.left), tenth(WIDTH - RIGHT - area.left), HEIGHT - BOTTOM - TOP);
        // Slightly larger than the plotting area, so that lines along its edge are drawn entirely.
        let _ = write!(
            svg,
            "<clipPath id=\"{id}-frame\"><rect x=\"{left}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n<g \
             clip-path=\"url(#{id}-area)\">\n",
            TOP - 5.0,
            width + 5.0,
            height + 7.0
        );
        if let Some((below, above)) = self.shade {
            let _ = writeln!(
                svg,
                "<path class=\"shade\" d=\"{}\"/>",
                between(&area, &self.lines[below], &self.lines[above])
            );
        }
        if let Some(goal) = self.goal {
            let y = area.y(goal);
            let _ = writeln!(svg, "<path class=\"goal\" d=\"M{left} {y}H{}\"/>", WIDTH - RIGHT);
        }
        for line in &self.lines {
            let _ = writeln!(svg, "<path class=\"line {}\" d=\"{}\"/>", line.class, steps(&area, &line.points));
            if let Some((x, Some(y))) = line.points.last() {
                let _ = writeln!(
                    svg,
                    "<circle class=\"end {}\" cx=\"{}\" cy=\"{}\" r=\"3.5\"/>",
                    line.class,
                    area.x(*x),
                    area.y(*y)
                );
            }
        }
        svg.push_str("</g>\n</svg>");
        svg
    }

    fn draw_axes(&self, area: &PlotArea, svg: &mut String) {
        let (floor, left) = (HEIGHT - BOTTOM, tenth(area.left));
        for tick in self.y.ticks() {
            let y = area.y(tick.at);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{left} {y}H{}\"/><text class=\"tick\" x=\"{}\" y=\"{}\" \
                 text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                tenth(left - 7.0),
                tenth(y + 4.0),
                text(&tick.label)
            );
        }
        for tick in self.x.ticks() {
            let x = area.x(tick.at);
            let _ = writeln!(
                svg,
                "<path class=\"notch\" d=\"M{x} {floor}v4\"/><text class=\"tick\" x=\"{x}\" y=\"{}\" \
                 text-anchor=\"middle\">{}</text>",
                floor + 17.0,
                text(&tick.label)
            );
        }
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{left} {floor}H{0}\"/><text class=\"label\" x=\"{0}\" y=\"{1}\" \
             text-anchor=\"end\">{2}</text>",
            WIDTH - RIGHT,
            HEIGHT - 6.0,
            text(self.x_label)
        );
    }
}

/// The path of a line. Points at the current position of the pen are omitted.
fn steps(area: &PlotArea, points: &[(f64, Option<f64>)]) -> String {
    let mut path = String::new();
    let mut pen: Option<(f64, f64)> = None;
    for &(x, y) in points {
        let x = area.x(x);
        let to = y.map(|y| (x, area.y(y)));
        match (pen, to) {
            (Some((_, at)), Some((x, y))) if at != y => {
                let _ = write!(path, "H{x}V{y}");
            }
            (None, Some((x, y))) => {
                let _ = write!(path, "M{x} {y}");
            }
            (Some(_), None) => {
                let _ = write!(path, "H{x}");
            }
            _ => {}
        }
        pen = to;
    }
    if let Some((x, _)) = pen {
        let _ = write!(path, "H{x}");
    }
    path
}

/// The outline of the area between two lines, from the first point at which both have values.
fn between(area: &PlotArea, below: &ChartLine, above: &ChartLine) -> String {
    let pairs: Vec<(f64, f64, f64)> = below
        .points
        .iter()
        .zip(&above.points)
        .rev()
        .map_while(|(below, above)| Some((area.x(below.0), area.y(below.1?), area.y(above.1?))))
        .collect();
    // From the end along the lower line to the start, and back along the upper one.
    let mut path = String::new();
    let Some(&(end, low, _)) = pairs.first() else { return path };
    let _ = write!(path, "M{end} {low}");
    let mut pen = low;
    for (index, &(x, low, _)) in pairs.iter().enumerate() {
        if low != pen {
            // The value changed at the next point, seen from the start.
            let _ = write!(path, "H{}V{low}", pairs[index - 1].0);
            pen = low;
        }
        if index + 1 == pairs.len() {
            let _ = write!(path, "H{x}");
        }
    }
    let mut pen = f64::NAN;
    for &(x, _, high) in pairs.iter().rev() {
        if high != pen {
            let _ = write!(path, "H{x}V{high}");
            pen = high;
        }
    }
    let _ = write!(path, "H{end}Z");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area<'c>(x: &'c Axis, y: &'c Axis) -> PlotArea<'c> {
        PlotArea { x, y, left: 20.0 }
    }

    #[test]
    fn a_value_holds_until_the_next() {
        let (x, y) = (Axis::from_zero(4.0), Axis::linear(0.0, 1.0));
        let area = area(&x, &y);
        let points = [(0.0, None), (1.0, Some(0.0)), (2.0, Some(1.0)), (3.0, Some(1.0)), (4.0, Some(1.0))];
        // 87.5 units per unit of x, 183 per unit of y.
        assert_eq!(steps(&area, &points), "M107.5 193H195V10H370");
        assert_eq!(steps(&area, &[(0.0, Some(0.0)), (1.0, None), (2.0, Some(1.0))]), "M20 193H107.5M195 10H195");
        assert_eq!(steps(&area, &[(0.0, None)]), "");
    }

    #[test]
    fn the_shade_begins_where_both_lines_are() {
        let (x, y) = (Axis::from_zero(4.0), Axis::linear(0.0, 1.0));
        let below = ChartLine {
            class: "a",
            points: vec![(0.0, Some(0.0)), (2.0, Some(0.0)), (3.0, Some(0.5)), (4.0, Some(0.5))],
        };
        let above =
            ChartLine { class: "b", points: vec![(0.0, None), (2.0, Some(1.0)), (3.0, Some(1.0)), (4.0, Some(1.0))] };
        assert_eq!(between(&area(&x, &y), &below, &above), "M370 101.5H282.5V193H195H195V10H370Z");
        let nothing = ChartLine { class: "b", points: vec![(4.0, None)] };
        assert_eq!(between(&area(&x, &y), &below, &nothing), "");
    }
}
