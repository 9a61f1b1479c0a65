//! A compiler of a few lines: what it writes, and the source map of that.

use serde_json::json;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A position in a text, 0-based.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TextPosition {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A script that is being written.
#[derive(Default)]
pub(crate) struct Emitter {
    pub(crate) text: String,
    line: usize,
    column: usize,
    /// The place in the script, that in the source, and the name there.
    segments: Vec<(TextPosition, TextPosition, Option<usize>)>,
    names: Vec<String>,
}

impl Emitter {
    /// Writes what is in no source.
    pub(crate) fn write(&mut self, text: &str) {
        self.text += text;
        match text.rsplit_once('\n') {
            Some((before, last)) => {
                self.line += before.matches('\n').count() + 1;
                self.column = last.len();
            }
            None => self.column += text.len(),
        }
    }

    /// Writes what comes from a place of the source, and returns where it was written.
    pub(crate) fn mapped(&mut self, text: &str, source: TextPosition, name: Option<&str>) -> TextPosition {
        let here = TextPosition { line: self.line, column: self.column };
        let name = name.map(|name| {
            let known = self.names.iter().position(|known| known == name);
            known.unwrap_or_else(|| {
                self.names.push(name.to_owned());
                self.names.len() - 1
            })
        });
        self.segments.push((here, source, name));
        self.write(text);
        here
    }

    pub(crate) fn map(&self, source: &str) -> String {
        json!({ "version": 3, "sources": [source], "names": self.names, "mappings": self.mappings() })
            .to_string()
    }

    fn mappings(&self) -> String {
        let mut text = String::new();
        let (mut line, mut column) = (0, 0);
        let mut last = TextPosition { line: 0, column: 0 };
        let mut last_name = 0;
        for (index, (here, source, name)) in self.segments.iter().enumerate() {
            if here.line > line {
                text += &";".repeat(here.line - line);
                (line, column) = (here.line, 0);
            } else if index > 0 {
                text.push(',');
            }
            number(&mut text, here.column, column);
            number(&mut text, 0, 0);
            number(&mut text, source.line, last.line);
            number(&mut text, source.column, last.column);
            if let Some(name) = name {
                number(&mut text, *name, last_name);
                last_name = *name;
            }
            (column, last) = (here.column, *source);
        }
        text
    }
}

/// Adds the difference of two numbers in the form of source maps: five bits a digit, the sign in the lowest.
fn number(text: &mut String, now: usize, before: usize) {
    let mut rest = now.abs_diff(before) << 1 | usize::from(now < before);
    loop {
        let digit = rest & 31;
        rest >>= 5;
        let more = if rest > 0 { 32 } else { 0 };
        text.push(char::from(DIGITS[digit | more]));
        if rest == 0 {
            break;
        }
    }
}
