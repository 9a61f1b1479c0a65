//! The vocabulary of *debugger-mcp*: nine tools, one session that needs no name, answers in plain text.
//!
//! What its own answers look like is kept to the letter; what they did not tell (output, why a breakpoint is not
//! bound, how a program ended) comes on lines of its own below.

mod breakpoint;
mod execution;
mod inspect;
mod launch;
mod probe;
mod recovery;
mod state;
mod target;
mod text;

use std::future::Future;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{Context, Effects, Entry, Text, Tool, ToolError, Toolset};

pub use state::Quick;

/// The vocabulary.
pub static TOOLSET: Toolset = Toolset {
    name: "quick",
    about: "one session and short plain-text answers, with the tools of debugger-mcp",
    instructions: INSTRUCTIONS,
    tools: TOOLS,
    prompts: &[],
};

const TOOLS: &[Entry] = &[
    Entry::of::<probe::DebugProbe>(),
    Entry::of::<launch::DebugLaunch>(),
    Entry::of::<breakpoint::DebugBreakpoint>(),
    Entry::of::<execution::DebugContinue>(),
    Entry::of::<execution::DebugStep>(),
    Entry::of::<inspect::DebugEvaluate>(),
    Entry::of::<inspect::DebugStack>(),
    Entry::of::<inspect::DebugVariables>(),
    Entry::of::<launch::DebugStop>(),
];

/// A tool whose answer is a text, below which come the notes that have accumulated.
trait QuickTool: DeserializeOwned + JsonSchema + Send + 'static {
    /// See [`Tool::NAME`].
    const NAME: &'static str;
    /// See [`Tool::TITLE`].
    const TITLE: &'static str;
    /// See [`Tool::DESCRIPTION`].
    const DESCRIPTION: &'static str;
    /// See [`Tool::EFFECTS`].
    const EFFECTS: Effects;

    /// Does it.
    fn run(self, context: &Context) -> impl Future<Output = Result<String, ToolError>> + Send;
}

impl<T: QuickTool> Tool for T {
    type Answer = Text;
    const NAME: &'static str = <T as QuickTool>::NAME;
    const TITLE: &'static str = <T as QuickTool>::TITLE;
    const DESCRIPTION: &'static str = <T as QuickTool>::DESCRIPTION;
    const EFFECTS: Effects = <T as QuickTool>::EFFECTS;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        context.quick.with_notes(self.run(context).await).await
    }
}

const INSTRUCTIONS: &str = "\
Debug programs in Node.js, Python, C, C++, Rust, Java, Go, Ruby and PHP: inspect real values instead of guessing.
Probe first: debug_probe runs a program to a line, reports the stack with all locals and the values of your \
expressions, and ends it. One call answers most questions.
To debug step by step: debug_launch (pauses before the first line), debug_breakpoint, debug_continue, then debug_variables, \
debug_evaluate, debug_step, debug_stack. Always end with debug_stop.
A call always returns: stopped, still running (debug_continue keeps waiting), or ended with exit code and output. \
Uncaught exceptions stop by default.
(verified) means that a breakpoint is bound; (pending: ...) says why not yet. Use a condition to stop only at the hit \
that matters.";
