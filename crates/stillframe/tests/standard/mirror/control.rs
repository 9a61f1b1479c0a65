//! What an editor may do to the program.

use dap::{
    Continue, Evaluate, EvaluateArguments, Event, Next, Pause, Request, Scopes, ScopesArguments, SetVariable,
    SetVariableArguments, StepIn, StepOut, StoppedEvent, Terminate, ThreadArguments,
};
use serde_json::{Value, json};
use test_support::{Fixture, Language, each};

use super::editor::{Editor, place};
use crate::STILLFRAME;
use crate::debugging::{Debugging, ENDLESS, Report, written_in};

each![
    an_editor_with_control_steps_and_the_agent_sees_it,
    an_editor_with_control_pauses_and_changes_values,
    an_editor_without_control_is_refused_and_changes_nothing,
];

fn on(stop: &StoppedEvent) -> ThreadArguments {
    ThreadArguments { thread_id: stop.thread_id.expect("a stop has a thread") }
}

/// Resumes in some way, and receives the stop after the response.
async fn go<R: Request<Arguments = ThreadArguments>>(
    editor: &mut Editor,
    stop: &StoppedEvent,
) -> StoppedEvent {
    editor.ask::<R>(on(stop)).await;
    editor.stopped().await
}

async fn an_editor_with_control_steps_and_the_agent_sees_it(language: Language) {
    let (program, session) = Debugging::paused(language, "steps", "call").await;
    let mut editor = Editor::on(&session, json!({ "control": true })).await;
    let at_call = editor.stopped().await;
    let inside = go::<StepIn>(&mut editor, &at_call).await;
    let frames = editor.frames(&inside).await;
    let entry = language.entry(&program, "double");
    assert_eq!(place(&frames[0]), (program.path(), entry.into()));
    assert_eq!(inside.reason, "step");

    // The agent is shown the stop that it has not seen, and does not run past it.
    let observed = session.go_on().await;
    assert_eq!((observed.outcome(), observed.place()), ("step", (program.path(), entry)));

    let returning = go::<Next>(&mut editor, &inside).await;
    let outside = go::<StepOut>(&mut editor, &returning).await;
    let frames = editor.frames(&outside).await;
    assert_ne!(frames[0].name, language.words().double);
    let listed = session.server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(listed.at("/sessions/0/state"), "paused");

    session.break_at(&program, "before_loop").await;
    let stop = go::<Continue>(&mut editor, &outside).await;
    assert_eq!(stop.reason, "breakpoint");
    let observed = session.go_on().await;
    assert_eq!(observed.place(), (program.path(), program.line("before_loop")));
    session.finish().await;
}

async fn an_editor_with_control_pauses_and_changes_values(language: Language) {
    let (_folder, program) = written_in(language, "endless", ENDLESS);
    let session = Debugging::of(language).await;
    session.ok("start_debugging", json!({ "scriptPath": program.path(), "timeout": 0 })).await;
    while session.written("stdout").await != "ready\n" {
        session.ok("continue_execution", json!({ "timeout": 50 })).await;
    }
    let mut editor = Editor::on(&session, json!({ "control": true })).await;
    editor.ask::<Pause>(ThreadArguments::default()).await;
    assert_eq!(editor.stopped().await.reason, "pause");
    let observed = session.go_on().await;
    assert_eq!(observed.outcome(), "pause");
    session.step("close_debug_session").await;
    editor.gone().await;

    let created = session.server.ok("create_debug_session", json!({ "language": language.name() })).await;
    let session = Debugging { id: created.text_of("sessionId").to_owned(), ..session };
    let program = Fixture::of(language, "bank");
    session.break_at(&program, "deposit").await;
    session.start(&program).await;
    let mut editor = Editor::on(&session, json!({ "control": true })).await;
    let stop = editor.stopped().await;
    let frame_id = editor.frames(&stop).await[0].id;
    let scope = editor.ask::<Scopes>(ScopesArguments { frame_id }).await.scopes[0].variables_reference;
    let set = SetVariableArguments {
        variables_reference: scope,
        name: "amount".to_owned(),
        value: "41".to_owned(),
        ..Default::default()
    };
    assert_eq!(editor.ask::<SetVariable>(set).await.value, "41");
    assert_eq!(session.evaluate("amount").await, "41");
    let add = EvaluateArguments {
        timeout: None,
        expression: "amount += 1".to_owned(),
        frame_id: Some(frame_id),
        context: Some("repl".to_owned()),
        ..Default::default()
    };
    editor.ask::<Evaluate>(add).await;
    assert_eq!(session.evaluate("amount").await, "42");
    session.finish().await;
}

async fn an_editor_without_control_is_refused_and_changes_nothing(language: Language) {
    let program = Fixture::of(language, "bank");
    let (session, stopped) = Debugging::stopped_at(&program, "deposit").await;
    let mut editor = Editor::on(&session, json!({})).await;
    let stop = editor.stopped().await;
    let frame_id = editor.frames(&stop).await[0].id;
    let scope = editor.ask::<Scopes>(ScopesArguments { frame_id }).await.scopes[0].variables_reference;
    let set = SetVariableArguments {
        variables_reference: scope,
        name: "amount".to_owned(),
        value: "41".to_owned(),
        ..Default::default()
    };
    for refused in [
        editor.refused::<Continue>(on(&stop)).await,
        editor.refused::<Next>(on(&stop)).await,
        editor.refused::<StepIn>(on(&stop)).await,
        editor.refused::<StepOut>(on(&stop)).await,
        editor.refused::<Pause>(on(&stop)).await,
        editor.refused::<SetVariable>(set).await,
    ] {
        assert!(refused.contains("read-only"), "{refused}");
    }
    let refused = editor.refused::<Terminate>(dap::Empty {}).await;
    assert!(refused.contains("belongs to the agent's session"), "{refused}");
    assert_eq!(session.evaluate("amount").await, "1");
    let stack = session.step("get_stack_trace").await;
    assert_eq!(stack.at("/stackFrames/0/line"), stopped.at("/location/line"));
    session.finish().await;
}

#[tokio::test]
async fn no_editor_has_control_in_read_only_mode() {
    let program = Fixture::python("bank");
    let mut options = STILLFRAME.options().await;
    options.args.extend(["--read-only", "--allow-program", program.path()].map(str::to_owned));
    let session = Debugging::on(options.start().await, Language::Python).await;
    session.break_at(&program, "deposit").await;
    session.start(&program).await;
    let refused = session.fails("not_allowed", "expose_session", json!({ "control": true })).await;
    assert!(refused.text.contains("--read-only"), "{}", refused.text);
    let listed = session.server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(listed.at("/sessions/0/exposure"), &Value::Null);
    let mut editor = Editor::on(&session, json!({})).await;
    editor.stopped().await;
    session.finish().await;
}

#[tokio::test]
async fn an_end_caused_by_an_editor_is_visible_to_both() {
    let (session, _) = Debugging::stopped_at(&Fixture::python("bank"), "deposit").await;
    session.step("clear_breakpoints").await;
    let mut editor = Editor::on(&session, json!({ "control": true })).await;
    let stop = editor.stopped().await;
    editor.ask::<Continue>(on(&stop)).await;
    assert!(matches!(editor.next().await, Some(Event::Exited(_))));
    session.finish_at_end().await;
}
