//! The counterpart of `debuggee/python/stillframe_agent.py`: our code inside the program reads values and evaluates
//! expressions.
//!
//! A request is the evaluation of one call in the suspended thread; the JSON that comes back is its value.
//! Compared with the protocol's own requests it reads bounded texts and pages without running the
//! program's code where that can be helped, and it can be interrupted where it cannot.

mod data;
mod places;
mod values;

pub(super) use self::values::ExpandedRows;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::ahead::Ahead;
use crate::adapter::python::AGENT;
use crate::deadlines;
use crate::debugger::remote_setting::RemoteSetting;
use crate::debugger::{BindResult, Evaluate, uninterrupted};
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::activity::SampledFrame;
use crate::model::breakpoint::FunctionLocation;
use crate::model::ids::RawId;
use crate::model::source::{Location, Source};
use crate::model::stack::{Scope, ScopeKind, SourceRange};
use crate::model::stop::Exception;
use crate::model::thrown::{Assertion, Side, SideValue, Thrown};
use crate::model::variable::Value;
use crate::process;

/// The name of the module inside the program.
const MODULE: &str = "stillframe_agent";
/// The name of the one that sees what the program is doing.
const SAMPLER: &str = "stillframe_sampler";

/// The name of the one that evaluates without effects.
const PURE: &str = "stillframe_pure";
/// The name of the one that decides which exceptions are worth a stop.
const THROWS: &str = "stillframe_throws";

/// pydevd answers in the thread that is asked, and that is not possible in all of them.
const ELSEWHERE: &str = "this frame's thread waits in native code, such as a lock or a system call, so its \
                         stack is available but not its values; choose a frame of a thread that runs Python \
                         code";

#[derive(Debug)]
pub(super) struct AgentClient {
    client: ::dap::Client,
    /// Filled when the program has what records.
    recorder: tokio::sync::OnceCell<()>,
    /// Filled when the program has what evaluates without effects.
    pure: tokio::sync::OnceCell<()>,
    /// Filled when the program has what watches values.
    watch: tokio::sync::OnceCell<()>,
    /// What to say of watched values, by the IDs of their storage.
    watch_notes: Mutex<HashMap<String, String>>,
    /// Nothing of the program's may run while it is read.
    side_effect_free: bool,
    /// The program decides itself which exceptions are worth a stop.
    watches_throws: RemoteSetting<bool>,
    /// The process to nudge.
    pid: Option<u32>,
    /// What was sent before it was requested.
    pub(super) ahead: Ahead,
    /// Which frame a reference was found from; a request about it is evaluated there.
    frames: Mutex<HashMap<RawId, RawId>>,
    /// One request at a time: in pydevd 1.8.22 each further one that waits for the same thread costs 200 ms.
    turn: tokio::sync::Mutex<()>,
    /// The callers that wait for a result, by the number of their request.
    asked: Mutex<HashMap<u64, oneshot::Sender<FunctionLookup>>>,
}

/// Whether what was looked for is there, and names that belong to the answer: of a function that is not loaded, those
/// that are.
#[derive(Debug, Deserialize)]
pub(super) struct FunctionLookup {
    #[serde(rename = "found")]
    pub(super) is_there: bool,
    pub(super) names: Vec<String>,
    /// Where the function is that was looked for.
    #[serde(default)]
    pub(super) at: Option<FunctionPlace>,
}

/// Where a function is.
#[derive(Debug, Deserialize)]
pub(super) struct FunctionPlace {
    file: PathBuf,
    /// The line with its name.
    declared: u32,
    /// The line of its first statement.
    line: u32,
}

impl FunctionPlace {
    /// A breakpoint on it.
    pub(super) fn bound(self) -> BindResult {
        let function = FunctionLocation { file: self.file, declared: Some(self.declared) };
        BindResult::in_function(function, Some(self.line))
    }
}

/// What every answer may be instead.
#[derive(Deserialize)]
#[serde(untagged)]
enum AgentReply<T> {
    Failed { error: Failure },
    Is(T),
}

#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "type")]
    type_name: String,
    message: String,
    traceback: String,
}

