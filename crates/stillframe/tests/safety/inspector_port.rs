//! Where the inspectors of programs can be reached from: this machine alone, whatever a command says.

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, Server};

use crate::{Scene, listening, serve};

const PROGRAM: &str = r#"
const { spawnSync } = require("node:child_process");
const { Worker, isMainThread } = require("node:worker_threads");
const open = "--inspect=0.0.0.0:0";
if (!isMainThread) {
  console.log("worker"); // @worker
} else if (process.argv[2] === "child") {
  console.log("child"); // @child
} else if (process.argv[2] === "worker") {
  new Worker(__filename);
} else {
  const env = { ...process.env, NODE_OPTIONS: process.env.NODE_OPTIONS + " " + open };
  const words = ["--inspect-brk=0.0.0.0:0", "--inspect-port", "0.0.0.0:0", __filename, "child"];
  spawnSync(process.execPath, words, { stdio: "inherit", env });
}
"#;

/// Fails unless something listens, and only on the loopback.
fn assert_only_here(server: &Server, what: &Value) {
    let processes = server.mark().processes();
    let addresses: Vec<String> = processes.into_iter().flat_map(|(pid, _)| listening(pid)).collect();
    assert!(!addresses.is_empty(), "{what}: an inspector is open");
    let mapped = "0000000000000000FFFF00000100007F:";
    let loopback = ["0100007F:", "00000000000000000000000001000000:", mapped];
    for address in &addresses {
        assert!(loopback.iter().any(|here| address.starts_with(here)), "{what}: {addresses:?}");
    }
}

fn line_of(marker: &str) -> usize {
    PROGRAM.lines().position(|line| line.ends_with(marker)).unwrap() + 1
}

#[tokio::test]
async fn no_inspector_is_reachable_from_another_machine() {
    let scene = Scene::new();
    let program = scene.program(Language::Node, "family", PROGRAM);
    let scripts = json!({ "scripts": { "start": "node --inspect=0.0.0.0:0 family.js child" } });
    std::fs::write(scene.inside("package.json"), scripts.to_string()).unwrap();
    let server = serve(&[], &scene.inside).await;
    let script = |more: Value| {
        let mut arguments = json!({ "scriptPath": program });
        arguments.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        arguments
    };
    let table = [
        (None, script(json!({ "args": ["child"], "runtimeArgs": ["--inspect=0.0.0.0:0"] })), "// @child"),
        (None, script(json!({ "args": ["child"], "runtimeArgs": ["--inspect-brk=0.0.0.0:0"] })), "// @child"),
        (
            None,
            script(json!({ "args": ["child"], "runtimeArgs": ["--inspect", "--inspect-port=0.0.0.0:0"] })),
            "// @child",
        ),
        (
            None,
            script(json!({ "args": ["child"], "env": { "NODE_OPTIONS": "--inspect=0.0.0.0:0" } })),
            "// @child",
        ),
        (None, script(json!({ "args": ["worker"], "runtimeArgs": ["--inspect=[::]:0"] })), "// @worker"),
        (None, script(json!({})), "// @child"),
        (Some("npm"), json!({ "args": ["start"] }), "// @child"),
        (Some("sh"), json!({ "args": ["-c", "node --inspect=0.0.0.0:0 family.js child"] }), "// @child"),
    ];
    for (executable, mut arguments, marker) in table {
        let mut create = json!({ "language": "javascript" });
        if let Some(executable) = executable {
            create["executablePath"] = json!(executable);
        }
        let session = server.ok("create_debug_session", create).await;
        let id = session.text_of("sessionId").to_owned();
        server
            .ok("set_breakpoint", json!({ "sessionId": id, "file": program, "line": line_of(marker) }))
            .await;
        arguments["sessionId"] = json!(id);
        let stopped = server.ok("start_debugging", arguments.clone()).await;
        assert_eq!(stopped["reason"], "breakpoint", "{arguments}: {}", stopped.text);
        assert_only_here(&server, &arguments);
        server.ok("close_debug_session", json!({ "sessionId": id })).await;
    }
    server.finish().await;
}

/// It would wait before our hook can close it.
#[tokio::test]
async fn a_script_with_an_exposed_inspector_is_not_started() {
    let scene = Scene::new();
    scene.program(Language::Node, "family", PROGRAM);
    let scripts = json!({ "scripts": { "debug": "node --inspect-brk=0.0.0.0:0 family.js child" } });
    std::fs::write(scene.inside("package.json"), scripts.to_string()).unwrap();
    let server = serve(&[], &scene.inside).await;
    for (executable, args) in [
        ("npm", json!(["run", "debug"])),
        ("sh", json!(["-c", "node --inspect-brk=0.0.0.0:0 family.js child"])),
    ] {
        let create = json!({ "language": "javascript", "executablePath": executable });
        let session = server.ok("create_debug_session", create).await;
        let arguments = json!({ "sessionId": session["sessionId"], "args": args });
        let refused = server.fails("unsupported", "start_debugging", arguments).await;
        assert!(
            refused.text.contains("`--inspect-brk=0.0.0.0:0` opens a debugger port that other machines"),
            "{}",
            refused.text
        );
    }
    server.finish().await;
}
