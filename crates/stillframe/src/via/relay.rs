//! The relay: messages of the client here pass to the server there, and back.
//!
//! Two tasks, one for each direction, so that neither waits for the other, and one that ends a
//! silent connection. The client's task connects again when the connection was lost and a new request comes.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::process::Process;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, timeout};
use tokio_util::sync::CancellationToken;
use tools::ops::current;

use super::connection::{Connection, Connector, Ending};
use super::messages::{self, CALL, Called, Kind, OWN, Request};
use super::paths::Paths;
use super::silence::{BEAT, SILENCE};

/// How long the server there may take to end, with its programs, once its input has ended.
const LAST: Duration = Duration::from_millis(1800);

/// The tools that close a session, and that list them.
const CLOSING: &str = "close_debug_session";
const LISTING: &str = "list_debug_sessions";

/// What the directions share.
pub(super) struct Relay<W> {
    pub(super) connector: Connector,
    pub(super) paths: Arc<Paths>,
    /// The arguments of the server there.
    pub(super) args: Vec<String>,
    /// What the client's model should know.
    pub(super) notice: String,
    pub(super) output: AsyncMutex<W>,
    /// The handshake of the client, to repeat it.
    pub(super) initialize: Mutex<Option<Vec<u8>>>,
    /// What was lost with a connection, until a call of the client has failed for it.
    pub(super) lost: Mutex<Option<String>>,
}

/// Taken when nothing more is sent.
type Stdin = Arc<AsyncMutex<Option<ChildStdin>>>;

/// A connection in use.
struct Link {
    state: Arc<LinkState>,
    stdin: Stdin,
    process: Process,
    reading: JoinHandle<()>,
    watching: JoinHandle<()>,
}

/// What both directions know of a connection.
struct LinkState {
    requests: Mutex<Requests>,
    heard: Mutex<Heard>,
}

/// Requests without an answer.
#[derive(Default)]
struct Requests {
    /// By their IDs.
    open: HashMap<String, Request>,
    /// Sessions that calls have opened there.
    sessions: BTreeSet<String>,
    /// Nothing more will be answered.
    is_lost: bool,
    /// Nothing has come for too long.
    is_silent: bool,
}

/// When something last came.
struct Heard {
    last: Instant,
    has_answered: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: AsyncWrite + Unpin + Send + 'static> Relay<W> {
    /// Relays until the client is gone, or the token is cancelled. The first connection is there already.
    pub(super) async fn run(
        self: Arc<Self>,
        input: impl AsyncRead + Unpin,
        first: Connection,
        shutdown: &CancellationToken,
    ) {
        let mut input = BufReader::new(input);
        let mut link = self.link(first);
        let mut line = Vec::new();
        loop {
            tokio::select! {
                read = input.read_until(b'\n', &mut line) => if !matches!(read, Ok(1..)) { break },
                () = shutdown.cancelled() => break,
            }
            let line = std::mem::take(&mut line);
            if line.trim_ascii().is_empty() {
                continue;
            }
            let sending = self.send(&mut link, line);
            tokio::select! {
                sent = sending => if sent.is_err() { break },
                () = shutdown.cancelled() => break,
            }
        }
        link.end().await;
    }

