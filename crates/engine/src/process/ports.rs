//! What the system knows of a process that is not ours: where it listens, and what signals it takes.

/// The loopback and wildcard ports on which a process accepts TCP connections. None where the system does not
/// tell.
#[cfg(target_os = "linux")]
pub(super) fn listening(pid: u32) -> Vec<u16> {
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let tables = ["tcp", "tcp6"].map(|table| std::fs::read_to_string(format!("/proc/{pid}/net/{table}")));
    let mut ports: Vec<u16> = tables.iter().flatten().flat_map(|table| accepting(table, &sockets)).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Reads a table of `/proc/net/tcp`: the ports of those of `sockets` (inode numbers) that listen.
#[cfg(any(target_os = "linux", test))]
fn accepting(table: &str, sockets: &[String]) -> Vec<u16> {
    const LISTEN: &str = "0A";
    let port = |line: &str| {
        let mut fields = line.split_whitespace();
        let (address, state, inode) = (fields.nth(1)?, fields.nth(1)?, fields.nth(5)?);
        let is_ours = state == LISTEN && sockets.iter().any(|socket| socket == inode);
        is_ours.then(|| u16::from_str_radix(address.rsplit(':').next()?, 16).ok())?
    };
    table.lines().skip(1).filter_map(port).collect()
}

/// Whether a process has a handler for SIGUSR1; without one the signal ends it.
#[cfg(target_os = "linux")]
pub(super) fn takes_sigusr1(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    catches_sigusr1(&status)
}

#[cfg(any(target_os = "linux", test))]
fn catches_sigusr1(status: &str) -> bool {
    const SIGUSR1: u64 = 1 << 9;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & SIGUSR1 != 0)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn listening(_pid: u32) -> Vec<u16> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn takes_sigusr1(_pid: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_found_by_their_inodes() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:240D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0 100 0 0 10 0\n\
             1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 78 1 0 100 0 0 10 0\n\
             2: 0100007F:240D 0100007F:CAFE 01 00000000:00000000 00:00000000 00000000     0        0 77 1 0 100 0 0 10 0\n";
        assert_eq!(accepting(table, &["77".to_owned()]), [9229]);
        assert_eq!(accepting(table, &[]), [] as [u16; 0]);
    }

    #[test]
    fn a_handler_for_the_signal_is_seen_in_the_mask() {
        let table = [
            ("Name:\tnode\nSigCgt:\t0000000108004602\n", true),
            ("SigCgt:\t0000000000000000\n", false),
            ("SigCgt:\tnonsense\n", false),
            ("", false),
        ];
        for (status, expected) in table {
            assert_eq!(catches_sigusr1(status), expected, "{status}");
        }
    }
}
