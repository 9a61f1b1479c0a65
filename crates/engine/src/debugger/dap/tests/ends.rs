//! How a program ends, and how it is left.

use serde_json::json;

use super::peer::{PeerOptions, Scene};
use crate::adapter::plan::{Quirks, StartRequest};
use crate::debugger::{Debugger, Event};
use crate::error::Error;
use crate::model::stop::End;

/// Each row of the table of adapters has one of these ends.
#[tokio::test(start_paused = true)]
async fn the_exit_status_is_what_the_adapter_reported() {
    let exited = |code: i32| ("exited", json!({ "exitCode": code }));
    let terminated = || ("terminated", json!({}));
    let table = [
        ("debugpy, lldb-dap, CodeLLDB, the Java bridge", vec![exited(3), terminated()], Some(End::Exited(3))),
        ("js-debug, delve", vec![terminated()], Some(End::Gone)),
        ("an adapter that hangs up in between", vec![exited(0)], Some(End::Exited(0))),
        ("rdbg: the socket closes", vec![], None),
    ];
    for (adapter, said, expected) in table {
        let Scene { debugger, mut events, mut peer, .. } = Scene::offering(json!({})).await;
        for (name, body) in said {
            peer.event(name, body).await;
        }
        drop(peer);
        assert_eq!(events.recv().await, Some(Event::Left), "{adapter}");
        assert_eq!(events.recv().await, None, "{adapter}");
        assert_eq!(debugger.end(), expected, "{adapter}");
    }
}

/// An adapter may stay until `disconnect`, and one that was there before us keeps the connection open.
#[tokio::test(start_paused = true)]
async fn terminated_event_ends_the_session_while_the_connection_is_open() {
    let mut scene = Scene::offering(json!({})).await;
    scene.peer.event("exited", json!({ "exitCode": 0 })).await;
    scene.peer.event("terminated", json!({ "restart": true, "statistics": { "a": 1 } })).await;
    assert_eq!(scene.event().await, Event::Left);
    let (left, asked) = tokio::join!(scene.debugger.detach(), scene.peer.serve("disconnect", json!({})));
    assert_eq!((left, asked), (Ok(()), json!({})));
}

#[tokio::test(start_paused = true)]
async fn exit_codes_mean_what_the_adapter_declares() {
    const SIGNALS: Quirks = Quirks {
        end: |code| match code {
            245 => End::Killed { signal: 11, by_us: false },
            _ => End::Exited(0),
        },
        ..Quirks::NONE
    };
    let mut scene = Scene::running(PeerOptions { quirks: &SIGNALS, ..PeerOptions::default() }).await;
    scene.peer.event("exited", json!({ "exitCode": 245 })).await;
    scene.peer.event("terminated", json!({})).await;
    assert_eq!(scene.event().await, Event::Left);
    assert_eq!(scene.debugger.end(), Some(End::Killed { signal: 11, by_us: false }));
}

#[tokio::test]
async fn our_childs_exit_status_overrides_the_adapters() {
    let table = [("exit 3", End::Exited(3)), ("kill -SEGV $$", End::Killed { signal: 11, by_us: false })];
    for (script, expected) in table {
        for is_told in [true, false] {
            let mut scene = Scene::offering(json!({})).await;
            let program = json!({ "args": ["/bin/sh", "-c", script] });
            assert_eq!(scene.peer.ask("runInTerminal", program).await["success"], true);
            if is_told {
                scene.peer.event("exited", json!({ "exitCode": 245 })).await;
                scene.peer.event("terminated", json!({})).await;
            } else {
                drop(scene.peer);
            }
            assert_eq!(scene.events.recv().await, Some(Event::Left));
            assert_eq!(scene.debugger.end(), Some(expected.clone()), "{script}");
        }
    }
}

/// What traced the program may be gone, and with it what the adapter knows about the program.
#[tokio::test]
async fn a_program_of_ours_that_runs_on_has_not_ended() {
    for is_told in [true, false] {
        let mut scene = Scene::offering(json!({})).await;
        let program = json!({ "args": ["/bin/sleep", "1000"] });
        assert_eq!(scene.peer.ask("runInTerminal", program).await["success"], true);
        if is_told {
            scene.peer.event("terminated", json!({})).await;
        } else {
            drop(scene.peer);
        }
        assert_eq!(scene.events.recv().await, Some(Event::Left));
        assert_eq!(scene.debugger.end(), Some(End::Lost));
    }
}

#[tokio::test(start_paused = true)]
async fn disconnect_terminates_a_launched_program_and_keeps_an_attached_one() {
    let can = json!({ "supportTerminateDebuggee": true });
    let table = [
        (StartRequest::Launch, can.clone(), json!({ "terminateDebuggee": true })),
        (StartRequest::Attach, can, json!({ "terminateDebuggee": false })),
        (StartRequest::Launch, json!({}), json!({})),
        (StartRequest::Attach, json!({}), json!({})),
    ];
    for (request, capabilities, expected) in table {
        let given = PeerOptions { request, capabilities: capabilities.clone(), ..PeerOptions::default() };
        let mut scene = Scene::running(given).await;
        let (left, asked) = tokio::join!(scene.debugger.detach(), scene.peer.serve("disconnect", json!({})));
        assert_eq!((left, asked), (Ok(()), expected), "{request:?} {capabilities}");
    }
}

/// The adapter's capabilities are unknown until `initialize` is answered.
#[tokio::test(start_paused = true)]
async fn a_start_cancelled_before_the_first_reply_ends_the_program() {
    let mut scene = Scene::new(&PeerOptions::default());
    let (left, asked) = tokio::join!(scene.debugger.detach(), scene.peer.serve("disconnect", json!({})));
    assert_eq!((left, asked), (Ok(()), json!({ "terminateDebuggee": true })));
}

#[tokio::test(start_paused = true)]
async fn adapter_that_hangs_up_has_detached_and_a_silent_one_has_not() {
    let Scene { debugger, mut peer, .. } = Scene::offering(json!({})).await;
    let hang_up = async move { drop(peer.take("disconnect").await) };
    assert_eq!(tokio::join!(debugger.detach(), hang_up).0, Ok(()));
    let mut scene = Scene::offering(json!({})).await;
    let (left, _) = tokio::join!(scene.debugger.detach(), scene.peer.take("disconnect"));
    assert_eq!(left.unwrap_err().code(), "deadline_exceeded");
}

#[tokio::test]
async fn detaching_from_a_program_that_we_started_ends_it() {
    let mut scene = Scene::offering(json!({ "supportTerminateDebuggee": true })).await;
    let answer = scene.peer.ask("runInTerminal", json!({ "args": ["/bin/sleep", "1000"] })).await;
    let pid = answer["body"]["processId"].as_u64().and_then(|pid| u32::try_from(pid).ok()).unwrap();
    assert!(crate::process::exists(pid));
    let (left, _) = tokio::join!(scene.debugger.detach(), scene.peer.serve("disconnect", json!({})));
    left.unwrap();
    assert!(!crate::process::exists(pid), "the adapter said that it ended the program, and did not");
}

#[tokio::test(start_paused = true)]
async fn requests_of_a_closed_connection_fail_at_once() {
    let Scene { debugger, mut events, peer, .. } = Scene::offering(json!({})).await;
    let (threads, ()) = tokio::join!(debugger.threads(), async { drop(peer) });
    assert_eq!(threads, Err(Error::Lost));
    assert_eq!(debugger.threads().await, Err(Error::Lost));
    assert_eq!(events.recv().await, Some(Event::Left));
}
