//! What a tool is, and how a toolset lists it.

use std::future::Future;
use std::pin::Pin;

use journal::redaction;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::journaled::JournaledCall;
use crate::prompt::Prompt;
use crate::{
    Answer, Context, Reply, ToolError, arguments, budget, confirmation, hidden, schema, show_in_text,
};

/// A tool is its parameters.
///
/// The body of [`Tool::call`] finds the session, calls one operation and renders. It keeps no state and
/// waits for nothing by itself.
pub trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// What it answers.
    type Answer: Answer;
    /// The public name.
    const NAME: &'static str;
    /// The display name.
    const TITLE: &'static str;
    /// What it does and when to use it, for the model.
    const DESCRIPTION: &'static str;
    /// What it changes.
    const EFFECTS: Effects;
    /// Arguments of other servers' tools of this name that have no effect here, each with its replacement; nothing if
    /// the tool does what they request anyway.
    const IGNORED: &'static [(&'static str, &'static str)] = &[];
    /// Where its answer has our own credentials, as JSON pointers: they are meant for the caller.
    const REVEALED: &'static [&'static str] = &[];

    /// Does it.
    fn call(self, context: &Context) -> impl Future<Output = Result<Self::Answer, ToolError>> + Send;
}

/// What a tool changes, in the terms of MCP's tool annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// It changes nothing.
    pub read_only: bool,
    /// It may undo or end something.
    pub destructive: bool,
    /// Doing it twice is the same as doing it once.
    pub idempotent: bool,
}

impl Effects {
    /// It only reads.
    pub const NONE: Self = Self { read_only: true, destructive: false, idempotent: true };
    /// It adds something, each time.
    pub const ADDS: Self = Self { read_only: false, destructive: false, idempotent: false };
    /// It sets something to the requested value.
    pub const SETS: Self = Self { read_only: false, destructive: false, idempotent: true };
    /// It lets the program's own code run, which may do anything.
    pub const RUNS: Self = Self { read_only: false, destructive: true, idempotent: false };
    /// It ends something; there is nothing left to end the second time.
    pub const ENDS: Self = Self { read_only: false, destructive: true, idempotent: true };
}

/// A tool with its types erased: a line in a toolset's table.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The public name.
    pub name: &'static str,
    /// The display name.
    pub title: &'static str,
    /// What it does and when to use it.
    pub description: &'static str,
    /// What it changes.
    pub effects: Effects,
    /// What it takes, as JSON Schema.
    pub input: fn() -> Map<String, Value>,
    /// What its answers look like as data, as JSON Schema; none where they are text alone.
    pub output: fn() -> Option<Map<String, Value>>,
    /// What its failures look like as data.
    pub failure: fn() -> Option<Map<String, Value>>,
    revealed: &'static [&'static str],
    check: fn(Map<String, Value>) -> Result<(), ToolError>,
    fitted: Fitted,
    call: Call,
    fail: fn(&ToolError) -> Reply,
}

/// A tool's call with its types erased.
type Call =
    for<'a> fn(Map<String, Value>, &'a Context) -> Pin<Box<dyn Future<Output = CallResult> + Send + 'a>>;

/// The arguments that a tool takes from those of a call, unless they do not fit.
type Fitted = fn(Map<String, Value>) -> Option<Map<String, Value>>;

/// An answer, and what of the arguments it does not take into account.
type CallResult = (Reply, Vec<String>);

