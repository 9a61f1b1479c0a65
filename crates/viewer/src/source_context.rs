//! Which session, and which entry, a person means.

use std::io;
use std::time::{Duration, Instant};

use crate::log::{Kind, Log};

/// How long a session is looked for in older parts of a journal.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many entries before one without a session are searched for the session that it is in.
const NEAR: usize = 4096;
/// How many entries after a stop are searched for its values.
const READ: usize = 64;

/// The id of a session that a person names, which may be in a part that is still being read. An error when there is
/// none.
pub(crate) fn named_session(log: &mut Log, wanted: &str) -> io::Result<String> {
    let began = Instant::now();
    loop {
        let poll = log.poll();
        match log.find_session(wanted) {
            Ok(found) => {
                let known = log.sessions().get(found);
                return Ok(known.map(|known| known.id.clone()).unwrap_or_default());
            }
            Err(error) if poll.is_complete || began.elapsed() > PATIENCE => {
                return Err(io::Error::new(io::ErrorKind::NotFound, error));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// The session in which something happened last.
pub(crate) fn acting(log: &Log) -> Option<usize> {
    let sessions = log.sessions();
    (0..sessions.len()).max_by_key(|session| sessions.get(*session).map(|known| known.last))
}

/// The session of an entry; of one that has none, the session that it is among.
pub(crate) fn session_near(log: &Log, number: usize) -> Option<usize> {
    let of = |number: usize| {
        let summary = log.summary(number)?;
        let answer = || log.summary(summary.partner?)?.session;
        summary.session.or_else(answer)
    };
    (number.saturating_sub(NEAR)..=number).rev().find_map(of)
}

/// Of a stop, the last entry of what the debugger read at once: a stop is shown with its variables.
pub(crate) fn with_what_was_read(log: &Log, session: usize, number: usize) -> usize {
    if !log.summary(number).is_some_and(|summary| summary.is_stop) {
        return number;
    }
    let mut last = number;
    for next in number + 1..number + READ {
        match log.summary(next) {
            Some(summary) if summary.session != Some(session) => {}
            Some(summary) if matches!(summary.kind, Kind::Variables | Kind::Breakpoint) => last = next,
            _ => break,
        }
    }
    last
}
