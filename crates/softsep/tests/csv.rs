//! Scenario files: every spelling that is allowed, exact numbers, and little memory.
#![allow(clippy::expect_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use softsep::definition::{Complaints, ScenarioList};
use softsep::internals::format::{read_scenarios, write_scenarios};

/// Counts the bytes that this thread holds, and the most that it has held.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    HELD.set(HELD.get() + bytes);
    MOST.set(MOST.get().max(HELD.get()));
}

// SAFETY: every call is handed on to the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Counted as if it always copied: the old block is given back only when the new one is there.
        count(size as isize);
        count(-(layout.size() as isize));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Reads a text as a scenario file: its numbers, or its faults.
fn read(text: impl AsRef<[u8]>, parameters: &[String]) -> Result<ScenarioList, String> {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = folder.path().join("s.csv");
    fs::write(&path, text).expect("it can be written");
    let mut complaints = Complaints::new();
    let points = read_scenarios(&path, parameters, "s.csv", &mut complaints);
    assert_eq!(points.is_some(), complaints.is_empty());
    points.ok_or_else(|| complaints.to_string())
}

#[test]
fn every_allowed_spelling_is_read() {
    let expected = ScenarioList::from_flat(2, 2, vec![1.0, -2.5, 3e4, 0.0]).expect("two rows of two");
    for text in [
        "a,b\n1,-2.5\n3e4,0\n",
        "a,b\n1,-2.5\n3e4,0",
        "a,b\r\n1,-2.5\r\n3e4,0\r\n",
        "\u{feff}a,b\n1,-2.5\n3e4,0\n",
        "\u{feff}\"a\",\"b\"\n\"1\",\"-2.5\"\n\" 3e4 \",\"0\"\n",
        " a , b \n 1 ,\t-2.5 \n+3E+4 , 0.000\n",
        "a,b\n1,-2.5\n3e4,0\n\n\r\n \n",
        "b,a\n-2.5,1\n0,3e4\n",
    ] {
        assert_eq!(read(text, &names(&["a", "b"])).as_ref(), Ok(&expected), "{text:?}");
    }
    assert_eq!(read("a\n7\n\n", &names(&["a"])), Ok(ScenarioList::from_flat(1, 1, vec![7.0]).expect("one number")));
    assert_eq!(
        read("a\n", &names(&["a"])),
        Ok(ScenarioList::new(1)),
        "whether a set may be empty is the set's question"
    );
}

#[test]
fn faults_are_named_with_their_line_and_column() {
    let parameters = names(&["a", "b"]);
    for (text, expected) in [
        ("a,b\n1,2\n1,2,\n", "s.csv: line 3 must have 2 cells, as the header has, and has 3"),
        (
            "a,b\n1,,\n",
            "s.csv: line 2, column \"b\": the cell is empty\ns.csv: line 2 must have 2 cells, as the header has, and \
             has 3",
        ),
        ("a,b\n1,NaN\n", "s.csv: line 2, column \"b\": \"NaN\" is not a finite number"),
        ("a,b\n1,1;2\n", "s.csv: line 2, column \"b\": \"1;2\" is not a number"),
        ("b,a\n1,x\n", "s.csv: line 2, column \"a\": \"x\" is not a number"),
        (
            "a;b\n1;2\n",
            "s.csv: the header names \"a;b\", which is not an uncertain parameter\ns.csv: the header does not name \
             the uncertain parameter \"a\"\ns.csv: the header does not name the uncertain parameter \"b\"",
        ),
    ] {
        assert_eq!(read(text, &parameters), Err(expected.to_owned()), "{text:?}");
    }
    let latin = read(b"a,b\n1,\xe4\n", &parameters).expect_err("it is not UTF-8");
    assert_eq!(latin, "s.csv: line 2, column \"b\": \"\u{fffd}\" is not a number");
    let open = read(format!("a,b\n\"1,2\n{}", "3,4\n".repeat(100_000)), &parameters).expect_err("a quote is open");
    assert_eq!(open, "s.csv: cannot be read: line 2 has a cell of more than 131072 characters; is a quote not closed?");
}

#[test]
fn numbers_are_those_of_the_standard_library_wherever_the_buffer_ends() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let parameters = names(&["a", "b", "c"]);
    let mut text = String::from("a,b,c\n");
    let mut expected = Vec::new();
    for _ in 0..20_000 {
        for column in 0..3 {
            let cell = match rng.random_range(0..4) {
                0 => format!("{}", f64::from_bits(rng.random::<u64>() >> 2)),
                1 => format!("{:e}", f64::from_bits(rng.random::<u64>() >> 2)),
                2 => {
                    format!(
                        "{}{:.*}",
                        " ".repeat(rng.random_range(0..40)),
                        rng.random_range(0..25),
                        rng.random_range(-1e3..1e3)
                    )
                }
                _ => format!("{}", rng.random_range(-1000..1000)),
            };
            expected.push(cell.trim().parse::<f64>().expect("it was printed from a number"));
            let _ = write!(text, "{}{cell}", if column > 0 { "," } else { "" });
        }
        text.push('\n');
    }
    let points = read(&text, &parameters).expect("all cells are numbers");
    assert!(points.flat().iter().zip(&expected).all(|(read, parsed)| read.to_bits() == parsed.to_bits()));
    assert_eq!(points.len(), 20_000);
}

#[test]
fn written_scenarios_read_back_equal() {
    let parameters = names(&["plain", "with, comma", "with \"quotes\"", "with\nbreak", " spaces ", "é"]);
    let points =
        ScenarioList::from_flat(6, 1, vec![1e300, -0.0, 5e-324, 0.1, 123456789.0, 1e22]).expect("one row of six");
    let mut text = Vec::new();
    write_scenarios(&points, &parameters, &mut text).expect("memory can be written to");
    assert_eq!(read(text, &parameters), Ok(points));
}

#[test]
fn reading_needs_little_more_memory_than_the_numbers() {
    let (rows, dim) = (100_000, 20);
    let parameters: Vec<String> = (0..dim).map(|i| format!("p{i}")).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut text = parameters.join(",") + "\n";
    let mut cells = Vec::new();
    for _ in 0..rows {
        for column in 0..dim {
            let cell = format!("{:.6}", rng.random_range(-100.0..100.0));
            let _ = write!(text, "{}{cell}", if column > 0 { "," } else { "" });
            cells.push(cell);
        }
        text.push('\n');
    }
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = folder.path().join("s.csv");
    fs::write(&path, &text).expect("it can be written");

    let start = Instant::now();
    let sum: f64 = cells.iter().map(|cell| cell.parse::<f64>().expect("it is a number")).sum();
    let parsing = start.elapsed();
    drop(cells);

    MOST.set(HELD.get());
    let before = HELD.get();
    let start = Instant::now();
    let points = read_scenarios(&path, &parameters, "s.csv", &mut Complaints::new()).expect("all cells are numbers");
    let reading = start.elapsed();
    let array = (rows * dim * size_of::<f64>()) as isize;
    let most = MOST.get() - before;
    println!("{most} bytes for an array of {array}; {reading:?}, of which the digits alone take {parsing:?}");
    assert_eq!(points.flat().iter().sum::<f64>().to_bits(), sum.to_bits());
    assert!(most < array + array / 20 + (1 << 18), "{most} bytes for an array of {array}");
}
