//! What to do next, in the words of each vocabulary.
//!
//! Operations and the engine do not know what the tools are called that their caller has. They say what kind of
//! thing is to be done, and the vocabulary of the answer has the words for it.

/// What to do next, where that is a call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There is no session of that id: find one, or open one.
    FindSession,
    /// There is no session at all.
    OpenSession,
    /// There are several sessions: name one.
    NameSession,
    /// No program was started yet.
    Start,
    /// The program has ended.
    StartAgain,
    /// The program is there already.
    EndFirst,
    /// The program runs, and must be suspended first.
    Suspend,
    /// Nobody knows yet how the program ended.
    LearnEnd,
    /// There is no such breakpoint.
    FindBreakpoint,
    /// There is no such thread.
    FindThread,
    /// The number is none that stands for something.
    FindReference,
    /// The number stood for something before the program ran.
    RenewReference,
    /// There is no such watched expression.
    FindWatch,
    /// The stack has no such frame.
    FindFrame,
    /// There was no time for this expression among others.
    EvaluateAlone,
    /// Something other than the user's code has caught an exception.
    StopWhereRaised,
}

#[cfg(test)]
impl Next {
    /// All there are.
    pub(crate) const ALL: [Self; 16] = [
        Self::FindSession,
        Self::OpenSession,
        Self::NameSession,
        Self::Start,
        Self::StartAgain,
        Self::EndFirst,
        Self::Suspend,
        Self::LearnEnd,
        Self::FindBreakpoint,
        Self::FindThread,
        Self::FindReference,
        Self::RenewReference,
        Self::FindWatch,
        Self::FindFrame,
        Self::EvaluateAlone,
        Self::StopWhereRaised,
    ];
}

/// The words of a vocabulary; empty where it has nothing to offer.
pub type Words = fn(Next) -> &'static str;

/// The words of `standard`.
pub(crate) fn standard(next: Next) -> &'static str {
    match next {
        Next::FindSession => "list_debug_sessions tells which ones are open, create_debug_session opens one",
        Next::OpenSession => "call create_debug_session first",
        Next::NameSession => "give `sessionId`",
        Next::Start => "call start_debugging",
        Next::StartAgain => "restart_debugging starts it again",
        Next::EndFirst => "restart_debugging starts it again, close_debug_session ends it",
        Next::Suspend => "pause_execution stops it, or let it run to a breakpoint",
        Next::LearnEnd => "continue_execution tells how it ended, restart_debugging starts it again",
        Next::FindBreakpoint => "list_breakpoints tells which there are",
        Next::FindThread => "list_threads tells which there are",
        Next::FindReference => {
            "frameId comes from get_stack_trace, variablesReference from get_scopes, get_variables and \
             evaluate_expression"
        }
        Next::RenewReference => "get a new one from get_stack_trace or get_scopes",
        Next::FindWatch => "evaluate_expression watches with `watch: true`",
        Next::FindFrame => "get_stack_trace tells which there are",
        Next::EvaluateAlone => "evaluate_expression asks for it alone",
        Next::StopWhereRaised => "run again with `exceptions: userUnhandled` to stop where it was raised",
    }
}

/// The words of `inspector`.
pub(crate) fn inspector(next: Next) -> &'static str {
    match next {
        Next::FindSession | Next::OpenSession => "debugger_start starts a program",
        Next::NameSession => "give `sessionId`",
        Next::Start => "debugger_start starts one",
        Next::StartAgain => {
            "debugger_stop_session closes the session, debugger_start starts the program again"
        }
        Next::EndFirst => "debugger_stop_session ends it",
        Next::Suspend => "debugger_pause stops it, or let it run to a breakpoint",
        Next::LearnEnd => "debugger_continue tells how it ended",
        Next::FindBreakpoint => "debugger_list_breakpoints tells which there are",
        Next::FindThread => "debugger_get_stack without it is of the thread that stopped",
        Next::FindReference => {
            "objectId comes from debugger_inspect, debugger_get_local_variables and debugger_inspect_object"
        }
        Next::RenewReference => "get a new one from debugger_inspect or debugger_get_local_variables",
        Next::FindWatch => "debugger_get_watches tells which there are",
        Next::FindFrame => "debugger_get_stack tells which there are",
        Next::EvaluateAlone => "debugger_inspect asks for it alone",
        Next::StopWhereRaised => {
            "debugger_set_exception_breakpoint with `breakOnCaught` stops where it was raised"
        }
    }
}

/// The words of `quick`, which has one session, and numbers for nothing.
pub(crate) fn quick(next: Next) -> &'static str {
    match next {
        Next::FindSession | Next::OpenSession | Next::NameSession | Next::Start => {
            "debug_launch starts a program"
        }
        Next::StartAgain => "debug_launch starts it again",
        Next::EndFirst => "debug_launch starts it again, debug_stop ends it",
        Next::Suspend => {
            "debug_continue waits until it stops, or stops it where it is with `pause`; debug_breakpoint makes \
             it stop at a line"
        }
        Next::LearnEnd => "debug_continue tells how it ended, debug_launch starts it again",
        Next::FindBreakpoint
        | Next::FindThread
        | Next::FindReference
        | Next::RenewReference
        | Next::FindWatch
        | Next::FindFrame
        | Next::StopWhereRaised => "",
        Next::EvaluateAlone => "debug_evaluate asks for it alone",
    }
}
