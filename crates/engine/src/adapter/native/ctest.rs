//! Tests of a build: `ctest` names their programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::Host;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program};
use crate::process::{HelperOutput, ProcessSpec};
use crate::progress::Progress;
use crate::test_reports::{TestOutcome, TestReport, TestReports, TestResult, append};

/// The command, which is also what a launch has as its module.
pub(in crate::adapter) const NAME: &str = "ctest";

/// What `--show-only=json-v1` prints.
#[derive(Deserialize)]
struct Listing {
    #[serde(default)]
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    name: String,
    /// Empty for a program that is not built.
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    value: Value,
}

/// A launch of the program of one test: of several, the first that fails when they run without a debugger, or else the
/// last one. What the others came to is reported.
pub(in crate::adapter) async fn build(
    host: &dyn Host,
    launch: Launch,
    progress: &Progress,
) -> Result<Launch> {
    let folder = launch.working_folder();
    let listed = run(host, &launch, &folder, &["--show-only=json-v1"]).await?;
    let listing: Option<Listing> = serde_json::from_str(&listed.stdout).ok();
    let failed = |problem: String, output: String| Error::StartFailed { problem, output };
    let Some(listing) = listing else {
        let problem = format!("`{NAME}` cannot list the tests of `{}`", folder.display());
        return Err(failed(problem, format!("{}{}", listed.stdout, listed.stderr)));
    };
    if let Some(missing) = listing.tests.iter().find(|test| test.command.is_empty()) {
        let problem =
            format!("the program of the test `{}` is not built; run `cmake --build` first", missing.name);
        return Err(failed(problem, String::new()));
    }
    let reports = launch.env.get(TestReports::VARIABLE).cloned().flatten();
    // Of those that pass, one that passes by itself shows it best, and one that is disabled is not run.
    let enabled = || listing.tests.iter().filter(|test| !test.is_disabled());
    let mut chosen = enabled().rfind(|test| !test.is_judged()).or_else(|| enabled().next_back());
    let mut judged = None;
    if listing.tests.len() > 1 || listing.tests.iter().any(Test::is_judged) {
        // They may not end, and all is built by now.
        progress.end_preparation();
        progress.say("running the tests to see which one fails");
        let said = run(host, &launch, &folder, &[]).await?;
        let results: BTreeMap<&str, TestOutcome> =
            said.stdout.lines().filter_map(|line| listing.result(line)).collect();
        let fails = |test: &&Test| results.get(test.name.as_str()) == Some(&TestOutcome::Failed);
        let failing = listing.tests.iter().find(fails);
        if failing.is_none() && !said.success {
            let problem = format!("`{NAME}` fails, and what it prints does not show which test does");
            return Err(failed(problem, format!("{}{}", said.stdout, said.stderr)));
        }
        chosen = failing.or(chosen);
        judged = chosen.and_then(|test| test.judged(results.get(test.name.as_str()).copied()?));
        if let Some(path) = &reports {
            let others =
                listing.tests.iter().filter(|test| Some(&test.name) != chosen.map(|test| &test.name));
            let others = others.filter_map(|test| {
                let outcome = *results.get(test.name.as_str())?;
                Some(TestReport::Result(TestResult::before_debugger(&test.name, outcome)))
            });
            append(path, &others.collect::<Vec<_>>());
        }
    }
    let Some(test) = chosen else {
        let problem = format!(
            "`{NAME}` found no test that is enabled in `{}`; check its arguments, and give the build folder as `cwd` or with `--test-dir`",
            folder.display()
        );
        return Err(failed(problem, String::new()));
    };
    if let Some(path) = &reports {
        append(path, &[TestReport::Begins { test: test.name.clone(), judged }]);
    }
    Ok(test.launch(launch, &folder))
}

async fn run(host: &dyn Host, launch: &Launch, folder: &Path, more: &[&str]) -> Result<HelperOutput> {
    let program = host.which(NAME).ok_or_else(|| Error::Environment {
        problem: format!("there is no `{NAME}` on PATH"),
        remedy: "install CMake (`apt-get install cmake`, `brew install cmake`)".to_owned(),
    })?;
    let words = launch.args.iter().map(String::as_str).chain(more.iter().copied());
    let spec = ProcessSpec {
        program,
        args: words.map(Into::into).collect(),
        cwd: Some(folder.to_owned()),
        env: launch.env.clone(),
        ..ProcessSpec::default()
    };
    host.run(&spec, deadlines::BUILD).await
}

impl Listing {
    /// The name of a test, which may have spaces, and its outcome:
    /// `1/3 Test #1: Basket.Adds ............   Passed    0.00 sec`.
    fn result(&self, line: &str) -> Option<(&str, TestOutcome)> {
        let (_, rest) = line.split_once(" Test ")?;
        let (number, rest) = rest.trim_start().strip_prefix('#')?.split_once(": ")?;
        let _: u32 = number.trim().parse().ok()?;
        let words_after = |name: &str| rest.strip_prefix(name)?.strip_prefix(" ...");
        let mut names = self.tests.iter().map(|test| test.name.as_str());
        let (name, words) = names.find_map(|name| Some((name, words_after(name)?)))?;
        let words = words.trim_start_matches(['.', ' ']);
        let outcome = match words {
            _ if words.starts_with("Passed") => TestOutcome::Passed,
            _ if words.starts_with("***Skipped") => TestOutcome::Skipped,
            // It counts for nothing, as in the command's own summary.
            _ if words.starts_with("***Not Run (Disabled)") => return None,
            _ if words.contains("***") => TestOutcome::Failed,
            _ => return None,
        };
        Some((name, outcome))
    }
}

