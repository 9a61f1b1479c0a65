//! A journal on one page in the browser, while it is written or afterwards.
//!
//! Reading order: `guard.rs` (which requests are allowed), `reader.rs` (the owner of the journal), `rows.rs` (the timeline), `shown.rs`
//! (a moment, an entry), `events.rs` (what is new), `recordings.rs` (whole runs), and this file (the server). The page is in the files beside them,
//! as they are: `page.html`, `app.js` and what that imports.
//!
//! Entries are addressed by their places ([`Log::place`]): numbers move when older entries come in, places do not, so
//! that what the page has remembered stays true.

mod events;
mod guard;
mod reader;
mod recordings;
mod rows;
mod shown;

use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::guard::Guard;
use self::reader::Reader;
pub use self::recordings::Recordings;
use crate::clock::Clock;
use crate::http;
use crate::log::Log;
use crate::source_context;

/// What of a journal is served, and where.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The session to show alone: its id, the beginning of its id, its name, or `last`.
    pub session: Option<String>,
    /// The port; none for one that is free.
    pub port: Option<u16>,
    /// Recordings of whole runs, which have their own page.
    pub recordings: Option<Arc<dyn Recordings>>,
    /// The recording whose page to show.
    pub recording: Option<String>,
}

/// A server that listens on this machine alone.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    site: Arc<WebState>,
    url: String,
}

/// What requests are answered with.
#[derive(Debug)]
struct WebState {
    reader: Arc<Reader>,
    guard: Guard,
    clock: Clock,
    recordings: Option<Arc<dyn Recordings>>,
    /// Cancelled when the server is to end.
    ends: CancellationToken,
}

impl Server {
    /// Opens a journal and listens. A missing file is awaited. An error if the journal cannot be read, the port is
    /// taken, or there is no such session.
    pub async fn open(path: &Path, options: &Options) -> io::Result<Self> {
        let port = options.port.unwrap_or(0);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener =
            listener.map_err(|error| io::Error::new(error.kind(), format!("port {port}: {error}")))?;
        let (path, wanted) = (path.to_owned(), options.session.clone());
        let opening = move || {
            let mut log = Log::open(&path)?;
            let session =
                wanted.map(|wanted| source_context::named_session(&mut log, &wanted)).transpose()?;
            io::Result::Ok((Reader::new(log, &path), session))
        };
        let (reader, session) = tokio::task::spawn_blocking(opening).await.map_err(io::Error::other)??;
        let guard = Guard::new(listener.local_addr()?.port())?;
        let url = match &options.recording {
            Some(name) => guard.url("recording", &[("name", name)]),
            None => {
                guard.url("", &session.as_deref().map(|id| ("session", id)).into_iter().collect::<Vec<_>>())
            }
        };
        let site = WebState {
            reader: Arc::new(reader),
            guard,
            clock: Clock::local(),
            recordings: options.recordings.clone(),
            ends: CancellationToken::new(),
        };
        Ok(Self { listener, site: Arc::new(site), url })
    }

    /// The address of the page. Anyone with it can read the journal.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Serves until that completes.
    pub async fn serve(self, until: impl Future<Output = ()>) {
        let (reader, ends) = (Arc::clone(&self.site.reader), self.site.ends.clone());
        let following = tokio::spawn(reader.follow(ends.clone()));
        let app = router(self.site);
        let refuse = |status, message| (status, format!("{message}\n")).into_response();
        tokio::join!(http::serve(self.listener, app, refuse, ends.clone()), async {
            until.await;
            ends.cancel();
        });
        following.abort();
    }
}

fn router(site: Arc<WebState>) -> Router {
    let mut router = Router::new()
        .route("/", get(page))
        .route("/rows", get(rows::rows))
        .route("/jump", get(rows::jump))
        .route("/strip", get(rows::over_time))
        .route("/moment", get(shown::moment))
        .route("/entry", get(shown::entry))
        .route("/events", get(events::events))
        .route("/recording", get(recording_page))
        .route("/recordings", get(recordings::list))
        .route("/recording/timeline", get(recordings::timeline))
        .route("/recording/values", get(recordings::values))
        .route("/recording/state", get(recordings::state));
    for (path, content_type, text) in FILES {
        let file = move || async move { ([(CONTENT_TYPE, HeaderValue::from_static(content_type))], text) };
        router = router.route(path, get(file));
    }
    router.layer(from_fn_with_state(Arc::clone(&site), guard::guard)).with_state(site)
}

const PAGE: &str = include_str!("web/page.html");
const RECORDING: &str = include_str!("web/recording.html");
const SCRIPT: &str = "text/javascript; charset=utf-8";
const FILES: [(&str, &str, &str); 11] = [
    ("/app.css", "text/css; charset=utf-8", include_str!("web/app.css")),
    ("/app.js", SCRIPT, include_str!("web/app.js")),
    ("/keys.js", SCRIPT, include_str!("web/keys.js")),
    ("/panes.js", SCRIPT, include_str!("web/panes.js")),
    ("/parts.js", SCRIPT, include_str!("web/parts.js")),
    ("/flame.js", SCRIPT, include_str!("web/flame.js")),
    ("/recording.css", "text/css; charset=utf-8", include_str!("web/recording.css")),
    ("/recording.js", SCRIPT, include_str!("web/recording.js")),
    ("/replay.js", SCRIPT, include_str!("web/replay.js")),
    ("/strip.js", SCRIPT, include_str!("web/strip.js")),
    ("/timeline.js", SCRIPT, include_str!("web/timeline.js")),
];

/// The page, and with it the cookie by which everything else is asked for.
async fn page(State(site): State<Arc<WebState>>) -> Response {
    with_cookie(&site, PAGE)
}

/// The page of a recording, and the same cookie.
async fn recording_page(State(site): State<Arc<WebState>>) -> Response {
    if site.recordings.is_none() {
        return StatusCode::NOT_FOUND.into_response();
    }
    with_cookie(&site, RECORDING)
}

fn with_cookie(site: &WebState, page: &'static str) -> Response {
    let cookie = HeaderValue::try_from(site.guard.cookie());
    let Ok(cookie) = cookie else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let content_type = HeaderValue::from_static("text/html; charset=utf-8");
    ([(CONTENT_TYPE, content_type), (SET_COOKIE, cookie)], page).into_response()
}

#[cfg(test)]
mod tests;
