//! Processes, threads and frames.

use super::ids::{RawId, Reference, TargetId, ThreadId};
use super::source::{Location, Source};
use super::stop::{Stop, StopReason};

/// A process of a program, or a worker of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debuggee {
    /// Which of the session's.
    pub target: TargetId,
    /// The operating system's number, when it runs on this machine.
    pub pid: Option<u32>,
    /// Where else its debugger can be reached, as a URL.
    pub url: Option<String>,
    /// It is configured, and runs or has run.
    pub is_ready: bool,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The session's number.
    pub id: ThreadId,
    /// Its name, with the process in front where the session has several.
    pub name: String,
    /// The process that it belongs to.
    pub target: TargetId,
    /// The operating system's number of that process, where known.
    pub pid: Option<u32>,
    /// It is suspended by the debugger.
    pub stopped: bool,
}

/// A frame of a stack. `Id` is the debugger's or the session's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFrame<Id> {
    /// Its number, good until the program runs.
    pub id: Id,
    /// The function, as the language names it.
    pub name: String,
    /// Where it is; `None` for a frame without a place in source.
    pub location: Option<Location>,
}

impl<Id> StackFrame<Id> {
    /// The same frame under another number.
    pub fn with_id<Other>(self, id: Other) -> StackFrame<Other> {
        StackFrame { id, name: self.name, location: self.location }
    }

    /// It belongs to the runtime, a library or the debugger.
    pub fn is_internal(&self) -> bool {
        self.location.as_ref().is_none_or(|location| location.source.internal)
    }
}

/// How many frames are read in search of one of the user's.
pub(crate) const SEARCHED: usize = 40;

/// Part of a stack, innermost frame first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack<Id> {
    /// The requested frames.
    pub frames: Vec<StackFrame<Id>>,
    /// How many frames the stack has.
    pub total: usize,
}

/// The frames of the user's own code; when there is none of it, those of files, or else all of them. A thread that
/// stopped inside a library because of a step or a breakpoint was meant to stop there, so that frame stays too.
pub fn users_frames(
    frames: Vec<StackFrame<Reference>>,
    stop: Option<&Stop>,
) -> (Vec<StackFrame<Reference>>, usize) {
    let all = frames.len();
    if frames.iter().all(StackFrame::is_internal) {
        let source = |frame: &StackFrame<Reference>| {
            frame.location.as_ref().map(|location| location.source.path.is_some())
        };
        let has_files = frames.iter().any(|frame| source(frame) == Some(true));
        // A runtime's own code below the library that it runs.
        let shown = frames.into_iter().filter(|frame| !has_files || source(frame) != Some(false));
        let shown: Vec<_> = shown.collect();
        let hidden = all - shown.len();
        return (shown, hidden);
    }
    let meant = stop.is_some_and(|stop| {
        matches!(stop.reason, StopReason::Step | StopReason::Breakpoint | StopReason::DataBreakpoint)
    });
    let shown = |(at, frame): &(usize, StackFrame<Reference>)| (meant && *at == 0) || !frame.is_internal();
    let users: Vec<_> = frames.into_iter().enumerate().filter(shown).map(|(_, frame)| frame).collect();
    let hidden = all - users.len();
    (users, hidden)
}

/// A named set of variables of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope<Id> {
    /// The debugger's name for it.
    pub name: String,
    /// What kind it is.
    pub kind: ScopeKind,
    /// What its variables are requested with.
    pub reference: Id,
    /// Large or slow: not to be read unasked.
    pub expensive: bool,
    /// The code that it belongs to, if the debugger knows it.
    pub range: Option<SourceRange>,
}

/// A part of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRange {
    /// The source.
    pub source: Source,
    /// Its first line, 1-based.
    pub line: u32,
    /// Where it begins there, 1-based; none where the debugger has no columns.
    pub column: Option<u32>,
    /// Last line.
    pub end_line: u32,
    /// After its end there.
    pub end_column: Option<u32>,
}

impl<Id> Scope<Id> {
    /// The same scope with its reference replaced.
    pub fn try_map<Other, E>(
        self,
        reference: impl FnOnce(Id) -> Result<Other, E>,
    ) -> Result<Scope<Other>, E> {
        let Self { name, kind, reference: id, expensive, range } = self;
        Ok(Scope { name, kind, reference: reference(id)?, expensive, range })
    }
}

/// What a scope holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// The frame's own variables.
    Locals,
    /// The module's, or the program's.
    Globals,
    /// Something else.
    Other,
}

/// A thread as a debugger reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawThread {
    /// The debugger's number.
    pub id: RawId,
    /// Its name.
    pub name: String,
    /// The operating system's number, where the debugger reports it beside its own.
    pub os_thread: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_the_runtime_is_left_out_where_there_is_code_of_a_library() {
        let file = |internal| Some(Source { internal, ..Source::file("/lib/tool.js") });
        let runtime = || Some(Source { path: None, name: "node:internal/main".to_owned(), internal: true });
        let table = [
            (vec![file(true), runtime(), file(false)], vec![2]),
            (vec![file(true), runtime(), None], vec![0, 2]),
            (vec![runtime(), None], vec![0, 1]),
        ];
        for (sources, expected) in table {
            let all = sources.len();
            let frames = sources.into_iter().zip(0..).map(|(source, id)| StackFrame {
                id: Reference(id),
                name: "f".to_owned(),
                location: source.map(|source| Location { source, line: 1, column: 1, generated: None }),
            });
            let (shown, hidden) = users_frames(frames.collect(), None);
            assert_eq!(shown.iter().map(|frame| frame.id.0).collect::<Vec<_>>(), expected);
            assert_eq!(hidden, all - expected.len());
        }
    }
}
