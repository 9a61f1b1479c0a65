//! What a thread tells before it waits in native code; see `debuggee/node/blocking.cjs`.

use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::json;
use tokio::task::AbortHandle;

use super::super::{CdpDebugger, lock};
use super::question::Site;
use super::{evaluate, send};
use crate::model::activity::{SampledFrame, WaitKind, Waiting};
use crate::model::source::Location;
use crate::named_pipe::NamedPipe;

/// The file beside the hook that tells.
pub(super) const TELLER: &str = "blocking.cjs";

/// Reads what a thread tells.
#[derive(Debug)]
pub(super) struct Blocking {
    last: Arc<Mutex<Option<Told>>>,
    reader: AbortHandle,
}

/// What a thread is about to do; nothing when it has done that.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Told {
    kind: String,
    what: String,
    #[serde(default)]
    is_timed: bool,
    /// Innermost first.
    pub(super) stack: Vec<Site>,
}

impl Blocking {
    /// Has our hook tell. A process that waits for us, or a worker, takes it up when it begins. None for programs that
    /// we have not started: they do not have the hook.
    pub(super) async fn begin(debugger: &CdpDebugger, runs: bool) -> Option<Self> {
        if !debugger.0.shared.is_ours {
            return None;
        }
        let mut pipe = NamedPipe::new().ok()?;
        // A path that is not UTF-8 cannot be told.
        let path = json!(pipe.path().to_str()?);
        let tell = format!("globalThis[Symbol.for('stillframe.blocking')]={path};");
        let begin = if runs {
            let teller = debugger.0.shared.setup.hook.parent()?.join(TELLER);
            format!("require({}).begin()", json!(teller.to_str()?))
        } else {
            String::new()
        };
        send(&debugger.0.client, evaluate(tell + &begin)).await.ok()?;
        let last = Arc::new(Mutex::new(None));
        let read_into = Arc::clone(&last);
        let reader = tokio::spawn(async move {
            while let Some(line) = pipe.next_line().await {
                *lock(&read_into) = serde_json::from_str(&line).ok();
            }
        });
        Some(Self { last, reader: reader.abort_handle() })
    }

    /// What the thread is doing now, as far as it has told.
    pub(super) fn last(&self) -> Option<Told> {
        lock(&self.last).clone()
    }

    /// Nothing more is told.
    pub(super) async fn end(&self, debugger: &CdpDebugger) {
        let end = "globalThis[Symbol.for('stillframe.blocking')]=undefined";
        // A program that is gone tells nothing anyway.
        let _ = send(&debugger.0.client, evaluate(end.to_owned())).await;
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// What is waited for at the innermost place of the user's.
pub(super) fn waiting(told: &Told, stack: &[SampledFrame]) -> Waiting {
    Waiting {
        kind: WaitKind::named(&told.kind),
        what: told.what.clone(),
        location: place(stack).cloned(),
        is_timed: told.is_timed,
        holders: Vec::new(),
        task: None,
    }
}

/// The innermost place of the user's.
pub(super) fn place(stack: &[SampledFrame]) -> Option<&Location> {
    stack.iter().filter_map(|frame| frame.location.as_ref()).find(|location| !location.source.internal)
}
