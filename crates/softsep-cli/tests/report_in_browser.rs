//! The page of `--report` in a browser: nothing sticks out, light is light and dark is dark, and nothing is asked of
//! the network. The pictures are kept in the target directory, to be looked at.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::Place;
use serde_json::{Value, json};

/// A Chromium without a screen.
struct Browser {
    program: PathBuf,
    profile: tempfile::TempDir,
}

impl Browser {
    /// The one that is installed or can be; `None`, with a line that says why, where there is none.
    fn find() -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/chromium.sh");
        let output = Command::new("bash").arg(script).stdin(Stdio::null()).output().unwrap();
        if output.status.success() {
            let program = String::from_utf8(output.stdout).unwrap().trim().into();
            return Some(Self { program, profile: tempfile::tempdir().unwrap() });
        }
        // Past the test harness, which keeps what a test that passes prints to itself.
        let _ = writeln!(io::stderr(), "skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
        None
    }

    fn run(&self, arguments: &[String]) -> Output {
        let profile = format!("--user-data-dir={}", self.profile.path().display());
        let mut command = Command::new("timeout");
        command.arg("60").arg(&self.program).args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            &profile,
        ]);
        let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// What a script leaves as the text of the document, as JSON.
    fn answer(&self, place: &Place, script: &str) -> Value {
        place.put("asking.html", &format!("<!DOCTYPE html><body><script>{script}</script></body>"));
        let arguments =
            ["--virtual-time-budget=10000".into(), "--dump-dom".into(), address(&place.path("asking.html"))];
        let document = String::from_utf8(self.run(&arguments).stdout).unwrap();
        let text = document.split("<p>").nth(1).and_then(|rest| rest.split("</p>").next());
        serde_json::from_str(text.unwrap_or_else(|| panic!("no answer: {document}"))).unwrap()
    }

    fn picture(&self, page: &Path, view: View, to: &Path) {
        let mut arguments = view.arguments();
        arguments.extend([format!("--screenshot={}", to.display()), address(page)]);
        let _ = fs::remove_file(to);
        self.run(&arguments);
    }
}

fn address(page: &Path) -> String {
    format!("file://{}", page.display())
}

/// Who looks.
#[derive(Clone, Copy)]
struct View {
    name: &'static str,
    width: u64,
    height: u64,
    dark: bool,
}

const VIEWS: [View; 3] = [
    View { name: "light", width: 1280, height: 900, dark: false },
    View { name: "dark", width: 1280, height: 900, dark: true },
    View { name: "narrow", width: 390, height: 844, dark: false },
];

impl View {
    fn arguments(self) -> Vec<String> {
        let scheme = if self.dark { 0 } else { 1 };
        vec![
            format!("--window-size={},{}", self.width, self.height),
            format!("--blink-settings=preferredColorScheme={scheme}"),
        ]
    }
}

/// Lays out each page in a frame of each width, where it is as in a window, and counts what is wrong with it. All at
/// once: a browser takes long to start.
const MEASURE: &str = r#"
const answers = [];
function measure(name, frame) {
  const page = frame.contentDocument, box = element => element.getBoundingClientRect();
  const inside = (a, b) =>
    a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const all = (selector, within = page) => [...within.querySelectorAll(selector)];
  const ticks = all('svg').map(chart => all('.tick', chart).map(box));
  answers.push({
    name, width: frame.contentWindow.innerWidth, scroll: page.documentElement.scrollWidth,
    out: all('body *').filter(e => !e.closest('.scroll') && box(e).right > frame.contentWindow.innerWidth + 0.5).length,
    cut: all('svg text').filter(e => !inside(box(e), box(e.closest('svg')))).length,
    over: ticks.flatMap(t => t.flatMap((a, i) => t.slice(i + 1).filter(b => meet(a, b)))).length,
    labels: all('svg text').length,
    loaded: frame.contentWindow.performance.getEntriesByType('resource').length,
  });
  if (answers.length == 2 * pages.length) document.body.innerHTML = '<p>' + JSON.stringify(answers) + '</p>';
}
for (const [name, text] of pages) for (const width of [1280, 390]) {
  const frame = document.createElement('iframe');
  frame.style = `border: 0; width: ${width}px; height: 900px`;
  frame.srcdoc = text;
  frame.onload = () => measure(name, frame);
  document.body.append(frame);
}"#;

fn measured(browser: &Browser, place: &Place, pages: &[(&str, String)]) -> Vec<Value> {
    // In a script, a `<` may end it.
    let pages = json!(pages).to_string().replace('<', "\\u003c");
    let answers = browser.answer(place, &format!("const pages = {pages};{MEASURE}"));
    let answers = answers.as_array().unwrap().clone();
    assert!(answers.iter().all(|answer| answer["width"] == 1280 || answer["width"] == 390), "{answers:?}");
    answers
}

