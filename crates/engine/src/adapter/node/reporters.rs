//! Options for Node's test runner, so that our reporter runs beside the user's.
//!
//! The other runners are seen to by the hook, in the process that they are in: they may be behind `npm test`.

use std::path::Path;

use super::super::{Host, Runtime};
use super::hook::NODE_REPORTER;
use super::interpreter::is_node;
use super::runners;
use crate::model::launch::{Launch, Program};
use crate::test_reports::TestReports;

/// Options that come first on Node's command line, or last in `NODE_OPTIONS`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reporter {
    pub(super) args: Vec<String>,
    pub(super) node_options: Vec<String>,
}

/// The options for a program whose tests are to be reported. A plain script may use `node:test` by itself; where a
/// command ends in Node, its environment has to do.
pub(super) fn of_node(host: &dyn Host, runtime: &Runtime, hook: &Path, launch: &Launch) -> Reporter {
    if launch.env.get(TestReports::VARIABLE).is_none_or(Option::is_none) {
        return Reporter::default();
    }
    if runners::is_runner(&runtime.executable) {
        return Reporter::default();
    }
    let ours = hook.with_file_name(NODE_REPORTER).display().to_string();
    if !is_node(&runtime.executable) {
        // Node rejects a reporter without a destination beside ours.
        let manifest = host.read(&launch.working_folder().join("package.json")).unwrap_or_default();
        let node_options =
            if manifest.contains("--test-reporter") { Vec::new() } else { options(&[], &ours) };
        return Reporter { node_options, ..Reporter::default() };
    }
    let is_library = matches!(&launch.program, Program::Module(_))
        || matches!(&launch.program, Program::Script(path) if super::is_internal(path));
    let args = if is_library { Vec::new() } else { options(&launch.runtime_args, &ours) };
    Reporter { args, ..Reporter::default() }
}

/// Node pairs the first reporter with the first destination, and so on. Ours writes nothing to its own. Options that are
/// put before the user's come first.
fn options(given: &[String], ours: &str) -> Vec<String> {
    let count = |name: &str| {
        let is_it = |word: &&String| word.split('=').next() == Some(name);
        given.iter().filter(is_it).count()
    };
    let (reporters, destinations) = (count("--test-reporter"), count("--test-reporter-destination"));
    let mut options =
        vec![format!("--test-reporter={ours}"), "--test-reporter-destination=stdout".to_owned()];
    if reporters == 0 && destinations == 0 {
        let usual = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
        options.extend(usual.map(str::to_owned));
    } else if destinations < reporters {
        options.push("--test-reporter-destination=stdout".to_owned());
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reporters_and_destinations_are_pairs() {
        let table: [(&[&str], &[&str]); 3] = [
            (&["--test"], &["--test-reporter=spec", "--test-reporter-destination=stdout"]),
            (&["--test", "--test-reporter=tap"], &["--test-reporter-destination=stdout"]),
            (&["--test", "--test-reporter", "tap", "--test-reporter-destination=a"], &[]),
        ];
        for (given, more) in table {
            let given: Vec<String> = given.iter().map(|&word| word.to_owned()).collect();
            let options = options(&given, "/ours.cjs");
            assert_eq!(options[..2], ["--test-reporter=/ours.cjs", "--test-reporter-destination=stdout"]);
            assert_eq!(&options[2..], more, "{given:?}");
        }
    }
}
