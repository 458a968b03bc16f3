//! The grammar of JSON: text into the tree of [`json`](super::json), or the one fault that ends the reading.

use std::borrow::Cow;

use super::json::{Member, Node, Position, Value};
use crate::definition::Complaint;

/// Lists and objects may be nested this deep; the format itself needs seven levels.
const DEPTH_LIMIT: usize = 128;

/// A text and the position up to which it has been read.
pub(super) struct Parser<'t> {
    text: &'t str,
    /// The byte to be read next.
    next: usize,
    /// The byte that `at` belongs to. Positions are computed in order, so that counting on from the last one is linear
    /// in total.
    counted: usize,
    at: Position,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, next: 0, counted: 0, at: Position { line: 1, column: 1 } }
    }

    /// The one value that the text consists of.
    pub(super) fn whole(mut self) -> Result<Node<'t>, Complaint> {
        self.space();
        let node = self.value(0)?;
        self.space();
        if self.next < self.text.len() {
            return Err(self.expected("the end of the file"));
        }
        Ok(node)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.next).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.next += 1;
        }
    }

    fn position(&mut self) -> Position {
        for &byte in &self.text.as_bytes()[self.counted..self.next] {
            if byte == b'\n' {
                self.at = Position { line: self.at.line.saturating_add(1), column: 1 };
            } else if byte & 0xc0 != 0x80 {
                // Every byte of UTF-8 but the continuation bytes begins a character.
                self.at.column = self.at.column.saturating_add(1);
            }
        }
        self.counted = self.next;
        self.at
    }

    fn fault(&mut self, what: impl Into<String>) -> Complaint {
        Complaint { place: self.position().to_string(), what: what.into() }
    }

    fn expected(&mut self, what: &str) -> Complaint {
        let found = match self.text[self.next..].chars().next() {
            None => "the file ends here".to_owned(),
            Some('/' | '#') => "found a comment, and JSON has none".to_owned(),
            Some('\'') => "found a single quote; strings have double quotes".to_owned(),
            Some(found) if found.is_control() => format!("found the character U+{:04X}", u32::from(found)),
            Some(found) => format!("found {found}"),
        };
        self.fault(format!("expected {what}, but {found}"))
    }

    fn value(&mut self, depth: usize) -> Result<Node<'t>, Complaint> {
        let at = self.position();
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.object(depth, at)?),
            Some(b'[') => Value::List(self.list(depth, at)?),
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { at, value })
    }

    fn word(&mut self) -> Result<Value<'t>, Complaint> {
        let rest = &self.text[self.next..];
        let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let value = match &rest[..length] {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            word @ ("NaN" | "Infinity") => Value::NotFinite(word),
            "" => return Err(self.expected("a value")),
            word => {
                let word: String = word.chars().take(20).collect();
                return Err(self.fault(format!("expected a value, but found {word}; strings have double quotes")));
            }
        };
        self.next += length;
        Ok(value)
    }

    fn digits(&mut self) -> Result<(), Complaint> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.expected("a digit"));
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.next += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value<'t>, Complaint> {
        let start = self.next;
        if self.peek() == Some(b'-') {
            self.next += 1;
            if self.text[self.next..].starts_with("Infinity") {
                self.next += "Infinity".len();
                return Ok(Value::NotFinite("-Infinity"));
            }
        }
        if self.peek() == Some(b'0') {
            self.next += 1;
            if let Some(b'0'..=b'9') = self.peek() {
                return Err(self.fault("a number must not begin with 0 and a further digit"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.next += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.next += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.next += 1;
            }
            self.digits()?;
        }
        let text = &self.text[start..self.next];
        Ok(match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Number(number),
            _ => Value::NotFinite(text),
        })
    }

    fn string(&mut self) -> Result<Cow<'t, str>, Complaint> {
        let opened = self.position();
        self.next += 1;
        let mut start = self.next;
        let mut unescaped = String::new();
        loop {
            match self.peek() {
                Some(b'"') => {
                    let rest = &self.text[start..self.next];
                    self.next += 1;
                    return Ok(if unescaped.is_empty() { Cow::Borrowed(rest) } else { Cow::Owned(unescaped + rest) });
                }
                Some(b'\\') => {
                    unescaped.push_str(&self.text[start..self.next]);
                    unescaped.push(self.escape()?);
                    start = self.next;
                }
                Some(byte) if byte < 0x20 => {
                    return Err(self.fault(format!(
                        "a string must not hold the bare character U+{byte:04X} (is the string that begins in \
                         {opened} closed?)"
                    )));
                }
                Some(_) => self.next += 1,
                None => return Err(self.fault(format!("the file ends within the string that begins in {opened}"))),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Complaint> {
        let escaped = match self.text.as_bytes().get(self.next + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.fault(r#"expected one of \" \\ \/ \b \f \n \r \t \u after a backslash"#)),
        };
        self.next += 2;
        Ok(escaped)
    }

    /// `\u` and four hexadecimal digits, or two of these that make a surrogate pair.
    fn unicode_escape(&mut self) -> Result<char, Complaint> {
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
            digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
        };
        let Some(first) = unit(self.next) else { return Err(self.fault("expected four hexadecimal digits after \\u")) };
        if let Some(character) = char::from_u32(first) {
            self.next += 6;
            return Ok(character);
        }
        let pair = unit(self.next + 6).filter(|second| first < 0xdc00 && (0xdc00..0xe000).contains(second));
        match pair.and_then(|second| char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))) {
            Some(character) => {
                self.next += 12;
                Ok(character)
            }
            None => Err(self.fault(format!("\\u{first:04x} is one half of a surrogate pair without the other"))),
        }
    }

    /// Enters a list or an object; true if it is empty and so over already.
    fn open(&mut self, depth: usize, close: u8) -> Result<bool, Complaint> {
        if depth == DEPTH_LIMIT {
            return Err(self.fault(format!("lists and objects are nested more than {DEPTH_LIMIT} deep")));
        }
        self.next += 1;
        self.space();
        let empty = self.peek() == Some(close);
        self.next += usize::from(empty);
        Ok(empty)
    }

    /// After an item of a list or an object: true at its end, false if another item follows.
    fn closed(&mut self, kind: &str, opened: Position, close: u8) -> Result<bool, Complaint> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.next += 1;
                self.space();
                if self.peek() == Some(close) {
                    return Err(self.fault(format!("the last item of the {kind} must not be followed by a comma")));
                }
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.next += 1;
                Ok(true)
            }
            _ => Err(self.expected(&format!("a comma or the end of the {kind} that begins in {opened}"))),
        }
    }

    fn list(&mut self, depth: usize, at: Position) -> Result<Vec<Node<'t>>, Complaint> {
        let mut items = Vec::new();
        let mut over = self.open(depth, b']')?;
        while !over {
            items.push(self.value(depth + 1)?);
            over = self.closed("list", at, b']')?;
        }
        Ok(items)
    }

    fn object(&mut self, depth: usize, opened: Position) -> Result<Vec<Member<'t>>, Complaint> {
        let mut members = Vec::new();
        let mut over = self.open(depth, b'}')?;
        while !over {
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in double quotes"));
            }
            let at = self.position();
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.expected("a colon after the key"));
            }
            self.next += 1;
            self.space();
            members.push(Member { key, at, value: self.value(depth + 1)? });
            over = self.closed("object", opened, b'}')?;
        }
        Ok(members)
    }
}
