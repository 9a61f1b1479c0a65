//! `tools`, `completions`, `manual`, and readers that have seen enough.

use std::process::Stdio;

use serde_json::json;
use test_support::Fixture;

use crate::{STILLFRAME, folder, stillframe};

const REFERENCE: [&str; 16] = [
    "create_debug_session",
    "list_debug_sessions",
    "close_debug_session",
    "set_breakpoint",
    "start_debugging",
    "step_over",
    "step_into",
    "step_out",
    "continue_execution",
    "pause_execution",
    "get_stack_trace",
    "get_scopes",
    "get_variables",
    "get_local_variables",
    "evaluate_expression",
    "get_source_context",
];

#[tokio::test]
async fn tools_are_listed_with_their_parameters() {
    let ran = stillframe(["tools"]).await.ended_with(0);
    assert!(ran.out.starts_with("toolset standard\n"), "{}", ran.out);
    for name in REFERENCE {
        assert!(ran.out.contains(&format!("\n  {name}\n")), "{name}: {}", ran.out);
    }
    assert!(ran.out.contains("    sessionId, frameId\n"), "{}", ran.out);
}

#[tokio::test]
async fn tools_as_json_have_schemas_and_correct_annotations() {
    let ran = stillframe(["tools", "--json"]).await.ended_with(0);
    let toolsets = ran.json();
    assert_eq!(toolsets[0]["name"], "standard");
    let tools = toolsets[0]["tools"].as_array().unwrap();
    for name in REFERENCE {
        assert!(tools.iter().any(|tool| tool["name"] == name), "{name}");
    }
    for tool in tools {
        for field in ["title", "description"] {
            assert!(!tool[field].as_str().unwrap_or_default().is_empty(), "{field}: {tool}");
        }
        for field in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[field]["type"], "object", "{field}: {tool}");
        }
        let reads = ["get_", "list_"].iter().any(|start| tool["name"].as_str().unwrap().starts_with(start));
        assert_eq!(tool["readOnly"], json!(reads), "{}", tool["name"]);
    }
}

#[tokio::test]
async fn completions_exist_for_common_shells() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = stillframe(["completions", shell]).await.ended_with(0);
        assert!(ran.out.contains("stillframe") && ran.out.contains("probe"), "{shell}: {}", ran.out);
        assert!(!ran.out.contains("match-sources") && !ran.out.contains("relayed"), "{shell}: {}", ran.out);
    }
}

#[tokio::test]
async fn closing_standard_output_early_does_not_change_the_exit_code() {
    let program = Fixture::python("endings");
    let table: [(&[&str], i32); 5] = [
        (&["tools"], 0),
        (&["tools", "--json"], 0),
        (&["completions", "bash"], 0),
        (&["probe", program.path(), "--", "raise"], 4),
        (&["test", "--", "python3", program.path(), "raise"], 4),
    ];
    for (arguments, code) in table {
        let mut command = STILLFRAME.command();
        command.args(arguments).env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().await.unwrap();
        assert!(!String::from_utf8_lossy(&ended.stderr).contains("error"), "{arguments:?}: {ended:?}");
        assert_eq!(ended.status.code(), Some(code), "{arguments:?}: {ended:?}");
    }
}

#[tokio::test]
async fn the_version_is_printed() {
    let ran = stillframe(["--version"]).await.ended_with(0);
    assert_eq!(ran.out, format!("stillframe {}\n", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn manual_has_a_page_for_each_command() {
    let folder = folder();
    stillframe(["manual", folder.path().to_str().unwrap()]).await.ended_with(0);
    for page in ["stillframe.1", "stillframe-init.1", "stillframe-debug-step.1"] {
        let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    assert!(!folder.path().join("stillframe-manual.1").exists(), "it is for packages");
}
