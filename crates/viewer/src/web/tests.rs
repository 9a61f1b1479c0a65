//! Requests to the routes, without a browser.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use axum::body::{Body, to_bytes};
use axum::http::header::{ALLOW, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, Request};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tower::ServiceExt;

use super::*;

/// A journal that is written, and the server of its page.
struct Served {
    path: PathBuf,
    server: Server,
    _folder: TempDir,
}

impl Served {
    async fn new(entries: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        write(&path, entries);
        let server = Server::open(&path, &Options::default()).await.unwrap();
        Self { path, server, _folder: folder }
    }

    fn port(&self) -> u16 {
        self.server.listener.local_addr().unwrap().port()
    }

    fn cookie(&self) -> String {
        self.server.site.guard.cookie().split(';').next().unwrap().to_owned()
    }

    async fn answer(&self, request: Request<Body>) -> (StatusCode, HeaderMap, String) {
        let response = router(Arc::clone(&self.server.site)).oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        (parts.status, parts.headers, String::from_utf8(body.to_vec()).unwrap())
    }

    /// What a page of this server asks.
    async fn get(&self, path: &str) -> (StatusCode, HeaderMap, String) {
        let host = format!("127.0.0.1:{}", self.port());
        let request = Request::get(path).header(HOST, host).header(COOKIE, self.cookie());
        self.answer(request.body(Body::empty()).unwrap()).await
    }

