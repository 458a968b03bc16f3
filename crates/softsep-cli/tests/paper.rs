//! `softsep paper`: every table and figure runs, resumes after a stop, and is reproducible.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::TestFolder;

const EXHIBITS: [(&str, u8); 9] = [
    ("table", 1),
    ("table", 2),
    ("table", 3),
    ("table", 4),
    ("table", 5),
    ("table", 6),
    ("figure", 1),
    ("figure", 2),
    ("figure", 3),
];

/// The fields of a CSV line; titles of rows stand in quotation marks.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            other => fields.last_mut().unwrap().push(other),
        }
    }
    fields
}

/// The lines of a CSV by name of column.
fn lines(csv: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = csv.lines().map(fields);
    let head = lines.next().unwrap();
    lines
        .map(|line| {
            assert_eq!(line.len(), head.len(), "{line:?}");
            head.iter().cloned().zip(line).collect()
        })
        .collect()
}

/// All but times.
fn timeless(csv: &str) -> Vec<Vec<(String, String)>> {
    let keep = |line: Vec<(String, String)>| line.into_iter().filter(|(name, _)| !name.contains("seconds")).collect();
    lines(csv).into_iter().map(keep).collect()
}

fn field<'l>(line: &'l [(String, String)], name: &str) -> &'l str {
    &line.iter().find(|(known, _)| known == name).unwrap().1
}

#[test]
fn every_table_and_figure_is_written_up() {
    let folder = TestFolder::empty();
    for (kind, number) in EXHIBITS {
        let ended = folder.run(&format!("paper {kind} {number} --sizes smallest --replications 1 --out all"));
        let printed = ended.done();
        let name = format!("all/{kind}-{number}");
        let files: &[&str] = if kind == "table" { &["csv", "md", "svg", "html"] } else { &["csv", "svg", "html"] };
        for file in files {
            assert!(printed.contains(&format!("{name}.{file}")), "{ended:?}");
        }
        let lines = lines(&folder.text(&format!("{name}.csv")));
        assert!(lines.len() >= 2, "{name}: {lines:?}");
        for line in &lines {
            assert_eq!(field(line, "outcome"), "done", "{name}: {line:?}");
            let (lower, best): (f64, f64) =
                (field(line, "lower_bound").parse().unwrap(), field(line, "best_known").parse().unwrap());
            // The two may be one number, computed in two ways.
            let width = (best - lower) / lower;
            assert!((-1e-9..=2e-5).contains(&width), "{name}: the reference is not close: {line:?}");
            assert!(field(line, "gap_end").parse::<f64>().unwrap() < 0.2, "{name}: {line:?}");
            if kind == "table" && !["adr", "algorithm-1"].contains(&field(line, "method")) {
                assert!(!field(line, "solves_to_0.1%").is_empty(), "{name}: {line:?}");
            }
        }
        if kind == "table" {
            let table = folder.text(&format!("{name}.md"));
            let widths: Vec<usize> =
                table.lines().filter(|line| line.starts_with('|')).map(|line| line.matches(" |").count()).collect();
            // The head, the line below it, and two rows.
            assert_eq!((widths.len(), widths[0], widths[2], widths[3]), (4, 6, 6, 6), "{table}");
            assert!(table.contains("proved 1/1") && table.contains("one replication, of seed 1"), "{table}");
        }
        let page = folder.text(&format!("{name}.html"));
        for wanted in
            ["<!DOCTYPE html>", "Complete", &format!("softsep paper {kind} {number}"), "softsep generate", "<svg"]
        {
            assert!(page.contains(wanted), "{name}: no {wanted}");
        }
        for forbidden in ["http:", "https:", "src=", "href=", "<script", "url(", "NaN", "inf "] {
            assert!(!page.contains(forbidden), "{name}: {forbidden}");
        }
        let figure = folder.text(&format!("{name}.svg"));
        assert!(
            figure.starts_with("<svg xmlns=") && figure.contains("class=\"curve") && !figure.contains("NaN"),
            "{name}"
        );
    }
}

#[test]
fn finished_cells_are_kept_and_the_others_give_the_same_numbers() {
    let folder = TestFolder::empty();
    for (kind, number) in [("table", 2), ("table", 6), ("figure", 1)] {
        let command = format!("paper {kind} {number} --sizes smallest --out kept");
        folder.run(&command).done();
        let whole = folder.text(&format!("kept/{kind}-{number}.csv"));
        let cells = folder.path(&format!("kept/cells/{kind}-{number}"));
        let mut files: Vec<_> = fs::read_dir(&cells).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let before: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        // As a kill leaves it: some cells are missing, and one is cut off in the middle.
        for file in files.iter().step_by(3) {
            fs::remove_file(file).unwrap();
        }
        fs::write(&files[1], &before[1][..before[1].len() / 2]).unwrap();
        let again = folder.run(&command);
        again.done();
        assert_eq!(timeless(&folder.text(&format!("kept/{kind}-{number}.csv"))), timeless(&whole), "{kind} {number}");
        let run_anew = |index: usize| index.is_multiple_of(3) || index == 1;
        for (index, file) in files.iter().enumerate() {
            assert_eq!(fs::read_to_string(file).unwrap() != before[index], run_anew(index), "{}", file.display());
        }
        let kept = (0..files.len()).filter(|index| !run_anew(*index)).count();
        assert_eq!(again.stderr.matches("kept from before").count(), kept, "{again:?}");
    }
}

