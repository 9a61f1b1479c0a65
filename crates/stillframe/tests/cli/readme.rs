//! The README shows what its commands print.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use test_support::Mark;
use tools::CommandLine;

use crate::{STILLFRAME, folder};

/// The commands of each block that is followed by one with their output, and that output.
fn blocks(readme: &str) -> Vec<(&str, &str)> {
    let after_fence = readme.split("\n```sh\n").skip(1);
    let both = after_fence.filter_map(|text| {
        let (commands, rest) = text.split_once("\n```\n")?;
        let (output, _) = rest.strip_prefix("\n```text\n")?.split_once("\n```")?;
        Some((commands, output))
    });
    both.collect()
}

/// What is the same on every machine and in every run of a line that `hang` prints.
fn constant(line: &str) -> String {
    let (before, _) = line.split_once(['[', '`']).unwrap_or((line, ""));
    let parts = before.split(|char: char| char.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("0")
}

/// Runs a command in the repository, and returns what it printed.
async fn printed(command: &str, home: &Path) -> String {
    let words = CommandLine::from(command).words("").expect("a command without a shell");
    let arguments =
        words.iter().map(String::as_str).skip_while(|word| !matches!(*word, "stillframe" | "--")).skip(1);
    let mark = Mark::default();
    let (name, value) = mark.variable();
    let mut started = STILLFRAME.command();
    started.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).args(arguments);
    started.env("HOME", home).env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await).env(name, value);
    let Output { stdout, .. } = started.output().await.expect("the program under test runs");
    mark.assert_gone_within(Duration::from_secs(2));
    String::from_utf8(stdout).expect("text")
}

#[tokio::test]
async fn the_readme_shows_what_its_commands_print() {
    let home = folder();
    let readme = include_str!("../../../../README.md");
    let found = blocks(readme);
    assert_eq!(found.len(), 4, "{found:#?}");
    for (commands, expected) in found {
        let mut output = String::new();
        for command in commands.lines() {
            output = printed(command, home.path()).await;
        }
        // The end of a long output is left out.
        let output: Vec<&str> = output.lines().take(expected.lines().count()).collect();
        let line = |line: &str| if commands.contains(" hang ") { constant(line) } else { line.to_owned() };
        let shown: Vec<String> = expected.lines().map(line).collect();
        assert_eq!(output.into_iter().map(line).collect::<Vec<_>>(), shown, "{commands}");
    }
}
