//! Which of the programs that a build has made is the one to debug, and how its tests are run.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::super::Host;
use super::messages::Executable;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::Launch;
use crate::process::ProcessSpec;
use crate::test_reports::TestReports;

/// What there is to debug.
pub(super) enum Choice {
    Single(Executable),
    /// All of these have tests that are asked for, and their runner reports results.
    Tests(Vec<Executable>),
}

/// The one to debug. Of several programs with tests, it is the one that has those asked for.
pub(super) async fn choose(
    host: &dyn Host,
    sysroot: &str,
    built: Vec<Executable>,
    launch: &Launch,
) -> Result<Choice> {
    let filters: Vec<&str> =
        launch.args.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let mut candidates = Vec::new();
    let mut names = Vec::new();
    let is_single = built.len() == 1;
    for mut executable in built {
        if executable.is_test {
            match list(host, sysroot, &executable, launch).await {
                Some(tests) if is_single || is_asked_for(&tests, &filters) => names.extend(tests),
                Some(tests) => {
                    names.extend(tests);
                    continue;
                }
                None => executable.has_harness = false,
            }
        }
        candidates.push(executable);
    }
    let exact = launch.args.iter().any(|word| word == "--exact");
    match candidates.as_slice() {
        [only] => {
            if only.is_test && only.has_harness && !filters.is_empty() && !is_asked_for(&names, &filters) {
                return Err(no_test(&filters, exact, &names));
            }
            Ok(Choice::Single(only.clone()))
        }
        [] if !filters.is_empty() => Err(no_test(&filters, exact, &names)),
        [] => Err(Error::StartFailed {
            problem: "the build produced no program; choose a target with `--bin`, `--example`, `--test` or \
                      `--lib`"
                .to_owned(),
            output: String::new(),
        }),
        several
            if launch.env.contains_key(TestReports::VARIABLE)
                && several.iter().all(|one| one.is_test && one.has_harness) =>
        {
            Ok(Choice::Tests(candidates))
        }
        several => {
            let is_one_package =
                several.windows(2).all(|two| matches!(two, [a, b] if a.package == b.package));
            let choice = |one: &Executable| {
                if is_one_package {
                    one.choice()
                } else {
                    format!("-p {} {}", one.package_name, one.choice())
                }
            };
            let choices: Vec<String> = several.iter().map(|one| format!("`{}`", choice(one))).collect();
            Err(Error::StartFailed {
                problem: format!(
                    "the build produced {} programs; choose one of {} in `runtimeArgs` \
                     (`--runtime-arg` on the command line) or in the command",
                    several.len(),
                    choices.join(", ")
                ),
                output: String::new(),
            })
        }
    }
}

fn is_asked_for(tests: &[String], filters: &[&str]) -> bool {
    tests.iter().any(|test| filters.is_empty() || filters.iter().any(|filter| test.contains(filter)))
}

fn no_test(filters: &[&str], exact: bool, names: &[String]) -> Error {
    let known: Vec<&str> = names.iter().take(10).map(String::as_str).collect();
    let how = if exact { "is named" } else { "contains" };
    let tests = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Error::StartFailed {
        problem: format!("no test {how} `{}`; tests: {tests}", filters.join("` or `")),
        output: String::new(),
    }
}

/// Whether there are tests in a program, as far as it says so.
pub(super) async fn has_tests(
    host: &dyn Host,
    sysroot: &str,
    executable: &Executable,
    launch: &Launch,
) -> bool {
    list(host, sysroot, executable, launch).await.is_none_or(|tests| !tests.is_empty())
}

/// The names of the tests in a program; none if it is not the standard harness that answers.
async fn list(
    host: &dyn Host,
    sysroot: &str,
    executable: &Executable,
    launch: &Launch,
) -> Option<Vec<String>> {
    let spec = ProcessSpec {
        program: executable.path.clone(),
        args: ["--list".into(), "--format".into(), "terse".into()].into(),
        cwd: Some(launch.cwd.clone().unwrap_or_else(|| executable.package.clone())),
        // The tests of a macro need the compiler's libraries.
        env: executable.environment(host, sysroot),
        ..ProcessSpec::default()
    };
    let listed = host.run(&spec, deadlines::HELPER).await.ok().filter(|listed| listed.success)?;
    Some(listed.stdout.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// A launch of a binary: of its tests, if it is one that Cargo has built for them, and they are to be reported.
pub(super) async fn of_binary(host: &dyn Host, sysroot: &str, path: &Path, launch: Launch) -> Launch {
    let is_built = path.parent().is_some_and(|folder| folder.ends_with("deps"));
    if !is_built || !launch.env.contains_key(TestReports::VARIABLE) {
        return launch;
    }
    let executable = Executable {
        path: path.to_owned(),
        kind: "test".to_owned(),
        name: String::new(),
        source: PathBuf::new(),
        package: launch.working_folder(),
        package_name: String::new(),
        is_test: true,
        has_harness: true,
        has_variables: true,
    };
    let tests = list(host, sysroot, &executable, &launch).await;
    as_tests(launch, tests.is_some_and(|tests| !tests.is_empty()))
}

/// A launch of tests, one after the other and with their output as it comes.
pub(super) fn as_tests(mut launch: Launch, has_harness: bool) -> Launch {
    if !has_harness {
        return launch;
    }
    let given = |option: &str, launch: &Launch| launch.args.iter().any(|word| word.starts_with(option));
    if !given("--nocapture", &launch) && !given("--no-capture", &launch) {
        launch.args.push("--nocapture".to_owned());
    }
    if !given("--test-threads", &launch) {
        launch.args.push("--test-threads=1".to_owned());
    }
    launch
}

/// The words of Cargo that choose a target by its name.
pub(super) async fn target_words(host: &dyn Host, folder: &Path, name: &str) -> Result<Vec<String>> {
    let missing = |problem: String| Error::StartFailed { problem, output: String::new() };
    let cargo = host.which("cargo").ok_or_else(|| missing("there is no `cargo` on PATH".to_owned()))?;
    let args = ["metadata", "--no-deps", "--format-version", "1"].map(Into::into).into();
    let spec = ProcessSpec { program: cargo, args, cwd: Some(folder.to_owned()), ..ProcessSpec::default() };
    let said = host.run(&spec, deadlines::HELPER).await?;
    if !said.success {
        return Err(Error::StartFailed {
            problem: format!("`{}` is not a Cargo package", folder.display()),
            output: said.stderr,
        });
    }
    let metadata: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    let list =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let targets = list(&metadata, "packages").into_iter().flat_map(|package| list(&package, "targets"));
    let mut known = Vec::new();
    for target in targets {
        let text = |pointer: &str| target.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, of) = (text("/kind/0"), text("/name"));
        let command = match kind {
            "bin" | "example" => "build",
            "test" => "test",
            "bench" => "bench",
            _ => continue,
        };
        if of == name {
            return Ok([command, &format!("--{kind}"), name].map(str::to_owned).into());
        }
        known.push(format!("{kind} `{of}`"));
    }
    Err(missing(format!("no target `{name}`; targets: {}", known.join(", "))))
}
