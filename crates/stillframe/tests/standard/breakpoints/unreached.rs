//! What a run has ended without: breakpoints that were never bound, and those that were never reached.

use serde_json::json;
use test_support::{Answer, Language, PerLanguage, Texts, each};

use super::bank;
use crate::debugging::{Debugging, Report, written_in};

each![
    a_breakpoint_in_a_never_loaded_file_is_reported_at_the_end,
    a_breakpoint_that_was_never_hit_is_reported_at_the_end,
    hit_failed_and_disabled_breakpoints_are_not_reported_as_unreached,
    five_are_listed_and_the_rest_counted,
    an_unreached_run_until_location_is_reported_once_with_the_reason,
];

fn notes(report: &Answer) -> Vec<&str> {
    let notes = report["notes"].as_array().map(Vec::as_slice).unwrap_or_default();
    notes.iter().map(|note| note.as_str().expect("a text")).collect()
}

const OTHER: Texts = Texts {
    name: "unreached_other",
    python: "value = 1  # @line\n",
    node: "const value = 1; // @line\n",
    c: "int value(void) { return 1; } // @line\n",
};

const NOT_LOADED: &str = "the program has not loaded";
const NOT_COMPILED: &str = "no loaded code has debug information for this location";

async fn a_breakpoint_in_a_never_loaded_file_is_reported_at_the_end(language: Language) {
    let program = bank(language);
    let (_folder, other) = written_in(language, "other", OTHER);
    let session = Debugging::of(language).await;
    session.break_at(&other, "line").await;
    let ended = session.start(&program).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    let answer = if language.is_compiled() {
        PerLanguage { name: "unreached: not loaded", python: "", node: "", c: NOT_COMPILED }
            .of(language)
            .to_owned()
    } else {
        format!("the program has not loaded {}; it has loaded {}", other.path(), program.path())
    };
    let [note] = notes(&ended)[..] else { panic!("{}", ended.text) };
    assert!(note.starts_with(&format!("bp-1 was never bound: {answer}")), "{note}");
    let listed = session.breakpoints().await;
    assert_eq!(listed[0]["verified"], json!(false));
    let reason = listed[0]["reason"].as_str().expect("a reason");
    let start =
        PerLanguage { name: "unreached: not loaded", python: NOT_LOADED, node: NOT_LOADED, c: NOT_COMPILED }
            .of(language);
    assert!(reason.contains(&format!("it was not bound in the last run: {start}")), "{reason}");
    session.finish().await;
}

async fn a_breakpoint_that_was_never_hit_is_reported_at_the_end(language: Language) {
    let (program, session) = Debugging::with(language, "endings").await;
    let other = PerLanguage {
        name: "unreached: other",
        python: "how == 'other'",
        node: "how == 'other'",
        c: "how[0] == 'o'",
    }
    .of(language);
    session.break_at(&program, "never").await;
    session.break_with(&program, "about", json!({ "condition": other })).await;
    let arguments = json!({ "scriptPath": program.path(), "args": ["return"] });
    let ended = session.ok("start_debugging", arguments).await;
    let file = language.file("main");
    let never = format!("bp-1 at {file}:{} was never reached", program.line("never"));
    let about = format!("bp-2 at {file}:{} was never reached with `{other}` true", program.line("about"));
    assert_eq!(notes(&ended), [never, about]);
    // The report is about one run.
    let again = session.ok("restart_debugging", json!({})).await;
    assert_eq!(notes(&again).len(), 2, "{}", again.text);
    session.finish().await;
}

async fn hit_failed_and_disabled_breakpoints_are_not_reported_as_unreached(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    session.break_at(&program, "start").await;
    session.break_with(&program, "deposit", json!({ "logMessage": "{amount}" })).await;
    session.break_with(&program, "purse", json!({ "condition": "missing > 1" })).await;
    session.break_with(&program, "doubled", json!({ "enabled": false })).await;
    session.start(&program).await;
    let ended = session.run_to_the_end().await;
    let [note] = notes(&ended)[..] else { panic!("{}", ended.text) };
    assert!(note.starts_with("the condition of bp-3 failed once"), "{note}");
    session.finish().await;
}

async fn five_are_listed_and_the_rest_counted(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    for _ in 0..7 {
        session.break_at(&program, "doubled").await;
    }
    let ended = session.start(&program).await;
    let reported = notes(&ended);
    assert_eq!(reported.len(), 6, "{}", ended.text);
    assert!(reported[4].starts_with("bp-5 at ") && reported[5].starts_with("and 2 more"), "{}", ended.text);
    session.finish().await;
}

async fn an_unreached_run_until_location_is_reported_once_with_the_reason(language: Language) {
    let program = bank(language);
    let (_folder, other) = written_in(language, "other", OTHER);
    let session = Debugging::of(language).await;
    session.break_at(&program, "doubled").await;
    let arguments = json!({
        "program": program.path(),
        "until": [{ "file": other.path(), "line": other.line("line") }],
    });
    let ended = session.ok("run_until", arguments).await;
    let reported = notes(&ended);
    assert_eq!((ended.outcome(), reported.len()), ("ended", 2), "{}", ended.text);
    let start =
        PerLanguage { name: "unreached: not loaded", python: NOT_LOADED, node: NOT_LOADED, c: NOT_COMPILED }
            .of(language);
    let of_place = format!("line {} of {} was not reached: {start}", other.line("line"), other.path());
    assert!(reported.iter().any(|note| note.starts_with(&of_place)), "{}", ended.text);
    assert!(reported.iter().any(|note| note.starts_with("bp-1 at ")), "{}", ended.text);
    assert_eq!(session.breakpoints().await.len(), 1);
    session.finish().await;
}
