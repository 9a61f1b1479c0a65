//! Links in Markdown that lead to nothing: to a file that does not exist, or to a heading that a page does not have.
//!
//! Links to other sites are not followed.

use std::collections::{HashMap, HashSet};

use super::Finding;
use crate::repository::File;

/// Links to files or headings that do not exist.
pub(super) fn check(files: &[File], exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let pages = || files.iter().filter(|file| file.has_extension("md"));
    let anchors: HashMap<&str, HashSet<String>> =
        pages().map(|page| (page.path.as_str(), anchors(&page.text))).collect();
    for file in pages() {
        for (line, target) in targets(&file.text) {
            let heading = target.split_once('#').map(|(_, heading)| heading).filter(|text| !text.is_empty());
            let page = match resolve(&file.path, target) {
                LinkTarget::Elsewhere if target.starts_with('#') => Some(file.path.clone()),
                LinkTarget::File(path) => Some(path),
                _ => None,
            };
            if let (Some(heading), Some(page)) = (heading, page)
                && anchors.get(page.as_str()).is_some_and(|known| !known.contains(heading))
            {
                let what = format!("`{target}` leads to a heading that `{page}` does not have");
                findings.push(Finding::new(&file.path, line, what));
            }
            match resolve(&file.path, target) {
                LinkTarget::Elsewhere => {}
                LinkTarget::Outside => {
                    findings.push(Finding::new(
                        &file.path,
                        line,
                        format!("`{target}` leads out of the repository"),
                    ));
                }
                LinkTarget::File(path) if exists(&path) => {}
                LinkTarget::File(path) => {
                    findings.push(Finding::new(
                        &file.path,
                        line,
                        format!("`{target}` leads to `{path}`, which does not exist"),
                    ));
                }
            }
        }
    }
    findings
}

/// The anchors of a page: those of its headings, as GitHub and mdBook name them, and those that it sets.
fn anchors(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        for start in ["id=\"", "name=\""] {
            let set = line
                .match_indices(start)
                .filter_map(|(at, _)| line.get(at + start.len()..)?.split('"').next());
            found.extend(set.map(str::to_owned));
        }
        let heading = line.trim_start_matches('#');
        if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let name = anchor(heading);
        let number = (1..).map(|number| format!("{name}-{number}"));
        let unique = std::iter::once(name.clone()).chain(number).find(|name| !found.contains(name));
        found.extend(unique);
    }
    found
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let shown = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || letter == '-' || letter == '_' => Some(letter),
        _ => None,
    });
    shown.flat_map(char::to_lowercase).collect()
}

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// To another site, or to a heading of the same page.
    Elsewhere,
    /// Above the root of the repository.
    Outside,
    /// To this file or folder.
    File(String),
}

/// Where a link in a file leads. One that starts with `/` starts at the root of the repository.
pub(crate) fn resolve(from: &str, target: &str) -> LinkTarget {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let is_scheme = |scheme: &str| scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let has_scheme = target.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme));
    if target.is_empty() || target.starts_with("//") || has_scheme {
        return LinkTarget::Elsewhere;
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = if target.starts_with('/') { "" } else { folder };
    let mut path: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                if path.pop().is_none() {
                    return LinkTarget::Outside;
                }
            }
            name => path.push(name),
        }
    }
    LinkTarget::File(path.join("/").replace("%20", " "))
}

/// The targets of all links, with their lines. Code has no links.
pub(crate) fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, None) => found.extend(in_line(line).into_iter().map(|target| (number, target))),
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
        }
    }
    found
}

fn in_line(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    // `[name]: target`, but not the footnote `[^name]: text`.
    if let Some((name, target)) = line.trim_start().split_once("]: ")
        && name.starts_with('[')
        && !name.starts_with("[^")
    {
        found.extend(first_word(target));
    }
    for start in ["](", "src=\"", "href=\""] {
        let end = if start == "](" { ')' } else { '"' };
        for (at, _) in line.match_indices(start) {
            let (before, after) = (line.get(..at), line.get(at + start.len()..));
            if let (Some(before), Some(after)) = (before, after)
                && !is_code(before)
            {
                found.extend(first_word(until(after, end)));
            }
        }
    }
    found
}

