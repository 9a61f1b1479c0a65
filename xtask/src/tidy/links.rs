//! Links in Markdown that lead to nothing.
//!
//! Only links to files of the repository are followed; headings and other sites are not.

use super::Finding;
use crate::repository::File;

/// Links to files that do not exist.
pub(super) fn check(files: &[File], exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.has_extension("md")) {
        for (line, target) in targets(&file.text) {
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

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
enum LinkTarget {
    /// To another site, or to a heading of the same page.
    Elsewhere,
    /// Above the root of the repository.
    Outside,
    /// To this file or folder.
    File(String),
}

/// Where a link in a file leads. One that starts with `/` starts at the root of the repository.
fn resolve(from: &str, target: &str) -> LinkTarget {
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
fn targets(text: &str) -> Vec<(usize, &str)> {
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
