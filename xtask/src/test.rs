//! `cargo xtask test`: what `cargo test --workspace` runs, with several test programs at a time.
//!
//! Most tests wait for other programs most of the time, so that one test program after the other leaves half of the
//! machine idle. With `--full`, the tables of which a push tries a part are tried whole, and ignored tests run too.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use test_support::{Mark, Signal};

use crate::repository;

/// How many test programs run at once. Each runs as many tests at once as there are processors.
const LANES: usize = 2;
/// Those that take longest, which begin first, so that none of them is left alone at the end.
const LONGEST: [&str; 11] =
    ["standard", "mcp", "python", "recording", "native", "node", "faults", "via", "autopsy", "quick", "hang"];
/// How tests know that everything is to be tried: `test_support::tries_everything`.
const FULL: (&str, &str) = ("STILLFRAME_EFFORT", "full");
/// What is the same in each run: the cases that properties are tried with. What fails here fails elsewhere too.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

/// What `.ci/run` sets for the build of this workspace alone.
const BUILD: [&str; 3] = ["RUSTC_WORKSPACE_WRAPPER", "CARGO_INCREMENTAL", "CARGO_PROFILE_DEV_DEBUG"];
/// Certificates that each start of Node.js reads, which takes it longer than everything else there, and where npm finds
/// them without that: nothing else that tests run needs them.
const CERTIFICATES: (&str, &str) = ("NODE_EXTRA_CA_CERTS", "npm_config_cafile");
/// How long a test program may take, in a push and with `--full`. The longest takes 6 minutes on a slow machine.
const LIMITS: (Duration, Duration) = (Duration::from_mins(12), Duration::from_hours(2));

/// How long the processes of a test program may take to end after it.
const AFTER_TESTS: Duration = Duration::from_secs(5);

/// In what `cargo test --no-run` says: a thing that it has built.
#[derive(Deserialize)]
struct Artifact {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    /// It runs tests.
    test: bool,
}

/// A test program.
struct Program {
    name: String,
    executable: PathBuf,
    /// Where cargo runs it: the folder of its package.
    folder: PathBuf,
}

/// What came of one.
struct Outcome {
    name: String,
    took: Duration,
    /// What is wrong, with what it printed; empty when nothing is.
    failed: String,
}

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let is_full = arguments.iter().any(|argument| argument == "--full");
    let wanted: Vec<&String> = arguments.iter().filter(|argument| *argument != "--full").collect();
    let mut programs = build()?;
    if let Some(unknown) = wanted.iter().find(|name| !programs.iter().any(|program| program.name == ***name))
    {
        let known: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        bail!("there is no test program `{unknown}`; there are: {}", known.join(", "));
    }
    programs.retain(|program| wanted.is_empty() || wanted.contains(&&program.name));
    programs.sort_by_key(|program| {
        LONGEST.iter().position(|name| *name == program.name).unwrap_or(LONGEST.len())
    });

    let path = path_with_python()?;
    let began = Instant::now();
    let waiting = Mutex::new(VecDeque::from(programs));
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while let Some(program) = waiting.lock().ok().and_then(|mut waiting| waiting.pop_front()) {
                    let outcome = attempt(&program, &path, is_full);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push(outcome);
                    }
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap_or_default().into_iter().collect::<Result<Vec<_>>>()?;
    Ok(print(&outcomes, began.elapsed()))
}

