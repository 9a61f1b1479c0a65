//! The official TypeScript SDKs: 1.x and 2.x.

use serde_json::{Value, json};
use test_support::{Fixture, repository, rows_to_try, toolchains};

use super::{Over, TransportKind, command, must_succeed, over_both};

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
    // It exposes the revision only if that is sent in a header.
    for (over, revision) in [(Over::Pipes, None), (Over::Http, Some("2025-11-25"))] {
        assert_eq!(session("sdk", "legacy", over.begin().await).await, expected(revision));
    }
}

/// On each push, one over each transport.
#[tokio::test]
async fn the_second_typescript_sdk_debugs_over_both_transports_in_both_eras() {
    let begins = [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")];
    for (mode, revision, over) in rows_to_try(over_both(begins), 3) {
        assert_eq!(session("client", mode, over.begin().await).await, expected(Some(revision)), "{mode}");
    }
}
