//! A recording as a picture in the browser: what the page asks for.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use test_support::{Fixture, browser, interrupt, toolchains};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Child;

use crate::STILLFRAME;
use crate::command_line::run;
use crate::recorder::{at, has};

/// `stillframe view --web --recording NAME`, and a browser as far as it is needed.
struct Page {
    viewer: Child,
    host: String,
    token: String,
    /// What follows the token in the address.
    rest: String,
}

impl Page {
    async fn open(state: &Path, name: &str) -> Self {
        let mut command = STILLFRAME.command();
        command.arg("--log-file").arg(state.join("journal.jsonl"));
        command
            .args(["view", "--web", "--recording", name])
            .env("XDG_STATE_HOME", state)
            .stdout(Stdio::piped());
        let mut viewer = command.spawn().unwrap();
        let url = BufReader::new(viewer.stdout.take().unwrap()).lines().next_line().await.unwrap().unwrap();
        let (host, rest) = url.strip_prefix("http://").unwrap().split_once("/recording?token=").unwrap();
        let (token, rest) = rest.split_once('&').unwrap();
        Self { host: host.to_owned(), token: token.to_owned(), rest: rest.to_owned(), viewer }
    }

    /// The status and the body of an answer.
    async fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).await.unwrap();
        let (host, (_, port)) = (&self.host, self.host.split_once(':').unwrap());
        let cookie = format!("stillframe-{port}={}", self.token);
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    async fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    async fn end(mut self) {
        interrupt(self.viewer.id().unwrap());
        assert!(self.viewer.wait().await.unwrap().success());
    }
}

/// The spans of a function.
fn spans<'t>(timeline: &'t Value, name: &str) -> Vec<&'t Value> {
    let all =
        timeline["threads"].as_array().unwrap().iter().flat_map(|thread| thread["spans"].as_array().unwrap());
    all.filter(|span| span["name"] == name).collect()
}

