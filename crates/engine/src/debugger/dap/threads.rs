//! Threads, under names that say what each waits for where the debugger can say that.

use super::{DapDebugger, lock};
use crate::deadlines;
use crate::debugger::{Debugger, Evaluate};
use crate::error::Result;
use crate::model::ids::RawId;
use crate::model::stack::RawThread;

/// How many threads are asked what they wait for: each costs two requests.
const MOST_ASKED: usize = 200;

pub(super) async fn threads(debugger: &DapDebugger) -> Result<Vec<RawThread>> {
    let response = debugger.request::<::dap::Threads>(::dap::Empty {}, deadlines::REQUEST).await?;
    let mut threads = Vec::with_capacity(response.threads.len());
    for (at, thread) in response.threads.into_iter().enumerate() {
        let id = RawId(thread.id);
        let mut name = (debugger.quirks().thread_name)(&thread.name);
        if at < MOST_ASKED
            && let Some(reason) = wait_reason(debugger, id, &thread.name).await
        {
            name = format!("{name} [{reason}]");
        }
        let os_thread = thread.os_thread.and_then(|number| u32::try_from(number).ok());
        threads.push(RawThread { id, name, os_thread });
    }
    Ok(threads)
}

/// The name of a thread, without what it waits for; none if there is no such thread.
pub(super) async fn name(debugger: &DapDebugger, thread: RawId) -> Result<Option<String>> {
    let name_in = |threads: &[::dap::Thread]| {
        let found = threads.iter().find(|found| found.id == thread.0);
        found.map(|found| (debugger.quirks().thread_name)(&found.name))
    };
    let known = name_in(&lock(&debugger.0.listed));
    if known.is_some() && !lock(&debugger.0.motion).is_running() {
        return Ok(known);
    }
    let response = debugger.request::<::dap::Threads>(::dap::Empty {}, deadlines::REQUEST).await?;
    Ok(name_in(&response.threads))
}

/// What a thread waits for. A program that runs is not asked.
async fn wait_reason(debugger: &DapDebugger, thread: RawId, name: &str) -> Option<String> {
    let expression = (debugger.quirks().wait_reason)(name)?;
    let frame = debugger.top(thread).await.ok()??.id;
    let request = Evaluate {
        expression: expression.to_owned(),
        frame,
        deadline: deadlines::WATCH,
        text: 100,
        pure: true,
    };
    let reason = debugger.evaluate(request).await.ok()?;
    (debugger.quirks().wait_text)(&reason.text)
}
