//! How HTTP is served: what the command line says of it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::names::{Host, Origin};

/// `stillframe serve --http` and what goes with it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HttpArgs {
    /// Serve Streamable HTTP at this address, such as 127.0.0.1:8000; port 0 picks a free port.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address, conflicts_with = "via")]
    pub(crate) http: Option<SocketAddr>,
    /// File of accepted bearer tokens, one per line: `TOKEN` or `NAME:TOKEN`. By default there is one token:
    /// `STILLFRAME_HTTP_TOKEN`, or else a generated one that is printed to standard error.
    #[arg(long, requires = "http", value_name = "PATH")]
    pub(super) token_file: Option<PathBuf>,
    /// Require no token: anyone on this machine can run programs as you.
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub(super) no_token: bool,
    /// Allow web pages of this origin, such as `https://app.example`. Local pages are always allowed.
    #[arg(long, requires = "http", value_name = "ORIGIN")]
    pub(super) allow_origin: Vec<Origin>,
    /// Accept this host name, such as that of a proxy that forwards `Host`.
    #[arg(long, requires = "http", value_name = "NAME")]
    pub(super) allow_host: Vec<Host>,
    /// Allow listening on a non-loopback address. There is no TLS: use a proxy.
    #[arg(long, requires = "http", conflicts_with = "no_token")]
    pub(super) http_allow_remote: bool,
    /// Seconds of inactivity after which a client's programs are ended.
    #[arg(long, requires = "http", value_name = "SECONDS", default_value_t = 1800,
          value_parser = clap::value_parser!(u64).range(1..=604_800))]
    session_idle: u64,
    /// Maximum number of clients with a session.
    #[arg(long, requires = "http", value_name = "COUNT", default_value_t = 64,
          value_parser = clap::value_parser!(u16).range(1..))]
    max_clients: u16,
}

impl HttpArgs {
    /// Those of `--http 127.0.0.1:0 --no-token`.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self {
            http: Some(([127, 0, 0, 1], 0).into()),
            token_file: None,
            no_token: true,
            allow_origin: Vec::new(),
            allow_host: Vec::new(),
            http_allow_remote: false,
            session_idle: 1800,
            max_clients: 64,
        }
    }

    /// For how long a client may be silent.
    pub(super) fn idle(&self) -> Duration {
        Duration::from_secs(self.session_idle)
    }

    /// How many MCP sessions there may be.
    pub(super) fn max_sessions(&self) -> usize {
        usize::from(self.max_clients)
    }
}

/// `localhost` is the one name that is known without asking anybody.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Some(port) = text.strip_prefix("localhost:")
        && let Ok(port) = port.parse()
    {
        return Ok((IpAddr::from(Ipv4Addr::LOCALHOST), port).into());
    }
    text.parse().map_err(|_| "expected an address and a port, such as 127.0.0.1:8000 or [::1]:0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_a_port() {
        assert_eq!(address("127.0.0.1:8000"), Ok(([127, 0, 0, 1], 8000).into()));
        assert_eq!(address("localhost:0"), Ok(([127, 0, 0, 1], 0).into()));
        assert!(address("[::1]:0").is_ok_and(|address| address.ip().is_loopback()));
        for wrong in ["", "8000", "127.0.0.1", "localhost", "example.com:80", "localhost:x", "::1:80:x"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
