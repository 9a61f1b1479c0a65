//! YAML, edited as text: no library changes one entry and keeps the rest of the text.
//!
//! The parser says where things are; entries are added and removed by whole lines. What is written in braces cannot be
//! edited so, and is refused.

mod tree;

use std::fmt::Write;

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use self::tree::{NodeKind, Pair};
use super::format::EntryPath;

const IN_BRACES: &str = "this file has braces `{}` where lines can be added only by hand";

pub(super) fn read(text: &str) -> anyhow::Result<Value> {
    Ok(tree::parse(text)?.map_or_else(|| Value::Object(Map::new()), |root| root.value()))
}

pub(super) fn set(text: &str, at: EntryPath<'_>, entry: &Map<String, Value>) -> anyhow::Result<String> {
    let mut lines = Lines::new(text);
    let Some(root) = tree::parse(text)? else {
        lines.add_at_end(&format!("{}:\n{}", at.section, block(at.name, entry, 2)));
        return Ok(lines.text());
    };
    let NodeKind::Block(pairs) = &root.kind else { bail!(IN_BRACES) };
    let Some(section) = pairs.iter().find(|pair| pair.key == at.section) else {
        let indent = pairs.first().map_or(0, |pair| pair.column);
        let key = format!("{:indent$}{}:\n", "", at.section);
        lines.insert(last_line(pairs) + 1, &(key + &block(at.name, entry, indent + 2)));
        return Ok(lines.text());
    };
    match &section.value.kind {
        NodeKind::Block(servers) => {
            let indent = servers.first().map_or(section.column + 2, |server| server.column);
            match servers.iter().find(|server| server.key == at.name) {
                Some(server) => {
                    lines.replace(server.line, server.value.last_line, &block(at.name, entry, indent));
                }
                None => lines.insert(section.line + 1, &block(at.name, entry, indent)),
            }
        }
        NodeKind::Braces(pairs) if pairs.is_empty() && section.value.last_line == section.line => {
            lines.cut(section.line, section.value.column, 2);
            lines.insert(section.line + 1, &block(at.name, entry, section.column + 2));
        }
        NodeKind::Scalar(text, _) if text.is_empty() => {
            lines.insert(section.line + 1, &block(at.name, entry, section.column + 2));
        }
        _ => bail!(IN_BRACES),
    }
    Ok(lines.text())
}

pub(super) fn unset(text: &str, at: EntryPath<'_>) -> anyhow::Result<String> {
    let mut lines = Lines::new(text);
    let root = tree::parse(text)?.context("this file is empty")?;
    let NodeKind::Block(pairs) = &root.kind else { bail!(IN_BRACES) };
    let section = pairs.iter().find(|pair| pair.key == at.section).context("there is no such section")?;
    let NodeKind::Block(servers) = &section.value.kind else { bail!(IN_BRACES) };
    let server = servers.iter().find(|server| server.key == at.name).context("there is no such entry")?;
    lines.replace(server.line, server.value.last_line, "");
    if servers.len() == 1 {
        lines.replace(section.line, section.line, "");
    }
    Ok(lines.text())
}

fn last_line(pairs: &[Pair]) -> usize {
    pairs.last().map_or(0, |pair| pair.value.last_line)
}

/// An entry as lines.
fn block(name: &str, entry: &Map<String, Value>, indent: usize) -> String {
    let mut text = format!("{:indent$}{name}:\n", "");
    pairs_of(&mut text, entry, indent + 2);
    text
}

fn pairs_of(text: &mut String, pairs: &Map<String, Value>, indent: usize) {
    for (key, value) in pairs {
        let _ = write!(text, "{:indent$}{}:", "", plain(key));
        match value {
            Value::Object(pairs) if !pairs.is_empty() => {
                text.push('\n');
                pairs_of(text, pairs, indent + 2);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                for item in items {
                    let _ = writeln!(text, "{:indent$}- {}", "", scalar(item));
                }
            }
            value => {
                let _ = writeln!(text, " {}", scalar(value));
            }
        }
    }
}

