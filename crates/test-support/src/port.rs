//! Ports at which nothing listens.

use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// A port of this machine that refuses connections. It stays reserved until this is dropped: an ephemeral port that is
/// bound and closed again can be given to another test's program at once.
#[derive(Debug)]
pub struct ClosedPort {
    /// Its number.
    pub number: u16,
    /// Has that port as its local one. It does not listen, so that connections are refused.
    _client: TcpStream,
    _listener: TcpListener,
}

impl ClosedPort {
    /// Takes one.
    pub fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port can be opened");
        let address = listener.local_addr().expect("it has an address");
        let client = TcpStream::connect(address).expect("it accepts a connection");
        let number = client.local_addr().expect("it has an address").port();
        Self { number, _client: client, _listener: listener }
    }
}

impl Default for ClosedPort {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_port_refuses_connections() {
        let closed = ClosedPort::new();
        let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, closed.number)).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    }
}