/// Builds the test programs of the workspace.
fn build() -> Result<Vec<Program>> {
    let built = repository::cargo()
        .args(["test", "--workspace", "--locked", "--no-run", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(built.status.success(), "the tests do not compile");
    let messages = String::from_utf8(built.stdout).context("what cargo says is no text")?;
    // Messages of other kinds have other fields.
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    Ok(artifacts.filter_map(Program::of).collect())
}

impl Program {
    fn of(artifact: Artifact) -> Option<Self> {
        let executable = artifact.executable.filter(|_| artifact.profile.test)?;
        let folder = artifact.manifest_path.parent()?.to_owned();
        Some(Self { name: artifact.target.name, executable, folder })
    }
}

/// The search path, with a virtual environment's Python in front. Tests start Python some thousands of times, and what
/// is installed beside `python3` would be found and often imported at each start; a shim that picks a version takes
/// longer still.
fn path_with_python() -> Result<OsString> {
    let version =
        repository::output("python3", &["-c", "import platform; print(platform.python_version())"])?;
    let environment = repository::root().join("target/tmp").join(format!("python-{}", version.trim()));
    let installed = environment.join("installed");
    if !installed.exists() {
        repository::output("python3", &["-m", "venv", "--clear", &environment.to_string_lossy()])?;
        std::fs::write(installed, "")?;
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(environment.join("bin")).chain(std::env::split_paths(&folders));
    Ok(std::env::join_paths(folders)?)
}

/// Runs one to its end.
#[expect(clippy::disallowed_methods, reason = "a program of the developer's own, not a debuggee")]
fn attempt(program: &Program, path: &OsStr, is_full: bool) -> Result<Outcome> {
    let began = Instant::now();
    let mut command = Command::new(&program.executable);
    command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder).env(SEED.0, SEED.1);
    // Some tests have cargo build a program, which is none of what CI sets for its own.
    for variable in BUILD {
        command.env_remove(variable);
    }
    if let Some(certificates) = std::env::var_os(CERTIFICATES.0) {
        command.env_remove(CERTIFICATES.0).env(CERTIFICATES.1, certificates);
    }
    command.env("PATH", path);
    if is_full {
        command.env(FULL.0, FULL.1).arg("--include-ignored");
    }
    let mark = Mark::of_program();
    let (variable, value) = mark.variable();
    command.env(variable, value);
    // Not pipes: their ends would be waited for, which a process that is left behind may hold open.
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child =
        command.spawn().with_context(|| format!("cannot run `{}`", program.executable.display()))?;
    let status = wait(&mut child, if is_full { LIMITS.1 } else { LIMITS.0 })?;
    let took = began.elapsed();
    let left = kill_those_left(&mark);
    let printed = text(&mut stdout)?;
    let result = printed
        .lines()
        .find_map(|line| line.strip_prefix("test result: "))
        .unwrap_or("it did not come to its end");
    println!("{:<18}{:>6.1} s  {result}", program.name, took.as_secs_f64());
    let _ = std::io::stdout().flush();
    let mut failed = Vec::new();
    match status {
        None => failed.push(format!("killed: these tests did not end\n{}", endless(&printed))),
        Some(status) if !status.success() => {
            failed.push(format!("{}\n{}\n{status}", failures(&printed), text(&mut stderr)?));
        }
        Some(_) => {}
    }
    if !left.is_empty() {
        failed.push(format!("left behind, and killed:\n{}", left.join("\n")));
    }
    Ok(Outcome { name: program.name.clone(), took, failed: failed.join("\n") })
}

/// Waits for its end. A program that takes too long is killed, and has no status.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let until = Instant::now() + limit;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Kills what a test program has left behind. Gives the number and the command line of each process.
fn kill_those_left(mark: &Mark) -> Vec<String> {
    let left = mark.left_after(AFTER_TESTS);
    for (pid, _) in &left {
        mark.try_signal(*pid, Signal::KILL);
    }
    left.into_iter().map(|(pid, command)| format!("{pid} {command}")).collect()
}

/// What was written to a file.
fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The tests that libtest said run for over a minute, and that have not ended.
fn endless(printed: &str) -> String {
    let lines = || printed.lines().filter_map(|line| line.strip_prefix("test "));
    let ended: BTreeSet<&str> = lines().filter_map(|line| Some(line.split_once(" ... ")?.0)).collect();
    let long = lines().filter_map(|line| Some(line.split_once(" has been running for over ")?.0));
    long.filter(|name| !ended.contains(name)).collect::<Vec<_>>().join("\n")
}

/// What libtest prints of the tests that failed, or everything when it did not come so far.
fn failures(printed: &str) -> &str {
    printed.split_once("\nfailures:\n").map_or(printed, |(_, failures)| failures)
}

/// The failures come last, where they are seen first.
fn print(outcomes: &[Outcome], took: Duration) -> ExitCode {
    let alone: f64 = outcomes.iter().map(|outcome| outcome.took.as_secs_f64()).sum();
    println!(
        "\n{} test programs in {:.0} s, one after the other {alone:.0} s",
        outcomes.len(),
        took.as_secs_f64()
    );
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.failed.is_empty()).collect();
    for outcome in &failed {
        println!("\n== {}\n{}", outcome.name, outcome.failed);
    }
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!(
        "\nfailed: {}",
        failed.iter().map(|outcome| outcome.name.as_str()).collect::<Vec<_>>().join(", ")
    );
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a program of the test, which kills it")]
    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn tests_that_do_not_end_are_named() {
        let printed = "running 3 tests\ntest a ... ok\ntest b has been running for over 60 seconds\n\
                       test c has been running for over 60 seconds\ntest b ... FAILED\n";
        assert_eq!(endless(printed), "c");
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed() {
        let mut child = shell("exec sleep 1000").spawn().unwrap();
        assert_eq!(wait(&mut child, Duration::from_millis(50)).unwrap(), None);
        let mut child = shell("exit 3").spawn().unwrap();
        assert_eq!(wait(&mut child, Duration::from_mins(1)).unwrap().unwrap().code(), Some(3));
    }

    #[test]
    fn what_a_program_leaves_behind_is_named_and_killed() {
        let mark = Mark::of_program();
        let (variable, value) = mark.variable();
        assert!(shell("sleep 1000 & exit 0").env(variable, value).status().unwrap().success());
        let left = kill_those_left(&mark);
        assert!(left.len() == 1 && left[0].ends_with(" sleep 1000 "), "{left:?}");
        assert_eq!(kill_those_left(&mark), [""; 0]);
    }
}
