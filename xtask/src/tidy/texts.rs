//! What no text of the repository holds: notes to oneself, stray white space, tests that sleep.

use super::Finding;
use crate::repository::File;

/// Notes of unfinished work. In pieces, so that they are not found here.
const MARKERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// What is wrong with the text of files.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    files.iter().flat_map(complaints).collect()
}

fn complaints(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |line, what: String| findings.push(Finding::new(&file.path, line, what));
    let is_rust = file.has_extension("rs");
    let mut part = Part::of(file);
    let mut above = "";
    for (number, line) in file.lines() {
        for marker in MARKERS.iter().filter(|marker| has_word(line, marker)) {
            find(number, format!("`{marker}`: do it, or write down elsewhere that it is to be done"));
        }
        if line.ends_with(char::is_whitespace) {
            find(number, "white space at the end of the line".to_owned());
        }
        if is_rust && line.contains('\t') {
            find(number, "a tab".to_owned());
        }
        part = part.after(above, line);
        if is_rust && part.is_tests() && sleeps(line) && !gives_reason(line) && !gives_reason(above) {
            find(
                number,
                "a test sleeps: wait for the condition, or give a reason in `// sleep: …`".to_owned(),
            );
        }
        above = line;
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        find(file.lines().count(), "no newline at the end".to_owned());
    }
    findings
}

/// Whether the word occurs separately, not within a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.split(|c| !is_part(c)).any(|found| found == word)
}

/// Rust code that sleeps. A method of that name is the Python of a debuggee.
fn sleeps(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let is_call = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
    code.match_indices("sleep(").any(|(at, _)| code.get(..at).is_some_and(is_call))
}

fn gives_reason(line: &str) -> bool {
    line.split_once("// sleep:").is_some_and(|(_, reason)| !reason.trim().is_empty())
}

/// What a line of a Rust file belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The product.
    Product,
    /// A module of tests in a file of the product.
    InnerTests,
    /// A file of tests.
    Tests,
}

impl Part {
    /// What the first line of a file belongs to.
    pub(super) fn of(file: &File) -> Self {
        let mut folders = file.path.split('/');
        let name = folders.next_back();
        let is_test =
            name == Some("tests.rs") || folders.any(|name| name == "tests" || name == "test-support");
        if is_test { Self::Tests } else { Self::Product }
    }

    /// What a line belongs to that follows a line of this part. The formatter puts the brackets of a module
    /// at the start of a line.
    pub(super) fn after(self, above: &str, line: &str) -> Self {
        match self {
            Self::Product if above == "#[cfg(test)]" && line.starts_with("mod ") && line.ends_with('{') => {
                Self::InnerTests
            }
            Self::InnerTests if above == "}" => Self::Product,
            part => part,
        }
    }

    pub(super) fn is_tests(self) -> bool {
        self != Self::Product
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of a finding, and a part of what it says.
    type Expected<'a> = &'a [(usize, &'a str)];

    /// Path, text and findings.
    fn check(cases: &[(&str, &str, Expected<'_>)]) {
        for (path, text, expected) in cases {
            let found = complaints(&File::new(path, text));
            assert_eq!(found.len(), expected.len(), "{path} {text:?}: {found:?}");
            for (finding, (line, what)) in found.iter().zip(*expected) {
                assert_eq!(finding.line, *line, "{path} {text:?}: {finding}");
                assert!(finding.what.contains(what), "{finding} should say `{what}`");
            }
        }
    }

    #[test]
    fn markers_of_unfinished_work_are_reported() {
        let [to_do, fix_me, xs] = MARKERS;
        check(&[
            ("a.md", &format!("one\n- {to_do}: two\n"), &[(2, to_do)]),
            ("a.py", &format!("# {fix_me}({xs})\n"), &[(1, fix_me), (1, xs)]),
            ("a.rs", &format!("// \\u{xs}X, {to_do}S, MY_{to_do}, todo\n"), &[]),
        ]);
    }

    #[test]
    fn stray_white_space_is_reported() {
        check(&[
            ("a.md", "", &[]),
            ("a.md", "a\n\nb\n", &[]),
            (
                "a.md",
                "a \n\t\nb\r\n",
                &[(1, "end of the line"), (2, "end of the line"), (3, "end of the line")],
            ),
            ("a.md", "a\nb", &[(2, "no newline")]),
            ("a.rs", "\tb\n", &[(1, "tab")]),
            ("Makefile", "\tb\n", &[]),
        ]);
    }

    #[test]
    fn tests_that_sleep_are_reported() {
        // In pieces, so that this test is not found.
        let nap = concat!("sleep", "(D)");
        let inner =
            format!("fn a() {{\n    {nap};\n}}\n\n#[cfg(test)]\nmod tests {{\n    {nap};\n}}\n{nap};\n");
        let reason = "// sleep: the clock is the subject";
        check(&[
            ("src/a.rs", &format!("{nap};\n"), &[]),
            ("src/a.rs", &inner, &[(7, "sleeps")]),
            ("src/a/tests.rs", &format!("tokio::time::{nap}.await;\n"), &[(1, "sleeps")]),
            ("tests/it/main.rs", &format!("thread::{nap};\n"), &[(1, "sleeps")]),
            ("tests/it/main.rs", &format!("{nap}; {reason}\n"), &[]),
            ("tests/it/main.rs", &format!("{reason}\n{nap};\n{nap};\n"), &[(3, "sleeps")]),
            ("tests/it/main.rs", &format!("{nap}; // sleep:\n"), &[(1, "sleeps")]),
            ("tests/it/main.rs", &format!("// never {nap}\nlet code = \"time.{nap}\"; over{nap};\n"), &[]),
            ("tests/it/main.py", &format!("{nap}\n"), &[]),
        ]);
    }
}
