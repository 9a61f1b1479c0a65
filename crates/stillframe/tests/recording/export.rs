//! Recordings in the formats of other tools.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use test_support::{Fixture, toolchains};

use crate::command_line::run;
use crate::recorder::{Client, at, has, pythons, written};

/// The schema of its files, in the package of speedscope.
const SPEEDSCOPE: &str = "speedscope/dist/release/file-format-schema.json";

impl Client {
    /// Exports the newest recording, and returns the file's text.
    pub(crate) async fn export(&self, arguments: Value) -> String {
        let said = self.ask("export_recording", arguments).await;
        let path = said.split(" to ").nth(1).and_then(|rest| rest.split(" (").next()).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    pub(crate) async fn export_json(&self, arguments: Value) -> Value {
        serde_json::from_str(&self.export(arguments).await).unwrap()
    }
}

/// How often each name began, after checking that what begins ends, innermost first, at times that do not decrease.
/// An event is a thread, a time, and a name that begins or else ends.
fn begun<'e>(events: impl Iterator<Item = (String, i64, Option<&'e str>)>) -> BTreeMap<&'e str, usize> {
    let mut open: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for (thread, time, name) in events {
        let before = last.insert(thread.clone(), time).unwrap_or(time);
        assert!(before <= time, "{thread}: {before} comes before {time}");
        let stack = open.entry(thread).or_default();
        match name {
            Some(name) => {
                stack.push(name);
                *counts.entry(name).or_default() += 1;
            }
            None => assert!(stack.pop().is_some(), "something ends that has not begun"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "{open:?}");
    counts
}

/// The calls of a trace for Perfetto.
pub(crate) fn of_trace(trace: &Value) -> BTreeMap<&str, usize> {
    let spans = trace["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["ph"] == "B" || event["ph"] == "E");
    let mut open: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    begun(spans.map(|event| {
        let thread = format!("{} {}", event["pid"], event["tid"]);
        let stack = open.entry(thread.clone()).or_default();
        let begins = event["ph"] == "B";
        if begins {
            stack.push(&event["name"]);
        } else {
            assert_eq!(stack.pop(), Some(&event["name"]));
        }
        (thread, event["ts"].as_i64().unwrap(), begins.then(|| event["name"].as_str().unwrap()))
    }))
}

/// The calls of profiles for speedscope, whose shape is checked.
async fn of_profiles(file: &Value) -> BTreeMap<&str, usize> {
    let schema = std::fs::read_to_string(toolchains().await.join(SPEEDSCOPE)).unwrap();
    let schema = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(file).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let frame = |event: &Value| {
        let number = usize::try_from(event["frame"].as_u64().unwrap()).unwrap();
        file["shared"]["frames"][number]["name"].as_str().unwrap()
    };
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for profile in file["profiles"].as_array().unwrap() {
        let mut stack = Vec::new();
        let events = profile["events"].as_array().unwrap().iter().map(|event| {
            let begins = event["type"] == "O";
            // Closing must name the frame that is open.
            if begins {
                stack.push(frame(event));
            } else {
                assert_eq!(stack.pop(), Some(frame(event)));
            }
            let time = event["at"].as_i64().unwrap();
            assert!(
                profile["startValue"].as_i64() <= Some(time) && Some(time) <= profile["endValue"].as_i64()
            );
            (String::new(), time, begins.then(|| frame(event)))
        });
        for (name, count) in begun(events) {
            *names.entry(name).or_default() += count;
        }
    }
    names
}

/// The rows of a CSV file whose fields have no line breaks, by their columns.
pub(crate) fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let fields = |line: &str| -> Vec<String> {
        let (mut fields, mut quoted) = (vec![String::new()], false);
        for part in line.split_inclusive([',', '"']) {
            let (text, end) = part.split_at(part.trim_end_matches([',', '"']).len());
            fields.last_mut().unwrap().push_str(text);
            match end {
                "\"" => quoted = !quoted,
                "," if !quoted => fields.push(String::new()),
                end => fields.last_mut().unwrap().push_str(end),
            }
        }
        fields
    };
    let mut lines = text.split_terminator("\r\n");
    let columns = fields(lines.next().unwrap());
    lines
        .map(|line| {
            let row = fields(line);
            assert_eq!(row.len(), columns.len(), "{line}");
            columns.iter().cloned().zip(row).collect()
        })
        .collect()
}

#[tokio::test]
async fn a_trace_leads_from_the_exception_to_its_state() {
    let program = Fixture::python("recording_shop");
    let (client, _) = Client::recorded("python3", &program).await;
    let trace = client.export_json(json!({ "format": "perfetto" })).await;
    let events = trace["traceEvents"].as_array().unwrap();
    let thrown = events.iter().find(|event| event["ph"] == "i").unwrap();
    assert_eq!(thrown["name"], "ValueError: negative total: -9");
    has(thrown["args"]["line"].as_str().unwrap(), &[&at(&program, "thrown"), " in checkout"]);
    let moment = thrown["args"]["event"].to_string();
    let state = client.ask("state_at", json!({ "at": moment })).await;
    has(&state, &["ValueError: negative total: -9", "total = -9"]);
    let total = events.iter().find(|event| event["name"] == "Cart.total").unwrap();
    assert_eq!(total["args"]["arguments"], "self=Cart");
    let calls = of_trace(&trace);
    assert_eq!((calls["Item.total"], calls["without_expensive"], calls["main"]), (2, 1, 1), "{calls:?}");
    assert!(trace["otherData"]["time"].as_str().unwrap().contains("number of the event"));
    client.server.finish().await;
}

#[tokio::test]
async fn profiles_have_each_call_of_each_thread_and_process() {
    for python in pythons() {
        let client = Client::new(&python).await;
        client.record(&Fixture::python("recording_stock"), &[]).await;
        let file = client.export_json(json!({ "format": "speedscope" })).await;
        let calls = of_profiles(&file).await;
        let counted = client.ask("count_hits", json!({ "target": "take" })).await;
        let taken = calls.iter().find(|(name, _)| name.ends_with("take")).unwrap().1;
        has(&counted, &[&format!("was called {taken} times")]);
        let threads =
            file["profiles"].as_array().unwrap().iter().map(|profile| profile["name"].as_str().unwrap());
        let threads: Vec<&str> = threads.collect();
        assert!(threads.len() > 1 && threads.contains(&"MainThread"), "{threads:?}");
        let trace = client.export_json(json!({ "format": "perfetto" })).await;
        assert_eq!(of_trace(&trace), calls);
        client.server.finish().await;
    }
}

/// Coroutines are suspended while others run in the same thread, and a child process has a thread of the same number.
const TASKS: &str = "\
import asyncio
import subprocess
import sys


async def work(name, times):
    total = 0
    for i in range(times):
        total += i
        await asyncio.sleep(0)
    return total


async def main():
    return await asyncio.gather(work('a', 3), work('b', 4))


if len(sys.argv) > 1:
    print('child', asyncio.run(work('c', 2)))
else:
    print(asyncio.run(main()))
    subprocess.run([sys.executable, __file__, 'child'], check=True)
";

#[tokio::test]
async fn spans_of_tasks_and_processes_are_nested() {
    let (_folder, program) = written("main.py", TASKS);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["[3, 6]", "child 1"]);
        let file = client.export_json(json!({ "format": "speedscope" })).await;
        let profiles = of_profiles(&file).await;
        // Each task begins, and goes on after each `sleep`.
        assert_eq!(profiles["work"], (1 + 3) + (1 + 4) + (1 + 2), "{python}: {profiles:?}");
        assert_eq!(file["profiles"].as_array().unwrap().len(), 2);
        let trace = client.export_json(json!({ "format": "perfetto", "time": "clock" })).await;
        assert_eq!(of_trace(&trace), profiles);
        has(trace["otherData"]["time"].as_str().unwrap(), &["microseconds"]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn a_table_has_each_write_with_the_line_that_made_it() {
    for (program, runtime, function) in [
        (Fixture::python("recording_shop"), "python3", "Cart.total"),
        (Fixture::node("recording_shop"), "node", "Cart.total"),
    ] {
        let (client, _) = Client::recorded(runtime, &program).await;
        let rows = rows(&client.export(json!({ "format": "csv" })).await);
        let row = rows.iter().find(|row| row["name"] == "total" && row["value"] == "-9").unwrap();
        assert_eq!(row["what"], "write");
        assert_eq!(row["line"], program.line("negative").to_string());
        assert_eq!(row["file"], program.path());
        assert!(row["function"].ends_with(function.rsplit('.').next().unwrap()), "{row:?}");
        // The same line, as an event.
        let line =
            rows.iter().find(|other| other["event"] == row["event"] && other["what"] == "line").unwrap();
        assert_eq!(line["call"], row["call"]);
        let lost = rows.iter().find(|row| row["what"] == "delete").unwrap();
        assert_eq!(lost["line"], program.line("lost").to_string());
        let of = |what: &str| rows.iter().filter(|row| row["what"] == what).count();
        assert_eq!(of("call"), of("return") + of("unwind"));
        assert!(rows.iter().all(|row| !row["value"].contains("correct-horse")));
        // The same in columns, with a description at the end.
        let said = client.ask("export_recording", json!({ "format": "parquet" })).await;
        let path = said.split(" to ").nth(1).and_then(|rest| rest.split(" (").next()).unwrap();
        let file = std::fs::read(path).unwrap();
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"), "{said}");
        client.server.finish().await;
    }
}

#[tokio::test]
async fn exports_go_where_they_are_wanted() {
    let program = Fixture::node("recording_shop");
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("stillframe/recordings");
    let (code, _, errors) = run(state.path(), &["recordings", "export", "--format", "csv"]).await;
    assert_eq!(code, 1);
    has(&errors, &["no recording `last`; there are none: record a run first"]);
    run(state.path(), &["record", "--", "node", program.path()]).await;
    let (code, shown, _) =
        run(state.path(), &["recordings", "export", "rec-1", "--format", "speedscope"]).await;
    assert_eq!(code, 0);
    assert_eq!(of_profiles(&serde_json::from_str(&shown).unwrap()).await["checkout"], 1);

    let file = state.path().join("run.json");
    let to = file.to_str().unwrap();
    let (_, said, _) = run(state.path(), &["recordings", "export", "--format", "perfetto", "-o", to]).await;
    has(&said, &["exported rec-1 to ", "run.json (", "KB); open it in https://ui.perfetto.dev"]);
    assert_eq!(
        of_trace(&serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap())["checkout"],
        1
    );

    let nowhere = state.path().join("nowhere/run.json");
    let (code, _, errors) =
        run(state.path(), &["recordings", "export", "--format", "csv", "-o", nowhere.to_str().unwrap()])
            .await;
    assert_eq!(code, 1);
    has(&errors, &["cannot use `", "nowhere/run.json`: No such file or directory"]);
    let (code, _, errors) = run(state.path(), &["recordings", "export", "--format", "xml"]).await;
    assert_eq!(code, 2);
    has(&errors, &["invalid value 'xml'", "[possible values: perfetto, speedscope, csv, parquet]"]);

    let client = Client::in_state(state, &[], "node").await;
    let wrong = client.fails("export_recording", json!({ "format": "xml" })).await;
    has(&wrong, &["perfetto"]);
    let missing = client.fails("export_recording", json!({ "format": "csv", "recording": "rec-9" })).await;
    has(&missing, &["no recording `rec-9`; there are: rec-1"]);
    client.export(json!({ "format": "csv" })).await;
    assert!(folder.join("rec-1.csv").exists());
    // What is beside a recording goes with it.
    client.ask("remove_recordings", json!({ "recording": "rec-1" })).await;
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    client.server.finish().await;
}
