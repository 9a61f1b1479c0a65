//! Expressions and what they throw.

use std::sync::Arc;
use std::time::Duration;

use super::super::Frame;
use super::harness::texts;
use super::{PausedProgram, page};
use crate::debugger::Evaluate;
use crate::error::Error;
use crate::model::ids::RawId;
use crate::model::variable::Expansion;

const PROGRAM: &str = r"
class Denied extends Error { constructor(m) { super(m); this.name = 'Denied'; } }
function deny() { throw new Denied('first line\nsecond line'); }
let count = 0;
function f(t, o) {
  let local = 1;
  debugger;
  return local + count + deny.length + t + o;
}
f(3, { a: 1 });
";

#[tokio::test]
async fn statements_run_and_their_effects_are_visible() {
    let scene = PausedProgram::of(PROGRAM).await;
    assert_eq!(texts(&scene.locals().await), [("t", "3"), ("o", "{ a: 1 }"), ("local", "1")]);
    assert_eq!(scene.text("local").await, "1");
    assert_eq!(scene.text("local = { b: [2] }").await, "{ b: [ 2 ] }");
    assert_eq!(scene.text("local").await, "{ b: [ 2 ] }");
    assert_eq!(scene.text("if (true) { local.c = 3 }").await, "3");
    assert_eq!(scene.text("count += 5 // it counts").await, "5");
    assert_eq!(scene.text("count, local;").await, "{ b: [ 2 ], c: 3 }");
    assert_eq!(scene.text(" local").await, "{ b: [ 2 ], c: 3 }");
    let locals = scene.locals().await;
    assert_eq!(texts(&locals), [("t", "3"), ("o", "{ a: 1 }"), ("local", "{ b: [ 2 ], c: 3 }")]);
    assert_eq!(texts(&scene.locals().await), texts(&locals));
    assert_eq!(texts(&scene.open(&locals[2].value).await)[..2], [("b", "[ 2 ]"), ("c", "3")]);
    let own = scene.values.variables(scene.own_scope(), page(true), 100).await.unwrap();
    assert_eq!(texts(&own.variables)[2], ("local", "{ b: [ 2 ], c: 3 }"));
}

#[tokio::test]
async fn thrown_value_is_reported() {
    let scene = PausedProgram::of(PROGRAM).await;
    let table = [
        ("deny()", "Denied", "Denied: first line"),
        ("null.x", "TypeError", "TypeError: Cannot read properties of null (reading 'x')"),
        ("nothing", "ReferenceError", "ReferenceError: nothing is not defined"),
        ("1 +", "SyntaxError", "SyntaxError: Unexpected end of input"),
        (
            "JSON.parse('x' + (count++, ''))",
            "SyntaxError",
            "SyntaxError: Unexpected token 'x', \"x\" is not valid JSON",
        ),
        ("(() => { throw 'text' })()", "string", "Uncaught 'text'"),
        ("throw { code: 1 }", "Object", "Uncaught { code: 1 }"),
        ("throw null", "null", "Uncaught null"),
    ];
    for (expression, kind, message) in table {
        let error = scene.evaluate(expression).await.unwrap_err();
        let Error::Raised { type_name, message: found, traceback } = &error else {
            panic!("{expression}: {error:?}")
        };
        assert_eq!((type_name.as_str(), found.as_str()), (kind, message), "{expression}");
        assert!(!traceback.contains("eval at"), "{traceback}");
    }
    assert_eq!(scene.text("count").await, "1", "what fails at run time is not run twice");
    let error = scene.evaluate("deny()").await.unwrap_err();
    assert!(
        matches!(&error, Error::Raised { traceback, .. } if traceback.contains("at deny (")),
        "{error:?}"
    );
}

#[tokio::test]
async fn endless_expression_is_terminated() {
    let scene = PausedProgram::of(PROGRAM).await;
    let deadline = Duration::from_millis(200);
    let request =
        Evaluate { expression: "for (;;);".to_owned(), frame: RawId(1), deadline, text: 100, pure: false };
    let error = scene.values.evaluate(&scene.frame(0), &request).await.unwrap_err();
    assert_eq!(error, Error::Deadline { what: "the expression".to_owned(), after: deadline });
    assert_eq!(scene.text("local").await, "1");
}

#[tokio::test]
async fn a_pure_expression_changes_nothing() {
    let scene = PausedProgram::of(PROGRAM).await;
    assert_eq!(
        scene.evaluate_with("[local, o.a].map(n => n + 1)", 100, true).await.unwrap().text,
        "[ 2, 2 ]"
    );
    assert_eq!(scene.evaluate_with("'x'.repeat(50)", 10, true).await.unwrap().length, Some(50));
    let error = scene.evaluate_with("count = 9", 100, true).await.unwrap_err();
    assert!(matches!(&error, Error::Refused(message) if message.contains("side effects")), "{error:?}");
    assert_eq!(scene.text("count").await, "0");
}

#[tokio::test]
async fn source_names_are_resolved_and_shown() {
    let scene = PausedProgram::of(PROGRAM).await;
    let mut frame = Frame::new(scene.paused.call_frames[0].clone());
    frame.names = [("t", "total"), ("o", "options")].map(|(a, b)| (a.to_owned(), b.to_owned())).into();
    let frame = Arc::new(frame);
    let locals = scene.values.locals(&frame, page(false), 100, Expansion::NONE).await.unwrap().variables;
    assert_eq!(texts(&locals.variables)[..2], [("total", "3"), ("options", "{ a: 1 }")]);
    for (expression, text) in [("total + options.a", "4"), ("(total = 8) && t", "8"), ("t + local", "9")] {
        let deadline = Duration::from_secs(5);
        let request =
            Evaluate { expression: expression.to_owned(), frame: RawId(1), deadline, text: 100, pure: false };
        assert_eq!(scene.values.evaluate(&frame, &request).await.unwrap().text, text, "{expression}");
    }
    let scopes = scene.values.scopes(&frame);
    let value = scene.values.set_variable(scopes[0].reference, "total", "5 * 2", 100).await.unwrap();
    assert_eq!((value.text.as_str(), scene.text("t").await), ("10", "10".to_owned()));
}

#[tokio::test]
async fn exceptions_are_reported_with_their_causes() {
    let scene = PausedProgram::of(PROGRAM).await;
    for (expression, kind, message, stack) in [
        ("new Denied('why', { cause: 1 })", "Denied", "why", "Denied"),
        (
            "Object.assign(new RangeError('far'), { cause: new TypeError('near') })",
            "RangeError",
            "far",
            "[cause]: TypeError: near",
        ),
        (
            "(e => (Object.defineProperty(e, 'message', { get: () => 'put together' }), Error.captureStackTrace(e), e))(new RangeError())",
            "RangeError",
            "put together",
            "RangeError: put together",
        ),
        ("'text'", "string", "'text'", ""),
        ("({ code: 3 })", "Object", "{ code: 3 }", ""),
    ] {
        let details = ::cdp::debugger::EvaluateOnCallFrame {
            call_frame_id: scene.paused.call_frames[0].call_frame_id.clone(),
            expression: format!("({expression})"),
            ..Default::default()
        };
        let thrown = scene.client.request(details, super::harness::SOON).await.unwrap().result;
        let exception = scene.values.exception(&thrown, true).await.unwrap();
        assert_eq!(
            (exception.type_name.as_str(), exception.message.as_str()),
            (kind, message),
            "{expression}"
        );
        assert!(exception.uncaught && exception.stack.contains(stack), "{exception:?}");
    }
}
