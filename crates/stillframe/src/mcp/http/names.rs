//! Hosts and origins, in the form in which they are compared.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use axum::http::uri::Authority;

/// A name in lower case, or an address however it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Address(IpAddr),
    Name(String),
}

/// A scheme and a host in lower case, with the port unless it is that of the scheme: as browsers send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin(String);

impl Host {
    /// That of an address in a request, whatever its port is.
    pub(super) fn of(authority: &Authority) -> Self {
        Self::read(authority.host())
    }

    fn read(text: &str) -> Self {
        let address = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        address.parse().map_or_else(|_| Self::Name(text.to_ascii_lowercase()), Self::Address)
    }

    /// Whether it is of this machine alone.
    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.is_loopback(),
            Self::Name(name) => name == "localhost",
        }
    }

    fn is_well_formed(&self) -> bool {
        match self {
            Self::Address(_) => true,
            Self::Name(name) => {
                let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
                !name.is_empty() && name.bytes().all(is_of_names)
            }
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// As an option names it.
impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let host = Self::read(text);
        if host.is_well_formed() {
            return Ok(host);
        }
        Err("expected a name or an address without scheme and port, such as debug.example".to_owned())
    }
}

impl Origin {
    /// As a request names it in lower case.
    pub(super) fn is(&self, text: &str) -> bool {
        self.0 == text
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// As an option names it.
impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        read_origin(text).ok_or_else(|| {
            "expected an origin: scheme, host and port (unless it is the default), such as \
             https://app.example or http://192.168.1.5:3000"
                .to_owned()
        })
    }
}

fn read_origin(text: &str) -> Option<Origin> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let is_of_schemes = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let authority: Authority = rest.strip_suffix('/').unwrap_or(rest).parse().ok()?;
    let host = Host::of(&authority);
    let is_origin = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_of_schemes)
        && is_plain(&authority)
        && host.is_well_formed();
    if !is_origin {
        return None;
    }
    let usual = match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let port = authority.port_u16().filter(|port| Some(*port) != usual);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    Some(Origin(format!("{scheme}://{host}{port}")))
}

/// Whether there is nothing but a host and a port, which may be empty (RFC 9110, section 7.2).
pub(super) fn is_plain(authority: &Authority) -> bool {
    let rest = authority.as_str().strip_prefix(authority.host());
    rest.is_some_and(|rest| rest.is_empty() || rest == ":" || authority.port_u16().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_neither_scheme_nor_port() {
        let table = [
            ("debug.example", "debug.example"),
            ("Debug.Example", "debug.example"),
            ("a_b-c.example.", "a_b-c.example."),
            ("192.168.1.5", "192.168.1.5"),
            ("fd00::2", "[fd00::2]"),
            ("[FD00:0::2]", "[fd00::2]"),
        ];
        for (text, host) in table {
            assert_eq!(text.parse::<Host>().map(|host| host.to_string()).as_deref(), Ok(host), "{text}");
        }
        for wrong in
            ["", "debug.example:8443", "http://x", "a b", "*", "x/", "a@b", "[fd00::2", "[fd00::2]:80"]
        {
            assert!(wrong.parse::<Host>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_origin_is_parsed_as_browsers_send_it() {
        let table = [
            ("https://app.example", "https://app.example"),
            ("https://App.example/", "https://app.example"),
            ("HTTPS://app.example:443", "https://app.example"),
            ("http://app.example:80", "http://app.example"),
            ("http://app.example:443", "http://app.example:443"),
            ("http://[FD00:0::2]:3000", "http://[fd00::2]:3000"),
            ("vscode-webview://abc", "vscode-webview://abc"),
        ];
        for (text, origin) in table {
            assert_eq!(
                text.parse::<Origin>().map(|origin| origin.to_string()).as_deref(),
                Ok(origin),
                "{text}"
            );
        }
        let wrong = [
            "",
            "*",
            "null",
            "app.example",
            "app.example:3000",
            "https://",
            "https://*",
            "https://*.example",
            "file:///",
            "https://app.example/path",
            "https://a@app.example",
            "https://app.example:x",
            "://app.example",
            "https://a b",
        ];
        for wrong in wrong {
            assert!(wrong.parse::<Origin>().is_err(), "{wrong}");
        }
    }
}
