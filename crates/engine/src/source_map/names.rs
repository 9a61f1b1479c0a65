//! What mangled variables were called.

use std::collections::{HashMap, HashSet};

use super::{NONE, Position, SourceMap};

impl SourceMap {
    /// What the identifiers in a part of a script were called: from the name in the script to the original.
    /// Those that kept their names are left out.
    ///
    /// `script_text` is the whole script; the part reaches from `start` up to, not including, `end`. A
    /// debugger asks for the text of the innermost scope first.
    ///
    /// The same mangled name can be several originals, because nested scopes reuse it. An original is reported only
    /// if it is the first in the part, where a scope declares its names, *and* has more than half of the occurrences.
    /// Otherwise the name is left out: a mangled name is better than a wrong one. Names of properties do not apply to
    /// variables, nor does a module object in place of an imported name (`util_1.sum` for `sum`).
    pub fn names(&self, script_text: &str, start: Position, end: Position) -> HashMap<String, String> {
        self.clear_names(script_text, start, end).0
    }

    /// The same, and the originals that are left out because it is not clear what the script calls them.
    pub fn clear_names(
        &self,
        script_text: &str,
        start: Position,
        end: Position,
    ) -> (HashMap<String, String>, HashSet<String>) {
        let mut uses: HashMap<&str, Vec<(&str, u32)>> = HashMap::new();
        for (mangled, original) in self.named(script_text, start, end) {
            let originals = uses.entry(mangled).or_default();
            match originals.iter_mut().find(|(known, _)| *known == original) {
                Some((_, count)) => *count += 1,
                None => originals.push((original, 1)),
            }
        }
        let mut unclear: HashSet<&str> = uses.values().flatten().map(|(original, _)| *original).collect();
        let mut clear = HashMap::new();
        for (mangled, originals) in uses {
            let Some(original) = decided(&originals) else { continue };
            unclear.remove(original);
            if mangled != original {
                clear.insert(mangled.to_owned(), original.to_owned());
            }
        }
        (clear, unclear.into_iter().map(str::to_owned).collect())
    }

    /// Identifiers of the script that have a name in the map, in order.
    fn named<'a>(&'a self, text: &'a str, start: Position, end: Position) -> Vec<(&'a str, &'a str)> {
        let from = self.segments.partition_point(|segment| segment.generated() < start);
        let to = self.segments.partition_point(|segment| segment.generated() < end);
        let segments = self.segments.get(from..to).unwrap_or_default();
        let mut lines = (0u32..).zip(text.split('\n'));
        let mut current: Option<(u32, Cursor<'_>)> = None;
        let mut found = Vec::new();
        for segment in segments.iter().filter(|segment| segment.source != NONE) {
            let Some(original) = self.name(segment) else { continue };
            if current.as_ref().is_none_or(|(number, _)| *number != segment.line) {
                current = lines
                    .find(|(number, _)| *number == segment.line)
                    .map(|(number, line)| (number, Cursor { line, byte: 0, column: 0 }));
            }
            let Some((_, cursor)) = &mut current else { break };
            found.extend(cursor.variable_at(segment.column, original).map(|mangled| (mangled, original)));
        }
        found
    }
}

/// The original of a name, if it is clear. The first is the one found first.
fn decided<'a>(originals: &[(&'a str, u32)]) -> Option<&'a str> {
    let (first, count) = originals.first()?;
    let all: u32 = originals.iter().map(|(_, count)| count).sum();
    (count.saturating_mul(2) > all).then_some(first)
}

/// Goes through a line once, from the left, for columns in ascending order.
struct Cursor<'a> {
    line: &'a str,
    byte: usize,
    /// In UTF-16 units.
    column: u32,
}

impl<'a> Cursor<'a> {
    /// The variable or the private name, such as `#count`, that begins at a column, unless it is a property, or a module
    /// from which `original` was imported.
    fn variable_at(&mut self, column: u32, original: &str) -> Option<&'a str> {
        self.advance(column);
        if self.column != column {
            return None;
        }
        let (before, here) = self.line.split_at_checked(self.byte)?;
        let is_private = here.starts_with('#');
        let end = here.find(|c: char| !is_part(c) && c != '#').unwrap_or(here.len());
        let (identifier, after) = here.split_at_checked(end)?;
        if identifier.is_empty()
            || identifier.starts_with(|c: char| c.is_ascii_digit())
            || before.ends_with(is_part)
        {
            return None;
        }
        if is_private {
            return (identifier.len() > 1 && original.starts_with('#')).then_some(identifier);
        }
        let is_property = before.ends_with('.') && !before.ends_with("...");
        (!is_property && !is_import(after, original)).then_some(identifier)
    }

    fn advance(&mut self, column: u32) {
        for c in self.line.get(self.byte..).unwrap_or_default().chars() {
            if self.column >= column {
                break;
            }
            self.byte += c.len_utf8();
            self.column += u32::from(c.len_utf16() == 2) + 1;
        }
    }
}

fn is_part(c: char) -> bool {
    c == '$' || c == '_' || c.is_alphanumeric()
}

/// What follows makes it `module.name` or `module.default`.
fn is_import(after: &str, original: &str) -> bool {
    let Some(property) = after.strip_prefix('.') else { return false };
    let end = property.find(|c: char| !is_part(c)).unwrap_or(property.len());
    property.get(..end).is_some_and(|property| property == original || property == "default")
}
