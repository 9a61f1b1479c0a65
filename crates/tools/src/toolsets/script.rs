//! The vocabulary of *nodejs-debug-mcp*: one tool, one question, one answer.
//!
//! Parameters, answers and the two errors are those of its specification, word for word. More was added: source
//! maps, any port or none, Python, and what to report when nothing was reached.

mod answer;
mod node;
mod original;
mod python;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use engine::adapter;
use engine::deadlines;
use engine::error::Error;
use engine::model::breakpoint::Rule;
use engine::model::launch::{Launch, Program};
use engine::recording::CellFormat;
use engine::session::Session;
use engine::session::placing::PlaceRequest;
use engine::sources;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::answer::{ScriptResult, Wanted};
pub use self::original::TOOLSET as ORIGINAL;
use crate::ops::closing::CloseOnDrop;
use crate::ops::command::Command;
use crate::ops::lifecycle;
use crate::ops::settle::Wait;
use crate::ops::trace::{self, Clock, Point, RecordMethod, Trace, TracedPoint, WhenFull};
use crate::{CommandLine, Context, Effects, Entry, Tool, ToolError, Toolset};

/// The vocabulary.
pub static TOOLSET: Toolset = Toolset {
    name: "script",
    about: "one tool that runs a command and evaluates an expression at each hit of a line, as in nodejs-debug-mcp",
    instructions: INSTRUCTIONS,
    tools: &[Entry::of::<DebugScript>()],
    prompts: &[],
};

const INSTRUCTIONS: &str = "\
debug-script runs a command and evaluates an expression at each hit of a line: one call, nothing to close. \
The expression is evaluated in the frame, so it sees local variables. The program runs to its end; a server \
needs a timeout, and returns what was recorded until then.";

/// The default maximum number of values.
const ROWS: u64 = 10_000;
/// The code of the error of a program that did not come up.
const ENDED_EARLY: &str = "start_failed";
/// How many frames of a stack.
const FRAMES: usize = 50;

/// How many programs are started at once. More would only start more slowly, each with less of its time left.
static STARTS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Arc::new(Semaphore::new(cores.max(2)))
});

/// Runs a command, and evaluates at each hit of a line.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DebugScript {
    /// command line that runs the program: `node app.js`, `npm test`, `python app.py`; --inspect-brk is optional
    command: CommandLine,
    breakpoint: BreakpointParam,
    /// evaluated at each hit
    expression: String,
    /// ms; then the program is ended
    timeout: u64,
    /// include the stack of each result
    include_stack: Option<bool>,
    /// include the program's output
    include_output: Option<bool>,
    /// only hits where this is true
    condition: Option<String>,
    /// maximum results, default 10000; the program keeps running
    max_hits: Option<u64>,
    /// default: the server's
    cwd: Option<PathBuf>,
    /// added to the environment
    env: Option<BTreeMap<String, String>>,
}

/// Where.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BreakpointParam {
    /// source file, TypeScript included; relative to cwd
    file: PathBuf,
    /// 1-based
    line: u32,
}

impl Tool for DebugScript {
    type Answer = ScriptResult;
    const NAME: &'static str = "debug-script";
    const TITLE: &'static str = "Debug script";
    const DESCRIPTION: &'static str =
        "Run a command and evaluate an expression at each hit of a line; returns a list of typed values.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<ScriptResult, ToolError> {
        self.run(context, AtBreakpoint::AnyLine).await
    }
}

impl DebugScript {
    /// Runs the command.
    async fn run(self, context: &Context, at: AtBreakpoint) -> Result<ScriptResult, ToolError> {
        if self.command.typed().trim().is_empty() {
            return Err(ToolError::argument("command", "is empty"));
        }
        trace::check_counts(context.bounds(), self.max_hits, None, Some(self.timeout))?;
        let wanted = Wanted {
            timeout: self.timeout,
            max_hits: self.max_hits,
            with_output: self.include_output.unwrap_or(false),
            bytes: context.bounds().answer_size(),
        };
        // Given up with the call, like all that follows.
        let admission = admission().await?;
        let wait = Wait::new(context.bounds(), Some(self.timeout), context.bounds().report())?;
        let (session, launch) = self.open(context)?;
        let closing = CloseOnDrop::new(context, &session, true);
        let mut request = Trace { admission: Some(admission), ..self.request(launch, wait, context) };
        if at == AtBreakpoint::Never {
            request.points.clear();
        }
        let traced = trace::trace(&session, request, context).await;
        closing.settle(true).await;
        match traced {
            Ok(mut traced) => {
                let is_moved =
                    |point: &TracedPoint| point.breakpoint.line() != point.breakpoint.requested_line();
                if at == AtBreakpoint::SameLine && traced.points.iter().any(is_moved) {
                    traced.rows.clear();
                    traced.points.iter_mut().for_each(|point| point.hits = 0);
                }
                Ok(ScriptResult::new(traced, wanted))
            }
            // A command that ends before there is anything to debug.
            Err(error) if error.code == ENDED_EARLY => Ok(ScriptResult::never_ran(error)),
            Err(error) => Err(error),
        }
    }
}