/// Looks at pictures: the size of each, the number of its colours and its mean brightness. The browser decodes them, so
/// that we need not.
const LOOK: &str = r#"
const answers = {};
for (const [name, data] of pictures) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas'); canvas.width = image.width; canvas.height = image.height;
    const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);
    const data = context.getImageData(0, 0, image.width, image.height).data, colours = new Set(); let sum = 0;
    for (let i = 0; i < data.length; i += 4) {
      colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); sum += data[i] + data[i + 1] + data[i + 2];
    }
    const brightness = sum / (data.length / 4 * 3);
    answers[name] = { width: image.width, height: image.height, colours: colours.size, brightness };
    if (Object.keys(answers).length == pictures.length)
      document.body.innerHTML = '<p>' + JSON.stringify(answers) + '</p>';
  };
  image.src = 'data:image/png;base64,' + data;
}"#;

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = |chunk: &[u8]| {
        let bits = chunk.iter().chain([0, 0].iter()).take(3).fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let letter = |place: usize| {
            if place <= chunk.len() { LETTERS[(bits >> (18 - 6 * place) & 63) as usize] as char } else { '=' }
        };
        [letter(0), letter(1), letter(2), letter(3)]
    };
    bytes.chunks(3).flat_map(letters).collect()
}

#[test]
fn base64_is_right() {
    assert_eq!([base64(b"Man"), base64(b"Ma"), base64(b"M"), base64(b"")], ["TWFu", "TWE=", "TQ==", ""]);
}

/// Pages of all kinds, by name; each is in a file of that name.
fn pages(place: &Place) -> Vec<(&'static str, String)> {
    let problems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    for name in ["scenarios", "infeasible-recourse", "unbounded-recourse"] {
        place.put(&format!("{name}.json"), &fs::read_to_string(problems.join(format!("{name}.json"))).unwrap());
    }
    place.run("generate location-transportation --n 12 --uncertainty ellipsoid --out ellipsoid.json").done();
    // Names that nobody would want on a phone.
    let long =
        common::DEPOT.replace("capacity", &"capacity".repeat(30)).replace("one depot", &"Donaudampfschiff".repeat(12));
    place.put("long.json", &long);
    let page = |name, options: &str| {
        place.run(&format!("solve {name}.json {options} --report {name}.html")).done();
        (name, place.text(&format!("{name}.html")))
    };
    let exhibit = |kind: &'static str, number: u8| {
        place.run(&format!("paper {kind} {number} --sizes smallest --out . --quiet")).done();
        let text = place.text(&format!("{kind}-{number}.html"));
        place.put(&format!("{kind}.html"), &text);
        (kind, text)
    };
    vec![
        page("ellipsoid", "--method sgd"),
        page("scenarios", "--method benders"),
        page("infeasible-recourse", ""),
        page("unbounded-recourse", ""),
        page("long", ""),
        exhibit("table", 3),
        exhibit("figure", 3),
    ]
}

#[test]
fn nothing_sticks_out() {
    let Some(browser) = Browser::find() else { return };
    let place = Place::empty();
    let pages = pages(&place);
    let answers = measured(&browser, &place, &pages);
    assert_eq!(answers.len(), 2 * pages.len());
    for answer in answers {
        assert_eq!(answer["scroll"], answer["width"], "it scrolls sideways: {answer}");
        for fault in ["out", "cut", "over", "loaded"] {
            assert_eq!(answer[fault], 0, "what sticks out, labels cut, labels over labels, files loaded: {answer}");
        }
        let charts = ["ellipsoid", "scenarios", "long", "table", "figure"].contains(&answer["name"].as_str().unwrap());
        assert_eq!(answer["labels"] != 0, charts, "{answer}");
    }
}

#[test]
fn the_measure_finds_faults() {
    let Some(browser) = Browser::find() else { return };
    let place = Place::empty();
    let wide = "<!DOCTYPE html><body><div style='width:3000px'>wide</div>".to_owned();
    let cut = "<!DOCTYPE html><body><svg width='50' height='20'><text class='tick' x='-9' y='9'>cut</text>\
               <text class='tick' x='-9' y='12'>over</text></svg>"
        .to_owned();
    for answer in measured(&browser, &place, &[("wide", wide), ("cut", cut)]) {
        let is_wide = answer["name"] == "wide";
        assert_eq!(answer["scroll"] != answer["width"], is_wide, "{answer}");
        assert_eq!(
            (answer["out"] != 0, answer["cut"] == 2, answer["over"] == 1),
            (is_wide, !is_wide, !is_wide),
            "{answer}"
        );
    }
}

#[test]
fn light_is_light_and_dark_is_dark() {
    let Some(browser) = Browser::find() else { return };
    let place = Place::empty();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    fs::create_dir_all(&folder).unwrap();
    let pages = pages(&place);
    let shown = VIEWS
        .iter()
        .map(|view| (pages[0].0, *view))
        .chain(pages[1..4].iter().zip(VIEWS).map(|(page, view)| (page.0, view)));
    let shown: Vec<(String, &str, View)> =
        shown.map(|(page, view)| (format!("{page}-{}", view.name), page, view)).collect();
    let mut pictures = Vec::new();
    for (name, page, view) in &shown {
        let picture = folder.join(format!("{name}.png"));
        browser.picture(&place.path(&format!("{page}.html")), *view, &picture);
        pictures.push((name, base64(&fs::read(picture).unwrap())));
    }
    let answers = browser.answer(&place, &format!("const pictures = {};{LOOK}", json!(pictures)));
    for (name, _, view) in &shown {
        let answer = &answers[name];
        assert_eq!(
            (answer["width"].as_u64(), answer["height"].as_u64()),
            (Some(view.width), Some(view.height)),
            "{name}: {answer}"
        );
        assert!(answer["colours"].as_u64().unwrap() > 30, "{name} is no page: {answer}");
        let brightness = answer["brightness"].as_f64().unwrap();
        assert!(if view.dark { brightness < 70.0 } else { brightness > 190.0 }, "{name}: {answer}");
    }
}
