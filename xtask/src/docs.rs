//! `cargo xtask docs`: the reference of all tools, from the tables of the toolsets.

mod fields;
mod page;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::repository;

/// Where the reference is kept.
const PATH: &str = "docs/tools.md";

/// Writes the reference. With `--check` it only compares, and fails if the file differs.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let expected = page::write(tools::toolsets::TOOLSETS);
    let path = repository::root().join(PATH);
    match arguments.as_slice() {
        [] => {
            std::fs::write(&path, expected).with_context(|| format!("cannot write `{PATH}`"))?;
            Ok(ExitCode::SUCCESS)
        }
        ["--check"] => {
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            let Some(line) = difference(&found, &expected) else { return Ok(ExitCode::SUCCESS) };
            println!("{PATH}:{line}: differs from the tables of the toolsets; run `cargo xtask docs`");
            Ok(ExitCode::FAILURE)
        }
        _ => bail!("takes nothing but `--check`"),
    }
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
    fn the_first_different_line_is_named() {
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
