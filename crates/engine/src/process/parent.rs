//! The program that started this one.

/// Returns when the parent process has ended. Never returns if that is unknowable: if the first process of the system
/// or of a container started this one, or has already adopted it.
#[cfg(target_os = "linux")]
pub async fn parent_gone() {
    use rustix::process::{PidfdFlags, getppid, pidfd_open};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    let Some(parent) = getppid().filter(|parent| !parent.is_init()) else { return never().await };
    match pidfd_open(parent, PidfdFlags::empty()) {
        // Its number belongs to another process if it ended before it could be opened.
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

/// The same for systems without handles for processes: a process without a parent gets another one.
#[cfg(not(target_os = "linux"))]
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

async fn never() {
    std::future::pending::<()>().await;
}
