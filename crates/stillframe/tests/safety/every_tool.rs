//! Every text that any tool takes is a path, a command, an expression, a language, a machine, or none of these. A new
//! one that is not classified here fails a test, and one that is must be refused.

use serde_json::{Value, json};
use test_support::DynamicLanguage as Language;

use crate::{SECRET, Scene, call, serve, stopped_at, tools};

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    File,
    Folder,
    Executable,
    /// A command line.
    Command,
    /// Words that are files where a command runs them.
    Words,
    Expression,
    Language,
    Host,
    /// A path that only chooses among what is there.
    Filter,
    Nothing,
}

/// What a parameter of that name is, in that tool.
fn takes(tool: &str, name: &str) -> Option<Takes> {
    Some(match name {
        "file" if ["list_breakpoints", "remove_breakpoint", "clear_breakpoints"].contains(&tool) => {
            Takes::Filter
        }
        // Questions about a recording: nothing of the program runs any more, and conditions are evaluated by us.
        "file" | "condition" if tool == "find_first" => {
            if name == "file" {
                Takes::Filter
            } else {
                Takes::Nothing
            }
        }
        "file" | "program" | "scriptPath" | "stdinFile" | "breakpoint.file" | "until.[].file"
        | "points.[].file" | "coreFile" => Takes::File,
        "only.[]" => Takes::Filter,
        "cwd" => Takes::Folder,
        "executablePath" | "executable_path" => Takes::Executable,
        "command" | "trigger.command" => Takes::Command,
        "args.[]" | "runtimeArgs.[]" => Takes::Words,
        "condition"
        | "exceptionCondition"
        | "expression"
        | "expressions.[]"
        | "logMessage"
        | "watch"
        | "value"
        | "points.[].condition"
        | "points.[].expressions.[]"
        | "until.[].condition" => Takes::Expression,
        "language" => Takes::Language,
        "host" | "trigger.http.url" => Takes::Host,
        // The thrown value is compared with `exceptionFilter` by our own expression, which asks the exception for
        // its text.
        "sessionId"
        | "breakpointId"
        | "objectId"
        | "watchId"
        | "names.[]"
        | "name"
        | "exceptionFilter"
        | "statement"
        | "points.[].statement"
        | "until.[].statement"
        | "expectedContent"
        | "function"
        | "functionName"
        | "until.[].function"
        | "hitCondition"
        | "module"
        | "stdin"
        | "env"
        | "pathMappings"
        | "target"
        | "at"
        | "from"
        | "to"
        | "first"
        | "second"
        | "recording"
        | "trigger.http.method"
        | "trigger.http.headers"
        | "trigger.http.body" => Takes::Nothing,
        _ => return None,
    })
}

/// The texts that a schema takes, by where they are.
fn texts(schema: &Value, at: &str, found: &mut Vec<String>) {
    let inner = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match schema["type"].as_str() {
        Some("string") if schema["enum"].is_null() => found.push(at.to_owned()),
        Some("array") => texts(&schema["items"], &inner("[]"), found),
        Some("object") => {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                texts(property, &inner(name), found);
            }
            if schema["additionalProperties"].is_object() {
                found.push(at.to_owned());
            }
        }
        _ => {}
    }
}

/// Every text of every tool: tool, place, what it is.
async fn all() -> Vec<(String, String, Takes)> {
    let mut all = Vec::new();
    for tool in tools().await {
        let name = tool["name"].as_str().unwrap().to_owned();
        let mut found = Vec::new();
        texts(&tool["inputSchema"], "", &mut found);
        for location in found {
            let takes = takes(&name, &location);
            let takes = takes.unwrap_or_else(|| panic!("{name} takes `{location}`: say here what that is"));
            all.push((name.clone(), location, takes));
        }
    }
    assert!(all.len() > 150, "{}", all.len());
    all
}

