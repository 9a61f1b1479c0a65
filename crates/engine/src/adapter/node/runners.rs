//! Test runners, and the options that let a test be suspended.
//!
//! A suspended process does not notice time passing, but its timers do: a test that was paused for longer than its
//! time limit fails as soon as it resumes, although nothing is wrong with it. So the limits are removed, unless the
//! user set some. `node --test` has none.

use std::path::Path;

use super::interpreter::stem;

/// The options for a runner, unless one of the options in `unless` is given.
struct Rule {
    tell: &'static [&'static str],
    unless: &'static [&'static str],
}

const JEST: &[Rule] = &[
    // The parent of jest's workers gives those up that do not answer.
    Rule {
        tell: &["--runInBand"],
        unless: &[
            "-i",
            "--runInBand",
            "--run-in-band",
            "-w",
            "--maxWorkers",
            "--max-workers",
            "--workerThreads",
        ],
    },
    // The longest time that a timer can have: none at all is not possible.
    Rule { tell: &["--testTimeout=2147483647"], unless: &["--testTimeout", "--test-timeout"] },
];
const MOCHA: &[Rule] = &[Rule {
    tell: &["--timeout=0"],
    unless: &["-t", "--timeout", "--timeouts", "--no-timeout", "--no-timeouts"],
}];
const VITEST: &[Rule] = &[
    Rule { tell: &["--testTimeout=0"], unless: &["--testTimeout", "--test-timeout"] },
    Rule { tell: &["--hookTimeout=0"], unless: &["--hookTimeout", "--hook-timeout"] },
];

/// The options that a script is to get before its arguments, when it is a test runner.
pub(super) fn options(script: &Path, args: &[String]) -> Vec<&'static str> {
    let rules = match name(script).as_deref() {
        Some("jest" | "jest-cli") => JEST,
        Some("mocha") => MOCHA,
        Some("vitest") => VITEST,
        _ => return Vec::new(),
    };
    let is_given = |rule: &&Rule| {
        let names = args.iter().map(|arg| arg.split('=').next().unwrap_or_default());
        !names.into_iter().any(|name| rule.unless.contains(&name))
    };
    rules.iter().filter(is_given).flat_map(|rule| rule.tell).copied().collect()
}

/// Whether a script is a test runner.
pub(super) fn is_runner(script: &Path) -> bool {
    name(script).is_some_and(|name| ["jest", "jest-cli", "mocha", "vitest"].contains(&name.as_str()))
}

/// The package that a script belongs to, or the command of a package.
pub(super) fn name(script: &Path) -> Option<String> {
    if script.parent().is_some_and(|folder| folder.ends_with("node_modules/.bin")) {
        return Some(stem(script));
    }
    let parts: Vec<_> = script.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let at = parts.iter().rposition(|part| part == "node_modules")?;
    parts.get(at + 1).map(|part| part.clone().into_owned())
}
