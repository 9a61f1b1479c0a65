//! Which requests are allowed: by host, by origin, and by token.
//!
//! Every page in a browser on this machine can reach the port, under any name that its owner resolves to this machine
//! (DNS rebinding), which is why `Host` and `Origin` are checked first.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION, HOST, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::HttpState;
use super::answers::Refusal;
use super::names::{Host, Origin, is_plain};
use super::tokens::{Owner, Tokens};

/// The rules for requests.
pub(super) struct Access {
    tokens: Tokens,
    /// Those beside this machine's own.
    hosts: Vec<Host>,
    /// Those beside this machine's own.
    origins: Vec<Origin>,
}

impl Access {
    /// `hosts` and `origins` are allowed beside those of this machine.
    pub(super) fn new(tokens: Tokens, hosts: Vec<Host>, origins: Vec<Origin>) -> Self {
        Self { tokens, hosts, origins }
    }

    /// Whether the request uses one of our names, and comes from an allowed page or from no page.
    pub(super) fn check_place(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let hosts: Vec<&HeaderValue> = headers.get_all(HOST).iter().collect();
        let [host] = hosts.as_slice() else {
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "exactly one `Host` header is required"));
        };
        let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
        // An address in the first line of the request counts for more than the header (RFC 9112, section 3.2.2).
        let named = [host.as_ref(), uri.authority()];
        let mut named = named.into_iter().flatten();
        if host.is_none() || !named.clone().all(|host| self.is_ours(host)) {
            return Err(self.wrong_host());
        }
        if !named.all(is_plain) {
            let message = "`Host` must be a name or an address and a port, such as `localhost:8000`";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message));
        }
        headers.get_all(ORIGIN).iter().try_for_each(|origin| self.check_origin(origin))
    }

    fn is_ours(&self, host: &Authority) -> bool {
        let host = Host::of(host);
        host.is_loopback() || self.hosts.contains(&host)
    }

    fn wrong_host(&self) -> Refusal {
        let mut known = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec();
        known.extend(self.hosts.iter().map(ToString::to_string));
        let message = format!(
            "this `Host` is not allowed, only {}; allow it with `--allow-host NAME`",
            known.join(", ")
        );
        Refusal::new(StatusCode::FORBIDDEN, message)
    }

    fn check_origin(&self, origin: &HeaderValue) -> Result<(), Refusal> {
        if self.is_allowed(origin) || is_of_this_machine(origin) {
            return Ok(());
        }
        let mut known = vec!["local ones".to_owned()];
        known.extend(self.origins.iter().map(ToString::to_string));
        let message = format!(
            "this `Origin` is not allowed, only {}; allow it with `--allow-origin ORIGIN`",
            known.join(", ")
        );
        Err(Refusal::new(StatusCode::FORBIDDEN, message))
    }

    /// Whether it was allowed by name.
    fn is_allowed(&self, origin: &HeaderValue) -> bool {
        let text = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        self.origins.iter().any(|allowed| allowed.is(&text))
    }

    /// The owner of a request's token.
    pub(super) fn owner(&self, headers: &HeaderMap) -> Result<Owner, Refusal> {
        let mut given = headers.get_all(AUTHORIZATION).iter().filter_map(|value| value.to_str().ok());
        let token = given.next().and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        self.tokens.owner_of(token).ok_or_else(|| {
            let message = "a token is required: send `Authorization: Bearer <TOKEN>` with the token that the \
                           server printed to standard error, or one from its token file";
            Refusal::new(StatusCode::UNAUTHORIZED, message)
        })
    }

    /// What lets a page read answers. Pages of this machine may ask without a browser's help, but only those that
    /// were allowed by name may have its help.
    pub(super) fn headers_for_page(&self, headers: &HeaderMap) -> HeaderMap {
        let mut answer = HeaderMap::new();
        let Some(origin) = headers.get(ORIGIN) else { return answer };
        if self.is_allowed(origin) {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            answer.insert(VARY, HeaderValue::from_static("origin"));
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
            answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
            answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT_BY_PAGES));
        }
        answer
    }
}

/// Refuses requests from elsewhere, and answers what a browser asks for a page before the page's own request.
pub(super) async fn guard(State(site): State<Arc<HttpState>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = site.access.check_place(request.uri(), request.headers()) {
        return refusal.into_response();
    }
    let for_page = site.access.headers_for_page(request.headers());
    let mut response = if request.method() == Method::OPTIONS && !for_page.is_empty() {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    response.headers_mut().extend(for_page);
    response
}

/// The headers that clients in pages send.
const SENT_BY_PAGES: &str = "authorization, content-type, accept, last-event-id, mcp-session-id, \
                             mcp-protocol-version, mcp-method, mcp-name";

/// Whether it is a page that this machine serves.
fn is_of_this_machine(origin: &HeaderValue) -> bool {
    let text = origin.to_str().unwrap_or_default().to_ascii_lowercase();
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let host = host.and_then(|host| host.parse::<Authority>().ok());
    host.is_some_and(|host| Host::of(&host).is_loopback() && is_plain(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            (axum::http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        pairs.collect()
    }

    fn open(hosts: &[&str], origins: &[&str]) -> Access {
        let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let origins = origins.iter().map(|origin| origin.parse().unwrap()).collect();
        Access::new(Tokens::Open, hosts, origins)
    }

    fn status(access: &Access, uri: &str, pairs: &[(&'static str, &str)]) -> u16 {
        let checked = access.check_place(&uri.parse().unwrap(), &headers(pairs));
        checked.map_or_else(|refusal| refusal.into_response().status().as_u16(), |()| 200)
    }

    #[test]
    fn foreign_host_names_are_refused() {
        let plain = open(&[], &[]);
        let allowing = open(&["Debug.Example", "fd00::2"], &[]);
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
            ("[fd00::2]:8000", 403, 200),
            ("[fd00:0:0::2]", 403, 200),
            ("[fd00::3]:8000", 403, 403),
            ("evil@localhost", 400, 400),
            ("localhost:abc", 400, 400),
            ("localhost:99999", 400, 400),
            ("localhost:", 200, 200),
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
        assert_eq!(status(&plain, "http://evil@localhost/mcp", &[("host", "localhost")]), 400);
    }

    #[test]
    fn foreign_origins_are_refused() {
        let plain = open(&[], &[]);
        let allowing = open(&[], &["https://App.example:443/"]);
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
    fn only_allowed_origins_may_read() {
        let access = open(&[], &["https://app.example"]);
        for (origin, reads) in [("https://app.example", true), ("http://localhost:3000", false)] {
            let answer = access.headers_for_page(&headers(&[("origin", origin)]));
            assert_eq!(answer.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN), reads, "{origin}");
        }
        assert!(access.headers_for_page(&headers(&[])).is_empty());
    }

    #[test]
    fn a_token_is_a_bearer_token() {
        let (tokens, token) = Tokens::made_up().unwrap();
        let access = Access::new(tokens, Vec::new(), Vec::new());
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
        let refused = access.owner(&HeaderMap::new()).unwrap_err().into_response();
        assert_eq!(refused.status(), 401);
        assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    }
}
