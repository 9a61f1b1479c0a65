//! Who holds the locks that threads wait for, where a lock does not record it: by the sources of the frames that may have
//! locked it, and the addresses of what they have locked.

use std::collections::HashMap;
use std::path::PathBuf;

use super::super::super::DapDebugger;
use super::is_users;
use crate::adapter::plan::LockSearch;
use crate::deadlines;
use crate::debugger::{Debugger, Evaluate};
use crate::model::activity::ThreadActivity;
use crate::model::ids::RawId;
use crate::sources;

/// How many frames are searched in all: each costs a few requests.
const FRAMES: usize = 200;

/// The program is paused, and `frames` are those of each thread.
pub(super) async fn find_holders(
    debugger: &DapDebugger,
    search: LockSearch,
    threads: &mut [ThreadActivity],
    frames: &[Vec<RawId>],
) {
    let mut awaited = Vec::new();
    for (thread, frames) in threads.iter().zip(frames) {
        awaited.push(awaited_lock(debugger, search, thread, frames).await);
    }
    if awaited.iter().all(Option::is_none) {
        return;
    }
    let holders = holders(debugger, search, threads, frames).await;
    for (thread, address) in threads.iter_mut().zip(awaited) {
        let (Some(waiting), Some(address)) = (&mut thread.blocked, address) else { continue };
        waiting.what = format!("{} at 0x{address:x}", waiting.what);
        waiting.holders = holders.get(&address).cloned().unwrap_or_default();
    }
}

async fn awaited_lock(
    debugger: &DapDebugger,
    search: LockSearch,
    thread: &ThreadActivity,
    frames: &[RawId],
) -> Option<u64> {
    thread.blocked.as_ref()?;
    let mut functions = thread.stack.iter().zip(frames);
    let (frame, expression) =
        functions.find_map(|(frame, id)| Some((*id, (search.awaited)(&frame.function)?)))?;
    address(debugger, frame, expression.to_owned()).await
}

/// The threads that hold each lock.
async fn holders(
    debugger: &DapDebugger,
    search: LockSearch,
    threads: &[ThreadActivity],
    frames: &[Vec<RawId>],
) -> HashMap<u64, Vec<RawId>> {
    let mut texts: HashMap<PathBuf, String> = HashMap::new();
    let mut holders: HashMap<u64, Vec<RawId>> = HashMap::new();
    let mut all = Vec::new();
    for (thread, frames) in threads.iter().zip(frames) {
        for (frame, id) in thread.stack.iter().zip(frames) {
            all.push((thread.thread, frame, *id));
        }
    }
    all.retain(|(_, frame, _)| is_users(frame));
    for (thread, frame, id) in all.into_iter().take(FRAMES) {
        let Some((location, path)) =
            frame.location.as_ref().and_then(|at| Some((at, at.source.path.clone()?)))
        else {
            continue;
        };
        let text = texts.entry(path).or_insert_with_key(|path| sources::read_text(path).unwrap_or_default());
        for expression in (search.held)(text, location.line) {
            let Some(address) = address(debugger, id, expression).await else { continue };
            let known = holders.entry(address).or_default();
            if !known.contains(&thread) {
                known.push(thread);
            }
        }
    }
    holders
}

async fn address(debugger: &DapDebugger, frame: RawId, expression: String) -> Option<u64> {
    let request = Evaluate { expression, frame, deadline: deadlines::WATCH, text: 100, pure: true };
    debugger.evaluate(request).await.ok()?.text.trim().parse().ok().filter(|address| *address != 0)
}
