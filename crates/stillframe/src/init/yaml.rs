//! YAML, edited as text: no library changes one entry and keeps the rest of the text.
//!
//! The parser says where things are; entries are added and removed by whole lines. What is written in braces cannot be
//! edited so, and is refused.

mod tree;

use std::cmp::Reverse;
use std::fmt::Write;
use std::ops::Range;

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use self::tree::{Node, NodeKind, Pair};
use super::format::EntryPath;

const IN_BRACES: &str = "this file uses `{}` braces, which can only be edited by hand";

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
                Some(Pair { value: Node { kind: NodeKind::Block(pairs), .. }, .. }) => {
                    merge(&mut lines, pairs, entry);
                }
                Some(Pair { value: Node { kind: NodeKind::Braces(pairs), .. }, .. }) if !pairs.is_empty() => {
                    bail!(IN_BRACES)
                }
                Some(server) => {
                    lines.replace(server.line, server.value.last_line, &block(at.name, entry, indent));
                }
                None => lines.insert(section.line + 1, &block(at.name, entry, indent)),
            }
        }
        NodeKind::Braces(pairs) if pairs.is_empty() && section.value.last_line == section.line => {
            let column = section.value.column;
            lines.edit(section.line, |line| spliced(line, column..column + 2, ""));
            lines.insert(section.line + 1, &block(at.name, entry, section.column + 2));
        }
        NodeKind::Scalar(text, _) if section.value.value().is_null() => {
            let column = section.value.column;
            if !text.is_empty() {
                lines.edit(section.value.last_line, |line| spliced(line, column..section.value.end, ""));
            }
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
    let next = pairs.iter().map(|pair| pair.line).find(|line| *line > section.line);
    lines.replace(server.line, server.value.last_line, "");
    if servers.len() == 1 {
        // An empty line is left in the place of the entry.
        let removed = server.value.last_line.saturating_sub(server.line);
        let end = next.map_or(lines.0.len() + 1, |next| next - removed);
        if lines.has_comment(section, end) {
            lines.edit(section.line, without_servers);
        } else {
            lines.replace(section.line, section.line, "");
        }
    }
    Ok(lines.text())
}

/// Changes the values that differ, so that the other lines stay as they are.
fn merge(lines: &mut Lines, pairs: &[Pair], entry: &Map<String, Value>) {
    let indent = pairs.first().map_or(0, |pair| pair.column);
    let pair = |key: &String| pairs.iter().find(|pair| pair.key == *key);
    let (present, missing): (Vec<_>, Vec<_>) = entry.iter().partition(|(key, _)| pair(key).is_some());
    let mut text = String::new();
    pairs_of(&mut text, missing, indent);
    if !text.is_empty() {
        lines.insert(last_line(pairs) + 1, &text);
    }
    let mut changed: Vec<_> =
        present.into_iter().filter_map(|(key, value)| Some((pair(key)?, key, value))).collect();
    // The last first, so that the numbers of the lines before it hold.
    changed.sort_by_key(|(pair, ..)| Reverse(pair.line));
    for (pair, key, value) in changed.into_iter().filter(|(pair, _, value)| pair.value.value() != **value) {
        let old = &pair.value;
        match &old.kind {
            NodeKind::Scalar(..)
                if value.is_string() && old.last_line == pair.line && old.end > old.column =>
            {
                lines.edit(pair.line, |line| spliced(line, old.column..old.end, &scalar(value)));
            }
            _ => {
                let mut text = String::new();
                pairs_of(&mut text, [(key, value)], indent);
                lines.replace(pair.line, old.last_line, &text);
            }
        }
    }
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

fn pairs_of<'v>(text: &mut String, pairs: impl IntoIterator<Item = (&'v String, &'v Value)>, indent: usize) {
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

    fn edit(&mut self, line: usize, edit: impl FnOnce(&str) -> String) {
        if let Some(line) = self.0.get_mut(line - 1) {
            *line = edit(line);
        }
    }

    /// Whether there is a comment beside the key of a section, or below it and indented, before the line `end`.
    fn has_comment(&self, section: &Pair, end: usize) -> bool {
        let mut lines = self.0.iter().take(end - 1).skip(section.line - 1);
        let is_indented = |line: &String| {
            let text = line.trim_start();
            text.starts_with('#') && line.len() - text.len() > section.column
        };
        lines.next().is_some_and(|line| line.contains(" #")) || lines.any(is_indented)
    }
}

