//! The background process: keeps one session, and answers calls of tools.
//!
//! It ends with its session, after a while without a command, by a signal, and if its starter ends before a program
//! was started. Before it answers that the session is closed, everything is gone: the program, the socket and the
//! file.

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use engine::process::background;
use engine::session::state::Execution;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tools::{Context, Report, show_in_text, toolsets};

use super::TOOLSETS;
use super::client::{CLOSE, HostCall, HostReply, is_of_user};
use super::record::SessionPlace;
use crate::one_shot::RunContext;
use crate::signals::cancel_on_signal;
use crate::terminal;

/// How long it may take until there is a session, for which the caller waits.
const FIRST: Duration = Duration::from_secs(10);
/// How long ending the program may take. After that, the guardian ends it.
const LAST_PROGRAM: Duration = Duration::from_millis(1500);
/// How long answers may take that come from the end of the session.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// The pause before the next connection is accepted when one could not be.
const CROWDED: Duration = Duration::from_millis(50);
/// Messages that a slow reader has not taken yet. More are left out: the next one says the same.
const QUEUED: usize = 8;

/// What it says to its starter, in one line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StartStatus {
    Listening,
    Failed(String),
}

/// What its tasks have in common.
struct Host {
    context: Context,
    /// The session is closed.
    ending: CancellationToken,
    /// Everything is gone.
    ended: CancellationToken,
}

/// Keeps a session, from its beginning to its end.
pub(super) async fn keep(place: &SessionPlace, run_context: &RunContext) -> anyhow::Result<ExitCode> {
    background::detach();
    let (listener, record) = match place.claim().await {
        Ok(claimed) => claimed,
        Err(error) => {
            say(&StartStatus::Failed(format!("{error:#}")))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let host = Arc::new(Host {
        context: run_context.context(),
        ending: CancellationToken::new(),
        ended: CancellationToken::new(),
    });
    let signals = tokio::spawn(cancel_on_signal(host.ending.clone()));
    // A client that no longer listens has been interrupted, and will not return.
    let _ = say(&StartStatus::Listening);
    let mut commands = JoinSet::new();
    serve(&host, &listener, &mut commands).await;
    signals.abort();
    let _ = timeout(LAST_PROGRAM, host.context.close()).await;
    run_context.journal.flush();
    place.forget(&record);
    host.ended.cancel();
    let _ = timeout(LAST_ANSWERS, async { while commands.join_next().await.is_some() {} }).await;
    Ok(ExitCode::SUCCESS)
}

fn say(began: &StartStatus) -> anyhow::Result<()> {
    terminal::print(&(serde_json::to_string(began)? + "\n"))
}

/// Lets commands in until there is a reason to end.
async fn serve(host: &Arc<Host>, listener: &UnixListener, commands: &mut JoinSet<()>) {
    let idle = host.context.bounds().debug_idle();
    let mut sessions = host.context.sessions.watch();
    let mut until = Instant::now() + FIRST;
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    commands.spawn(Arc::clone(host).answer(stream));
                }
                Err(_) => sleep(CROWDED).await,
            },
            Some(_) = commands.join_next() => {}
            _ = sessions.changed() => {}
            () = sleep_until(until), if commands.is_empty() => return,
            () = host.ending.cancelled() => return,
        }
        // Before there is a session, others may look who is there.
        let was_opened = *sessions.borrow() > 0;
        if was_opened && commands.is_empty() && !host.has_program() {
            return;
        }
        until = Instant::now() + if was_opened { idle } else { FIRST };
    }
}

impl Host {
    /// Whether there is anything to come back to.
    fn has_program(&self) -> bool {
        let sessions = self.context.sessions.list();
        sessions.iter().any(|session| !matches!(session.execution(), Execution::Created))
    }

    /// Answers the calls of one command.
    async fn answer(self: Arc<Self>, stream: UnixStream) {
        if !is_of_user(&stream) {
            return;
        }
        let (reader, mut writer) = stream.into_split();
        let mut lines = BufReader::new(reader).lines();
        loop {
            let line = tokio::select! {
                line = lines.next_line() => line,
                () = self.ended.cancelled() => return,
            };
            let Ok(Some(line)) = line else { return };
            let Ok(call) = serde_json::from_str::<HostCall>(&line) else { return };
            let closes = call.tool == CLOSE;
            let answer = tokio::select! {
                answer = self.call(call, &mut writer) => answer,
                // A client sends one call at a time, so input here means that it has closed. The call continues.
                _ = lines.next_line() => return,
            };
            if closes && self.context.sessions.list().is_empty() {
                self.ending.cancel();
                self.ended.cancelled().await;
            }
            if send(&mut writer, &answer).await.is_none() {
                return;
            }
        }
    }

    async fn call(&self, call: HostCall, writer: &mut OwnedWriteHalf) -> HostReply {
        let Some(entry) = toolsets::find(TOOLSETS, &call.tool) else {
            return HostReply::Failed(Value::String(format!("no tool `{}`", call.tool)));
        };
        let (sender, mut messages) = mpsc::channel::<String>(QUEUED);
        let report = Report::new(move |mut message| {
            show_in_text(&mut message);
            drop(sender.try_send(message));
        });
        let context = self.context.reporting(Some(report));
        let called = AssertUnwindSafe(entry.call(call.arguments, &context)).catch_unwind();
        tokio::pin!(called);
        loop {
            tokio::select! {
                biased;
                reply = &mut called => {
                    let Ok(reply) = reply else {
                        return HostReply::Failed(Value::String(format!("internal error in {}", entry.name)));
                    };
                    let data = reply.structured.unwrap_or(Value::String(reply.text));
                    return if reply.is_error { HostReply::Failed(data) } else { HostReply::Done(data) };
                }
                Some(message) = messages.recv() => {
                    // One that is gone is noticed elsewhere.
                    let _ = send(writer, &HostReply::Progress(message)).await;
                }
            }
        }
    }
}

/// None when the client is gone.
async fn send(writer: &mut OwnedWriteHalf, answer: &HostReply) -> Option<()> {
    let line = serde_json::to_string(answer).ok()? + "\n";
    writer.write_all(line.as_bytes()).await.ok()
}
