//! Who may ask: from this machine or by a name that was allowed, from a page that may, with a token.
//!
//! Every page in a browser on this machine can reach the port, under any name that its owner makes lead here
//! (DNS rebinding), which is why `Host` and `Origin` are looked at before anything else.

use std::net::IpAddr;

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION, HOST, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri};

use super::answers::Refusal;
use super::tokens::{Owner, Tokens};

/// What requests are held against.
pub(super) struct Access {
    tokens: Tokens,
    /// Names and addresses beside those of this machine, in lower case.
    hosts: Vec<String>,
    /// Origins beside those of this machine, in lower case.
    origins: Vec<String>,
}

impl Access {
    /// `hosts` and `origins` are allowed beside those of this machine.
    pub(super) fn new(tokens: Tokens, hosts: &[String], origins: &[String]) -> Self {
        let lower = |texts: &[String]| texts.iter().map(|text| text.to_ascii_lowercase()).collect();
        let origins: Vec<String> = lower(origins);
        let origins = origins.iter().map(|origin| origin.trim_end_matches('/').to_owned()).collect();
        Self { tokens, hosts: lower(hosts), origins }
    }

    /// Whether it was asked under a name of ours, by a page that may ask or by no page.
    pub(super) fn check_place(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let hosts: Vec<&HeaderValue> = headers.get_all(HOST).iter().collect();
        let [host] = hosts.as_slice() else {
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "one `Host` header is needed"));
        };
        let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
        // An address in the first line of the request counts for more than the header (RFC 9112, section 3.2.2).
        let named = [host.as_ref(), uri.authority()];
        if host.is_none() || !named.into_iter().flatten().all(|host| self.is_ours(host)) {
            return Err(self.wrong_host());
        }
        headers.get_all(ORIGIN).iter().try_for_each(|origin| self.check_origin(origin))
    }

    fn is_ours(&self, host: &Authority) -> bool {
        let name = host.host().to_ascii_lowercase();
        is_loopback(&name) || self.hosts.contains(&name)
    }

    fn wrong_host(&self) -> Refusal {
        let mut known = vec!["localhost", "127.0.0.1", "[::1]"];
        known.extend(self.hosts.iter().map(String::as_str));
        let message = format!(
            "this `Host` is not served, only {}; `--allow-host NAME` allows another",
            known.join(", ")
        );
        Refusal::new(StatusCode::FORBIDDEN, message)
    }

    fn check_origin(&self, origin: &HeaderValue) -> Result<(), Refusal> {
        let text = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        if self.origins.contains(&text) || is_of_this_machine(&text) {
            return Ok(());
        }
        let mut known = vec!["those of this machine"];
        known.extend(self.origins.iter().map(String::as_str));
        let message = format!(
            "pages of this `Origin` may not ask, only {}; `--allow-origin ORIGIN` allows another",
            known.join(", ")
        );
        Err(Refusal::new(StatusCode::FORBIDDEN, message))
    }

    /// Whose token a request has.
    pub(super) fn owner(&self, headers: &HeaderMap) -> Result<Owner, Refusal> {
        let mut given = headers.get_all(AUTHORIZATION).iter().filter_map(|value| value.to_str().ok());
        let token = given.next().and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        self.tokens.owner_of(token).ok_or_else(|| {
            let message = "a token is needed: send `Authorization: Bearer TOKEN` with the token that the server \
                           told on standard error, or one of its token file";
            Refusal::new(StatusCode::UNAUTHORIZED, message)
        })
    }

    /// What lets a page read answers. Pages of this machine may ask without a browser's help, but only those that
    /// were allowed by name may have its help.
    pub(super) fn headers_for_page(&self, headers: &HeaderMap) -> HeaderMap {
        let mut answer = HeaderMap::new();
        let Some(origin) = headers.get(ORIGIN) else { return answer };
        let text = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        if self.origins.contains(&text) {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            answer.insert(VARY, HeaderValue::from_static("origin"));
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
            answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
            answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT_BY_PAGES));
        }
        answer
    }
}

/// The headers that clients in pages send.
const SENT_BY_PAGES: &str = "authorization, content-type, accept, last-event-id, mcp-session-id, \
                             mcp-protocol-version, mcp-method, mcp-name";

