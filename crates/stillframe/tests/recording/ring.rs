//! Recordings of the last events answer as those of whole runs do.

use serde_json::json;
use test_support::{Fixture, tries_everything};

use crate::recorder::{Client, at, has, pythons};

/// So many customers that events are dropped more than once while the program runs.
const CUSTOMERS: &str = "2600";

/// A whole recording, and one of the last events of the same run.
struct Pair {
    client: Client,
    program: Fixture,
    /// The first event that was kept.
    first: i64,
    last: i64,
    /// What a method calls its object.
    own: &'static str,
}

impl Pair {
    async fn new(program: Fixture, runtime: &str, kept: usize) -> Self {
        let client = Client::new(runtime).await;
        let whole = client.record(&program, &[CUSTOMERS]).await;
        assert!(!whole.contains("incomplete"), "{whole}");
        let said = client.record_last(&program, &[CUSTOMERS], kept).await;
        let first = format!("the last {kept} events were kept, from event ");
        has(&said, &["recorded as rec-2: the program exited with code 1; ", &first, " on\n"]);
        assert!(!said.contains("incomplete"), "{said}");
        let first =
            said.split(&first).nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
        let own = if runtime == "node" { "this" } else { "self" };
        Self { client, program, first, last: first + i64::try_from(kept).unwrap() - 1, own }
    }

    /// The answers of both to a question.
    async fn ask(&self, tool: &str, arguments: serde_json::Value) -> (String, String) {
        let mut answers = Vec::new();
        for recording in ["rec-1", "rec-2"] {
            let mut arguments = arguments.clone();
            arguments["recording"] = recording.into();
            answers.push(self.client.ask(tool, arguments).await);
        }
        (answers.remove(0), answers.remove(0))
    }

    async fn agree(&self, tool: &str, arguments: serde_json::Value) -> String {
        let (whole, kept) = self.ask(tool, arguments.clone()).await;
        assert_eq!(kept, whole, "{tool} {arguments}");
        whole
    }

    /// The state is the same at moments all over what was kept.
    async fn states_agree(&self) {
        let moments = if tries_everything() { 16 } else { 2 };
        let step = usize::try_from((self.last - self.first) / moments).unwrap().max(1);
        for moment in (self.first..=self.last).step_by(step).chain(self.first..self.first + 4) {
            self.agree("state_at", json!({ "at": moment.to_string() })).await;
        }
        let thrown = self.agree("state_at", json!({ "at": "exception" })).await;
        has(&thrown, &["negative total: ", "called from ", " in main"]);
        // It was written thousands of events before those that were kept.
        has(&thrown, &["shift = ", "morning", "open"]);
        has(&thrown, &["output so far ends: \"open "]);
        let reported = format!("{}#last", at(&self.program, "reported"));
        has(&self.agree("state_at", json!({ "at": reported })).await, &[" in ", "price of lamps changed"]);
    }

    async fn questions_agree(&self) {
        let wrong = self
            .agree("find_first", json!({ "condition": "self.total < 0".replace("self", self.own) }))
            .await;
        has(&wrong, &["first holds after ", &at(&self.program, "sold")]);
        let prices = format!("{}.prices", self.own);
        let target = json!({ "target": prices, "at": format!("{}#last", at(&self.program, "sold")) });
        let (whole, kept) = self.ask("find_writes", target).await;
        let mistaken = at(&self.program, "mistaken");
        for answer in [&whole, &kept] {
            has(answer, &["['lamp']: 5 → -5000 by ", &mistaken]);
        }
        has(&whole, &["['book'] = 4 by ", &at(&self.program, "priced")]);
        has(&kept, &[&format!("before event {}: ", self.first), "['book'] = 4\n"]);
        let origin = json!({ "target": "till.total", "at": "exception", "limit": 1 });
        let origin = self.agree("find_origin", origin).await;
        has(&origin, &[" by ", &at(&self.program, "sold")]);
        let (from, to) = ((self.first + 40).to_string(), self.last.to_string());
        has(&self.agree("compare_moments", json!({ "from": from, "to": to })).await, &["-5000"]);
    }