    /// Sends a message of the client. An error is one of our output.
    async fn send(self: &Arc<Self>, link: &mut Link, line: Vec<u8>) -> io::Result<()> {
        let kind = messages::kind(&line);
        if let Kind::Request(Request { method, .. }) = &kind
            && method == "initialize"
        {
            *lock(&self.initialize) = Some(line.clone());
        }
        let called = Called::of(&kind, &line);
        if let (Kind::Request(request), Some(Called { name, target, .. })) = (&kind, &called) {
            if let Some(target) = target {
                return self.write(&self.elsewhere(request, target)).await;
            }
            // What is there now can be listed.
            if name != LISTING
                && let Some(problem) = self.take_lost()
            {
                return self.write(&messages::failure(request, &problem)).await;
            }
        }
        if !link.state.admits(&kind) {
            // Only a request is worth a new connection.
            let Kind::Request(request) = &kind else { return Ok(()) };
            match self.reconnect(&request.method).await {
                Ok(new) => *link = new,
                Err(error) => {
                    return self.write(&messages::failure(request, &format!("{error:#}"))).await;
                }
            }
            link.state.admits(&kind);
        }
        if let Some(Called { name, session: Some(session), .. }) = called
            && name == CLOSING
        {
            lock(&link.state.requests).sessions.remove(&session);
        }
        // A failure is noticed by the other direction, which answers.
        let _ = link.write(&messages::to_there(line, &self.paths)).await;
        Ok(())
    }

    /// The answer to a call for another machine than that of this server, which would run on that one.
    fn elsewhere(&self, request: &Request, target: &str) -> Vec<u8> {
        let problem = format!(
            "`{target}` is not the machine of this server: its calls are for `{}` (`--via`); leave out `target`, or \
             use a server without `--via`",
            self.connector.target
        );
        messages::refusal(request, "target_unusable", &problem)
    }

    fn take_lost(&self) -> Option<String> {
        lock(&self.lost).take()
    }

    async fn reconnect(self: &Arc<Self>, method: &str) -> anyhow::Result<Link> {
        let link = self.link(self.connector.start(&self.paths, &self.args).await?);
        let initialize = lock(&self.initialize).clone().filter(|_| method != "initialize");
        if let Some(lines) = initialize.and_then(|line| messages::again(&line)) {
            let _ = link.write(&lines).await;
        }
        Ok(link)
    }

    fn link(self: &Arc<Self>, connection: Connection) -> Link {
        let heard = Mutex::new(Heard { last: Instant::now(), has_answered: false });
        let state = Arc::new(LinkState { requests: Mutex::default(), heard });
        let stdin = Arc::new(AsyncMutex::new(Some(connection.stdin)));
        let process = connection.ending.process();
        let (watched, input, silent) = (Arc::clone(&state), Arc::clone(&stdin), process.clone());
        let watching = tokio::spawn(async move {
            watched.until_silence(&input).await;
            lock(&watched.requests).is_silent = true;
            silent.kill().await;
        });
        let reading =
            tokio::spawn(Arc::clone(self).read(connection.stdout, connection.ending, Arc::clone(&state)));
        Link { state, stdin, process, reading, watching }
    }

    /// Passes on what comes from there, until nothing more comes. Then what is open fails.
    async fn read(
        self: Arc<Self>,
        mut stdout: BufReader<ChildStdout>,
        mut ending: Ending,
        state: Arc<LinkState>,
    ) {
        let mut line = Vec::new();
        while matches!(stdout.read_until(b'\n', &mut line).await, Ok(1..)) {
            let line = std::mem::take(&mut line);
            state.heard();
            let request = match messages::kind(&line) {
                Kind::Response { id } if id.starts_with(OWN) => continue,
                Kind::Response { id } => lock(&state.requests).open.remove(&id),
                _ => None,
            };
            let method = request.map(|request| request.method);
            if method.as_deref() == Some(CALL) {
                state.keep_session(&line);
            }
            let mut line = messages::to_here(line, &self.paths);
            if matches!(method.as_deref(), Some("initialize" | "server/discover")) {
                line = messages::with_notice(line, &self.notice);
            }
            if method.as_deref() == Some("resources/read") {
                line = self.with_journal(line).await;
            }
            if self.write(&line).await.is_err() {
                // The client's task notices too.
                break;
            }
        }
        let reason = ending.reason().await;
        let (requests, problem) = self.lose(&state, reason);
        for request in requests {
            let _ = self.write(&messages::failure(&request, &problem)).await;
        }
    }

