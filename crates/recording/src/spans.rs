//! The calls of a run as spans, thread by thread.

use std::collections::BTreeMap;

use rusqlite::Row;

use crate::error::Result;
use crate::reading::{EVENT, Event, Recording, event_of};
use crate::streams::{stream_of, threads_of};
use crate::value::What;

/// A thread of a process or a worker. Both numbers are 1 for the program's main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Track {
    pub(crate) process: i64,
    pub(crate) thread: i64,
}

/// What happened to the stack of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A call began, or a generator or an async function resumed.
    Begin,
    /// It ended, or was suspended.
    End,
    /// It threw an exception, which did not come from a call below.
    Throw,
}

/// A change of a stack. Spans of a track are nested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) track: Track,
    pub(crate) change: Change,
    pub(crate) call: i64,
    pub(crate) code: i64,
    /// The number of the event. What had not ended at the end of the recording ends after the last one.
    pub(crate) at: i64,
    /// What was returned, given or thrown.
    pub(crate) value: Option<i64>,
}

impl Track {
    /// Of a call, and the stored number of its thread.
    fn of(call: i64, thread: i64) -> Self {
        let stream = stream_of(call);
        Self { process: stream + 1, thread: thread - threads_of(stream) }
    }

    /// The name of a process or a worker other than the program itself.
    pub(crate) fn process_name(self) -> String {
        format!("process or worker {}", self.process)
    }

    /// The stored number of its thread.
    pub(crate) fn stored(self) -> i64 {
        self.thread + threads_of(self.process - 1)
    }
}

type Visit<'a> = dyn FnMut(&Step) -> Result<()> + 'a;

impl Recording {
    /// The threads that ran code of the program, in the order of their numbers.
    pub(crate) fn tracks(&self) -> Result<Vec<Track>> {
        let threads = "SELECT max(id), thread FROM calls GROUP BY thread";
        let mut tracks = self.rows(threads, [], |row| Ok(Track::of(row.get(0)?, row.get(1)?)))?;
        tracks.sort_unstable();
        Ok(tracks)
    }

    /// The name of a thread.
    pub(crate) fn track_name(&self, track: Track) -> Result<String> {
        let name = self.row("SELECT name FROM threads WHERE id = ?", [track.stored()], |row| row.get(0))?;
        Ok(name.map_or_else(|| format!("thread {}", track.thread), |name| self.text(name).to_string()))
    }

    /// The same, with its process if that is not the program itself.
    pub(crate) fn full_track_name(&self, track: Track) -> Result<String> {
        let name = self.track_name(track)?;
        Ok(if track.process > 1 { format!("{name} ({})", track.process_name()) } else { name })
    }

    /// The thread, or the process or worker, that an event is of; none for the main one.
    pub(crate) fn thread_text(&self, event: &Event) -> Result<Option<String>> {
        let track = Track::of(event.call, self.thread_of(event)?);
        Ok(match (track.process, track.thread) {
            (1, 1) => None,
            // The name of the first thread is that of its process.
            (_, 1) => Some(format!("in {}", self.track_name(track)?)),
            _ => Some(format!("in the thread `{}`", self.full_track_name(track)?)),
        })
    }

    /// Visits the changes of all stacks, or of the one of a track, in their order.
    pub(crate) fn walk(&self, only: Option<Track>, visit: &mut Visit<'_>) -> Result<()> {
        let mut walk = Walk { recording: self, stacks: BTreeMap::new(), visit };
        walk.begin(only)?;
        let only = only.map_or_else(String::new, |track| format!("AND calls.thread = {}", track.stored()));
        let changes = format!(
            "SELECT {EVENT}, calls.code, calls.thread FROM events JOIN calls ON calls.id = events.call \
             WHERE events.kind BETWEEN ? AND ? {only} ORDER BY events.id"
        );
        let kinds = [What::Call.stored(), What::Resume.stored()];
        let read = |row: &Row<'_>| Ok((event_of(row)?, row.get(5)?, row.get(6)?));
        self.find_row(&changes, kinds, read, |(event, code, thread)| {
            walk.event(Track::of(event.call, thread), &event, code)?;
            Ok(None::<()>)
        })?;
        walk.finish(self.last_event()? + 1)
    }
}

struct Walk<'a> {
    recording: &'a Recording,
    /// The calls that have begun and not ended, with their codes, the outermost first.
    stacks: BTreeMap<Track, Vec<(i64, i64)>>,
    visit: &'a mut Visit<'a>,
}

impl Walk<'_> {
    /// Opens the calls that had begun before the first event of a recording of the last ones.
    fn begin(&mut self, only: Option<Track>) -> Result<()> {
        let recording = self.recording;
        let first = recording.first_event()?;
        if first == 1 {
            return Ok(());
        }
        let threads = "SELECT min(events.id), calls.thread FROM events JOIN calls ON calls.id = events.call \
                       WHERE events.id >= ? GROUP BY calls.thread";
        for (event, thread) in recording.rows(threads, [first], |row| Ok((row.get(0)?, row.get(1)?)))? {
            let event = recording.event(event)?;
            let track = Track::of(event.call, thread);
            if only.is_some_and(|only| only != track) {
                continue;
            }
            let begins = matches!(event.what, What::Call | What::Resume);
            let open = recording.stack(&event)?;
            for frame in open.iter().skip(usize::from(begins)).rev() {
                let (call, code) = (frame.call.id, frame.call.code);
                self.stacks.entry(track).or_default().push((call, code));
                (self.visit)(&Step { track, change: Change::Begin, call, code, at: first, value: None })?;
            }
        }
        Ok(())
    }

    fn event(&mut self, track: Track, event: &Event, code: i64) -> Result<()> {
        let Event { id: at, what, call, value, .. } = *event;
        match what {
            What::Call | What::Resume => {
                let stack = self.stacks.entry(track).or_default();
                if stack.iter().any(|(open, _)| *open == call) {
                    return Ok(());
                }
                stack.push((call, code));
                (self.visit)(&Step { track, change: Change::Begin, call, code, at, value: None })
            }
            What::Return | What::Yield => self.end(track, call, at, value),
            What::Unwind => self.end(track, call, at, None),
            What::Throw if self.recording.thrown_below(event)?.is_none() => {
                (self.visit)(&Step { track, change: Change::Throw, call, code, at, value })
            }
            What::Throw | What::Line => Ok(()),
        }
    }

    /// Ends a call, and what is left open above it.
    fn end(&mut self, track: Track, call: i64, at: i64, value: Option<i64>) -> Result<()> {
        let stack = self.stacks.entry(track).or_default();
        if !stack.iter().any(|(open, _)| *open == call) {
            return Ok(());
        }
        while let Some((open, code)) = stack.pop() {
            let is_it = open == call;
            let value = value.filter(|_| is_it);
            (self.visit)(&Step { track, change: Change::End, call: open, code, at, value })?;
            if is_it {
                break;
            }
        }
        Ok(())
    }

    fn finish(mut self, at: i64) -> Result<()> {
        for (track, stack) in std::mem::take(&mut self.stacks) {
            for (call, code) in stack.into_iter().rev() {
                (self.visit)(&Step { track, change: Change::End, call, code, at, value: None })?;
            }
        }
        Ok(())
    }
}
