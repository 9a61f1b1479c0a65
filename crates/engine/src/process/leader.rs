//! The end of a process that leads a group, seen before its number is given away.
//!
//! The system keeps the number of an ended process until its parent has reaped it. Until then, no other group has
//! that number, so the rest of this group can be killed by it.

#[cfg(target_os = "linux")]
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};

use super::{identity, proc};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

/// Waits for the end of a child, whose number stays taken. Nothing where the system does not let one do that, such
/// as Linux before 5.4: then the child has to be waited for as any other.
#[cfg(target_os = "linux")]
pub(super) async fn status(pid: u32) -> Option<Status> {
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    #[expect(deprecated, reason = "the replacement is unsafe, and a handle that we own stays open")]
    let watched = AsyncFd::with_interest(handle, Interest::READABLE).ok()?;
    // The handle can be read from when the process has ended (`pidfd_open(2)`).
    let _ready = watched.readable().await.ok()?;
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(pid), how).ok()??;
    status.exit_status().map(Status::Exited).or_else(|| status.terminating_signal().map(Status::Killed))
}

/// Whether a process whose number is taken has left others in its group.
pub(super) async fn has_left_others(pid: u32) -> bool {
    let look = move || proc::all().into_iter().any(|number| identity::group(number) == Some(pid));
    tokio::task::spawn_blocking(look).await.unwrap_or(true)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_async, reason = "it takes time where the system offers it")]
pub(super) async fn status(_pid: u32) -> Option<Status> {
    None
}
