//! The vocabulary of the *MCP debugger tool*: a session that begins paused, breakpoints of every kind, values with
//! types at every level, watches, profiles.
//!
//! Every answer is one JSON object with `status`: `success` and the fields of the tool, or `error` with `code`,
//! `message` and `context`. Names of parameters and fields are those of the system that the vocabulary comes from;
//! more were added, none renamed.

mod answer;
mod breakpoints;
mod conditions;
mod data;
mod execution;
mod hang;
mod inspect;
mod objects;
mod performance;
mod profile;
mod report;
mod session;
mod shared;
mod stack;
mod test;
mod watches;

use crate::{Entry, Toolset};

/// The vocabulary.
pub static TOOLSET: Toolset = Toolset {
    name: "inspector",
    about: "sessions that start paused, watches, deep object inspection and profiles, as debugger_* tools",
    instructions: INSTRUCTIONS,
    tools: TOOLS,
    prompts: &[],
};

const TOOLS: &[Entry] = &[
    Entry::of::<session::DebuggerStart>(),
    Entry::of::<session::DebuggerStopSession>(),
    Entry::of::<breakpoints::DebuggerSetBreakpoint>(),
    Entry::of::<breakpoints::DebuggerRemoveBreakpoint>(),
    Entry::of::<breakpoints::DebuggerToggleBreakpoint>(),
    Entry::of::<breakpoints::DebuggerListBreakpoints>(),
    Entry::of::<breakpoints::DebuggerSetLogpoint>(),
    Entry::of::<conditions::DebuggerSetFunctionBreakpoint>(),
    Entry::of::<conditions::DebuggerSetExceptionBreakpoint>(),
    Entry::of::<conditions::DebuggerSetHitCountCondition>(),
    Entry::of::<execution::DebuggerContinue>(),
    Entry::of::<execution::DebuggerStepOver>(),
    Entry::of::<execution::DebuggerStepInto>(),
    Entry::of::<execution::DebuggerStepOut>(),
    Entry::of::<execution::DebuggerPause>(),
    Entry::of::<inspect::DebuggerInspect>(),
    Entry::of::<inspect::DebuggerGetLocalVariables>(),
    Entry::of::<inspect::DebuggerGetGlobalVariables>(),
    Entry::of::<objects::DebuggerInspectObject>(),
    Entry::of::<watches::DebuggerAddWatch>(),
    Entry::of::<watches::DebuggerRemoveWatch>(),
    Entry::of::<watches::DebuggerGetWatches>(),
    Entry::of::<stack::DebuggerGetStack>(),
    Entry::of::<stack::DebuggerSwitchStackFrame>(),
    Entry::of::<hang::DebuggerDetectHang>(),
    Entry::of::<test::DebuggerRunTest>(),
    Entry::of::<performance::DebuggerStartCpuProfile>(),
    Entry::of::<performance::DebuggerStopCpuProfile>(),
    Entry::of::<performance::DebuggerTakeHeapSnapshot>(),
    Entry::of::<performance::DebuggerGetPerformanceMetrics>(),
];

const INSTRUCTIONS: &str = "\
Debug programs in Node.js, Python, C, C++, Rust, Java, Go, Ruby and PHP: inspect real values instead of guessing.
debugger_start starts a program paused before its first line. Then debugger_set_breakpoint, debugger_continue, and at \
a stop debugger_inspect, debugger_step_over, debugger_step_into, debugger_step_out; debugger_stop_session at the end.
Every stop answers with location, source, stack, local variables, new output and the watches that changed: read it \
before asking for more. debugger_add_watch reports an expression's old and new value at each stop.
A call always returns: paused, running (debugger_continue keeps waiting) or terminated. Uncaught exceptions stop by \
default. verified is true only when a breakpoint is bound; otherwise `reason` says why.
debugger_switch_stack_frame selects a frame until the program resumes. An objectId is valid until then, too.";
