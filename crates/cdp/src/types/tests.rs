use serde_json::json;

use super::*;

#[test]
fn commands_serialize_as_the_protocol_specifies() {
    fn written<C: Command>(command: &C) -> (&'static str, String) {
        (C::METHOD, serde_json::to_string(command).unwrap())
    }
    let location = debugger::Location { script_id: "7".to_owned(), line_number: 0, column_number: None };
    let table = [
        (written(&debugger::StepOver {}), "Debugger.stepOver", json!({})),
        (written(&debugger::Enable::default()), "Debugger.enable", json!({})),
        (
            written(&runtime::Evaluate {
                expression: "1".to_owned(),
                include_command_line_api: true,
                throw_on_side_effect: true,
                timeout: Some(50),
                ..Default::default()
            }),
            "Runtime.evaluate",
            json!({ "expression": "1", "includeCommandLineAPI": true, "throwOnSideEffect": true, "timeout": 50 }),
        ),
        (
            written(&runtime::CallFunctionOn {
                function_declaration: "f".to_owned(),
                object_id: Some("1.2".to_owned()),
                arguments: vec![
                    runtime::CallArgument::default(),
                    runtime::CallArgument { value: Some(Value::Null), ..Default::default() },
                ],
                ..Default::default()
            }),
            "Runtime.callFunctionOn",
            json!({ "functionDeclaration": "f", "objectId": "1.2", "arguments": [{}, { "value": null }] }),
        ),
        (
            written(&debugger::GetPossibleBreakpoints { start: location, ..Default::default() }),
            "Debugger.getPossibleBreakpoints",
            json!({ "start": { "scriptId": "7", "lineNumber": 0 } }),
        ),
        (
            written(&debugger::SetPauseOnExceptions { state: debugger::PauseOnExceptions::Uncaught }),
            "Debugger.setPauseOnExceptions",
            json!({ "state": "uncaught" }),
        ),
        (
            written(&debugger::SetInstrumentationBreakpoint {
                instrumentation: debugger::Instrumentation::BeforeScriptWithSourceMapExecution,
            }),
            "Debugger.setInstrumentationBreakpoint",
            json!({ "instrumentation": "beforeScriptWithSourceMapExecution" }),
        ),
        (
            written(&node_worker::Enable { wait_for_debugger_on_start: true }),
            "NodeWorker.enable",
            json!({ "waitForDebuggerOnStart": true }),
        ),
    ];
    for ((method, params), expected_method, expected) in table {
        assert_eq!((method, params), (expected_method, expected.to_string()));
    }
}

#[test]
fn events_with_missing_or_new_fields_are_parsed() {
    let paused = Event::parse(
        "Debugger.paused",
        r#"{"callFrames":[{"callFrameId":"1","location":{"scriptId":"3","lineNumber":2,"columnNumber":4},
            "scopeChain":[{"type":"local","object":{"type":"object","objectId":"9"}}],"new":1}],
            "reason":"other","hitBreakpoints":["b"]}"#,
    );
    let Event::Paused(paused) = paused else { panic!("{paused:?}") };
    let frame = &paused.call_frames[0];
    let location = debugger::Location { script_id: "3".to_owned(), line_number: 2, column_number: Some(4) };
    assert_eq!((&frame.location, frame.url.as_str()), (&location, ""));
    assert_eq!(frame.scope_chain[0].object.object_id.as_deref(), Some("9"));
    assert_eq!((paused.reason.as_str(), &paused.hit_breakpoints[..]), ("other", &["b".to_owned()][..]));

    let script = Event::parse("Debugger.scriptParsed", r#"{"sourceMapURL":"a.map","isModule":true}"#);
    let Event::ScriptParsed(script) = script else { panic!("{script:?}") };
    assert_eq!((script.source_map_url.as_deref(), script.is_module), (Some("a.map"), true));
}

#[test]
fn events_of_unknown_shape_are_kept_raw() {
    let table = [
        ("Some.event", r#"{"a":1}"#, json!({ "a": 1 })),
        ("Debugger.paused", r#"{"callFrames":3}"#, json!({ "callFrames": 3 })),
        ("Debugger.paused", "null", Value::Null),
        ("Debugger.paused", "{", Value::Null),
    ];
    for (method, params, expected) in table {
        let event = Event::parse(method, params);
        let Event::Other(name, value) = event else { panic!("{event:?}") };
        assert_eq!((name.as_str(), value), (method, expected));
    }
}

#[test]
fn stop_with_a_hundred_async_parents_is_parsed() {
    let mut trace = json!({ "callFrames": [{ "functionName": "f" }] });
    for _ in 0..100 {
        trace = json!({ "description": "await", "callFrames": [{ "functionName": "f" }], "parent": trace });
    }
    let params = json!({ "callFrames": [], "reason": "other", "asyncStackTrace": trace }).to_string();
    let event = Event::parse("Debugger.paused", &params);
    let Event::Paused(paused) = event else { panic!("{event:?}") };
    let generations =
        std::iter::successors(paused.async_stack_trace.as_ref(), |trace| trace.parent.as_deref());
    assert_eq!(generations.count(), 101);
}
