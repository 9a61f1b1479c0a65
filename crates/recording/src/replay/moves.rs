//! From one event to another, forward and back.

use super::breakpoints::Breakpoints;
use crate::error::Result;
use crate::reading::{Event, Recording, list};
use crate::value::What;

/// Where a client is in a recording: before this event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) event: Event,
    /// After the last event.
    pub(super) is_end: bool,
}

impl Position {
    /// Writes before this event are in memory.
    pub(super) fn moment(&self) -> i64 {
        self.event.id + i64::from(self.is_end)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Back,
}

/// A way to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// To the next stop.
    Run(Direction),
    /// To the next line of this call or of one that waits for it.
    Over(Direction),
    /// To the next line of this thread.
    Into,
    /// To the next line of the caller.
    Out,
}

/// Where a move ended.
#[derive(Debug)]
pub(super) struct Reached {
    pub(super) position: Position,
    /// The reason, in the protocol's words.
    pub(super) reason: &'static str,
    /// The breakpoints that were hit there.
    pub(super) breakpoints: Vec<i64>,
}

impl Recording {
    /// Where replaying begins: at a moment, or before the first line.
    pub(super) fn begin(&self, at: Option<&str>) -> Result<Position> {
        let event = match at {
            Some(at) => self.moment(at)?,
            None => self.line_beyond(0, Direction::Forward, None)?.map_or_else(|| self.moment("end"), Ok)?,
        };
        Ok(Position { event, is_end: at.map(str::trim) == Some("end") })
    }

    /// To the first stop, which may be the first line itself.
    pub(super) fn run_from_start(&self, breakpoints: &Breakpoints, start: &Position) -> Result<Reached> {
        let hit = breakpoints.next(self, start.event.id - 1, Direction::Forward, i64::MAX)?;
        hit.map_or_else(|| self.end(), Ok)
    }

    /// Moves from a position. A breakpoint on the way ends a move.
    pub(super) fn go(&self, how: Move, from: &Position, breakpoints: &Breakpoints) -> Result<Reached> {
        let direction = match how {
            Move::Run(direction) | Move::Over(direction) => direction,
            Move::Into | Move::Out => Direction::Forward,
        };
        // At the end, what lies behind includes the last event.
        let begin = if direction == Direction::Back { from.moment() } else { from.event.id };
        let target = match how {
            Move::Run(_) => None,
            Move::Into => {
                let thread = self.thread_of(&from.event)?;
                self.line_of_thread(begin, thread)?
            }
            Move::Over(direction) => {
                let calls = self.calls_around(&from.event, 0)?;
                self.line_beyond(begin, direction, Some(&calls))?
            }
            Move::Out => {
                let calls = self.calls_around(&from.event, 1)?;
                self.line_beyond(begin, Direction::Forward, Some(&calls))?
            }
        };
        let until = match (&target, direction) {
            (Some(target), _) => target.id,
            (None, Direction::Forward) => i64::MAX,
            (None, Direction::Back) => 0,
        };
        if let Some(hit) = breakpoints.next(self, begin, direction, until)? {
            return Ok(hit);
        }
        match (target, direction) {
            (Some(event), _) => {
                let position = Position { event, is_end: false };
                Ok(Reached { position, reason: "step", breakpoints: Vec::new() })
            }
            (None, Direction::Forward) => self.end(),
            (None, Direction::Back) => {
                Ok(Reached { position: self.begin(None)?, reason: "start", breakpoints: Vec::new() })
            }
        }
    }

    fn end(&self) -> Result<Reached> {
        let position = Position { event: self.moment("end")?, is_end: true };
        Ok(Reached { position, reason: "end", breakpoints: Vec::new() })
    }

    /// The calls that were active at an event, without this many of the innermost.
    fn calls_around(&self, event: &Event, without: usize) -> Result<Vec<i64>> {
        Ok(self.stack(event)?.into_iter().skip(without).map(|frame| frame.call.id).collect())
    }

    /// The line before or after an event, in one of these calls.
    fn line_beyond(&self, event: i64, direction: Direction, calls: Option<&[i64]>) -> Result<Option<Event>> {
        let calls = match calls {
            Some([]) => return Ok(None),
            Some(calls) => format!("AND call IN ({})", list(calls)),
            None => String::new(),
        };
        let (beyond, order) = beyond(direction);
        let line = format!("WHERE id {beyond} ? AND kind = ? {calls} ORDER BY id {order} LIMIT 1");
        self.event_where(&line, [event, What::Line.stored()])
    }

    fn line_of_thread(&self, event: i64, thread: i64) -> Result<Option<Event>> {
        let next = "JOIN calls ON calls.id = events.call \
                    WHERE events.id > ? AND events.kind = ? AND calls.thread = ? ORDER BY events.id LIMIT 1";
        self.event_where(next, [event, What::Line.stored(), thread])
    }

    /// The last event of a thread until an event.
    pub(super) fn last_of_thread(&self, event: i64, thread: i64) -> Result<Option<Event>> {
        let last = "JOIN calls ON calls.id = events.call \
                    WHERE events.id <= ? AND calls.thread = ? ORDER BY events.id DESC LIMIT 1";
        self.event_where(last, [event, thread])
    }

    pub(super) fn first_line(&self, call: i64, entered: i64) -> Result<Option<Event>> {
        self.line_beyond(entered, Direction::Forward, Some(&[call]))
    }

    /// The number of the thread that an event is of.
    pub(crate) fn thread_of(&self, event: &Event) -> Result<i64> {
        let thread = self.row("SELECT thread FROM calls WHERE id = ?", [event.call], |row| row.get(0))?;
        Ok(thread.unwrap_or(1))
    }

    /// Output after an event and until another one: its event, its stream and its text.
    pub(super) fn output_between(&self, from: i64, until: i64) -> Result<Vec<(i64, i64, String)>> {
        let output = "SELECT event, stream, text FROM output WHERE event > ? AND event < ? ORDER BY rowid";
        self.rows(output, [from, until], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    /// The exit code of the program: for a signal, the one that a shell would show; 0 if it did not end.
    pub(super) fn exit_code(&self) -> Result<i64> {
        let end = self.fact("end")?;
        let number = |prefix| end.strip_prefix(prefix).and_then(|number| number.parse::<i64>().ok());
        let signal = || number("killed by signal ").map(|signal| 128 + signal);
        Ok(number("exited with code ").or_else(signal).unwrap_or(0))
    }
}

/// How events beyond another one compare to it, and their order.
pub(super) fn beyond(direction: Direction) -> (&'static str, &'static str) {
    match direction {
        Direction::Forward => (">", "ASC"),
        Direction::Back => ("<", "DESC"),
    }
}
