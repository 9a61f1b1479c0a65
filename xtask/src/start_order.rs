//! `cargo xtask start-order`: which functions a release puts next to each other (`crates/stillframe/start.ld`).
//!
//! The kernel maps 64 KB of a program around each place that is touched. A start runs some 1,700 functions, most of them
//! small, and they lie in half of all such windows. Those that share a window with few others of them are moved
//! together, by patterns that do not depend on hashes. valgrind says which functions run, and `nm` where they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::repository;

/// How much the kernel maps around a fault, in bytes, as a power of two.
const WINDOW: u32 = 16;
/// How many windows may stay as they are: a shorter list is worth more than the last of them.
const LEFT: usize = 24;
/// How many bytes next to each other cost as much as one more pattern.
const PATTERN: u64 = 8192;

const HEAD: &str = "\
/*
 * Functions that a server's start runs, and that would lie alone among others: the kernel maps 64 KB of a program
 * around each place that is touched.
 *
 * Written by `cargo xtask start-order`. A pattern that matches nothing any more does no harm.
 */
SECTIONS {
  .text.start : {
";
const TAIL: &str = "  }\n} INSERT BEFORE .text;\n";

/// A function in the program.
#[derive(Debug)]
struct Function {
    start: u64,
    size: u64,
    name: String,
}

/// Builds a release without an order, starts it as a server in valgrind, and writes the order.
pub(crate) fn run(_: &[String]) -> Result<ExitCode> {
    let folder = repository::root().join("target/start-order");
    let program = build(&folder)?;
    let program = program.to_str().context("the path of the repository is not UTF-8")?;
    let functions = functions(&repository::output("nm", &["--print-size", "--defined-only", program])?);
    let profile = folder.join("callgrind.out");
    start(program, &profile)?;
    let profile = std::fs::read_to_string(&profile).context("valgrind wrote no profile")?;
    let chosen = choose(&functions, &names(&profile));
    let mut script = HEAD.to_owned();
    for pattern in &chosen {
        let _ = writeln!(script, "    *(.text.{pattern})");
    }
    script.push_str(TAIL);
    std::fs::write(repository::root().join("crates/stillframe/start.ld"), script)?;
    println!("{} patterns", chosen.len());
    Ok(ExitCode::SUCCESS)
}

fn build(folder: &Path) -> Result<PathBuf> {
    let built = repository::cargo()
        .args(["build", "--release", "--locked", "--package", "stillframe", "--target-dir"])
        .arg(folder)
        .env("CARGO_PROFILE_RELEASE_STRIP", "false")
        .env("STILLFRAME_UNORDERED", "1")
        .status()
        .context("cannot run cargo")?;
    ensure!(built.success(), "the program cannot be built");
    Ok(folder.join("release/stillframe"))
}

/// Lets valgrind write what a server runs until it has answered `initialize`, and until it ends.
#[expect(clippy::disallowed_methods, reason = "a program of the developer's own, not a debuggee")]
fn start(program: &str, profile: &Path) -> Result<()> {
    let mut server = std::process::Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--demangle=no"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .args([program, "serve", "--log-file", "off"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run valgrind")?;
    let mut input = server.stdin.take().context("valgrind has no input")?;
    let mut answers = BufReader::new(server.stdout.take().context("valgrind has no output")?);
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"xtask","version":"0"}}}"#;
    writeln!(input, "{initialize}")?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    writeln!(input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)?;
    drop(input);
    ensure!(server.wait()?.success() && answer.contains("serverInfo"), "the server did not start: {answer}");
    Ok(())
}

/// The functions in what `nm --print-size` prints.
fn functions(symbols: &str) -> Vec<Function> {
    let function = |line: &str| {
        let [start, size, "t" | "T", name] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(Function { start: number(start)?, size: number(size)?, name: name.to_owned() })
    };
    symbols.lines().filter_map(function).collect()
}

/// The functions in callgrind's output.
fn names(profile: &str) -> BTreeSet<&str> {
    profile.lines().filter_map(named).collect()
}

