//! Which of several packages is debugged: the first whose tests fail when they run without a debugger.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Deserialize;

use crate::test_reports::{TestOutcome, TestReport, TestReports, TestResult, append};

/// A line of `go test -json`. A package comes to a result, too, without a test.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
}

/// The one of `packages` to debug, or else the last one, by what `go test -json` has printed. What the tests of the
/// others came to is reported.
pub(super) fn choose<'a>(packages: &[&'a str], printed: &str, reports: Option<&str>) -> Option<&'a str> {
    let events: Vec<Event> = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let failed: BTreeSet<&str> = events
        .iter()
        .filter(|event| event.action == "fail" && event.test.is_none())
        .map(|event| event.package.as_str())
        .collect();
    let chosen = packages.iter().find(|package| failed.contains(**package)).or(packages.last()).copied()?;
    if let Some(path) = reports {
        let others = results(&events, chosen);
        let others = others.iter().map(|(name, outcome)| TestResult::before_debugger(name, *outcome));
        append(path, &others.map(TestReport::Result).collect::<Vec<_>>());
    }
    Some(chosen)
}

/// Where the file is that results are reported in, if tests are run to find a failure.
pub(super) fn reports(env: &BTreeMap<String, Option<String>>) -> Option<&str> {
    env.get(TestReports::VARIABLE)?.as_deref()
}

/// The tests of all packages but one, with those packages in their names. One with subtests is left out,
/// unless it failed and none of them did.
fn results(events: &[Event], chosen: &str) -> Vec<(String, TestOutcome)> {
    let outcome = |action: &str| match action {
        "pass" => Some(TestOutcome::Passed),
        "fail" => Some(TestOutcome::Failed),
        "skip" => Some(TestOutcome::Skipped),
        _ => None,
    };
    let all: Vec<(String, TestOutcome)> = events
        .iter()
        .filter(|event| event.package != chosen)
        .filter_map(|event| {
            Some((format!("{}.{}", event.package, event.test.as_ref()?), outcome(&event.action)?))
        })
        .collect();
    let (mut parents, mut parents_of_failed) = (HashSet::new(), HashSet::new());
    for (name, outcome) in &all {
        let above = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
        if outcome.is_failure() {
            parents_of_failed.extend(above.clone());
        }
        parents.extend(above);
    }
    let is_own = |(name, outcome): &(String, TestOutcome)| {
        let parents = if outcome.is_failure() { &parents_of_failed } else { &parents };
        !parents.contains(name.as_str())
    };
    all.iter().filter(|result| is_own(result)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"
{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"TestOne"}
{"Action":"output","Package":"a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"pass","Package":"a","Test":"TestOne","Elapsed":0}
{"Action":"pass","Package":"a","Test":"TestParts/one","Elapsed":0}
{"Action":"pass","Package":"a","Test":"TestParts","Elapsed":0}
{"Action":"pass","Package":"a","Elapsed":0.1}
{"Action":"fail","Package":"b","Test":"TestTwo/sub","Elapsed":0}
{"Action":"fail","Package":"b","Test":"TestTwo","Elapsed":0}
{"Action":"pass","Package":"b","Test":"TestSetUp/a/b","Elapsed":0}
{"Action":"pass","Package":"b","Test":"TestSetUp/a","Elapsed":0}
{"Action":"fail","Package":"b","Test":"TestSetUp","Elapsed":0}
{"Action":"fail","Package":"b","Elapsed":0.1}
FAIL c [build failed]
{"Action":"fail","Package":"c","Elapsed":0.1}"#;

    #[test]
    fn the_first_package_that_fails_is_chosen() {
        assert_eq!(choose(&["a", "b", "c"], PRINTED, None), Some("b"));
        assert_eq!(choose(&["a", "c"], PRINTED, None), Some("c"));
        assert_eq!(choose(&["a", "d"], PRINTED, None), Some("d"));
    }

    #[test]
    fn other_packages_are_reported() {
        let events: Vec<Event> = PRINTED.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let [passed, failed] = [TestOutcome::Passed, TestOutcome::Failed];
        assert_eq!(
            results(&events, "b"),
            [("a.TestOne".to_owned(), passed), ("a.TestParts/one".to_owned(), passed)]
        );
        let others = [("b.TestTwo/sub", failed), ("b.TestSetUp/a/b", passed), ("b.TestSetUp", failed)];
        assert_eq!(results(&events, "a"), others.map(|(name, outcome)| (name.to_owned(), outcome)));
    }
}
