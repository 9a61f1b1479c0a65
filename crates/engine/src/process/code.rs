//! What code the processes of a session run.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use super::{marked, proc};

/// Finds the processes of a session, again and again. Each process is identified once.
#[derive(Debug)]
pub struct SessionProcesses {
    mark: String,
    /// Those of the last look, and others that are not the session's.
    own: HashSet<u32>,
    foreign: HashSet<u32>,
}

impl SessionProcesses {
    /// Of a session of this server.
    pub fn new(session: &str) -> Self {
        Self { mark: marked::mark(session), own: HashSet::new(), foreign: HashSet::new() }
    }

    /// Those that run now; empty where the system does not report them.
    pub fn look(&mut self) -> Vec<u32> {
        let now = proc::all();
        let is_known = |pid: &u32| self.own.contains(pid) || self.foreign.contains(pid);
        let (new_own, new_foreign): (Vec<u32>, Vec<u32>) =
            now.iter().filter(|pid| !is_known(pid)).partition(|&&pid| marked::is_marked(pid, &self.mark));
        let now: HashSet<u32> = now.into_iter().collect();
        self.own.extend(new_own);
        self.foreign.extend(new_foreign);
        self.own.retain(|pid| now.contains(pid));
        self.foreign.retain(|pid| now.contains(pid));
        self.own.iter().copied().collect()
    }
}

/// The files whose code a process has mapped: its program and libraries. Empty if the system does not report it.
pub fn mapped_code(pid: u32) -> BTreeSet<PathBuf> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    // `7f00-7f01 r-xp 00001000 08:01 1234    /path` (proc_pid_maps(5))
    let file = |line: &str| {
        let mut parts = line.splitn(6, ' ');
        let is_code = parts.nth(1)?.contains('x');
        let path = parts.nth(3)?.trim_start();
        (is_code && path.starts_with('/')).then(|| PathBuf::from(path))
    };
    maps.lines().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_among_its_own_mapped_files() {
        let own = std::env::current_exe().unwrap();
        assert!(mapped_code(std::process::id()).contains(&own));
    }
}
