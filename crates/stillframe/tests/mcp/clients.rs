//! Clients that others wrote: the official Python SDK and the MCP inspector. Each is installed once, into the
//! folder of the build.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Fixture, Mark, repository};
use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::STILLFRAME;

/// The SDK, as pip knows it.
const SDK: &str = "mcp==2.3.0";
/// The inspector, and a Node.js that is new enough for it, as npm knows them.
const INSPECTOR: [&str; 2] = ["@modelcontextprotocol/inspector@2.12.0", "node@22"];
/// Installing takes a minute; nothing takes longer than this.
const PATIENCE: Duration = Duration::from_mins(5);

#[expect(clippy::disallowed_methods, reason = "a client, which ends what it starts")]
fn command(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.kill_on_drop(true).stdin(std::process::Stdio::null());
    command
}

async fn run(command: &mut Command) -> Output {
    let done = timeout(PATIENCE, command.output()).await;
    done.unwrap_or_else(|_| panic!("{command:?} takes too long")).expect("the program starts")
}

async fn must_succeed(command: &mut Command) -> Output {
    let done = run(command).await;
    let log = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {}\n{log}", done.status);
    done
}

/// A folder that is filled once. One that was left half filled, or filled with something else, is filled anew.
async fn installed(name: &str, content: &str, fill: impl AsyncFnOnce(&Path)) -> PathBuf {
    let folder = Path::new(STILLFRAME.scratch).join(name);
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).ok().as_deref() != Some(content) {
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("the folder of the build can be written to");
        }
        std::fs::create_dir_all(&folder).expect("the folder of the build can be written to");
        fill(&folder).await;
        std::fs::write(stamp, content).expect("the folder of the build can be written to");
    }
    folder
}

/// A Python that has the SDK.
async fn sdk() -> PathBuf {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    let install = async || {
        installed("python-sdk", SDK, async |folder| {
            let python = folder.join("bin/python");
            must_succeed(command("python3").args(["-m", "venv"]).arg(folder)).await;
            must_succeed(command(python).args(["-m", "pip", "install", "--quiet", SDK])).await;
        })
        .await
    };
    INSTALLED.get_or_init(install).await.join("bin/python")
}

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

/// What the Python SDK sees of a debug session when it speaks in this mode.
async fn python_session(mode: &str) -> Value {
    let python = sdk().await;
    let (shop, naps) = (Fixture::python("shop"), Fixture::python("naps"));
    let mark = Mark::default();
    let (name, value) = mark.variable();
    let mut client = command(python);
    client.arg(repository().join("crates/stillframe/tests/mcp/sdk_client.py"));
    client.args([
        mode,
        shop.path(),
        &shop.line("call").to_string(),
        naps.path(),
        STILLFRAME.program,
        "serve",
    ]);
    client.env(name, value).env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
    client.env("STILLFRAME_LOG_FILE", "off");
    let done = must_succeed(&mut client).await;
    mark.assert_gone_within(Duration::from_secs(2));
    let mut seen: Value = serde_json::from_slice(&done.stdout).expect("the client prints JSON");
    assert_eq!(seen["stopped"].take(), shop.line("call"));
    seen
}

/// The same in both eras, but for the revision.
fn expected(revision: &str) -> Value {
    json!({
        "revision": revision,
        "tools": 31,
        "verified": false,
        "stopped": null,
        "text": true,
        "value": "6",
        "inside": "total",
        "outside": "check_out",
        "failed": [true, "evaluation_failed"],
        "wrong": [true, "invalid_arguments"],
        "unknown": -32602,
        "listed": true,
        "ended": "ended",
        "updated": true,
        "output": "checking out\nto pay: 11\nthank you\n",
        "prompt": true,
        "progress": true,
        "sessions": 0,
    })
}

#[tokio::test]
async fn the_python_sdk_debugs_after_a_handshake() {
    assert_eq!(python_session("legacy").await, expected("2025-11-25"));
}

#[tokio::test]
async fn the_python_sdk_debugs_without_a_handshake() {
    assert_eq!(python_session("2026-07-28").await, expected("2026-07-28"));
}

#[tokio::test]
async fn the_python_sdk_chooses_the_later_revision_by_itself() {
    assert_eq!(python_session("auto").await, expected("2026-07-28"));
}

/// Runs the inspector's command line in an era of the protocol.
async fn inspect(era: &str, arguments: &[&str]) -> (Option<i32>, Value) {
    let folder = inspector().await;
    // It writes into its user's home.
    let home = tempfile::tempdir().expect("a temporary folder");
    let node = folder.join("node_modules/node/bin");
    let path = std::env::var("PATH").expect("a path");
    let mark = Mark::default();
    let (name, value) = mark.variable();
    let mut client = command(node.join("node"));
    client.arg(folder.join("node_modules/.bin/mcp-inspector"));
    client.args(["--cli", "-q", "--format", "json", "--protocol-era", era, STILLFRAME.program, "serve"]);
    client.args(arguments).env("HOME", home.path()).env("PATH", format!("{}:{path}", node.display()));
    let done = run(client.env(name, value)).await;
    mark.assert_gone_within(Duration::from_secs(2));
    (done.status.code(), serde_json::from_slice(&done.stdout).unwrap_or_default())
}

/// The eras that the inspector knows.
const ERAS: [&str; 3] = ["legacy", "auto", "modern"];

#[tokio::test]
async fn the_inspector_finds_nothing_wrong_with_the_tools() {
    for era in ERAS {
        let (code, list) = inspect(era, &["--method", "tools/list", "--strict"]).await;
        assert_eq!(code, Some(0), "{era}: {list}");
        assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(31), "{era}");
    }
}

#[tokio::test]
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
async fn the_inspector_sees_a_failed_call_as_one() {
    for era in ERAS {
        let call = ["--method", "tools/call", "--tool-name", "set_breakpoint", "--tool-arg", "lin=3"];
        let (code, called) = inspect(era, &call).await;
        // Its code for an answer that is marked as an error.
        assert_eq!(code, Some(5), "{era}: {called}");
        assert_eq!(called["result"]["structuredContent"]["code"], "invalid_arguments", "{era}");
    }
}

#[tokio::test]
async fn the_inspector_lists_prompts_and_resources() {
    for era in ERAS {
        let (code, prompts) = inspect(era, &["--method", "prompts/list"]).await;
        assert_eq!((code, &prompts["result"]["prompts"][0]["name"]), (Some(0), &json!("debug")), "{era}");
        let (code, resources) = inspect(era, &["--method", "resources/list"]).await;
        assert_eq!((code, &resources["result"]["resources"]), (Some(0), &json!([])), "{era}");
        let (code, templates) = inspect(era, &["--method", "resources/templates/list"]).await;
        let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
        assert_eq!((code, template), (Some(0), &json!("stillframe://sessions/{sessionId}/output")), "{era}");
    }
}
