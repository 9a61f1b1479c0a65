//! The clients. Each has debug sessions that no other client sees, and that end with it.
//!
//! A client is an MCP session after a handshake. Requests of revision 2026-07-28 have no session: there, the token
//! identifies the client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::future::join_all;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tools::Context;

use rmcp::model::ClientJsonRpcMessage;

use super::LAST_ANSWERS;
use super::answers::Refusal;
use super::outbox::Outbox;
use super::tokens::Owner;
use crate::mcp::LAST_PROGRAMS;
use crate::one_shot::RunContext;
use crate::via::{RemoteSetup, Remotes};

/// All clients.
pub(super) struct Clients {
    table: Mutex<ClientTable>,
    /// One for each MCP session that there may be.
    places: Arc<Semaphore>,
    most: usize,
    idle: Duration,
    run_context: RunContext,
    /// How to reach other machines.
    remotes: Option<RemoteSetup>,
    /// Cancelled when the server stops.
    over: CancellationToken,
}

#[derive(Default)]
struct ClientTable {
    sessions: HashMap<String, Arc<Client>>,
    stateless: HashMap<Owner, Arc<Client>>,
}

pub(super) struct Client {
    owner: Owner,
    /// Its debug sessions.
    pub(super) context: Context,
    /// The machines that its calls have named.
    pub(super) remotes: Option<Arc<Remotes>>,
    /// Cancelled when it has ended.
    pub(super) ends: CancellationToken,
    /// Its MCP session; unset without a handshake.
    pub(super) link: OnceLock<McpSession>,
    /// Whether a request of it was ever answered with more than a refusal.
    served: AtomicBool,
    /// Its requests and streams.
    busy: AtomicUsize,
    /// When the last of them ended.
    since: Mutex<Instant>,
    /// Released when it ends, and not only when its last answer has been sent.
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

/// The MCP session of a client.
pub(super) struct McpSession {
    /// `Mcp-Session-Id`.
    pub(super) id: String,
    /// What the client sends.
    pub(super) inbox: mpsc::Sender<ClientJsonRpcMessage>,
    /// What it is sent.
    pub(super) outbox: Arc<Outbox>,
}

/// A request or a stream of a client. While there is one, the client is not idle.
pub(super) struct ActiveClient(pub(super) Arc<Client>);

impl ActiveClient {
    fn new(client: &Arc<Client>) -> Self {
        client.busy.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(client))
    }
}

