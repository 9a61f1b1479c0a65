//! `stillframe doctor --host NAME`: the server as a host starts it.

use std::process::ExitCode;

use anyhow::Context;
use engine::adapter::{self, Adapter, Host as _, Machine};
use serde_json::{Value, json};

use super::SampleFile;
use super::client::ServerConnection;
use super::steps::{self, Tried};
use crate::init::{self, Folders, McpHost, NAME, Scope, ServerCommand};
use crate::terminal;

/// The languages that a probe is tried with: the first that works needs nothing but its runtime.
const LANGUAGES: [&str; 2] = ["node", "python"];
/// What a server with `--read-only` answers.
const REFUSED: &str = "--read-only does not allow starting";

pub(super) async fn run(name: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let host = init::named(name).with_context(|| format!("unknown host `{name}`"))?;
    let mut tried: Vec<Tried> = Vec::new();
    match command(host) {
        Err(problem) => tried.push(("entry", Err(format!("{problem:#}")))),
        Ok((found, command)) => {
            tried.push(("entry", Ok(found)));
            server(&command, &mut tried).await;
        }
    }
    let works = tried.iter().all(|(_, outcome)| outcome.is_ok());
    let text =
        if as_json { steps::to_json("host", host.name, &tried)? } else { steps::to_text(host.title, &tried) };
    terminal::print(&text)?;
    Ok(if works { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the host starts in this folder: a project's entry comes first. Also gives where it is.
fn command(host: &McpHost) -> anyhow::Result<(String, ServerCommand)> {
    let folders = Folders::of_user()?;
    let scopes = [Scope::Project(std::env::current_dir()?), Scope::User];
    let files: Vec<_> =
        scopes.iter().filter_map(|scope| Some((scope, host.file(scope, &folders)?))).collect();
    for (scope, file) in &files {
        let Some(entry) = init::existing(host, file)? else { continue };
        let command = host.command(&entry);
        let shown = folders.shown(file);
        if let Some(what) = init::remote(&entry) {
            anyhow::bail!(
                "`{NAME}` in {shown} is {what}, which was not checked: doctor checks only servers that {} starts",
                host.title
            );
        }
        anyhow::ensure!(
            !command.words.is_empty(),
            "`{NAME}` in {shown} has neither a command nor a URL; to add the command: stillframe init {}{} --yes",
            host.name,
            if matches!(scope, Scope::Project(_)) { " --project" } else { "" }
        );
        anyhow::ensure!(
            !command.is_disabled,
            "the entry in {shown} is disabled; enable it in {}",
            host.title
        );
        return Ok((format!("{shown}: {}", command.words.join(" ")), command));
    }
    let files: Vec<String> = files.iter().map(|(_, file)| folders.shown(file)).collect();
    anyhow::bail!(
        "no entry `{NAME}` in {}; to add it: stillframe init {} --yes",
        files.join(" or "),
        host.name
    )
}

/// Starts it, lists its tools and debugs a small program.
async fn server(command: &ServerCommand, tried: &mut Vec<Tried>) {
    let (mut server, version) = match ServerConnection::open(command).await {
        Ok(opened) => opened,
        Err(problem) => return tried.push(("start", Err(format!("{problem:#}")))),
    };
    tried.push(("start", Ok(version)));
    match server.tools().await {
        Ok(tools) => {
            tried.push(("tools/list", Ok(format!("{} tools", tools.len()))));
            match probe(&mut server, &tools).await {
                Ok(Some(found)) => tried.push(("probe", Ok(found))),
                Ok(None) => {}
                Err(problem) => {
                    let problem = format!("{problem:#}");
                    let is_refused = problem.contains(REFUSED);
                    tried.push(if is_refused {
                        let found = format!("starting programs is not allowed, as configured: {problem}");
                        ("probe refused", Ok(found))
                    } else {
                        ("probe", Err(problem))
                    });
                }
            }
        }
        Err(problem) => tried.push(("tools/list", Err(format!("{problem:#}")))),
    }
    server.close().await;
}

/// Stops a small program and reads a value; nothing where no tool does that in one call.
async fn probe(server: &mut ServerConnection, tools: &[String]) -> anyhow::Result<Option<String>> {
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    let (tool, call): (_, fn(&dyn Adapter, &str) -> Value) = if has("run_until") {
        ("run_until", |language, file| {
            let line = language.sample().line;
            json!({ "program": file, "until": format!("{file}:{line}"), "expressions": ["answer"], "close": true })
        })
    } else if has("debug_probe") {
        (
            "debug_probe",
            |language, file| json!({ "program": file, "file": file, "line": language.sample().line, "language": language.name() }),
        )
    } else {
        return Ok(None);
    };
    let known = LANGUAGES.into_iter().filter_map(adapter::by_name);
    let language = known.into_iter().find(|language| {
        let programs: &[&str] = if language.name() == "node" { &["node"] } else { &["python3", "python"] };
        programs.iter().any(|program| Machine.which(program).is_some())
    });
    let language =
        language.context("neither Node.js nor Python is on the PATH, so there is nothing to try with")?;
    let sample = SampleFile::write(language)?;
    let answer = server.call(tool, &call(language, &sample.path.to_string_lossy())).await?;
    anyhow::ensure!(
        answer.to_string().contains("42"),
        "a small program did not stop with the value 42: {answer}"
    );
    Ok(Some(format!("{tool} stopped a program in {} and read a value", language.name())))
}
