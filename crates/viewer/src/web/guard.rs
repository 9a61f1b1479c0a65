//! Access control: requests need the token, must come from this machine, and from a page of this server.
//!
//! A journal holds source and values. Other users of the machine can reach the port, and so can every page in the
//! browser, which is why the token is asked for everywhere, and why names that merely lead here are refused.

use std::io;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use journal::Secret;

use super::WebState;

/// Headers of every response that restrict what the browser may do with it.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// What a request is held against.
#[derive(Debug)]
pub(super) struct Guard {
    port: u16,
    token: Secret,
}

/// Why a request is refused.
type Refusal = (StatusCode, &'static str);

impl Guard {
    /// With a token of its own.
    pub(super) fn new(port: u16) -> io::Result<Self> {
        Ok(Self { port, token: Secret::random()? })
    }

    /// The address of a page, with what it is to show: names and values.
    pub(super) fn url(&self, page: &str, shown: &[(&str, &str)]) -> String {
        let shown: Vec<String> =
            shown.iter().map(|(name, value)| format!("&{name}={}", escaped(value))).collect();
        let shown = shown.concat();
        format!("http://127.0.0.1:{}/{page}?token={}{shown}", self.port, self.token.reveal())
    }

    /// The cookie with the token. Cookies of a machine's ports are not separated, so its name is.
    pub(super) fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.token.reveal())
    }

    fn cookie_name(&self) -> String {
        format!("stillframe-{}", self.port)
    }

    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        // A foreign name that resolves to this machine has another `Host`.
        let hosts: Vec<&HeaderValue> = headers.get_all(header::HOST).iter().collect();
        let [host] = hosts.as_slice() else {
            return Err((StatusCode::FORBIDDEN, "exactly one Host header is required\n"));
        };
        if !self.is_here(host.as_bytes()) {
            return Err((StatusCode::FORBIDDEN, "only the hosts 127.0.0.1 and localhost are served\n"));
        }
        let is_ours = |origin: &HeaderValue| {
            origin.as_bytes().strip_prefix(b"http://").is_some_and(|host| self.is_here(host))
        };
        if !headers.get_all(header::ORIGIN).iter().all(is_ours) {
            return Err((StatusCode::FORBIDDEN, "requests from other origins are not allowed\n"));
        }
        if !self.has_token(uri, headers) {
            return Err((StatusCode::FORBIDDEN, "open the address with the token\n"));
        }
        if method != Method::GET {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "only GET is supported\n"));
        }
        Ok(())
    }

    fn is_here(&self, host: &[u8]) -> bool {
        let (ip, name) = (format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port));
        host == ip.as_bytes() || host.eq_ignore_ascii_case(name.as_bytes())
    }

    fn has_token(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let asked = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.strip_prefix("token="));
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let cookies = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|cookie| {
            let (named, value) = cookie.trim().split_once('=')?;
            (named == name).then_some(value)
        });
        asked.chain(cookies).any(|token| self.token.is(token))
    }
}

/// Ids are of letters, digits and dashes as we write them; another program may write others.
fn escaped(id: &str) -> String {
    let bytes = id.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    });
    bytes.collect()
}

/// Answers allowed requests, and refuses others.
pub(super) async fn guard(State(site): State<Arc<WebState>>, request: Request, next: Next) -> Response {
    let refusal = site.guard.check(request.method(), request.uri(), request.headers()).err();
    let mut response = match refusal {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
    }
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
