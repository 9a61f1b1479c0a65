//! Clients that come and go.

use futures_util::StreamExt;
use serde_json::{Value, json};
use test_support::{Fixture, HttpServer, quiet, say, settled};

use crate::{AT_ONCE, Amount, language};

/// After how many seconds a client that says nothing has gone.
const SILENCE: &str = "3";

/// Each debugs a program, and leaves it paused: two of three say that they leave, the other just is not there any
/// more. Every second one listens to the end.
async fn come_and_go(server: &HttpServer, clients: usize) {
    let one = async |number: usize| {
        let client = server.client().await;
        let listening = if number.is_multiple_of(2) { Some(client.listen(None).await) } else { None };
        let program = Fixture::of(language(number / 2), "swap_vars");
        let until = json!([{ "line": program.line("call") }]);
        let run = json!({ "program": program.path(), "until": until, "timeout": 60_000 });
        let stopped = client.ok("run_until", run).await;
        let arguments = json!({ "sessionId": stopped["sessionId"], "expression": "x + y" });
        assert_eq!(client.ok("evaluate_expression", arguments).await["result"], "30");
        drop(listening);
        if !number.is_multiple_of(3) {
            assert_eq!(client.delete().await, 204);
        }
    };
    futures_util::stream::iter((0..clients).map(one)).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}

/// Whether a server counts no more of anything than before.
fn is_within(health: &Value, before: &Value) -> bool {
    let counts = ["clients", "debugSessions", "processes", "tasks"];
    counts.iter().all(|count| health[count].as_u64() <= before[count].as_u64())
}

#[tokio::test]
async fn a_server_of_many_clients_leaks_nothing() {
    let Amount { clients, .. } = Amount::wanted();
    let server = crate::STILLFRAME.http().await.args(&["--session-idle", SILENCE]).start().await;
    come_and_go(&server, 12).await;
    server.healthy(|health| health["clients"] == 0 && health["processes"] == 0).await;
    let (before, held) = (quiet(server.pid()).await, server.health().await);
    say(&format!("\nbefore: {before}; {held}\n"));

    come_and_go(&server, clients).await;
    server.healthy(|health| is_within(health, &held)).await;
    let (after, holds) = (settled(server.pid(), &before).await, server.health().await);
    let growth = after.growth_since(&before);
    say(&format!("after {clients} clients: {after}; {holds}; grown by {growth} KB\n"));
    assert!(after.is_within(&before), "{before} before, {after} after");
    assert!(growth < crate::GROWTH, "{before} before, {after} after");
    server.finish().await;
}
