//! The MCP inspector's command line. It does one thing in each process.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Fixture, HttpServer, Mark};
use tokio::sync::OnceCell;

use super::{command, installed, must_succeed, run};
use crate::STILLFRAME;

/// The inspector, and a Node.js that is new enough for it, as npm knows them.
const INSPECTOR: [&str; 2] = ["@modelcontextprotocol/inspector@2.12.0", "node@22"];

/// A folder with the inspector and its Node.js.
async fn inspector() -> PathBuf {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let install = async || {
        installed("inspector", &INSPECTOR.join(" "), async |folder| {
            std::fs::write(folder.join("package.json"), "{ \"private\": true }")
                .expect("the folder is there");
            let mut npm = command("npm");
            npm.args(["install", "--no-audit", "--no-fund"]).args(INSPECTOR).current_dir(folder);
            must_succeed(&mut npm).await;
        })
        .await
    };
    INSTALLED.get_or_init(install).await.clone()
}

/// Runs the inspector's command line in an era of the protocol, with a server of its own.
async fn inspect(era: &str, arguments: &[&str]) -> (Option<i32>, Value) {
    let mark = Mark::default();
    let inspected = inspect_at(era, &[STILLFRAME.program, "serve"], arguments, &mark).await;
    mark.assert_gone_within(Duration::from_secs(2));
    inspected
}

/// The same with a server that listens.
async fn inspect_http(server: &HttpServer, era: &str, arguments: &[&str]) -> (Option<i32>, Value) {
    let authorization = format!("Authorization: Bearer {}", server.token());
    let to = ["--transport", "http", "--server-url", &server.url(), "--header", &authorization];
    inspect_at(era, &to, arguments, &Mark::default()).await
}

async fn inspect_at(era: &str, to: &[&str], arguments: &[&str], mark: &Mark) -> (Option<i32>, Value) {
    let folder = inspector().await;
    // It writes into its user's home.
    let home = tempfile::tempdir().expect("a temporary folder");
    let node = folder.join("node_modules/node/bin");
    let path = std::env::var("PATH").expect("a path");
    let (name, value) = mark.variable();
    let mut client = command(node.join("node"));
    client.arg(folder.join("node_modules/.bin/mcp-inspector"));
    client.args(["--cli", "-q", "--format", "json", "--protocol-era", era]);
    client
        .args(to)
        .args(arguments)
        .env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await)
        .env("HOME", home.path())
        .env("PATH", format!("{}:{path}", node.display()));
    let done = run(client.env(name, value)).await;
    (done.status.code(), serde_json::from_slice(&done.stdout).unwrap_or_default())
}

