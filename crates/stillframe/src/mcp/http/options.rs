//! How HTTP is served: what the command line says of it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::names::{Host, Origin};

/// `stillframe serve --http` and what goes with it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HttpArgs {
    /// Serve Streamable HTTP at this address instead, such as 127.0.0.1:8000; port 0 is one that is free.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,
    /// A file of the bearer tokens that are accepted, one a line: `TOKEN` or `NAME:TOKEN`. Without it there is one
    /// token: that in `STILLFRAME_HTTP_TOKEN`, else one that is made up and told on standard error.
    #[arg(long, requires = "http", value_name = "PATH")]
    pub(super) token_file: Option<PathBuf>,
    /// Ask for no token: everybody on this machine can run programs as you.
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub(super) no_token: bool,
    /// Let pages of this origin ask, such as `https://app.example`. Those of this machine may.
    #[arg(long, requires = "http", value_name = "ORIGIN")]
    pub(super) allow_origin: Vec<Origin>,
    /// Answer to this name too, such as that of a proxy which passes `Host` on.
    #[arg(long, requires = "http", value_name = "NAME")]
    pub(super) allow_host: Vec<Host>,
    /// Listen also where other machines can connect. There is no TLS: put a proxy in front.
    #[arg(long, requires = "http", conflicts_with = "no_token")]
    pub(super) http_allow_remote: bool,
    /// For how long a client may be silent before its programs are ended.
    #[arg(long, requires = "http", value_name = "SECONDS", default_value_t = 1800,
          value_parser = clap::value_parser!(u64).range(1..=604_800))]
    session_idle: u64,
    /// How many clients may have a session at once.
    #[arg(long, requires = "http", value_name = "COUNT", default_value_t = 64,
          value_parser = clap::value_parser!(u16).range(1..))]
    max_clients: u16,
}

impl HttpArgs {
    /// For how long a client may be silent.
    pub(super) fn idle(&self) -> Duration {
        Duration::from_secs(self.session_idle)
    }

    /// How many MCP sessions there may be.
    pub(super) fn most_sessions(&self) -> usize {
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
    text.parse().map_err(|_| "an address and a port are needed, such as 127.0.0.1:8000 or [::1]:0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port() {
        assert_eq!(address("127.0.0.1:8000"), Ok(([127, 0, 0, 1], 8000).into()));
        assert_eq!(address("localhost:0"), Ok(([127, 0, 0, 1], 0).into()));
        assert!(address("[::1]:0").is_ok_and(|address| address.ip().is_loopback()));
        for wrong in ["", "8000", "127.0.0.1", "localhost", "example.com:80", "localhost:x", "::1:80:x"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
