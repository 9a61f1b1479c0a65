//! A person who watches in the browser, while an agent debugs.

use std::process::Stdio;

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, Fixture, dynamic};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::Child;

use crate::STILLFRAME;
use crate::lines::JournalFolder;

dynamic![a_stop_is_shown_as_it_happens];

async fn a_stop_is_shown_as_it_happens(language: Language) {
    let journal = JournalFolder::new();
    let mut page = Page::open(&journal).await;
    let mut events = page.events().await;
    // The page is there before the journal is.
    assert_eq!(until(&mut events, |news| news["isComplete"] == true).await["sessions"], json!([]));

    let server = journal.serve("standard").await;
    let bank = Fixture::of(language, "bank");
    let session =
        server.ok("create_debug_session", json!({ "language": language.name(), "name": "a bank" })).await;
    let session = session["sessionId"].clone();
    let line = bank.line("deposit");
    server.ok("set_breakpoint", json!({ "sessionId": session, "file": bank.path(), "line": line })).await;
    server.ok("start_debugging", json!({ "sessionId": session, "scriptPath": bank.path() })).await;
    let news = until(&mut events, |news| news["sessions"][0]["state"] == "paused").await;
    assert_eq!((&news["sessions"][0]["id"], &news["sessions"][0]["name"]), (&session, &json!("a bank")));

    // The stop is part of the call that led to it, and says so.
    let rows = page.json("/rows").await;
    let start = rows["rows"].as_array().unwrap().last().unwrap();
    assert_eq!((&start["isOpen"], &start["outcome"][0]), (&json!(false), &json!("■")), "{start}");
    // The variables are asked for after the stop is shown.
    loop {
        let open = page.json(&format!("/rows?open={}", start["at"])).await;
        let effects = open["rows"].as_array().unwrap().iter().filter(|row| row["isEffect"] == true);
        let kinds: Vec<&Value> = effects.map(|row| &row["kind"]).collect();
        if kinds.contains(&&json!("stop")) && kinds.contains(&&json!("variables")) {
            break;
        }
        until(&mut events, |_| true).await;
    }
    let stops = page.json("/rows?kinds=stops").await;
    let [stop] = stops["rows"].as_array().unwrap().as_slice() else { panic!("{stops}") };
    let text = stop["text"].as_str().unwrap();
    assert!(text.contains(&format!(":{line} in ")) && text.ends_with(", breakpoint"), "{text}");
    let moment = page.json(&format!("/moment?at={}", stop["at"])).await;
    assert_eq!((&moment["state"], &moment["location"]["line"]), (&json!("paused"), &json!(line)));
    let current = moment["source"].as_array().unwrap().iter().find(|line| line["isCurrent"] == true).unwrap();
    assert_eq!((&current["number"], &current["breakpoint"]), (&json!(line), &json!(true)));
    let values: Vec<&Value> = moment["source"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|line| line["values"].as_array().unwrap())
        .collect();
    assert!(values.contains(&&json!(["amount", "1", false])), "{values:?}");
    let readable = page.json(&format!("/entry?at={}", start["at"])).await.to_string();
    assert!(readable.contains("Asked") && readable.contains("scriptPath"), "{readable}");
    assert_eq!(page.status("/rows", "").await, 403);

    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    until(&mut events, |news| news["sessions"][0]["state"] == "closed").await;
    // Afterwards the last stop is there.
    let end = page.json("/moment").await;
    assert_eq!((&end["isPast"], &end["location"]["line"]), (&json!(true), &json!(line)));
    server.finish().await;
    // The events end with the viewer, which ends on request.
    page.end().await;
    while events.next_line().await.unwrap().is_some() {}
}

/// The next event that is so.
async fn until(events: &mut Lines<BufReader<TcpStream>>, is_it: impl Fn(&Value) -> bool) -> Value {
    loop {
        let line = events.next_line().await.unwrap().expect("the events go on");
        let news = line.strip_prefix("data: ").map(|data| serde_json::from_str(data).unwrap());
        if let Some(news) = news.filter(&is_it) {
            return news;
        }
    }
}

/// `stillframe view --web`, and a browser as far as it is needed.
pub(crate) struct Page {
    viewer: Child,
    host: String,
    token: String,
}

impl Page {
    pub(crate) async fn open(journal: &JournalFolder) -> Self {
        let mut command = STILLFRAME.command();
        command.arg("--log-file").arg(journal.path()).args(["view", "--web"]).stdout(Stdio::piped());
        let mut viewer = command.spawn().unwrap();
        let url = BufReader::new(viewer.stdout.take().unwrap()).lines().next_line().await.unwrap().unwrap();
        let (host, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        Self { host: host.to_owned(), token: token.to_owned(), viewer }
    }

    /// The address that it prints.
    pub(crate) fn address(&self) -> String {
        format!("http://{}/?token={}", self.host, self.token)
    }

    async fn ask(&self, path: &str, cookies: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).await.unwrap();
        let host = &self.host;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookies}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    fn cookie(&self) -> String {
        let (_, port) = self.host.split_once(':').unwrap();
        format!("stillframe-{port}={}", self.token)
    }

    async fn json(&self, path: &str) -> Value {
        let mut answer = String::new();
        self.ask(path, &self.cookie()).await.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        serde_json::from_str(body).unwrap()
    }

    async fn status(&self, path: &str, cookies: &str) -> u16 {
        let mut answer = String::new();
        self.ask(path, cookies).await.read_to_string(&mut answer).await.unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    async fn events(&self) -> Lines<BufReader<TcpStream>> {
        BufReader::new(self.ask("/events", &self.cookie()).await).lines()
    }

    /// As Ctrl-C does.
    pub(crate) async fn end(&mut self) {
        test_support::interrupt(self.viewer.id().unwrap());
        assert!(self.viewer.wait().await.unwrap().success());
    }
}
