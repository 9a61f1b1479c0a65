//! The owner of the journal: one task reads it, and all others ask that task.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::log::{Log, LoggedSession, Poll};
use crate::plain;
use crate::timeline::name;

/// How often the journal is asked for news; and how often while older parts are being read.
const TICK: Duration = Duration::from_millis(100);
const READING: Duration = Duration::from_millis(10);
/// How many sessions are listed, the newest.
const SESSIONS: usize = 200;

/// A journal that several requests read.
#[derive(Debug)]
pub(super) struct Reader {
    /// Held for a bounded time, and only where a thread may wait.
    log: Mutex<Log>,
    news: watch::Sender<JournalStatus>,
}

/// What a page has to know at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JournalStatus {
    /// The journal's file, for display.
    path: String,
    /// The place of the first entry.
    first: i64,
    /// The place after the last entry.
    end: i64,
    /// Older parts were read.
    pub(super) is_complete: bool,
    /// The newest first.
    sessions: Vec<Session>,
    /// How many sessions there are.
    session_count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    id: String,
    name: String,
    language: String,
    state: &'static str,
}

impl Reader {
    pub(super) fn new(log: Log, path: &Path) -> Self {
        let path = plain::line(&path.display().to_string());
        let news = JournalStatus { path, ..JournalStatus::default() };
        let reader = Self { log: Mutex::new(log), news: watch::Sender::new(news) };
        reader.tick();
        reader
    }

    /// Polls the journal ten times a second, until that completes.
    pub(super) async fn follow(self: Arc<Self>, ends: CancellationToken) {
        let mut is_complete = false;
        loop {
            tokio::select! {
                () = ends.cancelled() => return,
                () = sleep(if is_complete { TICK } else { READING }) => {}
            }
            let reader = Arc::clone(&self);
            match spawn_blocking(move || reader.tick()).await {
                Ok(poll) => is_complete = poll.is_complete,
                Err(_) => return,
            }
        }
    }

    /// What is new, now and whenever that changes.
    pub(super) fn news(&self) -> watch::Receiver<JournalStatus> {
        self.news.subscribe()
    }

    /// Asks the journal something that takes a bounded time.
    pub(super) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Log) -> T + Send + 'static,
    ) -> Result<T, StatusCode> {
        let reader = Arc::clone(self);
        let answer =
            spawn_blocking(move || question(&reader.log.lock().unwrap_or_else(PoisonError::into_inner)));
        answer.await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn tick(&self) -> Poll {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let poll = log.poll();
        self.news.send_if_modified(|news| {
            let newest = log.sessions().iter().rev().take(SESSIONS);
            let now = JournalStatus {
                path: news.path.clone(),
                first: log.place(0),
                end: log.place(log.len()),
                is_complete: poll.is_complete,
                sessions: newest.map(Session::of).collect(),
                session_count: log.sessions().len(),
            };
            let is_other = now != *news;
            *news = now;
            is_other
        });
        poll
    }
}

impl Session {
    fn of(known: &LoggedSession) -> Self {
        Self {
            id: known.id.clone(),
            name: plain::line(name(known)),
            language: plain::line(&known.language),
            state: known.state,
        }
    }
}