#[tokio::test]
async fn a_click_on_a_call_leads_to_the_state_there() {
    for (program, runtime) in
        [(Fixture::python("recording_shop"), "python3"), (Fixture::node("recording_shop"), "node")]
    {
        let state = tempfile::tempdir().unwrap();
        run(state.path(), &["record", "--", runtime, program.path()]).await;
        let page = Page::open(state.path(), "last").await;
        assert_eq!(page.rest, "name=last");
        has(&page.get("/recording").await.1, &["<title>Recording, stillframe</title>", "recording.js"]);
        let listed = page.json("/recordings").await;
        assert_eq!(listed[0]["name"], "rec-1");

        let timeline = page.json("/recording/timeline?name=rec-1").await;
        let (mains, checkouts) = (spans(&timeline, "main"), spans(&timeline, "checkout"));
        assert_eq!((mains.len(), checkouts.len()), (1, 1), "{timeline}");
        let (main, checkout) = (mains[0], checkouts[0]);
        let of = |span: &Value, key: &str| span[key].as_i64().unwrap();
        assert!(of(main, "depth") < of(checkout, "depth") && of(main, "begin") < of(checkout, "begin"));
        // The exception leaves both.
        assert!(of(checkout, "end") < of(main, "end"));
        let thrown = &timeline["threads"][0]["thrown"][0];
        has(thrown["text"].as_str().unwrap(), &["negative total: -9"]);

        let shown = page.json(&format!("/recording/state?name=rec-1&at={}", thrown["at"])).await;
        assert_eq!(shown["event"], thrown["at"]);
        has(shown["text"].as_str().unwrap(), &["negative total: -9", "in checkout", "total = -9"]);
        let negative =
            page.json(&format!("/recording/state?name=rec-1&at={}", at(&program, "negative"))).await;
        let inside = of(&negative, "event");
        assert!(of(checkout, "begin") < inside && inside < of(checkout, "end"));

        // The values of a variable, as numbers.
        let values = page.json("/recording/values?name=rec-1&target=total").await;
        let steps = values.as_array().unwrap().iter().flat_map(|series| series["steps"].as_array().unwrap());
        let numbers: Vec<f64> = steps.filter_map(|step| step["number"].as_f64()).collect();
        assert!([0.0, 6.0, 21.0, -9.0].iter().all(|number| numbers.contains(number)), "{values}");
        let prices = page.json("/recording/values?name=rec-1&target=self.price").await;
        has(prices[0]["owner"].as_str().unwrap(), &["Item #"]);

        // A part of the run has only what is in it.
        let (from, to) = (of(checkout, "begin"), of(checkout, "end"));
        let part = page.json(&format!("/recording/timeline?name=rec-1&from={from}&to={to}")).await;
        assert_eq!((part["from"].as_i64(), part["to"].as_i64()), (Some(from), Some(to)));
        assert_eq!(
            (spans(&part, "checkout").len(), spans(&part, "main").len(), spans(&part, "preview").len()),
            (1, 1, 0)
        );
        page.end().await;
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn what_is_too_narrow_is_drawn_together() {
    let program = Fixture::node("recording_till");
    let state = tempfile::tempdir().unwrap();
    let (_, said, _) = run(state.path(), &["record", "--", "node", program.path(), "6000"]).await;
    let page = Page::open(state.path(), "rec-1").await;
    let whole = page.json("/recording/timeline?name=rec-1").await;
    let sold = |timeline: &Value| -> i64 {
        spans(timeline, "Till.sell").iter().map(|span| span["count"].as_i64().unwrap()).sum()
    };
    assert!(spans(&whole, "Till.sell").len() < 2000);
    let (first, last) = (whole["first"].as_i64().unwrap(), whole["last"].as_i64().unwrap());
    assert_eq!(first, 1);
    // Calls of other functions at the same depth may be drawn with them.
    let all: i64 = whole["threads"][0]["spans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|span| span["count"].as_i64().unwrap())
        .sum();
    assert!(all > 12_000, "{all} calls; {said}");
    let part = page.json(&format!("/recording/timeline?name=rec-1&from={}&to={last}", last - 600)).await;
    assert!(sold(&part) > 10 && spans(&part, "Till.sell").iter().all(|span| span["count"] == 1));
    page.end().await;
}

#[tokio::test]
async fn mistakes_are_answered() {
    let program = Fixture::python("recording_shop");
    let state = tempfile::tempdir().unwrap();
    run(state.path(), &["record", "--", "python3", program.path()]).await;
    let page = Page::open(state.path(), "rec-1").await;
    for (path, problem) in [
        ("/recording/timeline?name=rec-9", "no recording `rec-9`; there are: rec-1"),
        ("/recording/values?name=rec-1&target=nothing", "no variable or attribute `nothing` was written"),
        ("/recording/state?name=rec-1&at=nowhere", "`nowhere` is not a moment"),
    ] {
        let (status, said) = page.get(path).await;
        assert_eq!(status, 422, "{said}");
        has(&said, &[problem]);
    }
    assert_eq!(page.get("/recording/timeline").await.0, 400);
    page.end().await;
    let (code, _, errors) = run(state.path(), &["view", "--recording", "last"]).await;
    assert_eq!(code, 2);
    has(&errors, &["--web"]);
}

/// What the page shows in a browser, after clicks and keys. With `STILLFRAME_PICTURE` set, the test also takes a picture.
#[expect(
    clippy::disallowed_methods,
    reason = "a browser, which ends with its script, and with the test at the latest"
)]
async fn shown(page: &Page, words: &[&str]) -> Value {
    let modules = toolchains().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recording/timeline.mjs");
    let address = format!("http://{}/recording?token={}&{}", page.host, page.token, page.rest);
    let picture = std::env::var_os("STILLFRAME_PICTURE").map(|_| std::env::temp_dir().join("timeline.png"));
    let mut command = tokio::process::Command::new(modules.join("node22/bin/node"));
    command.arg(script).arg(&modules).arg(browser()).arg(address).args(words).args(picture);
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{problem}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {problem}"))
}

#[tokio::test]
async fn the_page_goes_through_a_run() {
    let program = Fixture::python("recording_shop");
    let state = tempfile::tempdir().unwrap();
    run(state.path(), &["record", "--", "python3", program.path()]).await;
    let page = Page::open(state.path(), "last").await;
    let shown = shown(&page, &["checkout", "total"]).await;
    let text = |part: &Value| part.as_str().unwrap().to_owned();
    // The server refuses a name that there is not, which the browser reports, too.
    let problems = shown["problems"].as_array().unwrap();
    assert!(problems.iter().all(|problem| text(problem).contains("422")) && problems.len() == 1, "{shown}");
    // It begins where the exception was thrown.
    has(&text(&shown["first"]["state"]), &["ValueError: negative total: -9", "total = -9"]);
    has(&text(&shown["first"]["about"]), &["main.py, exited with code 1, events 1 to "]);
    has(&text(&shown["clicked"]["state"]), &["checkout", "cart = Cart(owner='Bob'"]);
    has(&text(&shown["clicked"]["title"]), &["State at event "]);
    let values: Vec<String> = shown["values"].as_array().unwrap().iter().map(text).collect();
    assert!(values.iter().any(|value| value.starts_with("total = -9 after event ")), "{values:?}");
    assert_ne!(shown["zoomed"], shown["first"]["title"]);
    assert_ne!(shown["stepped"], shown["clicked"]["title"]);
    assert_eq!(
        shown["notice"],
        "no variable or attribute `nothing` was written in the run; check its spelling"
    );
    assert!(!text(&shown["address"]).contains("token"), "{shown}");
    page.end().await;
}
