//! Texts that are put into a script, and the source map of the result.

use std::fmt::Write;

use engine::adapter::node::file_url;
use serde::Serialize;

use super::original::Original;

/// What is put in where.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Where, in bytes, and what; those at the same place in the order in which they are to be there.
    edits: Vec<(u32, Vec<Piece>)>,
}

/// A part of a text that is put in.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    /// The number of a name, as a key.
    Name(String),
    /// The number of a line.
    Place(u32, u32),
    /// The number of a function.
    Code(u32),
}

/// A number that the program fills in, because it gives the numbers out.
#[derive(Debug, Serialize)]
pub(super) struct Hole(u32, &'static str, usize);

/// The text with everything in it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Applied {
    pub(super) text: String,
    pub(super) holes: Vec<Hole>,
    pub(super) names: Vec<String>,
    pub(super) places: Vec<(u32, u32)>,
}

/// As long as every number that is filled in.
const HOLE: &str = "0x00000000";

impl Edits {
    /// Puts something in at a place. Returns a handle to put more in after it.
    pub(super) fn put(&mut self, at: u32, pieces: Vec<Piece>) -> usize {
        self.edits.push((at, pieces));
        self.edits.len() - 1
    }

    /// Adds to what was put in.
    pub(super) fn extend(&mut self, handle: usize, pieces: Vec<Piece>) {
        if let Some((_, all)) = self.edits.get_mut(handle) {
            all.extend(pieces);
        }
    }

    /// The text with all of it, and its source map at the end.
    pub(super) fn apply(mut self, source: &str, original: &Original) -> Applied {
        self.edits.sort_by_key(|(at, _)| *at);
        let mut output = Output::new(original);
        let mut from = 0;
        for (at, pieces) in &self.edits {
            let at = usize::try_from(*at).unwrap_or(usize::MAX);
            output.original(source.get(from..at).unwrap_or_default());
            from = at;
            for piece in pieces {
                output.piece(piece);
            }
        }
        output.original(source.get(from..).unwrap_or_default());
        output.finish()
    }
}

/// Writes the text and its map.
struct Output<'o> {
    source: &'o Original,
    applied: Applied,
    /// UTF-16 units so far.
    units: u32,
    map: String,
    column: Position,
    /// Where the text comes from, before and after the map that it has already.
    at: (u32, u32),
    original_line: Position,
    original_column: Position,
    /// Something was put in since the last mapping.
    is_moved: bool,
}

/// A number of the map, which has the difference to the one before.
#[derive(Default)]
struct Position {
    now: u32,
    mapped: u32,
}

impl<'o> Output<'o> {
    fn new(source: &'o Original) -> Self {
        Self {
            source,
            applied: Applied::default(),
            units: 0,
            map: String::new(),
            column: Position::default(),
            at: (0, 0),
            original_line: Position::default(),
            original_column: Position::default(),
            is_moved: false,
        }
    }