/// A place in a line is within code when an odd number of backticks comes before it.
fn is_code(before: &str) -> bool {
    before.matches('`').count() % 2 == 1
}

/// The text before the end, which is not one inside parentheses of the text.
fn until(text: &str, end: char) -> &str {
    let mut depth = 0;
    let stop = text.find(|c| match c {
        c if c == end && depth == 0 => true,
        '(' => {
            depth += 1;
            false
        }
        ')' => {
            depth -= 1;
            false
        }
        _ => false,
    });
    stop.and_then(|stop| text.get(..stop)).unwrap_or(text)
}

/// The target without the title that may follow it.
fn first_word(text: &str) -> Option<&str> {
    let text = text.trim();
    match text.strip_prefix('<') {
        Some(text) => text.split('>').next(),
        None => text.split_whitespace().next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        let cases: &[(&str, &[(usize, &str)])] = &[
            ("[a](b.md) and ![c](d.png \"title\")\n", &[(1, "b.md"), (1, "d.png")]),
            ("\n[`a`](<b c.md>)", &[(2, "b c.md")]),
            ("[a](b(c).md)", &[(1, "b(c).md")]),
            ("[![badge](a.svg)](b)", &[(1, "a.svg"), (1, "b")]),
            ("[a]: b.md \"title\"", &[(1, "b.md")]),
            ("[^a]: see b.md", &[]),
            ("<img src=\"a.png\"><a href=\"b.md\">", &[(1, "a.png"), (1, "b.md")]),
            ("`[a](b.md)` and [c](d.md)", &[(1, "d.md")]),
            ("```\n[a](b.md)\n~~~\n```\n[c](d.md)", &[(5, "d.md")]),
            ("[a] (b.md), a[1](x", &[(1, "x")]),
        ];
        for (text, expected) in cases {
            assert_eq!(targets(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn a_target_is_relative_to_its_page() {
        let file = |path: &str| LinkTarget::File(path.to_owned());
        let cases = [
            ("a.md", "b.md", file("b.md")),
            ("docs/a.md", "b.md#part", file("docs/b.md")),
            ("docs/a.md", "../b.md", file("b.md")),
            ("docs/a.md", "./adr/", file("docs/adr")),
            ("docs/a.md", "/b.md", file("b.md")),
            ("a.md", "two%20words.md", file("two words.md")),
            ("a.md", "../issues", LinkTarget::Outside),
            ("a.md", "#part", LinkTarget::Elsewhere),
            ("a.md", "https://example.org/a", LinkTarget::Elsewhere),
            ("a.md", "mailto:a@example.org", LinkTarget::Elsewhere),
            ("a.md", "//example.org", LinkTarget::Elsewhere),
        ];
        for (from, target, expected) in cases {
            assert_eq!(resolve(from, target), expected, "{target} in {from}");
        }
    }

    #[test]
    fn links_to_missing_headings_are_reported() {
        let files = [
            File::new(
                "a.md",
                "# Two `words`, and more!\n## Part\n## Part\n```\n# no heading\n```\n<a id=\"set\">\n",
            ),
            File::new(
                "b.md",
                "[1](a.md#two-words-and-more) [2](a.md#part-1) [3](a.md#set) [4](#none) [5](a.md#no-heading)\n",
            ),
        ];
        let found: Vec<String> = check(&files, |_| true).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "b.md:1: `#none` leads to a heading that `b.md` does not have",
                "b.md:1: `a.md#no-heading` leads to a heading that `a.md` does not have",
            ]
        );
    }

    #[test]
    fn links_to_missing_files_are_reported() {
        let files = [
            File::new("docs/a.md", "[a](b.md)\n[b](c.md)\n[c](../../d)\n"),
            File::new("docs/a.rs", "//! [a](missing.md)\n"),
        ];
        let found = check(&files, |path| path == "docs/b.md");
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/a.md:2: `c.md` leads to `docs/c.md`, which does not exist",
                "docs/a.md:3: `../../d` leads out of the repository",
            ]
        );
    }
}
