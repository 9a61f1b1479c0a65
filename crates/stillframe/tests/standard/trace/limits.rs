//! How many rows, and what becomes of the program when they are there.

use serde_json::json;
use test_support::{Answer, Fixture, Language, PerLanguage, Texts, each};

use super::{at, at_the_time_limit, column, of_rows, open_sessions, trace, trace_in};
use crate::STILLFRAME;
use crate::debugging::{ENDLESS, written_in};

each![
    every_nth_hit_is_recorded,
    unchanged_rows_are_omitted,
    once_all_rows_are_recorded_the_program_is_ended,
    once_all_rows_are_recorded_the_program_runs_to_its_end_on_request,
    a_flood_of_rows_is_limited,
    an_oversized_answer_omits_the_middle,
    at_the_timeout_rows_are_kept_and_the_program_is_ended,
    a_program_that_reaches_no_location_is_reported_where_it_is,
    a_crash_keeps_the_rows,
    an_uncaught_exception_ends_the_trace_or_is_ignored,
];

async fn every_nth_hit_is_recorded(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let points = [at(&program, "deposit", &["amount"])];
    let traced = trace(&server, language, json!({ "points": points, "sampleEvery": 3 })).await;
    assert_eq!(column(&traced), ["1", "4"]);
    assert_eq!((of_rows(&traced, "hit"), &traced["totals"]["hits"]), (vec![json!(1), json!(4)], &json!(6)));
    server.finish().await;
}

async fn unchanged_rows_are_omitted(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let third = PerLanguage {
        name: "limits: third",
        python: "amount // 3",
        node: "Math.floor(amount / 3)",
        c: "amount / 3",
    };
    let points = [at(&program, "deposit", &[third.of(language)])];
    let traced = trace(&server, language, json!({ "points": points, "onlyWhenChanged": true })).await;
    assert_eq!(column(&traced), ["0", "1", "2"]);
    assert_eq!(
        (of_rows(&traced, "hit"), &traced["totals"]["hits"]),
        (vec![json!(1), json!(3), json!(6)], &json!(6))
    );
    server.finish().await;
}

async fn once_all_rows_are_recorded_the_program_is_ended(language: Language) {
    let (_folder, program) = written_in(language, "passes", PASSES);
    let server = STILLFRAME.serve().await;
    let points = [at(&program, "here", &["i"])];
    let traced = trace_in(&server, &program, json!({ "points": points, "maxHits": 3 })).await;
    assert_eq!(column(&traced), ["0", "1", "2"]);
    assert_eq!((&traced["endedBy"], &traced["state"]), (&json!("maxHits"), &json!("ended")));
    let notes = traced["notes"].to_string();
    assert!(notes.contains("sampleEvery") && notes.contains("a maxHits of up to 100000"), "{notes}");
    assert_eq!((&traced["closed"], open_sessions(&server).await), (&json!(true), json!(0)));
    server.finish().await;
}

async fn once_all_rows_are_recorded_the_program_runs_to_its_end_on_request(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let points = [at(&program, "deposit", &["amount"])];
    let traced = trace(&server, language, json!({ "points": points, "maxHits": 2, "whenFull": "run" })).await;
    assert_eq!(column(&traced), ["1", "2"]);
    assert_eq!((&traced["endedBy"], &traced["output"]), (&json!("program"), &json!("odd even\n6\n")));
    assert_eq!(traced["totals"], json!({ "hits": 6, "rows": 2, "shown": 2 }));
    assert!(traced["notes"].to_string().contains("4 hits are not among the rows"), "{}", traced.text);
    server.finish().await;
}

/// Comes to its place without end.
const PASSES: Texts = Texts {
    name: "trace_passes",
    python: "i = -1\nwhile True:\n    i += 1\n    i = i  # @here\n",
    node: "let i = -1;\nfor (;;) {\n  i += 1;\n  i += 0; // @here\n}\n",
    c: "int main(void) {\n    volatile int i = -1;\n    for (;;) {\n        i++;\n        i += 0; // @here\n    }\n}\n",
};

