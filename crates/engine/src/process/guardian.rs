//! A small process that outlives the server just long enough to clean up after it.
//!
//! A server that is killed with SIGKILL cannot end its debuggees. The guardian holds one end of a pipe; when the
//! other end closes, for whatever reason, it kills the registered process groups and everything that carries the
//! server's mark, and removes the server's pipes. It starts with the first debuggee, and is this same program with
//! another argument.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::{marked, presence};
use crate::temporary;

/// The hidden argument that makes this program a guardian. The server's mark follows it.
pub const ARGUMENT: &str = "__guard";

/// The program to start as a guardian; unset in tests of the engine alone.
static PROGRAM: OnceLock<std::path::PathBuf> = OnceLock::new();
static GUARDIAN: Mutex<Guardian> = Mutex::new(Guardian { child: None, leaders: BTreeSet::new() });

struct Guardian {
    child: Option<Child>,
    /// The process groups that live.
    leaders: BTreeSet<u32>,
}

/// Names the program that serves as guardian. Without it there is none.
pub fn set_program(path: std::path::PathBuf) {
    // Only the first call counts, and there is only one.
    let _ = PROGRAM.set(path);
}

/// Starts the guardian unless it is there. One that is gone, for whatever reason, gets a successor. Where it is
/// killed together with the server, a later server does its work, which has to know that this one was there.
pub(super) fn wake() {
    presence::show();
    let mut guardian = lock();
    if guardian.is_alive() {
        return;
    }
    guardian.start();
    for leader in guardian.leaders.clone() {
        guardian.tell('+', leader);
    }
}

/// Registers a process group with the guardian.
pub(super) fn watch(leader: u32) {
    let mut guardian = lock();
    guardian.leaders.insert(leader);
    guardian.tell('+', leader);
}

/// Unregisters a group whose number may belong to another process from now on.
pub(super) fn forget(leader: u32) {
    let mut guardian = lock();
    guardian.leaders.remove(&leader);
    guardian.tell('-', leader);
}

/// How many of our process groups are alive: debuggees and helpers.
pub fn watched() -> usize {
    lock().leaders.len()
}

/// Nothing panics while the lock is held, so a poisoned one is as good.
fn lock() -> MutexGuard<'static, Guardian> {
    GUARDIAN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Guardian {
    fn is_alive(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the place where child processes start")]
    fn start(&mut self) {
        let Some(program) = PROGRAM.get() else { return };
        let mut command = std::process::Command::new(program);
        command.arg(ARGUMENT).arg(marked::server_mark());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        match command.spawn() {
            Ok(child) => self.child = Some(child),
            Err(error) => {
                tracing::warn!(%error, "no guardian: programs may outlive a killed server");
            }
        }
    }

    fn tell(&mut self, sign: char, leader: u32) {
        let pipe = self.child.as_mut().and_then(|child| child.stdin.as_mut());
        // One that is gone is replaced at the next start.
        if let Some(pipe) = pipe {
            let _ = writeln!(pipe, "{sign}{leader}");
        }
    }
}

/// The guardian's life: listens until the server is gone, then kills what it left behind.
pub fn run(server_mark: &str, orders: impl Read) {
    let mut groups = BTreeSet::new();
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
        temporary::sweep(&std::env::temp_dir(), server_mark.trim_end_matches('/'));
    }
}
