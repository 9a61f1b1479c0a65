//! The official Python SDK.

use std::path::PathBuf;

use serde_json::{Value, json};
use test_support::{Fixture, repository, rows_to_try};
use tokio::sync::OnceCell;

use super::{TransportKind, command, installed, must_succeed, over_both};

/// The SDK, as pip knows it.
const SDK: &str = "mcp==2.3.0";

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

/// What the Python SDK sees of a debug session when it speaks in this mode.
async fn session(mode: &str, way: TransportKind) -> Value {
    let python = sdk().await;
    let (shop, naps) = (Fixture::python("shop"), Fixture::python("naps"));
    let mut client = command(python);
    client.arg(repository().join("crates/stillframe/tests/mcp/sdk_client.py"));
    client.args([mode, shop.path(), &shop.line("call").to_string(), naps.path()]);
    way.tell(&mut client).await;
    let done = must_succeed(&mut client).await;
    way.finish().await;
    let mut observed: Value = serde_json::from_slice(&done.stdout).expect("the client prints JSON");
    assert_eq!(observed["stopped"].take(), shop.line("call"));
    observed
}

/// The same in both eras, but for the revision.
fn expected(revision: &str) -> Value {
    json!({
        "revision": revision,
        "tools": 35,
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

/// How it begins, and the revision that comes of it. On each push, one over each transport.
#[tokio::test]
async fn the_python_sdk_debugs_over_both_transports_in_both_eras() {
    let begins = [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")];
    for (mode, revision, over) in rows_to_try(over_both(begins), 3) {
        assert_eq!(session(mode, over.begin().await).await, expected(revision), "{mode}");
    }
}
