//! `cargo xtask docs`: the reference of all tools, from the tables of the toolsets, the schema of the
//! journal, and the limits.

mod fields;
mod limits;
mod page;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::repository;

/// Writes the files. With `--check` it only compares, and fails if one differs.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_check = match arguments.as_slice() {
        [] => false,
        ["--check"] => true,
        _ => bail!("takes nothing but `--check`"),
    };
    let mut code = ExitCode::SUCCESS;
    for (name, expected) in files()? {
        let path = repository::root().join(name);
        if is_check {
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            if let Some(line) = difference(&found, &expected) {
                println!("{name}:{line}: differs from what the code says; run `cargo xtask docs`");
                code = ExitCode::FAILURE;
            }
        } else {
            std::fs::write(&path, expected).with_context(|| format!("cannot write `{name}`"))?;
        }
    }
    Ok(code)
}

/// What is generated, by its place.
fn files() -> Result<[(&'static str, String); 3]> {
    let schema = serde_json::to_string_pretty(&journal::entry::schema())? + "\n";
    Ok([
        ("docs/tools.md", page::write(tools::toolsets::TOOLSETS)),
        ("docs/reference/journal.schema.json", schema),
        ("docs/reference/limits.md", limits::write(engine::bounds::TABLE)),
    ])
}

/// The first line at which texts differ.
fn difference(found: &str, expected: &str) -> Option<usize> {
    if found == expected {
        return None;
    }
    let same = found.split('\n').zip(expected.split('\n')).take_while(|(found, expected)| found == expected);
    Some(same.count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_different_line_is_reported() {
        let cases = [
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nc\n", Some(2)),
            ("a\n", "a\nb\n", Some(2)),
            ("a", "a\n", Some(2)),
            ("", "a\n", Some(1)),
        ];
        for (found, expected, line) in cases {
            assert_eq!(difference(found, expected), line, "{found:?} {expected:?}");
        }
    }
}