    /// Takes note of a connection that is lost, for the next call if none waits. Returns the requests that fail, and why.
    fn lose(&self, state: &LinkState, reason: String) -> (Vec<Request>, String) {
        let mut requests = lock(&state.requests);
        let reason = if requests.is_silent {
            format!("nothing came from there for {} s", SILENCE.as_secs())
        } else {
            reason
        };
        let sessions: Vec<String> = requests.sessions.iter().map(|session| format!("`{session}`")).collect();
        let sessions =
            if sessions.is_empty() { String::new() } else { format!(" ({})", sessions.join(", ")) };
        let problem = format!(
            "lost the connection to `{}`: {reason}. Its sessions{sessions} and programs end there; the next call \
             connects again: start a new session",
            self.connector.target
        );
        let open = std::mem::take(&mut requests.open);
        if !requests.sessions.is_empty() && !open.values().any(|request| request.method == CALL) {
            *lock(&self.lost) = Some(problem.clone());
        }
        requests.is_lost = true;
        (open.into_values().collect(), problem)
    }

    /// The answer to a request for a resource. A session's journal is kept here, so the server there has none of it.
    async fn with_journal(&self, line: Vec<u8>) -> Vec<u8> {
        let Some(session) = messages::journal_session(&line) else { return line };
        messages::with_text(line, &current::journal(self.connector.diagnostics.journal(), &session).await)
    }

    async fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut output = self.output.lock().await;
        output.write_all(line).await?;
        output.flush().await
    }
}

impl LinkState {
    /// Takes note of a message that goes there. False if the connection is lost.
    fn admits(&self, kind: &Kind) -> bool {
        let mut requests = lock(&self.requests);
        if requests.is_lost {
            return false;
        }
        match kind {
            Kind::Request(request) => {
                requests.open.insert(request.id.clone(), request.clone());
            }
            Kind::Cancelled { id } => {
                requests.open.remove(id);
            }
            Kind::Response { .. } | Kind::Other => {}
        }
        true
    }

    /// Takes note of the session that an answer names.
    fn keep_session(&self, answer: &[u8]) {
        let Some((session, is_open)) = messages::session(answer) else { return };
        let sessions = &mut lock(&self.requests).sessions;
        if is_open {
            sessions.insert(session);
        } else {
            sessions.remove(&session);
        }
    }

    fn heard(&self) {
        *lock(&self.heard) = Heard { last: Instant::now(), has_answered: true };
    }

    /// Shows the other side that we are there, and waits until it no longer answers.
    async fn until_silence(&self, stdin: &Stdin) {
        let mut beat = interval(BEAT);
        let mut number = 0;
        loop {
            beat.tick().await;
            let (silent, has_answered) = {
                let heard = lock(&self.heard);
                (heard.last.elapsed(), heard.has_answered)
            };
            let is_asked = has_answered || !lock(&self.requests).open.is_empty();
            if is_asked && silent > SILENCE {
                return;
            }
            number += 1;
            // Before the client has begun, a ping would be the first request that the server gets.
            let line = if has_answered { messages::ping(number) } else { b"\n".to_vec() };
            let stdin = Arc::clone(stdin);
            // Beside this, because a connection that is stuck takes nothing.
            tokio::spawn(async move { write(&stdin, &line).await });
        }
    }
}

async fn write(stdin: &Stdin, line: &[u8]) -> io::Result<()> {
    match stdin.lock().await.as_mut() {
        Some(stdin) => {
            stdin.write_all(line).await?;
            stdin.flush().await
        }
        None => Ok(()),
    }
}

impl Link {
    async fn write(&self, line: &[u8]) -> io::Result<()> {
        write(&self.stdin, line).await
    }

    /// Ends the server there, by the end of its input.
    async fn end(self) {
        self.watching.abort();
        let _ = timeout(LAST, async { self.stdin.lock().await.take() }).await;
        let _ = timeout(LAST, self.reading).await;
        self.process.kill().await;
    }
}
