//! Finding and signalling processes by group and by the mark in their environment.

use std::sync::atomic::{AtomicU64, Ordering};

use super::proc;
use crate::temporary::server_id;

/// The environment variable that marks everything a session starts. Its value names the server, the session
/// and the program.
pub const MARK: &str = "STILLFRAME_SESSION";

/// Whether a text can identify a server. An empty one would match all.
pub(super) fn is_server_id(text: &str) -> bool {
    uuid::Uuid::try_parse(text).is_ok_and(|id| id.simple().to_string() == text)
}

/// The beginning of the marks of all sessions of a server.
pub(super) fn mark_of_server(id: &str) -> String {
    format!("{id}/")
}

/// The beginning of the marks of all programs of a session of this server.
pub(super) fn mark(session: &str) -> String {
    mark_of_server(server_id()) + session
}

/// The value of [`MARK`] for the next program of a session. Each program has its own, because the leftovers of one
/// may still be cleaned up when the next one starts.
pub(super) fn mark_of_next(session: &str) -> String {
    static PROGRAMS: AtomicU64 = AtomicU64::new(1);
    // The slash at the end keeps the first program from being the beginning of the tenth.
    format!("{}/{}/", mark(session), PROGRAMS.fetch_add(1, Ordering::Relaxed))
}

/// The beginning of the marks of all sessions of this server.
pub(super) fn server_mark() -> String {
    mark("")
}

/// Kills a process group, and what descends from its leader: who has left the group and cleared its
/// environment is known by its parent alone.
pub(super) fn kill_group(leader: u32) {
    use rustix::process::{Signal, kill_process_group};
    #[cfg(target_os = "linux")]
    let descendants = descendants(leader);
    if let Some(group) = pid(leader) {
        // It may be gone by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    #[cfg(target_os = "linux")]
    for process in descendants {
        let _ = rustix::process::pidfd_send_signal(process, Signal::KILL);
    }
}

/// The descendants of a process, each as a handle that never refers to another process later.
#[cfg(target_os = "linux")]
fn descendants(ancestor: u32) -> Vec<std::os::fd::OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};

    use super::identity::children;
    let (mut found, mut parents) = (Vec::new(), vec![ancestor]);
    while let Some(parent) = parents.pop() {
        for child in children(parent) {
            let handle = pid(child).and_then(|raw| pidfd_open(raw, PidfdFlags::empty()).ok());
            // Its number may have been given away before it was opened.
            if let Some(handle) = handle
                && children(parent).contains(&child)
            {
                found.push(handle);
                parents.push(child);
            }
        }
    }
    found
}

/// Sends SIGINT to a process group.
pub(super) fn interrupt_group(leader: u32) {
    if let Some(group) = pid(leader) {
        // It may be gone by itself.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::INT);
    }
}

/// Kills every process whose mark begins like this, what descends from them, and whatever they start meanwhile.
pub(super) fn kill_marked(mark: &str) {
    // A process may fork between being listed and being killed, so look again until nothing is left. The
    // bound is for a process that cannot be killed, such as one in uninterruptible sleep.
    for _ in 0..20 {
        let found = marked(mark);
        if found.is_empty() {
            return;
        }
        for process in found {
            kill(process, mark);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// The processes whose mark begins like this. Zombies have no environment and are not among them.
pub(super) fn marked(mark: &str) -> Vec<u32> {
    proc::all().into_iter().filter(|&process| is_marked(process, mark)).collect()
}

/// Only Linux lets us read another process's environment without special rights; elsewhere the process
/// group has to do.
pub(super) fn is_marked(process: u32, mark: &str) -> bool {
    let variable = format!("{MARK}={mark}");
    super::identity::environment(process).is_some_and(|environment| {
        environment.split(|&byte| byte == 0).any(|entry| entry.starts_with(variable.as_bytes()))
    })
}

/// Kills one process with its descendants, if it still is the one that carries the mark: its number may have been
/// given away.
#[cfg(target_os = "linux")]
fn kill(process: u32, mark: &str) {
    use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    let Some(raw) = pid(process) else { return };
    if let Ok(handle) = pidfd_open(raw, PidfdFlags::empty())
        && is_marked(process, mark)
    {
        let descendants = descendants(process);
        for process in std::iter::once(handle).chain(descendants) {
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn kill(_process: u32, _mark: &str) {}

/// Whether a process of this number exists.
pub(super) fn exists(process: u32) -> bool {
    // Not being allowed to signal it shows that it exists.
    pid(process).is_some_and(|raw| rustix::process::test_kill_process(raw) != Err(rustix::io::Errno::SRCH))
}

/// Sends SIGUSR1, at which Node opens its inspector.
pub(super) fn ask_for_inspector(process: u32) -> bool {
    send(process, rustix::process::Signal::USR1)
}

/// Stops a process with SIGSTOP.
pub(super) fn stop(process: u32) {
    send(process, rustix::process::Signal::STOP);
}

/// Lets a stopped process run on.
pub(super) fn resume(process: u32) {
    send(process, rustix::process::Signal::CONT);
}

/// Sends a signal whose default is to be ignored.
pub(super) fn interrupt_system_call(process: u32) {
    send(process, rustix::process::Signal::URG);
}

/// Sends a signal. False if there is no such process, or it is not ours.
fn send(process: u32, signal: rustix::process::Signal) -> bool {
    pid(process).is_some_and(|raw| rustix::process::kill_process(raw, signal).is_ok())
}

fn pid(process: u32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(process).ok()?)
}