/// Text, type, reference, children, cut, length.
#[derive(Debug, Deserialize)]
struct RawValue(String, String, Option<i64>, u64, bool, Option<u64>);

#[derive(Deserialize)]
struct ValueReply {
    value: RawValue,
}

#[derive(Deserialize)]
struct SameReply {
    same: Option<usize>,
}

#[derive(Deserialize)]
struct Scopes {
    locals: i64,
    globals: i64,
    /// The file of the frame's code, with its first and its last line.
    code: Option<(PathBuf, u32, u32)>,
}

#[derive(Deserialize)]
struct ConditionReply {
    met: bool,
}

#[derive(Deserialize)]
struct KnownException {
    seen: bool,
}

#[derive(Deserialize)]
struct RawThrown {
    mark: Option<String>,
    assertion: Option<RawAssertion>,
    stack: Vec<RawFrame>,
}

/// Function, file, line.
#[derive(Deserialize)]
struct RawFrame(String, String, Option<u32>);

impl RawFrame {
    fn sampled(self, is_internal: impl Fn(&Path) -> bool) -> SampledFrame {
        let Self(function, name, line) = self;
        let path = Some(PathBuf::from(&name)).filter(|path| path.is_absolute());
        let internal = path.as_deref().is_none_or(is_internal);
        let source = Source { path, name, internal };
        let location = line.map(|line| Location { source, line, column: 1, generated: None });
        SampledFrame { function, location }
    }
}

#[derive(Deserialize)]
struct RawAssertion {
    expression: Option<String>,
    operator: Option<String>,
    left: Option<RawSide>,
    right: Option<RawSide>,
}

/// An exception.
#[derive(Deserialize)]
struct RawException {
    #[serde(rename = "type")]
    type_name: String,
    message: String,
    uncaught: bool,
}

#[derive(Deserialize)]
pub(super) struct PrintedException {
    pub(super) text: String,
    pub(super) uncaught: bool,
}

/// Its source, and its value: text, type, cut.
#[derive(Deserialize)]
struct RawSide(Option<String>, Option<(String, String, bool)>);

impl From<RawAssertion> for Assertion {
    fn from(raw: RawAssertion) -> Self {
        let RawAssertion { expression, operator, left, right } = raw;
        Self { expression, operator, left: left.map(Side::from), right: right.map(Side::from) }
    }
}

impl From<RawSide> for Side {
    fn from(RawSide(expression, value): RawSide) -> Self {
        let value = value.map(|(text, type_name, cut)| SideValue { text, type_name, cut });
        Self { expression, value }
    }
}

impl AgentClient {
    pub(super) fn new(client: ::dap::Client, pid: Option<u32>, side_effect_free: bool) -> Self {
        Self {
            client,
            recorder: tokio::sync::OnceCell::new(),
            pure: tokio::sync::OnceCell::new(),
            watch: tokio::sync::OnceCell::new(),
            watch_notes: Mutex::default(),
            side_effect_free,
            watches_throws: RemoteSetting::new(false),
            pid,
            ahead: Ahead::default(),
            frames: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            asked: Mutex::default(),
        }
    }

    /// Loads the agent into a program that was not started with it.
    pub(super) async fn send_itself(&self) -> Result<()> {
        self.send(&[AGENT.values, AGENT.agent].concat()).await
    }

    /// Stops pydevd from calling `__str__` of exceptions at each stop.
    pub(super) async fn forbid_side_effects(&self) -> Result<()> {
        let call = format!("__import__('sys').modules['{MODULE}'].forbid_side_effects()");
        if self.execute(call.clone()).await.is_ok() {
            return Ok(());
        }
        self.send_itself().await?;
        self.execute(call).await
    }

    /// Makes the program stop only at exceptions that no user code catches, or at all again.
    pub(super) async fn watch_throws(&self, is_on: bool) -> Result<()> {
        let flag = if is_on { "True" } else { "False" };
        let request = async {
            self.load(THROWS, &[AGENT.pure, AGENT.throws].concat()).await?;
            self.execute(format!("__import__('sys').modules['{THROWS}'].watch({flag})")).await
        };
        self.watches_throws.set(is_on, request).await
    }

