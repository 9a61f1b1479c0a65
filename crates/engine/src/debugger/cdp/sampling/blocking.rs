//! What a thread reports before it waits in native code; see `debuggee/node/blocking.cjs`.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::json;
use tokio::task::AbortHandle;

use super::super::program::NodeProgram;
use super::super::v8::V8Client;
use super::question::StackSite;
use super::sending::{evaluate, send};
use crate::lock::lock;
use crate::model::activity::{SampledFrame, WaitKind, Waiting};
use crate::model::source::Location;
use crate::named_pipe::NamedPipe;

/// The file beside the hook that reports.
const REPORTER: &str = "blocking.cjs";

/// Reads what a thread reports.
#[derive(Debug)]
pub(super) struct Blocking {
    last: Arc<Mutex<Option<BlockingCall>>>,
    reader: AbortHandle,
}

/// What a thread is about to do; nothing when it has done that.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct BlockingCall {
    kind: String,
    what: String,
    #[serde(default)]
    is_timed: bool,
    /// Innermost first.
    pub(super) stack: Vec<StackSite>,
}

impl Blocking {
    /// Has our hook report. A process that waits for us, or a worker, takes it up when it begins. None for programs
    /// that we have not started: they do not have the hook.
    pub(super) async fn begin(v8: &V8Client, program: &NodeProgram, runs: bool) -> Option<Self> {
        if !program.is_ours {
            return None;
        }
        let mut pipe = NamedPipe::new().ok()?;
        // A path that is not UTF-8 cannot be sent.
        let path = json!(pipe.path().to_str()?);
        let announce = format!("globalThis[Symbol.for('stillframe.blocking')]={path};");
        let begin = if runs {
            let reporter = program.setup.hook.parent()?.join(REPORTER);
            format!("require({}).begin()", json!(reporter.to_str()?))
        } else {
            String::new()
        };
        send(v8, evaluate(announce + &begin)).await.ok()?;
        let last = Arc::new(Mutex::new(None));
        let read_into = Arc::clone(&last);
        let reader = tokio::spawn(async move {
            while let Some(line) = pipe.next_line().await {
                *lock(&read_into) = serde_json::from_str(&line).ok();
            }
        });
        Some(Self { last, reader: reader.abort_handle() })
    }

    /// What the thread is doing now, as far as it has reported.
    pub(super) fn last(&self) -> Option<BlockingCall> {
        lock(&self.last).clone()
    }

    /// Nothing more is reported.
    pub(super) async fn end(&self, v8: &V8Client) {
        let end = "globalThis[Symbol.for('stillframe.blocking')]=undefined";
        // A program that is gone reports nothing anyway.
        let _ = send(v8, evaluate(end.to_owned())).await;
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Whether the thread is in a call that our hook reports; it is called by the file of that name.
pub(super) fn is_blocking(program: &NodeProgram, sites: &[StackSite]) -> bool {
    let is_reporter = |name: &str| {
        let path = Path::new(name);
        path.file_name().is_some_and(|name| name == REPORTER) && program.setup.is_hook(path)
    };
    sites.iter().any(|site| is_reporter(&site.script))
}

/// What is waited for at the innermost place of the user's.
pub(super) fn waiting(call: &BlockingCall, stack: &[SampledFrame]) -> Waiting {
    Waiting {
        kind: WaitKind::named(&call.kind),
        what: call.what.clone(),
        location: place(stack).cloned(),
        is_timed: call.is_timed,
        holders: Vec::new(),
        task: None,
    }
}

/// The innermost place of the user's.
pub(super) fn place(stack: &[SampledFrame]) -> Option<&Location> {
    stack.iter().filter_map(|frame| frame.location.as_ref()).find(|location| !location.source.internal)
}