/// Arguments with which a tool would do what it is for.
fn usual(tool: &str, language: Language, session: &str, fresh: &str, program: &str) -> Value {
    let command = format!("{} {program}", language.pick("python", "node"));
    let name = language.name();
    match tool {
        "create_debug_session" => json!({ "language": name }),
        "run_until" => {
            json!({ "language": name, "program": program, "until": [{ "file": program, "line": 2 }] })
        }
        "trace_values" => json!({
            "language": name, "program": program,
            "points": [{ "file": program, "line": 2, "expressions": ["1"] }],
        }),
        "start_debugging" => json!({ "sessionId": fresh, "scriptPath": program }),
        "attach_to_process" => json!({ "sessionId": fresh, "port": 1 }),
        "debug_launch" => json!({ "program": program, "language": name }),
        "debug_probe" => json!({ "program": program, "line": 2, "language": name }),
        "debug_breakpoint" => json!({ "file": program, "line": 2 }),
        "debug-script" => json!({
            "command": command, "breakpoint": { "file": program, "line": 2 }, "expression": "1", "timeout": 5000,
        }),
        "debug_test" | "debugger_run_test" | "record_run" => json!({ "command": command, "timeout": 5000 }),
        "diagnose_hang" | "debugger_start" | "debugger_detect_hang" => {
            json!({ "command": command, "timeout": 1000 })
        }
        "set_breakpoint" | "debugger_set_breakpoint" => {
            json!({ "sessionId": session, "file": program, "line": 2 })
        }
        "debugger_set_logpoint" => {
            json!({ "sessionId": session, "file": program, "line": 2, "logMessage": "x" })
        }
        "debugger_set_function_breakpoint" => json!({ "sessionId": session, "functionName": "nobody" }),
        "get_source_context" => json!({ "sessionId": session, "file": program, "line": 1 }),
        "set_exception_breakpoints" => json!({ "sessionId": session, "mode": "uncaught" }),
        "debugger_set_exception_breakpoint" => json!({ "sessionId": session }),
        "evaluate_expression" | "debugger_inspect" | "debugger_add_watch" => {
            json!({ "sessionId": session, "expression": "1" })
        }
        "debug_evaluate" => json!({ "expression": "1" }),
        "set_variable" => json!({ "sessionId": session, "name": "other", "value": "1" }),
        other => panic!("{other} takes something that is refused: give its usual arguments here"),
    }
}

/// Puts a text where it belongs.
fn put(arguments: &mut Value, place: &str, text: &str) {
    let mut at = arguments;
    for part in place.split('.') {
        at = if part == "[]" {
            if !at.is_array() {
                *at = json!([]);
            }
            let items = at.as_array_mut().unwrap();
            if items.is_empty() {
                items.push(Value::Null);
            }
            &mut items[0]
        } else {
            &mut at[part]
        };
    }
    *at = json!(text);
}