    async fn json(&self, path: &str) -> Value {
        let (status, _, body) = self.get(path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// The places of rows, and what is before and behind them.
    async fn places(&self, path: &str) -> (Vec<i64>, Option<i64>, Option<i64>) {
        let page = self.json(path).await;
        let locations = page["rows"].as_array().unwrap().iter().map(|row| row["at"].as_i64().unwrap());
        (locations.collect(), page["older"].as_i64(), page["newer"].as_i64())
    }
}

fn write(path: &Path, entries: &[Value]) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    for entry in entries {
        writeln!(file, "{entry}").unwrap();
    }
}

fn entry(time: i64, session: &str, message: &str, mut more: Value) -> Value {
    let mut entry = json!({
        "timestamp": time, "time": "", "level": "info", "namespace": "n", "message": message,
        "sessionId": format!("{session}-id"), "sessionName": session,
    });
    entry.as_object_mut().unwrap().append(more.as_object_mut().unwrap());
    entry
}

fn paused(time: i64, session: &str, line: u32) -> Value {
    let target_location = json!({ "file": "/tmp/main.py", "line": line, "function": "f", "frameId": 1 });
    let source = json!({ "firstLine": 1, "lines": ["def f():", "    \u{1b}[31mreturn 1  # <b>"] });
    let more = json!({ "event": "paused", "reason": "breakpoint", "location": target_location, "stack": [target_location], "source": source });
    entry(time, session, "debug:state", more)
}

fn variables(time: i64, value: &str) -> Value {
    let one = json!({ "name": "x", "type": "int", "value": value });
    let more = json!({ "frameId": 1, "scope": "Locals", "variablesReference": 0, "variableCount": 1, "variables": [one] });
    entry(time, "one", "debug:variables", more)
}

fn output(time: i64, session: &str, text: &str) -> Value {
    entry(time, session, "debug:output", json!({ "category": "stdout", "output": text }))
}

/// Eleven entries, of which two are answers; the last call has none.
fn story() -> Vec<Value> {
    let call = |time, session, tool: &str, id: &str| {
        entry(time, session, "tool:call", json!({ "tool": tool, "callId": id, "request": {} }))
    };
    let wrong = json!({ "tool": "look", "callId": "c2", "error": "it is gone" });
    let right =
        json!({ "tool": "start", "callId": "c1", "success": true, "response": { "secret": "needle" } });
    let breakpoint = json!({ "event": "set", "breakpointId": "bp-1", "file": "/tmp/main.py", "line": 2, "verified": true });
    vec![
        entry(1_000, "one", "session:created", json!({ "language": "python" })),
        call(1_100, "one", "start", "c1"),
        entry(1_200, "one", "debug:breakpoint", breakpoint),
        paused(1_900, "one", 1),
        variables(1_950, "1"),
        entry(2_000, "one", "tool:response", right),
        paused(3_000, "one", 2),
        variables(3_001, "2"),
        call(3_100, "two", "look", "c2"),
        entry(3_350, "two", "tool:error", wrong),
        output(3_400, "two", "<script>\u{1b}]0;title\u{7}\u{202e}hello\n"),
    ]
}

/// The hosts, the cookies, the origin of a request, and what it is answered.
type Asked<'a> = (&'a [&'a str], Option<&'a str>, Option<&'a str>, StatusCode);

#[tokio::test]
async fn only_local_requests_with_the_token_are_answered() {
    let served = Served::new(&story()).await;
    let (port, cookie) = (served.port(), served.cookie());
    let token = cookie.split('=').nth(1).unwrap();
    let here = format!("127.0.0.1:{port}");
    let (local, other_port) = (format!("localhost:{port}"), format!("127.0.0.1:{}", port ^ 1));
    let (origin, local_origin) = (format!("http://{here}"), format!("http://{local}"));
    let wrong = format!("stillframe-{port}={}", "0".repeat(token.len()));
    let beside = format!("a=b; {cookie}; c=d");
    let [no, yes] = [StatusCode::FORBIDDEN, StatusCode::OK];
    let table: &[Asked<'_>] = &[
        (&[&here], Some(&cookie), None, yes),
        (&[&local], Some(&beside), None, yes),
        (&[&here], Some(&cookie), Some(&origin), yes),
        (&[&here], Some(&cookie), Some(&local_origin), yes),
        (&[&here], None, None, no),
        (&[&here], Some(&wrong), None, no),
        (&[&here], Some(token), None, no),
        (&[&here], Some(&format!("stillframe-{port}=")), None, no),
        (&[&here], Some(&format!("stillframe-{port}={}", &token[1..])), None, no),
        (&[], Some(&cookie), None, no),
        (&[&here, &here], Some(&cookie), None, no),
        (&["127.0.0.1"], Some(&cookie), None, no),
        (&[&other_port], Some(&cookie), None, no),
        (&[&format!("{here}.example.com")], Some(&cookie), None, no),
        (&[&format!("rebound.example.com:{port}")], Some(&cookie), None, no),
        (&[&here], Some(&cookie), Some("null"), no),
        (&[&here], Some(&cookie), Some("https://example.com"), no),
        (&[&here], Some(&cookie), Some(&format!("http://{other_port}")), no),
        (&[&here], Some(&cookie), Some(&format!("https://{here}")), no),
    ];
    for path in ["/", "/app.js", "/app.css", "/rows", "/moment", "/entry?at=0", "/nothing"] {
        for (hosts, cookie, origin, expected) in table {
            let mut request = Request::get(path);
            for host in *hosts {
                request = request.header(HOST, *host);
            }
            for (name, value) in [(COOKIE, cookie), (ORIGIN, origin)] {
                if let Some(value) = value {
                    request = request.header(name, *value);
                }
            }
            let (status, ..) = served.answer(request.body(Body::empty()).unwrap()).await;
            let is_missing = path == "/nothing" && *expected == yes;
            let expected = if is_missing { StatusCode::NOT_FOUND } else { *expected };
            assert_eq!(status, expected, "{path} {hosts:?} {cookie:?} {origin:?}");
        }
    }
    for (query, expected) in [
        (format!("token={token}"), yes),
        (format!("a=b&token={token}&session=x"), yes),
        (format!("token={}", token.to_uppercase()), no),
        (format!("xtoken={token}"), no),
        ("token=".to_owned(), no),
    ] {
        let request = Request::get(format!("/?{query}")).header(HOST, &here);
        let (status, ..) = served.answer(request.body(Body::empty()).unwrap()).await;
        assert_eq!(status, expected, "{query}");
    }
}

#[tokio::test]
async fn only_get_is_answered_with_security_headers() {
    let served = Served::new(&story()).await;
    let host = format!("127.0.0.1:{}", served.port());
    for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"] {
        let request = Request::builder().method(method).uri("/").header(HOST, &host);
        let request = request.header(COOKIE, served.cookie()).body(Body::empty()).unwrap();
        let (status, headers, _) = served.answer(request).await;
        assert_eq!((status, &headers[ALLOW]), (StatusCode::METHOD_NOT_ALLOWED, &"GET".parse().unwrap()));
    }
    let refused = served.answer(Request::get("/").body(Body::empty()).unwrap()).await;
    for (_, headers, _) in
        [served.get("/").await, served.get("/rows").await, served.get("/no").await, refused]
    {
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers["cache-control"], "no-store");
    }
    let (_, headers, page) = served.get("/").await;
    assert_eq!(headers[SET_COOKIE], format!("{}; Path=/; HttpOnly; SameSite=Strict", served.cookie()));
    assert_eq!(headers[CONTENT_TYPE], "text/html; charset=utf-8");
    assert_eq!(page, PAGE);
    // What the page and its files load is here.
    for part in FILES.iter().map(|(_, _, text)| *text).chain([PAGE]) {
        let is_file = |text: &&str| matches!(text.rsplit_once('.'), Some((_, "js" | "css")));
        for quoted in part.split('"').filter(is_file) {
            let name = quoted.trim_start_matches(['.', '/']);
            assert!(FILES.iter().any(|(path, ..)| path.trim_start_matches('/') == name), "{quoted}");
        }
    }
}