    /// Loads one of our modules, which `modules` lists after those that it needs. For a program that was started with
    /// the agent, they are in the same folder.
    async fn load(&self, module: &str, modules: &[(&str, &str)]) -> Result<()> {
        let agent = format!("__import__('sys').modules['{MODULE}']");
        if self.execute(format!("{agent}.load('{module}')")).await.is_ok() {
            return Ok(());
        }
        if self.execute(agent).await.is_err() {
            // A child that came to its debugger in a way of its own has no agent yet.
            self.send_itself().await?;
        }
        self.send(modules).await
    }

    /// Loads what sees what the program is doing.
    pub(super) async fn load_sampler(&self) -> Result<()> {
        self.load(SAMPLER, AGENT.sampler).await
    }

    /// Calls a function of the sampler, whether the program runs or not. Its answer comes as an event.
    pub(super) async fn call_sampler(&self, function: &str, request: &Json, within: Duration) -> Result<()> {
        self.execute_within(call_text(SAMPLER, function, request), within).await
    }

    /// Makes modules in the program, all of them by one request.
    async fn send(&self, modules: &[(&str, &str)]) -> Result<()> {
        let module = |(name, source): &(&str, &str)| {
            let source = json!(source);
            format!(
                "module = types.ModuleType({name:?})\n\
                 module.__file__ = '<{name}>'\n\
                 exec(compile({source}, module.__file__, 'exec'), module.__dict__)\n\
                 sys.modules[{name:?}] = module\n"
            )
        };
        let modules: Vec<String> = modules.iter().map(module).collect();
        self.execute(format!("import sys, types\n{}", modules.concat())).await
    }

    /// Runs a statement outside of any frame, which works whether the program runs or not.
    async fn execute(&self, code: String) -> Result<()> {
        self.execute_within(code, deadlines::REQUEST).await
    }

    async fn execute_within(&self, code: String, deadline: Duration) -> Result<()> {
        let arguments = ::dap::EvaluateArguments {
            expression: code,
            context: Some("repl".to_owned()),
            ..Default::default()
        };
        self.client.request::<::dap::Evaluate>(arguments, deadline).await?;
        Ok(())
    }

    /// Child processes stop connecting, because no one will debug them.
    pub(super) async fn stop_debugging_children(&self) -> Result<()> {
        let call = format!("__import__('sys').modules['{MODULE}'].stop_debugging_children()");
        self.execute_within(call, deadlines::GOODBYE).await
    }

    pub(super) async fn scopes(&self, frame: RawId) -> Result<Vec<Scope<RawId>>> {
        let scopes: Scopes = self.call(frame, "scopes", json!([frame.0]), deadlines::REQUEST).await?;
        let scope = |name: &str, kind, reference, range| Scope {
            name: name.to_owned(),
            kind,
            reference: self.remember(RawId(reference), frame),
            expensive: false,
            range,
        };
        let range = scopes.code.map(|(file, line, end_line)| SourceRange {
            source: Source::file(file),
            line,
            column: None,
            end_line,
            end_column: None,
        });
        Ok(vec![
            scope("Locals", ScopeKind::Locals, scopes.locals, range),
            scope("Globals", ScopeKind::Globals, scopes.globals, None),
        ])
    }

    /// Which of several values another one is itself.
    pub(super) async fn same_as(&self, value: RawId, among: &[RawId]) -> Result<Option<usize>> {
        let frame = self.frame_of(value)?;
        let others: Vec<i64> = among.iter().map(|other| other.0).collect();
        let same: SameReply = self.call(frame, "same", json!([value.0, others]), deadlines::REQUEST).await?;
        Ok(same.same)
    }

    pub(super) async fn evaluate(&self, request: Evaluate) -> Result<Value<RawId>> {
        let Evaluate { expression, frame, deadline, text, pure } = request;
        if pure {
            self.pure.get_or_try_init(|| self.load(PURE, AGENT.pure)).await?;
        }
        let arguments = json!([frame.0, expression, deadline.as_secs_f64(), text]);
        let call = json!(["evaluate", arguments, pure || self.side_effect_free]);
        let answer: Result<ValueReply> = self.send_call(frame, &call, deadline).await;
        Ok(self.value(answer.map_err(|error| interrupted(error, deadline, self.pid))?.value, frame))
    }

