//! Conditions on exceptions. What stops a program of C in their stead is a signal, which has no value that a condition
//! could be about; see `exception_conditions_need_a_language_with_exceptions`.

use serde_json::{Value, json};
use test_support::{Answer, Dynamic, DynamicLanguage, Language, dynamic};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, written_in};

dynamic![
    only_exceptions_that_satisfy_a_condition_stop,
    exception_conditions_apply_to_uncaught_exceptions,
    exception_conditions_see_the_variables_at_the_throw,
    a_failing_exception_condition_is_reported_and_does_not_stop,
    a_slow_exception_condition_is_reported_and_does_not_stop,
    an_invalid_exception_condition_is_refused_at_once,
    run_until_applies_an_exception_condition_only_once,
];

/// Throws three errors that it catches, and, on request, one that it does not catch.
const PROGRAM: Dynamic = Dynamic {
    python: r#"import sys
class Broken(Exception):
    pass
def fail(kind, code):
    limit = 2
    error = kind("code %d" % code)
    error.code = code
    raise error  # @raise
for kind, code in [(KeyError, 1), (Broken, 2), (ValueError, 3)]:
    try:
        fail(kind, code)
    except Exception:
        pass
if len(sys.argv) > 1:
    fail(Broken, 9)
"#,
    node: r"class Broken extends Error {}
function fail(Kind, code) {
  const limit = code === 1 ? Broken.limit : 2;
  const error = new Kind(`code ${code}`);
  error.code = code;
  throw error; // @raise
}
for (const [Kind, code] of [[TypeError, 1], [Broken, 2], [RangeError, 3]]) {
  try {
    fail(Kind, code);
  } catch {}
}
if (process.argv.length > 2) fail(Broken, 9);
",
};

/// A session with a condition, and the program's first stop or end.
async fn started(
    language: DynamicLanguage,
    mode: &str,
    condition: &str,
    args: &[&str],
) -> (Debugging, Answer) {
    let (_folder, program) = written_in(language, "main", PROGRAM);
    let session = Debugging::of(language).await;
    session.ok("set_exception_breakpoints", json!({ "mode": mode, "exceptionCondition": condition })).await;
    let report = session.ok("start_debugging", json!({ "scriptPath": program.path(), "args": args })).await;
    if report.outcome() == "exception" {
        assert_eq!(report.place(), (program.path(), program.line("raise")));
    }
    (session, report)
}

/// What `list_breakpoints` says of exceptions.
async fn listed(session: &Debugging) -> Value {
    session.ok("list_breakpoints", json!({})).await["exceptions"].clone()
}

async fn only_exceptions_that_satisfy_a_condition_stop(language: DynamicLanguage) {
    let (session, mut stopped) = started(language, "all", "error.code > 1", &["fail"]).await;
    for (code, uncaught) in [("2", false), ("3", false), ("9", true)] {
        assert_eq!((stopped.outcome(), stopped.variable("code")), ("exception", code), "{}", stopped.text);
        assert_eq!(stopped["exception"]["uncaught"], uncaught, "{}", stopped.text);
        assert_eq!(listed(&session).await, json!({ "mode": "all", "condition": "error.code > 1" }));
        stopped = session.go_on().await;
    }
    assert_eq!((stopped.outcome(), &stopped["notes"]), ("ended", &Value::Null), "{}", stopped.text);

    let set = session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    let answer = "Stopping at all exceptions (before: all where `error.code > 1`)";
    assert_eq!(set["message"], answer);
    session.finish().await;
}

async fn exception_conditions_apply_to_uncaught_exceptions(language: DynamicLanguage) {
    for (condition, outcome) in [("error.code == 9", "exception"), ("error.code == 8", "ended")] {
        let (session, report) = started(language, "uncaught", condition, &["fail"]).await;
        assert_eq!(report.outcome(), outcome, "{}", report.text);
        if outcome == "exception" {
            let ended = session.go_on().await;
            assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)), "{}", ended.text);
        }
        session.finish().await;
    }
}

async fn exception_conditions_see_the_variables_at_the_throw(language: DynamicLanguage) {
    let condition = language.pick(
        "isinstance(error, Broken) and error.code == limit",
        "error instanceof Broken && error.code === limit // in `fail`",
    );
    let (session, stopped) = started(language, "all", condition, &[]).await;
    assert_eq!((stopped.outcome(), stopped.variable("code")), ("exception", "2"), "{}", stopped.text);
    session.finish_at_end().await;
}

async fn a_failing_exception_condition_is_reported_and_does_not_stop(language: DynamicLanguage) {
    let (session, ended) = started(language, "all", "eror.code > 1", &[]).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    let error = language.undefined("eror");
    let note =
        format!("the condition of the exceptions failed 3 times and did not stop the program: {error}");
    assert_eq!(ended["notes"], json!([note]));
    assert_eq!(listed(&session).await["failure"], format!("3 times; last error: {error}"));
    session.finish().await;
}

async fn a_slow_exception_condition_is_reported_and_does_not_stop(language: DynamicLanguage) {
    let words = language.words();
    let condition =
        language.pick("error.code == 2 and SPIN", "error.code === 2 && SPIN").replace("SPIN", words.spin);
    let (session, ended) = started(language, "all", &condition, &[]).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    let note = ended.at("/notes/0").as_str().unwrap_or_default();
    assert!(
        note.ends_with("failed once and did not stop the program: the condition did not end within 2000 ms"),
        "{}",
        ended.text
    );
    session.finish().await;
}

async fn an_invalid_exception_condition_is_refused_at_once(language: DynamicLanguage) {
    let session = Debugging::of(language).await;
    let arguments = json!({ "mode": "all", "exceptionCondition": "error.code >" });
    let failed = session.fails("bad_expression", "set_exception_breakpoints", arguments).await;
    let start = "`error.code >` is not a valid expression: SyntaxError: ";
    assert!(failed.text_of("error").starts_with(start), "{}", failed.text);
    assert_eq!(listed(&session).await, json!({ "mode": "uncaught" }), "nothing was changed");
    let arguments = json!({ "mode": "none", "exceptionCondition": "error" });
    let failed = session.fails("invalid_arguments", "set_exception_breakpoints", arguments).await;
    assert_eq!(
        failed["error"],
        "`exceptionCondition` needs `exceptions` to be `uncaught`, `userUnhandled` or `all`"
    );
    session.finish().await;
}

#[tokio::test]
async fn exception_conditions_need_a_language_with_exceptions() {
    let session = Debugging::of(Language::C).await;
    let arguments = json!({ "mode": "uncaught", "exceptionCondition": "1" });
    let failed = session.fails("unsupported", "set_exception_breakpoints", arguments).await;
    assert!(failed.text_of("error").contains("is not available for C and C++"), "{}", failed.text);
    assert_eq!(listed(&session).await, json!({ "mode": "uncaught" }));
    session.finish().await;
}

async fn run_until_applies_an_exception_condition_only_once(language: DynamicLanguage) {
    let (_folder, program) = written_in(language, "main", PROGRAM);
    let session = Debugging::on(STILLFRAME.serve().await, language).await;
    let arguments = json!({
        "program": program.path(),
        "exceptions": "all",
        "exceptionCondition": "error.code == 3",
        "expressions": ["code"],
    });
    let ran = session.ok("run_until", arguments).await;
    assert_eq!((ran.outcome(), ran.at("/values/0/value")), ("exception", &json!("3")), "{}", ran.text);
    assert_eq!(listed(&session).await, json!({ "mode": "uncaught" }));
    session.finish_at_end().await;
}
