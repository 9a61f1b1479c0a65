//! What is new, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::WebState;
use super::reader::JournalStatus;

/// How much time is between two events at least.
const PACE: Duration = Duration::from_millis(200);
/// How often a keep-alive is sent.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// A page that listens.
struct Listener {
    news: Receiver<JournalStatus>,
    next: Instant,
    ends: CancellationToken,
}

/// One event at once, and one whenever something has changed. They end with the server.
pub(super) async fn events(
    State(site): State<Arc<WebState>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let mut news = site.reader.news();
    news.mark_changed();
    let listener = Listener { news, next: Instant::now(), ends: site.ends.clone() };
    let events = unfold(listener, |mut listener| async move {
        let event = listener.event().await?;
        Some((Ok(event), listener))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("alive"))
}

impl Listener {
    /// The next event; none at the end.
    async fn event(&mut self) -> Option<Event> {
        let changed = async {
            self.news.changed().await.ok()?;
            sleep_until(self.next).await;
            Some(())
        };
        tokio::select! {
            () = self.ends.cancelled() => None,
            changed = changed => {
                changed?;
                self.next = Instant::now() + PACE;
                let data = serde_json::to_string(&*self.news.borrow_and_update()).ok()?;
                Some(Event::default().event("news").data(data))
            }
        }
    }
}