#[tokio::test]
async fn every_tool_with_a_path_refuses_paths_outside_the_roots() {
    let scene = Scene::new();
    std::os::unix::fs::symlink(scene.outside("main.py"), scene.inside("link.py")).unwrap();
    let server = serve(&["--allow-root", &scene.inside.display().to_string()], &scene.inside).await;
    let program = scene.inside("main.py");
    let session = stopped_at(&server, Language::Python, &program, 2).await;
    call(&server, "debug_launch", &json!({ "program": program })).await;
    let mut tried = 0;
    for (tool, place, takes) in all().await {
        let far = scene.outside("main.py");
        let values = match takes {
            Takes::File => vec![
                far,
                scene.inside("link.py"),
                scene.inside("../outside/main.py"),
                "/etc/passwd".to_owned(),
            ],
            Takes::Folder => vec![scene.outside.display().to_string()],
            Takes::Executable => vec![far],
            Takes::Command => vec![format!("python {far}"), format!("python -m pytest {far}")],
            Takes::Words if place == "runtimeArgs.[]" => vec![far],
            _ => continue,
        };
        // A statement that looks like a syntax error is refused too.
        for value in values {
            let fresh = server.ok("create_debug_session", json!({ "language": "python" })).await;
            let fresh = fresh.text_of("sessionId");
            let mut arguments = usual(&tool, Language::Python, &session, fresh, &program);
            put(&mut arguments, &place, &value);
            if place == "command" {
                // It is instead of a program.
                arguments.as_object_mut().unwrap().remove("program");
            }
            if tool == "attach_to_process" && place != "host" {
                // A dump is instead of a port.
                let arguments = arguments.as_object_mut().unwrap();
                arguments.remove("port");
                arguments.entry("coreFile").or_insert(json!(program));
            }
            let answer = call(&server, &tool, &arguments).await;
            let message = answer.text;
            assert!(answer.is_error, "{tool} {arguments}: {message}");
            assert!(message.contains("is outside the allowed folders"), "{tool} {arguments}: {message}");
            assert!(!message.contains(SECRET), "{tool} {arguments}: {message}");
            server.ok("close_debug_session", json!({ "sessionId": fresh })).await;
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
    println!("paths outside of the roots: {tried} calls, all refused");
    server.finish().await;
}

#[tokio::test]
async fn arguments_of_test_commands_are_checked_as_paths() {
    let scene = Scene::new();
    let server = serve(&["--allow-root", "."], &scene.inside).await;
    for tool in ["debug_test", "debugger_run_test"] {
        let arguments = json!({ "command": "python", "args": ["-m", "pytest", scene.outside("main.py")] });
        let answer = call(&server, tool, &arguments).await;
        assert!(answer.is_error && answer.text.contains("is outside the allowed folders"), "{}", answer.text);
    }
    server.finish().await;
}

/// A call that evaluates, assigns or attaches does nothing before the user has allowed it.
#[tokio::test]
async fn every_tool_with_an_expression_asks_first() {
    let scene = Scene::new();
    let record = scene.inside("record");
    let effect = format!("open({record:?}, 'w').close()");
    let server = serve(&["--confirm"], &scene.inside).await;
    let program = scene.inside("main.py");
    let session = stopped_at(&server, Language::Python, &program, 2).await;
    let mut tried = 0;
    for (tool, place, takes) in all().await {
        if takes != Takes::Expression {
            continue;
        }
        let mut arguments = usual(&tool, Language::Python, &session, "", &program);
        let value = if place == "logMessage" { format!("{{{effect}}}") } else { effect.clone() };
        put(&mut arguments, &place, &value);
        let answer = call(&server, &tool, &arguments).await;
        assert!(
            answer.is_error && answer.text.contains("asks its user before"),
            "{tool} {place}: {}",
            answer.text
        );
        tried += 1;
    }
    let others = [
        ("attach_to_process", json!({ "sessionId": session, "processId": 1 })),
        ("attach_to_process", json!({ "sessionId": session, "port": "1" })),
        ("create_debug_session", json!({ "language": "python", "port": 1 })),
        ("detach_from_process", json!({ "sessionId": session, "terminateProcess": true })),
        ("expose_session", json!({ "sessionId": session, "control": true })),
        ("run_until", json!({ "sessionId": session, "trigger": { "command": "true" } })),
        ("remove_recordings", json!({ "recording": "all" })),
    ];
    for (tool, arguments) in others {
        let answer = call(&server, tool, &arguments).await;
        assert!(answer.text.contains("asks its user before"), "{tool} {arguments}: {}", answer.text);
    }
    assert!(!std::path::Path::new(&record).exists());
    assert!(tried > 15, "{tried}");
    println!("expressions: {tried} calls, none made without consent");
    server.finish().await;
}

#[tokio::test]
async fn every_tool_refuses_other_languages() {
    let scene = Scene::new();
    let server = serve(&["--allow-language", "python"], &scene.inside).await;
    for (tool, place, takes) in all().await {
        let mut arguments = match takes {
            Takes::Language | Takes::Command => {
                usual(&tool, Language::Node, "", "", &scene.inside("main.js"))
            }
            _ => continue,
        };
        if takes == Takes::Language {
            put(&mut arguments, &place, "javascript");
        }
        let answer = call(&server, &tool, &arguments).await;
        assert!(answer.is_error && answer.text.contains("is not allowed"), "{tool}: {}", answer.text);
    }
    let listed = server.ok("list_supported_languages", json!({})).await;
    assert_eq!(listed.at("/languages/0/launch/available"), true, "{}", listed.text);
    assert_eq!(listed.at("/languages/1/launch/available"), false, "{}", listed.text);
    assert_eq!(listed.at("/languages/1/launch/reason"), "the language `javascript` is not allowed");
    server.finish().await;
}

/// The effects that expressions of every tool would have, in a program that counts them.
async fn nothing_is_changed(language: Language) {
    let scene = Scene::new();
    let text = language.pick(
        "effects = []\ndef work():\n    other = 2\n    return other\nfor n in range(3):\n    work()\n",
        "globalThis.effects = [];\nfunction work() {\n  let other = 2;\n  return other;\n}\nfor (let n = 0; n < 3; n++) work();\n",
    );
    let program = scene.program(language, "effects", text);
    let listed = ["--read-only", "--allow-program", &program];
    let server = serve(&listed, &scene.inside).await;
    let session = stopped_at(&server, language, &program, 4).await;
    let effect = language.pick("effects.append(1)", "effects.push(1)");
    let mut tried = 0;
    for (tool, place, takes) in all().await {
        if takes != Takes::Expression {
            continue;
        }
        let fresh = server.ok("create_debug_session", json!({ "language": language.name() })).await;
        let fresh = fresh.text_of("sessionId");
        let mut arguments = usual(&tool, language, &session, fresh, &program);
        let value = if place == "logMessage" { format!("{{{effect}}}") } else { effect.to_owned() };
        put(&mut arguments, &place, &value);
        call(&server, &tool, &arguments).await;
        server.ok("close_debug_session", json!({ "sessionId": fresh })).await;
        tried += 1;
    }
    let count = language.pick("len(effects)", "effects.length");
    let left = server.ok("evaluate_expression", json!({ "sessionId": session, "expression": count })).await;
    assert_eq!(left["result"], "0", "{}", left.text);
    assert!(tried > 15, "{tried}");
    println!("expressions with effects, {}: {tried} calls, none changed anything", language.name());
    server.finish().await;
}

#[tokio::test]
async fn no_tool_changes_a_read_only_python_program() {
    nothing_is_changed(Language::Python).await;
}

#[tokio::test]
async fn no_tool_changes_a_read_only_node_program() {
    nothing_is_changed(Language::Node).await;
}

/// A program that is started by a call, which the session above does not see, keeps its record in a file.
#[tokio::test]
async fn no_read_only_tool_changes_a_program_that_it_starts() {
    let scene = Scene::new();
    let record = scene.inside("record");
    let text = format!("def effect():\n    open({record:?}, 'w').close()\nother = 2\nprint(other)\n");
    let program = scene.program(Language::Python, "starts", &text);
    let server = serve(&["--read-only", "--allow-program", &program], &scene.inside).await;
    for (tool, location) in [
        ("run_until", "expressions.[]"),
        ("run_until", "until.[].condition"),
        ("run_until", "exceptionCondition"),
        ("trace_values", "points.[].expressions.[]"),
        ("trace_values", "points.[].condition"),
        ("debug_probe", "expressions.[]"),
        ("debug_probe", "condition"),
        ("debug-script", "expression"),
        ("debug-script", "condition"),
    ] {
        let mut arguments = usual(tool, Language::Python, "", "", &program);
        for (at, line) in [("/until/0", 4), ("/points/0", 4), ("/breakpoint", 4), ("", 4)] {
            if let Some(location) =
                arguments.pointer_mut(at).filter(|location| location.get("line").is_some())
            {
                location["line"] = json!(line);
            }
        }
        put(&mut arguments, location, "effect()");
        let answer = call(&server, tool, &arguments).await;
        assert!(!std::path::Path::new(&record).exists(), "{tool} {location}: {}", answer.text);
    }
    for trigger in [json!({ "command": "true" }), json!({ "http": { "url": "/" } })] {
        let mut arguments = usual("run_until", Language::Python, "", "", &program);
        arguments["trigger"] = trigger;
        let answer = call(&server, "run_until", &arguments).await;
        assert!(answer.text.contains("--read-only does not allow a trigger"), "{}", answer.text);
    }
    server.finish().await;
}
