//! Stops that no breakpoint has asked for, and what else an adapter says by itself.

use serde_json::{Value as Json, json};

use super::peer::{PeerOptions, Scene};
use crate::adapter::plan::{Quirks, SimultaneousStops};
use crate::debugger::{Debugger, Event, Step};
use crate::model::ids::RawId;
use crate::model::stop::{ExceptionMode, StopReason};
use crate::output::Category;

fn stopped(reason: StopReason, text: Option<&str>) -> Event {
    let text = text.map(ToOwned::to_owned);
    Event::Stopped { thread: RawId(1), reason, text, breakpoints: Vec::new() }
}

#[tokio::test(start_paused = true)]
async fn stop_reasons_of_the_specification_are_known_and_others_kept() {
    let table = [
        (json!({ "reason": "step" }), stopped(StopReason::Step, None)),
        (json!({ "reason": "goto" }), stopped(StopReason::Step, None)),
        (json!({ "reason": "entry" }), stopped(StopReason::Entry, None)),
        (json!({ "reason": "pause" }), stopped(StopReason::Pause, None)),
        (json!({ "reason": "data breakpoint" }), stopped(StopReason::DataBreakpoint, None)),
        (json!({ "reason": "instruction breakpoint" }), stopped(StopReason::Breakpoint, None)),
        (json!({ "reason": "restart" }), stopped(StopReason::Other("restart".to_owned()), None)),
        (json!({ "reason": "exception", "text": "E" }), stopped(StopReason::Exception, Some("E"))),
        (json!({ "reason": "exception", "description": "D" }), stopped(StopReason::Exception, Some("D"))),
        (
            json!({ "reason": "exception", "text": "E", "description": "D" }),
            stopped(StopReason::Exception, Some("E")),
        ),
        (
            json!({ "reason": "exception", "text": "", "description": "D" }),
            stopped(StopReason::Exception, Some("D")),
        ),
    ];
    let mut scene = Scene::running(PeerOptions {
        quirks: &Quirks { reports_hits: true, ..Quirks::NONE },
        ..PeerOptions::default()
    })
    .await;
    for (mut body, expected) in table {
        body["threadId"] = json!(1);
        scene.peer.event("stopped", body.clone()).await;
        assert_eq!(scene.event().await, expected, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn all_threads_stop_needs_no_thread_id() {
    let mut scene = Scene::offering(json!({})).await;
    scene.peer.event("stopped", json!({ "reason": "pause", "allThreadsStopped": true })).await;
    scene.peer.serve("threads", json!({ "threads": [{ "id": 1, "name": "main" }, { "id": 2 }] })).await;
    assert_eq!(scene.event().await, stopped(StopReason::Pause, None));
}

/// lldb-dap stops a program by a signal, as any other.
#[tokio::test(start_paused = true)]
async fn signal_stop_after_a_pause_request_is_a_pause() {
    const SIGNAL: Quirks = Quirks { is_pause: |text| text == "signal SIGSTOP", ..Quirks::NONE };
    let mut scene = Scene::running(PeerOptions { quirks: &SIGNAL, ..PeerOptions::default() }).await;
    let signal =
        |name: &str| json!({ "reason": "exception", "threadId": 1, "description": format!("signal {name}") });
    scene.peer.event("stopped", signal("SIGSTOP")).await;
    assert_eq!(
        scene.event().await,
        stopped(StopReason::Exception, Some("signal SIGSTOP")),
        "sent by another"
    );
    for (name, expected) in [
        ("SIGSTOP", stopped(StopReason::Pause, None)),
        ("SIGSEGV", stopped(StopReason::Exception, Some("signal SIGSEGV"))),
        ("SIGSTOP", stopped(StopReason::Pause, None)),
    ] {
        let (paused, asked) =
            tokio::join!(scene.debugger.pause(RawId(1)), scene.peer.serve("pause", json!({})));
        assert_eq!((paused, asked), (Ok(()), json!({ "threadId": 1 })));
        scene.peer.event("stopped", signal(name)).await;
        assert_eq!(scene.event().await, expected);
    }
}

/// LLDB does not know a breakpoint yet, or no more, while it inserts or removes it in a running program.
#[tokio::test(start_paused = true)]
async fn a_hit_that_the_debugger_takes_for_a_trap_does_not_stop_the_program() {
    const TRAPS: Quirks = Quirks { missed_command: Some((&["signal SIGTRAP"], "!missed")), ..Quirks::NONE };
    let mut scene = Scene::running(PeerOptions { quirks: &TRAPS, ..PeerOptions::default() }).await;
    let trap = json!({ "reason": "exception", "threadId": 1, "description": "signal SIGTRAP" });
    scene.peer.event("stopped", trap.clone()).await;
    let asked = scene.peer.serve("evaluate", json!({ "result": "> !missed 1\nmissed\n" })).await;
    assert_eq!(asked["expression"], "!missed 1");
    assert_eq!(scene.peer.serve("continue", json!({})).await, json!({ "threadId": 1 }));
    // One of the program's own.
    scene.peer.event("stopped", trap).await;
    scene.peer.serve("evaluate", json!({ "result": "> !missed 1\n" })).await;
    assert_eq!(scene.event().await, stopped(StopReason::Exception, Some("signal SIGTRAP")));
    scene.assert_quiet().await;
}

/// LLDB reports each thread that has stopped, even one in which its callback has decided against it.
#[tokio::test(start_paused = true)]
async fn a_thread_with_a_handled_error_does_not_hide_the_one_that_stops() {
    const ERRORS: Quirks = Quirks {
        errors_command: Some(|mode| if mode == ExceptionMode::None { "" } else { "!errors" }),
        passing_error_command: Some("!passes"),
        simultaneous_stops: SimultaneousStops::Each { command: "!stops" },
        ..Quirks::NONE
    };
    let mut scene = Scene::running(PeerOptions { quirks: &ERRORS, ..PeerOptions::default() }).await;
    let set = scene.debugger.stop_at_errors(ExceptionMode::UserUnhandled);
    tokio::join!(set, scene.peer.serve("evaluate", json!({ "result": "breakpoint 7\n" })));
    for thread in [2, 1] {
        let stop = json!({ "reason": "breakpoint", "threadId": thread, "hitBreakpointIds": [7] });
        scene.peer.event("stopped", stop).await;
    }
    for (command, printed) in [("!stops", "1\n2\n"), ("!passes 2", "passes\n"), ("!passes 1", "")] {
        let asked = scene.peer.serve("evaluate", json!({ "result": printed })).await;
        assert_eq!(asked["expression"], command);
    }
    assert_eq!(scene.event().await, stopped(StopReason::Exception, None));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn errors_stop_after_a_request_that_failed() {
    const ERRORS: Quirks = Quirks {
        errors_command: Some(|mode| if mode == ExceptionMode::None { "!none" } else { "!errors" }),
        ..Quirks::NONE
    };
    let mut scene = Scene::running(PeerOptions { quirks: &ERRORS, ..PeerOptions::default() }).await;
    scene.debugger.stop_at_errors(ExceptionMode::None).await;
    for mode in [ExceptionMode::All, ExceptionMode::None, ExceptionMode::All, ExceptionMode::All] {
        let refused = async {
            let request = scene.peer.take("evaluate").await;
            scene.peer.refuse(&request, "busy").await;
            request["arguments"]["expression"].clone()
        };
        let expected = if mode == ExceptionMode::None { "!none" } else { "!errors" };
        assert_eq!(tokio::join!(scene.debugger.stop_at_errors(mode), refused).1, expected);
    }
    let served = scene.peer.serve("evaluate", json!({ "result": "breakpoint 7\n" }));
    tokio::join!(scene.debugger.stop_at_errors(ExceptionMode::All), served);
    scene.debugger.stop_at_errors(ExceptionMode::All).await;
    scene.assert_quiet().await;
}

/// A function that a step goes over is where lldb-dap stops then.
#[tokio::test(start_paused = true)]
async fn a_pause_during_a_step_is_a_pause() {
    let mut scene = Scene::offering(json!({})).await;
    tokio::join!(scene.debugger.pause(RawId(1)), scene.peer.serve("pause", json!({}))).0.unwrap();
    scene.peer.stopped("step", &[]).await;
    assert_eq!(scene.event().await, stopped(StopReason::Pause, None));
}

/// Delve pauses a thread where it is, which may be in a handler of a signal: its stack does not show the code of the user.
#[tokio::test(start_paused = true)]
async fn a_pause_in_a_signal_handler_is_tried_again() {
    const ANYWHERE: Quirks =
        Quirks { pauses_anywhere: true, is_signal_handler: |name| name == "sigtramp", ..Quirks::NONE };
    let mut scene = Scene::running(PeerOptions { quirks: &ANYWHERE, ..PeerOptions::default() }).await;
    let peer = &mut scene.peer;
    tokio::join!(scene.debugger.pause(RawId(1)), peer.serve("pause", json!({}))).0.unwrap();
    peer.event("stopped", json!({ "reason": "pause", "threadId": 1 })).await;
    let source = json!({ "path": "/usr/lib/go/sys.s" });
    let handler = json!({ "id": 1, "name": "sigtramp", "line": 3, "column": 1, "source": source });
    peer.serve("stackTrace", json!({ "stackFrames": [handler], "totalFrames": 1 })).await;
    peer.serve("continue", json!({})).await;
    peer.serve("pause", json!({})).await;
    peer.event("stopped", json!({ "reason": "pause", "threadId": 1 })).await;
    peer.serve_stack(1, 5).await;
    assert_eq!(scene.event().await, stopped(StopReason::Pause, None));
}

#[tokio::test(start_paused = true)]
async fn a_thread_resumes_by_its_own_request() {
    let mut scene = Scene::offering(json!({})).await;
    let thread = json!({ "threadId": 5 });
    let (resumed, asked) =
        tokio::join!(scene.debugger.resume(RawId(5)), scene.peer.serve("continue", json!({})));
    assert_eq!((resumed, asked), (Ok(()), thread.clone()));
    for (step, command) in [(Step::Over, "next"), (Step::Into, "stepIn"), (Step::Out, "stepOut")] {
        let stepping = scene.debugger.step(RawId(5), step);
        let (stepped, asked) = tokio::join!(stepping, scene.peer.serve(command, json!({})));
        assert_eq!((stepped, asked), (Ok(()), thread.clone()));
    }
    scene.peer.event("continued", json!({ "threadId": 5, "allThreadsContinued": true })).await;
    assert_eq!(scene.event().await, Event::Continued);
}

#[tokio::test(start_paused = true)]
async fn output_is_classified_by_category() {
    let mut scene = Scene::offering(json!({})).await;
    let table = [
        (Some("stdout"), "a"),
        (Some("stderr"), "b"),
        (Some("console"), "c"),
        (Some("important"), "d"),
        (Some("telemetry"), "not for people"),
        (None, "e\r\n"),
    ];
    for (category, text) in table {
        scene.peer.event("output", json!({ "category": category, "output": text })).await;
    }
    scene.peer.event("continued", json!({})).await;
    assert_eq!(scene.event().await, Event::Continued);
    let pieces = scene.output.read(0, 100).pieces;
    let observed: Vec<_> = pieces.iter().map(|piece| (piece.category, piece.text.as_str())).collect();
    assert_eq!(observed, [(Category::Stdout, "a"), (Category::Stderr, "b"), (Category::Console, "cde\r\n")]);
}

/// The adapter reads the terminal of the program in pieces that are cut anywhere.
#[tokio::test(start_paused = true)]
async fn terminal_line_ends_are_normalized() {
    const TERMINAL: Quirks = Quirks { writes_crlf: true, ..Quirks::NONE };
    for (quirks, expected) in
        [(&TERMINAL, "one\ntwo\n50%\r90%\n"), (&Quirks::NONE, "one\r\ntwo\r\n50%\r90%\r\n")]
    {
        let mut scene = Scene::running(PeerOptions { quirks, ..PeerOptions::default() }).await;
        for piece in ["one\r", "\ntwo", "\r\n", "50%", "\r90%\r", "\n"] {
            scene.peer.event("output", json!({ "category": "stdout", "output": piece })).await;
        }
        scene.peer.event("continued", json!({})).await;
        assert_eq!(scene.event().await, Event::Continued);
        assert_eq!(scene.output.read(0, 100).text(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn process_id_is_known_once_reported() {
    let mut scene = Scene::offering(json!({})).await;
    assert_eq!(scene.debugger.pid(), None);
    for pid in [json!({ "name": "main" }), json!({ "systemProcessId": 4711 })] {
        scene.peer.event("process", pid).await;
    }
    scene.peer.event("continued", json!({})).await;
    scene.event().await;
    assert_eq!(scene.debugger.pid(), Some(4711));
}

/// What only some adapters send, and what makes no sense, changes nothing.
#[tokio::test(start_paused = true)]
async fn unknown_events_are_ignored() {
    let mut scene = Scene::offering(json!({})).await;
    let events = [
        ("module", json!({ "reason": "new" })),
        ("thread", json!({ "reason": "started", "threadId": 2 })),
        ("loadedSource", Json::Null),
        ("stopped", json!("what?")),
        ("dapui", json!({})),
    ];
    for (name, body) in events {
        scene.peer.event(name, body).await;
    }
    scene.peer.event("continued", json!({})).await;
    assert_eq!(scene.event().await, Event::Continued);
}
