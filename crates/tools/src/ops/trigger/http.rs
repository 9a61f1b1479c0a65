//! A request that is sent when the program listens.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::ToolError;

/// A request to the program, on this machine.
#[derive(Debug)]
pub struct Request {
    method: Method,
    /// A path, or with a machine and a port.
    uri: Uri,
    headers: HeaderMap,
    body: String,
}

/// What the program answered.
#[derive(Clone, Debug)]
pub struct Response {
    /// URL of the request.
    pub url: String,
    /// The status code.
    pub status: u16,
    /// The beginning of the body.
    pub body: String,
    /// The body is truncated.
    pub is_cut: bool,
}

impl Request {
    /// Reads a request. Without a method it is a GET, or a POST where there is a body.
    pub fn read(
        method: Option<&str>,
        url: &str,
        headers: BTreeMap<String, String>,
        body: Option<String>,
    ) -> Result<Self, ToolError> {
        let usual = if body.is_some() { "POST" } else { "GET" };
        let method = method.unwrap_or(usual).to_uppercase();
        let method = Method::from_bytes(method.as_bytes())
            .map_err(|_| ToolError::argument("trigger.http.method", "is not an HTTP method"))?;
        let (uri, body) = (local(url)?, body.unwrap_or_default());
        let mut read = HeaderMap::new();
        for (name, value) in headers {
            let header = HeaderName::try_from(&name).ok().zip(HeaderValue::try_from(value).ok());
            let (name, value) = header.ok_or_else(|| {
                ToolError::argument(
                    "trigger.http.headers",
                    format!("has `{name}`, which is not a header name"),
                )
            })?;
            read.insert(name, value);
        }
        let is_json =
            body.starts_with(['{', '[']) && serde_json::from_str::<serde_json::Value>(&body).is_ok();
        if is_json {
            read.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        }
        read.insert(header::CONNECTION, HeaderValue::from_static("close"));
        Ok(Self { method, uri, headers: read, body })
    }

    /// The port, when the URL has one.
    pub(super) fn port(&self) -> Option<u16> {
        self.uri.port_u16()
    }

    /// Sends it to that port of this machine.
    pub(super) async fn send(self, port: u16, limit: usize) -> Result<Response, String> {
        let host = self.uri.host().unwrap_or("127.0.0.1");
        let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
        let (authority, path) = (format!("{host}:{port}"), path.to_owned());
        let exchanged = exchange(self, port, &authority, &path, limit).await;
        let (status, body, is_cut) =
            exchanged.map_err(|error| format!("{authority} did not answer: {error}"))?;
        Ok(Response { url: format!("http://{authority}{path}"), status, body, is_cut })
    }
}

/// A URL of this machine. A program is debugged, and no other is spoken to.
fn local(url: &str) -> Result<Uri, ToolError> {
    let problem = |problem: &str| {
        ToolError::argument("trigger.http.url", problem)
            .and("give a path such as `/users/1`, or `http://127.0.0.1:PORT/users/1`")
    };
    let uri: Uri = url.parse().map_err(|_| problem("is not a URL"))?;
    if !url.starts_with('/') && uri.scheme_str() != Some("http") {
        return Err(problem("is neither a path nor plain `http`"));
    }
    let Some(authority) = uri.authority() else {
        return Ok(uri);
    };
    if authority.as_str().contains('@') {
        return Err(problem("has a user name; use an `Authorization` header instead"));
    }
    match authority.host() {
        "127.0.0.1" | "localhost" | "[::1]" => Ok(uri),
        _ => Err(problem("is not on this machine")),
    }
}

/// Any of what can go wrong on the wire.
type WireError = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(
    request: Request,
    port: u16,
    authority: &str,
    path: &str,
    limit: usize,
) -> Result<(u16, String, bool), WireError> {
    let loopback =
        [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    let stream = TcpStream::connect(loopback.as_slice()).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let mut message = hyper::Request::new(Full::new(Bytes::from(request.body)));
    *message.method_mut() = request.method;
    *message.uri_mut() = path.parse()?;
    *message.headers_mut() = request.headers;
    message.headers_mut().entry(header::HOST).or_insert(HeaderValue::try_from(authority)?);
    let read = async {
        let mut response = sender.send_request(message).await?;
        let (body, is_cut) = read_body(response.body_mut(), limit).await?;
        Ok::<_, hyper::Error>((response.status().as_u16(), body, is_cut))
    };
    tokio::pin!(read);
    // The connection may be closed before all is read that came by it.
    let read = tokio::select! {
        read = &mut read => read,
        closed = connection => {
            closed?;
            read.await
        }
    };
    Ok(read?)
}

/// The beginning of a body, and whether there is more.
async fn read_body<B>(body: &mut B, limit: usize) -> Result<(String, bool), B::Error>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut text = Vec::new();
    while text.len() <= limit
        && let Some(frame) = body.frame().await
    {
        text.extend(frame?.into_data().unwrap_or_default());
    }
    let is_cut = text.len() > limit;
    text.truncate(limit);
    Ok((String::from_utf8_lossy(&text).into_owned(), is_cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_requests_are_sent() {
        let table = [
            ("/users/1?full=1", Ok(None)),
            ("http://127.0.0.1:8000/users", Ok(Some(8000))),
            ("http://localhost/users", Ok(None)),
            ("http://[::1]:8000", Ok(Some(8000))),
            ("users", Err("is neither")),
            ("localhost:8000/users", Err("is ")),
            ("https://127.0.0.1:8000/", Err("is neither")),
            ("http://example.com/", Err("is not on this machine")),
            ("http://127.0.0.1.example.com/", Err("is not on this machine")),
            ("http://127.0.0.1@example.com/", Err("has a user name")),
            ("http://169.254.169.254/latest", Err("is not on this machine")),
            ("//example.com/", Ok(None)),
            ("/a b", Err("is not a URL")),
        ];
        for (url, expected) in table {
            match (local(url), expected) {
                (Ok(uri), Ok(port)) => assert_eq!(uri.port_u16(), port, "{url}"),
                (Err(error), Err(problem)) => {
                    assert!(error.message.contains(problem), "{url}: {}", error.message);
                }
                (found, _) => panic!("{url}: {found:?}"),
            }
        }
    }

    #[test]
    fn the_method_and_type_follow_from_the_body() {
        let read = |method, body: Option<&str>| {
            let request = Request::read(method, "/", BTreeMap::new(), body.map(str::to_owned)).unwrap();
            let kind =
                request.headers.get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap().to_owned());
            (request.method.to_string(), kind)
        };
        assert_eq!(read(None, None), ("GET".to_owned(), None));
        assert_eq!(read(None, Some("a=1")), ("POST".to_owned(), None));
        assert_eq!(read(Some("put"), Some("{}")), ("PUT".to_owned(), Some("application/json".to_owned())));
        assert!(Request::read(Some("no method"), "/", BTreeMap::new(), None).is_err());
    }
}
