//! Sessions, breakpoints, threads and arguments that are not what they should be.

use serde_json::{Value, json};
use test_support::{Language, each};

use crate::STILLFRAME;
use crate::debugging::Debugging;

each![
    a_number_as_a_string_is_accepted,
    an_argument_of_the_wrong_type_is_reported_with_its_type,
    a_missing_argument_is_reported_with_its_type,
    an_unknown_argument_is_ignored_with_a_warning_that_suggests_a_similar_one,
    arguments_that_exclude_each_other_are_refused,
    an_unknown_session_is_reported_with_the_open_ones,
    without_an_id_the_only_session_is_used_and_several_are_ambiguous,
    unknown_breakpoints_and_threads_are_errors_with_advice,
];

async fn a_number_as_a_string_is_accepted(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    let line = program.line("call");
    let set = json!({ "file": program.path(), "line": line.to_string() });
    assert_eq!(session.ok("set_breakpoint", set).await["line"], line);
    let start = json!({ "scriptPath": program.path(), "timeout": "20000", "dapLaunchArgs": { "justMyCode": "true" } });
    assert_eq!(session.ok("start_debugging", start).await.at("/location/line"), line);
    let stack = session.ok("get_stack_trace", json!({ "count": "1" })).await;
    let frame = stack.at("/stackFrames/0/id").to_string();
    session.ok("get_scopes", json!({ "frameId": frame })).await;
    session.finish().await;
}

async fn an_argument_of_the_wrong_type_is_reported_with_its_type(language: Language) {
    let session = Debugging::of(language).await;
    let table = [
        (
            "set_breakpoint",
            json!({ "file": "x.py", "line": "twelve" }),
            "`line` must be a whole number, not `\"twelve\"`",
        ),
        (
            "set_breakpoint",
            json!({ "file": "x.py", "line": 1.5 }),
            "`line` must be a whole number, not `1.5`",
        ),
        ("set_breakpoint", json!({ "file": "x.py", "line": -1 }), "`line` must not be negative"),
        (
            "set_breakpoint",
            json!({ "file": ["x.py"], "line": 1 }),
            "`file` must be a string, not `[\"x.py\"]`",
        ),
        (
            "start_debugging",
            json!({ "scriptPath": "x.py", "args": "a | b" }),
            "`args` must be a list, each item a string, not `\"a | b\"`; it has several commands or a redirection; \
             no shell runs here; pass a list of strings",
        ),
        (
            "start_debugging",
            json!({ "scriptPath": "x.py", "dryRunSpawn": "maybe" }),
            "`dryRunSpawn` must be true or false, not `\"maybe\"`",
        ),
        (
            "set_exception_breakpoints",
            json!({ "mode": "some" }),
            "`mode` must be `\"none\"` or `\"uncaught\"` or `\"userUnhandled\"` or `\"all\"`, not `\"some\"`",
        ),
        ("get_scopes", json!({ "frameId": {} }), "`frameId` must be a whole number, not `{}`"),
    ];
    for (tool, arguments, message) in table {
        let failed = session.fails("invalid_arguments", tool, arguments).await;
        assert_eq!(failed["message"], message, "{tool}");
        let named = message.split('`').nth(1).unwrap();
        assert_eq!(failed.at("/context/argument"), named, "{tool}");
    }
    session.finish().await;
}

async fn a_missing_argument_is_reported_with_its_type(language: Language) {
    let session = Debugging::of(language).await;
    let table = [
        ("get_scopes", json!({}), "`frameId` is missing; expected a whole number"),
        ("get_variables", json!({}), "`variablesReference` is missing; expected a whole number"),
        ("evaluate_expression", json!({}), "`expression` is missing; expected a string"),
        ("set_variable", json!({ "name": "x" }), "`value` is missing; expected a string"),
        ("start_debugging", json!({}), "`scriptPath` is missing; give the path of a script, or `module`"),
        ("attach_to_process", json!({}), "`port` is missing; give it, `processId` or `coreFile`"),
    ];
    for (tool, arguments, message) in table {
        let failed = session.fails("invalid_arguments", tool, arguments).await;
        assert_eq!(failed["message"], message, "{tool}");
    }
    let failed = session.server.fails("invalid_arguments", "create_debug_session", json!({})).await;
    assert_eq!(failed["message"], "`language` is missing; expected a string");
    session.finish().await;
}