    fn original(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.applied.text.push('\n');
                self.units += 1;
                self.map.push(';');
                (self.column.now, self.column.mapped) = (0, 0);
                self.at = (self.at.0 + 1, 0);
                self.is_moved = true;
            }
            if line.is_empty() {
                continue;
            }
            // Stacks have places of tokens, and a place that the map does not have is that of the one before.
            let mut was_word = false;
            for letter in line.chars() {
                let is_word = letter.is_alphanumeric() || "_$".contains(letter);
                self.is_moved |= !(letter.is_whitespace() || is_word && was_word);
                was_word = is_word;
                if self.is_moved {
                    self.mapping();
                }
                let units = if u32::from(letter) > 0xffff { 2 } else { 1 };
                self.units += units;
                self.column.now += units;
                self.at.1 += units;
            }
            self.applied.text.push_str(line);
        }
        self.is_moved = true;
    }

    /// A mapping for what comes next.
    fn mapping(&mut self) {
        self.is_moved = false;
        let Some(position) = self.source.position(self.at.0, self.at.1) else { return };
        (self.original_line.now, self.original_column.now) = position;
        if !self.map.is_empty() && !self.map.ends_with(';') {
            self.map.push(',');
        }
        let column = self.column.difference();
        variable_length(&mut self.map, column);
        self.map.push('A');
        let (line, column) = (self.original_line.difference(), self.original_column.difference());
        variable_length(&mut self.map, line);
        variable_length(&mut self.map, column);
    }

    fn piece(&mut self, piece: &Piece) {
        let (kind, index) = match piece {
            Piece::Text(text) => {
                // A compiler writes `return{}`, with nothing between that would part `return` from what is put in.
                let is_word = |letter: char| letter.is_alphanumeric() || "_$".contains(letter);
                if text.starts_with(is_word) && self.applied.text.ends_with(is_word) {
                    self.put(" ");
                }
                self.put(text);
                return;
            }
            Piece::Name(name) => ("name", index_of(&mut self.applied.names, name.clone())),
            Piece::Place(code, line) => ("place", index_of(&mut self.applied.places, (*code, *line))),
            Piece::Code(code) => ("code", usize::try_from(*code).unwrap_or(0)),
        };
        self.applied.holes.push(Hole(self.units, kind, index));
        self.put(HOLE);
    }

    fn put(&mut self, text: &str) {
        if self.is_moved || self.units == 0 {
            self.mapping();
        }
        self.is_moved = true;
        let units = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
        self.applied.text.push_str(text);
        self.units += units;
        self.column.now += units;
    }

    fn finish(mut self) -> Applied {
        let url = file_url(&self.source.path);
        let map = serde_json::json!({
            "version": 3, "sources": [url], "names": [], "mappings": self.map,
            "x_written": !self.source.is_compiled(),
        });
        let encoded = data_encoding::BASE64.encode(map.to_string().as_bytes());
        // Writing to a text does not fail.
        let _ = write!(self.applied.text, "\n//# sourceMappingURL=data:application/json;base64,{encoded}");
        self.applied
    }
}

impl Position {
    fn difference(&mut self) -> i64 {
        let difference = i64::from(self.now) - i64::from(self.mapped);
        self.mapped = self.now;
        difference
    }
}

/// Where something is in a list, which it is added to when it is not the last that was.
fn index_of<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    if let Some(at) = all.iter().rposition(|other| *other == one) {
        return at;
    }
    all.push(one);
    all.len() - 1
}

/// Writes a number as source maps have them.
fn variable_length(text: &mut String, number: i64) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut rest = number.unsigned_abs() << 1 | u64::from(number < 0);
    loop {
        let digit = rest & 31;
        rest >>= 5;
        let digit = digit | if rest > 0 { 32 } else { 0 };
        let digit = usize::try_from(digit).ok().and_then(|digit| DIGITS.get(digit));
        text.push(digit.copied().map_or('A', char::from));
        if rest == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_in_order_and_mapped() {
        let mut edits = Edits::default();
        edits.put(2, vec![Piece::Text("X".to_owned())]);
        edits.put(2, vec![Piece::Name("total".to_owned()), Piece::Place(0, 1)]);
        edits.put(0, vec![Piece::Code(7)]);
        let source = "äb\nc";
        let applied = edits.apply(source, &Original::of(source, std::path::Path::new("/a.js")));
        assert!(
            applied.text.starts_with("0x00000000ä X0x000000000x00000000b\nc\n//# source"),
            "{}",
            applied.text
        );
        let holes: Vec<(u32, &str, usize)> =
            applied.holes.iter().map(|Hole(at, kind, index)| (*at, *kind, *index)).collect();
        assert_eq!(holes, [(0, "code", 7), (13, "name", 0), (23, "place", 0)]);
        assert_eq!(applied.names, ["total"]);
    }

    #[test]
    fn numbers_of_maps_have_a_sign_and_several_digits() {
        let mut text = String::new();
        for number in [0, 1, -1, 16, 1000] {
            variable_length(&mut text, number);
        }
        assert_eq!(text, "ACDgBw+B");
    }
}
