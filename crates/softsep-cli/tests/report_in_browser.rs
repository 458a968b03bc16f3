//! The page of `--report` in a browser: nothing exceeds the width, the colour scheme is followed, and nothing is loaded
//! from the network. The screenshots are kept in the target directory for inspection.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::TestFolder;
use serde_json::{Value, json};

/// A Chromium without a screen.
struct Browser {
    program: PathBuf,
    profile: tempfile::TempDir,
}

impl Browser {
    /// The browser that is installed or can be installed; `None`, with the reason on the standard error, if none can
    /// be.
    fn find() -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/chromium.sh");
        let output = Command::new("bash").arg(script).stdin(Stdio::null()).output().unwrap();
        if output.status.success() {
            let program = String::from_utf8(output.stdout).unwrap().trim().into();
            return Some(Self { program, profile: tempfile::tempdir().unwrap() });
        }
        // The test harness captures `eprintln!` of tests that pass, but not this.
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

    /// Runs a script in an empty page, and parses the first paragraph that it writes as JSON.
    fn answer(&self, folder: &TestFolder, script: &str) -> Value {
        folder.put("asking.html", &format!("<!DOCTYPE html><body><script>{script}</script></body>"));
        let arguments =
            ["--virtual-time-budget=10000".into(), "--dump-dom".into(), address(&folder.path("asking.html"))];
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

/// The window and the colour scheme of a browser.
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

/// Lays out each page in a frame of each width, as in a window of that width, and counts its faults. All pages are
/// measured by one browser, which takes long to start.
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

fn measured(browser: &Browser, folder: &TestFolder, pages: &[(&str, String)]) -> Vec<Value> {
    // In a script, a `<` may end it.
    let pages = json!(pages).to_string().replace('<', "\\u003c");
    let answers = browser.answer(folder, &format!("const pages = {pages};{MEASURE}"));
    let answers = answers.as_array().unwrap().clone();
    assert!(answers.iter().all(|answer| answer["width"] == 1280 || answer["width"] == 390), "{answers:?}");
    answers
}

/// The size, the number of colours and the mean brightness of each picture, which the browser decodes.
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
        let letter = |position: usize| {
            if position <= chunk.len() { LETTERS[(bits >> (18 - 6 * position) & 63) as usize] as char } else { '=' }
        };
        [letter(0), letter(1), letter(2), letter(3)]
    };
    bytes.chunks(3).flat_map(letters).collect()
}

#[test]
fn base64_pads_incomplete_chunks() {
    assert_eq!([base64(b"Man"), base64(b"Ma"), base64(b"M"), base64(b"")], ["TWFu", "TWE=", "TQ==", ""]);
}

/// Pages of all kinds, by name; each is in a file of that name.
fn pages(folder: &TestFolder) -> Vec<(&'static str, String)> {
    let problems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    for name in ["scenarios", "infeasible-recourse", "unbounded-recourse"] {
        folder.put(&format!("{name}.json"), &fs::read_to_string(problems.join(format!("{name}.json"))).unwrap());
    }
    folder.run("generate location-transportation --n 12 --uncertainty ellipsoid --out ellipsoid.json").done();
    // Names far wider than a narrow screen.
    let long =
        common::DEPOT.replace("capacity", &"capacity".repeat(30)).replace("one depot", &"Donaudampfschiff".repeat(12));
    folder.put("long.json", &long);
    let page = |name, options: &str| {
        folder.run(&format!("solve {name}.json {options} --report {name}.html")).done();
        (name, folder.text(&format!("{name}.html")))
    };
    let exhibit = |kind: &'static str, number: u8| {
        folder.run(&format!("paper {kind} {number} --sizes smallest --out . --quiet")).done();
        let text = folder.text(&format!("{kind}-{number}.html"));
        folder.put(&format!("{kind}.html"), &text);
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
fn no_page_exceeds_its_width() {
    let Some(browser) = Browser::find() else { return };
    let folder = TestFolder::empty();
    let pages = pages(&folder);
    let answers = measured(&browser, &folder, &pages);
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
    let folder = TestFolder::empty();
    let wide = "<!DOCTYPE html><body><div style='width:3000px'>wide</div>".to_owned();
    let cut = "<!DOCTYPE html><body><svg width='50' height='20'><text class='tick' x='-9' y='9'>cut</text>\
               <text class='tick' x='-9' y='12'>over</text></svg>"
        .to_owned();
    for answer in measured(&browser, &folder, &[("wide", wide), ("cut", cut)]) {
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
fn pages_follow_the_colour_scheme() {
    let Some(browser) = Browser::find() else { return };
    let folder = TestFolder::empty();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    fs::create_dir_all(&kept).unwrap();
    let pages = pages(&folder);
    let shown = VIEWS
        .iter()
        .map(|view| (pages[0].0, *view))
        .chain(pages[1..4].iter().zip(VIEWS).map(|(page, view)| (page.0, view)));
    let shown: Vec<(String, &str, View)> =
        shown.map(|(page, view)| (format!("{page}-{}", view.name), page, view)).collect();
    let mut pictures = Vec::new();
    for (name, page, view) in &shown {
        let picture = kept.join(format!("{name}.png"));
        browser.picture(&folder.path(&format!("{page}.html")), *view, &picture);
        pictures.push((name, base64(&fs::read(picture).unwrap())));
    }
    let answers = browser.answer(&folder, &format!("const pictures = {};{LOOK}", json!(pictures)));
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
