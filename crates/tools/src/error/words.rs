//! What to do next, in the words of each vocabulary.
//!
//! Operations and the engine do not know what the tools are called that their caller has. They say what kind of
//! thing is to be done, and the vocabulary of the answer has the words for it.

/// What to do next, where that is a call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// No session has that ID: find one, or open one.
    FindSession,
    /// No session is open.
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
    /// It is not known yet how the program ended.
    LearnEnd,
    /// No such breakpoint.
    FindBreakpoint,
    /// No such thread.
    FindThread,
    /// The number is not a reference.
    FindReference,
    /// The number stood for something before the program ran.
    RenewReference,
    /// No such watch.
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
        Next::FindSession => {
            "call list_debug_sessions for open sessions, or create_debug_session to open one"
        }
        Next::OpenSession => "call create_debug_session first",
        Next::NameSession => "give `sessionId`",
        Next::Start => "call start_debugging",
        Next::StartAgain => "call restart_debugging to start it again",
        Next::EndFirst => "call restart_debugging to start it again, or close_debug_session to end it",
        Next::Suspend => "call pause_execution to stop it, or let it run to a breakpoint",
        Next::LearnEnd => {
            "call continue_execution to see how it ended, or restart_debugging to start it again"
        }
        Next::FindBreakpoint => "call list_breakpoints for valid IDs",
        Next::FindThread => "call list_threads for valid IDs",
        Next::FindReference => {
            "get frameId from get_stack_trace, and variablesReference from get_scopes, get_variables or \
             evaluate_expression"
        }
        Next::RenewReference => "get a new one from get_stack_trace or get_scopes",
        Next::FindWatch => "call evaluate_expression with `watch: true` to add one",
        Next::FindFrame => "call get_stack_trace for valid frames",
        Next::EvaluateAlone => "call evaluate_expression to read it separately",
        Next::StopWhereRaised => {
            "run again with `exceptions: userUnhandled`, in Go `all`, to stop at the raise"
        }
    }
}

/// The words of `inspector`.
pub(crate) fn inspector(next: Next) -> &'static str {
    match next {
        Next::FindSession | Next::OpenSession => "call debugger_start to start a program",
        Next::NameSession => "give `sessionId`",
        Next::Start => "call debugger_start to start one",
        Next::StartAgain => {
            "call debugger_stop_session to close the session, then debugger_start to start the program again"
        }
        Next::EndFirst => "call debugger_stop_session to end it",
        Next::Suspend => "call debugger_pause to stop it, or let it run to a breakpoint",
        Next::LearnEnd => "call debugger_continue to see how it ended",
        Next::FindBreakpoint => "call debugger_list_breakpoints for valid IDs",
        Next::FindThread => "leave it out for the stack of the thread that stopped",
        Next::FindReference => {
            "get objectId from debugger_inspect, debugger_get_local_variables or debugger_inspect_object"
        }
        Next::RenewReference => "get a new one from debugger_inspect or debugger_get_local_variables",
        Next::FindWatch => "call debugger_get_watches for valid IDs",
        Next::FindFrame => "call debugger_get_stack for valid frames",
        Next::EvaluateAlone => "call debugger_inspect to read it separately",
        Next::StopWhereRaised => {
            "use debugger_set_exception_breakpoint with `breakOnCaught` to stop at the raise"
        }
    }
}

/// The words of `quick`, which has one session, and numbers for nothing.
pub(crate) fn quick(next: Next) -> &'static str {
    match next {
        Next::FindSession | Next::OpenSession | Next::NameSession | Next::Start => {
            "call debug_launch to start a program"
        }
        Next::StartAgain => "call debug_launch to start it again",
        Next::EndFirst => "call debug_launch to start it again, or debug_stop to end it",
        Next::Suspend => {
            "call debug_continue to wait for a stop, or with `pause` to stop it now; call debug_breakpoint \
             to stop at a line"
        }
        Next::LearnEnd => "call debug_continue to see how it ended, or debug_launch to start it again",
        Next::FindBreakpoint
        | Next::FindThread
        | Next::FindReference
        | Next::RenewReference
        | Next::FindWatch
        | Next::FindFrame
        | Next::StopWhereRaised => "",
        Next::EvaluateAlone => "call debug_evaluate to read it separately",
    }
}
