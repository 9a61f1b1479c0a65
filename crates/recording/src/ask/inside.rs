//! What was changed last in an object, and in those that it contains.

use std::collections::HashSet;

use super::writes::changes_to;
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::reading::Recording;
use crate::value::{Key, Owner, Word};

/// The most objects to search.
const MOST: usize = 300;

/// Levels of objects in the object: answers show no more of a value.
const DEPTH: usize = 2;

/// The last change of an object, or of one that it contains at a moment.
pub(super) fn last_change(
    recording: &Recording,
    object: i64,
    memory: &MemoryAt<'_>,
) -> Result<Option<Write>> {
    let mut known = HashSet::from([object]);
    let mut level = vec![object];
    let mut last: Option<Write> = None;
    for _ in 0..=DEPTH {
        let mut next = Vec::new();
        for owner in level.into_iter().map(Owner::object) {
            let changes = changes_to(recording, owner, None, memory.event, 1)?;
            for write in changes {
                // The first text of a value that is only text is the value itself.
                let is_text = write.key == Key::Name(0) && recording.before(&write)?.is_none();
                if !is_text && !write.is_mark() {
                    last = last.into_iter().chain([write]).max_by_key(|write| write.id);
                }
            }
            for (_, word) in memory.all(owner)? {
                if let Word::Object(inner) = word
                    && known.len() < MOST
                    && !recording.object(inner)?.kind.is_named()
                    && known.insert(inner)
                {
                    next.push(inner);
                }
            }
        }
        level = next;
    }
    Ok(last)
}

/// That a write was the last change of what an object contains.
pub(super) fn changed_text(recording: &Recording, change: &Write) -> Result<String> {
    let line = recording.writer(change)?;
    Ok(if line.is_before() {
        format!("its contents were last changed before event {}", recording.first_event()?)
    } else {
        format!("its contents were last changed at event {} by {}", line.id, recording.writer_text(&line)?)
    })
}
