//! What mangled variables were called.

use std::collections::{HashMap, HashSet};

use super::{NONE, Position, Segment, SourceId, SourceMap};

/// The furthest column of a source at which an identifier is compared: what is further was generated.
const FURTHEST: u32 = 1000;

/// A part of a script: from a position up to, not including, another.
pub type Part = (Position, Position);

/// A variable is mentioned in a script.
#[derive(Debug)]
pub struct Mention<'a> {
    /// Where in the script.
    pub at: Position,
    /// What the script calls it.
    pub mangled: &'a str,
    /// What its source calls it.
    pub original: &'a str,
}

/// The originals of each mangled name, in the order of their first mentions, with how often each is mentioned.
type Originals<'a> = HashMap<&'a str, Vec<(&'a str, u32)>>;

impl SourceMap {
    /// What the identifiers in a part of a script were called: from the name in the script to the original.
    /// Those that kept their names are left out.
    ///
    /// `script_text` is the whole script; the part reaches from `start` up to, not including, `end`.
    ///
    /// The same mangled name can be several originals, because nested scopes reuse it. An original is reported only
    /// if it is the first in the part, where a scope declares its names, *and* has more than half of the occurrences.
    /// Otherwise the name is left out: a mangled name is better than a wrong one. Names of properties do not apply to
    /// variables, nor does a module object in place of an imported name (`util_1.sum` for `sum`).
    pub fn names(&self, script_text: &str, start: Position, end: Position) -> HashMap<String, String> {
        self.clear_names(script_text, (start, end), &[]).0
    }

    /// The same for a function, and the originals that are left out because it is not clear what the script calls them.
    ///
    /// `blocks` are the blocks around a place in the function, innermost first. What a name is in all of such a block
    /// must not be something else in the function.
    pub fn clear_names(
        &self,
        script_text: &str,
        function: Part,
        blocks: &[Part],
    ) -> (HashMap<String, String>, HashSet<String>) {
        let mentions = self.mentions(script_text, function);
        let in_blocks: Vec<Originals<'_>> = blocks.iter().map(|block| originals(&mentions, *block)).collect();
        let in_function = originals(&mentions, function);
        let mut unclear: HashSet<&str> =
            in_function.values().flatten().map(|(original, _)| *original).collect();
        let mut clear = HashMap::new();
        for (mangled, originals) in in_function {
            let here = in_blocks.iter().find_map(|block| only(block.get(mangled)?));
            let original = match (decided(&originals), here) {
                (Some(original), Some(here)) if original != here => None,
                (original, here) => original.or(here),
            };
            let Some(original) = original else { continue };
            unclear.remove(original);
            if mangled != original {
                clear.insert(mangled.to_owned(), original.to_owned());
            }
        }
        (clear, unclear.into_iter().map(str::to_owned).collect())
    }

    /// The variables in a part of a script that have a name in the map, in order. A compiler may leave out a name that
    /// it keeps: mentions of that are found by the text of the source, where another variable has become its namesake.
    pub fn mentions<'a>(&'a self, text: &'a str, (start, end): Part) -> Vec<Mention<'a>> {
        let from = self.segments.partition_point(|segment| segment.generated() < start);
        let to = self.segments.partition_point(|segment| segment.generated() < end);
        let segments = self.segments.get(from..to).unwrap_or_default();
        let mut lines = (0u32..).zip(text.split('\n'));
        let mut current: Option<(u32, Cursor<'_>)> = None;
        let mut found = Vec::new();
        for segment in segments.iter().filter(|segment| segment.source != NONE) {
            if current.as_ref().is_none_or(|(number, _)| *number != segment.line) {
                current = lines
                    .find(|(number, _)| *number == segment.line)
                    .map(|(number, line)| (number, Cursor { line, byte: 0, column: 0 }));
            }
            let Some((_, cursor)) = &mut current else { break };
            let mangled = cursor.variable_at(segment.column, self.name(segment));
            found.extend(mangled.map(|mangled| (segment, mangled)));
        }
        let named = found.iter().filter(|(segment, _)| segment.name != NONE);
        let named: HashSet<&str> = named.map(|(_, mangled)| *mangled).collect();
        let mut sources = SourceTexts::default();
        let mention = |(segment, mangled): (&'a Segment, &'a str)| {
            let original = match self.name(segment) {
                Some(original) => original,
                None if named.contains(mangled) && self.has_identifier(segment, mangled, &mut sources) => {
                    mangled
                }
                None => return None,
            };
            Some(Mention { at: segment.generated(), mangled, original })
        };
        found.into_iter().filter_map(mention).collect()
    }

    /// Whether the source has this identifier where the segment says.
    fn has_identifier<'a>(
        &'a self,
        segment: &Segment,
        identifier: &str,
        sources: &mut SourceTexts<'a>,
    ) -> bool {
        let lines = sources.0.entry(segment.source).or_insert_with(|| {
            let content = self.source(SourceId(segment.source)).and_then(|source| source.content.as_deref());
            content.map(|content| content.split('\n').collect()).unwrap_or_default()
        });
        let line = usize::try_from(segment.original_line).ok().and_then(|line| lines.get(line));
        let Some(line) = line.filter(|_| segment.original_column <= FURTHEST) else { return false };
        let mut cursor = Cursor { line, byte: 0, column: 0 };
        cursor.variable_at(segment.original_column, None) == Some(identifier)
    }
}

/// The lines of sources, by their numbers.
#[derive(Default)]
struct SourceTexts<'a>(HashMap<u32, Vec<&'a str>>);

fn originals<'a>(mentions: &[Mention<'a>], (start, end): Part) -> Originals<'a> {
    let mut found = Originals::new();
    for Mention { mangled, original, .. } in
        mentions.iter().filter(|mention| mention.at >= start && mention.at < end)
    {
        let known = found.entry(mangled).or_default();
        match known.iter_mut().find(|(known, _)| known == original) {
            Some((_, count)) => *count += 1,
            None => known.push((original, 1)),
        }
    }
    found
}

/// The original of a name that has no other.
fn only<'a>(originals: &[(&'a str, u32)]) -> Option<&'a str> {
    match originals {
        [(original, _)] => Some(original),
        _ => None,
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
    /// from which `original` was imported. Without an original, a label or a key of an object is not one either.
    fn variable_at(&mut self, column: u32, original: Option<&str>) -> Option<&'a str> {
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
            let is_name = original.is_none_or(|original| original.starts_with('#'));
            return (identifier.len() > 1 && is_name).then_some(identifier);
        }
        let is_property = before.ends_with('.') && !before.ends_with("...");
        let is_other = match original {
            Some(original) => is_import(after, original),
            None => after.starts_with(':'),
        };
        (!is_property && !is_other).then_some(identifier)
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
