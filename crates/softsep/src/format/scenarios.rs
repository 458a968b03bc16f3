//! Scenario CSVs: a header of parameter names, then one row of numbers for each scenario, into one flat array.
//!
//! The file is gone through twice with one fixed buffer: once to count its lines, which is far cheaper than reading
//! numbers, and once to read them. The array is made in its final size, so that reading needs little more memory than
//! the array itself.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::definition::{Complaints, ScenarioList, nearest};

/// Bytes held at a time; no cell may be longer.
const BUFFER: usize = 1 << 17;

/// Faults named one by one; the others are counted.
const NAMED: usize = 20;

/// Reads the scenarios of `path`. Columns are matched to `parameters` by the names in the header. `None` after
/// complaints at `place`.
pub fn read_scenarios(
    path: &Path,
    parameters: &[String],
    place: &str,
    complaints: &mut Complaints,
) -> Option<ScenarioList> {
    let mut faults = Faults { place, complaints, count: 0 };
    let points = open(path).and_then(|file| read_rows(file, parameters, &mut faults)).unwrap_or_else(|error| {
        let what = match error.kind() {
            ErrorKind::NotFound => format!("there is no such file ({})", path.display()),
            _ => format!("cannot be read: {error}"),
        };
        faults.complaints.add(place, what);
        None
    });
    faults.finish();
    points
}

