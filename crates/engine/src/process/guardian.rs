//! A small process that outlives the server just long enough to clean up after it.
//!
//! A server that is killed with SIGKILL cannot end its debuggees. The guardian holds one end of a pipe; when
//! the other end closes, for whatever reason, it kills the process groups that it was told of and
//! everything that carries the server's mark. It is started with the first debuggee, and it is this same
//! program under another argument.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::marked;

/// The hidden argument that makes this program a guardian. The server's mark follows it.
pub const ARGUMENT: &str = "__guard";

/// The program to start as a guardian; unset in tests of the engine alone.
static PROGRAM: OnceLock<std::path::PathBuf> = OnceLock::new();
/// The pipe to the guardian.
static PIPE: Mutex<Option<ChildStdin>> = Mutex::new(None);

/// Names the program that serves as guardian. Without it there is none.
pub fn set_program(path: std::path::PathBuf) {
    // Only the first call counts, and there is only one.
    let _ = PROGRAM.set(path);
}

/// Starts the guardian unless it is there.
#[expect(clippy::disallowed_methods, reason = "this is the place where children are started")]
pub(super) fn wake() {
    let Some(program) = PROGRAM.get() else { return };
    let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner);
    if pipe.is_some() {
        return;
    }
    let mut command = std::process::Command::new(program);
    command.arg(ARGUMENT).arg(marked::server_mark());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A signal to the server's group must not take the guardian along.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    match command.spawn() {
        Ok(mut child) => *pipe = child.stdin.take(),
        Err(error) => tracing::warn!(%error, "no guardian: debuggees may outlive a server that is killed"),
    }
}

/// Tells the guardian of a process group.
pub(super) fn watch(leader: u32) {
    tell('+', leader);
}

/// Tells the guardian that the leader of a group is gone, and its number may be given away.
pub(super) fn forget(leader: u32) {
    tell('-', leader);
}

fn tell(sign: char, leader: u32) {
    if let Some(pipe) = PIPE.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        let _ = writeln!(pipe, "{sign}{leader}");
    }
}

/// The guardian's life: listens until the server is gone, then kills what it left behind.
pub fn run(server_mark: &str, orders: impl Read) {
    let mut groups = std::collections::BTreeSet::new();
    for order in BufReader::new(orders).lines().map_while(Result::ok) {
        if let Some(leader) = order.strip_prefix('+').and_then(|leader| leader.parse::<u32>().ok()) {
            groups.insert(leader);
        } else if let Some(leader) = order.strip_prefix('-').and_then(|leader| leader.parse().ok()) {
            groups.remove(&leader);
        }
    }
    groups.into_iter().for_each(marked::kill_group);
    // An empty mark would be everybody's.
    if !server_mark.is_empty() {
        marked::kill_marked(server_mark);
    }
}