impl Drop for ActiveClient {
    fn drop(&mut self) {
        *lock(&self.0.since) = Instant::now();
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Client {
    fn is_idle(&self, limit: Duration) -> bool {
        let calls = self.link.get().map_or(0, |link| link.outbox.open_calls());
        self.busy.load(Ordering::Relaxed) == 0 && calls == 0 && lock(&self.since).elapsed() >= limit
    }

    /// Ends what it runs, which answers the calls that wait for it, and then its streams.
    pub(super) async fn end(&self) {
        let _ = timeout(LAST_PROGRAMS, self.end_programs()).await;
        if let Some(link) = self.link.get() {
            let _ = timeout(LAST_ANSWERS, link.outbox.drain()).await;
        }
        self.ends.cancel();
        self.leaves_place();
    }

    /// Ends its programs, here and elsewhere.
    async fn end_programs(&self) {
        let elsewhere = async {
            if let Some(remotes) = &self.remotes {
                remotes.close().await;
            }
        };
        tokio::join!(self.context.close(), elsewhere);
    }

    /// Another may replace it.
    pub(super) fn leaves_place(&self) {
        lock(&self.place).take();
    }
}

impl Clients {
    /// None yet.
    pub(super) fn new(
        most: usize,
        idle: Duration,
        run_context: RunContext,
        remotes: Option<RemoteSetup>,
    ) -> Arc<Self> {
        Arc::new(Self {
            table: Mutex::default(),
            places: Arc::new(Semaphore::new(most)),
            most,
            idle,
            run_context,
            remotes,
            over: CancellationToken::new(),
        })
    }

    fn client(&self, owner: &Owner, place: Option<OwnedSemaphorePermit>) -> Arc<Client> {
        Arc::new(Client {
            owner: Arc::clone(owner),
            context: self.run_context.context_of_client(),
            remotes: self.remotes.clone().map(|setup| Arc::new(Remotes::new(setup))),
            ends: self.over.child_token(),
            link: OnceLock::new(),
            served: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            since: Mutex::new(Instant::now()),
            place: Mutex::new(place),
        })
    }

    /// A client before its handshake.
    pub(super) fn admit(&self, owner: &Owner) -> Result<ActiveClient, Refusal> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let message = format!(
                "{} clients are connected, which is the limit: end a session with DELETE, or start the \
                 server with a larger `--max-clients`",
                self.most
            );
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message)
        })?;
        Ok(ActiveClient::new(&self.client(owner, Some(place))))
    }

    /// It has shaken hands, and is found by its id from now on.
    pub(super) fn register(&self, client: &Arc<Client>) {
        if let Some(link) = client.link.get() {
            lock(&self.table).sessions.insert(link.id.clone(), Arc::clone(client));
        }
    }

    /// The client of an MCP session. Another client's session is treated like an unknown one.
    pub(super) fn session(&self, id: &str, owner: &Owner) -> Result<ActiveClient, Refusal> {
        let table = lock(&self.table);
        let found =
            table.sessions.get(id).filter(|client| client.owner == *owner && !client.ends.is_cancelled());
        found.map(ActiveClient::new).ok_or_else(|| {
            let message = "unknown or expired MCP session; start a new one with `initialize`";
            Refusal::new(StatusCode::NOT_FOUND, message)
        })
    }

    /// The client that has a token and no session.
    pub(super) fn stateless(&self, owner: &Owner) -> ActiveClient {
        let mut table = lock(&self.table);
        let client = table.stateless.entry(Arc::clone(owner)).or_insert_with(|| self.client(owner, None));
        ActiveClient::new(client)
    }

    /// A request of a client was answered. A refused request does not create a client.
    pub(super) fn was_answered(&self, busy: &ActiveClient, is_refused: bool) {
        let client = &busy.0;
        if !is_refused {
            client.served.store(true, Ordering::Relaxed);
            return;
        }
        // Any other client is found here, or has been counted before.
        let mut table = lock(&self.table);
        if !client.served.load(Ordering::Relaxed) && client.busy.load(Ordering::Relaxed) == 1 {
            table.stateless.retain(|_, known| !Arc::ptr_eq(known, client));
        }
    }

    /// An MCP session has ended: its ID is forgotten.
    pub(super) fn forget(&self, id: &str) {
        lock(&self.table).sessions.remove(id);
    }

    /// Ends idle clients, forever.
    pub(super) async fn reap(&self) {
        let pace = (self.idle / 4).clamp(Duration::from_millis(100), Duration::from_secs(30));
        loop {
            sleep(pace).await;
            let silent = self.take_silent();
            join_all(silent.iter().map(|client| client.end())).await;
        }
    }

    fn take_silent(&self) -> Vec<Arc<Client>> {
        let mut table = lock(&self.table);
        let ClientTable { sessions, stateless } = &mut *table;
        let is_silent = |client: &Arc<Client>| client.is_idle(self.idle);
        let mut silent: Vec<_> =
            sessions.extract_if(|_, client| is_silent(client)).map(|(_, client)| client).collect();
        silent.extend(stateless.extract_if(|_, client| is_silent(client)).map(|(_, client)| client));
        silent
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Arc<Client>> {
        let table = lock(&self.table);
        table.sessions.values().chain(table.stateless.values()).cloned().collect()
    }

    /// Ends all programs. Calls that wait for them are answered.
    pub(super) async fn end_programs(&self) {
        let all = self.all();
        join_all(all.iter().map(|client| client.end_programs())).await;
    }

    /// Stops serving, and ends all streams.
    pub(super) fn close(&self) {
        self.over.cancel();
    }
}

/// Nothing panics while a lock is held, so a poisoned one is as good.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
