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

use crate::{Entry, Toolset};

pub use state::Quick;

/// The vocabulary.
pub static TOOLSET: Toolset = Toolset {
    name: "quick",
    about: "one session and short plain text, in the vocabulary of debugger-mcp",
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

const INSTRUCTIONS: &str = "\
Debug Node.js and Python programs: look at real values instead of guessing.
Probe first: debug_probe runs a program to a line, tells the stack with all locals and what your expressions come \
to, and ends it. One call answers most questions.
To look around: debug_launch (pauses before the first line), debug_breakpoint, debug_continue, then debug_variables, \
debug_evaluate, debug_step, debug_stack. Always end with debug_stop.
A call always comes back: stopped, still running (debug_continue waits on), or ended with exit code and output. An \
uncaught exception stops by itself.
(verified) is said only of a breakpoint that is bound; (pending: ...) tells why not yet. A condition stops only at \
the pass that matters.";
