//! Breakpoints where no code is, or never comes to be.

use serde_json::json;

use crate::debugging::{Debugging, Report};
use crate::script::Script;

#[tokio::test]
async fn a_breakpoint_and_a_logpoint_on_one_line_both_work() {
    let script = Script::new(
        "function tell(text) {\n  console.log(text); // @tell\n}\nfor (const text of ['a', 'b', 'c']) tell(text);\n",
    );
    let session = Debugging::of(script.language()).await;
    let logs = session.break_with(&script, "tell", json!({ "logMessage": "now {text}" })).await;
    let stops = session.break_with(&script, "tell", json!({ "condition": "text === 'b'" })).await;
    assert_ne!(logs["breakpointId"], stops["breakpointId"]);
    let stopped = session.start(&script).await;
    assert_eq!((stopped.outcome(), stopped.variable("text")), ("breakpoint", "'b'"));
    assert_eq!(stopped["breakpointIds"], json!([stops["breakpointId"]]));
    session.run_to_the_end().await;
    assert_eq!(session.written("log").await, "now 'a'\nnow 'b'\nnow 'c'\n".replace('\'', ""));
    session.ok("remove_breakpoint", json!({ "breakpointId": logs["breakpointId"] })).await;
    assert_eq!(session.start(&script).await.variable("text"), "'b'", "the other one is still there");
    session.finish().await;
}

#[tokio::test]
async fn two_statements_on_one_line_stop_once() {
    let script = Script::new("let n = 0;\nn += 1; n += 1; n += 1; // @line\nconsole.log(n);\n");
    let (session, stopped) = script.stopped_at("line").await;
    assert_eq!(stopped.variable("n"), "0");
    assert_eq!(session.breakpoints().await[0]["hits"], 1);
    session.finish_at_end().await;
}

/// V8 makes no place of a plain assignment from one variable to another.
#[tokio::test]
async fn a_line_without_v8_location_moves_within_its_function_and_reports_it() {
    let script = Script::new(
        "function swap(a, b) {\n  a = b; // @first\n  b = a; // @second\n  return [a, b]; // @return\n}\nswap(1, 2);\n",
    );
    let session = Debugging::of(script.language()).await;
    session.break_at(&script, "second").await;
    let stopped = session.start(&script).await;
    assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", (script.path(), script.line("return"))));
    let listed = session.breakpoints().await;
    assert_eq!(listed[0]["line"], script.line("return"));
    assert_eq!(
        (&listed[0]["requestedLine"], &listed[0]["verified"]),
        (&json!(script.line("second")), &json!(true))
    );
    session.finish().await;
}

#[tokio::test]
async fn a_never_loaded_file_is_reported_at_the_end_with_similar_loaded_ones() {
    let script = Script::new("console.log(require('./lib/prices.js').total); // @print\n");
    let loaded = script.file("lib/prices.js", "exports.total = 3; // @total\n");
    let never = script.file("prices.js", "exports.total = 4; // @total\n");
    let session = Debugging::of(script.language()).await;
    session.break_at(&never, "total").await;
    let ended = session.start(&script).await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "3\n"), "{}", ended.text);
    let listed = session.breakpoints().await;
    assert_eq!((&listed[0]["verified"], &listed[0]["hits"]), (&json!(false), &json!(0)));
    let reason = listed[0]["reason"].as_str().unwrap();
    assert!(reason.contains("has not loaded") && reason.contains(loaded.path()), "{reason}");
    session.finish().await;
}

#[tokio::test]
async fn an_unloaded_file_is_unverified_and_binds_when_loaded() {
    let script = Script::new("console.log('begin'); // @begin\nconsole.log(require('./late.js'));\n");
    let late = script.file("late.js", "module.exports = 'late'; // @late\n");
    let (session, _) = script.stopped_at("begin").await;
    let set = session.break_at(&late, "late").await;
    assert_eq!(set["verified"], false, "{}", set.text);
    assert!(set.text_of("reason").contains("loaded"), "{}", set.text);
    let stopped = session.go_on().await;
    assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", (late.path(), late.line("late"))));
    assert_eq!(session.breakpoints().await[1]["verified"], true);
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_file_loaded_twice_stops_each_time() {
    let script = Script::new(
        "for (let turn = 0; turn < 2; turn += 1) {\n  require('./again.js');\n  delete require.cache[require.resolve('./again.js')];\n}\n",
    );
    let again = script.file("again.js", "const loaded = true; // @loaded\nmodule.exports = loaded;\n");
    let session = Debugging::of(script.language()).await;
    session.break_at(&again, "loaded").await;
    assert_eq!(session.start(&script).await.place(), (again.path(), again.line("loaded")));
    assert_eq!(session.go_on().await.place(), (again.path(), again.line("loaded")));
    assert_eq!(session.breakpoints().await[0]["hits"], 2);
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_file_is_known_by_its_link_and_its_real_path() {
    let script = Script::new("require('./real.js');\n");
    let real = script.file("real.js", "exports.real = 1; // @real\n");
    let link = script.folder().join("link.js");
    std::os::unix::fs::symlink(real.path(), &link).unwrap();
    let session = Debugging::of(script.language()).await;
    let location = json!({ "file": link, "line": real.line("real") });
    session.ok("set_breakpoint", location).await;
    let stopped = session.start(&script).await;
    assert_eq!((stopped.outcome(), stopped.place().1), ("breakpoint", real.line("real")), "{}", stopped.text);
    session.finish().await;
}
