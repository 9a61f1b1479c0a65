//! Connections: how many, and for how long one may take to say what it wants.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::Site;
use super::answers::Refusal;

/// The connections that are served at once, and with them the requests: each has one at a time.
const SERVED: usize = 256;
/// The connections beyond these that are told so.
const TOLD: usize = 64;
/// How long the head of a request may take to arrive, and how long a connection may be idle.
const HEAD_ARRIVES_WITHIN: Duration = Duration::from_secs(15);
/// The most bytes of a head. Larger ones are answered with 431: by the parser as soon as its buffer is full, and here
/// where they came at once, for which the buffer grows.
const HEAD_BYTES: usize = 32 * 1024;
/// The most headers.
const HEADERS: usize = 64;
/// How long to wait when the system gives no more connections.
const EXHAUSTED: Duration = Duration::from_millis(50);
/// How long connections may take to send what they have.
const LAST_BYTES: Duration = Duration::from_millis(200);

/// Serves all who connect until `over`, and then lets go of them.
pub(super) async fn serve(listener: TcpListener, site: Arc<Site>, over: CancellationToken) {
    let served = Arc::new(Semaphore::new(SERVED));
    let told = Arc::new(Semaphore::new(TOLD));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            () = over.cancelled() => break,
        };
        let Ok((stream, _)) = accepted else {
            // Such as when there are no more file descriptors; one comes free when a connection ends.
            sleep(EXHAUSTED).await;
            continue;
        };
        let place = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned().ok();
        // Those beyond both limits are hung up on.
        if let Some(place) = place(&served) {
            connections.spawn(connection(stream, place, Some(Arc::clone(&site)), over.clone()));
        } else if let Some(place) = place(&told) {
            connections.spawn(connection(stream, place, None, over.clone()));
        }
    }
    drop(listener);
    let _ = timeout(LAST_BYTES, async { while connections.join_next().await.is_some() {} }).await;
    connections.shutdown().await;
}

/// How long the head of a request was, but for what little may be left out of it.
fn bytes_of_head<B>(request: &Request<B>) -> usize {
    let first = request.uri().to_string().len();
    let lines =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    first + lines.sum::<usize>()
}

/// Serves one, or without a site tells it that there are too many.
async fn connection(
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
    site: Option<Arc<Site>>,
    over: CancellationToken,
) {
    // Events are small, and each is waited for.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let site = site.clone();
        async move {
            Ok::<_, Infallible>(if let Some(site) = site {
                if bytes_of_head(&request) > HEAD_BYTES {
                    let message = format!("the head of a request may have at most {HEAD_BYTES} bytes");
                    return Ok(Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, message).answer());
                }
                site.answer(request).await
            } else {
                let message = format!("{SERVED} connections are open, which is the limit: close some");
                Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message).answer()
            })
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_ARRIVES_WITHIN);
    http.max_headers(HEADERS).max_buf_size(HEAD_BYTES);
    let connection = http.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = over.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // A client that went away, or wrote what is not HTTP and was told so.
        tracing::debug!(%error, "a connection ended");
    }
}
