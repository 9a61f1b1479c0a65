//! Everything that a server must not access, tried with every tool.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null; the counts are for people"
)]

mod characters;
mod equality;
mod every_tool;
mod foreign_connections;
mod inspector_port;
mod limits;
mod modules;
mod names;
mod read_only;
mod remote_hosts;
mod roots;
mod secrets;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use test_support::{Built, DynamicLanguage as Language, Server, ServerOptions};

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };

/// Two folders beside each other, with the same programs in both.
struct Scene {
    _folder: tempfile::TempDir,
    inside: PathBuf,
    outside: PathBuf,
}

/// A secret that must not appear.
const SECRET: &str = "the-secret-of-the-outside";

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (inside, outside) = (base.join("inside"), base.join("outside"));
        for (one, word) in [(&inside, "public"), (&outside, SECRET)] {
            std::fs::create_dir(one).unwrap();
            std::fs::write(one.join("main.py"), format!("word = \"{word}\"\nother = 2\nprint(other)\n"))
                .unwrap();
            std::fs::write(one.join("main.js"), format!("const word = \"{word}\";\nconsole.log(2);\n"))
                .unwrap();
        }
        Self { _folder: folder, inside, outside }
    }

    fn inside(&self, name: &str) -> String {
        self.inside.join(name).display().to_string()
    }

    fn outside(&self, name: &str) -> String {
        self.outside.join(name).display().to_string()
    }

    /// Writes a program into the folder that is allowed.
    fn program(&self, language: Language, stem: &str, text: &str) -> String {
        let path = self.inside.join(language.file(stem));
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

/// A server with all toolsets and these options.
async fn serve(options: &[&str], cwd: &Path) -> Server {
    let mut args = vec!["serve".to_owned(), "--toolset".to_owned(), "all".to_owned()];
    args.extend(options.iter().map(|option| (*option).to_owned()));
    let cwd = Some(cwd.to_owned());
    ServerOptions { args, cwd, ..STILLFRAME.options().await }.start().await
}

/// A session that is stopped at a line of a program.
async fn stopped_at(server: &Server, language: Language, program: &str, line: u32) -> String {
    let session = server.ok("create_debug_session", json!({ "language": language.name() })).await;
    let id = session.text_of("sessionId").to_owned();
    let location = json!({ "sessionId": id, "file": program, "line": line });
    server.ok("set_breakpoint", location).await;
    let mut started = server.ok("start_debugging", json!({ "sessionId": id, "scriptPath": program })).await;
    // The server may have been told not to wait that long.
    while started["state"] == "running" {
        started = server.ok("continue_execution", json!({ "sessionId": id })).await;
    }
    assert_eq!(started["reason"], "breakpoint", "{}", started.text);
    id
}

/// The addresses, as the system writes them, on which a process listens. None of one that has gone.
fn listening(pid: u32) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    let sockets: Vec<String> = links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut addresses = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = std::fs::read_to_string(table).unwrap_or_default();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words[3] == "0A" && sockets.iter().any(|socket| socket == words[9]) {
                addresses.push(words[1].to_owned());
            }
        }
    }
    addresses
}

/// What a tool answers, whichever form that has: text, and data as text.
struct ToolAnswer {
    is_error: bool,
    text: String,
}

/// Calls a tool of any toolset.
async fn call(server: &Server, tool: &str, arguments: &Value) -> ToolAnswer {
    let params = json!({ "name": tool, "arguments": arguments });
    let result = server.request("tools/call", params).await;
    let result = result.unwrap_or_else(|error| panic!("{tool}: {error}"));
    let text = format!(
        "{} {}",
        result["content"][0]["text"].as_str().unwrap_or_default(),
        result["structuredContent"]
    );
    ToolAnswer { is_error: result["isError"] == true, text }
}

/// The tools as the command line lists them.
async fn tools() -> Vec<Value> {
    let mut command = STILLFRAME.command();
    command.args(["tools", "--toolset", "all", "--json"]);
    let output = command.output().await.expect("the program under test runs");
    let toolsets: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    let all = toolsets.as_array().expect("a list");
    all.iter().flat_map(|toolset| toolset["tools"].as_array().cloned().unwrap_or_default()).collect()
}
