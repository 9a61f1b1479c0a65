//! What pydevd adds to the specification, and what becomes of it.

use serde_json::{Value as Json, json};

use super::*;
use crate::adapter::plan::{Quirks, StartRequest};
use crate::adapter::python::Python as Language;
use crate::debugger::RuleFor;
use crate::debugger::dap::tests::peer::{PeerOptions, Scene as SceneOf};
use crate::model::breakpoint::Rule;
use crate::model::ids::BreakpointId;
use crate::model::stop::StopReason;

type Scene = SceneOf<PythonDebugger>;

const QUIRKS: Quirks = Quirks { sends_initialized: false, reports_hits: true, ..Quirks::NONE };

fn given() -> PeerOptions {
    PeerOptions { adapter: &Language, quirks: &QUIRKS, ..PeerOptions::default() }
}

/// debugpy's adapter, started by someone else.
fn by_adapter() -> PeerOptions {
    PeerOptions { request: StartRequest::Attach, is_by_adapter: true, ..given() }
}

/// With the program waiting for its breakpoints.
async fn prepared(capabilities: Json) -> Scene {
    let mut scene = Scene::of(&given());
    let served = async {
        scene.peer.serve("initialize", capabilities).await;
        scene.peer.serve("launch", json!({})).await;
    };
    tokio::join!(scene.debugger.prepare(), served).0.unwrap();
    scene
}