#[tokio::test]
async fn rows_are_calls_with_their_answers() {
    let served = Served::new(&story()).await;
    let page = served.json("/rows").await;
    let rows: Vec<_> = page["rows"].as_array().unwrap().iter().collect();
    let reported: Vec<_> = rows
        .iter()
        .map(|row| [&row["kind"], &row["text"], &row["took"]].map(|value| value.as_str().unwrap().trim()))
        .collect();
    let expected = [
        ["session", "session one opened (python)", ""],
        ["good", "start", "900ms"],
        ["stop", "main.py:2 in f, breakpoint", ""],
        ["variables", "Locals: x = 2", ""],
        ["bad", "look : it is gone", "250ms"],
        ["output", "<script>\\x1b]0;title\\x07\\u{202e}hello", ""],
    ];
    let reported: Vec<_> =
        reported.iter().map(|row| row.map(|text| text.replace("look: ", "look : "))).collect();
    assert_eq!(reported, expected);
    assert_eq!(
        (&rows[0]["at"], &rows[1]["session"], &page["older"]),
        (&json!(0), &json!("one"), &Value::Null)
    );
    // What happened during a call is part of its row, until that is opened.
    assert_eq!(rows[1]["outcome"], json!(["■", "stop", "main.py:1 in f, breakpoint"]));
    assert_eq!((&rows[1]["isOpen"], &rows[2]["isOpen"]), (&json!(false), &Value::Null));
    let open = served.json("/rows?open=1").await;
    let effects = open["rows"].as_array().unwrap().iter().filter(|row| row["isEffect"] == true);
    let effects: Vec<&str> = effects.map(|row| row["text"].as_str().unwrap()).collect();
    assert_eq!(effects, ["bp-1 set: main.py:2", "main.py:1 in f, breakpoint", "Locals: x = 1"]);
}

/// What is asked for, the places of the rows, and what is before and behind them.
type Paged<'a> = (&'a str, &'a [i64], Option<i64>, Option<i64>);

#[tokio::test]
async fn rows_are_paged_and_filtered() {
    let served = Served::new(&story()).await;
    let table: &[Paged<'_>] = &[
        ("/rows?limit=2", &[8, 10], Some(8), None),
        ("/rows?limit=3&before=8", &[1, 6, 7], Some(1), None),
        ("/rows?limit=3&before=3", &[0, 1], None, None),
        ("/rows?before=0", &[], None, None),
        ("/rows?before=-9223372036854775808", &[], None, None),
        ("/rows?limit=3&after=-1", &[0, 1, 6], None, Some(6)),
        ("/rows?limit=3&after=4", &[6, 7, 8], None, Some(8)),
        ("/rows?after=10", &[], None, None),
        ("/rows?after=9223372036854775807", &[], None, None),
        ("/rows?around=6&limit=4", &[0, 1, 6, 7], None, Some(7)),
        ("/rows?open=1,8,x", &[0, 1, 2, 3, 4, 6, 7, 8, 10], None, None),
        ("/rows?open=all&limit=4", &[6, 7, 8, 10], Some(6), None),
        ("/rows?kinds=calls", &[1, 8], None, None),
        ("/rows?kinds=stops", &[3, 6], None, None),
        ("/rows?kinds=stops&limit=1", &[6], Some(6), None),
        ("/rows?kinds=errors", &[8], None, None),
        ("/rows?kinds=output&session=", &[10], None, None),
        ("/rows?session=two-id", &[8, 10], None, None),
        ("/rows?session=nobody", &[], None, None),
        ("/rows?text=NEEDLE", &[1], None, None),
        ("/rows?text=main.py:2", &[2, 6], None, None),
        ("/rows?text=two", &[], None, None),
    ];
    for (path, rows, older, newer) in table {
        assert_eq!(served.places(path).await, (rows.to_vec(), *older, *newer), "{path}");
    }
    for path in
        ["/rows?kinds=x", "/rows?limit=x", "/rows?before=", "/jump?what=x&forward=true", "/jump", "/entry"]
    {
        assert_eq!(served.get(path).await.0, StatusCode::BAD_REQUEST, "{path}");
    }
}

