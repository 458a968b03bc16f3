//! The page of `--report` in a browser: nothing sticks out, light is light and dark is dark, and nothing is asked of the network. The pictures
//! are kept in the target directory, to be looked at.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::Place;

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
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
        None
    }

    fn run(&self, arguments: &[String]) -> Output {
        let profile = format!("--user-data-dir={}", self.profile.path().display());
        let mut command = Command::new("timeout");
        command.arg("60").arg(&self.program).args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", &profile]);
        let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// The document that is left when the page's scripts have run.
    fn document(&self, page: &Path, view: View) -> String {
        let mut arguments = view.arguments();
        arguments.extend(["--dump-dom".to_owned(), address(page)]);
        String::from_utf8(self.run(&arguments).stdout).unwrap()
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
    width: u32,
    height: u32,
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
        vec![format!("--window-size={},{}", self.width, self.height), format!("--blink-settings=preferredColorScheme={scheme}")]
    }
}

/// What a copy of the page says of itself. The page forbids scripts; the copy does not.
const MEASURE: &str = "<script>
const frame = document.documentElement, wide = innerWidth;
const out = [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') && e.getBoundingClientRect().right > wide + 0.5);
const texts = [...document.querySelectorAll('svg text')];
const crossed = texts.filter(e => { const t = e.getBoundingClientRect(), s = e.closest('svg').getBoundingClientRect();
  return t.left < s.left - 1 || t.right > s.right + 1 || t.top < s.top - 1 || t.bottom > s.bottom + 1; });
const ticks = [...document.querySelectorAll('svg')].flatMap(s => { const t = [...s.querySelectorAll('.tick')].map(e => e.getBoundingClientRect());
  return t.flatMap((a, i) => t.slice(i + 1).filter(b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)); });
const loaded = performance.getEntriesByType('resource').length;
document.body.innerHTML = '<p id=\"measured\">' + [frame.scrollWidth, wide, out.length, crossed.length, ticks.length, texts.length, loaded].join(' ') + '</p>';
</script></body>";

/// Looks at a picture: its width and height, the number of its colours and its mean brightness. The browser decodes it, so that we need not.
fn look_at(picture: &Path) -> String {
    let data = base64(&fs::read(picture).unwrap());
    format!(
        "<!DOCTYPE html><body><script>
const image = new Image();
image.onload = () => {{
  const canvas = document.createElement('canvas'); canvas.width = image.width; canvas.height = image.height;
  const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);
  const data = context.getImageData(0, 0, image.width, image.height).data, colours = new Set(); let sum = 0;
  for (let i = 0; i < data.length; i += 4) {{ colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); sum += data[i] + data[i + 1] + data[i + 2]; }}
  document.body.innerHTML = '<p id=\"measured\">' + [image.width, image.height, colours.size, Math.round(sum / (data.length / 4 * 3))].join(' ') + '</p>';
}};
image.src = 'data:image/png;base64,{data}';
</script></body>"
    )
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = |chunk: &[u8]| {
        let bits = chunk.iter().chain([0, 0].iter()).take(3).fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let letter =
            |place: usize| if place <= chunk.len() { LETTERS[(bits >> (18 - 6 * place) & 63) as usize] as char } else { '=' };
        [letter(0), letter(1), letter(2), letter(3)]
    };
    bytes.chunks(3).flat_map(letters).collect()
}

#[test]
fn base64_is_right() {
    assert_eq!([base64(b"Man"), base64(b"Ma"), base64(b"M"), base64(b"")], ["TWFu", "TWE=", "TQ==", ""]);
}

/// The numbers that a measuring page left.
fn measured(document: &str) -> Vec<f64> {
    let text = document.split("id=\"measured\">").nth(1).and_then(|rest| rest.split('<').next());
    let text = text.unwrap_or_else(|| panic!("nothing was measured: {document}"));
    text.split(' ').map(|word| word.parse().unwrap()).collect()
}

/// The pages: name, and the command that writes it.
fn pages(place: &Place) -> Vec<(&'static str, PathBuf)> {
    let problems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    for name in ["scenarios", "infeasible-recourse"] {
        place.put(&format!("{name}.json"), &fs::read_to_string(problems.join(format!("{name}.json"))).unwrap());
    }
    place.run("generate location-transportation --n 12 --uncertainty ellipsoid --out ellipsoid.json").done();
    place.run("solve ellipsoid.json --method sgd --report ellipsoid.html").done();
    place.run("solve scenarios.json --report scenarios.html").done();
    place.run("solve infeasible-recourse.json --report infeasible.html").done();
    // Names that nobody would want on a phone.
    let long = common::DEPOT.replace("capacity", &"capacity".repeat(30)).replace("one depot", &"Donaudampfschiff".repeat(12));
    place.put("long.json", &long);
    place.run("solve long.json --report long.html").done();
    ["ellipsoid", "scenarios", "infeasible", "long"].map(|name| (name, place.path(&format!("{name}.html")))).into()
}

#[test]
fn it_looks_right() {
    let Some(browser) = Browser::find() else { return };
    let place = Place::empty();
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    fs::create_dir_all(&pictures).unwrap();
    for (name, page) in pages(&place) {
        let text = fs::read_to_string(&page).unwrap();
        let policy = text.lines().find(|line| line.contains("Content-Security-Policy")).unwrap();
        let copy = place.path("copy.html");
        fs::write(&copy, text.replace(policy, "").replace("</body>", MEASURE)).unwrap();
        for view in VIEWS {
            let case = format!("{name}, {}", view.name);
            let numbers = measured(&browser.document(&copy, view));
            let [scroll, wide, out, crossed, ticks, texts, loaded] = numbers[..] else { panic!("{case}: {numbers:?}") };
            assert!(scroll <= wide, "{case}: {scroll} pixels in a window of {wide}");
            assert_eq!(
                (out, crossed, ticks, loaded),
                (0.0, 0.0, 0.0, 0.0),
                "{case}: what sticks out, labels cut, labels over labels, files loaded"
            );
            assert_eq!(texts > 0.0, name != "infeasible", "{case}: {texts} labels");

            let picture = pictures.join(format!("{name}-{}.png", view.name));
            browser.picture(&page, view, &picture);
            let looking = place.path("looking.html");
            fs::write(&looking, look_at(&picture)).unwrap();
            let numbers = measured(&browser.document(&looking, view));
            let [width, height, colours, brightness] = numbers[..] else { panic!("{case}: {numbers:?}") };
            assert_eq!((width, height), (f64::from(view.width), f64::from(view.height)), "{case}");
            assert!(colours > 30.0, "{case}: {colours} colours make no page");
            assert!(if view.dark { brightness < 70.0 } else { brightness > 190.0 }, "{case}: brightness {brightness}");
        }
    }
}

#[test]
fn the_measure_finds_what_sticks_out() {
    let Some(browser) = Browser::find() else { return };
    let place = Place::empty();
    place.put("wide.html", &format!("<!DOCTYPE html><body><div style='width:3000px'>wide</div>{MEASURE}"));
    let numbers = measured(&browser.document(&place.path("wide.html"), VIEWS[2]));
    assert!(numbers[0] > numbers[1] && numbers[2] >= 1.0, "{numbers:?}");
}
