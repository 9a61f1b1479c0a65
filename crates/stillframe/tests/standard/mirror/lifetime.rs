//! How long a session is exposed.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Language, each};
use tokio::net::TcpStream;

use super::editor::{Editor, expose, port};
use crate::debugging::Debugging;

each![
    a_session_is_exposed_until_it_is_withdrawn,
    the_end_of_the_program_ends_the_exposure,
    a_restart_ends_the_exposure,
    closing_the_session_ends_the_exposure,
];

/// The port is closed. The system may take a moment to refuse connections.
async fn is_closed(port: u16) {
    while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

async fn exposure(session: &Debugging) -> Value {
    session.server.ok("list_debug_sessions", json!({})).await.at("/sessions/0/exposure").clone()
}

async fn stopped(language: Language) -> Debugging {
    Debugging::stopped_at(&Fixture::of(language, "bank"), "deposit").await.0
}

fn same(one: &Answer, other: &Answer) -> bool {
    one["port"] == other["port"] && one["token"] == other["token"]
}

async fn a_session_is_exposed_until_it_is_withdrawn(language: Language) {
    let session = Debugging::of(language).await;
    let early = session.fails("not_started", "expose_session", json!({})).await;
    assert!(early.text_of("error").contains("start_debugging"), "{}", early.text);
    let program = Fixture::of(language, "bank");
    session.break_at(&program, "deposit").await;
    session.start(&program).await;
    assert_eq!(exposure(&session).await, Value::Null);

    let first = expose(&session, json!({})).await;
    assert_eq!((&first["host"], &first["state"]), (&json!("127.0.0.1"), &json!("paused")));
    let token = first.text_of("token");
    assert_eq!((token.len(), &first["hidden"]), (64, &Value::Null));
    let configuration = first.at("/configuration");
    assert_eq!(
        (&configuration["debugServer"], &configuration["request"]),
        (&first["port"], &json!("attach"))
    );
    assert_eq!(configuration["mirrorToken"], first["token"]);
    let listed = exposure(&session).await;
    assert_eq!(listed, json!({ "host": "127.0.0.1", "port": first["port"] }));

    assert!(same(&first, &expose(&session, json!({})).await), "a second call changes nothing");
    let other = expose(&session, json!({ "control": true })).await;
    assert!(!same(&first, &other), "another permission is another port");
    assert!(same(&other, &expose(&session, json!({})).await));
    is_closed(port(&first)).await;

    let mut editor = Editor::attached(&other).await;
    editor.stopped().await;
    let undone = session.step("unexpose_session").await;
    assert_eq!((&undone["wasExposed"], &undone["state"]), (&json!(true), &json!("paused")));
    assert_eq!(undone["message"], "The port is closed, and 1 editor was detached");
    editor.gone().await;
    is_closed(port(&other)).await;
    assert_eq!(exposure(&session).await, Value::Null);
    assert_eq!(session.step("unexpose_session").await["wasExposed"], false);
    session.step("clear_breakpoints").await;
    session.finish_at_end().await;
}

async fn the_end_of_the_program_ends_the_exposure(language: Language) {
    let session = stopped(language).await;
    let exposed = expose(&session, json!({})).await;
    let mut editor = Editor::attached(&exposed).await;
    editor.stopped().await;
    session.step("clear_breakpoints").await;
    session.run_to_the_end().await;
    editor.continued().await;
    editor.gone().await;
    is_closed(port(&exposed)).await;
    assert_eq!(exposure(&session).await, Value::Null);
    session.finish().await;
}

async fn a_restart_ends_the_exposure(language: Language) {
    let session = stopped(language).await;
    let exposed = expose(&session, json!({})).await;
    let mut editor = Editor::attached(&exposed).await;
    editor.stopped().await;
    session.step("restart_debugging").await;
    editor.gone().await;
    is_closed(port(&exposed)).await;
    assert_eq!(exposure(&session).await, Value::Null);
    let again = expose(&session, json!({})).await;
    Editor::attached(&again).await.stopped().await;
    session.finish().await;
}

async fn closing_the_session_ends_the_exposure(language: Language) {
    let session = stopped(language).await;
    let exposed = expose(&session, json!({})).await;
    let mut editor = Editor::attached(&exposed).await;
    editor.stopped().await;
    session.step("close_debug_session").await;
    editor.gone().await;
    is_closed(port(&exposed)).await;
    session.finish().await;
}

#[tokio::test]
async fn the_end_of_the_server_ends_the_exposure() {
    let session = stopped(Language::Python).await;
    let exposed = expose(&session, json!({})).await;
    let mut editor = Editor::attached(&exposed).await;
    editor.stopped().await;
    session.finish().await;
    editor.gone().await;
    is_closed(port(&exposed)).await;
}