async fn a_flood_of_rows_is_limited(language: Language) {
    let (_folder, program) = written_in(language, "passes", PASSES);
    let server = STILLFRAME.serve().await;
    let points = [at(&program, "here", &["i"])];
    // A program of C is stopped at each pass, which takes longer.
    let rows = PerLanguage { name: "limits: flood", python: 50, node: 50, c: 3 }.of(language);
    let trace = async |timeout| {
        let limits = json!({ "points": points, "maxHits": rows, "whenFull": "run", "timeout": timeout });
        trace_in(&server, &program, limits).await
    };
    let hits = |traced: &Answer| traced["totals"]["hits"].as_u64().unwrap();
    let traced = at_the_time_limit(trace, |traced| hits(traced) > rows as u64).await;
    assert_eq!((column(&traced).len(), &traced["endedBy"]), (rows, &json!("timeout")));
    assert!(hits(&traced) > rows as u64, "{}", traced["totals"]);
    server.finish().await;
}

async fn an_oversized_answer_omits_the_middle(language: Language) {
    let (_folder, program) = written_in(language, "passes", PASSES);
    let server = STILLFRAME.serve().await;
    let literal = format!("\"{}\"", "x".repeat(900));
    let long = PerLanguage {
        name: "limits: long text",
        python: "'x' * 900",
        node: "'x'.repeat(900)",
        c: literal.as_str(),
    }
    .of(language);
    let points = [at(&program, "here", &["i", long])];
    let arguments = json!({ "points": points, "maxHits": 100, "limits": { "value": 1000 } });
    let traced = trace_in(&server, &program, arguments).await;
    assert!(traced.text.len() < 60_000, "{}", traced.text.len());
    let shown: Vec<u64> = of_rows(&traced, "hit").iter().map(|hit| hit.as_u64().unwrap()).collect();
    let omitted = ["from", "to", "count"].map(|field| traced["omitted"][field].as_u64().unwrap());
    let [from, to, count] = omitted;
    let expected: Vec<u64> = (1..from).chain(to + 1..=100).collect();
    assert_eq!((shown, count), (expected, to + 1 - from));
    assert_eq!(traced["totals"]["rows"], 100);
    assert!(traced["notes"].to_string().contains(&format!("rows {from} to {to} are omitted")));
    server.finish().await;
}

/// Comes to its place a few times, and then does nothing more.
const RESTS: Texts = Texts {
    name: "trace_rests",
    python: "\
import time
for i in range(3):
    i = i  # @here
while time:
    time.sleep(0.01)
x = 1  # @never
",
    node: "\
for (let i = 0; i < 3; i++) {
  i += 0; // @here
}
setInterval(() => {
  if (Date.now() < 0)
    console.log('never'); // @never
}, 10);
",
    c: "\
#include <unistd.h>
int main(void) {
    volatile int i;
    for (i = 0; i < 3; i++)
        i += 0; // @here
    while (i)
        usleep(10000);
    i++; // @never
}
",
};

async fn at_the_timeout_rows_are_kept_and_the_program_is_ended(language: Language) {
    let (_folder, program) = written_in(language, "rests", RESTS);
    let server = STILLFRAME.serve().await;
    let points = [at(&program, "here", &["i"]), at(&program, "never", &["i"])];
    let trace =
        async |timeout| trace_in(&server, &program, json!({ "points": points, "timeout": timeout })).await;
    let traced = at_the_time_limit(trace, |traced| column(traced).len() == 3).await;
    assert_eq!(column(&traced), ["0", "1", "2"]);
    assert_eq!(
        (&traced["endedBy"], &traced["state"], &traced["closed"]),
        (&json!("timeout"), &json!("ended"), &json!(true))
    );
    assert_eq!(
        traced["message"],
        "Recorded 3 rows of 3 hits; the timeout was reached, and the program was ended"
    );
    let note = format!("line {} of {} was not reached", program.line("never"), program.path());
    assert_eq!(traced["points"][1]["notes"], json!([note]));
    server.finish().await;
}