/// The eras that the inspector knows.
const ERAS: [&str; 3] = ["legacy", "auto", "modern"];

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_inspector_accepts_every_tool() {
    for era in ERAS {
        let (code, list) = inspect(era, &["--method", "tools/list", "--strict"]).await;
        assert_eq!(code, Some(0), "{era}: {list}");
        assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(35), "{era}");
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_inspector_calls_a_tool() {
    for era in ERAS {
        let call = ["--method", "tools/call", "--tool-name", "list_supported_languages"];
        let (code, called) = inspect(era, &call).await;
        assert_eq!(code, Some(0), "{era}: {called}");
        let languages = &called["result"]["structuredContent"];
        assert_eq!(languages["languages"][0]["language"], "python", "{era}");
        assert_eq!(languages["languages"][0]["launch"]["available"], true, "{era}");
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_inspector_reports_a_failed_call_as_failed() {
    for era in ERAS {
        let call =
            ["--method", "tools/call", "--tool-name", "set_exception_breakpoints", "--tool-arg", "mode=some"];
        let (code, called) = inspect(era, &call).await;
        // Its code for an answer that is marked as an error.
        assert_eq!(code, Some(5), "{era}: {called}");
        assert_eq!(called["result"]["structuredContent"]["code"], "invalid_arguments", "{era}");
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_inspector_lists_prompts_and_resources() {
    for era in ERAS {
        let (code, prompts) = inspect(era, &["--method", "prompts/list"]).await;
        assert_eq!((code, &prompts["result"]["prompts"][0]["name"]), (Some(0), &json!("debug")), "{era}");
        let (code, resources) = inspect(era, &["--method", "resources/list"]).await;
        assert_eq!((code, &resources["result"]["resources"]), (Some(0), &json!([])), "{era}");
        let (code, templates) = inspect(era, &["--method", "resources/templates/list"]).await;
        let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
        assert_eq!((code, template), (Some(0), &json!("debug://sessions/{sessionId}/output")), "{era}");
    }
}

/// Calls a tool; `key=value` for each argument.
async fn call(server: &HttpServer, era: &str, tool: &str, arguments: &[String]) -> Value {
    let mut words = vec!["--method", "tools/call", "--tool-name", tool];
    for argument in arguments {
        words.extend(["--tool-arg", argument]);
    }
    let (code, called) = inspect_http(server, era, &words).await;
    assert_eq!(code, Some(0), "{tool} {arguments:?}: {called}");
    called["result"]["structuredContent"].clone()
}

/// Its requests of revision 2026-07-28 are one client, although each is a process of its own.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_inspector_debugs_over_http_with_a_process_per_request() {
    let server = STILLFRAME.serve_http().await;
    let shop = Fixture::python("shop");
    let created = call(&server, "modern", "create_debug_session", &["language=python".to_owned()]).await;
    let session = format!("sessionId={}", created["sessionId"].as_str().expect("an id"));
    let (file, line) = (format!("file={}", shop.path()), format!("line={}", shop.line("call")));
    call(&server, "modern", "set_breakpoint", &[session.clone(), file, line]).await;
    let start = [session.clone(), format!("scriptPath={}", shop.path()), "timeout=60000".to_owned()];
    let stopped = call(&server, "modern", "start_debugging", &start).await;
    assert_eq!(stopped["location"]["line"], shop.line("call"));
    let just = [session.clone()];
    let stack = call(&server, "modern", "get_stack_trace", &just).await;
    assert_eq!(stack["stackFrames"][0]["name"], "check_out");
    let locals = call(&server, "modern", "get_local_variables", &just).await;
    assert!(locals.to_string().contains("pear"), "{locals}");
    let arguments = [session.clone(), "expression=prices['pear'] * 2".to_owned()];
    assert_eq!(call(&server, "modern", "evaluate_expression", &arguments).await["result"], "6");
    let stepped = call(&server, "modern", "step_over", &just).await;
    assert_eq!(stepped["location"]["line"], shop.line("pay"));
    let ended = call(&server, "modern", "continue_execution", &just).await;
    assert_eq!(ended["state"], "ended");
    call(&server, "modern", "close_debug_session", &just).await;
    assert_eq!(server.health().await["debugSessions"], 0);
    server.finish().await;
}

/// With a handshake each process is a client, so that one call has to do.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_inspector_runs_until_a_line_on_both_transports() {
    let shop = Fixture::python("shop");
    let server = STILLFRAME.serve_http().await;
    let target_location = format!("until=[{{\"line\":{}}}]", shop.line("pay"));
    let program = format!("program={}", shop.path());
    let mut words = vec!["--method", "tools/call", "--tool-name", "run_until"];
    for argument in [&program, &target_location, "expressions=[\"amount\"]", "close=true", "timeout=60000"] {
        words.extend(["--tool-arg", argument]);
    }
    for era in ERAS {
        for (code, stopped) in [inspect(era, &words).await, inspect_http(&server, era, &words).await] {
            assert_eq!(code, Some(0), "{era}: {stopped}");
            let answer = &stopped["result"]["structuredContent"];
            assert_eq!(answer["location"]["line"], shop.line("pay"), "{era}: {stopped}");
            assert_eq!(answer["values"][0]["value"], "11", "{era}: {stopped}");
        }
        let (code, list) = inspect_http(&server, era, &["--method", "tools/list", "--strict"]).await;
        assert_eq!(code, Some(0), "{era}: {list}");
    }
    server.finish().await;
}
