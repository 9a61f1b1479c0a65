//! Serving HTTP: the limits of connections.
//!
//! The journal's page and MCP are both served by this; what they answer is an [`axum`] router each.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::serve::Listener;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Connections served at once. Each has one request at a time.
const SERVED: usize = 256;
/// Connections beyond these whose requests are refused. Those beyond both limits are closed.
const REFUSED: usize = 64;
/// How long the head of a request may take to arrive, and how long a connection may be idle.
const HEAD_ARRIVES_WITHIN: Duration = Duration::from_secs(15);
/// The most bytes of a head. The parser refuses a larger one once its buffer is full, which grows for one that arrives
/// at once; so the length is checked again.
const HEAD_BYTES: usize = 32 * 1024;
/// The most headers.
const HEADERS: usize = 64;
/// How long connections may take to send the rest of their answers at the end.
const LAST_BYTES: Duration = Duration::from_millis(200);

/// Serves connections until `over` is cancelled, then closes them. `refuse` words the answer to what exceeds a limit.
pub async fn serve(
    mut listener: TcpListener,
    app: Router,
    refuse: fn(StatusCode, String) -> Response,
    over: CancellationToken,
) {
    let app = app.layer(from_fn(move |request: Request, next: Next| async move {
        if head_bytes(&request) > HEAD_BYTES {
            let message = format!("a request's head is limited to {HEAD_BYTES} bytes");
            return refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, message);
        }
        next.run(request).await
    }));
    let crowded = Router::new().fallback(move || async move {
        let message = format!("{SERVED} connections are open, which is the limit: close some");
        refuse(StatusCode::SERVICE_UNAVAILABLE, message)
    });
    let limits = [(app, SERVED), (crowded, REFUSED)];
    let limits = limits.map(|(app, most)| (app, Arc::new(Semaphore::new(most))));
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = tokio::select! {
            // This waits and retries after errors, such as too many open files.
            accepted = Listener::accept(&mut listener) => accepted,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            () = over.cancelled() => break,
        };
        let admitted = limits
            .iter()
            .find_map(|(app, permits)| Some((app.clone(), Arc::clone(permits).try_acquire_owned().ok()?)));
        if let Some((app, permit)) = admitted {
            let over = over.clone();
            connections.spawn(async move {
                connection(stream, app, over).await;
                drop(permit);
            });
        }
    }
    drop(listener);
    let _ = timeout(LAST_BYTES, async { while connections.join_next().await.is_some() {} }).await;
    connections.shutdown().await;
}

async fn connection(stream: TcpStream, app: Router, over: CancellationToken) {
    // Events are small, and each is waited for.
    let _ = stream.set_nodelay(true);
    let mut http = Builder::new(TokioExecutor::new()).http1_only();
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_ARRIVES_WITHIN);
    http.http1().max_headers(HEADERS).max_buf_size(HEAD_BYTES);
    let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = over.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // A client that went away, or wrote what is not HTTP and was refused.
        tracing::debug!(%error, "a connection failed");
    }
}

/// The length of a request's head, but for what little may be left out of it.
fn head_bytes(request: &Request) -> usize {
    let first = request.uri().to_string().len();
    let lines =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    first + lines.sum::<usize>()
}