/// A text that the agent is sent to run.
async fn serve_agent(scene: &mut Scene) -> String {
    let arguments = scene.peer.serve("evaluate", json!({ "result": "None" })).await;
    assert_eq!((&arguments["context"], &arguments["frameId"]), (&json!("repl"), &Json::Null));
    arguments["expression"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_program_proves_that_it_is_the_one_we_started() {
    let table = [
        (json!({ "clientAccessToken": "secret" }), true),
        (json!({ "clientAccessToken": "other" }), false),
        (json!({ "clientAccessToken": null }), false),
        (json!({}), false),
    ];
    for (answer, expected) in table {
        let mut scene = Scene::of(&given());
        let served = scene.peer.serve("pydevdAuthorize", answer.clone());
        let (identified, asked) = tokio::join!(scene.debugger.identify("secret"), served);
        assert_eq!(
            (identified.is_ok(), asked),
            (expected, json!({ "debugServerAccessToken": null })),
            "{answer}"
        );
    }
    let Scene { debugger, peer, .. }: Scene = Scene::of(&given());
    drop(peer);
    assert_eq!(debugger.identify("secret").await, Err(Error::Lost));
}

#[tokio::test(start_paused = true)]
async fn agent_is_sent_only_to_programs_started_without_it() {
    let scene = prepared(json!({})).await;
    assert!(scene.debugger.agent().is_ok(), "nothing more was asked for");
    let mut scene = Scene::of(&by_adapter());
    let debugger = scene.debugger.clone();
    let served = async {
        scene.peer.serve("initialize", json!({})).await;
        scene.peer.serve("attach", json!({})).await;
        serve_agent(&mut scene).await
    };
    let (prepared, sent) = tokio::join!(debugger.prepare(), served);
    prepared.unwrap();
    assert!(sent.contains("stillframe_agent"));
}

/// Native code may keep the program from answering in time.
#[tokio::test(start_paused = true)]
async fn exceptions_to_stop_at_are_sent_again_after_a_failure() {
    let mut scene = prepared(json!({})).await;
    let debugger = scene.debugger.clone();
    let set = || debugger.set_exception_mode(ExceptionMode::UserUnhandled);
    let refused = async {
        serve_agent(&mut scene).await;
        let request = scene.peer.take("evaluate").await;
        scene.peer.refuse(&request, "busy").await;
    };
    assert!(tokio::join!(set(), refused).0.is_err());
    let served = async {
        serve_agent(&mut scene).await;
        serve_agent(&mut scene).await
    };
    let (again, sent) = tokio::join!(set(), served);
    assert_eq!((again, sent.contains(".watch(True)")), (Ok(()), true), "{sent}");
    // No request is waiting for an answer.
    set().await.unwrap();
}

/// debugpy 1.8.22 appends where it paused to the name of an exception, and marks a frame in its stack.
#[tokio::test(start_paused = true)]
async fn debugpy_additions_are_removed_from_exceptions() {
    let mut scene = prepared(json!({ "supportsExceptionInfoRequest": true })).await;
    let note = "(note: full exception trace is shown but execution is paused at: f)";
    let stack = "  File \"m.py\", line 2, in f (Current frame)\n    raise\n";
    let info = json!({
        "exceptionId": format!("ValueError\n\n{note}"),
        "description": format!("bad {note}"),
        "breakMode": "unhandled",
        "details": { "stackTrace": stack },
    });
    let mut exception = async |info| {
        let served = async {
            scene.peer.serve("exceptionInfo", info).await;
            // No agent can be asked for its text.
            scene.peer.serve("stackTrace", json!({ "stackFrames": [] })).await;
        };
        tokio::join!(scene.debugger.exception(RawId(1)), served).0
    };
    let expected = Exception {
        type_name: "ValueError".to_owned(),
        message: "bad".to_owned(),
        stack: "  File \"m.py\", line 2, in f\n    raise\n".to_owned(),
        uncaught: true,
    };
    assert_eq!(exception(info).await.unwrap(), expected);
    let silent = json!({ "exceptionId": "KeyError", "description": "exception: no description" });
    assert_eq!(exception(silent).await.unwrap().message, "");
}

#[tokio::test(start_paused = true)]
async fn frames_of_the_debugger_are_omitted() {
    let mut scene = prepared(json!({ "supportsDelayedStackTraceLoading": true })).await;
    let frame = |id: u32, name: &str, path: &str| json!({ "id": id, "name": name, "line": 3, "column": 1, "source": { "path": path } });
    let frames = json!({ "totalFrames": 9, "stackFrames": [
        frame(0, "stillframe_pause", "<stillframe_agent>"),
        frame(1, "work (Current frame)", "/w/main.py"),
        frame(2, "[Chained Exc: boom] low", "/w/main.py"),
        frame(3, "decode", "/usr/lib/python3.11/json/decoder.py"),
        frame(4, "<module>", "<string>"),
    ] });
    let served = scene.peer.serve("stackTrace", frames);
    let (stack, asked) = tokio::join!(scene.debugger.stack_trace(RawId(1), 0, 5), served);
    assert_eq!(asked, json!({ "threadId": 1, "startFrame": 0, "levels": 5 }));
    let stack = stack.unwrap();
    let observed: Vec<_> =
        stack.frames.iter().map(|frame| (frame.name.as_str(), frame.is_internal())).collect();
    assert_eq!(observed, [("work", false), ("decode", true), ("<module>", false)]);
    assert_eq!(stack.total, 7);
    let generated = &stack.frames[2].location.as_ref().unwrap().source;
    assert_eq!((&generated.path, generated.name.as_str()), (&None, "<string>"), "code that is in no file");
}

#[tokio::test(start_paused = true)]
async fn unresponsive_adapter_is_named() {
    let scene = Scene::of(&by_adapter());
    let problem = scene.debugger.prepare().await.unwrap_err();
    let expected = "a debugger listens there, but did not respond to `initialize` within 5000 ms";
    assert_eq!((problem.code(), problem.to_string().as_str()), ("environment", expected));
    let scene = Scene::of(&given());
    assert_eq!(scene.debugger.prepare().await.unwrap_err().code(), "deadline_exceeded", "the program itself");
}

/// Its adapter accepts no more clients if one connects before that.
#[tokio::test(start_paused = true)]
async fn next_client_connects_after_debugpy_releases_us() {
    let Scene { debugger, mut peer, .. }: Scene = Scene::of(&by_adapter());
    let mut leaving = tokio::spawn(async move { debugger.detach().await });
    assert_eq!(peer.serve("disconnect", json!({})).await, json!({ "terminateDebuggee": false }));
    let early = tokio::time::timeout(deadlines::GOODBYE / 2, &mut leaving).await;
    assert!(early.is_err(), "the connection is still open");
    let closed = tokio::time::Instant::now();
    drop(peer);
    leaving.await.unwrap().unwrap();
    assert!(closed.elapsed() >= deadlines::FORGET);
}

#[tokio::test(start_paused = true)]
async fn detaching_from_a_program_that_connected_to_us_is_immediate() {
    let mut scene = prepared(json!({ "supportTerminateDebuggee": true })).await;
    let debugger = scene.debugger.clone();
    let served = async {
        assert!(serve_agent(&mut scene).await.contains("stop_debugging_children"));
        scene.peer.serve("disconnect", json!({})).await
    };
    let begin = tokio::time::Instant::now();
    let (left, asked) = tokio::join!(debugger.detach(), served);
    assert_eq!((left, asked), (Ok(()), json!({ "terminateDebuggee": true })));
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

/// It may be in native code at the very beginning.
#[tokio::test(start_paused = true)]
async fn a_program_that_does_not_confirm_resume_runs() {
    let mut scene = prepared(json!({ "supportsConfigurationDoneRequest": true })).await;
    let (run, _) = tokio::join!(scene.debugger.run(), scene.peer.take("configurationDone"));
    assert_eq!(run, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn the_agent_applies_rules_and_names_hit_breakpoints() {
    let mut scene = prepared(json!({})).await;
    let debugger = scene.debugger.clone();
    let rule = Rule { condition: Some("x".to_owned()), ..Rule::default() };
    let rules = vec![RuleFor { id: BreakpointId(4), rule, function: None }];
    let wanted = vec![SourceBreakpoint { line: 3, column: Some(9), rules }];
    let served = async {
        let defined = serve_agent(&mut scene).await;
        assert!(defined.contains(".define("), "{defined}");
        let answer = json!({ "breakpoints": [{ "id": 1, "verified": true, "line": 3, "column": 1 }] });
        let arguments = scene.peer.serve("setBreakpoints", answer).await;
        let condition = "__import__('sys').modules['stillframe_agent'].hit(1)";
        assert_eq!(arguments["breakpoints"], json!([{ "line": 3, "condition": condition }]));
        let looked = serve_agent(&mut scene).await;
        assert!(looked.contains(".report_file(\"[2,1]\")"), "{looked}");
        let found = json!({ "kind": "found", "place": 2, "found": true, "names": [] });
        scene.peer.event("stillframe", found).await;
    };
    let (result, ()) = tokio::join!(debugger.set_breakpoints(Path::new("/w/main.py"), wanted), served);
    assert_eq!(result, Ok(vec![BindResult::on(Some(3))]), "pydevd has no columns");

    scene.peer.event("stillframe", json!({ "kind": "bound", "ids": [4], "line": 3 })).await;
    let bound = Event::BindResult { id: BreakpointId(4), result: BindResult::on(Some(3)) };
    assert_eq!(scene.event().await, bound, "another file was loaded later");

    scene.peer.event("stillframe", json!({ "kind": "logged", "id": 5, "text": "seen" })).await;
    assert_eq!(scene.event().await, Event::Logged { id: BreakpointId(5), text: "seen".to_owned() });
    let hit = |thread: i64| json!({ "kind": "hit", "ids": [4], "thread": thread });
    scene.peer.event("stillframe", hit(7)).await;
    scene.peer.event("stillframe", json!({ "kind": "poem" })).await;
    scene.peer.event("stopped", json!({ "reason": "breakpoint", "threadId": 7 })).await;
    let stopped = |thread| Event::Stopped {
        thread: RawId(thread),
        reason: StopReason::Breakpoint,
        text: None,
        breakpoints: vec![BreakpointId(4)],
    };
    assert_eq!(scene.event().await, stopped(7));
    // Another thread hit it too, and stops when the program resumes.
    scene.peer.event("stillframe", hit(8)).await;
    scene.peer.event("stopped", json!({ "reason": "breakpoint", "threadId": 8 })).await;
    assert_eq!(scene.event().await, stopped(8));
    // One that has gone on instead was stepped from there.
    scene.peer.event("stillframe", hit(9)).await;
    scene.peer.event("stillframe", json!({ "kind": "hit", "ids": [], "thread": 9 })).await;
    scene.peer.event("stopped", json!({ "reason": "step", "threadId": 9 })).await;
    let stepped =
        Event::Stopped { thread: RawId(9), reason: StopReason::Step, text: None, breakpoints: Vec::new() };
    assert_eq!(scene.event().await, stepped);
}

/// A request costs several turns of the program's threads, and a stop is followed by the same two.
#[tokio::test(start_paused = true)]
async fn answers_that_were_sent_ahead_are_used_once() {
    let mut scene = prepared(json!({})).await;
    let debugger = scene.debugger.clone();
    let stack =
        |function| json!({ "totalFrames": 1, "stackFrames": [{ "id": 5, "name": function, "line": 3 }] });
    let rows = |value| {
        let variables = json!([["total", [value, "int", null, 0, false, null], false]]);
        json!({ "rows": { "total": 1, "hidden": 0, "start": 0, "variables": variables }, "expanded": [] })
    };
    let page = Page { start: 0, count: 30, special: false, internals: false };
    let locals = |text| debugger.locals(RawId(5), page, text, Expansion::NONE);
    let arguments = json!([5, 0, 30, 200, false, [0, 0, 0, 0.0]]);
    let asked = |arguments: &Json| format!("{}", json!(json!(["locals", arguments, false]).to_string()));
    let stopped = json!({ "reason": "breakpoint", "threadId": 1 });

    // The first stop: the agent learns what to send ahead.
    scene.peer.event("stopped", stopped.clone()).await;
    scene.event().await;
    let read = async { (debugger.stack_trace(RawId(1), 0, 40).await.unwrap(), locals(200).await.unwrap()) };
    let served = async {
        scene.peer.serve("stackTrace", stack("f")).await;
        scene.peer.serve("evaluate", json!({ "result": rows("1").to_string() })).await
    };
    let (_, call) = tokio::join!(read, served);
    let mut first = arguments.clone();
    first.as_array_mut().unwrap().push(json!(40));
    assert!(call["expression"].as_str().unwrap().contains(&asked(&first)), "{call}");

    // The next one: nothing is requested.
    scene.peer.event("continued", json!({ "threadId": 1, "allThreadsContinued": true })).await;
    let ahead = json!({ "kind": "ahead", "thread": 1, "levels": 40, "stack": stack("g"), "locals": [arguments, rows("2")] });
    scene.peer.event("stillframe", ahead.clone()).await;
    scene.peer.event("stopped", stopped.clone()).await;
    assert_eq!(scene.event().await, Event::Continued);
    scene.event().await;
    let stack = debugger.stack_trace(RawId(1), 0, 40).await.unwrap();
    assert_eq!(stack.frames[0].name, "g");
    let value = |locals: ExpandedLocals<RawId>| locals.variables.variables[0].value.text.clone();
    assert_eq!(value(locals(200).await.unwrap()), "2");

    // An expression may have changed it since.
    let (again, call) =
        tokio::join!(locals(200), scene.peer.serve("evaluate", json!({ "result": rows("3").to_string() })));
    assert_eq!(value(again.unwrap()), "3");
    assert!(call["expression"].as_str().unwrap().contains(&asked(&arguments)), "{call}");

    // Another request is not the one that was answered.
    scene.peer.event("stillframe", ahead).await;
    scene.peer.event("stopped", stopped).await;
    scene.event().await;
    let (other, _) =
        tokio::join!(locals(50), scene.peer.serve("evaluate", json!({ "result": rows("4").to_string() })));
    assert_eq!(value(other.unwrap()), "4");
}
