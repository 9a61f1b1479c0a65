//! Exceptions: which ones stop the program, and how they are reported.

mod exits;
mod locations;

use serde_json::json;
use test_support::Answer;

use crate::debugging::{Debugging, Report};
use crate::script::{Script, plain};

/// Type and message of the exception that a report is about, and whether nothing will catch it.
fn exception(report: &Answer) -> (&str, &str, bool) {
    let text = |field: &str| report.at(&format!("/exception/{field}")).as_str().unwrap_or_default();
    (text("type"), text("message"), report.at("/exception/uncaught") == &json!(true))
}

/// Asserts that a program stops at one uncaught exception, at a named line, and ends with code 1 after it.
async fn stops_once(script: &Script, line: &str, kind: &str, message: &str) {
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.outcome(), "exception", "{}", stopped.text);
    assert_eq!(stopped.place(), (script.path(), script.line(line)));
    assert_eq!(exception(&stopped), (kind, message, true));
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)), "{}", ended.text);
    session.finish().await;
}

/// Up to Python 3.11 pydevd sees uncaught exceptions only where an entry point of the program is traced, and
/// from 3.12 on in another way: this is the test that both are there.
#[tokio::test]
async fn an_uncaught_exception_stops_where_it_was_raised_with_type_message_and_stack() {
    let script = Script::new(
        r#"
def price(name):
    known = {"pear": 3}
    return known[name]  # @raise

def main():
    price("plum")  # @call

main()  # @main
"#,
    );
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.outcome(), "exception");
    assert_eq!(stopped.place(), (script.path(), script.line("raise")));
    assert_eq!(exception(&stopped), ("KeyError", "'plum'", true));
    assert!(stopped.text_of("message").ends_with("Current state: paused"), "{}", stopped.text);
    assert_eq!((stopped.variable("name"), stopped.variable("known")), ("'plum'", "{'pear': 3}"));
    let lines: Vec<_> = ["raise", "call", "main"].map(|name| json!(script.line(name))).to_vec();
    let frames = stopped["stackFrames"].as_array().unwrap();
    assert_eq!(frames.iter().map(|frame| frame["line"].clone()).collect::<Vec<_>>(), lines);
    let stack = stopped.at("/exception/stack").as_str().unwrap();
    assert!(stack.ends_with("KeyError: 'plum'\n"), "{stack}");
    assert_eq!(session.evaluate("known.get(name, 'nothing')").await, "'nothing'");

    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)));
    assert!(ended.text_of("output").ends_with("KeyError: 'plum'\n"), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn the_traceback_of_an_exception_includes_its_causes() {
    let script = Script::new(
        r#"
def low():
    return {}["key"]

def mid():
    try:
        low()
    except KeyError as error:
        raise ValueError("no such thing") from error  # @raise

mid()
"#,
    );
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.place(), (script.path(), script.line("raise")));
    assert_eq!(exception(&stopped), ("ValueError", "no such thing", true));
    let stack = stopped.at("/exception/stack").as_str().unwrap();
    let (cause, rest) = stack
        .split_once("\nThe above exception was the direct cause of the following exception:\n")
        .expect(stack);
    assert!(cause.contains("in low") && cause.ends_with("KeyError: 'key'\n"), "{cause}");
    assert!(rest.contains("in mid") && rest.ends_with("ValueError: no such thing\n"), "{rest}");
    // pydevd appends the frames of the causes to the stack; they are none of the stack's.
    let frames = stopped["stackFrames"].as_array().unwrap();
    let names: Vec<_> = frames.iter().map(|frame| frame["name"].clone()).collect();
    assert_eq!(names, ["mid", "<module>"]);
    session.finish().await;
}

#[tokio::test]
async fn an_exception_that_is_caught_does_not_stop() {
    let script = Script::new("try:\n    1 / 0\nexcept ZeroDivisionError:\n    print('caught')\n");
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "caught\n"));
    session.finish().await;
}

/// debugpy 1.8.22 stops once in every frame of the user's that the exception passes through.
#[tokio::test]
async fn mode_all_stops_once_at_each_exception_where_it_is_raised() {
    let script = Script::new(
        r#"
def deep():
    raise KeyError("deep")  # @deep

def around():
    deep()

try:
    around()
except KeyError:
    pass
for number in iter([1, 2]):
    next(iter([]), None)
try:
    int("x")  # @int
except ValueError as error:
    again = error
try:
    raise RuntimeError("end")  # @end
except RuntimeError:
    pass
"#,
    );
    let session = Debugging::new().await;
    session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    let mut report = session.start(&script).await;
    let invalid = "invalid literal for int() with base 10: 'x'";
    for (line, kind, message) in
        [("deep", "KeyError", "'deep'"), ("int", "ValueError", invalid), ("end", "RuntimeError", "end")]
    {
        assert_eq!(report.place(), (script.path(), script.line(line)), "{}", report.text);
        assert_eq!(exception(&report), (kind, message, false));
        report = session.go_on().await;
    }
    assert_eq!((report.outcome(), &report["exitCode"]), ("ended", &json!(0)));
    session.finish().await;
}

