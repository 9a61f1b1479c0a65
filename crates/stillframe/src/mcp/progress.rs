//! Sends the client progress while a call runs.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use tools::{Report, show_in_text};

/// Messages that a slow client has not taken yet. More are left out: the next one says the same.
const QUEUED: usize = 8;

/// How long a call may report nothing before the client is notified that it is still running. Waits report each second.
const SILENCE: Duration = Duration::from_millis(1200);

/// Runs a call, and sends what it reports to a client that asked for progress; after a while of silence, that it
/// is still running. Nothing, when the client cancelled the call or is gone; the call is dropped then, which gives up
/// its wait and nothing else.
pub(super) async fn relay<T, F>(
    cx: &RequestContext<RoleServer>,
    title: &str,
    call: impl FnOnce(Option<Report>) -> F,
) -> Option<T>
where
    F: Future<Output = T>,
{
    let (sender, mut reports) = mpsc::channel::<String>(QUEUED);
    let token = cx.meta.get_progress_token();
    let report = token.is_some().then(|| {
        Report::new(move |mut message| {
            show_in_text(&mut message);
            drop(sender.try_send(message));
        })
    });
    let call = call(report);
    tokio::pin!(call);
    let mut told = 0.0;
    let began = Instant::now();
    loop {
        let message = tokio::select! {
            biased;
            answer = &mut call => return Some(answer),
            () = cx.ct.cancelled() => return None,
            Some(message) = reports.recv() => message,
            () = sleep(SILENCE), if token.is_some() => format!("{title} ({} s)", began.elapsed().as_secs()),
        };
        let Some(token) = token.clone() else { continue };
        told += 1.0;
        let progress = ProgressNotificationParam::new(token, told).with_message(message);
        // Awaited here, so that no progress follows the answer. A client that reads nothing must not hold a call
        // that was cancelled.
        tokio::select! {
            biased;
            () = cx.ct.cancelled() => return None,
            _ = cx.peer.notify_progress(progress) => {}
        }
    }
}