/// Properties by which `ctest` judges a test otherwise than by the exit code of its program.
const JUDGING: [&str; 3] = ["FAIL_REGULAR_EXPRESSION", "PASS_REGULAR_EXPRESSION", "WILL_FAIL"];
/// Those that count only if the test is skipped. `gtest_discover_tests` gives each test one.
const SKIPPING: [&str; 2] = ["SKIP_REGULAR_EXPRESSION", "SKIP_RETURN_CODE"];

impl Test {
    fn is_judged(&self) -> bool {
        JUDGING.iter().chain(&SKIPPING).any(|name| self.property(name).is_some())
    }

    /// A result that the exit code of the program alone does not show. One that failed may pass under a debugger.
    fn judged(&self, result: TestOutcome) -> Option<TestOutcome> {
        let names: &[&str] = if result == TestOutcome::Skipped { &SKIPPING } else { &[] };
        let is_judged = || JUDGING.iter().chain(names).any(|name| self.property(name).is_some());
        (result.is_failure() || is_judged()).then_some(result)
    }

    fn is_disabled(&self) -> bool {
        self.property("DISABLED") == Some(&Value::Bool(true))
    }

    fn property(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|property| property.name == name).map(|property| &property.value)
    }

    fn launch(&self, launch: Launch, folder: &Path) -> Launch {
        let mut words = self.command.iter().cloned();
        let program = words.next().unwrap_or_default();
        let assignments = self.property("ENVIRONMENT").and_then(Value::as_array).cloned().unwrap_or_default();
        let assignments = assignments.iter().filter_map(|text| text.as_str()?.split_once('='));
        let mut env: BTreeMap<String, Option<String>> =
            assignments.map(|(name, value)| (name.to_owned(), Some(value.to_owned()))).collect();
        env.extend(launch.env);
        let cwd = self.property("WORKING_DIRECTORY").and_then(Value::as_str).map(PathBuf::from);
        Launch {
            program: Program::Script(folder.join(program)),
            args: words.collect(),
            cwd: Some(cwd.unwrap_or_else(|| folder.to_owned())),
            env,
            ..launch
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read() {
        let [passed, failed, skipped] = [TestOutcome::Passed, TestOutcome::Failed, TestOutcome::Skipped];
        let table = [
            (
                " 1/12 Test  #1: Basket.Adds ......................   Passed    0.00 sec",
                Some(("Basket.Adds", passed)),
            ),
            ("2/2 Test #12: shop ....***Failed    0.01 sec", Some(("shop", failed))),
            ("2/2 Test #2: shop ....***Exception: SegFault  0.10 sec", Some(("shop", failed))),
            ("2/2 Test #2: shop ....***Skipped   0.10 sec", Some(("shop", skipped))),
            ("2/2 Test #2: shop ....***Not Run (Disabled)   0.00 sec", None),
            (
                "2/5 Test #2: plain ........Subprocess aborted***Exception:   0.13 sec",
                Some(("plain", failed)),
            ),
            ("2/2 Test #2: rounds up .........***Failed    0.01 sec", Some(("rounds up", failed))),
            ("2/2 Test #2: rounds ............   Passed    0.01 sec", Some(("rounds", passed))),
            ("2/2 Test #3: Totals/(6, 6) ...   Passed    0.01 sec", Some(("Totals/(6, 6)", passed))),
            ("      Start 1: shop", None),
        ];
        let names = ["Basket.Adds", "shop", "plain", "rounds", "rounds up", "Totals/(6, 6)"];
        let tests = names.map(|name| serde_json::json!({ "name": name }));
        let listing: Listing = serde_json::from_value(serde_json::json!({ "tests": tests })).unwrap();
        for (line, expected) in table {
            assert_eq!(listing.result(line), expected, "{line}");
        }
    }

    #[test]
    fn a_test_is_launched_as_cmake_says() {
        let text = r#"{"tests": [{"name": "shop", "command": ["/b/shop_test", "--fast"], "properties": [
            {"name": "WORKING_DIRECTORY", "value": "/b"}, {"name": "ENVIRONMENT", "value": ["A=1", "B=x=y"]}]}]}"#;
        let listing: Listing = serde_json::from_str(text).unwrap();
        let launch = listing.tests[0].launch(Launch::new(Program::Module(NAME.to_owned())), Path::new("/w"));
        assert_eq!(launch.program, Program::Script("/b/shop_test".into()));
        assert_eq!((launch.args, launch.cwd), (vec!["--fast".to_owned()], Some("/b".into())));
        let env = [("A", "1"), ("B", "x=y")].map(|(name, value)| (name.to_owned(), Some(value.to_owned())));
        assert_eq!(launch.env, env.into());
    }
}