async fn a_program_that_reaches_no_location_is_reported_where_it_is(language: Language) {
    let (_folder, program) = written_in(language, "endless", ENDLESS);
    let server = STILLFRAME.serve().await;
    let bank = Fixture::of(language, "bank");
    let statement = PerLanguage {
        name: "limits: never reached",
        python: "RATE = 2",
        node: "const RATE = 2",
        c: "return coins",
    }
    .of(language);
    let point = json!({ "file": bank.path(), "statement": statement, "expressions": ["1"] });
    let trace =
        async |timeout| trace_in(&server, &program, json!({ "points": [point], "timeout": timeout })).await;
    let traced = at_the_time_limit(trace, |traced| traced["output"] == "ready\n").await;
    assert_eq!((&traced["endedBy"], &traced["output"]), (&json!("timeout"), &json!("ready\n")));
    // A file that is not part of the run.
    let note = traced["points"][0]["notes"][0].as_str().unwrap();
    assert!(note.contains("was not reached"), "{note}");
    let location = traced["notes"].to_string();
    assert!(location.contains("thread 1 `"), "{location}");
    server.finish().await;
}

/// Comes to its place three times and is killed, by itself.
const CRASHES: Texts = Texts {
    name: "trace_crashes",
    python: "\
import os, signal
for i in range(3):
    i = i  # @here
os.kill(os.getpid(), signal.SIGKILL)
",
    node: "\
for (let i = 0; i < 3; i++) {
  i += 0; // @here
}
process.kill(process.pid, 'SIGKILL');
",
    c: "\
#include <stdlib.h>
int main(void) {
    for (volatile int i = 0; i < 3; i++)
        i += 0; // @here
    abort();
}
",
};

async fn a_crash_keeps_the_rows(language: Language) {
    let (_folder, program) = written_in(language, "crashes", CRASHES);
    let server = STILLFRAME.serve().await;
    let traced = trace_in(&server, &program, json!({ "points": [at(&program, "here", &["i"])] })).await;
    assert_eq!(column(&traced), ["0", "1", "2"]);
    // lldb-dap reports the end by SIGKILL as it does that with exit code 9.
    let signal =
        PerLanguage { name: "limits: signal", python: "SIGKILL", node: "SIGKILL", c: "SIGABRT" }.of(language);
    assert_eq!((&traced["endedBy"], &traced["signal"]), (&json!("program"), &json!(signal)));
    assert_eq!(traced["totals"]["hits"], 3);
    server.finish().await;
}

async fn an_uncaught_exception_ends_the_trace_or_is_ignored(language: Language) {
    let program = Fixture::of(language, "endings");
    let server = STILLFRAME.serve().await;
    let points = [at(&program, "about", &["how"]), at(&program, "never", &["how"])];
    let traced = trace_in(&server, &program, json!({ "points": points, "args": ["raise"] })).await;
    assert_eq!(language.plain(&column(&traced)[0]), language.text("raise"));
    let (code, signal) = PerLanguage {
        name: "limits: uncaught",
        python: (Some(1), None),
        node: (Some(1), None),
        c: (None, Some("SIGABRT")),
    }
    .of(language);
    assert_eq!((&traced["endedBy"], &traced["closed"]), (&json!("program"), &json!(true)));
    assert_eq!((traced["exitCode"].as_i64(), traced["signal"].as_str()), (code, signal));
    // A program that aborts says nothing.
    let output = traced["output"].as_str().unwrap_or_default();
    assert!(language.is_compiled() || output.contains(language.words().raised), "{output}");
    server.finish().await;
}
