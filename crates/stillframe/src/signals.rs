//! Requests to end, by Ctrl-C or by another program, and ignored signals.

use tokio_util::sync::CancellationToken;

/// Cancels when this program is asked to end.
#[cfg(unix)]
pub(crate) async fn cancel_on_signal(shutdown: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] = kinds.map(signal) else {
        return tracing::warn!("signals end this program by default");
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

/// Has writing into a file beyond the limit of the system (`setrlimit(2)`, `RLIMIT_FSIZE`) fail as other writing does.
/// A program that has not asked for the signal that is sent then is ended by it.
#[cfg(unix)]
pub(crate) fn outlive_full_files() {
    use tokio::signal::unix::{SignalKind, signal};
    /// SIGXFSZ, on every Unix that this is built for.
    const FILE_SIZE: i32 = 25;
    // The handler stays after the last listener is gone.
    if let Err(error) = signal(SignalKind::from_raw(FILE_SIZE)) {
        tracing::debug!(%error, "the limit on file sizes ends this program");
    }
}

/// Has writing into a full file fail as other writing does.
#[cfg(not(unix))]
pub(crate) fn outlive_full_files() {}
