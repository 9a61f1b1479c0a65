//! What is measured with: the release build, the interpreters, and the program of each language.

use std::path::PathBuf;

use anyhow::Context;
use serde_json::{Value, json};

use super::ours::{self, OurServer};
use crate::repository;

/// What does not depend on the language.
pub(super) struct Tools {
    /// The release build.
    stillframe: PathBuf,
    cache: PathBuf,
    /// What `doctor` says.
    found: Value,
}

impl Tools {
    /// Builds a release unless there is a `server`, and lets it install what it needs.
    pub(super) fn prepare(server: Option<PathBuf>) -> anyhow::Result<Self> {
        let root = repository::root();
        if server.is_none() {
            repository::output("cargo", &["build", "--release", "--package", "stillframe"])?;
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let stillframe = server.unwrap_or_else(|| target.join("release/stillframe"));
        let cache = target.join("bench-cache");
        ours::command(&stillframe, &cache, &["setup", "python"])?;
        let found = serde_json::from_str(&ours::command(&stillframe, &cache, &["doctor", "--json"])?)?;
        Ok(Self { stillframe, cache, found })
    }

    /// Starts a server.
    pub(super) fn serve(&self) -> anyhow::Result<OurServer> {
        OurServer::start(&self.stillframe, &self.cache)
    }

    /// The size of the program.
    pub(super) fn binary_megabytes(&self) -> anyhow::Result<f64> {
        let bytes = u32::try_from(std::fs::metadata(&self.stillframe)?.len())?;
        Ok(f64::from(bytes) / 1024.0 / 1024.0)
    }

    /// The interpreter that stillframe runs programs of a language by.
    pub(super) fn interpreter(&self, language: &str) -> anyhow::Result<PathBuf> {
        let languages = self.found.get("languages").and_then(Value::as_array);
        let mut languages = languages.into_iter().flatten();
        let found = languages.find(|found| found.get("language") == Some(&json!(language)));
        let interpreter = found.and_then(|found| found.get("interpreter")).and_then(Value::as_str);
        Ok(interpreter.with_context(|| format!("nothing runs {language}"))?.into())
    }

    /// The folder with the package `debugpy` that stillframe uses.
    pub(super) fn debugpy(&self) -> anyhow::Result<PathBuf> {
        let installed = std::fs::read_dir(self.cache.join("python"))?.flatten().map(|entry| entry.path());
        let found = installed.filter(|path| path.join("debugpy").is_dir()).max();
        found.context("debugpy was not installed")
    }
}

const USUAL: [&str; 2] = ["1.4 x and + 0.3 ms", "1.10 x"];
/// With an adapter that other clients drive, too.
const STRICT: [&str; 2] = ["1.2 x and + 0.5 ms", "1.10 x"];

/// A program and a line of it.
pub(super) struct Scene<'a> {
    pub(super) tools: &'a Tools,
    language: &'static str,
    pub(super) program: PathBuf,
    /// Where the breakpoint is; the program itself unless a compiler made it.
    pub(super) source: PathBuf,
    /// For a call, and for a fresh session.
    pub(super) goals: [&'static str; 2],
    /// Counts from 1.
    pub(super) line: u32,
}

impl<'a> Scene<'a> {
    /// The Python program.
    pub(super) fn python(tools: &'a Tools) -> anyhow::Result<Self> {
        Self::of(tools, "python", "main.py")
    }

    /// The same in JavaScript.
    pub(super) fn node(tools: &'a Tools) -> anyhow::Result<Self> {
        Self::of(tools, "javascript", "main.js")
    }

    /// The same in C, as a binary.
    pub(super) fn native(tools: &'a Tools) -> anyhow::Result<Self> {
        let scene = Self::of(tools, "c", "main.c")?;
        scene.built("cc", &["-g", "-O0", "-o"])
    }

    /// The same in Go, as a binary.
    pub(super) fn go(tools: &'a Tools) -> anyhow::Result<Self> {
        let scene = Self::of(tools, "go", "main.go")?;
        scene.built("go", &["build", "-gcflags=all=-N -l", "-o"])
    }

    /// The program that a compiler makes of the source.
    fn built(self, compiler: &str, arguments: &[&str]) -> anyhow::Result<Self> {
        let program = self.tools.cache.join(format!("bench-{}", self.language));
        let command = &mut super::child(compiler.as_ref());
        let status = command.args(arguments).arg(&program).arg(&self.source).status()?;
        anyhow::ensure!(status.success(), "{compiler}: {status}");
        Ok(Self { program, goals: STRICT, ..self })
    }

    fn of(tools: &'a Tools, language: &'static str, file: &str) -> anyhow::Result<Self> {
        let program = repository::root().join("fixtures/bench").join(file);
        let marked = std::fs::read_to_string(&program)?;
        let line = marked.lines().position(|line| line.ends_with("@inside")).context("no line is marked")?;
        let line = u32::try_from(line)? + 1;
        Ok(Self { tools, language, source: program.clone(), program, goals: USUAL, line })
    }

    /// A JavaScript program, stopped at a line of a source that was compiled.
    pub(super) fn compiled(tools: &'a Tools, program: PathBuf, source: PathBuf, line: u32) -> Self {
        Self { tools, language: "javascript", program, source, goals: USUAL, line }
    }

    /// One of our sessions, stopped at the line.
    pub(super) fn stopped(&self, server: &mut OurServer) -> anyhow::Result<String> {
        let created = server.call("create_debug_session", &json!({ "language": self.language }))?;
        let session = created.get("sessionId").and_then(Value::as_str).context("no session")?.to_owned();
        let place = json!({ "sessionId": session, "file": self.source, "line": self.line });
        server.call("set_breakpoint", &place)?;
        let started =
            server.call("start_debugging", &json!({ "sessionId": session, "scriptPath": self.program }))?;
        anyhow::ensure!(started.get("state") == Some(&json!("paused")), "not paused: {started}");
        Ok(session)
    }
}
