//! Log messages for the client: what becomes of its debug sessions, and, where there is one client, the warnings of the
//! server's own log.
//!
//! A client of revisions up to 2025-11-25 gets them at all times, from a level on that it sets; one of 2026-07-28 during
//! a call, if the call names a level.

#![expect(deprecated, reason = "the current revision has log messages, even if a later one may not")]

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engine::model::stop::End;
use engine::session::state::Execution;
use engine::sessions::Sessions;
use futures_util::FutureExt;
use futures_util::future::select_all;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tools::{Context, hide_in_text, show_in_text};

use super::records;

/// The level of a client that sets none.
const USUAL: LoggingLevel = LoggingLevel::Info;
/// The name under which messages are sent.
const LOGGER: &str = "stillframe";
/// How many messages are sent in a [`WINDOW`]. More are counted.
const MOST: u32 = 50;
const WINDOW: Duration = Duration::from_secs(10);
/// At most this often are the sessions looked through.
const PACE: Duration = Duration::from_millis(50);

pub(super) type Message = (LoggingLevel, String);

/// From harmless to fatal, as in syslog.
fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

/// The log of a client that has shaken hands.
#[derive(Default)]
pub(super) struct ClientLog {
    /// From which level on it wants messages.
    level: watch::Sender<Option<LoggingLevel>>,
    following: Mutex<Option<AbortHandle>>,
}

impl Drop for ClientLog {
    fn drop(&mut self) {
        if let Some(following) = self.lock().take() {
            following.abort();
        }
    }
}

impl ClientLog {
    /// The client sets a level.
    pub(super) fn set_level(&self, level: LoggingLevel) {
        self.level.send_replace(Some(level));
    }

    /// Begins to send messages.
    pub(super) fn follow(&self, context: Context, peer: Peer<RoleServer>) {
        let level = self.level.subscribe();
        let following = tokio::spawn(async move {
            let mut news = SessionNews::of_all(&context.sessions);
            let mut own = records::subscribe();
            let mut sender = LogSender::new(peer, &context);
            loop {
                let messages = tokio::select! {
                    is_there = news.changed() => {
                        if !is_there {
                            return;
                        }
                        tokio::time::sleep(PACE).await;
                        news.look(&context.sessions)
                    }
                    record = records::next(&mut own) => vec![record],
                };
                let level = level.borrow().unwrap_or(USUAL);
                sender.send(level, messages).await;
            }
        });
        if let Some(old) = self.lock().replace(following.abort_handle()) {
            old.abort();
        }
    }

    /// Nothing panics while the lock is held, so a poisoned one is as good.
    fn lock(&self) -> MutexGuard<'_, Option<AbortHandle>> {
        self.following.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something, and sends what becomes of sessions meanwhile.
pub(super) async fn during<T>(
    level: LoggingLevel,
    context: &Context,
    peer: Peer<RoleServer>,
    call: impl Future<Output = T>,
) -> T {
    let mut news = SessionNews::new(&context.sessions);
    let mut sender = LogSender::new(peer, context);
    tokio::pin!(call);
    loop {
        tokio::select! {
            biased;
            done = &mut call => {
                sender.send(level, news.look(&context.sessions)).await;
                return done;
            }
            is_there = news.changed() => {
                if !is_there {
                    return call.await;
                }
                sender.send(level, news.look(&context.sessions)).await;
            }
        }
    }
}

/// Counts messages, so that not too many are sent at a time.
struct Pace {
    began: Instant,
    sent: u32,
    left_out: u32,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { began: now, sent: 0, left_out: 0 }
    }

    /// How many messages were left out in a window that is over. Reported once.
    fn left_out(&mut self, now: Instant) -> Option<u32> {
        if now.duration_since(self.began) <= WINDOW {
            return None;
        }
        let left_out = self.left_out;
        *self = Self::new(now);
        (left_out > 0).then_some(left_out)
    }

    /// Whether one more may be sent.
    fn admits(&mut self) -> bool {
        let admits = self.sent < MOST;
        *(if admits { &mut self.sent } else { &mut self.left_out }) += 1;
        admits
    }
}

/// Sends messages, not too many at a time.
struct LogSender {
    peer: Peer<RoleServer>,
    shows_credentials: bool,
    pace: Pace,
}

impl LogSender {
    fn new(peer: Peer<RoleServer>, context: &Context) -> Self {
        let shows_credentials = context.shows_credentials;
        Self { peer, shows_credentials, pace: Pace::new(Instant::now()) }
    }

