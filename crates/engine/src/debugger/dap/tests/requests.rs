//! What is asked only of an adapter that offers it, and the stack.

use serde_json::{Value as Json, json};

use super::peer::{PeerOptions, Scene};
use crate::adapter::plan::Quirks;
use crate::debugger::{Debugger, FunctionBreakpoint};
use crate::model::ids::RawId;
use crate::model::stack::Stack;
use crate::model::stop::ExceptionMode;

/// lldb-dap 19 exits at a request that it does not know, and debugpy's adapter stops responding.
#[tokio::test(start_paused = true)]
async fn only_supported_requests_are_sent() {
    let mut scene = Scene::offering(json!({})).await;
    let debugger = &scene.debugger;
    debugger.set_exception_mode(ExceptionMode::All).await.unwrap();
    debugger.set_function_breakpoints(Vec::new()).await.unwrap();
    assert_eq!(debugger.source_text("main.c").await, Ok(None));
    let function = FunctionBreakpoint { name: "f".to_owned(), rules: Vec::new() };
    let refused = [
        debugger.set_function_breakpoints(vec![function]).await.unwrap_err(),
        debugger.set_variable(RawId(1), "x", "2", 10).await.unwrap_err(),
        debugger.exception(RawId(1)).await.unwrap_err(),
        debugger.exception_satisfies(RawId(1), "true").await.unwrap_err(),
    ];
    assert!(refused.iter().all(|error| error.code() == "unsupported"), "{refused:?}");
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn only_supported_exception_filters_are_set() {
    const FILTERS: Quirks = Quirks {
        exception_filters: |mode| match mode {
            ExceptionMode::None => &[],
            _ => &["cpp_throw", "rust_panic"],
        },
        ..Quirks::NONE
    };
    let offered = json!([{ "filter": "cpp_catch", "label": "" }, { "filter": "cpp_throw", "label": null }]);
    let capabilities = json!({ "exceptionBreakpointFilters": offered });
    let mut scene =
        Scene::running(PeerOptions { capabilities, quirks: &FILTERS, ..PeerOptions::default() }).await;
    for (mode, expected) in [(ExceptionMode::All, json!(["cpp_throw"])), (ExceptionMode::None, json!([]))] {
        let served = scene.peer.serve("setExceptionBreakpoints", json!({}));
        let (set, asked) = tokio::join!(scene.debugger.set_exception_mode(mode), served);
        assert_eq!((set, asked), (Ok(()), json!({ "filters": expected })));
    }
}

fn frame(id: u64, source: &Json) -> Json {
    json!({ "id": id, "name": format!("f{id}"), "line": 3, "column": 1, "source": source })
}

async fn stack(scene: &mut Scene, start: usize, levels: usize, answer: Json) -> (Json, Stack<RawId>) {
    let served = scene.peer.serve("stackTrace", answer);
    let (stack, asked) = tokio::join!(scene.debugger.stack_trace(RawId(1), start, levels), served);
    (asked, stack.unwrap())
}

fn ids(stack: &Stack<RawId>) -> Vec<i64> {
    stack.frames.iter().map(|frame| frame.id.0).collect()
}

#[tokio::test(start_paused = true)]
async fn stacks_are_paged_if_supported() {
    let mut scene = Scene::offering(json!({ "supportsDelayedStackTraceLoading": true })).await;
    let page = json!({ "stackFrames": [frame(4, &Json::Null), frame(5, &Json::Null)], "totalFrames": 9 });
    let (asked, stack) = stack(&mut scene, 4, 2, page).await;
    assert_eq!(asked, json!({ "threadId": 1, "startFrame": 4, "levels": 2 }));
    assert_eq!((ids(&stack), stack.total), (vec![4, 5], 9));
}

#[tokio::test(start_paused = true)]
async fn unpaged_stack_is_truncated_locally() {
    for total in [json!(9), Json::Null] {
        let mut scene = Scene::offering(json!({})).await;
        let all: Vec<Json> = (0..9).map(|id| frame(id, &Json::Null)).collect();
        let whole = json!({ "stackFrames": all, "totalFrames": total });
        let (_, stack) = stack(&mut scene, 4, 2, whole).await;
        assert_eq!((ids(&stack), stack.total), (vec![4, 5], 9));
    }
}

#[tokio::test(start_paused = true)]
async fn frames_are_marked_as_user_or_library_code() {
    let mut scene = Scene::offering(json!({})).await;
    let mut subtle = frame(3, &json!({ "path": "/w/main.c" }));
    subtle["presentationHint"] = json!("subtle");
    let frames = json!({ "stackFrames": [
        frame(1, &json!({ "path": "/w/main.c" })),
        frame(2, &json!({ "path": "/w/main.c", "presentationHint": "deemphasize" })),
        subtle,
        frame(4, &json!({ "path": "nptl/pthread_kill.c" })),
        frame(5, &json!({ "path": "<string>" })),
        frame(6, &json!({ "name": "eval", "sourceReference": 12 })),
        { "id": 7, "name": "_start", "line": 0 },
    ] });
    let (_, stack) = stack(&mut scene, 0, 20, frames).await;
    let observed: Vec<_> = stack
        .frames
        .iter()
        .map(|frame| {
            frame
                .location
                .as_ref()
                .map(|at| (at.source.name.as_str(), at.source.path.is_some(), at.source.internal))
        })
        .collect();
    let expected = [
        Some(("/w/main.c", true, false)),
        Some(("/w/main.c", true, true)),
        Some(("/w/main.c", true, true)),
        Some(("nptl/pthread_kill.c", true, true)),
        Some(("<string>", false, false)),
        Some(("eval", false, false)),
        None,
    ];
    assert_eq!(observed, expected);
    let served = scene.peer.serve("source", json!({ "content": "1 + 1" }));
    let (text, asked) = tokio::join!(scene.debugger.source_text("eval"), served);
    assert_eq!((text, &asked["sourceReference"]), (Ok(Some("1 + 1".to_owned())), &json!(12)));
}
