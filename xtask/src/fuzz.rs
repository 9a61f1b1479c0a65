//! `cargo xtask fuzz`: gives every target of `crates/fuzz-targets` to libFuzzer for a while.
//!
//! The program in `fuzz/` is compiled as `cargo fuzz` would compile it without a sanitizer: there is no `unsafe` here
//! for one to watch, and so a stable compiler will do. What it finds is in `fuzz/artifacts/`.
//!
//! Without `--seconds` the search is the same each time, as far as a target leaves nothing to the scheduler: what it
//! finds on one machine is found on another. With it, the search is a new one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::repository;

/// What makes the compiler count edges, and how arithmetic is checked.
const FLAGS: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cdebug-assertions",
    "-Coverflow-checks",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=3 -sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
];
/// The environment variable with the program's target: `fuzz_targets::VARIABLE`.
const TARGET: &str = "STILLFRAME_FUZZ";
/// What the search begins with that is the same each time, and how many executions it has for each target.
const SEED: u32 = 1;
const EXECUTIONS: u32 = 5000;
/// An input that takes longer has found something, in seconds; and one that takes more memory, in megabytes.
const SLOW: u32 = 10;
const LARGE: u32 = 2048;
/// The longest input that is thought of, in bytes.
const LONGEST: u32 = 4096;

/// How a target is searched.
#[derive(Clone, Copy)]
enum Search {
    Same,
    New { seconds: u64 },
}

/// What came of a target.
struct Outcome {
    target: String,
    executions: u64,
    took: Duration,
    corpus: usize,
    failed: Option<String>,
}

impl Search {
    fn options(self) -> Vec<String> {
        match self {
            Self::Same => vec![format!("-seed={SEED}"), format!("-runs={EXECUTIONS}")],
            Self::New { seconds } => vec![format!("-max_total_time={seconds}")],
        }
    }
}

/// Compiles, runs, and prints the table; fails where something was found.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let (search, wanted) = read(arguments)?;
    let targets = targets(&wanted)?;
    let program = compile()?;
    let waiting = Mutex::new(targets.into_iter().rev().collect::<Vec<String>>());
    let outcomes = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(target) = waiting.lock().ok().and_then(|mut waiting| waiting.pop()) {
                    let outcome = attempt(&program, &target, search);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push(outcome);
                    }
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default().into_iter().collect::<Result<Vec<_>>>()?;
    outcomes.sort_by(|one, other| one.target.cmp(&other.target));
    Ok(print(&outcomes))
}

fn read(arguments: &[String]) -> Result<(Search, Vec<String>)> {
    let (mut search, mut wanted) = (Search::Same, Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--seconds" {
            let value = arguments.next().and_then(|value| value.parse().ok());
            search = Search::New { seconds: value.context("`--seconds` takes a whole number")? };
        } else {
            wanted.push(argument.clone());
        }
    }
    Ok((search, wanted))
}

/// The names of the targets, which are those of their corpora.
fn targets(wanted: &[String]) -> Result<Vec<String>> {
    let mut known: Vec<String> = names_in(&corpora())?;
    known.sort();
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(name)) {
        bail!("there is no target `{unknown}`; the targets are: {}", known.join(", "));
    }
    known.retain(|name| wanted.is_empty() || wanted.contains(name));
    Ok(known)
}

fn corpora() -> PathBuf {
    repository::root().join("fuzz/corpus")
}

fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

#[derive(Deserialize)]
struct Metadata {
    target_directory: PathBuf,
}

/// The program, compiled beside what else is compiled.
fn compile() -> Result<PathBuf> {
    let metadata: Metadata = serde_json::from_str(&repository::metadata()?)?;
    let folder = metadata.target_directory.join("fuzz");
    let host = repository::host()?;
    // Flags are only for the target when one is named, and not for what runs while compiling.
    let built = repository::cargo()
        .args(["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--target", &host])
        .arg("--target-dir")
        .arg(&folder)
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
        .status()
        .context("cannot run cargo")?;
    ensure!(built.success(), "the targets cannot be compiled");
    Ok(folder.join(host).join("release/any"))
}

/// Runs one target to the end of the search, or to what it finds.
#[expect(clippy::disallowed_methods, reason = "a program of the developer's own, not a debuggee")]
fn attempt(program: &Path, target: &str, search: Search) -> Result<Outcome> {
    let corpus = corpora().join(target);
    let artifacts = repository::root().join("fuzz/artifacts").join(target);
    std::fs::create_dir_all(&artifacts).context("cannot make `fuzz/artifacts`")?;
    let scratch = tempfile::tempdir()?;
    let found = scratch.path().join("found");
    std::fs::create_dir(&found)?;
    let began = Instant::now();
    let output = std::process::Command::new(program)
        .args(search.options())
        .arg(format!("-timeout={SLOW}"))
        .arg(format!("-rss_limit_mb={LARGE}"))
        .arg(format!("-max_len={LONGEST}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg("-print_final_stats=1")
        .arg(&found)
        .arg(&corpus)
        .env(TARGET, target)
        // What a run that was ended leaves goes with the folder.
        .env("TMPDIR", scratch.path())
        .output()
        .with_context(|| format!("cannot run `{}`", program.display()))?;
    let took = began.elapsed();
    let log = String::from_utf8_lossy(&output.stderr);
    let executions = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let tail = || log.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    Ok(Outcome {
        target: target.to_owned(),
        executions: executions.and_then(|number| number.trim().parse().ok()).unwrap_or(0),
        took,
        corpus: names_in(&corpus)?.len(),
        failed: (!output.status.success()).then(tail),
    })
}

fn print(outcomes: &[Outcome]) -> ExitCode {
    for outcome in outcomes {
        if let Some(log) = &outcome.failed {
            println!("{}:\n{log}\n", outcome.target);
        }
    }
    println!("{:<14}{:>12}{:>9}{:>8}{:>9}", "target", "executions", "seconds", "corpus", "crashes");
    for Outcome { target, executions, took, corpus, failed } in outcomes {
        let (seconds, crashes) = (took.as_secs_f64(), u8::from(failed.is_some()));
        println!("{target:<14}{executions:>12}{seconds:>9.1}{corpus:>8}{crashes:>9}");
    }
    if outcomes.iter().all(|outcome| outcome.failed.is_none()) {
        return ExitCode::SUCCESS;
    }
    println!("\nthe inputs are in `fuzz/artifacts`; once mended, each belongs into `fuzz/corpus`");
    ExitCode::FAILURE
}
