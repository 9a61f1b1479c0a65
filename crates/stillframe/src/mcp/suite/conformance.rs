//! The official conformance suite against the server, for the revisions that it has requirements of.
//!
//! What fails is in the table of `docs/reference/conformance.md`, with the reason; what is in the table must fail.
//! `cargo test -p stillframe --bin stillframe conformance -- --nocapture` prints the report.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use engine::policy::Policy;
use journal::Journal;
use serde_json::Value;
use test_support::{repository, toolchains};
use tokio::net::TcpListener;
use tools::toolsets;

use super::super::http::HttpArgs;
use super::super::{ServerFeatures, http};
use crate::one_shot::RunContext;

/// The revisions that the suite has frozen requirements of.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// A check of every scenario: each message is as the protocol's schema says.
const SCHEMA_CHECK: &str = "wire-schema-valid";

/// The checks of one scenario that failed.
type Failed = Vec<String>;

/// Runs what a revision requires, and returns what failed of each scenario.
#[expect(
    clippy::disallowed_methods,
    reason = "the suite, which ends by itself, and with the test at the latest"
)]
async fn run(url: &str, revision: &str, results: &Path) -> BTreeMap<String, Failed> {
    let modules = toolchains().await;
    let mut suite = tokio::process::Command::new(modules.join("node22/bin/node"));
    suite.arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"));
    suite.args(["server", "--url", url, "--requirements", revision, "--output-dir"]).arg(results);
    suite.stdin(Stdio::null()).kill_on_drop(true);
    let done = tokio::time::timeout(Duration::from_mins(5), suite.output()).await;
    let done = done.expect("the suite ends").expect("the suite starts");
    let answer = String::from_utf8_lossy(&done.stdout);
    let mut scenarios = BTreeMap::new();
    for folder in std::fs::read_dir(results).expect("the suite leaves its results").flatten() {
        let name = folder.file_name().into_string().unwrap();
        let name = name.strip_prefix("server-").expect("a scenario of servers");
        // The moment follows: `-2026-11-22T08-38-50-660Z`.
        let (name, _) = name.split_at(name.len() - "-2026-11-22T08-38-50-660Z".len());
        let checks = std::fs::read(folder.path().join("checks.json")).expect("a scenario has checks");
        let checks: Vec<Value> = serde_json::from_slice(&checks).expect("checks are data");
        let failed = checks.iter().filter(|check| check["status"] == "FAILURE");
        for check in failed.clone() {
            println!("{revision} {name}: {}: {}", check["id"], check["errorMessage"]);
        }
        let failed = failed.map(|check| check["id"].as_str().unwrap().to_owned()).collect();
        scenarios.insert(name.to_owned(), failed);
    }
    // One that was not run at all is missed here.
    let count = answer.lines().next().unwrap_or_default();
    assert!(count.contains(&format!("({} scenarios)", scenarios.len())), "{count}");
    scenarios
}

/// A row of the table: a scenario that does not pass.
struct Exception {
    scenario: String,
    revisions: Vec<String>,
    /// The checks that fail; none when the whole scenario is about what there is not.
    checks: Vec<String>,
}

/// The table: scenario, revisions, checks, reason.
fn exceptions() -> Vec<Exception> {
    let page = std::fs::read_to_string(repository().join("docs/reference/conformance.md")).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let words = |cell: &str| -> Vec<String> {
        cell.split(',')
            .map(|word| word.trim().trim_matches('`').to_owned())
            .filter(|word| !word.is_empty())
            .collect()
    };
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [scenario, revisions, checks, reason] = cells.as_slice() else { panic!("four cells: {row}") };
        assert!(!reason.is_empty(), "a reason: {row}");
        let scenario = scenario.trim_matches('`').to_owned();
        Exception { scenario, revisions: words(revisions), checks: words(checks) }
    })
    .collect()
}

/// Serves as `stillframe serve --http --no-token` does, with the suite's own tools. Returns the address.
async fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let args = HttpArgs::for_tests();
    let run_context = RunContext {
        journal: Journal::none(),
        log_file: None,
        shows_credentials: false,
        policy: Policy::default().into(),
        is_relayed: false,
    };
    let toolsets = toolsets::choose("standard").expect("a toolset");
    let offer = ServerFeatures::new(toolsets, false);
    // It ends with the test.
    tokio::spawn(async move { http::serve_on(&args, listener, offer, run_context, None).await });
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_conformance_suite_passes_except_for_features_not_offered() {
    let url = serve().await;
    let exceptions = exceptions();
    let results = tempfile::tempdir().unwrap();
    let (mut report, mut wrong) = (String::new(), String::new());
    for revision in REVISIONS {
        let scenarios = run(&url, revision, &results.path().join(revision)).await;
        let passes = scenarios.values().filter(|failed| failed.is_empty()).count();
        let _ = writeln!(report, "{revision}: {passes} of {} scenarios pass", scenarios.len());
        for (scenario, failed) in &scenarios {
            let known = exceptions.iter().find(|known| {
                known.scenario == *scenario && known.revisions.iter().any(|named| named == revision)
            });
            let is_as_told = match known {
                None => failed.is_empty(),
                Some(Exception { checks, .. }) if checks.is_empty() => {
                    !failed.is_empty() && !failed.iter().any(|check| check == SCHEMA_CHECK)
                }
                Some(Exception { checks, .. }) => {
                    checks.len() == failed.len() && checks.iter().all(|check| failed.contains(check))
                }
            };
            let result = if failed.is_empty() { "pass" } else { "fail" };
            let _ = writeln!(report, "  {result:<12} {scenario}");
            if !is_as_told {
                let _ = writeln!(wrong, "{revision} {scenario}: {failed:?}");
            }
        }
        for known in exceptions.iter().filter(|known| known.revisions.iter().any(|named| named == revision)) {
            if !scenarios.contains_key(&known.scenario) {
                let _ = writeln!(wrong, "{revision} {}: there is no such scenario", known.scenario);
            }
        }
    }
    println!("{report}");
    assert!(wrong.is_empty(), "not as docs/reference/conformance.md has it:\n{wrong}");
}