    pub(super) async fn set_variable(
        &self,
        parent: RawId,
        name: &str,
        value: &str,
        text: usize,
    ) -> Result<Value<RawId>> {
        let frame = self.frame_of(parent)?;
        let deadline = deadlines::EVALUATE;
        let arguments = json!([frame.0, parent.0, name, value, deadline.as_secs_f64(), text]);
        let answer: Result<ValueReply> = self.call(frame, "assign", arguments, deadline).await;
        Ok(self.value(answer.map_err(|error| interrupted(error, deadline, self.pid))?.value, frame))
    }

    pub(super) async fn exception_is_known(&self, frame: RawId) -> Result<bool> {
        let answer: KnownException = self.call(frame, "seen", json!([frame.0]), deadlines::REQUEST).await?;
        Ok(answer.seen)
    }

    /// The frames as the program has them: `is_internal` decides which files are not the user's.
    pub(super) async fn thrown(
        &self,
        frame: RawId,
        text: usize,
        is_internal: impl Fn(&Path) -> bool,
    ) -> Result<Thrown> {
        let answer: RawThrown = self.call(frame, "thrown", json!([frame.0, text]), deadlines::READ).await?;
        let RawThrown { mark, assertion, stack } = answer;
        let stack = stack.into_iter().map(|frame| frame.sampled(&is_internal)).collect();
        Ok(Thrown { mark, stack, assertion: assertion.map(Assertion::from), test: None })
    }

    /// The exception that a frame is stopped at, as far as that is known without running anything of its class.
    pub(super) async fn exception(&self, frame: RawId, text: usize) -> Result<Exception> {
        let answer: RawException =
            self.call(frame, "exception", json!([frame.0, text]), deadlines::READ).await?;
        let RawException { type_name, message, uncaught } = answer;
        Ok(Exception { type_name, message, stack: String::new(), uncaught })
    }

    /// The same as Python prints it, which asks it for its text.
    pub(super) async fn printed_exception(&self, frame: RawId) -> Result<PrintedException> {
        let deadline = deadlines::CONDITION;
        let arguments = json!([frame.0, deadline.as_secs_f64()]);
        self.call(frame, "printed", arguments, deadline).await
    }

    pub(super) async fn exception_satisfies(&self, frame: RawId, condition: &str) -> Result<bool> {
        let deadline = deadlines::CONDITION;
        let arguments = json!([frame.0, condition, deadline.as_secs_f64()]);
        let answer: Result<ConditionReply> = self.call(frame, "meets", arguments, deadline).await;
        answer.map(|answer| answer.met).map_err(|error| interrupted(error, deadline, self.pid)).map_err(
            |error| match error {
                Error::Deadline { after, .. } => Error::Deadline { what: "the condition".to_owned(), after },
                other => other,
            },
        )
    }

    /// The reply is an event, because an evaluation outside a frame returns nothing.
    async fn find(&self, answer: u64, function: &str, request: &Json) -> Result<FunctionLookup> {
        let (sender, found) = oneshot::channel();
        lock(&self.asked).insert(answer, sender);
        self.execute(call_text(MODULE, function, request)).await?;
        let found = tokio::time::timeout(deadlines::REQUEST, found).await;
        found.ok().and_then(std::result::Result::ok).ok_or(Error::Deadline {
            what: "the search for the code of a breakpoint".to_owned(),
            after: deadlines::REQUEST,
        })
    }

    /// The search has finished.
    pub(super) fn found(&self, answer: u64, found: FunctionLookup) {
        if let Some(asked) = lock(&self.asked).remove(&answer) {
            // The caller has given up.
            let _ = asked.send(found);
        }
    }

    async fn call<T: DeserializeOwned>(
        &self,
        frame: RawId,
        function: &str,
        arguments: Json,
        expected: Duration,
    ) -> Result<T> {
        self.send_call(frame, &json!([function, arguments, self.side_effect_free]), expected).await
    }

