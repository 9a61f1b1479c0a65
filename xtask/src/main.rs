//! Chores of the repository: `cargo xtask <task>`.
//!
//! A task is a module with a `run` function and a line in [`TASKS`]. Tasks know the repository, not the
//! debugger: what they check or print comes from its files and from the tables of the toolsets.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task prints what it found")]

mod bench;
mod book;
mod dist;
mod docs;
mod fuzz;
mod repository;
mod sbom;
mod start_order;
mod test;
mod tidy;

use std::process::ExitCode;

const TASKS: &[Task] = &[
    Task { name: "tidy", options: "", about: "check dependencies, sizes, prose and links", run: tidy::run },
    Task {
        name: "test",
        options: "[--full] [PROGRAM…]",
        about: "run all tests, several programs at a time",
        run: test::run,
    },
    Task {
        name: "bench",
        options: "[--server PATH] [LANGUAGE…]",
        about: "measure against bare clients",
        run: bench::run,
    },
    Task { name: "docs", options: "[--check]", about: "write docs/tools.md, or compare it", run: docs::run },
    Task {
        name: "book",
        options: "",
        about: "make the documentation's book, and check its links",
        run: book::run,
    },
    Task {
        name: "fuzz",
        options: "[--seconds N] [TARGET…]",
        about: "give what others write to libFuzzer",
        run: fuzz::run,
    },
    Task {
        name: "dist",
        options: "[--check|--try|--bill|TARGET]",
        about: "make the packages; install each and use it",
        run: dist::run,
    },
    Task {
        name: "start-order",
        options: "",
        about: "write which functions a release puts next to each other",
        run: start_order::run,
    },
];

/// Something that can be done here.
struct Task {
    name: &'static str,
    /// The arguments, for the usage message.
    options: &'static str,
    about: &'static str,
    /// Does it, with the arguments after the name. An error is a task that could not be done; one that was
    /// done and found something wrong fails by its exit code.
    run: fn(&[String]) -> anyhow::Result<ExitCode>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task =
        arguments.split_first().and_then(|(name, rest)| Some((TASKS.iter().find(|t| t.name == name)?, rest)));
    let Some((task, rest)) = task else {
        eprint!("{}", usage());
        return ExitCode::from(2);
    };
    (task.run)(rest).unwrap_or_else(|error| {
        eprintln!("cargo xtask {}: {error:#}", task.name);
        ExitCode::from(2)
    })
}

fn usage() -> String {
    let line = |task: &Task| {
        let call = format!("{} {}", task.name, task.options);
        format!("  {call:<38}{}\n", task.about)
    };
    format!("usage: cargo xtask <task>\n\n{}", TASKS.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_has_a_line_for_every_task() {
        let usage = usage();
        let mut names: Vec<&str> =
            usage.lines().skip(2).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(names, TASKS.iter().map(|task| task.name).collect::<Vec<_>>());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TASKS.len(), "two tasks of one name");
    }
}
