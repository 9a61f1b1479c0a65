//! Which thread of JavaScript it is.

use crate::model::ids::RawId;

/// A process has one thread of JavaScript, and each worker is a debugger of its own.
pub(super) const THREAD: RawId = RawId(1);

/// One thread of JavaScript in its program.
#[derive(Clone, Debug)]
pub(super) struct JsThread {
    pub(super) kind: ThreadKind,
    /// The operating system's number of the process, when it runs on this machine.
    pub(super) pid: Option<u32>,
    /// Where the inspector listens; none for a worker, which has none of its own.
    pub(super) url: Option<String>,
}

/// What a thread is to its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ThreadKind {
    /// The main thread of the program.
    Program,
    /// The main thread of a process that it started, and what that runs.
    Child(String),
    /// A worker thread, and what Node calls it.
    Worker(String),
}

impl JsThread {
    pub(super) fn name(&self) -> &str {
        match &self.kind {
            ThreadKind::Program => "main",
            ThreadKind::Child(name) | ThreadKind::Worker(name) => name,
        }
    }

    pub(super) fn is_worker(&self) -> bool {
        matches!(self.kind, ThreadKind::Worker(_))
    }
}
