//! Which of several programs with tests is debugged: the first whose tests fail when they run without a debugger.

use std::path::Path;

use super::super::super::Host;
use super::messages::Executable;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::Launch;
use crate::process::ProcessSpec;
use crate::progress::Progress;
use crate::test_reports::{TestOutcome, TestReport, TestReports, TestResult, append};

/// The order in which Cargo runs the programs of a package.
const ORDER: [&str; 3] = ["lib", "bin", "test"];

/// Runs the programs one after the other until one fails; the last one if none does, and whether it is known to fail.
/// What the tests of the programs before it came to is reported, and that there are programs behind it.
pub(super) async fn first_that_fails(
    host: &dyn Host,
    sysroot: &str,
    mut programs: Vec<Executable>,
    launch: &Launch,
    progress: &Progress,
) -> Result<(Executable, bool)> {
    let reports = launch.env.get(TestReports::VARIABLE).cloned().flatten();
    // Cargo reports them as their builds end.
    let rank = |kind: &str| ORDER.iter().position(|known| *known == kind).unwrap_or(ORDER.len());
    programs
        .sort_by_cached_key(|program| (program.package.clone(), rank(&program.kind), program.name.clone()));
    let count = programs.len();
    for (at, program) in (1..).zip(programs) {
        if at == count {
            return Ok((program, false));
        }
        // Tests may not end, and all is built by now.
        progress.end_preparation();
        progress.say(format!("running `{}` to see whether its tests fail", program.choice()));
        let mut env = program.environment(host, sysroot);
        env.extend(launch.env.clone());
        let spec = ProcessSpec {
            program: program.path.clone(),
            args: launch.args.iter().map(Into::into).collect(),
            cwd: Some(launch.cwd.clone().unwrap_or_else(|| program.package.clone())),
            env,
            ..ProcessSpec::default()
        };
        let said = host.run(&spec, deadlines::BUILD).await?;
        if !said.success {
            if let Some(path) = &reports {
                let further = match count - at {
                    1 => "1 further program was".to_owned(),
                    more => format!("{more} further programs were"),
                };
                let text = format!("{further} not run: the first program whose tests fail is debugged");
                append(path, &[TestReport::Note { text }]);
            }
            return Ok((program, true));
        }
        if let Some(path) = &reports {
            let results: Vec<_> = said.stdout.lines().filter_map(result).map(TestReport::Result).collect();
            append(path, &results);
        }
    }
    Err(Error::StartFailed { problem: "the build produced no program".to_owned(), output: String::new() })
}

/// Whether Cargo continues when the tests of a program fail.
pub(super) fn keeps_going(launch: &Launch) -> bool {
    launch.runtime_args.iter().any(|word| word == "--no-fail-fast")
}

/// Runs the examples in a package's documentation, as `cargo test` does after its other tests, and reports them. They
/// cannot be debugged: each is compiled into a program of its own.
pub(super) async fn run_documentation(
    host: &dyn Host,
    folder: &Path,
    launch: &Launch,
    progress: &Progress,
) -> Result<()> {
    let (Some(cargo), Some(Some(reports))) = (host.which("cargo"), launch.env.get(TestReports::VARIABLE))
    else {
        return Ok(());
    };
    progress.end_preparation();
    progress.say("running the tests in the documentation".to_owned());
    let words = launch.runtime_args.iter().map(String::as_str).chain(["--doc", "--"]);
    let spec = ProcessSpec {
        program: cargo,
        args: words.chain(launch.args.iter().map(String::as_str)).map(Into::into).collect(),
        cwd: Some(folder.to_owned()),
        env: launch.env.clone(),
        ..ProcessSpec::default()
    };
    let said = host.run(&spec, deadlines::BUILD).await?;
    let failed = |line: &str| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(TestResult::before_debugger(name, TestOutcome::Failed))
    };
    let results = said.stdout.lines().filter_map(|line| result(line).or_else(|| failed(line)));
    let behind = !keeps_going(launch);
    let results = results.map(|result| TestReport::Result(TestResult { behind, ..result }));
    append(reports, &results.collect::<Vec<_>>());
    Ok(())
}

/// Whether sources in a folder have examples in their documentation.
pub(super) fn has_documentation(host: &dyn Host, folder: &Path) -> bool {
    let is_example = |line: &str| {
        let comment = ["///", "//!"].iter().find_map(|mark| line.trim_start().strip_prefix(mark));
        comment.is_some_and(|comment| comment.trim_start().starts_with("```"))
    };
    host.names_in(folder).iter().map(|name| folder.join(name)).any(|path| {
        if path.extension().is_some_and(|kind| kind == "rs") {
            host.read(&path).unwrap_or_default().lines().any(is_example)
        } else {
            has_documentation(host, &path)
        }
    })
}

/// `test totals::adds ... ok`, as the harness prints when it keeps what tests write.
fn result(line: &str) -> Option<TestResult> {
    let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let outcome = match outcome {
        "ok" => TestOutcome::Passed,
        _ if outcome.starts_with("ignored") => TestOutcome::Skipped,
        _ => return None,
    };
    Some(TestResult::before_debugger(name.trim_end_matches(" - should panic"), outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read() {
        let table = [
            ("test a::b ... ok", Some(("a::b", TestOutcome::Passed))),
            ("test a - should panic ... ok", Some(("a", TestOutcome::Passed))),
            ("test a ... ignored, not now", Some(("a", TestOutcome::Skipped))),
            ("test a ... FAILED", None),
            ("running 1 test", None),
        ];
        for (line, expected) in table {
            let found = result(line);
            let found = found.as_ref().map(|result| (result.id.as_str(), result.outcome));
            assert_eq!(found, expected, "{line}");
        }
    }
}
