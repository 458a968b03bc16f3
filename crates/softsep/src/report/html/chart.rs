//! Line charts as inline SVG. Colours come from the page's style sheet, so that they follow the reader's light or dark.

use std::fmt::Write;

use super::axis::Axis;
use super::escape::text;

/// The drawing's own units; the page scales it to the room there is.
const WIDTH: f64 = 390.0;
const HEIGHT: f64 = 235.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 42.0;
/// What a digit of a label takes in a wide font.
const LETTER: f64 = 8.0;

/// A quantity that keeps its value until the next point; where there is no value the line is broken.
pub(super) struct Line {
    /// The style sheet's word for it.
    pub(super) class: &'static str,
    pub(super) points: Vec<(f64, Option<f64>)>,
}

/// A chart.
pub(super) struct Chart<'a> {
    /// Unique on the page.
    pub(super) id: &'a str,
    /// What it shows, for those who do not see it.
    pub(super) title: &'a str,
    /// The same in numbers.
    pub(super) description: &'a str,
    pub(super) x: Axis,
    pub(super) x_label: &'a str,
    pub(super) y: Axis,
    /// Later ones are drawn over earlier ones.
    pub(super) lines: Vec<Line>,
    /// The two lines, by number, that have a shade between them.
    pub(super) shade: Option<(usize, usize)>,
    /// A value to be reached.
    pub(super) goal: Option<f64>,
}

/// Where things are, in the drawing's units.
struct Frame<'c> {
    x: &'c Axis,
    y: &'c Axis,
    left: f64,
}

impl Frame<'_> {
    fn x(&self, value: f64) -> f64 {
        tenth(self.left + self.x.place(value) * (WIDTH - RIGHT - self.left))
    }

    /// Values far off the axis stay near it: nobody sees them, and numbers stay short.
    fn y(&self, value: f64) -> f64 {
        tenth(HEIGHT - BOTTOM - self.y.place(value).clamp(-1.0, 2.0) * (HEIGHT - BOTTOM - TOP))
    }
}

/// Finer than a tenth nobody sees.
fn tenth(value: f64) -> f64 {
    (10.0 * value).round() / 10.0
}

impl Chart<'_> {
    /// The chart as an `svg` element.
    pub(super) fn draw(&self) -> String {
        let longest = self.y.ticks().iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
        let frame = Frame { x: &self.x, y: &self.y, left: 10.0 + LETTER * longest as f64 };
        let id = self.id;
        let mut svg = String::new();
        let _ = write!(
            svg,
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-title {id}-text\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-text\">{}</desc>\n",
            text(self.title),
            text(self.description)
        );
        self.draw_axes(&frame, &mut svg);
        let (left, width, height) = (tenth(frame.left), tenth(WIDTH - RIGHT - frame.left), HEIGHT - BOTTOM - TOP);
        // A little more than the frame, so that lines along its edge are whole.
        let _ = write!(
            svg,
            "<clipPath id=\"{id}-frame\"><rect x=\"{left}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n<g \
             clip-path=\"url(#{id}-frame)\">\n",
            TOP - 5.0,
            width + 5.0,
            height + 7.0
        );
        if let Some((below, above)) = self.shade {
            let _ = writeln!(
                svg,
                "<path class=\"shade\" d=\"{}\"/>",
                between(&frame, &self.lines[below], &self.lines[above])
            );
        }
        if let Some(goal) = self.goal {
            let y = frame.y(goal);
            let _ = writeln!(svg, "<path class=\"goal\" d=\"M{left} {y}H{}\"/>", WIDTH - RIGHT);
        }
        for line in &self.lines {
            let _ = writeln!(svg, "<path class=\"line {}\" d=\"{}\"/>", line.class, steps(&frame, &line.points));
            if let Some((x, Some(y))) = line.points.last() {
                let _ = writeln!(
                    svg,
                    "<circle class=\"end {}\" cx=\"{}\" cy=\"{}\" r=\"3.5\"/>",
                    line.class,
                    frame.x(*x),
                    frame.y(*y)
                );
            }
        }
        svg.push_str("</g>\n</svg>");
        svg
    }

    fn draw_axes(&self, frame: &Frame, svg: &mut String) {
        let (floor, left) = (HEIGHT - BOTTOM, tenth(frame.left));
        for tick in self.y.ticks() {
            let y = frame.y(tick.at);
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
            let x = frame.x(tick.at);
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

/// The path of a line. A point that would be drawn where the pen is already adds nothing.
fn steps(frame: &Frame, points: &[(f64, Option<f64>)]) -> String {
    let mut path = String::new();
    let mut pen: Option<(f64, f64)> = None;
    for &(x, y) in points {
        let x = frame.x(x);
        let to = y.map(|y| (x, frame.y(y)));
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

/// The outline of what lies between two lines since both have had values.
fn between(frame: &Frame, below: &Line, above: &Line) -> String {
    let pairs: Vec<(f64, f64, f64)> = below
        .points
        .iter()
        .zip(&above.points)
        .rev()
        .map_while(|(below, above)| Some((frame.x(below.0), frame.y(below.1?), frame.y(above.1?))))
        .collect();
    // From the end along the lower line to the start, and back along the upper one.
    let mut path = String::new();
    let Some(&(end, low, _)) = pairs.first() else { return path };
    let _ = write!(path, "M{end} {low}");
    let mut pen = low;
    for (index, &(x, low, _)) in pairs.iter().enumerate() {
        if low != pen {
            // The value changed at the point after this one, seen from the start.
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

    fn frame<'c>(x: &'c Axis, y: &'c Axis) -> Frame<'c> {
        Frame { x, y, left: 20.0 }
    }

    #[test]
    fn a_value_holds_until_the_next() {
        let (x, y) = (Axis::from_zero(4.0), Axis::linear(0.0, 1.0));
        let frame = frame(&x, &y);
        let points = [(0.0, None), (1.0, Some(0.0)), (2.0, Some(1.0)), (3.0, Some(1.0)), (4.0, Some(1.0))];
        // 87.5 units for one of x, 183 for one of y.
        assert_eq!(steps(&frame, &points), "M107.5 193H195V10H370");
        assert_eq!(steps(&frame, &[(0.0, Some(0.0)), (1.0, None), (2.0, Some(1.0))]), "M20 193H107.5M195 10H195");
        assert_eq!(steps(&frame, &[(0.0, None)]), "");
    }

    #[test]
    fn the_shade_begins_where_both_lines_are() {
        let (x, y) = (Axis::from_zero(4.0), Axis::linear(0.0, 1.0));
        let below =
            Line { class: "a", points: vec![(0.0, Some(0.0)), (2.0, Some(0.0)), (3.0, Some(0.5)), (4.0, Some(0.5))] };
        let above =
            Line { class: "b", points: vec![(0.0, None), (2.0, Some(1.0)), (3.0, Some(1.0)), (4.0, Some(1.0))] };
        assert_eq!(between(&frame(&x, &y), &below, &above), "M370 101.5H282.5V193H195H195V10H370Z");
        let nothing = Line { class: "b", points: vec![(4.0, None)] };
        assert_eq!(between(&frame(&x, &y), &below, &nothing), "");
    }
}