/// Which hits of a breakpoint count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtBreakpoint {
    /// All of them, also where the line has no code and the next one with code is used.
    AnyLine,
    /// Those on the requested line.
    SameLine,
    /// There is none.
    Never,
}

/// The permit to start a program; others that start take their time.
async fn admission() -> Result<OwnedSemaphorePermit, ToolError> {
    let limit = deadlines::LONGEST_WAIT;
    match tokio::time::timeout(limit, Arc::clone(&STARTS).acquire_owned()).await {
        Ok(admission) => Ok(admission.map_err(|_| Error::Closed)?),
        Err(_) => {
            Err(Error::Deadline { what: "the start of other programs".to_owned(), after: limit }.into())
        }
    }
}

impl DebugScript {
    /// A session in the language of the breakpoint's file, and how its program is started.
    fn open(&self, context: &Context) -> Result<(Session, Launch), ToolError> {
        let cwd = self.cwd.as_deref().map(sources::absolute);
        // A file of unknown type may be any that Node loads.
        let adapter = match adapter::by_extension(&self.breakpoint.file) {
            Some(adapter) => adapter,
            None => lifecycle::language_of("javascript")?,
        };
        let safety = &context.sessions.policy().safety;
        safety.check_path(&cwd.clone().unwrap_or_default().join(&self.breakpoint.file))?;
        let is_confined = safety.roots.is_some();
        let command = self.command.typed();
        let (executable, mut launch) = match adapter.name() {
            "javascript" if is_confined => without_a_shell(&command, cwd)?,
            "javascript" => (Some(PathBuf::from("sh")), in_a_shell(&command, cwd)),
            "python" => {
                let (executable, launch) = python::launch(&command, cwd)?;
                (Some(executable), launch)
            }
            _ => {
                let problem = format!("is {}; this tool debugs only Node.js and Python", adapter.about());
                return Err(ToolError::argument("breakpoint.file", problem));
            }
        };
        let given = self.env.clone().unwrap_or_default();
        for (name, value) in given {
            launch.env.entry(name).or_insert(Some(value));
        }
        let session = context.sessions.open_unlisted(adapter, command, executable)?;
        Ok((session, launch))
    }

    fn request(self, launch: Launch, wait: Wait, context: &Context) -> Trace {
        let base = launch.cwd.clone().unwrap_or_default();
        let wanted = PlaceRequest {
            file: Some(base.join(self.breakpoint.file)),
            line: Some(self.breakpoint.line),
            rule: Rule { condition: self.condition, ..Rule::default() },
            ..PlaceRequest::default()
        };
        let point = Point { wanted, expressions: vec![self.expression] };
        Trace {
            max_rows: self.max_hits.unwrap_or(context.bounds().default_rows(ROWS)),
            when_full: WhenFull::RunOn,
            cells: CellFormat::Json(context.bounds().text(usize::MAX)),
            frames: if self.include_stack == Some(true) { FRAMES } else { 0 },
            way: RecordMethod::from_environment(),
            passes_others: true,
            clock: Clock::Run,
            ..Trace::new(Some(launch), vec![point], wait)
        }
    }
}

/// A command that a shell runs, and that ends in Node.
fn in_a_shell(command: &str, cwd: Option<PathBuf>) -> Launch {
    let runtime_args = vec!["-c".to_owned(), node::prepared(command)];
    Launch { runtime_args, cwd, ..Launch::new(Program::Command) }
}

/// The same without a shell, whose words then are what they say: what a shell makes of them cannot be checked.
fn without_a_shell(command: &str, cwd: Option<PathBuf>) -> Result<(Option<PathBuf>, Launch), ToolError> {
    if command.contains("NODE_OPTIONS=") {
        let problem = "sets `NODE_OPTIONS`; no shell runs here, so set it in `env`";
        return Err(ToolError::argument("command", problem));
    }
    let Command { adapter, executable, launch, .. } =
        Command::read(&adapter::Machine, &CommandLine::Typed(node::prepared(command)), None, cwd)?;
    if adapter.name() != "javascript" {
        return Err(ToolError::argument(
            "command",
            "does not run Node.js, the language of the breakpoint's file",
        ));
    }
    Ok((executable, launch))
}
