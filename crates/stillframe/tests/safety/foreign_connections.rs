//! A foreign process connects to the port that a program should connect to.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use test_support::{DynamicLanguage as Language, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{Scene, listening, serve};

/// The ports on which the server itself listens.
fn ports_of(server: &Server) -> BTreeSet<u16> {
    let port = |address: String| {
        assert!(address.starts_with("0100007F:"), "it listens on the loopback only: {address}");
        u16::from_str_radix(address.rsplit(':').next().unwrap(), 16).unwrap()
    };
    listening(server.pid()).into_iter().map(port).collect()
}

#[tokio::test]
async fn a_foreign_process_that_connects_first_is_not_accepted() {
    let scene = Scene::new();
    // The interpreter takes its time, so that the strangers come first.
    let slow = scene.inside("slow-python");
    let python = "#!/bin/sh\ncase \"$*\" in *stillframe_launch*) while [ ! -e \"$GO\" ]; do sleep 0.05; done;; esac\nexec python3 \"$@\"\n";
    std::fs::write(&slow, python).unwrap();
    std::fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = scene.program(Language::Python, "hello", "word = 'real'\nprint(word)\n");
    let server = serve(&[], &scene.inside).await;
    let go = scene.inside("go");
    let create = json!({ "language": "python", "executablePath": slow });
    let session = server.ok("create_debug_session", create).await;
    let id = session.text_of("sessionId").to_owned();
    server.ok("set_breakpoint", json!({ "sessionId": id, "file": program, "line": 2 })).await;
    let arguments = json!({ "sessionId": id, "scriptPath": program, "env": { "GO": go } });
    let started = server.ok("start_debugging", arguments);
    let strangers = async {
        let mut port = None;
        while port.is_none() {
            // sleep: there is no event for an open port, so it is polled.
            tokio::time::sleep(Duration::from_millis(10)).await;
            port = ports_of(&server).into_iter().next();
        }
        let location = ("127.0.0.1", port.unwrap());
        let mut garbage = TcpStream::connect(location).await.unwrap();
        garbage.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let silent = TcpStream::connect(location).await.unwrap();
        // One who speaks the protocol, and does not know the secret.
        let mut speaks = TcpStream::connect(location).await.unwrap();
        let mut request = vec![0; 4096];
        let read = speaks.read(&mut request).await.unwrap();
        assert!(String::from_utf8_lossy(&request[..read]).contains("pydevdAuthorize"));
        let body = json!({
            "seq": 1, "type": "response", "request_seq": 1, "success": true, "command": "pydevdAuthorize",
            "body": { "clientAccessToken": "0123456789abcdef" },
        })
        .to_string();
        speaks.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
        let turned_away = speaks.read(&mut request).await;
        assert!(matches!(turned_away, Ok(0) | Err(_)), "{turned_away:?}");
        std::fs::write(&go, "").unwrap();
        (garbage, silent)
    };
    let (started, _strangers) = tokio::join!(started, strangers);
    let stopped = if started["reason"] == "breakpoint" {
        started
    } else {
        server.ok("continue_execution", json!({ "sessionId": id })).await
    };
    assert_eq!(stopped["reason"], "breakpoint", "{}", stopped.text);
    let word = server.ok("evaluate_expression", json!({ "sessionId": id, "expression": "word" })).await;
    assert_eq!(word["result"], "'real'");
    // The program knows nothing of the secret by then.
    let request = json!({ "sessionId": id, "expression": "'STILLFRAME_TOKEN' in __import__('os').environ" });
    assert_eq!(server.ok("evaluate_expression", request).await["result"], "False");
    server.finish().await;
}
