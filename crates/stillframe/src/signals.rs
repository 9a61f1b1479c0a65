//! Being asked to end: by Ctrl-C, or by another program.

use tokio_util::sync::CancellationToken;

/// Cancels when this program is asked to end.
#[cfg(unix)]
pub(crate) async fn cancel_on_signal(shutdown: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] = kinds.map(signal) else {
        return tracing::warn!("signals end this program without its help");
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
    shutdown.cancel();
}

/// Cancels when this program is asked to end.
#[cfg(not(unix))]
pub(crate) async fn cancel_on_signal(shutdown: CancellationToken) {
    if tokio::signal::ctrl_c().await.is_ok() {
        shutdown.cancel();
    }
}
