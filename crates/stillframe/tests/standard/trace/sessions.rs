//! Recording in a session that is there, and giving a call up.

use serde_json::json;
use test_support::{Fixture, Language, Texts, each};

use super::{at, at_the_time_limit, column, open_sessions};
use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, folder, written_in};

each![
    a_paused_session_resumes_and_stays_open,
    a_running_session_stays_running_once_all_rows_are_recorded,
    a_running_session_stays_running_at_the_timeout,
    a_user_breakpoint_ends_the_trace_and_is_reported,
    a_cancelled_trace_leaves_no_process,
    a_cancelled_trace_in_a_session_removes_its_locations,
];

/// Comes to its place again and again, until there is a file beside it.
const TICKS: Texts = Texts {
    name: "trace_ticks",
    python: "\
import os, sys, time
i = 0
print('ready')
while not os.path.exists(sys.argv[0] + '.stop'):
    i += 1
    time.sleep(0.005)  # @here
print('stopped')
",
    node: "\
const fs = require('node:fs');
let i = 0;
console.log('ready');
const timer = setInterval(() => {
  i += 1;
  if (fs.existsSync(__filename + '.stop')) { // @here
    clearInterval(timer);
    console.log('stopped');
  }
}, 5);
",
    c: "\
#include <stdio.h>
#include <unistd.h>
int main(void) {
    int i = 0;
    puts(\"ready\"), fflush(stdout);
    while (access(__FILE__ \".stop\", F_OK)) {
        i++;
        usleep(5000); // @here
    }
    puts(\"stopped\");
}
",
};

/// A session whose program ticks.
async fn ticking(language: Language, folder: &tempfile::TempDir) -> (Debugging, Fixture) {
    let program = Fixture::write_in(language, folder.path(), "ticks", TICKS);
    let session = Debugging::of(language).await;
    let started = session.ok("start_debugging", json!({ "scriptPath": program.path(), "timeout": 0 })).await;
    assert_eq!(started.outcome(), "running");
    (session, program)
}

async fn runs_to_its_end(session: &Debugging, program: &Fixture) {
    assert_eq!(session.breakpoints().await, Vec::<serde_json::Value>::new());
    std::fs::write(format!("{}.stop", program.path()), "").unwrap();
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "ready\nstopped\n");
}

fn place(program: &Fixture, name: &str, expressions: &[&str]) -> serde_json::Value {
    let mut point = at(program, name, expressions);
    point["file"] = json!(program.path());
    point
}

async fn a_paused_session_resumes_and_stays_open(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "main_first").await;
    let points = [place(&program, "deposit", &["amount"])];
    let traced = session.ok("trace_values", json!({ "points": points })).await;
    assert_eq!(column(&traced), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!((&traced["endedBy"], &traced["closed"]), (&json!("program"), &json!(false)));
    assert_eq!(session.breakpoints().await.len(), 1, "the user's own stays");
    session.finish().await;
}

async fn a_running_session_stays_running_once_all_rows_are_recorded(language: Language) {
    let folder = folder();
    let (session, program) = ticking(language, &folder).await;
    let points = [place(&program, "here", &["i"])];
    let traced = session.ok("trace_values", json!({ "points": points, "maxHits": 3 })).await;
    assert!(!column(&traced).is_empty(), "{}", traced.text);
    let observed: Vec<u64> = column(&traced).iter().map(|i| i.parse().unwrap()).collect();
    assert_eq!(observed, [observed[0], observed[0] + 1, observed[0] + 2]);
    assert_eq!(
        (&traced["endedBy"], &traced["state"], &traced["closed"]),
        (&json!("maxHits"), &json!("running"), &json!(false))
    );
    runs_to_its_end(&session, &program).await;
    session.finish().await;
}

async fn a_running_session_stays_running_at_the_timeout(language: Language) {
    let folder = folder();
    let (session, program) = ticking(language, &folder).await;
    let points = [place(&program, "here", &["i"])];
    let trace = async |timeout| {
        let limits = json!({ "points": points, "maxHits": 100_000, "timeout": timeout });
        session.ok("trace_values", limits).await
    };
    let traced = at_the_time_limit(trace, |traced| !column(traced).is_empty()).await;
    assert!(!column(&traced).is_empty(), "{}", traced.text);
    assert_eq!((&traced["endedBy"], &traced["state"]), (&json!("timeout"), &json!("running")));
    assert!(
        traced.text_of("message").ends_with("; the timeout was reached, and the program keeps running"),
        "{}",
        traced.text
    );
    runs_to_its_end(&session, &program).await;
    session.finish().await;
}

async fn a_user_breakpoint_ends_the_trace_and_is_reported(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "main_first").await;
    let own = session.break_with(&program, "deposit", json!({ "condition": "amount == 4" })).await;
    // On the same line, too.
    let points = [place(&program, "deposit", &["amount"]), place(&program, "deposit_return", &["amount"])];
    let traced = session.ok("trace_values", json!({ "points": points })).await;
    assert_eq!(column(&traced), ["1", "1", "2", "2", "3", "3", "4"]);
    assert_eq!((&traced["endedBy"], traced.outcome()), (&json!("stop"), "breakpoint"));
    assert!(traced["breakpointIds"].as_array().unwrap().contains(&own["breakpointId"]), "{}", traced.text);
    assert_eq!(session.evaluate("amount").await, "4");
    session.finish_at_end().await;
}

async fn a_cancelled_trace_leaves_no_process(language: Language) {
    let (_folder, program) = written_in(language, "ticks", TICKS);
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    let arguments = json!({ "program": program.path(), "points": [at(&program, "here", &["i"])], "maxHits": 100_000, "timeout": 600_000 });
    let params = json!({ "name": "trace_values", "arguments": arguments, "_meta": { "progressToken": 1 } });
    let (id, _response) = server.begin("tools/call", params).await;
    while messages.recv().await.unwrap()["method"] != "notifications/progress" {}
    server
        .send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
        )
        .await;
    while open_sessions(&server).await != 0 {}
    server.finish().await;
}

async fn a_cancelled_trace_in_a_session_removes_its_locations(language: Language) {
    let folder = folder();
    let (session, program) = ticking(language, &folder).await;
    let mut messages = session.server.notifications();
    let arguments = session.with_id(
        json!({ "points": [place(&program, "here", &["i"])], "maxHits": 100_000, "timeout": 600_000 }),
    );
    let params = json!({ "name": "trace_values", "arguments": arguments, "_meta": { "progressToken": 1 } });
    let (id, _response) = session.server.begin("tools/call", params).await;
    while messages.recv().await.unwrap()["method"] != "notifications/progress" {}
    session
        .server
        .send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
        )
        .await;
    while !session.breakpoints().await.is_empty() {}
    runs_to_its_end(&session, &program).await;
    session.finish().await;
}