async fn an_unknown_argument_is_ignored_with_a_warning_that_suggests_a_similar_one(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    let (file, line) = (program.path(), program.line("call"));
    let set = json!({ "file": file, "line": line, "conditon": "False" });
    let set = session.ok("set_breakpoint", set).await;
    let warning = "ignored unknown argument `conditon`; did you mean `condition`?";
    assert_eq!(set["warnings"], json!([warning]));
    assert!(set.text.starts_with(r#"{"warnings":["#), "it is read first: {}", set.text);
    assert_eq!(set["line"], line);

    let start = json!({ "scriptPath": file, "banana": 1, "dapLaunchArgs": { "stopOnEntri": true } });
    let started = session.ok("start_debugging", start).await;
    assert_eq!(started.at("/location/line"), line, "the rest is done: {}", started.text);
    let warnings = [
        "ignored unknown argument `banana`",
        "ignored unknown argument `dapLaunchArgs.stopOnEntri`; did you mean `stopOnEntry`?",
    ];
    assert_eq!(started["warnings"], json!(warnings));

    // The missing argument stays an error, and the warning explains it.
    let failed =
        session.fails("invalid_arguments", "get_source_context", json!({ "file": file, "lien": 3 })).await;
    assert_eq!(failed["message"], "`line` is missing; expected a whole number");
    assert_eq!(failed["warnings"], json!(["ignored unknown argument `lien`; did you mean `line`?"]));
    session.finish().await;
}

async fn arguments_that_exclude_each_other_are_refused(language: Language) {
    let session = Debugging::of(language).await;
    let table = [
        (
            "start_debugging",
            json!({ "scriptPath": "x.py", "module": "x" }),
            "`module` cannot be combined with `scriptPath`",
        ),
        (
            "start_debugging",
            json!({ "scriptPath": "x.py", "stdin": "a", "stdinFile": "b" }),
            "`stdinFile` cannot be combined with `stdin`",
        ),
        (
            "attach_to_process",
            json!({ "port": 1, "processId": 1 }),
            "`processId` cannot be combined with `port`",
        ),
        ("run_until", json!({ "command": "x" }), "`command` cannot be combined with `sessionId`"),
        (
            "run_until",
            json!({ "program": "x y.py 1" }),
            "`program` is not a file; pass a command line as `command`",
        ),
    ];
    for (tool, arguments, message) in table {
        let failed = session.fails("invalid_arguments", tool, arguments).await;
        assert_eq!(failed["message"], message, "{tool}");
    }
    session.finish().await;
}

async fn an_unknown_session_is_reported_with_the_open_ones(language: Language) {
    let session = Debugging::of(language).await;
    let arguments = json!({ "sessionId": "nope" });
    let failed = session.server.fails("session_not_found", "get_stack_trace", arguments).await;
    assert_eq!(failed["error"], "Managed session not found: nope");
    assert_eq!(failed.at("/context/openSessions"), &json!([session.id]));
    assert_eq!(
        failed["message"],
        "Managed session not found: nope; call list_debug_sessions for open sessions, or \
         create_debug_session to open one"
    );
    session.finish().await;
}

async fn without_an_id_the_only_session_is_used_and_several_are_ambiguous(language: Language) {
    let server = STILLFRAME.serve().await;
    let failed = server.fails("session_not_found", "list_breakpoints", json!({})).await;
    assert_eq!(failed["message"], "no debug session is open; call create_debug_session first");
    let session = Debugging::on(server, language).await;
    assert_eq!(session.server.ok("list_breakpoints", json!({})).await["count"], 0);
    let other = session.server.ok("create_debug_session", json!({ "language": language.name() })).await;
    let failed = session.server.fails("session_ambiguous", "list_breakpoints", json!({})).await;
    assert_eq!(failed["message"], "several debug sessions are open; give `sessionId`");
    let open = failed.at("/context/openSessions").as_array().unwrap();
    assert_eq!(open.len(), 2);
    assert!(open.contains(&other["sessionId"]), "{}", failed.text);
    session.finish().await;
}

async fn unknown_breakpoints_and_threads_are_errors_with_advice(language: Language) {
    let (_, session) = Debugging::paused(language, "swap_vars", "call").await;
    let missing = json!({ "breakpointId": "bp-42", "enabled": false });
    let failed = session.fails("breakpoint_not_found", "set_breakpoint", missing).await;
    assert_eq!(failed["message"], "no breakpoint `bp-42`; call list_breakpoints for valid IDs");
    assert_eq!(failed.at("/context/breakpointId"), "bp-42");
    let odd =
        session.fails("invalid_arguments", "remove_breakpoint", json!({ "breakpointId": "first" })).await;
    assert_eq!(odd["message"], "`breakpointId` must be an ID such as `bp-1`, not `first`");
    for tool in ["step_over", "get_stack_trace"] {
        let failed = session.fails("thread_not_found", tool, json!({ "threadId": 99 })).await;
        assert_eq!(failed["message"], "no thread 99; call list_threads for valid IDs", "{tool}");
        assert_eq!(failed.at("/context/threadId"), &Value::from(99), "{tool}");
    }
    session.finish_at_end().await;
}
