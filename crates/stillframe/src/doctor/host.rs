//! `stillframe doctor --host NAME`: the server as a host starts or reaches it.

use std::process::ExitCode;

use anyhow::Context;
use engine::adapter::{self, Adapter, Host as _, Machine};
use serde_json::{Value, json};

use super::SampleFile;
use super::address::LocalServer;
use super::client::ServerConnection;
use super::steps::{self, Tried};
use crate::init::{self, Folders, McpHost, NAME, Scope, ServerCommand, TextPlace};
use crate::terminal;

/// The languages that a probe is tried with: the first that works needs nothing but its runtime.
const LANGUAGES: [&str; 2] = ["node", "python"];
/// What servers answer whose rules do not let the small program start. Some toolsets answer with text only.
const REFUSED: [&str; 3] = [
    "--read-only does not allow starting",
    "is outside the allowed folders",
    "` is not allowed; allowed languages",
];

pub(super) async fn run(name: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let host = init::named(name).with_context(|| format!("unknown host `{name}`"))?;
    let mut tried: Vec<Tried> = Vec::new();
    match server(host) {
        Err(problem) => tried.push(("entry", Err(format!("{problem:#}")))),
        Ok((found, Server::Started(command))) => {
            tried.push(("entry", Ok(found)));
            start(&command, &mut tried).await;
        }
        Ok((found, Server::Reached(server))) => {
            tried.push(("entry", Ok(found)));
            tried.push(("initialize", server.try_it().await.map_err(|problem| format!("{problem:#}"))));
        }
    }
    let works = tried.iter().all(|(_, outcome)| outcome.is_ok());
    let text =
        if as_json { steps::to_json("host", host.name, &tried)? } else { steps::to_text(host.title, &tried) };
    terminal::print(&text)?;
    Ok(if works { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What an entry is for.
enum Server {
    Started(ServerCommand),
    /// Over HTTP.
    Reached(LocalServer),
}

/// What the host starts or reaches in this folder. Also returns where its entry is.
fn server(host: &McpHost) -> anyhow::Result<(String, Server)> {
    let folders = Folders::of_user()?;
    let Some((shown, scope, entry)) = entry(host, &folders)? else {
        let scopes = [Scope::Project(folders.here.clone()), Scope::User];
        let files = scopes.iter().filter_map(|scope| host.file(scope, &folders));
        let mut files: Vec<String> = files.map(|file| folders.shown(&file)).collect();
        // In the home folder, both can be one file.
        files.dedup();
        anyhow::bail!(
            "no entry `{NAME}` in {}; to add it: stillframe init {} --yes",
            files.join(" or "),
            host.name
        )
    };
    let command = host.command(&entry);
    anyhow::ensure!(!command.is_disabled, "the entry in {shown} is disabled; enable it in {}", host.title);
    let unknown = |problem| anyhow::anyhow!("{problem}, so the server in {shown} was not started");
    if let Some(what) = init::remote(&entry) {
        let Some(server) = reached(&entry, host, &scope, &folders).map_err(unknown)? else {
            anyhow::bail!(
                "`{NAME}` in {shown} is {what}, which was not checked: doctor checks only servers that {} starts, and HTTP \
                 servers on this machine",
                host.title
            )
        };
        return Ok((format!("{shown}: {what}"), Server::Reached(server)));
    }
    anyhow::ensure!(
        !command.words.is_empty(),
        "`{NAME}` in {shown} has neither a command nor a URL; to add the command: stillframe init {}{} --yes",
        host.name,
        if matches!(scope, Scope::Project(_)) { " --project" } else { "" }
    );
    let written = command.words.join(" ");
    let command = expanded(command, host, &scope, &folders).map_err(unknown)?;
    Ok((format!("{shown}: {written}"), Server::Started(command)))
}

/// The server on this machine that an entry has the address of.
fn reached(
    entry: &Value,
    host: &McpHost,
    scope: &Scope,
    folders: &Folders,
) -> Result<Option<LocalServer>, String> {
    let Some((url, mut headers)) = init::address(entry) else { return Ok(None) };
    let place = place(scope, folders);
    for (_, value) in &mut headers {
        *value = host.variables.expanded(value, TextPlace { is_environment: true, ..place })?;
    }
    Ok(LocalServer::of(&host.variables.expanded(&url, place)?, &headers))
}

fn place<'a>(scope: &'a Scope, folders: &'a Folders) -> TextPlace<'a> {
    let project = if let Scope::Project(folder) = scope { Some(folder) } else { None };
    TextPlace { is_environment: false, home: &folders.home, project }
}

/// The entry that counts in this folder, and where it is: the user's for this folder, or the project's, or the user's.
fn entry(host: &McpHost, folders: &Folders) -> anyhow::Result<Option<(String, Scope, Value)>> {
    if let Some(file) = host.file(&Scope::User, folders)
        && let Some((folder, entry)) = init::existing_for(host, &file, &folders.here)?
    {
        let shown = format!("{} for the folder {folder}", folders.shown(&file));
        return Ok(Some((shown, Scope::User, entry)));
    }
    for scope in [Scope::Project(folders.here.clone()), Scope::User] {
        let Some(file) = host.file(&scope, folders) else { continue };
        if let Some(entry) = init::existing(host, &file)? {
            return Ok(Some((folders.shown(&file), scope, entry)));
        }
    }
    Ok(None)
}

/// The command with the values of its variables, or why it cannot be known.
fn expanded(
    mut command: ServerCommand,
    host: &McpHost,
    scope: &Scope,
    folders: &Folders,
) -> Result<ServerCommand, String> {
    let place = place(scope, folders);
    for word in &mut command.words {
        *word = host.variables.expanded(word, place)?;
    }
    for value in command.env.values_mut() {
        *value = host.variables.expanded(value, TextPlace { is_environment: true, ..place })?;
    }
    match command.words.first() {
        Some(program) if program.contains("${") || program.contains("{env:") => {
            Err(format!("{} is not known to expand `{program}`", host.title))
        }
        _ => Ok(command),
    }
}

/// Starts it, lists its tools and debugs a small program.
async fn start(command: &ServerCommand, tried: &mut Vec<Tried>) {
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
                    let is_refused = REFUSED.iter().any(|refused| problem.contains(refused));
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
            let line = language.facts().sample.line;
            json!({ "program": file, "until": format!("{file}:{line}"), "expressions": ["answer"], "close": true })
        })
    } else if has("debug_probe") {
        (
            "debug_probe",
            |language, file| json!({ "program": file, "file": file, "line": language.facts().sample.line, "language": language.name() }),
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
