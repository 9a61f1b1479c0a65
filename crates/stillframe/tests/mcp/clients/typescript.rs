//! The official TypeScript SDKs: 1.x and 2.x.

use serde_json::{Value, json};
use test_support::{Fixture, repository, toolchains};

use super::{TransportKind, command, must_succeed};

/// What an SDK sees of a debug session.
async fn session(sdk: &str, mode: &str, way: TransportKind) -> Value {
    let modules = toolchains().await;
    let shop = Fixture::python("shop");
    let mut client = command(modules.join("node22/bin/node"));
    client.arg(repository().join("crates/stillframe/tests/mcp/sdk_client.mjs")).arg(&modules);
    client.args([sdk, mode, shop.path(), &shop.line("call").to_string()]);
    way.tell(&mut client).await;
    let done = must_succeed(&mut client).await;
    way.finish().await;
    serde_json::from_slice(&done.stdout).expect("the client prints JSON")
}

fn expected(revision: Option<&str>) -> Value {
    json!({
        "revision": revision,
        "tools": 35,
        "stopped": Fixture::python("shop").line("call"),
        "stack": ["check_out", "main", "<module>"],
        "locals": ["basket", "prices"],
        "value": "6",
        "inside": "total",
        "outside": "check_out",
        "failed": [true, "evaluation_failed"],
        "ended": ["ended", "to pay: 11\nthank you\n"],
        "sessions": 0,
    })
}

#[tokio::test]
async fn the_first_typescript_sdk_debugs_over_both_transports() {
    let [pipes, http] = TransportKind::both().await;
    // It exposes the revision only if that is sent in a header.
    assert_eq!(session("sdk", "legacy", pipes).await, expected(None));
    assert_eq!(session("sdk", "legacy", http).await, expected(Some("2025-11-25")));
}

#[tokio::test]
async fn the_second_typescript_sdk_debugs_over_both_transports_in_both_eras() {
    for (mode, revision) in [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")] {
        for way in TransportKind::both().await {
            assert_eq!(session("client", mode, way).await, expected(Some(revision)), "{mode}");
        }
    }
}
