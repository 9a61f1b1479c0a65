//! A recording says what a live session shows, at the same hit of the same line.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use test_support::{Fixture, rows_to_try};

use crate::recorder::{Client, pythons};

/// More than 100 moments in each language.
const PROGRAMS: [&str; 2] = ["recording_shop", "recording_derived"];

/// Line, hit: the first, the last and some between of each line that ran. Left out are lines on which V8 stops less often
/// than a recording has events: heads of loops and classes, and those with a function of their own.
async fn moments(client: &Client, file: &str, text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_head = line.starts_with("class ") && line.ends_with('{');
        if is_head || line.contains("for (") || line.contains("=>") {
            continue;
        }
        let said = client.ask("count_hits", json!({ "target": format!("{file}:{number}") })).await;
        let counts: Vec<&str> = said.split(" was reached ").skip(1).collect();
        let [count] = counts[..] else { continue };
        let count: usize = count.split_once(" times").map_or(1, |(count, _)| count.parse().unwrap());
        let mut of_line = (0..=4).map(|part| (number, (count * part).div_ceil(4).max(1))).collect::<Vec<_>>();
        of_line.dedup();
        found.extend(of_line);
    }
    found
}

/// The variables of the innermost frame that have been assigned to and whose values have the same text in a recording as anywhere.
fn simple(report: &Value) -> BTreeMap<String, String> {
    let is_simple = |kind: &str| {
        ["int", "str", "float", "bool", "NoneType", "number", "string", "boolean", "null"].contains(&kind)
    };
    let locals = report["locals"].as_array().into_iter().flatten();
    let locals = locals.filter(|local| is_simple(local["type"].as_str().unwrap_or_default()));
    // What Python and Node.js give each module is not in a recording.
    let locals = locals.filter(|local| !local["name"].as_str().unwrap().starts_with("__"));
    let locals = locals.filter(|local| !local["value"].as_str().unwrap().contains("[redacted]"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    locals.map(|local| (text(&local["name"]), text(&local["value"]))).collect()
}

/// Whether a variable of JavaScript is of a block that has ended at a line, or has not begun there: a recording shows it
/// until its function ends.
fn is_elsewhere(text: &str, name: &str, line: usize) -> bool {
    let declares = |line: &str| {
        let words: Vec<&str> = line.split(|letter: char| !letter.is_alphanumeric()).collect();
        words.contains(&name) && ["const", "let"].iter().any(|word| words.contains(word))
    };
    let mut blocks = vec![false];
    for line in text.lines().take(line - 1) {
        for letter in line.chars() {
            match letter {
                '{' => blocks.push(false),
                '}' => drop(blocks.pop()),
                _ => {}
            }
        }
        let is_short_loop = line.contains("for (") && !line.ends_with('{');
        if declares(line) && !is_short_loop {
            *blocks.last_mut().unwrap() = true;
        }
    }
    text.lines().any(declares) && !blocks.contains(&true)
}

async fn agree(program: &Fixture, runtime: &str, language: &str) {
    let state = tempfile::tempdir().unwrap();
    let client = Client::of_toolsets("standard,recording", state, &[], runtime).await;
    client.record(program, &[]).await;
    let server = &client.server;
    let file = program.path().rsplit('/').next().unwrap();
    let text = std::fs::read_to_string(program.path()).unwrap();
    let moments = moments(&client, file, &text).await;
    assert!(moments.len() > 50, "{moments:?}");
    for (line, hit) in rows_to_try(moments, 15) {
        let live = json!({ "language": language, "executablePath": runtime });
        let live = server.ok("create_debug_session", live).await.data["sessionId"].clone();
        let at = json!({
            "sessionId": live, "file": program.path(), "line": line, "hitCondition": hit.to_string(),
        });
        server.ok("set_breakpoint", at).await;
        let live_report = server
            .ok("start_debugging", json!({ "sessionId": live, "scriptPath": program.path() }))
            .await
            .data;
        let replay = server.ok("create_debug_session", json!({ "language": "recording" })).await;
        let replay = replay.data["sessionId"].clone();
        let moment = format!("{file}:{line}#{hit}");
        let started = json!({ "sessionId": replay, "scriptPath": "last", "args": [moment] });
        let recorded = server.ok("start_debugging", started).await.data;
        assert_eq!(live_report["location"]["line"], line, "{runtime} {moment}: {live_report}");
        assert_eq!(recorded["location"]["line"], line, "{runtime} {moment}: {recorded}");
        let (shown, mut known) = (simple(&live_report), simple(&recorded));
        let is_extra = |name: &str| language == "javascript" && is_elsewhere(&text, name, line);
        known.retain(|name, _| shown.contains_key(name) || !is_extra(name));
        assert_eq!(known, shown, "{runtime} {moment}:\n{recorded}\n{live_report}");
        // V8 has a frame for a constructor that a class does not write, at the head of the class.
        let is_implicit = |frame: &Value| {
            let line = frame["line"].as_u64().and_then(|line| usize::try_from(line).ok()).unwrap_or_default();
            language == "javascript" && text.lines().nth(line - 1).unwrap_or_default().starts_with("class ")
        };
        let names = |report: &Value| -> Vec<String> {
            let frames = report["stackFrames"].as_array().unwrap().iter();
            let users = frames.filter(|frame| frame["file"] == program.path() && !is_implicit(frame));
            users.map(|frame| frame["line"].to_string()).collect()
        };
        assert_eq!(names(&recorded), names(&live_report), "{runtime} {moment}");
        for session in [live, replay] {
            server.ok("close_debug_session", json!({ "sessionId": session })).await;
        }
    }
    client.server.finish().await;
}

#[tokio::test]
async fn a_python_recording_agrees_with_a_live_session() {
    let newest = pythons().pop().unwrap();
    for name in PROGRAMS {
        agree(&Fixture::python(name), &newest, "python").await;
    }
}

#[tokio::test]
async fn a_node_recording_agrees_with_a_live_session() {
    for name in PROGRAMS {
        agree(&Fixture::node(name), "node", "javascript").await;
    }
}

/// pydevd takes two functions with the same text, name and line for one, and can miss hits of one of them; rows are of the
/// file that they are asked for.
#[tokio::test]
async fn values_of_a_function_are_not_those_of_one_with_the_same_text_in_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import first\nimport second\n\nfor number in range(30):\n    first.scale(number)\n    \
                second.scale(number + 100)\n";
    let program = Fixture::write(folder.path(), "main.py", text);
    let scale = "def scale(x):\n    y = x * 2  # @doubled\n    return y\n";
    let files = [("first.py", 0), ("second.py", 100)]
        .map(|(name, begin)| (Fixture::write(folder.path(), name, scale), begin));
    for python in pythons() {
        let client = Client::of_toolsets("standard", tempfile::tempdir().unwrap(), &[], &python).await;
        for (file, begin) in &files {
            let point = json!({ "file": file.path(), "line": file.line("doubled"), "expressions": ["x"] });
            let arguments = json!({
                "program": program.path(), "executablePath": python, "points": [point],
            });
            let traced = client.server.ok("trace_values", arguments).await.data;
            let rows = traced["rows"].as_array().unwrap();
            let values: Vec<i32> =
                rows.iter().map(|row| row["values"][0]["value"].as_str().unwrap().parse().unwrap()).collect();
            let own: Vec<i32> = (*begin..begin + 30).collect();
            assert!(own.starts_with(&values), "{python}: {}: {values:?}", file.path());
            // What runs first is not taken for the other.
            assert!(*begin > 0 || !values.is_empty(), "{traced}");
        }
        client.server.finish().await;
    }
}