/// A function where it is first used: `cfn=(12) name`, or `name'2` where it calls itself.
fn named(line: &str) -> Option<&str> {
    let (_, name) = line.strip_prefix('c').unwrap_or(line).strip_prefix("fn=(")?.split_once(") ")?;
    name.split('\'').next()
}

/// Patterns of functions that ran, until few windows have any others.
fn choose(functions: &[Function], ran: &BTreeSet<&str>) -> BTreeSet<String> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    let mut windows: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for Function { start, size, name } in functions {
        let pattern = pattern(name);
        if ran.contains(name.as_str()) {
            for window in (start >> WINDOW)..=((start + size.saturating_sub(1)) >> WINDOW) {
                windows.entry(window).or_default().insert(pattern.clone());
            }
        }
        *sizes.entry(pattern).or_default() += size;
    }
    let mut chosen = BTreeSet::new();
    let cost = |patterns: &BTreeSet<String>, chosen: &BTreeSet<String>| -> u64 {
        patterns.difference(chosen).filter_map(|pattern| sizes.get(pattern)).map(|size| PATTERN + size).sum()
    };
    while windows.len() > LEFT
        && let Some(cheapest) = windows.values().min_by_key(|patterns| cost(patterns, &chosen))
    {
        chosen.extend(cheapest.clone());
        windows.retain(|_, patterns| !patterns.is_subset(&chosen));
    }
    chosen
}

/// A function's name without what changes with each compiler and each version of a crate: hashes (`17h…E` at the end,
/// `Cs…_` before a crate's name) and the numbers of copies. `$` would need quotes.
fn pattern(name: &str) -> String {
    let name =
        name.split_once('.').filter(|(_, copy)| copy.parse::<u32>().is_ok()).map_or(name, |(name, _)| name);
    let Some(path) = name.strip_prefix("_R") else {
        let hash = name.rfind("17h").filter(|at| name.len() - at == "17h0123456789abcdefE".len());
        return hash.map_or_else(|| name.to_owned(), |at| format!("{}17h*", &name[..at])).replace('$', "?");
    };
    let mut parts = path.split("Cs");
    let mut pattern = format!("_R{}", parts.next().unwrap_or_default());
    for part in parts {
        match part.split_once('_') {
            Some((_, rest)) => {
                let _ = write!(pattern, "Cs*_{rest}");
            }
            None => {
                let _ = write!(pattern, "Cs{part}");
            }
        }
    }
    pattern + "*"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_no_hashes() {
        let table = [
            (
                "_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h00c420fc54d76624E",
                "_ZN5alloc3vec16Vec?LT?T?C?A?GT?4push17h*",
            ),
            (
                "_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vec4growCsduwmD7cSIQq_5gimli",
                "_RNvMs4_NtCs*_5alloc7raw_vec4growCs*_5gimli*",
            ),
            ("_RNvCs4_5alloc4done.10524", "_RNvCs*_5alloc4done*"),
            ("main", "main"),
        ];
        for (name, expected) in table {
            assert_eq!(pattern(name), expected);
        }
    }

    #[test]
    fn functions_that_run_alone_are_moved() {
        let symbols = "0000000000000000 0000000000000010 t alone\n\
                       0000000000000010 0000000000000010 t idle\n\
                       0000000000000020 T without_size\n";
        let functions = functions(symbols);
        assert_eq!(functions.len(), 2);
        let ran = names("fn=(1) alone\n+3 4\ncfn=(2) other'2\ncalls=1 0\nfn=(1)\n");
        assert_eq!(ran, BTreeSet::from(["alone", "other"]));
        assert_eq!(choose(&functions, &ran), BTreeSet::new());
        let many: Vec<Function> = (0..=LEFT as u64)
            .map(|at| Function { start: at << WINDOW, size: 1 + at, name: format!("f{at}") })
            .collect();
        let ran = many.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(choose(&many, &ran), BTreeSet::from(["f0".to_owned()]));
    }
}