    /// What is about the whole run says that it is about a part of it.
    async fn limits_are_said(&self) {
        let first = self.first;
        let of_last = |tool: &'static str, arguments: serde_json::Value| self.client.ask(tool, arguments);
        let hits = of_last("count_hits", json!({ "target": "sell" })).await;
        has(&hits, &[" times from event ", &first.to_string(), " on\n"]);
        let hits = of_last("count_hits", json!({ "target": "reporter" })).await;
        has(&hits, &[&format!("reporter was called 0 times from event {first} on")]);
        let hits = of_last("count_hits", json!({ "target": at(&self.program, "serving") })).await;
        has(&hits, &[&format!("was reached only before event {first}")]);
        let begun = of_last("find_first", json!({ "condition": "served > 10" })).await;
        has(
            &begun,
            &["`served > 10` holds already where the recording begins: ", &format!("(event {first})")],
        );
        for (tool, arguments, problem) in [
            (
                "state_at",
                json!({ "at": "7" }),
                format!("no event 7; the recording has events {first} to {}", self.last),
            ),
            (
                "state_at",
                json!({ "at": at(&self.program, "serving") }),
                format!("{} was not hit from event {first} on", at(&self.program, "serving")),
            ),
            (
                "compare_runs",
                json!({ "first": "rec-1", "second": "rec-2" }),
                "a recording of the last events has no beginning to compare".to_owned(),
            ),
        ] {
            has(&self.client.fails(tool, arguments).await, &[&problem]);
        }
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_last_events_of_python_answer_as_the_whole_run_does() {
    for python in pythons() {
        let program = Fixture::python("recording_till");
        let pair = Pair::new(program, &python, 1500).await;
        pair.states_agree().await;
        pair.questions_agree().await;
        pair.limits_are_said().await;
        pair.client.server.finish().await;
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_last_events_of_node_answer_as_the_whole_run_does() {
    let pair = Pair::new(Fixture::node("recording_till"), "node", 1500).await;
    pair.states_agree().await;
    pair.questions_agree().await;
    pair.limits_are_said().await;
    pair.client.server.finish().await;
}

/// A debugger and an export begin where the recording does, with the calls that were active there.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn what_had_begun_before_is_there_in_exports() {
    for (program, runtime) in
        [(Fixture::python("recording_till"), "python3"), (Fixture::node("recording_till"), "node")]
    {
        let pair = Pair::new(program, runtime, 800).await;
        let trace = pair.client.export_json(json!({ "format": "perfetto" })).await;
        let calls = crate::export::of_trace(&trace);
        assert_eq!((calls["main"], calls["serve"]), (1, 1), "{calls:?}");
        let begun: Vec<&str> = trace["traceEvents"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["ph"] == "B" && event["ts"] == pair.first)
            .map(|event| event["name"].as_str().unwrap())
            .collect();
        assert!(begun.starts_with(&["<module>", "main", "serve"]), "{begun:?}");
        pair.client.server.finish().await;
    }
}

#[tokio::test]
async fn the_last_events_that_have_room_are_kept() {
    let program = Fixture::node("recording_till");
    let client = Client::with(&["--limit", "recording=1048576"], "node").await;
    let said = client.record_last(&program, &[CUSTOMERS], 1_000_000).await;
    has(
        &said,
        &[
            "exited with code 1",
            "events were kept, from event ",
            "incomplete: no more events fit within the size limit",
        ],
    );
    let thrown = client.ask("state_at", json!({ "at": "exception" })).await;
    has(&thrown, &["RangeError: negative total: ", "shift = {name: 'morning', open: true}"]);
    client.server.finish().await;
}

#[tokio::test]
async fn a_short_run_is_kept_whole() {
    let program = Fixture::python("recording_till");
    let client = Client::new("python3").await;
    let said = client.record_last(&program, &["50"], 1_000_000).await;
    assert!(!said.contains("were kept") && !said.contains("incomplete"), "{said}");
    client.record(&program, &["50"]).await;
    let same = client.ask("compare_runs", json!({ "first": "rec-1", "second": "rec-2" })).await;
    has(&same, &["no recorded value differs", "both runs take the same steps"]);
    let none = client
        .fails("record_run", json!({ "command": "python3", "args": [program.path()], "last": 0 }))
        .await;
    has(&none, &["last", "must be at least 1"]);
    client.server.finish().await;
}
