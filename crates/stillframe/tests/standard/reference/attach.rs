//! `host` and `port` of `create_debug_session`.

use std::process::Stdio;

use serde_json::json;
use test_support::{Fixture, Language, each};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};

each![
    a_closed_port_is_an_error_and_leaves_no_session,
    a_host_without_a_port_is_refused_and_leaves_no_session,
];

/// A program that listens for a debugger, and its port. It ends when it is dropped.
#[expect(clippy::disallowed_methods, reason = "a program that is not ours, which ends with its input")]
pub(crate) async fn listening(program: &Fixture) -> (tokio::process::Child, u16) {
    let mut command = tokio::process::Command::new("python3");
    command.args(["-X", "frozen_modules=off", program.path()]).env("PYTHONPATH", STILLFRAME.debugpy().await);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().expect("python3 runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let port = lines.next_line().await.expect("it prints").expect("a port");
    (child, port.parse().expect("a number"))
}

#[tokio::test]
async fn a_session_with_host_and_port_attaches_at_once_and_leaves_the_program_running() {
    let program = Fixture::python("debugpy_port");
    let (mut child, port) = listening(&program).await;
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "python", "name": "Remote", "host": "127.0.0.1", "port": port, "stopOnEntry": false });
    let created = server.ok("create_debug_session", arguments).await;
    assert_eq!(
        created["message"],
        format!("Created python debug session: Remote, attached to 127.0.0.1:{port}")
    );
    assert_eq!(created["state"], "running");
    let session = Debugging { id: created.text_of("sessionId").to_owned(), server };

    assert_eq!(session.break_at(&program, "work").await["verified"], true);
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("work")));
    assert_eq!(session.evaluate("rounds >= 0").await, "True");
    session.ok("close_debug_session", json!({})).await;
    session.finish().await;

    assert_eq!(child.try_wait().unwrap(), None, "what was attached to runs on");
    drop(child.stdin.take());
    assert!(child.wait().await.unwrap().success());
}

async fn a_closed_port_is_an_error_and_leaves_no_session(language: Language) {
    let server = STILLFRAME.serve().await;
    // Bound and not listening: no other process gets the port, and none answers on it.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let arguments = json!({ "language": language.name(), "port": port });
    let failed = server.call("create_debug_session", arguments).await;
    assert!(failed.is_error, "{}", failed.text);
    assert!(failed.text_of("message").contains(&port.to_string()), "{}", failed.text);
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], 0);
    server.finish().await;
}

async fn a_host_without_a_port_is_refused_and_leaves_no_session(language: Language) {
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": language.name(), "host": "127.0.0.1" });
    let failed = server.fails("invalid_arguments", "create_debug_session", arguments).await;
    assert_eq!(failed["error"], "`host` needs `port`");
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], 0);
    server.finish().await;
}
