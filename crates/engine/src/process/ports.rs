//! The ports of a foreign process.

use super::proc;

/// The loopback and wildcard ports on which a process accepts TCP connections, in the order in which it has opened
/// them, unless it has closed something since. None if the system does not report them.
pub(super) fn listening(pid: u32) -> Vec<u16> {
    ports_of(&sockets_of(pid), &tables(&pid.to_string()))
}

fn ports_of(own: &[String], table: &[Socket]) -> Vec<u16> {
    let mut ports = Vec::new();
    for inode in own {
        for socket in table.iter().filter(|socket| socket.listens && socket.inode == *inode) {
            if !ports.contains(&socket.local) {
                ports.push(socket.local);
            }
        }
    }
    ports
}

/// The process of this machine that is debugged at a loopback port. None if the system does not report it, and for
/// processes of other users.
pub(super) fn debuggee_at(port: u16, is_relay: impl Fn(u32) -> bool) -> Option<u32> {
    let all = sockets_of_all();
    let table = tables("self");
    let holder = |is_wanted: &dyn Fn(&Socket) -> bool| {
        let wanted: Vec<&Socket> = table.iter().filter(|socket| is_wanted(socket)).collect();
        all.iter()
            .find(|(_, inodes)| wanted.iter().any(|socket| inodes.contains(&socket.inode)))
            .map(|(pid, _)| *pid)
    };
    let owner = holder(&|socket| socket.listens && socket.local == port)?;
    if !is_relay(owner) {
        return Some(owner);
    }
    let doors: Vec<u16> = listening(owner).into_iter().filter(|door| *door != port).collect();
    holder(&|socket| !socket.listens && doors.contains(&socket.remote))
}

/// The sockets of every accessible process.
fn sockets_of_all() -> Vec<(u32, Vec<String>)> {
    proc::all().into_iter().map(|pid| (pid, sockets_of(pid))).collect()
}

/// The sockets of a process by its descriptors, of which the system gives the lowest free one. Each processor numbers
/// its own sockets, so their numbers have no order.
fn sockets_of(pid: u32) -> Vec<String> {
    let mut descriptors = proc::descriptors(pid);
    descriptors.sort_unstable();
    let links = descriptors
        .into_iter()
        .filter_map(|number| std::fs::read_link(format!("/proc/{pid}/fd/{number}")).ok());
    links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

/// A connection, or a socket that waits for some.
#[derive(Debug, PartialEq, Eq)]
struct Socket {
    local: u16,
    remote: u16,
    listens: bool,
    inode: String,
}

/// The sockets of TCP in the network that a process, `self` or a number, is in.
fn tables(process: &str) -> Vec<Socket> {
    let read = |table| std::fs::read_to_string(format!("/proc/{process}/net/{table}"));
    ["tcp", "tcp6"]
        .into_iter()
        .filter_map(|table| read(table).ok())
        .flat_map(|table| sockets_in(&table))
        .collect()
}

/// Reads a table of `/proc/net/tcp`.
fn sockets_in(table: &str) -> Vec<Socket> {
    const LISTEN: &str = "0A";
    let port = |address: &str| u16::from_str_radix(address.rsplit(':').next()?, 16).ok();
    let socket = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (local, remote) = (port(fields.next()?)?, port(fields.next()?)?);
        let listens = fields.next()? == LISTEN;
        Some(Socket { local, remote, listens, inode: fields.nth(5)?.to_owned() })
    };
    table.lines().skip(1).filter_map(socket).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_parsed_with_ports_and_inodes() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:240D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0 100 0 0 10 0\n\
             1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 78 1 0 100 0 0 10 0\n\
             2: 0100007F:240D 0100007F:CAFE 01 00000000:00000000 00:00000000 00000000     0        0 77 1 0 100 0 0 10 0\n";
        let sockets: Vec<_> = sockets_in(table)
            .into_iter()
            .map(|socket| (socket.local, socket.remote, socket.listens, socket.inode))
            .collect();
        let expected = [(9229, 0, true, "77"), (8080, 0, true, "78"), (9229, 51_966, false, "77")];
        assert_eq!(
            sockets,
            expected.map(|(local, remote, listens, inode)| (local, remote, listens, inode.to_owned()))
        );
    }

    #[test]
    fn ports_are_in_the_order_of_descriptors() {
        let socket =
            |local, listens, inode: &str| Socket { local, remote: 0, listens, inode: inode.to_owned() };
        let table = [
            socket(8080, true, "1028"),
            socket(9229, true, "2051"),
            socket(8080, true, "1029"),
            socket(5432, false, "7"),
            socket(3000, true, "8"),
        ];
        let own = ["2051", "1028", "7", "1029"].map(str::to_owned);
        assert_eq!(ports_of(&own, &table), [9229, 8080]);
    }
}
