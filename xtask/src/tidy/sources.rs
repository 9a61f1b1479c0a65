//! Source files, and what is in them, that pages for maintainers name: they must be there under that name.
//!
//! A file is code with an extension of a source file (`` `dap/frames.rs` ``), with as much of its path as a reader needs.
//! A name is code before it (`` `location` in `dap/frames.rs` ``).

use super::Finding;
use crate::repository::File;

/// The pages, or folders of them.
const PAGES: [&str; 4] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/adr/", "docs/quirks.md"];
/// The extensions of source files.
const EXTENSIONS: [&str; 7] = [".rs", ".py", ".cjs", ".mjs", ".rb", ".php", ".java"];

/// Source files that do not exist, and names that are not in them.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let pages = files.iter().filter(|file| PAGES.iter().any(|page| file.path.starts_with(page)));
    let lines = pages.flat_map(|page| page.lines().map(move |(number, line)| (page, number, line)));
    lines
        .flat_map(|(page, number, line)| {
            let wrong = named(line).into_iter().filter_map(|(name, path)| complaint(files, name, path));
            wrong.map(move |what| Finding::new(&page.path, number, what)).collect::<Vec<_>>()
        })
        .collect()
}

fn complaint(files: &[File], name: Option<&str>, path: &str) -> Option<String> {
    let is_named = |file: &&File| {
        file.path.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    let mut named = files.iter().filter(is_named).peekable();
    if named.peek().is_none() {
        return Some(format!("no source file is named `{path}`"));
    }
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let name = name.filter(|name| name.chars().all(is_word))?;
    let is_missing = !named.any(|file| file.text.split(|char| !is_word(char)).any(|word| word == name));
    is_missing.then(|| format!("`{name}` is not in `{path}`"))
}

/// The source files in a line, each with the name that is said to be in it. Capitals are for what a reader chooses.
fn named(line: &str) -> Vec<(Option<&str>, &str)> {
    let parts: Vec<&str> = line.split('`').collect();
    let is_path = |text: &str| {
        EXTENSIONS.iter().any(|extension| text.ends_with(extension))
            && text
                .chars()
                .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || "_/.".contains(char))
            && !text.starts_with(['.', '/', '_'])
    };
    let codes = parts.iter().enumerate().filter(|(at, text)| at % 2 == 1 && is_path(text));
    codes
        .map(|(at, path)| {
            let is_inside = parts.get(at - 1) == Some(&" in ");
            (is_inside.then(|| at.checked_sub(2).and_then(|at| parts.get(at)).copied()).flatten(), *path)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_files_and_names_that_do_not_exist_are_reported() {
        let page =
            "`parse` in `a/b.rs`, `other` in `b.rs`, `x y` in `b.rs`\n`ab.rs` and `a/NAME.rs`, but c.rs\n";
        let files = [
            File::new("docs/quirks.md", page),
            File::new("docs/usage.md", "`missing.rs`"),
            File::new("src/a/b.rs", "fn parse() {}\nfn others() {}\n"),
        ];
        let found: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/quirks.md:1: `other` is not in `b.rs`",
                "docs/quirks.md:2: no source file is named `ab.rs`"
            ]
        );
    }
}
