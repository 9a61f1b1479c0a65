//! The MCP server: from messages to tool calls, and back. Messages are lines on standard input, or come over HTTP.
//!
//! Both eras of the protocol are served on one pipe, request by request: revisions up to 2025-11-25, which begin with
//! a handshake, and 2026-07-28, where every request is independent. A session is never tied to the connection.

mod ask;
mod completions;
mod confirm;
mod disconnect;
mod guarded;
mod handshake;
mod http;
mod icon;
mod log;
mod progress;
mod prompts;
mod records;
mod repair;
pub(crate) mod resources;
mod roots;
mod server;
mod subscriptions;
#[cfg(test)]
mod suite;
mod unreadable;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use tokio::time::timeout;

use self::disconnect::DisconnectWatcher;
use self::guarded::Guarded;
use self::handshake::ImplicitHandshake;
pub(crate) use self::http::{HttpArgs, serve as serve_http};
pub(crate) use self::records::Records;
use self::server::Server;
pub(crate) use self::server::ServerFeatures;
use self::unreadable::UnreadableAnswered;
use crate::one_shot::RunContext;
use crate::signals::Shutdown;
use crate::terminal;
use crate::via::{RemoteSetup, Remotes, UntilSilence};

/// How long calls in flight may take to answer once the client is gone.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// How long ending the programs may take. After that, the guardian ends them.
const LAST_PROGRAMS: Duration = Duration::from_millis(1500);

/// What answers a client's requests.
#[cfg(not(test))]
fn handler(server: Server) -> Guarded<Server> {
    Guarded(server)
}

/// The same with what the conformance suite calls.
#[cfg(test)]
fn handler(server: Server) -> Guarded<suite::Suite> {
    Guarded(suite::Suite(server))
}

/// Serves until the client goes away or a signal comes, and ends every program that was started. A relay shows that it
/// is there; without that, it is gone.
pub(crate) async fn serve(
    offer: ServerFeatures,
    run_context: RunContext,
    remotes: Option<RemoteSetup>,
) -> anyhow::Result<ExitCode> {
    if std::io::stdin().is_terminal() {
        terminal::hint(
            "MCP server waiting for messages on standard input (press Ctrl-D to exit). MCP clients start it themselves: \
             see the README. For manual use, try `stillframe probe`.",
        );
    }
    // One token for everything: the end of input, a broken output, a signal. It is also the parent of every
    // request's own token, so that all of them notice at once.
    let shutdown = Shutdown::watch();
    let context = run_context.context();
    let (reader, writer) = stdio_pipes();
    let lines =
        if run_context.is_relayed { repair::lines(UntilSilence::new(reader)) } else { repair::lines(reader) };
    let lines = UnreadableAnswered(AsyncRwTransport::new_server(lines, writer));
    let transport = DisconnectWatcher::new(ImplicitHandshake::new(lines), shutdown.token.clone());
    // One relay behind another would only be slower.
    let remotes = remotes.filter(|_| !run_context.is_relayed).map(|setup| Arc::new(Remotes::new(setup)));
    records::offer();
    let server = handler(Server::new(context.clone(), Arc::new(offer), remotes.clone()));
    let running = match Box::pin(serve_server_with_ct(server, transport, shutdown.token.clone())).await {
        Ok(running) => running,
        // The client left before it asked for anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(error.into()),
    };
    let waiting = running.waiting();
    tokio::pin!(waiting);
    tokio::select! {
        _ = &mut waiting => {}
        () = shutdown.token.cancelled() => {
            // Ends which a limit cuts short are as good as others: the process is about to exit.
            let answers = timeout(LAST_ANSWERS, &mut waiting);
            let programs = timeout(LAST_PROGRAMS, context.close());
            let _ = tokio::join!(answers, programs);
        }
    }
    // A session that a last call opened meanwhile.
    let _ = timeout(LAST_PROGRAMS, context.close()).await;
    if let Some(remotes) = remotes {
        remotes.close().await;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests;
