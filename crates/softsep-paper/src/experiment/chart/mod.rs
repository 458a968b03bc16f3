//! Charts as SVG: lines with bands on a logarithmic scale. On a page the colours come from its style sheet; an SVG file
//! holds them itself.

mod panel;

use std::fmt::Write;

use softsep::internals::report::html_text as text;

/// The size and the margins of a panel.
const WIDTH: f64 = 390.0;
const HEIGHT: f64 = 262.0;
const TOP: f64 = 26.0;
const RIGHT: f64 = 28.0;
const BOTTOM: f64 = 46.0;
const LEFT: f64 = 62.0;
/// The height of a line of the legend above the panels of a file, and the width of a letter.
const LEGEND: f64 = 24.0;
const LETTER: f64 = 6.4;

/// The colours of charts: a name, the value on light pages and in files, the value on dark pages.
const COLOURS: [(&str, &str, &str); 8] = [
    ("s0", "#1f6fb5", "#6db3f2"),
    ("s1", "#c2491d", "#f58f63"),
    ("s2", "#17714a", "#7fdcae"),
    ("s3", "#8a4fa3", "#cf9be6"),
    ("s4", "#866a00", "#e3c35a"),
    ("paint", "#ffffff", "#1a2029"),
    ("words", "#3c4654", "#9aa6b5"),
    ("rule", "#dde2e9", "#2d3643"),
];

/// The style of lines, marks and words.
const LINES: &str = include_str!("chart.css");

/// The style of charts on a page, light or dark as the reader prefers.
pub(super) fn page_style() -> String {
    let named = |value: fn(&(&str, &str, &str)) -> String| COLOURS.iter().map(value).collect::<String>();
    let light = named(|(name, light, _)| format!(" --{name}: {light};"));
    let dark = named(|(name, _, dark)| format!(" --{name}: {dark};"));
    format!("svg.plot {{{light} }}\n@media (prefers-color-scheme: dark) {{\n  svg.plot {{{dark} }}\n}}\n{LINES}")
}

/// The style of a chart in a file of its own. Colours are written out: programs that typeset papers do not
/// know CSS variables.
fn file_style() -> String {
    COLOURS.iter().fold(LINES.to_owned(), |style, (name, light, _)| style.replace(&format!("var(--{name})"), light))
}

/// The style of a line. Styles can be told apart without colours too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineStyle {
    /// Our means: filled marks on a solid line.
    Ours,
    /// The paper's means: hollow marks on a dashed line.
    Printed,
    /// A curve without marks; curves differ in their dashes.
    Curve,
}

/// A point, with a band around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChartPoint {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) band: Option<(f64, f64)>,
    /// The true value is larger; an arrow says so.
    pub(super) is_over: bool,
}

/// A line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    pub(super) name: String,
    /// 0 to 4: a colour and a mark.
    pub(super) class: usize,
    pub(super) style: LineStyle,
    pub(super) points: Vec<ChartPoint>,
}

/// The axis along the bottom.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct XAxis {
    pub(super) label: &'static str,
    pub(super) is_log: bool,
    pub(super) ticks: Vec<(f64, String)>,
}

/// The unit of the vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Gap,
}

/// One set of axes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) x: XAxis,
    pub(super) unit: Unit,
    pub(super) goals: Vec<f64>,
    pub(super) series: Vec<Series>,
}

/// Panels side by side, with one vertical scale and one legend.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) panels: Vec<Panel>,
}

/// The vertical scale: from a power of ten below all values to a little above the largest.
#[derive(Debug, Clone, Copy)]
struct Decades {
    first: i32,
    top: f64,
}

/// The margin above the largest value, in decades.
const MARGIN: f64 = 0.1;

