//! A small process that outlives the server just long enough to clean up after it.
//!
//! A server that is killed with SIGKILL cannot end its debuggees. The guardian holds one end of a pipe; when the
//! other end closes, for whatever reason, it kills the registered process groups and everything that carries the
//! server's mark, and removes the server's pipes. A debugger that has attached to a program detaches by itself when its
//! connection closes, and gets the time for it: killed at once, it would leave its breakpoints in the program, which
//! would then crash at the first of them. The guardian starts with the first debuggee, and is this same program with
//! another argument.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use super::identity::Identity;
use super::{marked, presence};
use crate::deadlines;
use crate::lock::lock;
use crate::temporary;

/// The hidden argument that makes this program a guardian. The server's mark follows it.
pub const ARGUMENT: &str = "__guard";

/// The program to start as a guardian; unset in tests of the engine alone.
static PROGRAM: OnceLock<std::path::PathBuf> = OnceLock::new();
static GUARDIAN: Mutex<Guardian> =
    Mutex::new(Guardian { child: None, leaders: BTreeSet::new(), detaching: BTreeSet::new() });

struct Guardian {
    child: Option<Child>,
    /// The process groups that live.
    leaders: BTreeSet<u32>,
    /// Those of them that are led by a debugger that has attached to a program.
    detaching: BTreeSet<u32>,
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
    let mut guardian = lock(&GUARDIAN);
    if guardian.is_alive() {
        return;
    }
    guardian.start();
    for leader in guardian.leaders.clone() {
        guardian.tell('+', leader);
    }
    for leader in guardian.detaching.clone() {
        guardian.tell('~', leader);
    }
}

/// Registers a process group with the guardian.
pub(super) fn watch(leader: u32) {
    let mut guardian = lock(&GUARDIAN);
    guardian.leaders.insert(leader);
    guardian.tell('+', leader);
}

/// Gives the leader of a registered group, a debugger, the time to detach from a program that is not ours.
pub(super) fn let_detach(leader: u32) {
    let mut guardian = lock(&GUARDIAN);
    // It may have ended already.
    if guardian.leaders.contains(&leader) {
        guardian.detaching.insert(leader);
        guardian.tell('~', leader);
    }
}

/// Unregisters a group whose number may belong to another process from now on.
pub(super) fn forget(leader: u32) {
    let mut guardian = lock(&GUARDIAN);
    guardian.leaders.remove(&leader);
    guardian.detaching.remove(&leader);
    guardian.tell('-', leader);
}

/// How many of our process groups are alive: debuggees and helpers.
pub fn watched() -> usize {
    lock(&GUARDIAN).leaders.len()
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
        // It writes nothing, and holds what shows other servers that it is there.
        let presence = presence::shared().map_or_else(Stdio::null, Stdio::from);
        command.stdin(Stdio::piped()).stdout(presence).stderr(Stdio::null());
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
    let (mut groups, mut detaching) = (BTreeSet::new(), BTreeSet::new());
    for order in BufReader::new(orders).lines().map_while(Result::ok) {
        let Some((sign, leader)) = order.split_at_checked(1) else { continue };
        let Ok(leader) = leader.parse::<u32>() else { continue };
        match sign {
            "+" => drop(groups.insert(leader)),
            "~" => drop(detaching.insert(leader)),
            "-" => {
                groups.remove(&leader);
                detaching.remove(&leader);
            }
            _ => {}
        }
    }
    groups.difference(&detaching).copied().for_each(marked::kill_group);
    late(&detaching).into_iter().for_each(marked::kill_group);
    // An empty mark would be everybody's.
    if !server_mark.is_empty() {
        marked::kill_marked(server_mark);
        temporary::sweep(&std::env::temp_dir(), server_mark.trim_end_matches('/'));
    }
}

/// Those of these debuggers that do not end in time. The numbers of the others may belong to other groups by now.
fn late(debuggers: &BTreeSet<u32>) -> Vec<u32> {
    let mut late: Vec<Identity> = debuggers.iter().copied().map(Identity::of).collect();
    let until = Instant::now() + deadlines::DETACH;
    loop {
        late.retain(|debugger| debugger.is_alive());
        if late.is_empty() || Instant::now() >= until {
            return late.into_iter().map(|debugger| debugger.pid).collect();
        }
        std::thread::sleep(deadlines::LOOK);
    }
}
