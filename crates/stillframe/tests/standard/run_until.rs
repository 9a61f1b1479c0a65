//! `run_until`: one call, from nothing to the values at a place.

mod closing;
mod locations;

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Language, Server};

/// `run_until` with the bank.
async fn run(server: &Server, language: Language, mut arguments: Value) -> Answer {
    arguments["program"] = json!(Fixture::of(language, "bank").path());
    server.ok("run_until", arguments).await
}

/// A value, without the address that C shows before a text.
fn plain(language: Language, value: &Value) -> Value {
    value.as_str().map_or(Value::Null, |value| json!(language.plain(value)))
}

async fn open_sessions(server: &Server) -> Value {
    server.ok("list_debug_sessions", json!({})).await["count"].clone()
}