impl Decades {
    fn of(chart: &Chart) -> Self {
        let heights =
            chart.panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points).flat_map(|point| {
                let (low, high) = point.band.unwrap_or((point.y, point.y));
                // The arrow is above its point.
                [low.min(point.y), high.max(point.y) * if point.is_over { 2.0 } else { 1.0 }]
            });
        let (low, high) = heights
            .filter(|height| *height > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), height| (low.min(height), high.max(height)));
        if high <= 0.0 {
            return Self { first: -1, top: 1.0 };
        }
        let first = low.log10().floor();
        Self { first: first as i32, top: (high.log10() + MARGIN).max(first + 1.0) }
    }

    /// The position from 0 at the bottom to 1 at the top; values that are not positive are at the bottom.
    fn position(self, height: f64) -> f64 {
        let first = f64::from(self.first);
        if height <= 0.0 { 0.0 } else { ((height.log10() - first) / (self.top - first)).clamp(0.0, 1.0) }
    }
}

fn tenth(value: f64) -> f64 {
    (10.0 * value).round() / 10.0
}

fn label(unit: Unit, power: i32) -> String {
    let power = if unit == Unit::Gap { power + 2 } else { power };
    let number = if power >= 0 {
        format!("{}", 10f64.powi(power))
    } else {
        format!("{:.*}", power.unsigned_abs() as usize, 10f64.powi(power))
    };
    if unit == Unit::Gap { format!("{number} %") } else { format!("{number} s") }
}

impl XAxis {
    fn position(&self, x: f64) -> f64 {
        let scale = |x: f64| if self.is_log { x.max(1e-12).log10() } else { x };
        let ends = self.ticks.first().zip(self.ticks.last()).map(|(first, last)| (scale(first.0), scale(last.0)));
        match ends {
            Some((low, high)) if high > low => (scale(x) - low) / (high - low),
            _ => 0.5,
        }
    }
}

impl Chart {
    /// Each panel as an `svg` element for a page.
    pub(super) fn elements(&self, id: &str) -> Vec<String> {
        let decades = Decades::of(self);
        let element = |(index, panel): (usize, &Panel)| {
            let drawn = panel.draw(decades);
            format!(
                "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-{index}\">\n\
                 <title id=\"{id}-{index}\">{}</title>\n{drawn}</svg>",
                text(&format!("{}: {}", self.title, panel.title))
            )
        };
        self.panels.iter().enumerate().map(element).collect()
    }

    /// All panels as an SVG file on white.
    pub(super) fn file(&self) -> String {
        let across = self.panels.len().clamp(1, 2);
        let (width, rows) = (WIDTH * across as f64, self.panels.len().div_ceil(across));
        let (legend, deep) = self.legend(width);
        let height = deep + HEIGHT * rows as f64;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\">\n\
             <title>{}</title>\n<style>\n{}</style>\n<rect width=\"{width}\" height=\"{height}\" \
             fill=\"#ffffff\"/>\n{legend}",
            text(&self.title),
            file_style()
        );
        let decades = Decades::of(self);
        for (index, panel) in self.panels.iter().enumerate() {
            let (x, y) = (WIDTH * (index % across) as f64, deep + HEIGHT * (index / across) as f64);
            let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">\n{}</g>", panel.draw(decades));
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The legend above the panels, in as many lines as it takes, and its height.
    fn legend(&self, width: f64) -> (String, f64) {
        let (mut svg, mut x, mut y) = (String::new(), LEFT, 18.0);
        for series in self.names() {
            let wide = 34.0 + LETTER * series.name.chars().count() as f64 + 18.0;
            if x + wide > width && x > LEFT {
                (x, y) = (LEFT, y + LEGEND - 4.0);
            }
            let _ = writeln!(
                svg,
                "<g transform=\"translate({x} {})\">{}</g><text x=\"{}\" y=\"{y}\">{}</text>",
                y - 10.0,
                series.sample(),
                x + 34.0,
                text(&series.name)
            );
            x += wide;
        }
        (svg, y + 6.0)
    }

