//! Limits that are met: each says which it is, or marks what it has cut.

use serde_json::{Value, json};
use test_support::DynamicLanguage as Language;

use crate::{STILLFRAME, Scene, call, serve, stopped_at, tools};

#[tokio::test]
async fn a_reached_limit_is_named_with_its_value_and_how_to_raise_it() {
    let scene = Scene::new();
    let server = serve(&["--limit", "sessions=2,breakpoints=2,watches=1"], &scene.inside).await;
    let program = scene.inside("main.py");
    let id = stopped_at(&server, Language::Python, &program, 2).await;
    server.ok("create_debug_session", json!({ "language": "python" })).await;
    let refused =
        server.fails("limit_reached", "create_debug_session", json!({ "language": "python" })).await;
    assert_eq!(
        (&refused.at("/context")["limit"], &refused.at("/context")["value"]),
        (&json!("sessions"), &json!(2))
    );
    assert_eq!(
        refused.text_of("message"),
        "2 debug sessions are already open: the limit `sessions` is 2, set by the option --limit; close a \
         session, or the person who runs the server can raise `limits.sessions` there, up to 1000"
    );
    let location = |line: u32| json!({ "sessionId": id, "file": program, "line": line });
    server.ok("set_breakpoint", location(1)).await;
    let refused = server.fails("limit_reached", "set_breakpoint", location(3)).await;
    assert_eq!(refused.at("/context/limit"), "breakpoints");
    let answer =
        "the limit `breakpoints` is 2, set by the option --limit; remove a breakpoint, or the person";
    assert!(refused.text_of("message").contains(answer), "{}", refused.text);
    let watch = |expression: &str| json!({ "sessionId": id, "expression": expression, "watch": true });
    server.ok("evaluate_expression", watch("word")).await;
    let refused = server.fails("limit_reached", "evaluate_expression", watch("1")).await;
    assert_eq!(refused.at("/context/limit"), "watches");
    let answer = "set by the option --limit; remove a watch, or the person";
    assert!(refused.text_of("message").contains(answer), "{}", refused.text);
    server.finish().await;
}

/// The message names the right setting.
#[tokio::test]
async fn a_reached_limit_names_its_source() {
    let scene = Scene::new();
    let file = scene.inside("limits.toml");
    std::fs::write(&file, "[limits]\nsessions = 1\n").unwrap();
    let raises = "close a session, or the person who runs the server can raise `limits.sessions` there";
    let table: [(&[&str], Option<&str>, String); 3] = [
        (&["--config", &file], None, format!("is 1, set in {file}:2; {raises}")),
        (&[], Some("sessions=1"), format!("is 1, set by the variable STILLFRAME_LIMITS; {raises}")),
        (
            &["--limit", "sessions=1"],
            Some("sessions=9"),
            format!("is 1, set by the option --limit; {raises}"),
        ),
    ];
    for (arguments, variable, said) in table {
        let mut options = STILLFRAME.options().await;
        options.env.extend(variable.map(|value| ("STILLFRAME_LIMITS".to_owned(), value.to_owned())));
        options.args = ["serve"].iter().chain(arguments).map(|argument| (*argument).to_owned()).collect();
        let server = options.start().await;
        let open = json!({ "language": "python" });
        server.ok("create_debug_session", open.clone()).await;
        let refused = server.fails("limit_reached", "create_debug_session", open).await;
        assert!(refused.text_of("message").contains(&said), "{}", refused.text);
        server.finish().await;
    }
    let server = serve(&["--limit", "rows=1000000"], &scene.inside).await;
    let request = json!({ "program": scene.inside("main.py"), "maxHits": 1_000_001, "points": [
        { "line": 1, "expressions": ["1"] },
    ] });
    let refused = server.fails("limit_reached", "trace_values", request).await;
    assert_eq!(
        refused["message"],
        "`maxHits` is 1000001: the limit `rows` is 1000000, the maximum; ask for 1000000 rows or less"
    );
    server.finish().await;
}

