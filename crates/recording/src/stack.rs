//! The stack at an event.

use crate::error::Result;
use crate::reading::{Call, Code, Event, Recording};
use crate::text::cut;
use crate::value::{What, Word};

/// A frame of a stack.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) call: Call,
    /// Where it is; none before its first line.
    pub(crate) place: Option<i64>,
}

/// Characters of a line of source.
const MOST_SOURCE: usize = 120;

/// The most frames of a stack. A recursion may have thousands.
const MOST_FRAMES: usize = 200;

/// How far back the line is looked for that resumed a generator.
const MOST_EVENTS: i64 = 200_000;

/// As the index of resumptions is written, which `SQLite` uses for no other text. Those from before the events of a ring are
/// among them.
const RESUMPTION: &str =
    "SELECT id, value FROM events WHERE call = ? AND kind IN (6, 14) AND id <= ? ORDER BY id DESC LIMIT 1";

/// That a generator, or what awaits, continues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resumption {
    pub(crate) event: i64,
    /// The call that it runs for from then on.
    pub(crate) caller: i64,
}

impl Recording {
    /// The calls that were active at an event, the innermost first.
    pub(crate) fn stack(&self, event: &Event) -> Result<Vec<Frame>> {
        let mut frames = Vec::new();
        let (mut next, mut place) = (event.call, event.place);
        while let Some(call) = self.call(next)?
            && frames.len() < MOST_FRAMES
        {
            let from = self.resumed_from(call.id, event.id)?;
            let (caller, caller_place) = from.unwrap_or((call.caller, call.caller_place));
            next = caller;
            frames.push(Frame { call, place });
            place = caller_place;
        }
        Ok(frames)
    }

    /// For which call, and from which of its lines, a generator that was suspended runs at an event; none for any other
    /// call.
    fn resumed_from(&self, call: i64, event: i64) -> Result<Option<(i64, Option<i64>)>> {
        let Some(resumption) = self.last_resumption(call, event)? else { return Ok(None) };
        let line = self.line_of_resumption(&resumption)?;
        Ok(line.map(|line| (resumption.caller, line.place)))
    }

    /// When a call was resumed last until an event, and by which one.
    pub(crate) fn last_resumption(&self, call: i64, event: i64) -> Result<Option<Resumption>> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?.map(Word::of)));
        Ok(match self.row(RESUMPTION, [call, event], read)? {
            Some((event, Some(Word::Integer(caller)))) => Some(Resumption { event, caller }),
            _ => None,
        })
    }

    /// The line that resumed a call; none if none did that is recorded.
    pub(crate) fn line_of_resumption(&self, resumption: &Resumption) -> Result<Option<Event>> {
        self.event_where(
            "WHERE id < ?1 AND id > ?1 - ?2 AND call = ?3 AND kind IN (0, 8) ORDER BY id DESC LIMIT 1",
            [resumption.event, MOST_EVENTS, resumption.caller],
        )
    }

    /// `shop.py:12 in add`.
    pub(crate) fn frame_text(&self, frame: &Frame) -> String {
        match self.place(frame.place) {
            Some((code, line)) => format!("{}:{line} in {}", base_name(&code.path), code.name),
            None => match self.codes.get(&frame.call.code) {
                Some(code) => format!("{} in {} (beginning)", code.place(), code.name),
                None => "?".to_owned(),
            },
        }
    }

    /// `shop.py:12 in add: self.total += price`.
    pub(crate) fn place_text(&self, place: Option<i64>) -> String {
        let Some((code, line)) = self.place(place) else { return "?".to_owned() };
        let source = cut(self.source(code, line).to_owned(), MOST_SOURCE);
        format!("{}:{line} in {}: `{source}`", base_name(&code.path), code.name)
    }

    /// What ran at an event that wrote something: a line, or a call that began.
    pub(crate) fn writer_text(&self, event: &Event) -> Result<String> {
        if event.what == What::Call {
            let frames = self.stack(event)?;
            return Ok(frames.first().map(|frame| self.frame_text(frame)).unwrap_or_default());
        }
        Ok(self.place_text(event.place))
    }

    /// One line for the stack: the innermost frame is left out, because the answer begins with it.
    pub(crate) fn callers_text(&self, frames: &[Frame]) -> Option<String> {
        let callers: Vec<String> =
            frames.iter().skip(1).take(6).map(|frame| self.frame_text(frame)).collect();
        let more = frames.len().saturating_sub(7);
        let more = if more > 0 { format!(" ← {more} more") } else { String::new() };
        (!callers.is_empty()).then(|| format!("called from {}{more}", callers.join(" ← ")))
    }

    /// The same for the frames at an event, with the thread unless that is the main one.
    pub(crate) fn stack_text(&self, event: &Event, frames: &[Frame]) -> Result<Option<String>> {
        let callers = self.callers_text(frames);
        let parts: Vec<String> = callers.into_iter().chain(self.thread_text(event)?).collect();
        Ok((!parts.is_empty()).then(|| parts.join(", ")))
    }
}

impl Code {
    /// Where it begins: `shop.py:12`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", base_name(&self.path), self.line)
    }

    /// Its name without those of what it is in.
    pub(crate) fn last_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or_default()
    }

    pub(crate) fn is_module(&self) -> bool {
        &*self.name == "<module>"
    }
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