/// Whether a name or an address in lower case is of this machine alone.
fn is_loopback(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether an origin in lower case is a page that this machine serves.
fn is_of_this_machine(origin: &str) -> bool {
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let host = host.and_then(|host| host.parse::<Authority>().ok());
    host.is_some_and(|host| is_loopback(host.host()) && !host.as_str().contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (hyper::header::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        pairs.collect()
    }

    fn status(access: &Access, uri: &str, pairs: &[(&'static str, &str)]) -> u16 {
        let checked = access.check_place(&uri.parse().unwrap(), &headers(pairs));
        checked.map_or_else(|refusal| refusal.answer().status().as_u16(), |()| 200)
    }

    #[test]
    fn names_that_merely_lead_here_are_refused() {
        let plain = Access::new(Tokens::Open, &[], &[]);
        let allowing = Access::new(Tokens::Open, &["Debug.Example".to_owned()], &[]);
        let table = [
            ("127.0.0.1:8000", 200, 200),
            ("127.0.0.1", 200, 200),
            ("127.1.2.3:1", 200, 200),
            ("LOCALHOST:99", 200, 200),
            ("[::1]:8000", 200, 200),
            ("debug.example", 403, 200),
            ("debug.example:443", 403, 200),
            ("localhost.evil.example", 403, 403),
            ("127.0.0.1.evil.example:8000", 403, 403),
            ("evil.example", 403, 403),
            ("0.0.0.0:8000", 403, 403),
            ("192.168.1.5:8000", 403, 403),
            ("localhost@evil.example", 403, 403),
            ("", 403, 403),
            ("a b", 403, 403),
        ];
        for (host, without, with) in table {
            assert_eq!(status(&plain, "/mcp", &[("host", host)]), without, "{host}");
            assert_eq!(status(&allowing, "/mcp", &[("host", host)]), with, "{host}");
        }
        assert_eq!(status(&plain, "/mcp", &[]), 400);
        assert_eq!(status(&plain, "http://evil.example/mcp", &[("host", "localhost")]), 403);
        assert_eq!(status(&plain, "http://localhost/mcp", &[("host", "evil.example")]), 403);
    }

    #[test]
    fn pages_of_others_are_refused() {
        let plain = Access::new(Tokens::Open, &[], &[]);
        let allowing = Access::new(Tokens::Open, &[], &["https://App.example/".to_owned()]);
        let table = [
            ("http://localhost:3000", 200, 200),
            ("https://127.0.0.1", 200, 200),
            ("http://[::1]:5", 200, 200),
            ("https://app.example", 403, 200),
            ("http://app.example", 403, 403),
            ("https://app.example:444", 403, 403),
            ("https://evil.example", 403, 403),
            ("http://localhost.evil.example", 403, 403),
            ("http://localhost@evil.example", 403, 403),
            ("http://evil@localhost", 403, 403),
            ("null", 403, 403),
            ("file://", 403, 403),
            ("", 403, 403),
        ];
        for (origin, without, with) in table {
            let pairs = [("host", "localhost"), ("origin", origin)];
            assert_eq!(status(&plain, "/mcp", &pairs), without, "{origin}");
            assert_eq!(status(&allowing, "/mcp", &pairs), with, "{origin}");
        }
        let both = [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil.example")];
        assert_eq!(status(&plain, "/mcp", &both), 403);
    }

    #[test]
    fn only_pages_that_were_allowed_by_name_may_read() {
        let access = Access::new(Tokens::Open, &[], &["https://app.example".to_owned()]);
        for (origin, reads) in [("https://app.example", true), ("http://localhost:3000", false)] {
            let answer = access.headers_for_page(&headers(&[("origin", origin)]));
            assert_eq!(answer.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN), reads, "{origin}");
        }
        assert!(access.headers_for_page(&headers(&[])).is_empty());
    }

    #[test]
    fn a_token_is_a_bearer_token() {
        let (tokens, token) = Tokens::made_up().unwrap();
        let access = Access::new(tokens, &[], &[]);
        let table = [
            (format!("Bearer {token}"), true),
            (format!("bearer  {token}"), true),
            (format!("Basic {token}"), false),
            (token.clone(), false),
            (format!("Bearer {token}0"), false),
            (format!("Bearer {}", token.to_uppercase()), false),
            ("Bearer ".to_owned(), false),
        ];
        for (value, good) in table {
            let owner = access.owner(&headers(&[("authorization", &value)]));
            assert_eq!(owner.is_ok(), good, "{value}");
        }
        let refused = access.owner(&HeaderMap::new()).unwrap_err().answer();
        assert_eq!(refused.status(), 401);
        assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    }
}
