//! Command lines and lists of arguments, each given as a list and as one text, to every tool that takes one.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use test_support::{Fixture, Server, tries_everything};

use crate::calls::Tool;
use crate::{done, server};

/// Prints its arguments, or what its interpreter has in place of them.
const PROGRAM: &str = r#"import sys

words = sys.argv[1:] or ["a", sys._xoptions.get("words", "")]
print("|".join(words))  # @print
"#;

const TEST: &str = r#"import sys
import unittest


class Words(unittest.TestCase):
    def test_words(self):
        self.fail("|".join(sys.argv[1:]))
"#;

/// Listens, and is sent the arguments of its client.
const LISTENER: &str = r#"import os
import socket

server = socket.create_server(("127.0.0.1", 0))
with open("port.new", "w") as file:
    file.write(str(server.getsockname()[1]))
os.replace("port.new", "port")
connection, _ = server.accept()
heard = connection.makefile().read()
print(heard)  # @heard
"#;

const CLIENT: &str = r#"import socket
import sys

with open("port") as file, socket.create_connection(("127.0.0.1", int(file.read()))) as connection:
    connection.sendall("|".join(sys.argv[1:]).encode())
"#;

const WORDS: [&str; 2] = ["a", "b c"];
/// What makes the interpreter have the same words.
const OPTIONS: [&str; 2] = ["-X", "words=b c"];
/// What unittest has in place of them.
const PATTERN: [&str; 2] = ["-k", "b c"];
/// What the programs make of all of them.
const JOINED: &str = "|b c";

/// The programs of the test, in a folder whose name has a space.
struct Programs {
    program: Fixture,
    listener: Fixture,
    folder: std::path::PathBuf,
}

impl Programs {
    fn write(folder: &Path) -> Self {
        let folder = folder.join("with space");
        std::fs::create_dir(&folder).expect("a folder");
        Fixture::write(&folder, "test_words.py", TEST);
        Fixture::write(&folder, "client.py", CLIENT);
        Self {
            program: Fixture::write(&folder, "show.py", PROGRAM),
            listener: Fixture::write(&folder, "listens.py", LISTENER),
            folder,
        }
    }

    /// One row for each argument of a tool that is a command line or a list of arguments: the tool, the argument, the
    /// words before those that are to arrive, and the rest of the call.
    fn rows(&self) -> Vec<(&'static str, &'static str, Vec<&str>, Value)> {
        let path = self.program.path();
        let at =
            |fixture: &Fixture, line: &str| json!({ "file": fixture.path(), "line": fixture.line(line) });
        let place = at(&self.program, "print");
        let point =
            json!({ "file": path, "line": self.program.line("print"), "expressions": ["'|'.join(words)"] });
        let run =
            json!({ "program": path, "until": [place], "expressions": ["'|'.join(words)"], "close": true });
        // The place is in the script of the command.
        let typed = json!({
            "until": [{ "line": self.program.line("print") }], "expressions": ["'|'.join(words)"], "close": true,
        });
        let listens = json!({
            "program": self.listener.path(), "cwd": self.folder, "until": [at(&self.listener, "heard")],
            "expressions": ["heard"], "close": true,
        });
        let traced = json!({
            "program": self.listener.path(), "cwd": self.folder,
            "points": [{ "line": self.listener.line("heard"), "expressions": ["heard"] }],
        });
        let probe = json!({
            "program": path, "line": self.program.line("print"), "expressions": ["'|'.join(words)"],
        });
        let script = json!({ "breakpoint": place, "expression": "'|'.join(words)", "timeout": 20_000 });
        let unittest = vec!["-m", "unittest", "test_words", "-k", "test_words"];
        let tests = || json!({ "command": "python3", "cwd": self.folder });
        let python = || json!({ "command": "python3" });
        vec![
            ("run_until", "command", vec!["python3", path], typed),
            ("run_until", "args", vec![], run.clone()),
            ("run_until", "runtimeArgs", vec![], run),
            ("run_until", "trigger.command", vec!["python3", "client.py"], listens),
            ("trace_values", "command", vec!["python3", path], json!({ "points": [point] })),
            ("trace_values", "args", vec![], json!({ "program": path, "points": [point] })),
            ("trace_values", "runtimeArgs", vec![], json!({ "program": path, "points": [point] })),
            ("trace_values", "trigger.command", vec!["python3", "client.py"], traced),
            ("diagnose_hang", "command", vec!["python3", path], json!({})),
            ("diagnose_hang", "args", vec![path], python()),
            ("debug_test", "command", [vec!["python3"], unittest.clone()].concat(), tests()),
            ("debug_test", "args", unittest.clone(), tests()),
            ("start_debugging", "args", vec![], json!({ "scriptPath": path })),
            ("start_debugging", "runtimeArgs", vec![], json!({ "scriptPath": path })),
            ("debugger_start", "command", vec!["python3", path], json!({})),
            ("debugger_start", "args", vec![path], python()),
            ("debugger_detect_hang", "command", vec!["python3", path], json!({})),
            ("debugger_detect_hang", "args", vec![path], python()),
            ("debugger_run_test", "command", [vec!["python3"], unittest.clone()].concat(), tests()),
            ("debugger_run_test", "args", unittest, tests()),
            ("debug_launch", "args", vec![], json!({ "program": path })),
            ("debug_probe", "args", vec![], probe),
            ("debug-script", "command", vec!["python3", path], script),
            ("record_run", "command", vec!["python3", path], json!({})),
            ("record_run", "args", vec![path], python()),
        ]
    }
}

