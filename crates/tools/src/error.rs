//! Errors, worded for a model. All wording is here, except what to do next, which is in `words.rs`.

mod words;

use engine::error::Error;
use engine::model::breakpoint::Breakpoint;
use engine::session::Session;
use engine::session::watches::Watch;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

pub use words::{Next, Words};
pub(crate) use words::{inspector, quick, standard};

/// Why a call failed, and what to do next.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// A name for the kind of failure that does not change between versions.
    pub code: &'static str,
    /// What failed, in the short words of the toolset's tool reference.
    pub error: String,
    /// The same with what to do next, as far as every vocabulary has the same words for that.
    pub message: String,
    /// A further step; [`ToolError::with_hint`] adds its wording.
    pub next: Option<Next>,
    /// Data about it.
    pub context: Map<String, Value>,
}

/// The most bytes of what went wrong; more is an argument that is repeated whole.
const LONGEST: usize = 4 * 1024;

/// A text that may repeat the input, shortened to a readable length.
fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push_str("...");
    }
    text
}

/// The answer of a call that failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorBody {
    success: bool,
    code: &'static str,
    /// What failed.
    error: String,
    /// The same with what to do next, or more details; omitted if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    context: Map<String, Value>,
}

impl ToolError {
    fn new(code: &'static str, error: impl Into<String>, next: &str) -> Self {
        let error = cut(error.into());
        let message = if next.is_empty() { error.clone() } else { format!("{error}; {next}") };
        Self { code, error, message, next: None, context: Map::new() }
    }

    /// The same, with something to do next.
    #[must_use]
    pub fn then(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.context.insert(name.to_owned(), value);
        self
    }

    /// No session of that id.
    pub fn no_session(id: &str, open: &[Session]) -> Self {
        Self::new("session_not_found", format!("Managed session not found: {id}"), "")
            .then(Next::FindSession)
            .with("openSessions", ids(open))
    }

    /// No session at all.
    pub fn no_sessions() -> Self {
        Self::new("session_not_found", "no debug session is open", "").then(Next::OpenSession)
    }

    /// No session to resume, and no program to start in a new one, which these arguments would do.
    pub fn nothing_to_run(arguments: &str) -> Self {
        let next = format!("pass {arguments} to start a program in a new one");
        Self::new("session_not_found", "no debug session is open", &next)
    }

    /// Several sessions, and none was named.
    pub fn which_session(open: &[Session]) -> Self {
        Self::new("session_ambiguous", "several debug sessions are open", "")
            .then(Next::NameSession)
            .with("openSessions", ids(open))
    }

    /// Nothing is being debugged; `last` is what would be started again.
    pub fn no_program(last: Option<&str>) -> Self {
        let failed = Self::new("not_started", "no program is being debugged", "");
        match last {
            Some(last) => failed.and(&format!("the last one was `{last}`")).then(Next::StartAgain),
            None => failed.then(Next::Start),
        }
    }

    /// An argument is wrong.
    pub fn argument(name: &str, problem: impl std::fmt::Display) -> Self {
        Self::new("invalid_arguments", format!("`{name}` {problem}"), "").with("argument", json!(name))
    }

    /// No such breakpoint; these are there.
    pub fn no_breakpoint(id: &str, known: &[Breakpoint]) -> Self {
        let known: Vec<String> = known.iter().map(|known| known.id.to_string()).collect();
        Self::new("breakpoint_not_found", format!("no breakpoint `{id}`"), &there_are(&known))
            .then(Next::FindBreakpoint)
            .with("breakpointId", json!(id))
            .with("breakpoints", json!(known))
    }

    /// No such watched expression; these are there.
    pub fn no_watch(id: &str, known: &[Watch]) -> Self {
        let known: Vec<String> = known.iter().map(|known| known.id.to_string()).collect();
        Self::new("watch_not_found", format!("no watch `{id}`"), &there_are(&known))
            .then(Next::FindWatch)
            .with("watchId", json!(id))
            .with("watches", json!(known))
    }

    /// The stack has only this many frames.
    pub fn no_frame(index: usize, frames: usize) -> Self {
        let there = match frames {
            0 => "the stack has no visible frames".to_owned(),
            1 => "the only frame is 0".to_owned(),
            _ => format!("valid frames are 0 to {}", frames - 1),
        };
        Self::new("frame_not_found", format!("no frame `{index}`"), &there)
            .then(Next::FindFrame)
            .with("frameIndex", json!(index))
            .with("frames", json!(frames))
    }

