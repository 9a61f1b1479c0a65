//! The part of the protocol that we speak, in its own names.
//!
//! Source: the protocol that Node 20 and 22 describe themselves at `/json/protocol`, with the changes of Node 24 and
//! 26. A command is the struct of its parameters, with its method and its result type, so a mismatched reply does not
//! compile. Lines and columns start at 0, columns count UTF-16 units. Every field that is read may be missing and
//! unknown ones are ignored, because both vary with V8's versions.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A command that the client may send: its parameters.
pub trait Command: Serialize + Debug + Send + Sync {
    /// What comes back.
    type Result: DeserializeOwned;
    /// The name on the wire.
    const METHOD: &'static str;
}

/// Commands with parameters, whose structs are defined beside it.
macro_rules! commands {
    ($($name:ident = $method:literal => $result:ty;)*) => {$(
        impl $crate::types::Command for $name {
            type Result = $result;
            const METHOD: &'static str = $method;
        }
    )*};
}

/// Commands without parameters and results.
macro_rules! plain_commands {
    ($($(#[$doc:meta])* $name:ident = $method:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, serde::Serialize)]
        pub struct $name {}

        commands! { $name = $method => $crate::types::Empty; }
    )*};
}

pub mod debugger;
pub mod heap_profiler;
pub mod node_runtime;
pub mod node_worker;
pub mod profiler;
pub mod runtime;

/// No content. Accepts any object when read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Empty {}

/// An event of an inspector.
#[derive(Clone, Debug)]
pub enum Event {
    /// The program called one of our bindings.
    BindingCalled(runtime::BindingCalled),
    /// The program called a function of `console`.
    ConsoleApiCalled(runtime::ConsoleApiCalled),
    /// A breakpoint that was set before its script was loaded has a place now.
    BreakpointResolved(debugger::BreakpointResolved),
    /// The thread stopped.
    Paused(Box<debugger::Paused>),
    /// The thread runs again.
    Resumed,
    /// A script was loaded.
    ScriptParsed(Box<debugger::Script>),
    /// A piece of a heap snapshot.
    HeapSnapshotChunk(heap_profiler::Chunk),
    /// A worker is there. Handed on as [`crate::Message::Worker`].
    AttachedToWorker(node_worker::AttachedToWorker),
    /// A worker is gone.
    DetachedFromWorker(node_worker::DetachedFromWorker),
    /// A worker says something. Handed on by its own [`crate::Incoming`].
    ReceivedMessageFromWorker(node_worker::ReceivedMessageFromWorker),
    /// The program is waiting for `Runtime.runIfWaitingForDebugger`.
    WaitingForDebugger,
    /// The program has ended and waits for all connections to close.
    WaitingForDisconnect,
    /// Any other, with its parameters.
    Other(String, Value),
}

impl Event {
    /// Reads an event. Parameters that do not fit the method are kept as [`Event::Other`].
    pub fn parse(method: &str, params: &str) -> Self {
        Self::typed(method, params).unwrap_or_else(|| {
            Self::Other(method.to_owned(), serde_json::from_str(params).unwrap_or(Value::Null))
        })
    }

    fn typed(method: &str, params: &str) -> Option<Self> {
        fn read<T: DeserializeOwned>(params: &str) -> Option<T> {
            serde_json::from_str(params).ok()
        }
        Some(match method {
            "Runtime.bindingCalled" => Self::BindingCalled(read(params)?),
            "Runtime.consoleAPICalled" => Self::ConsoleApiCalled(read(params)?),
            "Debugger.breakpointResolved" => Self::BreakpointResolved(read(params)?),
            "Debugger.paused" => Self::Paused(read(params)?),
            "Debugger.resumed" => Self::Resumed,
            "Debugger.scriptParsed" => Self::ScriptParsed(read(params)?),
            "HeapProfiler.addHeapSnapshotChunk" => Self::HeapSnapshotChunk(read(params)?),
            "NodeWorker.attachedToWorker" => Self::AttachedToWorker(read(params)?),
            "NodeWorker.detachedFromWorker" => Self::DetachedFromWorker(read(params)?),
            "NodeWorker.receivedMessageFromWorker" => Self::ReceivedMessageFromWorker(read(params)?),
            "NodeRuntime.waitingForDebugger" => Self::WaitingForDebugger,
            "NodeRuntime.waitingForDisconnect" => Self::WaitingForDisconnect,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;