    /// One line of each name.
    fn names(&self) -> Vec<&Series> {
        let mut names: Vec<&Series> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !names.iter().any(|known| known.name == series.name) {
                names.push(series);
            }
        }
        names
    }

    /// The legend as HTML.
    pub(super) fn legend_list(&self) -> String {
        let mut html = "<ul class=\"legend\">\n".to_owned();
        for series in self.names() {
            let _ = writeln!(
                html,
                "<li><svg class=\"plot\" viewBox=\"0 0 28 12\" style=\"width:28px\" \
                 aria-hidden=\"true\">{}</svg>{}</li>",
                series.sample(),
                text(&series.name)
            );
        }
        html + "</ul>\n"
    }
}

impl Series {
    fn dashes(&self) -> &'static str {
        match (self.style, self.class) {
            (LineStyle::Ours, _) | (LineStyle::Curve, 0) => "",
            (LineStyle::Printed, _) => " stroke-dasharray=\"5 4\"",
            (LineStyle::Curve, 1) => " stroke-dasharray=\"8 3\"",
            (LineStyle::Curve, 2) => " stroke-dasharray=\"3 2\"",
            (LineStyle::Curve, 3) => " stroke-dasharray=\"10 3 2 3\"",
            (LineStyle::Curve, _) => " stroke-dasharray=\"1.5 2.5\"",
        }
    }

    /// A piece of the line, 28 by 12.
    fn sample(&self) -> String {
        let mark = if self.style == LineStyle::Curve { String::new() } else { self.mark(14.0, 6.0) };
        format!("<path class=\"curve c{}\"{} d=\"M0 6H28\"/>{mark}", self.class, self.dashes())
    }

    fn mark(&self, x: f64, y: f64) -> String {
        let paint = if self.style == LineStyle::Printed { "hollow".to_owned() } else { format!("f{}", self.class) };
        let path = match self.class {
            0 => format!("M{} {y}a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0Z", tenth(x - 3.4)),
            1 => format!("M{} {}h6v6h-6Z", tenth(x - 3.0), tenth(y - 3.0)),
            2 => format!("M{x} {}l3.8 6.4h-7.6Z", tenth(y - 3.9)),
            _ => format!("M{x} {}l4 4l-4 4l-4 -4Z", tenth(y - 4.0)),
        };
        format!("<path class=\"mark c{} {paint}\" d=\"{path}\"/>", self.class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let point = |x: f64, y: f64| ChartPoint { x, y, band: Some((y / 2.0, 2.0 * y)), is_over: false };
        let series = Series {
            name: "a < b".into(),
            class: 1,
            style: LineStyle::Curve,
            points: vec![point(10.0, 0.05), point(100.0, 0.005)],
        };
        let x = XAxis { label: "iterations", is_log: true, ticks: vec![(10.0, "10".into()), (100.0, "100".into())] };
        Chart {
            title: "gaps".into(),
            panels: vec![Panel { title: "all".into(), x, unit: Unit::Gap, goals: vec![1e-3], series: vec![series] }],
        }
    }

    #[test]
    fn heights_are_logarithmic_and_all_of_them_are_on_the_chart() {
        let decades = Decades::of(&chart());
        assert_eq!(decades.first, -3);
        assert!((decades.top - (0.1_f64.log10() + MARGIN)).abs() < 1e-12);
        let (low, middle, high) = (decades.position(1e-3), decades.position(1e-2), decades.position(1e-1));
        assert!(low == 0.0 && (high - middle - (middle - low)).abs() < 1e-12 && high < 1.0);
        assert_eq!((decades.position(0.0), decades.position(1e9)), (0.0, 1.0));
        assert_eq!([label(Unit::Gap, -4), label(Unit::Gap, -1), label(Unit::Seconds, 2)], ["0.01 %", "10 %", "100 s"]);
    }

    #[test]
    fn a_file_contains_its_colours_and_a_page_uses_its_own() {
        let file = chart().file();
        assert!(file.contains("stroke: #c2491d") && !file.contains("var("), "{file}");
        assert!(file.contains("a &lt; b") && file.contains("class=\"band f1\""), "{file}");
        let style = page_style();
        for (name, _, _) in COLOURS {
            assert!(
                style.matches(&format!("--{name}: #")).count() == 2 && style.contains(&format!("var(--{name})")),
                "{name}"
            );
        }
    }
}
