//! What a session is doing, for clients that read rather than call: nothing counts as reported by it.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use engine::error::Error;
use engine::model::limits::Limits;
use engine::session::Session;
use engine::session::state::Execution;
use engine::snapshot::{self, Snapshot};
use journal::Journal;
use serde_json::{Value, json};

use super::settle::{RunNotes, Runs, Settled};
use crate::ToolError;
use crate::render::StopReport;

/// How much of the end of the journal is searched for entries of a session, in bytes.
const SEARCHED: u64 = 8 << 20;
/// How much of it is given.
const GIVEN: usize = 1 << 20;

/// The report of the current stop, or of what the program is doing instead.
pub async fn report(session: &Session, limits: Limits) -> Value {
    let output = session.new_output(limits.output);
    let settled = match session.execution() {
        Execution::Created => {
            let message = "No program was started; call start_debugging or attach_to_process";
            return json!({ "success": true, "state": "created", "message": message });
        }
        Execution::Starting | Execution::Running => {
            Settled::Running { output, runs: Runs::Program, remarks: RunNotes::default() }
        }
        Execution::Stopped(stop) => {
            Settled::Stopped(Box::new(Snapshot::peek(session, Arc::clone(&stop), limits).await))
        }
        Execution::Ended(end) => {
            Settled::Ended { end, output, unreached: Vec::new(), remarks: RunNotes::default() }
        }
    };
    serde_json::to_value(StopReport::new("", settled)).unwrap_or_default()
}

/// The text of the file where the program is stopped.
pub async fn source(session: &Session) -> Result<String, ToolError> {
    let execution = session.execution();
    let not_paused = || Error::NotPaused { state: execution.as_str() };
    let stop = execution.stop().cloned().ok_or_else(not_paused)?;
    let found =
        Snapshot::peek(session, stop, Limits { variables: 0, ..session.policy().bounds.report() }).await;
    let place = found.frame().and_then(|frame| frame.location.as_ref()).ok_or_else(not_paused)?;
    Ok(snapshot::text(session, &place.source.name, place.source.path.as_deref()).await?)
}

/// The last entries of a session in the journal, a line of JSON each; nothing where none is kept.
pub async fn journal(journal: &Journal, session: &str) -> String {
    let (journal, session) = (journal.clone(), session.to_owned());
    let read = move || {
        journal.flush();
        journal.path().map(|path| entries(path, &session)).unwrap_or_default()
    };
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}

fn entries(path: &Path, session: &str) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SEARCHED)))?;
        let mut bytes = Vec::new();
        file.take(SEARCHED).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    // Most lines of other sessions are not read as JSON. An argument of a call may have the ID, too.
    let is_of = |line: &&str| {
        line.contains(session)
            && serde_json::from_str::<Value>(line)
                .is_ok_and(|entry| entry.get("sessionId").and_then(Value::as_str) == Some(session))
    };
    let (mut last, mut size) = (Vec::new(), 0);
    for line in text.lines().rev().filter(is_of) {
        size += line.len() + 1;
        if size > GIVEN {
            break;
        }
        last.push(line);
    }
    last.iter().rev().flat_map(|line| [*line, "\n"]).collect()
}
