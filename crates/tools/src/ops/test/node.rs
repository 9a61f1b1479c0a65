//! The test runners of Node.js. Our hook reports their results from whatever process they run in, even under `npm test`.

use std::path::Path;

use engine::adapter::{Host, Machine};
use engine::model::launch::{Launch, Program};
use serde_json::Value;

use super::Runner;
use crate::ToolError;
use crate::ops::command::Command;

/// The languages whose processes are debugged, too, where a command starts no runner that is known by its words: a script
/// of a project may run tests of theirs.
pub(super) fn child_languages(command: &Command, runner: Option<Runner>) -> Vec<&'static str> {
    let is_unknown = command.launch.program == Program::Command && runner.is_none();
    let languages = ["python"].into_iter().filter(|name| *name != command.adapter.name());
    if is_unknown { languages.collect() } else { Vec::new() }
}

/// The runner that a command starts.
pub(super) fn runner(launch: &Launch, executable: Option<&Path>) -> Option<Runner> {
    let executable = executable.and_then(|path| path.file_stem()?.to_str());
    let words = || launch.runtime_args.iter().chain(&launch.args).map(String::as_str);
    match (&launch.program, executable) {
        (Program::Command, Some("npx" | "pnpx")) => {
            words().find(|word| !word.starts_with('-')).and_then(named)
        }
        (Program::Command, Some(name)) if named(name).is_some() => named(name),
        (Program::Command, Some("npm" | "pnpm" | "yarn")) => of_project(launch, words()),
        (Program::Command, _) if words().any(|word| word == "--test") => Some(Runner::Node),
        (Program::Module(name), _) => named(name),
        (Program::Script(path), _) => {
            let mut parts = path.iter().skip_while(|part| *part != "node_modules").skip(1);
            parts.find_map(|part| named(path_stem(part.to_str()?)))
        }
        _ => None,
    }
}

/// The runner behind `npm test` and its like: the script that the project has by that name.
fn of_project<'a>(launch: &Launch, words: impl Iterator<Item = &'a str>) -> Option<Runner> {
    let mut words = words.filter(|word| !word.starts_with('-') && !matches!(*word, "run" | "run-script"));
    let script = match words.next()? {
        "t" | "tst" => "test",
        name => name,
    };
    let folder = launch.cwd.clone().or_else(|| std::env::current_dir().ok())?;
    let package = folder.ancestors().find_map(|folder| Machine.read(&folder.join("package.json")))?;
    let package: Value = serde_json::from_str(&package).ok()?;
    of_script(package.get("scripts")?.get(script)?.as_str()?)
}

/// The runner that a script of a project starts.
fn of_script(script: &str) -> Option<Runner> {
    script.split_whitespace().find_map(|word| match word {
        "--test" => Some(Runner::Node),
        word => named(path_stem(word.rsplit('/').next()?)),
    })
}

fn path_stem(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn named(name: &str) -> Option<Runner> {
    match name {
        "jest" => Some(Runner::Jest),
        "vitest" => Some(Runner::Vitest),
        "mocha" => Some(Runner::Mocha),
        _ => None,
    }
}

/// A shell says so when a script of a project names a command that is not there.
pub(super) fn missing(output: &str) -> Option<ToolError> {
    let mut words =
        output.lines().filter(|line| line.ends_with("not found")).flat_map(|line| line.split(": "));
    let name = words.find(|word| named(word).is_some())?;
    let install = format!("install it with `npm install --save-dev {name}`, in the folder given as `cwd`");
    Some(ToolError::no_command(name, &install))
}

/// Whether a runner has printed that it found no test file, and so has reported no tests.
pub(super) fn found_no_tests(output: &str) -> bool {
    ["No tests found", "No test files found", "Could not find '"].iter().any(|said| output.contains(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_scripts_name_their_runner() {
        let table = [
            ("vitest run", Some(Runner::Vitest)),
            ("NODE_ENV=test node node_modules/.bin/jest --ci", Some(Runner::Jest)),
            ("tsc && mocha 'dist/**/*.js'", Some(Runner::Mocha)),
            ("node --test", Some(Runner::Node)),
            ("tsc", None),
        ];
        for (script, expected) in table {
            assert_eq!(of_script(script), expected, "{script}");
        }
    }

    #[test]
    fn a_missing_runner_is_named() {
        let table = [
            ("sh: 1: jest: not found", Some("`jest`")),
            ("sh: line 1: vitest: command not found", Some("`vitest`")),
            ("sh: 1: mochi: not found", None),
            ("jest", None),
        ];
        for (output, expected) in table {
            let error = missing(output).map(|error| error.message);
            assert_eq!(error.is_some(), expected.is_some(), "{output}");
            assert!(expected.is_none_or(|name| error.unwrap().contains(name)), "{output}");
        }
    }
}