    /// A call is a function's name, its arguments, and whether nothing of the program's may run.
    async fn send_call<T: DeserializeOwned>(
        &self,
        frame: RawId,
        request: &Json,
        expected: Duration,
    ) -> Result<T> {
        let mut answer = self.ask(frame, request, expected).await?;
        if !answer.starts_with('{') {
            // A child that came to its debugger in a way of its own has no agent yet.
            self.send_itself().await?;
            answer = self.ask(frame, request, expected).await?;
        }
        match serde_json::from_str(&answer) {
            Ok(AgentReply::Is(answer)) => Ok(answer),
            Ok(AgentReply::Failed { error }) if error.type_name.is_empty() => {
                Err(Error::Refused(error.message))
            }
            Ok(AgentReply::Failed { error: Failure { type_name, message, traceback } }) => {
                Err(Error::Raised { type_name, message, traceback })
            }
            Err(_) => Err(Error::Refused(format!("the agent answered {answer:?}"))),
        }
    }

    async fn ask(&self, frame: RawId, request: &Json, expected: Duration) -> Result<String> {
        self.ahead.forget();
        let arguments = ::dap::EvaluateArguments {
            timeout: None,
            expression: call_text(MODULE, "call", request),
            frame_id: Some(frame.0),
            // The one context in which pydevd does not cut the result.
            context: Some("clipboard".to_owned()),
            ..Default::default()
        };
        let deadline = expected + deadlines::EVALUATE_GRACE;
        let until = Instant::now() + deadline;
        let turn = tokio::time::timeout_at(until, self.turn.lock()).await;
        let _turn = turn.map_err(|_| Error::Deadline {
            what: "waiting for another request to this program".to_owned(),
            after: deadline,
        })?;
        let evaluated = self.client.request::<::dap::Evaluate>(arguments, until - Instant::now());
        tokio::select! {
            response = evaluated => match response {
                Err(::dap::Error::Refused { message, .. }) if message.contains("Unable to find thread") => {
                    Err(Error::Refused(ELSEWHERE.to_owned()))
                }
                response => Ok(response?.result),
            },
            () = self.interrupt_after(expected) => Err(Error::Lost),
        }
    }

    /// Native code that keeps the interpreter's lock also keeps the agent's own clock from ticking. A
    /// signal from outside makes such code look up. It is ignored when it comes late. Never ends.
    async fn interrupt_after(&self, expected: Duration) {
        tokio::time::sleep(expected).await;
        loop {
            tokio::time::sleep(deadlines::NUDGE).await;
            if let Some(pid) = self.pid {
                process::interrupt_system_call(pid);
            }
        }
    }

    fn value(&self, value: RawValue, frame: RawId) -> Value<RawId> {
        let RawValue(text, type_name, reference, children, cut, length) = value;
        let reference = reference.map(|reference| self.remember(RawId(reference), frame));
        let children = (children > 0).then_some(children);
        Value { text, type_name, kind: None, reference, children, cut, length, note: None }
    }

    fn remember(&self, reference: RawId, frame: RawId) -> RawId {
        lock(&self.frames).insert(reference, frame);
        reference
    }

    fn frame_of(&self, reference: RawId) -> Result<RawId> {
        let frames = lock(&self.frames);
        frames.get(&reference).copied().ok_or_else(|| Error::Refused("the value is gone".to_owned()))
    }

    /// References die when the program runs.
    pub(super) fn forget(&self) {
        self.ahead.forget();
        lock(&self.frames).clear();
    }
}

/// The text of a call that takes JSON. A JSON string is a Python string literal too.
fn call_text(module: &str, function: &str, request: &Json) -> String {
    format!("__import__('sys').modules['{module}'].{function}({})", json!(request.to_string()))
}

/// An evaluation that ran out of time, in the words for that.
fn interrupted(error: Error, deadline: Duration, pid: Option<u32>) -> Error {
    match error {
        Error::Raised { type_name, .. } if type_name == "Interrupted" => {
            Error::Deadline { what: "the expression".to_owned(), after: deadline }
        }
        Error::Deadline { .. } => uninterrupted(deadline, pid),
        other => other,
    }
}