#[tokio::test]
async fn jumps_move_from_stop_to_stop() {
    let served = Served::new(&story()).await;
    let table = [
        ("what=stop&forward=false", Some(6)),
        ("what=stop&forward=false&at=6", Some(3)),
        ("what=stop&forward=false&at=3", None),
        ("what=stop&forward=true&at=0", Some(3)),
        ("what=stop&forward=true&at=6", None),
        ("what=stop&forward=true", None),
        ("what=error&forward=true&at=0", Some(8)),
        ("what=error&forward=true&at=0&session=one-id", None),
    ];
    for (query, expected) in table {
        let landing = served.json(&format!("/jump?{query}")).await;
        // The page opens the call during which it happened.
        assert_eq!(landing["call"], if expected == Some(3) { json!(1) } else { Value::Null }, "{query}");
        assert_eq!((landing["at"].as_i64(), &landing["next"]), (expected, &Value::Null), "{query}");
    }
}

#[tokio::test]
async fn the_timeline_shows_the_most_important_event_of_each_slot() {
    let served = Served::new(&story()).await;
    let strip = served.json("/strip?cells=12").await;
    let cells = strip.as_array().unwrap();
    let reported: Vec<_> = cells
        .iter()
        .filter(|cell| cell["kind"] != "")
        .map(|cell| (cell["kind"].as_str().unwrap(), cell["at"].as_i64().unwrap()))
        .collect();
    assert_eq!(reported, [("good", 1), ("stop", 3), ("bad", 8), ("output", 10)]);
    let busy: Vec<usize> = (0..12).filter(|cell| cells[*cell]["isBusy"] == true).collect();
    assert_eq!(busy, [0, 1, 2, 3, 4, 9, 10]);
    let alone = served.json("/strip?cells=3&session=two-id").await;
    assert_eq!(
        alone.as_array().unwrap().iter().map(|cell| &cell["kind"]).collect::<Vec<_>>(),
        ["bad", "", "output"]
    );
}

#[tokio::test]
async fn a_call_is_formatted_with_events_during_it() {
    let served = Served::new(&story()).await;
    let whole = served.json("/entry?at=1").await;
    let lines: Vec<String> = whole["lines"].as_array().unwrap().iter().map(line).collect();
    let meanwhile = ["  ● bp-1 set: main.py:2", "  ■ main.py:1 in f, breakpoint", "  = Locals: x = 1"];
    assert_eq!((lines[0].as_str(), lines[3].as_str(), lines[4].as_str()), ("start", "Asked", "  nothing"));
    assert_eq!((lines[6].as_str(), &lines[7..10]), ("Meanwhile", meanwhile.map(str::to_owned).as_slice()));
    assert_eq!(lines[11..], ["Answered after 900ms", "  secret  needle"]);
    assert_eq!(whole["lines"][3], json!([["strong", "Asked"]]));
    // A closed call is shown with what came of it.
    assert_eq!(served.json("/moment?at=1").await["state"], "created");
    assert_eq!(served.json("/moment?at=1&withEffects=true").await["state"], "paused");
}

