//! Requests to end, by Ctrl-C or by another program, and ignored signals.

use engine::process::parent_gone;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The end of a server on standard input and output: requested by a signal, or implied by the end of the parent process.
pub(crate) struct Shutdown {
    /// Cancelled then.
    pub(crate) token: CancellationToken,
    _watchers: JoinSet<()>,
}

impl Shutdown {
    /// Watches for both until it is dropped.
    pub(crate) fn watch() -> Self {
        let token = CancellationToken::new();
        let mut watchers = JoinSet::new();
        watchers.spawn(cancel_on_signal(token.clone()));
        // Another process may hold our standard input open when the client is gone, such as one that the client started.
        let orphaned = token.clone();
        watchers.spawn(async move {
            parent_gone().await;
            orphaned.cancel();
        });
        Self { token, _watchers: watchers }
    }
}

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