/// The line of a section's key with braces, because some hosts read no section without a value.
fn without_servers(line: &str) -> String {
    let (key, rest) = line.split_once(':').unwrap_or((line, ""));
    let rest = rest.strip_prefix(' ').filter(|rest| rest.starts_with(char::is_whitespace)).unwrap_or(rest);
    format!("{key}: {{}}{rest}")
}

/// A line with other characters in these columns.
fn spliced(line: &str, columns: Range<usize>, text: &str) -> String {
    let before: String = line.chars().take(columns.start).collect();
    let after: String = line.chars().skip(columns.end).collect();
    before + text + &after
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
            ("servers: null # none\n", format!("servers:  # none\n{ENTRY}")),
            ("servers: ~\nb: 2\n", format!("servers: \n{ENTRY}b: 2\n")),
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

    #[test]
    fn a_section_with_comments_stays() {
        for (before, after) in [
            (format!("servers: # mine\n{ENTRY}b: 2\n"), "servers: {} # mine\nb: 2\n"),
            (format!("servers:  # mine\n{ENTRY}"), "servers: {} # mine\n"),
            (format!("servers: \n  # mine\n{ENTRY}"), "servers: {}\n  # mine\n"),
            (format!("servers:\n  # none yet\n{ENTRY}"), "servers: {}\n  # none yet\n"),
            (format!("servers:\n{ENTRY}  # or this\n# b\nb: 2\n"), "servers: {}\n  # or this\n# b\nb: 2\n"),
            (format!("servers:\n{ENTRY}\n# b\nb: 2 # c\n  # d\n"), "\n# b\nb: 2 # c\n  # d\n"),
        ] {
            assert_eq!(Format::Yaml.unset(&before, AT).unwrap(), after);
        }
    }

    #[test]
    fn only_the_values_that_differ_are_written() {
        let entry = json!({ "run": "/new", "with": ["a"], "more": true, "seconds": 12.5, "big": 1e3 });
        let entry = entry.as_object().unwrap();
        for (before, after) in [
            (
                "    # keep\n    run: /old   # moved\n    with: [a]  # b\n    seconds: 12.50\n    big: 1e3\n    more: true",
                "    # keep\n    run: /new   # moved\n    with: [a]  # b\n    seconds: 12.50\n    big: 1e3\n    more: true",
            ),
            (
                "      with:\n      - b\n      - c\n      big: 1000.0\n      # last\n      run: '/o ld'\n      seconds: 12.5\n",
                "      with:\n      - a\n      big: 1000.0\n      # last\n      run: /new\n      seconds: 12.5\n      more: true\n",
            ),
            (
                "    more: true\n    run: |\n      /old\n\n    with:\n    seconds: 12.5\n    big: 1000.0\n",
                "    more: true\n    run: /new\n    with:\n    - a\n    seconds: 12.5\n    big: 1000.0\n",
            ),
            (
                "    more: true\n    with: [a]\n    seconds: 12.5\n    big: 1e3\n    run: |\n      ü\n\n  # not ours\n  x: 1\n",
                "    more: true\n    with: [a]\n    seconds: 12.5\n    big: 1e3\n    run: /new\n  # not ours\n  x: 1\n",
            ),
        ] {
            let with = |values: &str| format!("servers:\n  ours: # this\n{values}");
            assert_eq!(Format::Yaml.set(&with(before), AT, entry).unwrap(), with(after));
        }
        let text = "servers:\n  ours: {run: a}\n";
        assert!(Format::Yaml.set(text, AT, entry).is_err());
    }
}