    async fn send(&mut self, least: LoggingLevel, messages: Vec<Message>) {
        for (level, text) in messages {
            if severity(level) < severity(least) {
                continue;
            }
            if let Some(left_out) = self.pace.left_out(Instant::now()) {
                self.write(LoggingLevel::Warning, format!("{left_out} log messages were left out")).await;
            }
            if self.pace.admits() {
                self.write(level, text).await;
            }
        }
    }

    async fn write(&self, level: LoggingLevel, mut text: String) {
        show_in_text(&mut text);
        if !self.shows_credentials {
            hide_in_text(&mut text);
        }
        let message = LoggingMessageNotificationParam::new(level, text.into()).with_logger(LOGGER);
        // A client that is gone needs no messages.
        drop(self.peer.notify_logging_message(message).await);
    }
}

/// What is known of a session.
struct Known {
    name: String,
    execution: watch::Receiver<Execution>,
}

/// What becomes of sessions, reported once each.
struct SessionNews {
    list: watch::Receiver<u64>,
    known: HashMap<String, Known>,
}

impl SessionNews {
    /// From the beginning: a client may open a session before this begins.
    fn of_all(sessions: &Sessions) -> Self {
        let mut list = sessions.watch();
        list.mark_changed();
        Self { list, known: HashMap::new() }
    }

    /// From now on. What there is already is not reported again.
    fn new(sessions: &Sessions) -> Self {
        let mut news = Self::of_all(sessions);
        news.look(sessions);
        news
    }

    /// Waits until there may be something to report. False when there will be nothing more.
    async fn changed(&mut self) -> bool {
        let executions = self.known.values_mut().map(|known| {
            async {
                // A session that is gone is not in the list either.
                if known.execution.changed().await.is_err() {
                    pending::<()>().await;
                }
                // It is reported by `look`, which comes next.
                known.execution.mark_changed();
            }
            .boxed()
        });
        let executions: Vec<_> = executions.collect();
        let any = async {
            if executions.is_empty() {
                pending::<()>().await;
            }
            select_all(executions).await;
        };
        tokio::select! {
            listed = self.list.changed() => listed.is_ok(),
            () = any => true,
        }
    }

    /// What has happened since the last look.
    fn look(&mut self, sessions: &Sessions) -> Vec<Message> {
        self.list.mark_unchanged();
        let mut messages = Vec::new();
        let mut open = Vec::new();
        for session in sessions.list() {
            let id = session.id().to_string();
            let known = self.known.entry(id.clone()).or_insert_with(|| {
                let name = format!("debug session `{}` ({id})", session.name());
                messages.push((LoggingLevel::Info, format!("{name} is open: {}", session.adapter().name())));
                // Its state is reported even if it has not changed since.
                let mut execution = session.watch();
                execution.mark_changed();
                Known { name, execution }
            });
            messages.extend(known.look());
            open.push(id);
        }
        self.known.retain(|id, known| {
            let is_open = open.contains(id);
            if !is_open {
                messages.extend(known.look());
                messages.push((LoggingLevel::Info, format!("{} is closed", known.name)));
            }
            is_open
        });
        messages
    }
}

impl Known {
    fn look(&mut self) -> Option<Message> {
        // Of a session that is gone, the last state was reported or never mattered.
        if !self.execution.has_changed().unwrap_or(false) {
            return None;
        }
        let execution = self.execution.borrow_and_update();
        let (level, what) = match &*execution {
            Execution::Created | Execution::Starting => return None,
            Execution::Running => (LoggingLevel::Debug, "the program runs".to_owned()),
            Execution::Stopped(stop) => {
                (LoggingLevel::Debug, format!("the program is paused: {}", stop.reason))
            }
            Execution::Ended(end) => {
                let level = match **end {
                    End::Exited(0) | End::Detached | End::Killed { by_us: true, .. } => LoggingLevel::Info,
                    _ => LoggingLevel::Warning,
                };
                (level, format!("the program {end}"))
            }
        };
        Some((level, format!("{}: {what}", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_reported_once() {
        let began = Instant::now();
        let mut pace = Pace::new(began);
        let admitted = (0..MOST + 7).filter(|_| pace.admits()).count();
        assert_eq!(admitted, MOST as usize);
        assert_eq!(pace.left_out(began), None, "the window is not over");
        let later = began + WINDOW + Duration::from_millis(1);
        assert_eq!(pace.left_out(later), Some(7));
        assert!(pace.admits());
        assert_eq!(pace.left_out(later + WINDOW + Duration::from_millis(1)), None);
    }
}
