//! Which machines are attached to.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::{Scene, serve};

#[tokio::test]
async fn only_loopback_is_attached_to_unless_remote_hosts_are_allowed() {
    let scene = Scene::new();
    let server = serve(&[], &scene.inside).await;
    let far =
        ["0.0.0.0", "10.255.255.1", "::", "example.invalid", "169.254.169.254", "127.1", "[::ffff:10.0.0.1]"];
    for language in ["python", "javascript"] {
        for host in far {
            let arguments = json!({ "language": language, "host": host, "port": 9 });
            let refused = server.fails("not_allowed", "create_debug_session", arguments).await;
            assert!(refused.text.contains("is not this machine"), "{}", refused.text);
            let session = server.ok("create_debug_session", json!({ "language": language })).await;
            let arguments = json!({ "sessionId": session["sessionId"], "host": host, "port": 9 });
            server.fails("not_allowed", "attach_to_process", arguments).await;
            server.ok("close_debug_session", json!({ "sessionId": session["sessionId"] })).await;
        }
        for host in ["127.0.0.1", "localhost", "::1"] {
            let arguments = json!({ "language": language, "host": host, "port": 9 });
            let failed = server.call("create_debug_session", arguments).await;
            assert!(failed.is_error && failed["code"] != "not_allowed", "{host}: {}", failed.text);
        }
    }
    server.finish().await;
    let server = serve(&["--allow-remote-attach"], &scene.inside).await;
    let arguments = json!({ "language": "javascript", "host": "0.0.0.0", "port": 9 });
    let failed = server.call("create_debug_session", arguments).await;
    assert!(failed.is_error && failed["code"] != "not_allowed", "{}", failed.text);
    server.finish().await;
}

/// What an inspector says of where it is leads nowhere else.
#[tokio::test]
async fn an_inspector_that_names_another_host_is_reached_at_the_original_one() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let elsewhere = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let other = elsewhere.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let mut arguments = Vec::new();
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).await.unwrap();
            arguments.push(
                String::from_utf8_lossy(&request[..read]).lines().next().unwrap_or_default().to_owned(),
            );
            let body = json!([{ "title": "x", "url": "", "webSocketDebuggerUrl": format!("ws://127.0.0.1:{other}/stolen") }]).to_string();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        arguments
    });
    let scene = Scene::new();
    let server = serve(&[], &scene.inside).await;
    let failed = server.call("create_debug_session", json!({ "language": "javascript", "port": port })).await;
    assert!(failed.is_error, "{}", failed.text);
    let arguments = served.await.unwrap();
    assert_eq!(arguments, ["GET /json/list HTTP/1.1", "GET /stolen HTTP/1.1"]);
    let nobody = futures_util::FutureExt::now_or_never(elsewhere.accept());
    assert!(nobody.is_none(), "nobody was sent there");
    server.finish().await;
}