/// A web framework sends the attributes of an exception to its client.
#[tokio::test]
async fn a_stop_at_an_exception_leaves_its_attributes_as_they_are() {
    let script = Script::new(
        r#"
import copy
import pickle

class Refused(Exception):
    def __init__(self, text):
        super().__init__(text)
        self.code = 403

for kind in (ValueError, Refused):
    try:
        raise kind("no")  # @raise
    except Exception as error:
        vars(error)["more"] = 1
        again = pickle.loads(pickle.dumps(error))
        same = [vars(each) == vars(error) for each in (copy.copy(error), again)]
        print(vars(error), error.more, same, type(vars(again)).__name__, type(vars(error).copy()).__name__)
        try:
            raise again
        except Exception:
            pass
"#,
    );
    let session = Debugging::new().await;
    session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    let mut report = session.start(&script).await;
    let mut output = String::new();
    for kind in ["ValueError", "ValueError", "Refused", "Refused"] {
        assert_eq!(exception(&report), (kind, "no", false), "{}", report.text);
        report = session.go_on().await;
        output.push_str(report["output"].as_str().unwrap_or_default());
    }
    assert_eq!((report.outcome(), &report["exitCode"]), ("ended", &json!(0)), "{}", report.text);
    let own = "{'more': 1} 1 [True, True] dict dict\n{'code': 403, 'more': 1} 1 [True, True] dict dict\n";
    assert_eq!(output, own);
    session.finish().await;
}

#[tokio::test]
async fn fields_of_an_exception_are_shown_after_a_stop_at_it() {
    let script = Script::new(
        r#"
import dataclasses

@dataclasses.dataclass
class Refused(Exception):
    code: int

try:
    raise Refused(403)
except Refused as error:
    print("refused")  # @refused
"#,
    );
    let session = Debugging::new().await;
    session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    session.break_at(&script, "refused").await;
    let report = session.start(&script).await;
    assert_eq!(report["reason"], "exception", "{}", report.text);
    let report = session.go_on().await;
    assert_eq!(report["reason"], "breakpoint", "{}", report.text);
    assert_eq!(session.evaluate("error").await, "Refused(code=403)");
    session.finish().await;
}

#[tokio::test]
async fn mode_none_never_stops() {
    let script = Script::new("raise ValueError('nobody listens')\n");
    let session = Debugging::new().await;
    session.ok("set_exception_breakpoints", json!({ "mode": "none" })).await;
    let ended = session.start(&script).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)));
    session.finish().await;
}

#[tokio::test]
async fn the_mode_can_change_while_the_program_is_stopped() {
    let script = Script::new(
        "x = 1  # @here\ntry:\n    raise KeyError(1)  # @first\nexcept KeyError:\n    pass\nraise KeyError(2)\n",
    );
    let (session, _) = script.stopped_at("here").await;
    session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    assert_eq!(session.go_on().await.place(), (script.path(), script.line("first")));
    session.ok("set_exception_breakpoints", json!({ "mode": "none" })).await;
    assert_eq!(session.go_on().await.outcome(), "ended");
    session.finish().await;
}

/// pydevd has only the exception that was raised, and other lines of a statement that has several.
#[tokio::test]
async fn the_traceback_of_a_group_includes_its_parts_as_python_prints_them() {
    let script = Script::new(
        r#"
class Session:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        if "ExceptionGroup" not in dir(__builtins__):
            raise SystemExit("groups need Python 3.11")
        low = ValueError("low")
        low.add_note("while leaving")
        raise ExceptionGroup("several", [low, TypeError("high")])  # @raise

def work():
    with Session() as session:  # @with
        print("first")
        print("last")

work()
"#,
    );
    let (session, stopped) = script.start().await;
    if stopped.outcome() == "ended" {
        return session.finish().await;
    }
    let stack = stopped.at("/exception/stack").as_str().unwrap();
    let plain = plain(script.folder(), &[script.path()]).await.stderr;
    let without_marks = |text: &str| {
        let is_marks = |line: &&str| line.trim_matches([' ', '|', '^', '~']).is_empty();
        text.lines().filter(|line| !is_marks(line)).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without_marks(stack), without_marks(&plain), "{stack}\n{plain}");
    session.finish().await;
}

/// Printing runs code of the exception. pydevd asks it for its text several times, too.
#[tokio::test]
async fn a_long_exception_is_printed_once_and_cut() {
    let script = Script::new(
        r#"
import traceback

asked = []

class Long(Exception):
    @property
    def exceptions(self):
        asked.append("parts")
        return 3

    def __str__(self):
        asked.append("stillframe_printed" in str(traceback.extract_stack()))
        return "first " + "x" * 20_000 + " last"

def work():
    raise Long()  # @raise

work()
"#,
    );
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.place(), (script.path(), script.line("raise")));
    let stack = stopped.at("/exception/stack").as_str().unwrap();
    assert!(stack.len() <= 7_500, "{} characters", stack.len());
    assert!(stack.contains("in work") && stack.contains("Long: first xx"), "{stack}");
    assert!(stack.contains(" characters left out ") && stack.ends_with("xx last\n"), "{stack}");
    assert_eq!(session.evaluate("asked.count(True), 'parts' in asked").await, "(1, False)");
    session.finish().await;
}
