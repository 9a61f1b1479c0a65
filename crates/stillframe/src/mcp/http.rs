//! Streamable HTTP: the server for several clients at once, each with debug sessions of its own.
//!
//! Reading order: `options.rs` (what can be chosen), this file (the beginning and the end), `connections.rs` (who may
//! connect), `access.rs`, `names.rs` and `tokens.rs` (who may ask), `endpoint.rs`, `message.rs` and `explained.rs` (what was asked, and why not), `clients.rs` (for
//! whom), then `session.rs` and `outbox.rs`, which stand where the SDK lets one put a manager of sessions, and
//! `health.rs`.
//! The rules of the transport, its headers and its status codes are the SDK's (`StreamableHttpService`).

mod access;
mod answers;
mod clients;
mod connections;
mod endpoint;
mod explained;
mod health;
mod message;
mod names;
mod options;
mod outbox;
mod session;
mod tokens;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hyper::body::Incoming;
use hyper::header::{ALLOW, AUTHORIZATION, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::Toolset;

use self::access::Access;
use self::answers::{Body, Refusal, empty_answer};
use self::clients::Clients;
use self::names::Host;
pub(crate) use self::options::HttpArgs;
use self::tokens::Tokens;
use super::LAST_PROGRAMS;
use super::server::Offer;
use crate::one_shot::Around;
use crate::signals::cancel_on_signal;
use crate::terminal;

/// Where MCP is spoken.
const ENDPOINT: &str = "/mcp";
/// How long calls that run may take once the server is to end, before their programs are ended.
const LAST_CALLS: Duration = Duration::from_millis(200);
/// How long the answers may take that come from the end of a program.
const LAST_ANSWERS: Duration = Duration::from_millis(200);

/// What requests are answered with.
struct Site {
    access: Access,
    clients: Arc<Clients>,
    offer: Arc<Offer>,
    started: Instant,
    /// Nothing new is begun.
    ending: CancellationToken,
    /// The calls that run.
    calls: TaskTracker,
}

/// Serves until a signal comes, and ends every program that was started.
pub(crate) async fn serve(
    args: &HttpArgs,
    address: SocketAddr,
    toolsets: Vec<&'static Toolset>,
    around: Around,
) -> anyhow::Result<ExitCode> {
    ensure!(
        address.ip().is_loopback() || args.http_allow_remote,
        "`{}` can be reached from other machines, and there is no TLS; listen on 127.0.0.1 and put a proxy in front, \
         or add `--http-allow-remote`",
        address.ip()
    );
    let (tokens, told) = tokens(args)?;
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let bound = listener.local_addr()?;
    let mut hosts = args.allow_host.clone();
    if !bound.ip().is_loopback() {
        terminal::hint("other machines can connect and there is no TLS: everything can be read on the way");
        hosts.push(Host::Address(bound.ip()));
    }
    terminal::hint(&format!("listening on http://{bound}{ENDPOINT}"));
    if let Some(token) = told {
        terminal::hint(&format!("token: {token}"));
    }
    let ending = CancellationToken::new();
    let signals = tokio::spawn(cancel_on_signal(ending.clone()));
    let clients = Clients::new(args.most_sessions(), args.idle(), around);
    let site = Arc::new(Site {
        access: Access::new(tokens, hosts, args.allow_origin.clone()),
        clients: Arc::clone(&clients),
        offer: Arc::new(Offer::new(toolsets)),
        started: Instant::now(),
        ending: ending.clone(),
        calls: TaskTracker::new(),
    });
    let over = CancellationToken::new();
    let connections = tokio::spawn(connections::serve(listener, Arc::clone(&site), over.clone()));
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

/// The tokens that are accepted, and the one to tell.
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

impl Site {
    /// Lets calls come to their answers, ends all programs, and ends all streams.
    async fn wind_up(&self) {
        self.calls.close();
        let _ = timeout(LAST_CALLS, self.calls.wait()).await;
        let _ = timeout(LAST_PROGRAMS, self.clients.end_programs()).await;
        let _ = timeout(LAST_ANSWERS, self.calls.wait()).await;
        self.clients.close();
    }

    /// Answers a request.
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if let Err(refusal) = self.access.check_place(request.uri(), request.headers()) {
            return refusal.answer();
        }
        let for_page = self.access.headers_for_page(request.headers());
        let answered = match request.uri().path() {
            _ if request.method() == Method::OPTIONS && !for_page.is_empty() => {
                Ok(empty_answer(StatusCode::NO_CONTENT))
            }
            ENDPOINT => self.mcp(request).await,
            "/health" => self.health(&request),
            other => self.access.owner(request.headers()).and_then(|_| {
                let message = format!("there is nothing at `{other}`: MCP is at `{ENDPOINT}`");
                Err(Refusal::new(StatusCode::NOT_FOUND, message))
            }),
        };
        let mut response = answered.unwrap_or_else(Refusal::answer);
        response.headers_mut().extend(for_page);
        response
    }

    fn health(&self, request: &Request<Incoming>) -> Result<Response<Body>, Refusal> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Ok(wrong_method("GET, HEAD"));
        }
        let headers = request.headers();
        let owner = self.access.owner(headers);
        let knows_token = owner.is_ok();
        // A token that is wrong is told so; none is none.
        if headers.contains_key(AUTHORIZATION) {
            owner?;
        }
        Ok(health::answer(self.ending.is_cancelled(), knows_token, self.started, &self.clients))
    }
}

fn wrong_method(allowed: &'static str) -> Response<Body> {
    let message = format!("this method is not served, only {allowed}");
    let mut response = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message).answer();
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}
