//! Adapters that must not remove breakpoints while the program runs, or pause it for that themselves.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::peer::{PeerOptions, Scene};
use super::rules::at;
use crate::adapter::plan::Quirks;
use crate::debugger::{Debugger, Event, SourceBreakpoint, Step};
use crate::model::breakpoint::Rule;
use crate::model::ids::{BreakpointId, RawId};
use crate::model::stop::StopReason;

const QUIRKS: Quirks =
    Quirks { removes_only_when_stopped: true, is_pause: |text| text == "signal SIGSTOP", ..Quirks::NONE };

/// A program that runs, with breakpoints in lines 3 and 4, whose numbers are those of their lines.
async fn running() -> Scene {
    running_with(&QUIRKS).await
}

async fn running_with(quirks: &'static Quirks) -> Scene {
    let mut scene = Scene::running(PeerOptions { quirks, ..PeerOptions::default() }).await;
    let wanted = vec![at(3, 1, Rule::default()), at(4, 2, Rule::default())];
    let Scene { debugger, peer, .. } = &mut scene;
    let (set, asked) = tokio::join!(
        debugger.set_breakpoints(Path::new("/w/main.c"), wanted),
        peer.serve("setBreakpoints", bound(&[3, 4]))
    );
    assert_eq!((set.unwrap().len(), lines(&asked)), (2, vec![3, 4]), "nothing is lost: no pause");
    scene
}

fn bound(lines: &[i64]) -> Json {
    let breakpoints: Vec<_> =
        lines.iter().map(|line| json!({ "id": line, "verified": true, "line": line })).collect();
    json!({ "breakpoints": breakpoints })
}

fn lines(arguments: &Json) -> Vec<i64> {
    let locations = arguments["breakpoints"].as_array().unwrap().iter();
    locations.map(|location| location["line"].as_i64().unwrap()).collect()
}

/// Leaves only the breakpoint in line 4; `served` is the adapter's side.
async fn remove_the_first(scene: &mut Scene, served: impl AsyncFnOnce(&mut super::peer::Peer)) {
    let wanted: Vec<SourceBreakpoint> = vec![at(4, 2, Rule::default())];
    let Scene { debugger, peer, .. } = scene;
    let (set, ()) = tokio::join!(debugger.set_breakpoints(Path::new("/w/main.c"), wanted), served(peer));
    assert_eq!(set.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_running_program_is_paused_without_a_report() {
    let mut scene = running().await;
    remove_the_first(&mut scene, async |peer| {
        peer.serve("threads", json!({ "threads": [{ "id": 7, "name": "main" }] })).await;
        assert_eq!(peer.serve("pause", json!({})).await, json!({ "threadId": 7 }));
        let stop = json!({ "reason": "exception", "description": "signal SIGSTOP", "threadId": 7 });
        peer.event("stopped", stop).await;
        assert_eq!(lines(&peer.serve("setBreakpoints", bound(&[4])).await), [4]);
    })
    .await;
    assert_eq!(scene.peer.serve("continue", json!({})).await, json!({ "threadId": 7 }));
    scene.assert_quiet().await;
    assert!(scene.events.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_hit_before_the_pause_is_reported_only_if_its_breakpoint_remains() {
    for (hit, stays) in [(3, false), (4, true)] {
        let mut scene = running().await;
        remove_the_first(&mut scene, async |peer| {
            peer.serve("threads", json!({ "threads": [{ "id": 1, "name": "main" }] })).await;
            peer.stopped("breakpoint", &[hit]).await;
            peer.serve("pause", json!({})).await;
            peer.serve("setBreakpoints", bound(&[4])).await;
        })
        .await;
        if stays {
            let breakpoints = vec![BreakpointId(2)];
            let (thread, reason) = (RawId(1), StopReason::Breakpoint);
            assert_eq!(scene.event().await, Event::Stopped { thread, reason, text: None, breakpoints });
        } else {
            scene.peer.serve("continue", json!({})).await;
            scene.assert_quiet().await;
            assert!(scene.events.try_recv().is_err());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_program_is_not_paused() {
    let mut scene = running().await;
    scene.peer.stopped("breakpoint", &[3]).await;
    scene.event().await;
    remove_the_first(&mut scene, async |peer| {
        peer.serve("setBreakpoints", bound(&[4])).await;
    })
    .await;
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_step_that_ends_during_the_pause_is_reported() {
    let mut scene = running().await;
    scene.peer.stopped("breakpoint", &[3]).await;
    scene.event().await;
    let Scene { debugger, peer, .. } = &mut scene;
    let (stepped, _) = tokio::join!(debugger.step(RawId(1), Step::Over), peer.serve("next", json!({})));
    stepped.unwrap();
    remove_the_first(&mut scene, async |peer| {
        peer.serve("pause", json!({})).await;
        peer.stopped("step", &[]).await;
        peer.serve("setBreakpoints", bound(&[4])).await;
    })
    .await;
    let (thread, reason, breakpoints) = (RawId(1), StopReason::Step, Vec::new());
    assert_eq!(scene.event().await, Event::Stopped { thread, reason, text: None, breakpoints });
}

/// Its stop comes late and is not reported.
#[tokio::test(start_paused = true)]
async fn a_breakpoint_is_removed_although_the_program_does_not_pause() {
    let mut scene = running().await;
    remove_the_first(&mut scene, async |peer| {
        peer.serve("threads", json!({ "threads": [{ "id": 1, "name": "main" }] })).await;
        peer.serve("pause", json!({})).await;
        peer.serve("setBreakpoints", bound(&[4])).await;
    })
    .await;
    scene.peer.stopped("pause", &[]).await;
    scene.peer.serve("continue", json!({})).await;
    scene.assert_quiet().await;
    assert!(scene.events.try_recv().is_err());
}

/// The stack of a thread.
fn in_line(line: u32) -> Json {
    let source = json!({ "path": "/w/main.c" });
    let frame = json!({ "id": 1, "name": "f", "line": line, "column": 1, "source": source });
    json!({ "stackFrames": [frame], "totalFrames": 1 })
}

#[tokio::test(start_paused = true)]
async fn a_pause_by_the_adapter_is_reported_only_at_a_breakpoint_that_remains() {
    const PAUSES: Quirks = Quirks { pauses_for_breakpoints: true, ..Quirks::NONE };
    let threads = json!({ "threads": [{ "id": 1, "name": "main" }, { "id": 2, "name": "other" }] });
    for (line, stays) in [(3, false), (4, true)] {
        let mut scene = running_with(&PAUSES).await;
        remove_the_first(&mut scene, async |peer| {
            peer.stopped("pause", &[]).await;
            peer.serve("setBreakpoints", bound(&[4])).await;
        })
        .await;
        scene.peer.serve("threads", threads.clone()).await;
        scene.peer.serve_stack(1, 9).await;
        assert_eq!(scene.peer.serve("stackTrace", in_line(line)).await["threadId"], 2);
        if stays {
            let breakpoints = vec![BreakpointId(2)];
            let (thread, reason) = (RawId(2), StopReason::Breakpoint);
            assert_eq!(scene.event().await, Event::Stopped { thread, reason, text: None, breakpoints });
        } else {
            scene.peer.serve("continue", json!({})).await;
            scene.assert_quiet().await;
            assert!(scene.events.try_recv().is_err());
        }
    }
}