/// The forms in which a list of words is accepted.
fn forms(words: &[&str]) -> [Value; 3] {
    let typed: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    [json!(words), json!(typed.join(" ")), json!(json!(words).to_string())]
}

fn set(call: &mut Value, argument: &str, value: Value) {
    match argument.split_once('.') {
        Some((outer, inner)) => call[outer] = json!({ inner: value }),
        None => call[argument] = value,
    }
}

/// Calls a tool, and returns all that it and the session's end say.
async fn said(server: &Server, tool: &str, mut call: Value) -> String {
    match tool {
        "start_debugging" => {
            let created = server.ok("create_debug_session", json!({ "language": "python" })).await;
            call["sessionId"] = json!(created.text_of("sessionId"));
            let started = server.ok(tool, call.clone()).await.text;
            server.ok("close_debug_session", json!({ "sessionId": call["sessionId"] })).await;
            started
        }
        "debugger_start" => {
            let started = server.call(tool, call).await;
            let session = json!({ "sessionId": started.text_of("sessionId") });
            let ended = server.call("debugger_continue", session.clone()).await.text;
            server.call("debugger_stop_session", session).await;
            ended
        }
        "debug_launch" => {
            server.call(tool, call).await;
            server.call("debug_continue", json!({})).await.text
        }
        // Some answers have no text.
        _ => {
            let call = json!({ "name": tool, "arguments": call });
            server.request("tools/call", call).await.expect("an answer").to_string()
        }
    }
}

#[tokio::test]
async fn command_lines_and_lists_are_accepted_in_each_form() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let state = tempfile::tempdir().expect("a folder for recordings");
    let programs = Programs::write(folder.path());
    let (server, tools) = server(state.path(), Some(folder.path())).await;
    let rows = programs.rows();
    let mut problems = Vec::new();
    for (number, (tool, argument, before, rest)) in rows.iter().enumerate() {
        let words = match (*tool, *argument) {
            (_, "runtimeArgs") => OPTIONS,
            ("debug_test" | "debugger_run_test", _) => PATTERN,
            _ => WORDS,
        };
        // On each push, each second row in one form, and each form in a third of these.
        let (first, step) = match (tries_everything(), number % 2) {
            (true, _) => (0, 1),
            (false, 0) => (number / 2 % 3, 3),
            (false, _) => continue,
        };
        for form in forms(&[before.as_slice(), &words].concat()).into_iter().skip(first).step_by(step) {
            let mut call = rest.clone();
            set(&mut call, argument, form.clone());
            let _ = std::fs::remove_file(programs.folder.join("port"));
            let said = said(&server, tool, call).await;
            if !said.contains(JOINED) {
                problems.push(format!("{tool}, {argument} = {form}:\n{said}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    let tried: BTreeSet<(String, String)> =
        rows.iter().map(|(tool, argument, ..)| ((*tool).to_owned(), (*argument).to_owned())).collect();
    let listed = tools.iter().flat_map(|tool| {
        let arguments = word_arguments(tool);
        arguments.into_iter().map(|argument| (tool.name.clone(), argument))
    });
    let missing: Vec<_> = listed.filter(|one| !tried.contains(one)).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
    done(server).await;
}

/// The arguments of a tool that are command lines or lists of arguments.
fn word_arguments(tool: &Tool) -> Vec<String> {
    let is_one = |name: &str| name == "command" || name.to_lowercase().ends_with("args");
    let takes_words = |schema: &Value| schema["type"] == "string" || schema["items"]["type"] == "string";
    let mut found = Vec::new();
    for (name, schema) in &tool.properties {
        if is_one(name) && takes_words(schema) {
            found.push(name.clone());
        }
        let inner = schema["properties"].as_object().into_iter().flatten();
        found.extend(
            inner
                .filter(|(inner, schema)| is_one(inner) && takes_words(schema))
                .map(|(inner, _)| format!("{name}.{inner}")),
        );
    }
    found
}

#[tokio::test]
async fn a_text_that_needs_a_shell_is_refused_with_the_way_out() {
    let state = tempfile::tempdir().expect("a folder for recordings");
    let (server, _) = server(state.path(), None).await;
    let table = [
        (json!({ "program": "a.py", "args": "$HOME" }), "a shell would expand `$HOME`; no shell runs here"),
        (json!({ "program": "a.py", "args": "x | y" }), "several commands or a redirection"),
        (json!({ "program": "a.py", "args": "'x" }), "a quote is not closed"),
        (json!({ "program": "a.py", "args": ["x", {}] }), "`args[1]` must be a string, not `{}`"),
    ];
    for (call, message) in table {
        let answer = server.fails("invalid_arguments", "run_until", call.clone()).await;
        assert!(answer.text.contains(message), "{call}: {}", answer.text);
    }
    done(server).await;
}
