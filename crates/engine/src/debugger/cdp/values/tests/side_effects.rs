//! Programs of which nothing may run.

use serde_json::json;

use super::PausedProgram;
use super::harness::{named, page, texts};
use crate::error::Error;

const PROGRAM: &str = r"
const ran = [];
const kept = { get plain() { return { twice: 2 }; }, get sets() { ran.push('getter'); return 1; }, get throws() { return missing; } };
class Holder { #inner = new Error('inner'); }
const held = new Holder();
const failure = new TypeError('before');
const captured = { own: 1 };
Error.captureStackTrace(captured);
const stacked = { stack: [1, 2] };
performance.mark('begun');
Error.prepareStackTrace = () => { ran.push('prepare'); return 'prepared'; };
JSON.stringify = () => { ran.push('stringify'); return '[]'; };
Array.prototype.slice = function () { ran.push('slice'); return []; };
Array.prototype.map = function () { ran.push('map'); return []; };
const thrown = () => { throw failure; };
debugger;
console.log(kept, held, captured, stacked, thrown);
";

async fn scene() -> PausedProgram {
    let mut scene = PausedProgram::of(PROGRAM).await;
    scene.forbid_side_effects();
    scene
}

async fn has_run(scene: &PausedProgram) -> String {
    scene.evaluate_with("ran.join()", 100, true).await.unwrap().text
}

#[tokio::test]
async fn getter_runs_if_it_has_no_side_effects() {
    let scene = scene().await;
    let locals = scene.locals().await;
    let members = scene.open(&named(&locals, "kept").value).await;
    let plain = scene.open(&named(&members, "plain").value).await;
    assert_eq!(texts(&plain), [("(value)", "{ twice: 2 }")]);
    assert_eq!(texts(&scene.open(&plain[0].value).await)[0], ("twice", "2"));
    let open = async |name: &str| {
        let reference = named(&members, name).value.reference.unwrap();
        scene.values.variables(reference, page(true), 100).await.unwrap_err()
    };
    let refused = open("sets").await;
    assert!(matches!(&refused, Error::Refused(why) if why.contains("it did not run")), "{refused:?}");
    let raised = open("throws").await;
    assert!(
        matches!(&raised, Error::Raised { type_name, .. } if type_name == "ReferenceError"),
        "{raised:?}"
    );
    assert_eq!(has_run(&scene).await, "''");
}

#[tokio::test]
async fn error_stacks_are_read_without_prepare_stack_trace() {
    let scene = scene().await;
    let locals = scene.locals().await;
    let of_failure = scene.open(&named(&locals, "failure").value).await;
    assert_eq!(named(&of_failure, "stack").value.text, "<not read>");
    assert_eq!(named(&of_failure, "message").value.text, "'before'");
    let of_captured = scene.open(&named(&locals, "captured").value).await;
    assert_eq!(named(&of_captured, "stack").value.text, "<not read>");
    let of_stacked = scene.open(&named(&locals, "stacked").value).await;
    assert_eq!(named(&of_stacked, "stack").value.text, "[ 1, 2 ]");
    scene.open(&named(&locals, "held").value).await;
    assert_eq!(has_run(&scene).await, "''");
}

/// V8 makes the head of a stack of what the error has at the moment at which it is first read.
const HEADS: &str = r"
const ran = [];
const note = (what) => { ran.push(what); return what; };
const told = { toString() { return note('text'); } };
class Named extends Error { get name() { return note('name'); } }
class Worded extends Error { get message() { return note('message'); } }
class Later extends Error {}
const getter = (error, key) => Object.defineProperty(error, key, { get() { return note(key); } });
const named = new Named('n');
const worded = new Worded();
const own = getter(new Error('o'), 'name');
const later = new Later('l');
getter(Later.prototype, 'name');
const objects = Object.assign(new Error('o'), { name: told });
const texts = Object.assign(new Error(), { message: told });
const proxied = Object.setPrototypeOf(new Error('p'), new Proxy(Error.prototype, { get: note, has: note }));
const captured = getter({ own: 1 }, 'name');
Error.captureStackTrace(captured);
const coded = (() => { try { Buffer.alloc('x'); } catch (error) { return getter(error, 'code'); } })();
const plain = getter(new RangeError('q'), 'code');
debugger;
console.log(named, worded, own, later, objects, texts, proxied, captured, coded, plain);
";

#[tokio::test]
async fn error_stacks_with_a_programs_header_are_not_read() {
    let mut scene = PausedProgram::of(HEADS).await;
    scene.forbid_side_effects();
    let locals = scene.locals().await;
    for name in ["named", "worded", "own", "later", "objects", "texts", "captured", "coded"] {
        let members = scene.open(&named(&locals, name).value).await;
        assert_eq!(named(&members, "stack").value.text, "<not read>", "{name}");
        scene.evaluate_with(name, 1000, true).await.unwrap();
    }
    scene.open(&named(&locals, "proxied").value).await;
    let plain = scene.open(&named(&locals, "plain").value).await;
    let stack = &named(&plain, "stack").value.text;
    assert!(stack.starts_with("'RangeError: q\\n    at "), "{stack}");
    for expression in ["own.stack", "objects.stack", "`${worded.stack}`"] {
        let refused = scene.evaluate_with(expression, 100, true).await;
        assert!(matches!(&refused, Err(Error::Refused(_))), "{expression}: {refused:?}");
    }
    assert_eq!(has_run(&scene).await, "''");
    // Once the program itself has read them, they cannot be distinguished.
    assert_eq!(scene.text("named.stack && ran.join()").await, "'name'");
}

#[tokio::test]
async fn side_effect_refusal_is_recognized_despite_prepare_stack_trace() {
    let scene = scene().await;
    for expression in ["ran.push(1)", "ran.length = 1", "kept.sets"] {
        let refused = scene.evaluate_with(expression, 100, true).await.unwrap_err();
        assert!(
            matches!(&refused, Error::Refused(why) if why.contains("nothing was changed")),
            "{expression}: {refused:?}"
        );
    }
    let raised = scene.evaluate_with("missing", 100, true).await.unwrap_err();
    assert!(
        matches!(&raised, Error::Raised { message, .. } if message == "ReferenceError: missing is not defined"),
        "{raised:?}"
    );
    assert_eq!(has_run(&scene).await, "''");
    // What prepares stacks is there as it was.
    assert_eq!(scene.text("new Error('x').stack").await, "'prepared'");
}

#[tokio::test]
async fn timeline_is_read_without_replaced_builtins() {
    let scene = scene().await;
    let rows: Vec<(String, String, f64, f64)> = scene.values.timeline().await.unwrap();
    assert!(rows.iter().any(|row| row.0 == "begun" && row.1 == "mark"), "{}", json!(rows));
    assert_eq!(has_run(&scene).await, "''");
}

#[tokio::test]
async fn error_is_recognized_from_the_second_time() {
    let scene = scene().await;
    let arguments = scene.paused.call_frames[0].this.clone();
    assert!(!scene.values.is_known(&arguments).await);
    assert!(scene.values.is_known(&arguments).await);
}

#[tokio::test]
async fn concurrent_evaluations_run_without_prepare_stack_trace() {
    let scene = scene().await;
    let refuse = || scene.evaluate_with("ran.push(1)", 100, true);
    let (one, two, three) = tokio::join!(refuse(), refuse(), refuse());
    for refused in [one, two, three] {
        assert!(matches!(&refused, Err(Error::Refused(_))), "{refused:?}");
    }
    assert_eq!(has_run(&scene).await, "''");
    assert_eq!(scene.text("new Error('x').stack").await, "'prepared'");
}
