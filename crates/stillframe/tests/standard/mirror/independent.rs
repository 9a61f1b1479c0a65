//! A client of DAP that others have written: the one that tests of VS Code's debuggers use.

use std::process::Stdio;

use serde_json::{Value, json};
use test_support::{Language, each, repository, toolchains};

use super::editor::expose;
use crate::debugging::{Debugging, Report};

each![an_independent_dap_client_inspects_and_controls_a_session];

/// What the client saw.
#[expect(
    clippy::disallowed_methods,
    reason = "a client of the server, which ends with the test at the latest"
)]
async fn client(port: String, token: String) -> Value {
    let modules = toolchains().await;
    let script = repository().join("crates/stillframe/tests/standard/mirror/independent.cjs");
    let mut client = tokio::process::Command::new(modules.join("node22/bin/node"));
    client.arg(script).arg(&modules).args([port, token]).kill_on_drop(true).stdin(Stdio::null());
    let done = client.output().await.expect("Node.js runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).expect("the client prints JSON")
}

async fn an_independent_dap_client_inspects_and_controls_a_session(language: Language) {
    let (program, session) = Debugging::paused(language, "steps", "call").await;
    let exposed = expose(&session, json!({ "control": true })).await;
    let observed = client(exposed["port"].to_string(), exposed.text_of("token").to_owned()).await;
    let path = program.path();
    assert_eq!(
        observed,
        json!({
            "refused": true,
            "stopped": ["breakpoint", path, program.line("call")],
            "stepped": ["step", path, language.entry(&program, "double")],
            "number": "4",
            "doubled": "8",
            "resumed": true,
        })
    );
    // What the person did is what the agent finds.
    let found = session.go_on().await;
    assert_eq!(found.place(), (path, language.entry(&program, "double")));
    session.finish().await;
}