/// Writes scenarios as CSV; reading that gives the same points.
pub fn write_scenarios(points: &ScenarioList, parameters: &[String], out: &mut impl Write) -> io::Result<()> {
    let header: Vec<String> = parameters.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    writeln!(out, "{}", header.join(","))?;
    for point in points.iter() {
        for (i, value) in point.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(out, "{comma}{}", super::writer::number(*value))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A regular file: a directory or a pipe could not be gone through twice.
fn open(path: &Path) -> io::Result<File> {
    // The path is checked first, since opening a pipe would wait for a writer.
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// Complaints about one file, of which only the first few are named.
struct Faults<'c> {
    place: &'c str,
    complaints: &'c mut Complaints,
    count: usize,
}

impl Faults<'_> {
    fn add(&mut self, what: String) {
        self.count += 1;
        if self.count <= NAMED {
            self.complaints.add(self.place, what);
        }
    }

    fn finish(self) {
        if self.count > NAMED {
            self.complaints.add(self.place, format!("and {} more", self.count - NAMED));
        }
    }
}

fn read_rows<R: Read + Seek>(
    mut input: R,
    parameters: &[String],
    faults: &mut Faults,
) -> io::Result<Option<ScenarioList>> {
    let mut buffer = vec![0; BUFFER];
    let most = count_cells(&mut input, &mut buffer, parameters.len())?;
    input.seek(SeekFrom::Start(0))?;
    let mut cells = Cells { input, buffer, start: 0, end: 0, line: 1 };
    let Some(columns) = read_header(&mut cells, parameters, faults)? else { return Ok(None) };
    let dim = columns.len();
    let mut values: Vec<f64> = Vec::with_capacity(most);
    let mut blank = None;
    while !cells.at_end()? {
        let (line, row) = (cells.line, values.len());
        values.resize(row + dim, 0.0);
        let found = read_row(&mut cells, &mut values[row..], &columns, parameters, faults)?;
        if found == 0 {
            values.truncate(row);
            blank = blank.or(Some(line));
            continue;
        }
        if let Some(line) = blank.take() {
            faults.add(format!("line {line} is blank, and blank lines may stand at the end only"));
        }
        if found != dim {
            faults.add(format!("line {line} must have {dim} cells, as the header has, and has {found}"));
        }
    }
    if faults.count > 0 {
        return Ok(None);
    }
    // Many blank lines at the end of the file leave unused capacity; a little of it is not worth moving the array.
    if values.capacity() > values.len() + values.len() / 16 {
        values.shrink_to_fit();
    }
    Ok(ScenarioList::from_flat(dim, values.len() / dim, values))
}

/// Reads one line into `row` and returns the number of its cells: zero if it is blank.
fn read_row<R: Read>(
    cells: &mut Cells<R>,
    row: &mut [f64],
    columns: &[usize],
    parameters: &[String],
    faults: &mut Faults,
) -> io::Result<usize> {
    let line = cells.line;
    let mut found = 0;
    loop {
        if let Some(&column) = columns.get(found)
            && let Some((value, last)) = cells.plain_number()
        {
            row[column] = value;
            found += 1;
            if last {
                return Ok(found);
            }
            continue;
        }
        let (cell, last) = cells.next()?;
        let cell = unquote(cell);
        if last && found == 0 && cell.is_empty() {
            return Ok(0);
        }
        if let Some(&column) = columns.get(found) {
            match number(&cell) {
                Ok(value) => row[column] = value,
                Err(what) => faults.add(format!("line {line}, column \"{}\": {what}", parameters[column])),
            }
        }
        found += 1;
        if last {
            return Ok(found);
        }
    }
}

/// The parameter of each column; `None` after complaints.
fn read_header<R: Read>(
    cells: &mut Cells<R>,
    parameters: &[String],
    faults: &mut Faults,
) -> io::Result<Option<Vec<usize>>> {
    let index: HashMap<&str, usize> = parameters.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let mut columns = Vec::with_capacity(parameters.len());
    let mut seen = vec![false; parameters.len()];
    if cells.at_end()? {
        faults.add("the file is empty; its first line must name the uncertain parameters".to_owned());
        return Ok(None);
    }
    cells.skip_mark();
    loop {
        let (cell, last) = cells.next()?;
        let name = String::from_utf8_lossy(&unquote(cell)).into_owned();
        match index.get(name.as_str()) {
            Some(&column) if seen[column] => faults.add(format!("the header has \"{name}\" twice")),
            Some(&column) => {
                seen[column] = true;
                columns.push(column);
            }
            None => {
                let meant = nearest(&name, parameters.iter().map(String::as_str));
                faults.add(format!("the header names \"{name}\", which is not an uncertain parameter{meant}"));
            }
        }
        if last {
            break;
        }
    }
    for (name, _) in parameters.iter().zip(&seen).filter(|(_, seen)| !**seen) {
        faults.add(format!("the header does not name the uncertain parameter \"{name}\""));
    }
    Ok((faults.count == 0).then_some(columns))
}

/// An upper bound on the number of numbers below the header of `dim` columns.
fn count_cells(input: &mut impl Read, buffer: &mut [u8], dim: usize) -> io::Result<usize> {
    let (mut breaks, mut bytes, mut ends_open) = (0_usize, 0_usize, false);
    loop {
        let length = match input.read(buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += length;
        breaks += buffer[..length].iter().filter(|&&byte| byte == b'\n').count();
        // Without a break at the end of the text its last line counts as well.
        ends_open = buffer[length - 1] != b'\n';
    }
    // A cell takes two bytes at least: blank lines must not make the array larger than the file warrants.
    let lines = breaks + usize::from(ends_open);
    Ok(lines.saturating_sub(1).saturating_mul(dim).min(bytes / 2 + 1))
}

/// The cells of a CSV text one after the other.
struct Cells<R> {
    input: R,
    buffer: Vec<u8>,
    /// The unread part of the buffer.
    start: usize,
    end: usize,
    /// The line of the next cell, counted from 1.
    line: u64,
}

impl<R: Read> Cells<R> {
    /// The next cell, if it is a finite number without spaces or quotes and ends within the buffer, and whether it is
    /// the last of its line. Almost all are: its digits are gone through once, to read them and to find their end.
    fn plain_number(&mut self) -> Option<(f64, bool)> {
        let unread = &self.buffer[self.start..self.end];
        let (value, length) = fast_float2::parse_partial::<f64, _>(unread).ok()?;
        let (last, end) = match unread.get(length..)? {
            [b',', ..] => (false, length + 1),
            [b'\n', ..] => (true, length + 1),
            [b'\r', b'\n', ..] => (true, length + 2),
            _ => return None,
        };
        if !value.is_finite() {
            return None;
        }
        self.start += end;
        self.line += u64::from(last);
        Some((value, last))
    }

    /// The next cell, with the quotes and spaces around it, and whether it is the last of its line.
    fn next(&mut self) -> io::Result<(&[u8], bool)> {
        let mut scanned = 0;
        let mut quoted = false;
        loop {
            let unread = &self.buffer[self.start..self.end];
            // Commas, breaks and quotes come before all that numbers are made of, so that one comparison passes over
            // those.
            while let Some(special) = unread[scanned..].iter().position(|&byte| byte <= b',') {
                let stop = scanned + special;
                scanned = stop + 1;
                match unread[stop] {
                    // A doubled quote within quotes closes and opens them again, with the same result.
                    b'"' => quoted = !quoted,
                    end @ (b',' | b'\n') if !quoted => {
                        let cell = self.start..self.start + stop;
                        self.start += scanned;
                        self.line += u64::from(end == b'\n');
                        return Ok((&self.buffer[cell], end == b'\n'));
                    }
                    _ => {}
                }
            }
            scanned = unread.len();
            if self.fill()? == 0 {
                let cell = self.start..self.end;
                self.start = self.end;
                return Ok((&self.buffer[cell], true));
            }
        }
    }

    /// Whether nothing is left; a line break at the end of the text does not begin another line.
    fn at_end(&mut self) -> io::Result<bool> {
        Ok(self.start == self.end && self.fill()? == 0)
    }

    /// Passes over a byte order mark, which some spreadsheets put before the header.
    fn skip_mark(&mut self) {
        if self.buffer[self.start..self.end].starts_with("\u{feff}".as_bytes()) {
            self.start += "\u{feff}".len();
        }
    }

    /// Moves the unread bytes to the front and reads on behind them. Returns the number of bytes read, 0 at the end of
    /// the input.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end == self.buffer.len() {
            let what =
                format!("line {} has a cell of more than {BUFFER} characters; is a quote not closed?", self.line);
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(length) => {
                    self.end += length;
                    return Ok(length);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A cell without the spaces and the quotes around it.
fn unquote(cell: &[u8]) -> Cow<'_, [u8]> {
    let cell = cell.trim_ascii();
    match cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")) {
        None => Cow::Borrowed(cell),
        Some(inner) if !inner.contains(&b'"') => Cow::Borrowed(inner),
        Some(inner) => {
            let mut single = Vec::with_capacity(inner.len());
            let mut bytes = inner.iter().peekable();
            while let Some(&byte) = bytes.next() {
                single.push(byte);
                if byte == b'"' {
                    bytes.next_if(|&&next| next == b'"');
                }
            }
            Cow::Owned(single)
        }
    }
}

/// A finite number, or the fault of the cell.
fn number(cell: &[u8]) -> Result<f64, String> {
    match std::str::from_utf8(cell.trim_ascii()).map(str::parse::<f64>) {
        Ok(Ok(value)) if value.is_finite() => Ok(value),
        Ok(Ok(_)) => Err(format!("\"{}\" is not a finite number", excerpt(cell))),
        _ if cell.trim_ascii().is_empty() => Err("the cell is empty".to_owned()),
        _ => Err(format!("\"{}\" is not a number", excerpt(cell))),
    }
}

fn excerpt(cell: &[u8]) -> String {
    let text = String::from_utf8_lossy(cell);
    if text.chars().count() <= 30 { text.into_owned() } else { text.chars().take(29).chain(['…']).collect() }
}