impl Entry {
    /// The entry of a tool.
    pub const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            title: T::TITLE,
            description: T::DESCRIPTION,
            effects: T::EFFECTS,
            input: schema::listed::<T>,
            output: T::Answer::schema,
            failure: T::Answer::failure_schema,
            revealed: T::REVEALED,
            check: |arguments| read::<T>(arguments, &mut Vec::new()).map(drop),
            fitted: |arguments| fitted(T::IGNORED, &schema::input::<T>(), arguments),
            call: |arguments, context| Box::pin(call::<T>(arguments, context)),
            fail: |error| T::Answer::failure(error, T::NAME),
        }
    }

    /// Reads arguments as a call does, and does nothing with them.
    pub fn check(&self, mut arguments: Map<String, Value>) -> Result<(), ToolError> {
        budget::take(&mut arguments)?;
        (self.check)(arguments)
    }

    /// What a call would do that its user should allow first, such as "evaluate `x.pop()`". Nothing if it only reads,
    /// starts a program or steps, or if its arguments are wrong, so that it fails.
    pub fn question(&self, given: &Map<String, Value>) -> Option<String> {
        if self.effects.read_only {
            return None;
        }
        let mut arguments = given.clone();
        // As a call does; it fails where this does.
        budget::take(&mut arguments).ok()?;
        match (self.fitted)(arguments) {
            Some(arguments) => confirmation::question(self.name, &arguments, given),
            // A call for another machine may attach there before its arguments are checked.
            None if given.contains_key(confirmation::TARGET) => {
                confirmation::question(self.name, given, given)
            }
            None => None,
        }
    }

    /// Records a call that is refused before it does anything, and answers it.
    pub fn refuse(&self, arguments: &Map<String, Value>, error: &ToolError, context: &Context) -> Reply {
        let context = context.for_call();
        let reply = (self.fail)(error).visible();
        let asked = hidden::asked_by(arguments);
        let reply =
            if context.shows_credentials { reply } else { reply.without_credentials(asked, self.revealed) };
        let reply = reply.within(context.bounds().answer_size());
        if context.sessions.journal().is_kept() {
            JournaledCall::begin(&context, self.name, arguments).end(&reply);
        }
        reply
    }

    /// Calls the tool. Bad arguments are an answer too, so that the model sees what was wrong.
    pub async fn call(&self, arguments: Map<String, Value>, context: &Context) -> Reply {
        let context = context.for_call();
        if !context.sessions.journal().is_kept() {
            return self.answer(arguments, &context).await;
        }
        let call = JournaledCall::begin(&context, self.name, &arguments);
        let reply = self.answer(arguments, &context).await;
        call.end(&reply);
        reply
    }

    /// The answer: credentials redacted unless they are to be shown, invisible characters escaped, and within the size
    /// limit.
    async fn answer(&self, mut arguments: Map<String, Value>, context: &Context) -> Reply {
        let budget = match budget::take(&mut arguments) {
            Ok(budget) => budget,
            Err(error) => return (self.fail)(&error).visible(),
        };
        let asked = hidden::asked_by(&arguments);
        let (reply, warnings) = (self.call)(arguments, context).await;
        // Before the rest, because a character in between would hide a credential.
        let reply = reply.visible();
        let reply =
            if context.shows_credentials { reply } else { reply.without_credentials(asked, self.revealed) };
        let shown = |mut warning: String| {
            show_in_text(&mut warning);
            if !context.shows_credentials {
                redaction::hide_in_text(&mut warning);
            }
            warning
        };
        let reply = reply.warning(warnings.into_iter().map(shown).collect());
        let reply = match budget {
            Some(tokens) if !reply.is_error => reply.within_budget(tokens),
            _ => reply,
        };
        reply.within(context.bounds().answer_size())
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entry").field(&self.name).finish()
    }
}

async fn call<T: Tool>(arguments: Map<String, Value>, context: &Context) -> CallResult {
    let mut warnings = Vec::new();
    let answer = match read::<T>(arguments, &mut warnings) {
        Ok(tool) => tool.call(context).await,
        Err(error) => Err(error),
    };
    let reply = match answer {
        Ok(answer) => answer.reply(),
        Err(error) => T::Answer::failure(&error, T::NAME),
    };
    (reply, warnings)
}

fn read<T: Tool>(mut arguments: Map<String, Value>, warnings: &mut Vec<String>) -> Result<T, ToolError> {
    leave_out(T::IGNORED, &mut arguments, warnings);
    arguments::read(&schema::input::<T>(), arguments, warnings)
}

/// The arguments that a tool gets, unless they do not fit its schema.
fn fitted(
    ignored: &[(&str, &str)],
    schema: &Map<String, Value>,
    mut arguments: Map<String, Value>,
) -> Option<Map<String, Value>> {
    leave_out(ignored, &mut arguments, &mut Vec::new());
    arguments::fitted(schema, arguments)
}

fn leave_out(ignored: &[(&str, &str)], arguments: &mut Map<String, Value>, warnings: &mut Vec<String>) {
    for (name, instead) in ignored {
        let given = arguments.shift_remove(*name).filter(|value| !value.is_null());
        if given.is_some() && !instead.is_empty() {
            warnings.push(format!("ignored `{name}`: {instead}"));
        }
    }
}

/// One public vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Toolset {
    /// Its name, as `--toolset` takes it.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// How to use it well, for the model.
    pub instructions: &'static str,
    /// Its tools, in the order in which they are listed.
    pub tools: &'static [Entry],
    /// Its prompts.
    pub prompts: &'static [Prompt],
}