    /// A value that can no longer be inspected, or never could.
    pub fn no_object(id: &str, error: Error) -> Self {
        let (code, problem) = match &error {
            Error::Stale { .. } => {
                ("object_released", "belongs to an earlier stop: the program has run since then")
            }
            Error::NoReference { .. } => ("object_not_found", "is unknown"),
            Error::WrongReference { .. } => ("object_not_found", "is not an object"),
            _ => return error.into(),
        };
        let next = if code == "object_released" { Next::RenewReference } else { Next::FindReference };
        Self::new(code, format!("object `{id}` {problem}"), "").then(next).with("objectId", json!(id))
    }

    /// A text that cannot identify a value.
    pub fn no_object_id(id: &str) -> Self {
        let error = format!("`objectId` must be a number such as `12`, not `{id}`");
        Self::new("object_not_found", error, "").then(Next::FindReference).with("objectId", json!(id))
    }

    /// No function that matches; these are some that do not.
    pub fn no_function(pattern: &str, folders: &str, others: &[String]) -> Self {
        let error = format!("no function in the files below {folders} matches `{pattern}`");
        let next = if others.is_empty() {
            "these files have no functions".to_owned()
        } else {
            format!("functions found: {}", others.join(", "))
        };
        Self::new("function_not_found", error, &next).with("functions", json!(others))
    }

    /// A command that is not there.
    pub fn no_command(name: &str, install: &str) -> Self {
        Self::new("command_not_found", format!("`{name}` was not found"), install)
            .with("command", json!(name))
    }

    /// A command of which it is not known what language it runs.
    pub fn unknown_command(name: &str) -> Self {
        let problem = format!("cannot tell which language `{name}` runs");
        let next = "use `node FILE`, `npm test`, `python FILE`, `python -m MODULE`, a script, a binary or a \
                    test runner";
        Self::new("command_unknown", problem, next).with("command", json!(name))
    }

    /// A command that only runs others, in whatever language. `shown_by` prints them.
    pub fn runs_other_commands(name: &str, shown_by: &str) -> Self {
        let problem = format!("`{name}` runs other commands, so the language to debug is unknown");
        let next = format!("give the command that it runs, such as `pytest` or `npm test` ({shown_by})");
        Self::new("command_unknown", problem, &next).with("command", json!(name))
    }

    /// A command such as `uv run` that makes an environment of its own for the command behind it.
    pub fn wrapped(wrapper: &str, option: &str) -> Self {
        let problem = format!(
            "has `{wrapper} {option}`, which may change the environment or the folder that it runs in"
        );
        let next = format!(
            "give the command behind `{wrapper}`, with the interpreter of that environment: \
             `PATH/TO/bin/python -m pytest`"
        );
        Self::argument("command", problem).and(&next)
    }

    /// The user did not allow what a call would do.
    pub fn not_confirmed(question: &str, reason: &str) -> Self {
        Self::new("not_confirmed", format!("{reason}: {question}"), "nothing was done")
    }

    /// The user must allow what a call would do, and the client cannot ask.
    pub fn cannot_confirm(question: &str) -> Self {
        let problem = format!("this server asks its user before it does this (`--confirm`): {question}");
        let next = "the client cannot ask (it declares no `elicitation` with forms); use one that can, or start \
                    the server without `--confirm`";
        Self::new("confirmation_unavailable", problem, next)
    }

    /// The client must say which folders are allowed, and did not.
    pub fn no_client_roots(problem: &str) -> Self {
        let problem =
            format!("files are restricted to the client's roots (`--allow-client-roots`): {problem}");
        let next = "use a client that lists its roots, or start the server with `--allow-root DIR` instead";
        Self::new("no_client_roots", problem, next)
    }

    /// No such language.
    pub fn no_language(language: &str, known: &[&str]) -> Self {
        Self::new("language_unsupported", format!("`{language}` is not supported"), "")
            .and(&format!("supported languages: {}", known.join(", ")))
            .with("languages", json!(known))
    }

    /// The program must be paused; in the tool reference's words for one tool.
    pub fn not_paused_for_locals(state: &str) -> Self {
        Self {
            code: "not_paused",
            error: "Session is not paused".to_owned(),
            message: "Cannot get local variables. The session must be paused at a breakpoint.".to_owned(),
            next: None,
            context: Map::new(),
        }
        .with("state", json!(state))
    }

    /// The same failure with another hint at what to do.
    #[must_use]
    pub fn and(mut self, next: &str) -> Self {
        self.message = format!("{}; {next}", self.message);
        self
    }

    /// The message with what to do next, in the words of a toolset.
    pub fn with_hint(&self, words: Words) -> String {
        match self.next.map(words).filter(|next| !next.is_empty()) {
            Some(next) => format!("{}; {next}", self.message),
            None => self.message.clone(),
        }
    }

    /// The same with the caller's name for the argument that the engine calls `executablePath`.
    #[must_use]
    pub fn naming_executable(mut self, name: &str) -> Self {
        let name = format!("`{name}`");
        for text in [&mut self.error, &mut self.message] {
            *text = text.replace("`executablePath`", &name);
        }
        self
    }