#[tokio::test]
async fn a_moment_shows_the_state_with_control_characters_escaped() {
    let served = Served::new(&story()).await;
    let moment = served.json("/moment?at=6").await;
    assert_eq!((&moment["session"], &moment["state"]), (&json!("one"), &json!("paused")));
    assert_eq!(moment["location"]["line"], 2);
    let variable = json!({
        "name": "x", "type": "int", "value": "2", "before": "1", "isNew": false, "parts": [], "more": 0
    });
    assert_eq!(moment["variables"], json!([variable]));
    let lines = json!([
        { "number": 1, "pieces": [["keyword", "def"], ["", " f():"]], "isCurrent": false, "breakpoint": null, "values": [] },
        {
            "number": 2,
            "pieces": [["", "    "], ["keyword", "return"], ["", " "], ["number", "1"], ["", "  "], ["comment", "# <b>"]],
            "isCurrent": true,
            "breakpoint": true,
            "values": []
        },
    ]);
    assert_eq!(moment["source"], lines);
    // The end is of the session that acts.
    let end = served.json("/moment").await;
    let text = "<script>\\x1b]0;title\\x07\\u{202e}hello";
    let answer = json!([{ "category": "stdout", "text": text, "isDivider": false }]);
    assert_eq!((&end["at"], &end["session"], &end["output"]), (&json!(10), &json!("two"), &answer));
    assert_eq!(served.json("/moment?session=one-id").await["variables"][0]["value"], "2");
    assert_eq!(served.json("/moment?at=-5").await["at"], 0);
    assert_eq!(served.json("/moment?session=nobody").await["state"], "");
    let none = Served::new(&[]).await;
    assert_eq!(none.json("/moment").await["at"], Value::Null);
}

#[tokio::test]
async fn an_entry_is_shown_whole_with_its_answer() {
    let served = Served::new(&story()).await;
    let whole = served.json("/entry?at=8&raw=true").await;
    assert_eq!(whole["title"], "Entry 9 of 11");
    let lines: Vec<String> = whole["lines"].as_array().unwrap().iter().map(line).collect();
    assert!(lines.contains(&"  \"tool\": \"look\",".to_owned()), "{lines:?}");
    assert!(lines.contains(&"  \"error\": \"it is gone\"".to_owned()), "{lines:?}");
    let (_, _, hostile) = served.get("/entry?at=10").await;
    assert!(!hostile.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{hostile}");
    assert_eq!(served.get("/entry?at=11").await.0, StatusCode::NOT_FOUND);
}

/// The text of a line that comes in pieces.
fn line(pieces: &Value) -> String {
    pieces.as_array().unwrap().iter().map(|piece| piece[1].as_str().unwrap()).collect()
}

#[tokio::test]
async fn events_stream_new_entries_and_end_with_the_server() {
    let served = Served::new(&story()).await;
    let (port, cookie, path) = (served.port(), served.cookie(), served.path.clone());
    let ends = CancellationToken::new();
    let running = tokio::spawn(served.server.serve(ends.clone().cancelled_owned()));
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request = format!("GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut heard = String::new();
    hear(&mut stream, &mut heard, "\"end\":11,").await;
    assert!(heard.contains("content-type: text/event-stream"), "{heard}");
    assert!(heard.contains("\"sessions\":[{\"id\":\"two-id\",\"name\":\"two\""), "{heard}");
    write(&path, &[paused(9_000, "two", 1)]);
    hear(&mut stream, &mut heard, "\"end\":12,").await;
    assert!(heard.contains("\"state\":\"paused\"},{\"id\":\"one-id\""), "{heard}");
    ends.cancel();
    assert_eq!(stream.read_to_string(&mut heard).await.map(|_| ()).unwrap(), ());
    running.await.unwrap();
}

/// Reads until that is among what was read.
async fn hear(stream: &mut tokio::net::TcpStream, heard: &mut String, wanted: &str) {
    let mut piece = [0; 4096];
    while !heard.contains(wanted) {
        let length = stream.read(&mut piece).await.unwrap();
        assert_ne!(length, 0, "{heard}");
        heard.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
}

#[tokio::test]
async fn the_session_is_named_and_a_used_port_is_reported() {
    let served = Served::new(&story()).await;
    let open = |session: &str, port| {
        let options = Options { session: Some(session.to_owned()), port, ..Options::default() };
        let path = served.path.clone();
        async move { Server::open(&path, &options).await.map(|server| server.url) }
    };
    assert!(open("one", None).await.unwrap().ends_with("&session=one-id"));
    assert!(open("nobody", None).await.unwrap_err().to_string().contains("no session `nobody`"));
    let taken = open("one", Some(served.port())).await.unwrap_err().to_string();
    assert!(taken.starts_with(&format!("port {}: ", served.port())), "{taken}");
}

/// The page has the keys of the terminal, in the same words.
#[test]
fn the_help_matches_the_terminals() {
    for (keys, what) in crate::terminal::keys() {
        let is_shared = !["q", "PgUp PgDn", ""].contains(keys);
        assert!(!is_shared || PAGE.contains(&format!("<dd>{what}</dd>")), "{keys}: {what}");
    }
}
