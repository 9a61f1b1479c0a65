//! Breakpoints of the agent and of the person.

use dap::{SetBreakpoints, SetBreakpointsArguments, Source, SourceBreakpoint};
use serde_json::{Value, json};
use test_support::{Fixture, Language, each};

use super::editor::Editor;
use crate::debugging::Debugging;

each![breakpoints_of_agent_and_editor_are_visible_to_both, an_editor_without_control_sets_no_breakpoints];

fn list(program: &Fixture, breakpoints: Vec<SourceBreakpoint>) -> SetBreakpointsArguments {
    let source = Source { path: Some(program.path().to_owned()), ..Source::default() };
    SetBreakpointsArguments { source, breakpoints }
}

fn on_line(program: &Fixture, name: &str) -> SourceBreakpoint {
    SourceBreakpoint { line: program.line(name).into(), ..SourceBreakpoint::default() }
}

async fn breakpoints_of_agent_and_editor_are_visible_to_both(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    session.break_with(&program, "deposit", json!({ "condition": "amount > 0" })).await;
    session.start(&program).await;
    let mut editor = Editor::on(&session, json!({ "control": true })).await;
    let reported = editor.breakpoint().await;
    assert_eq!(
        (reported.reason.as_str(), reported.breakpoint.id, reported.breakpoint.verified),
        ("new", Some(1), true)
    );
    assert_eq!(reported.breakpoint.line, Some(program.line("deposit").into()));

    // The editor knows nothing of the condition, which stays.
    let both = list(&program, vec![on_line(&program, "deposit"), on_line(&program, "purse")]);
    let set = editor.ask::<SetBreakpoints>(both).await.breakpoints;
    assert_eq!((set[0].id, set[1].id, set[1].verified), (Some(1), Some(2), true));
    let listed = session.breakpoints().await;
    assert_eq!((listed.len(), &listed[0]["condition"]), (2, &json!("amount > 0")));
    assert_eq!(listed[1]["line"], program.line("purse"));

    // A condition that the editor adds to its own is one of the session.
    let conditional =
        SourceBreakpoint { condition: Some("coins > 0".to_owned()), ..on_line(&program, "purse") };
    editor.ask::<SetBreakpoints>(list(&program, vec![on_line(&program, "deposit"), conditional])).await;
    assert_eq!(session.breakpoints().await[1]["condition"], "coins > 0");

    session.break_at(&program, "bill_return").await;
    let reported = editor.breakpoint().await;
    assert_eq!((reported.reason.as_str(), reported.breakpoint.id), ("new", Some(3)));

    // One that the editor has not listed yet is not taken away by a list without it.
    editor.ask::<SetBreakpoints>(list(&program, vec![on_line(&program, "deposit")])).await;
    let ids: Vec<Value> =
        session.breakpoints().await.iter().map(|listed| listed["breakpointId"].clone()).collect();
    assert_eq!(ids, ["bp-1", "bp-3"]);
    session.ok("remove_breakpoint", json!({ "breakpointId": "bp-3" })).await;
    let reported = loop {
        let reported = editor.breakpoint().await;
        if reported.breakpoint.id == Some(3) && reported.reason == "removed" {
            break reported;
        }
    };
    assert_eq!(reported.breakpoint.line, Some(program.line("bill_return").into()));
    session.finish().await;
}

async fn an_editor_without_control_sets_no_breakpoints(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "deposit").await;
    let mut editor = Editor::on(&session, json!({})).await;
    editor.stopped().await;
    let both = list(&program, vec![on_line(&program, "deposit"), on_line(&program, "purse")]);
    let set = editor.ask::<SetBreakpoints>(both).await.breakpoints;
    assert_eq!((set[0].id, set[0].verified), (Some(1), true), "the agent's is shown as it is");
    let refused = set[1].message.as_deref().unwrap();
    assert!(!set[1].verified && refused.contains("read-only"), "{refused}");
    editor.ask::<SetBreakpoints>(list(&program, vec![])).await;
    assert_eq!(session.breakpoints().await.len(), 1);
    session.finish().await;
}
