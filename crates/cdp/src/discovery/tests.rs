use tokio::net::TcpListener;

use super::*;

const SOON: Duration = Duration::from_secs(5);

#[test]
fn addresses_are_parsed_and_printed() {
    let table = [
        ("ws://127.0.0.1:9229/a-b", Some(("127.0.0.1", 9229, "a-b"))),
        ("ws://[::1]:1/x", Some(("::1", 1, "x"))),
        ("ws://localhost:65535/x", Some(("localhost", 65535, "x"))),
        ("ws://localhost:65536/x", None),
        ("ws://localhost/x", None),
        ("ws://:9229/x", None),
        ("ws://localhost:9229/", None),
        ("ws://localhost:9229", None),
        ("ws://localhost:9229/x y", None),
        ("ws://localhost:9229/x\r\nHost: y", None),
        ("wss://localhost:9229/x", None),
        ("http://localhost:9229/x", None),
        ("", None),
    ];
    for (text, expected) in table {
        let address = text.parse::<Address>().ok();
        let parts =
            address.as_ref().map(|address| (address.host.as_str(), address.port, address.id.as_str()));
        assert_eq!(parts, expected, "{text}");
        if let Some(address) = address {
            assert_eq!(address.to_string(), text);
        }
    }
}

#[test]
fn the_line_that_node_prints_is_recognized() {
    let address = "ws://127.0.0.1:39793/40916d47-af58-4fb5-8c68-737093ec142b";
    let table = [
        (format!("Debugger listening on {address}"), true),
        (format!("Debugger listening on {address}\r\n"), true),
        (format!("progress 3%Debugger listening on {address}\n"), true),
        (format!("Debugger ending on {address}"), false),
        ("Debugger listening on ".to_owned(), false),
        ("For help, see: https://nodejs.org/en/docs/inspector".to_owned(), false),
    ];
    for (line, expected) in table {
        let found = listening(&line).map(|address| address.to_string());
        assert_eq!(found, expected.then(|| address.to_owned()), "{line}");
    }
}

#[test]
fn response_body_is_found_once_complete() {
    let whole = b"HTTP/1.0 200 OK\r\nContent-Type: a\r\ncontent-length: 3\r\n\r\n[ ]";
    for cut in 0..whole.len() {
        assert_eq!(body(&whole[..cut]), Ok(None), "after {cut} bytes");
    }
    assert_eq!(body(whole), Ok(Some(&b"[ ]"[..])));
    let table: &[(&[u8], &str)] = &[
        (b"SSH-2.0-OpenSSH", "the response is not HTTP"),
        (b"\x16\x03\x01", "the response is not HTTP"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n[]", "the response has no list of targets"),
        (b"HTTP/1.1 200 OK\r\n\r\n[]", "the response has no `Content-Length`"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n[]", "the response has no `Content-Length`"),
        (b"HTTP/1.1 200 \xff\r\n\r\n[]", "the response is not HTTP"),
    ];
    for (response, expected) in table {
        assert_eq!(body(response), Err(*expected), "{}", String::from_utf8_lossy(response));
    }
}

#[test]
fn targets_are_reached_at_the_requested_host() {
    let json = br#"[{"description":"node.js instance","id":"a","title":"a.js","type":"node",
        "url":"file:///a.js","webSocketDebuggerUrl":"ws://localhost:9229/a"}]"#;
    let address = Address { host: "::1".to_owned(), port: 7, id: "a".to_owned() };
    let target = Target { address, title: "a.js".to_owned(), url: "file:///a.js".to_owned() };
    assert_eq!(parse_targets(json, "::1", 7), Ok(vec![target]));
    assert_eq!(parse_targets(b"[]", "::1", 7), Ok(vec![]));
    for json in [&b"{}"[..], b"", b"[{}]", br#"[{"webSocketDebuggerUrl":"ws://a:1/../b"}]"#] {
        assert!(parse_targets(json, "::1", 7).is_err(), "{}", String::from_utf8_lossy(json));
    }
}

/// A server that takes one connection, reads a request and answers it so.
async fn server(answer: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert_ne!(stream.read(&mut [0; 1024]).await.unwrap(), 0);
        // The client may have had enough before the end.
        let _ = stream.write_all(&answer).await;
    });
    port
}

#[tokio::test]
async fn other_servers_are_not_inspectors() {
    let endless = [b"HTTP/1.1 200 OK\r\n".to_vec(), vec![b'x'; MAX_RESPONSE + 1]].concat();
    let table: [(&[u8], &str); 4] = [
        (b"", "the response is incomplete"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[]", "the response is incomplete"),
        (b"220 mail.example\r\n", "the response is not HTTP"),
        (&endless, "the response is too long"),
    ];
    for (answer, expected) in table {
        let port = server(answer.to_vec()).await;
        let error = targets("127.0.0.1", port, SOON).await.unwrap_err();
        let ConnectError::NotAnInspector { reason, .. } = error else { panic!("{error}") };
        assert_eq!(reason, expected);
        let port = server(answer.to_vec()).await;
        let address = Address { host: "127.0.0.1".to_owned(), port, id: "x".to_owned() };
        let Err(error) = crate::connect(&address, SOON).await else { panic!("no WebSocket is there") };
        assert!(matches!(error, ConnectError::NotAnInspector { .. }), "{error}");
    }
}

#[tokio::test]
async fn silent_server_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = Address {
        host: "127.0.0.1".to_owned(),
        port: listener.local_addr().unwrap().port(),
        id: "x".to_owned(),
    };
    let deadline = Duration::from_millis(50);
    let listed = targets(&address.host, address.port, deadline).await.map(|_| ());
    let connected = crate::connect(&address, deadline).await.map(|_| ());
    drop(listener);
    let refused = targets(&address.host, address.port, SOON).await.map(|_| ());
    for error in [listed.unwrap_err(), connected.unwrap_err()] {
        assert!(matches!(error, ConnectError::Deadline { .. }), "{error}");
    }
    let ConnectError::Io { source, .. } = refused.unwrap_err() else { panic!("nobody listens") };
    assert_eq!(source.kind(), std::io::ErrorKind::ConnectionRefused);
}
