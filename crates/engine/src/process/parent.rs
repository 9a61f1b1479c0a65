//! The program that started this one.

/// Comes back when the program that started this one is gone. It never does when nobody can tell: where the first
/// process of the system or of a container has started this one, or has already taken it over from its parent.
///
/// On Windows nobody tells; there, the end of standard input has to do.
#[cfg(target_os = "linux")]
pub async fn parent_gone() {
    use rustix::process::{PidfdFlags, getppid, pidfd_open};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    let Some(parent) = getppid().filter(|parent| !parent.is_init()) else { return never().await };
    match pidfd_open(parent, PidfdFlags::empty()) {
        // Its number is somebody else's when it was gone before it could be opened.
        Ok(handle) if getppid() == Some(parent) => {
            #[expect(deprecated, reason = "the replacement is unsafe, and a handle that we own stays open")]
            let watched = AsyncFd::with_interest(handle, Interest::READABLE);
            // The handle can be read from when the process has ended (`pidfd_open(2)`).
            match watched {
                Ok(watched) if watched.readable().await.is_ok() => {}
                _ => never().await,
            }
        }
        Ok(_) => {}
        // Kernels before 5.3, and sandboxes that forbid it.
        Err(error) => {
            tracing::debug!(%error, "cannot watch the parent process");
            never().await;
        }
    }
}

/// The same where the system has no handles for processes: who has no parent any more is given another one.
#[cfg(all(unix, not(target_os = "linux")))]
pub async fn parent_gone() {
    use rustix::process::getppid;

    let parent = getppid().filter(|parent| !parent.is_init());
    while parent.is_some() && getppid() == parent {
        tokio::time::sleep(crate::deadlines::PARENT).await;
    }
    if parent.is_none() {
        never().await;
    }
}

/// The same where a process keeps the number of its parent for ever.
#[cfg(not(unix))]
pub async fn parent_gone() {
    never().await;
}

async fn never() {
    std::future::pending::<()>().await;
}