    /// What `standard` sends.
    pub fn body(&self) -> ErrorBody {
        let message = self.with_hint(standard);
        ErrorBody {
            success: false,
            code: self.code,
            error: self.error.clone(),
            message: Some(message).filter(|message| *message != self.error),
            context: self.context.clone(),
        }
    }
}

impl From<recording::Error> for ToolError {
    fn from(error: recording::Error) -> Self {
        match error {
            recording::Error::Engine(error) => error.into(),
            error => Self::new(error.code(), error.to_string(), ""),
        }
    }
}

fn there_are(known: &[String]) -> String {
    if known.is_empty() { "there are none".to_owned() } else { format!("there are: {}", known.join(", ")) }
}

fn ids(open: &[Session]) -> Value {
    open.iter().map(|session| session.id().as_str()).collect()
}

fn lines(lines: &[(u32, String)]) -> Value {
    lines.iter().map(|(line, content)| json!({ "line": line, "content": content })).collect()
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        let code = error.code();
        let room = error.room().unwrap_or_default();
        let plain = Self::new(code, error.to_string(), "");
        match error {
            Error::NotPaused { state } => {
                let (why, next) = match state {
                    "running" => ("the program is running", Next::Suspend),
                    "ended" => ("the program has ended", Next::StartAgain),
                    _ => ("no program was started", Next::Start),
                };
                Self::new(code, "Session is not paused", why).then(next).with("state", json!(state))
            }
            Error::NotLive { state } => {
                let next = if state == "ended" { Next::StartAgain } else { Next::Start };
                plain.then(next).with("state", json!(state))
            }
            Error::AlreadyLive | Error::Undebugged => plain.then(Next::EndFirst),
            Error::NoBreakpoint(id) => {
                plain.then(Next::FindBreakpoint).with("breakpointId", json!(id.to_string()))
            }
            Error::NoThread(id) => plain.then(Next::FindThread).with("threadId", json!(id.0)),
            Error::NoReference { number, .. } | Error::WrongReference { number, .. } => {
                plain.then(Next::FindReference).with("reference", json!(number.0))
            }
            Error::Stale { number, .. } => {
                plain.then(Next::RenewReference).with("reference", json!(number.0))
            }
            Error::NoFile { path, similar } => {
                let similar: Vec<String> = similar.iter().map(|path| path.display().to_string()).collect();
                let plain = match similar.as_slice() {
                    [] => plain,
                    names => plain.and(&format!("did you mean {}?", names.join(" or "))),
                };
                plain.with("file", json!(path.display().to_string())).with("similar", json!(similar))
            }
            Error::BadFile { path, .. } => plain.with("file", json!(path.display().to_string())),
            Error::NoLine { path, line, nearest, .. } => {
                let numbers: Vec<String> = nearest.iter().map(|(line, _)| line.to_string()).collect();
                let plain = match numbers.as_slice() {
                    [] => plain,
                    numbers => {
                        plain.and(&format!("lines that can have a breakpoint: {}", numbers.join(", ")))
                    }
                };
                plain
                    .with("file", json!(path.display().to_string()))
                    .with("line", json!(line))
                    .with("nearest", lines(&nearest))
            }
            Error::NoStatement { path, lines: found, .. } => {
                plain.with("file", json!(path.display().to_string())).with("lines", lines(&found))
            }
            Error::Raised { type_name, message, traceback } => {
                let full = if traceback.is_empty() { message.clone() } else { traceback };
                // The names of the errors of Python and JavaScript for an unknown name.
                let error = if matches!(type_name.as_str(), "NameError" | "ReferenceError") {
                    format!("Name not found: {full}")
                } else {
                    full
                };
                Self { code, error, message, next: None, context: Map::new() }.with("type", json!(type_name))
            }
            Error::UnknownName(message) => {
                let error = format!("Name not found: {message}");
                Self { code, error, message, next: None, context: Map::new() }.with("type", json!(""))
            }
            Error::Lost => plain.then(Next::LearnEnd),
            Error::Forbidden { rule: next, .. } | Error::Environment { remedy: next, .. }
                if !next.is_empty() =>
            {
                plain.and(&next)
            }
            Error::Limit { name, value, .. } => {
                let message = format!("{}, {room}", plain.message);
                Self { message, ..plain }.with("limit", json!(name)).with("value", json!(value))
            }
            Error::StartFailed { output, .. } if !output.is_empty() => {
                plain.and(&format!("its output: {}", output.trim())).with("output", json!(output))
            }
            Error::Deadline { after, .. } => {
                let milliseconds = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                plain.with("timeout", json!(milliseconds))
            }
            _ => plain,
        }
    }
}