#[tokio::test]
async fn output_beyond_the_limit_is_reported() {
    let scene = Scene::new();
    let text = "print('x' * 9_999)\nprint('end')\nwait = 1\n";
    let program = scene.program(Language::Python, "writes", text);
    let server = serve(&["--limit", "output=4096"], &scene.inside).await;
    let id = stopped_at(&server, Language::Python, &program, 3).await;
    let output = server.ok("get_output", json!({ "sessionId": id, "since": 0 })).await;
    assert!(output.text.contains("end"), "{}", output.text);
    assert_eq!(output["dropped"], 10_004 - 4_096, "it says how much is gone: {}", output.text);
    server.finish().await;
}

/// Children beyond the limit run, and it is said.
#[tokio::test]
async fn processes_beyond_the_limit_run_undebugged() {
    let scene = Scene::new();
    let python = "import subprocess, sys\nif len(sys.argv) == 1:\n    for n in range(3):\n        subprocess.run([sys.executable, __file__, str(n)])\n    print('all ran')\nelse:\n    print('child', sys.argv[1])\n";
    let node = "const { spawnSync } = require('child_process');\nif (process.argv.length === 2) {\n  for (let n = 0; n < 3; n++) spawnSync(process.execPath, [__filename, n], { stdio: 'inherit' });\n  console.log('all ran');\n} else console.log('child', process.argv[2]);\n";
    for (language, text) in [(Language::Python, python), (Language::Node, node)] {
        let program = scene.program(language, "family", text);
        let server = serve(&["--limit", "processes=1"], &scene.inside).await;
        let session = server.ok("create_debug_session", json!({ "language": language.name() })).await;
        let arguments =
            json!({ "sessionId": session["sessionId"], "scriptPath": program, "timeout": 30_000 });
        let ended = server.ok("start_debugging", arguments).await;
        assert_eq!(ended["state"], "ended", "{}", ended.text);
        let output = server.ok("get_output", json!({ "sessionId": session["sessionId"], "since": 0 })).await;
        for answer in
            ["child 0", "child 1", "child 2", "all ran", "the limit `processes` is 1, set by the option"]
        {
            assert!(output.text.contains(answer), "{answer}: {}", output.text);
        }
        server.finish().await;
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_idle_session_is_closed_if_configured() {
    let scene = Scene::new();
    let server = serve(&["--limit", "idle=2"], &scene.inside).await;
    let program = scene.inside("main.py");
    stopped_at(&server, Language::Python, &program, 2).await;
    let mut left = 1;
    while left > 0 {
        let listed = server.ok("list_debug_sessions", json!({})).await;
        left = listed["count"].as_u64().unwrap();
        tokio::task::yield_now().await;
    }
    server.finish().await;
}

/// Whatever a call asks for, its answer has a largest size, says that it was cut, and fits the tool's schema.
#[tokio::test]
async fn no_answer_exceeds_the_size_limit() {
    let scene = Scene::new();
    let text = "big = ['y' * 300 for _ in range(5_000)]\nlong = 'z' * 900_000\nwide = {str(n): [n] * 50 for n in range(3_000)}\ndeep = [[[['w' * 2_000] * 9] * 9] * 9] * 9\nprint('o' * 900_000)\ndone = 1\n";
    let program = scene.program(Language::Python, "large", text);
    let most = 65_536;
    let server =
        serve(&["--limit", "answer=65536,children=100000,longest_value=1000000"], &scene.inside).await;
    let id = stopped_at(&server, Language::Python, &program, 6).await;
    let locals = server.ok("get_local_variables", json!({ "sessionId": id, "maxLength": 10 })).await;
    let mut references: Vec<u64> = Vec::new();
    for variable in locals.at("/variables").as_array().unwrap() {
        references.extend(variable["variablesReference"].as_u64().filter(|reference| *reference > 0));
    }
    let mut calls = vec![
        ("get_output", json!({ "sessionId": id, "since": 0, "limit": 1_000_000 })),
        ("get_local_variables", json!({ "sessionId": id, "maxLength": 1_000_000 })),
        ("evaluate_expression", json!({ "sessionId": id, "expression": "long", "maxLength": 1_000_000 })),
        ("debugger_inspect", json!({ "sessionId": id, "expression": "long", "maxLength": 1_000_000 })),
        ("debugger_get_local_variables", json!({ "sessionId": id })),
        ("debug_evaluate", json!({ "expression": "1" })),
    ];
    for reference in references {
        calls.push((
            "get_variables",
            json!({ "sessionId": id, "scope": reference, "count": 100_000, "maxLength": 1_000_000 }),
        ));
        calls.push((
            "debugger_inspect_object",
            json!({ "sessionId": id, "objectId": reference.to_string(), "maxDepth": 10, "count": 100_000 }),
        ));
    }
    let schemas = tools().await;
    let mut cut = 0;
    for (tool, arguments) in calls {
        let answer = server.call(tool, arguments.clone()).await;
        assert!(answer.text.len() <= most, "{tool} {arguments}: {} bytes", answer.text.len());
        if answer.is_error || answer["cut"].is_null() {
            continue;
        }
        cut += 1;
        assert!(
            answer.text_of("cut").contains("`answer` raised under `[limits]`"),
            "{}",
            answer.text_of("cut")
        );
        let schema = schemas.iter().find(|known| known["name"] == tool).unwrap()["outputSchema"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let data: Value = answer.data.clone();
        let errors: Vec<String> = validator.iter_errors(&data).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{tool}: {errors:?}");
    }
    assert!(cut >= 4, "{cut}");
    server.finish().await;
}

/// Forty passes, of which two may be recorded.
fn loops(language: Language) -> &'static str {
    match language {
        Language::Python => "for q in range(40):\n    r = q\nprint('end')\n",
        Language::Node => "for (let q = 0; q < 40; q++)\n  globalThis.r = q;\nconsole.log('end');\n",
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn default_values_are_lowered_to_the_limit() {
    let scene = Scene::new();
    for language in [Language::Python, Language::Node] {
        let program = scene.program(language, "loops", loops(language));
        let server = serve(&["--limit", "rows=2"], &scene.inside).await;
        let points = json!([{ "line": 2, "expressions": ["q"] }]);
        let asked = json!({ "program": program, "points": points, "whenFull": "run" });
        let traced = server.ok("trace_values", asked).await;
        assert_eq!(traced.at("/rows").as_array().map(Vec::len), Some(2), "{}", traced.text);
        assert!(traced.text.contains("a maxHits of up to 2"), "{}", traced.text);
        let runs = if language == Language::Python { "python3" } else { "node" };
        let asked = json!({
            "command": format!("{runs} {program}"),
            "breakpoint": { "file": program, "line": 2 },
            "expression": "q",
            "timeout": 20_000,
        });
        let asked = json!({ "name": "debug-script", "arguments": asked });
        let answer = server.request("tools/call", asked).await.unwrap();
        let scripted = &answer["structuredContent"];
        assert_eq!(scripted["results"].as_array().map(Vec::len), Some(2), "{answer}");
        assert_eq!(scripted["hits"], 40, "{answer}");
        server.finish().await;
        let mut command = STILLFRAME.command();
        command.args([
            "trace",
            &format!("{program}:2"),
            "-e",
            "q",
            "--run-on",
            "--limit",
            "rows=2",
            "--json",
        ]);
        command.env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
        let ran = command.output().await.unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(printed["rows"].as_array().map(Vec::len), Some(2), "{printed}");
    }
}

/// What a call asks for is neither lowered nor shortened unseen.
#[tokio::test]
async fn explicit_values_beyond_a_limit_are_refused_with_the_limit() {
    let scene = Scene::new();
    let limits = "rows=2,depth=1,longest_wait=1000,longest_evaluate=500";
    let server = serve(&["--limit", limits], &scene.inside).await;
    let program = scene.inside("main.py");
    let id = stopped_at(&server, Language::Python, &program, 2).await;
    let line = json!([{ "line": 2, "expressions": ["word"] }]);
    let script = |timeout: u64, rows: u64| json!({ "command": format!("python3 {program}"), "breakpoint": { "file": program, "line": 2 }, "expression": "1", "timeout": timeout, "maxHits": rows });
    let session = |more: Value| {
        let mut all = json!({ "sessionId": id });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let late = || session(json!({ "timeout": 1001 }));
    let evaluates = || session(json!({ "expression": "1", "timeout": 501 }));
    let calls = [
        ("trace_values", json!({ "program": program, "points": line, "maxHits": 3 }), "maxHits", "rows"),
        (
            "trace_values",
            json!({ "program": program, "points": line, "timeout": 1001 }),
            "timeout",
            "longest_wait",
        ),
        ("debug-script", script(1000, 3), "maxHits", "rows"),
        ("debug-script", script(1001, 2), "timeout", "longest_wait"),
        ("debugger_inspect_object", session(json!({ "objectId": "1", "maxDepth": 2 })), "maxDepth", "depth"),
        ("debugger_inspect", evaluates(), "timeout", "longest_evaluate"),
        ("evaluate_expression", evaluates(), "timeout", "longest_evaluate"),
        (
            "evaluate_expression",
            session(json!({ "expression": "1", "watch": true, "timeout": 501 })),
            "timeout",
            "longest_evaluate",
        ),
        ("continue_execution", late(), "timeout", "longest_wait"),
        ("step_over", late(), "timeout", "longest_wait"),
        ("step_into", late(), "timeout", "longest_wait"),
        ("step_out", late(), "timeout", "longest_wait"),
        ("step_back", late(), "timeout", "longest_wait"),
        ("reverse_continue", late(), "timeout", "longest_wait"),
        ("pause_execution", late(), "timeout", "longest_wait"),
        ("restart_debugging", late(), "timeout", "longest_wait"),
        (
            "start_debugging",
            session(json!({ "scriptPath": program, "timeout": 1001 })),
            "timeout",
            "longest_wait",
        ),
        ("attach_to_process", session(json!({ "port": 1, "timeout": 1001 })), "timeout", "longest_wait"),
        ("run_until", json!({ "program": program, "timeout": 1001 }), "timeout", "longest_wait"),
        (
            "debug_test",
            json!({ "command": format!("python3 {program}"), "timeout": 1001 }),
            "timeout",
            "longest_wait",
        ),
        (
            "diagnose_hang",
            json!({ "command": format!("python3 {program}"), "timeout": 1001 }),
            "timeout",
            "longest_wait",
        ),
        (
            "record_run",
            json!({ "command": format!("python3 {program}"), "timeout": 1001 }),
            "timeout",
            "longest_wait",
        ),
        ("debugger_continue", late(), "timeout", "longest_wait"),
        ("debugger_step_over", late(), "timeout", "longest_wait"),
        ("debugger_pause", late(), "timeout", "longest_wait"),
        (
            "debugger_run_test",
            json!({ "command": format!("python3 {program}"), "timeout": 1001 }),
            "timeout",
            "longest_wait",
        ),
        (
            "debugger_detect_hang",
            json!({ "command": format!("python3 {program}"), "timeout": 1001 }),
            "timeout",
            "longest_wait",
        ),
        ("debug_launch", json!({ "program": program, "timeout": 1001 }), "timeout", "longest_wait"),
        ("debug_probe", json!({ "program": program, "line": 2, "timeout": 1001 }), "timeout", "longest_wait"),
    ];
    for (tool, arguments, argument, limit) in calls {
        let refused = call(&server, tool, &arguments).await;
        let answer = format!("`{argument}` is ");
        let named = format!("the limit `{limit}` is ");
        let raised = format!("the person who runs the server can raise `limits.{limit}` there");
        for part in [&answer, &named, &raised] {
            assert!(refused.is_error && refused.text.contains(part.as_str()), "{tool}: {}", refused.text);
        }
    }
    let open = server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(open["count"], 1, "what is refused opens nothing: {}", open.text);
    // What is not asked for is within the limits.
    server.ok("step_over", session(json!({}))).await;
    server.finish().await;
}

/// The time of a program counts from when it runs; how long it is started and how long it takes to look at one that
/// did not end comes on top.
#[tokio::test]
async fn waits_are_limited() {
    let scene = Scene::new();
    let program = scene.program(Language::Node, "sleeps", "setTimeout(() => console.log('end'), 60_000);\n");
    let server = serve(&["--limit", "longest_wait=1000"], &scene.inside).await;
    let command = json!({ "command": format!("node {program}") });
    for tool in ["debug_test", "debugger_run_test", "diagnose_hang", "debugger_detect_hang"] {
        let began = std::time::Instant::now();
        let answer = call(&server, tool, &command).await;
        let took = began.elapsed();
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        assert!(took < std::time::Duration::from_secs(6), "{tool} took {took:?}: {}", answer.text);
        assert!(!answer.text.contains("\"completed\":true"), "{tool}: {}", answer.text);
    }
    server.finish().await;
}
