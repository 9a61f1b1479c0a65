//! Editors send requests in different orders, and some request unsupported features.

use dap::{
    ConfigurationDone, Disconnect, DisconnectArguments, Empty, Evaluate, EvaluateArguments, Request, Scopes,
    ScopesArguments, SetBreakpoints, SetBreakpointsArguments, SetExceptionBreakpoints,
    SetExceptionBreakpointsArguments, SetFunctionBreakpoints, SetFunctionBreakpointsArguments, SetVariable,
    SetVariableArguments, Source, SourceArguments, SourceBreakpoint, SourceText, StackTrace,
    StackTraceArguments, Threads,
};
use serde_json::{Value, json};
use test_support::{Fixture, Language, each};

use super::editor::{Editor, expose, place, port};
use crate::debugging::Debugging;

each![visual_studio_code_attaches_and_shows_a_stop, zed_attaches_and_shows_a_stop];

/// Requests that are not supported: an editor shows the message.
macro_rules! unserved {
    ($($name:ident = $command:literal;)*) => {$(
        struct $name;
        impl Request for $name {
            type Arguments = Value;
            type Response = Value;
            const COMMAND: &'static str = $command;
        }
    )*};
}

unserved! {
    Completions = "completions";
    LoadedSources = "loadedSources";
    Modules = "modules";
    Restart = "restart";
}

/// The person's own breakpoint.
fn purse(program: &Fixture) -> SetBreakpointsArguments {
    SetBreakpointsArguments {
        source: Source { path: Some(program.path().to_owned()), ..Source::default() },
        breakpoints: vec![SourceBreakpoint { line: program.line("purse").into(), ..Default::default() }],
    }
}

fn amount(frame_id: Option<i64>, context: &str) -> EvaluateArguments {
    let context = Some(context.to_owned());
    EvaluateArguments { expression: "amount".to_owned(), frame_id, context, ..Default::default() }
}

async fn visual_studio_code_attaches_and_shows_a_stop(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "deposit").await;
    let exposed = expose(&session, json!({ "control": true })).await;
    let mut editor = Editor::connect(port(&exposed)).await;
    let can = editor.hello().await;
    assert!(can.supports_configuration_done_request && can.supports_delayed_stack_trace_loading);
    let mut configuration = exposed["configuration"].clone();
    configuration["__sessionId"] = json!("f0e1");
    editor.attach_with(configuration).await.expect("the configuration has the token");
    editor.invited().await;
    let set = editor.ask::<SetBreakpoints>(purse(&program)).await.breakpoints;
    // In Java, its class is not loaded yet.
    assert_eq!(set[0].verified, language != Language::Java, "{set:?}");
    editor.ask::<SetFunctionBreakpoints>(SetFunctionBreakpointsArguments::default()).await;
    editor.ask::<SetExceptionBreakpoints>(SetExceptionBreakpointsArguments::default()).await;
    editor.ask::<ConfigurationDone>(Empty {}).await;

    let stop = editor.stopped().await;
    let thread_id = stop.thread_id.unwrap();
    editor.ask::<Threads>(Empty {}).await;
    let page = |start_frame, levels| StackTraceArguments { thread_id, start_frame, levels };
    let first = editor.ask::<StackTrace>(page(Some(0), Some(1))).await;
    let rest = editor.ask::<StackTrace>(page(Some(1), Some(19))).await.stack_frames;
    assert_eq!(place(&first.stack_frames[0]), (program.path(), program.line("deposit").into()));
    assert_eq!(first.total_frames, Some(1 + i64::try_from(rest.len()).unwrap()));
    let frame = &first.stack_frames[0];
    let scopes = editor.ask::<Scopes>(ScopesArguments { frame_id: frame.id }).await.scopes;
    let locals = editor.children(scopes[0].variables_reference).await;
    assert!(locals.iter().any(|local| local.name == "amount"), "{locals:?}");
    for context in ["watch", "hover", "repl", "clipboard", "variables"] {
        assert_eq!(editor.ask::<Evaluate>(amount(Some(frame.id), context)).await.result, "1", "{context}");
    }
    assert_eq!(editor.ask::<Evaluate>(amount(None, "repl")).await.result, "1");
    let source = SourceArguments { source: frame.source.clone().unwrap(), source_reference: 0 };
    assert!(editor.ask::<SourceText>(source).await.content.contains("amount"));
    let set = SetVariableArguments {
        variables_reference: scopes[0].variables_reference,
        name: "amount".to_owned(),
        value: "41".to_owned(),
        ..Default::default()
    };
    assert_eq!(editor.ask::<SetVariable>(set).await.value, "41");
    let typed = json!({ "text": "amo", "column": 4, "frameId": frame.id });
    assert_eq!(editor.refused::<Completions>(typed).await, "`completions` is not supported");
    let refused = editor.refused::<Restart>(json!({})).await;
    assert!(refused.contains("belongs to the agent"), "{refused}");

    editor.ask::<Disconnect>(DisconnectArguments { terminate_debuggee: Some(true) }).await;
    editor.gone().await;
    assert_eq!(session.evaluate("amount").await, "41", "the agent's session goes on");
    session.finish().await;
}

/// It asks for all frames and variables at once, and for modules and sources where it believes they exist.
async fn zed_attaches_and_shows_a_stop(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "deposit").await;
    let exposed = expose(&session, json!({})).await;
    let mut editor = Editor::connect(port(&exposed)).await;
    let can = editor.hello().await;
    assert!(can.supports_configuration_done_request && !can.supports_set_variable);
    editor.attach_with(json!({ "mirrorToken": exposed["token"] })).await.expect("the token is right");
    editor.invited().await;
    let set = editor.ask::<SetBreakpoints>(purse(&program)).await.breakpoints;
    assert!(set[0].message.as_deref().is_some_and(|message| message.contains("read-only")), "{set:?}");
    editor.ask::<ConfigurationDone>(Empty {}).await;

    let stop = editor.stopped().await;
    let thread_id = stop.thread_id.unwrap();
    editor.ask::<Threads>(Empty {}).await;
    for refused in [
        editor.refused::<Modules>(json!({})).await,
        editor.refused::<LoadedSources>(json!({})).await,
        editor.refused::<Completions>(json!({ "text": "a", "column": 1 })).await,
    ] {
        assert!(refused.ends_with("is not supported"), "{refused}");
    }
    let arguments = StackTraceArguments { thread_id, start_frame: None, levels: None };
    let frames = editor.ask::<StackTrace>(arguments).await.stack_frames;
    assert_eq!(place(&frames[0]), (program.path(), program.line("deposit").into()));
    for frame in frames.iter().filter(|frame| frame.presentation_hint.is_none()) {
        let scopes = editor.ask::<Scopes>(ScopesArguments { frame_id: frame.id }).await.scopes;
        let near = scopes.iter().filter(|scope| !scope.expensive);
        for scope in near {
            editor.children(scope.variables_reference).await;
        }
    }
    for context in ["watch", "repl", "variables"] {
        assert_eq!(
            editor.ask::<Evaluate>(amount(Some(frames[0].id), context)).await.result,
            "1",
            "{context}"
        );
    }
    editor.ask::<Disconnect>(DisconnectArguments { terminate_debuggee: None }).await;
    editor.gone().await;
    assert_eq!(session.evaluate("amount").await, "1");
    session.finish().await;
}
