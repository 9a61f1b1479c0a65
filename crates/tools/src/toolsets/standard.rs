//! The vocabulary of *mcp-debugger*, with our own one-shot tools beside it.
//!
//! Answers are JSON objects with `success`, as text and as structured content. Names of parameters and
//! fields are those of the tool reference that the vocabulary comes from; more were added, none renamed.

mod anchors;
mod breakpoints;
mod data_breakpoints;
mod exceptions;
mod execution;
mod exposure;
mod hang;
mod inspect;
mod last_stop;
mod launch;
mod one_shot;
mod output;
mod prompts;
mod scopes;
mod session;
mod shared;
mod test;
mod trace;
mod trigger;
mod truncation;

use crate::{Entry, Toolset};

/// The vocabulary.
pub static TOOLSET: Toolset = Toolset {
    name: "standard",
    about: "sessions, breakpoints, stepping and inspection, in the vocabulary of mcp-debugger",
    instructions: INSTRUCTIONS,
    tools: TOOLS,
    prompts: prompts::PROMPTS,
};

const TOOLS: &[Entry] = &[
    Entry::of::<execution::RunUntil>(),
    Entry::of::<trace::TraceValues>(),
    Entry::of::<hang::DiagnoseHang>(),
    Entry::of::<test::DebugTest>(),
    Entry::of::<session::CreateDebugSession>(),
    Entry::of::<session::ListDebugSessions>(),
    Entry::of::<session::CloseDebugSession>(),
    Entry::of::<session::ListSupportedLanguages>(),
    Entry::of::<breakpoints::SetBreakpoint>(),
    Entry::of::<breakpoints::ListBreakpoints>(),
    Entry::of::<breakpoints::RemoveBreakpoint>(),
    Entry::of::<breakpoints::ClearBreakpoints>(),
    Entry::of::<exceptions::SetExceptionBreakpoints>(),
    Entry::of::<launch::StartDebugging>(),
    Entry::of::<launch::AttachToProcess>(),
    Entry::of::<launch::DetachFromProcess>(),
    Entry::of::<launch::RestartDebugging>(),
    Entry::of::<execution::ContinueExecution>(),
    Entry::of::<execution::StepOver>(),
    Entry::of::<execution::StepInto>(),
    Entry::of::<execution::StepOut>(),
    Entry::of::<execution::StepBack>(),
    Entry::of::<execution::ReverseContinue>(),
    Entry::of::<execution::PauseExecution>(),
    Entry::of::<inspect::GetStackTrace>(),
    Entry::of::<scopes::GetScopes>(),
    Entry::of::<inspect::GetVariables>(),
    Entry::of::<inspect::GetLocalVariables>(),
    Entry::of::<inspect::EvaluateExpression>(),
    Entry::of::<inspect::SetVariable>(),
    Entry::of::<inspect::GetSourceContext>(),
    Entry::of::<inspect::ListThreads>(),
    Entry::of::<output::GetOutput>(),
    Entry::of::<exposure::ExposeSession>(),
    Entry::of::<exposure::UnexposeSession>(),
];

const INSTRUCTIONS: &str = "\
Debug running programs: stop at the right moment and inspect real values instead of guessing.
Fastest: run_until starts a program, stops at a line, function or exception, evaluates expressions there, \
and closes the session if asked. Uncaught exceptions stop the program by default.
To explore: create_debug_session, set_breakpoint, start_debugging, then evaluate_expression, step_over, \
step_into, step_out, continue_execution; close_debug_session at the end.
Every stop report has the location, source, stack, locals and new output: read it before asking for more.
Every call returns: paused, running (call continue_execution to keep waiting) or ended.
`statement` locates a line by its text, which survives edits. trace_values records values at every hit of a line without stopping; evaluate_expression with watch reports changes at each stop. verified is true only when a breakpoint is bound; otherwise `reason` says why.
set_breakpoint with watch stops where a value changes, and says what wrote it; `changed` in a stop report is what has changed since the last stop in the function.
Every tool accepts `budget`, the approximate maximum of tokens in the answer; `cut` names what was left out.
References (frameId, variablesReference) are valid until the program runs again.
A person who wants to watch or step in their own editor attaches it to the port from expose_session.";
