//! `cargo xtask test`: what `cargo test --workspace` runs, with several test programs at a time.
//!
//! Most tests wait for other programs most of the time, so that one test program after the other leaves half of the
//! machine idle. With `--full`, the tables of which a push tries a part are tried whole, and ignored tests run too.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::repository;

/// How many test programs run at once. Each runs as many tests at once as there are processors.
const LANES: usize = 2;
/// Those that take longest, which begin first, so that none of them is left alone at the end.
const LONGEST: [&str; 11] =
    ["standard", "mcp", "python", "recording", "native", "node", "faults", "via", "autopsy", "quick", "hang"];
/// How tests know that everything is to be tried: `test_support::tries_everything`.
const FULL: (&str, &str) = ("STILLFRAME_TESTS", "full");
/// What is the same in each run: the cases that properties are tried with. What fails here fails elsewhere too.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

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
    /// What it printed, when it failed.
    failed: Option<String>,
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
    for variable in ["RUSTC_WORKSPACE_WRAPPER", "CARGO_INCREMENTAL", "CARGO_PROFILE_DEV_DEBUG"] {
        command.env_remove(variable);
    }
    command.env("PATH", path);
    if is_full {
        command.env(FULL.0, FULL.1).arg("--include-ignored");
    }
    let output =
        command.output().with_context(|| format!("cannot run `{}`", program.executable.display()))?;
    let took = began.elapsed();
    let printed = String::from_utf8_lossy(&output.stdout);
    let result = printed
        .lines()
        .find_map(|line| line.strip_prefix("test result: "))
        .unwrap_or("it did not come to its end");
    println!("{:<18}{:>6.1} s  {result}", program.name, took.as_secs_f64());
    let _ = std::io::stdout().flush();
    let failed = (!output.status.success()).then(|| {
        format!("{}\n{}\n{}", failures(&printed), String::from_utf8_lossy(&output.stderr), output.status)
    });
    Ok(Outcome { name: program.name.clone(), took, failed })
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
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.failed.is_some()).collect();
    for outcome in &failed {
        println!("\n== {}\n{}", outcome.name, outcome.failed.as_deref().unwrap_or_default());
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
