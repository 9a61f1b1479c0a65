//! Streamable HTTP: the server for several clients at once, each with debug sessions of its own.
//!
//! Reading order: `options.rs` (the settings), this file (the start, the routes and the end), `access.rs`, `names.rs`
//! and `tokens.rs` (which clients are allowed), `endpoint.rs`, `message.rs` and `explain.rs` (parse requests, explain
//! refusals), `clients.rs` (their clients), then `session.rs` and `outbox.rs`, which are the SDK's session manager,
//! and `health.rs`; `sse.rs` is the transport of older clients. `viewer::http` serves the connections. The rules of
//! the transport, its headers and its status codes are the SDK's (`StreamableHttpService`).

mod access;
mod answers;
mod clients;
mod endpoint;
mod explain;
mod health;
mod message;
mod names;
mod options;
mod outbox;
mod session;
mod sse;
mod tokens;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use axum::Router;
use axum::extract::State;
use axum::http::header::{ALLOW, HeaderMap};
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::access::Access;
use self::answers::Refusal;
use self::clients::Clients;
use self::names::Host;
pub(crate) use self::options::HttpArgs;
use self::tokens::Tokens;
use super::LAST_PROGRAMS;
use super::server::ServerFeatures;
use crate::one_shot::RunContext;
use crate::signals::cancel_on_signal;
use crate::terminal;
use crate::via::RemoteSetup;

/// The path of the MCP endpoint.
const ENDPOINT: &str = "/mcp";
/// How long running calls may take after the server was asked to end, before their programs are ended.
const LAST_CALLS: Duration = Duration::from_millis(200);
/// How long answers may take that the end of a program causes.
const LAST_ANSWERS: Duration = Duration::from_millis(200);

/// What requests are answered with.
struct HttpState {
    access: Access,
    clients: Arc<Clients>,
    offer: Arc<ServerFeatures>,
    started: Instant,
    /// The server accepts no new calls.
    ending: CancellationToken,
    /// The calls that run.
    calls: TaskTracker,
}

/// Serves until a signal comes, and ends every program that was started.
pub(crate) async fn serve(
    args: &HttpArgs,
    address: SocketAddr,
    offer: ServerFeatures,
    run_context: RunContext,
    remotes: Option<RemoteSetup>,
) -> anyhow::Result<ExitCode> {
    ensure!(
        address.ip().is_loopback() || args.http_allow_remote,
        "`{}` is reachable from other machines without TLS; listen on 127.0.0.1 behind a proxy, or add \
         `--http-allow-remote`",
        address.ip()
    );
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    serve_on(args, listener, offer, run_context, remotes).await
}

/// The same at a port that is open.
pub(super) async fn serve_on(
    args: &HttpArgs,
    listener: TcpListener,
    offer: ServerFeatures,
    run_context: RunContext,
    remotes: Option<RemoteSetup>,
) -> anyhow::Result<ExitCode> {
    let (tokens, told) = tokens(args)?;
    let bound = listener.local_addr()?;
    let mut hosts = args.allow_host.clone();
    if !bound.ip().is_loopback() {
        terminal::hint("other machines can connect without TLS: traffic is not encrypted");
        hosts.push(Host::Address(bound.ip()));
    }
    terminal::hint(&format!("listening on http://{bound}{ENDPOINT}"));
    if let Some(token) = told {
        terminal::hint(&format!("token: {token}"));
    }
    let ending = CancellationToken::new();
    let signals = tokio::spawn(cancel_on_signal(ending.clone()));
    let clients = Clients::new(args.max_sessions(), args.idle(), run_context, remotes);
    let site = Arc::new(HttpState {
        access: Access::new(tokens, hosts, args.allow_origin.clone()),
        clients: Arc::clone(&clients),
        offer: Arc::new(offer),
        started: Instant::now(),
        ending: ending.clone(),
        calls: TaskTracker::new(),
    });
    let over = CancellationToken::new();
    let refuse = |status, message| Refusal::new(status, message).into_response();
    let app = router(Arc::clone(&site));
    let connections = tokio::spawn(viewer::http::serve(listener, app, refuse, over.clone()));
    tokio::select! {
        () = ending.cancelled() => {}
        () = clients.reap() => {}
    }
    signals.abort();
    site.wind_up().await;
    over.cancel();
    let _ = connections.await;
    // A session that a last call opened meanwhile.
    let _ = timeout(LAST_ANSWERS, clients.end_programs()).await;
    Ok(ExitCode::SUCCESS)
}

/// The accepted tokens, and the one to print.
fn tokens(args: &HttpArgs) -> anyhow::Result<(Tokens, Option<String>)> {
    if args.no_token {
        return Ok((Tokens::Open, None));
    }
    if let Some(path) = &args.token_file {
        return Ok((Tokens::of_file(path)?, None));
    }
    if let Some(tokens) = Tokens::of_environment()? {
        return Ok((tokens, None));
    }
    let (tokens, told) = Tokens::made_up()?;
    Ok((tokens, Some(told)))
}

impl HttpState {
    /// Lets calls finish, ends all programs, and ends all streams.
    async fn wind_up(&self) {
        self.calls.close();
        let _ = timeout(LAST_CALLS, self.calls.wait()).await;
        let _ = timeout(LAST_PROGRAMS, self.clients.end_programs()).await;
        let _ = timeout(LAST_ANSWERS, self.calls.wait()).await;
        self.clients.close();
    }
}

fn router(site: Arc<HttpState>) -> Router {
    Router::new()
        .route(ENDPOINT, any(endpoint::mcp))
        .route(sse::ADDRESS, any(sse::sse))
        .route("/health", get(health::health).fallback(async || wrong_method("GET, HEAD")))
        .fallback(not_found)
        .layer(from_fn_with_state(Arc::clone(&site), access::guard))
        .with_state(site)
}

async fn not_found(State(site): State<Arc<HttpState>>, uri: Uri, headers: HeaderMap) -> Refusal {
    site.access.owner(&headers).err().unwrap_or_else(|| {
        let message = format!("nothing at `{}`; MCP is at `{ENDPOINT}`", uri.path());
        Refusal::new(StatusCode::NOT_FOUND, message)
    })
}

fn wrong_method(allowed: &'static str) -> Response {
    let message = format!("unsupported method; use {allowed}");
    ([(ALLOW, allowed)], Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message)).into_response()
}
