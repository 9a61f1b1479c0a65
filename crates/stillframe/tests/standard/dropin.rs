//! What clients of mcp-debugger 0.24 send and read, beside what is our own.

mod arguments;
mod attaching;
mod functions;
mod sessions;
mod stops;

use serde_json::{Value, json};
use test_support::{Fixture, Language};

use crate::debugging::Debugging;

fn bank(language: Language) -> Fixture {
    Fixture::of(language, "bank")
}

async fn listed(session: &Debugging) -> Value {
    let listed = session.ok("list_debug_sessions", json!({})).await;
    let sessions = listed["sessions"].as_array().expect("a list");
    sessions.iter().find(|entry| entry["id"] == session.id).cloned().expect("it is listed")
}

/// Asks for the session's state again and again until it is this one, as clients do that continue without a wait.
async fn polled(session: &Debugging, state: &str) -> Value {
    loop {
        let entry = listed(session).await;
        if entry["state"] == state {
            return entry;
        }
    }
}