/// JSON is YAML, so that a list in a list is written as JSON.
fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), plain)
}

/// A text without quotes where it needs none.
fn plain(text: &str) -> String {
    let is_safe = |char: char| char.is_ascii_alphanumeric() || "/._- ".contains(char);
    let begins = text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '/');
    let is_word = !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(&text.to_ascii_lowercase().as_str());
    if begins && is_word && text.chars().all(is_safe) && !text.ends_with(' ') {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

/// The lines of a text, with their ends. They count from 1.
struct Lines(Vec<String>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(text.split_inclusive('\n').map(str::to_owned).collect())
    }

    fn text(self) -> String {
        self.0.concat()
    }

    fn add_at_end(&mut self, text: &str) {
        self.insert(self.0.len() + 1, text);
    }

    fn insert(&mut self, line: usize, text: &str) {
        let at = (line - 1).min(self.0.len());
        if let Some(before) = at.checked_sub(1).and_then(|before| self.0.get_mut(before))
            && !before.ends_with('\n')
        {
            before.push('\n');
        }
        self.0.insert(at, text.to_owned());
    }

    fn replace(&mut self, first: usize, last: usize, text: &str) {
        let last = last.min(self.0.len());
        if first <= last {
            self.0.splice(first - 1..last, [text.to_owned()]);
        }
    }

    /// Removes some characters of a line.
    fn cut(&mut self, line: usize, column: usize, length: usize) {
        if let Some(line) = self.0.get_mut(line - 1) {
            let kept = line.chars().enumerate().filter(|(at, _)| *at < column || *at >= column + length);
            *line = kept.map(|(_, char)| char).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::format::Format;
    use super::*;

    const AT: EntryPath<'static> = EntryPath { section: "servers", name: "ours" };
    const ENTRY: &str = "  ours:\n    run: a\n";

    fn entry(text: &str) -> Map<String, Value> {
        json!({ "run": text }).as_object().cloned().unwrap()
    }

    fn set(text: &str) -> String {
        Format::Yaml.set(text, AT, &entry("a")).unwrap()
    }

    #[test]
    fn an_entry_is_added_where_its_section_is() {
        for (before, after) in [
            ("", format!("servers:\n{ENTRY}")),
            ("# only a comment", format!("# only a comment\nservers:\n{ENTRY}")),
            ("a: 1", format!("a: 1\nservers:\n{ENTRY}")),
            ("---\na: 1\n...\n", format!("---\na: 1\nservers:\n{ENTRY}...\n")),
            ("servers:\nb: 2\n", format!("servers:\n{ENTRY}b: 2\n")),
            ("servers: {} # none\n", format!("servers:  # none\n{ENTRY}")),
            ("servers:\n  x:\n    - 1\n", format!("servers:\n{ENTRY}  x:\n    - 1\n")),
            ("servers:\n    x: 1\n", "servers:\n    ours:\n      run: a\n    x: 1\n".to_owned()),
        ] {
            assert_eq!(set(before), after, "{before:?}");
        }
    }

    #[test]
    fn an_entry_is_replaced_and_removed_by_its_lines() {
        let rest = [
            ("", ""),
            ("# before\n", "# after\n"),
            ("  x: |\n    text\n\n", "\n  y: [1,\n    2]\n"),
            ("  x: >-\n    text\n", "  y:\n  - 1\nlast: 1\n"),
        ];
        for (before, after) in rest {
            let with = |entry: &str| format!("servers:\n{before}{entry}{after}");
            let changed = Format::Yaml.set(&with(ENTRY), AT, &entry("b # c")).unwrap();
            assert_eq!(changed, with("  ours:\n    run: \"b # c\"\n"));
            let is_alone = !before.contains("x:");
            let left = if is_alone { format!("{before}{after}") } else { with("") };
            assert_eq!(Format::Yaml.unset(&with(ENTRY), AT).unwrap(), left);
        }
    }
}