#[test]
fn cells_of_other_settings_are_run_again() {
    let folder = TestFolder::empty();
    folder.run("paper table 3 --sizes smallest --replications 1 --out kept").done();
    let first = folder.text("kept/table-3.csv");
    let other = folder.run("paper table 3 --sizes smallest --replications 1 --seed 2 --out kept");
    other.done();
    assert!(!other.stderr.contains("kept from before"), "{other:?}");
    assert_ne!(timeless(&folder.text("kept/table-3.csv")), timeless(&first));
    folder.run("paper table 3 --sizes smallest --replications 2 --out both").done();
    let both = timeless(&folder.text("both/table-3.csv"));
    let second: Vec<_> =
        both.iter().filter(|line| field(line, "seed") == "2").map(|line| field(line, "lower_bound")).collect();
    let alone = timeless(&folder.text("kept/table-3.csv"));
    assert_eq!(second, alone.iter().map(|line| field(line, "lower_bound")).collect::<Vec<_>>());
}

#[test]
fn numbers_do_not_depend_on_threads() {
    let folder = TestFolder::empty();
    let csv = |threads: u8| {
        folder
            .run(&format!("paper table 6 --sizes smallest --replications 1 --threads {threads} --out t{threads}"))
            .done();
        timeless(&folder.text(&format!("t{threads}/table-6.csv")))
    };
    assert_eq!(csv(1), csv(2));
}

/// Two tables of one folder at a time do not meet; rows and replications are run as asked.
#[test]
fn tables_run_side_by_side_and_by_rows() {
    let folder = TestFolder::empty();
    let command = |table: u8| {
        format!("paper table {table} --sizes smallest --threads 1 --rows n3 --replicate-below 1e-9 --out one")
    };
    let mut children: Vec<_> =
        [2, 3].map(|table| folder.command(&command(table)).spawn().unwrap()).into_iter().collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    for table in [2, 3] {
        let again = folder.run(&command(table));
        again.done();
        assert_eq!(again.stderr.matches("kept from before").count(), 6, "{again:?}");
        let lines = lines(&folder.text(&format!("one/table-{table}.csv")));
        assert_eq!(lines.len(), 5, "{lines:?}");
        for line in lines {
            assert!(field(&line, "row").starts_with("n = 3,") && field(&line, "replication") == "1", "{line:?}");
            let seconds = |name: &str| field(&line, name).parse::<f64>().unwrap();
            // One thread cannot use more CPU time than there is, but for the clocks' resolution.
            assert!(seconds("cpu_seconds_to_end") <= seconds("seconds_to_end") + 0.1, "{line:?}");
        }
        let text = folder.text(&format!("one/table-{table}.md"));
        assert!(text.contains("Seconds are CPU time of the process"), "{text}");
        assert!(text.contains("--replicate-below 0.000000001 --rows n3 --threads 1 --out one"), "{text}");
    }
}

#[test]
fn a_reached_time_limit_is_reported() {
    let folder = TestFolder::empty();
    folder.run("paper table 2 --sizes smallest --replications 1 --time-limit 1e-7 --out short").done();
    let lines = lines(&folder.text("short/table-2.csv"));
    assert!(lines.iter().any(|line| field(line, "outcome") == "limit"), "{lines:?}");
    assert!(folder.text("short/table-2.html").contains("&gt; 0.0000001"));
}

#[test]
fn invalid_arguments_are_refused() {
    let folder = TestFolder::empty();
    folder.put("file", "");
    for (wrong, said) in [
        ("paper table 7", "the paper's tables are 1 to 6"),
        ("paper table 0", "the paper's tables are 1 to 6"),
        ("paper figure -1", "the paper's figures are 1 to 3"),
        ("paper figure one", "the paper's figures are 1 to 3"),
        ("paper table 1 --sizes huge", "[possible values: "),
        ("paper table 1 --replications 0", "the number of replications is an integer from 1"),
        ("paper table 1 --time-limit 0", "the time limit is a positive number of seconds"),
        ("paper table 1 --replicate-below 0", "a duration is a positive number of seconds"),
        ("paper table 1 --rows n4", "--rows: \"n4\" is no row; the rows are n3, n10, n30"),
        ("paper table 1 --out file", "file"),
        ("paper chart 1", "unrecognized subcommand"),
        ("paper table", "<N>"),
    ] {
        folder.run(wrong).refused(&[said]);
    }
}

/// Sends Ctrl-C while a run is in its middle.
#[cfg(unix)]
#[test]
fn an_interrupted_run_prints_how_to_resume_and_resumes() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = TestFolder::empty();
    let command = "paper table 4 --sizes smallest --replications 30 --out stopped";
    let child = folder.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let cells = folder.path("stopped/cells/table-4");
    let count = || fs::read_dir(&cells).map_or(0, |entries| entries.count());
    let deadline = Instant::now() + Duration::from_secs(60);
    while count() < 5 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("To go on:\n  softsep paper table 4 --sizes smallest --replications 30 --out stopped"),
        "{said}"
    );
    let page = folder.text("stopped/table-4.html");
    assert!(page.contains("Not complete"), "{said}");
    let kept = count();
    assert!((5..150).contains(&kept), "{kept} cells");
    let again = folder.run("paper table 4 --sizes smallest --replications 1 --out stopped");
    again.done();
    assert!(again.stderr.contains("kept from before"), "{again:?}");
}
