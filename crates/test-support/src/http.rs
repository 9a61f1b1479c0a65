//! A server as MCP clients have it that speak HTTP: requests, and events in answers.
//!
//! Like the client of lines, it is written against the protocol's text, so that a test says what goes over the wire:
//! every request has a connection of its own, which is closed when its answer is dropped.

mod client;
mod wire;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use hyper::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Child;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub use self::client::HttpClient;
pub use self::wire::{Event, Events, HttpAnswer};
use crate::server::{CONFIG, GOODBYE, JOURNAL, NOWHERE, PATIENCE};
use crate::usage::{LOOK, SETTLE};
use crate::{Built, Mark};

/// The newest revision with a handshake.
const CURRENT: &str = "2025-11-25";

/// How to start a server.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    program: &'static str,
    cache: PathBuf,
    args: Vec<String>,
    env: Vec<(String, String)>,
    cwd: Option<PathBuf>,
    /// The token that clients have; none when the server makes one up.
    token: Option<String>,
}

/// A server that listens.
#[derive(Debug)]
pub struct HttpServer {
    child: Child,
    address: SocketAddr,
    token: Option<String>,
    mark: Mark,
    log: JoinHandle<String>,
}

impl Built {
    /// How to start a server that listens on a free port.
    pub async fn http(self) -> HttpOptions {
        let args = ["serve", "--http", "127.0.0.1:0"].map(str::to_owned).to_vec();
        HttpOptions {
            program: self.program,
            cache: self.cache().await,
            args,
            env: Vec::new(),
            cwd: None,
            token: None,
        }
    }

    /// A server that listens on a free port.
    pub async fn serve_http(self) -> HttpServer {
        self.http().await.start().await
    }
}

impl HttpOptions {
    /// With more arguments.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    /// With a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a working directory.
    #[must_use]
    pub fn cwd(mut self, folder: &Path) -> Self {
        self.cwd = Some(folder.to_owned());
        self
    }

    /// With a token in its environment.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self.env("STILLFRAME_HTTP_TOKEN", token)
    }

    /// With tokens in a file, of which clients have the first unless they are given another.
    #[must_use]
    pub fn tokens(mut self, lines: &[&str]) -> Self {
        let file = self.cache.join(format!("tokens-{}", uuid::Uuid::new_v4()));
        std::fs::write(&file, lines.join("\n")).expect("the cache can be written to");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let own = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&file, own).expect("permissions can be set");
        }
        let first = lines.first().map(|line| line.split_once(':').map_or(*line, |(_, token)| token));
        self.token = first.map(str::to_owned);
        self.args(&["--token-file", file.to_str().expect("the path is text")])
    }

    /// Starts it, and waits until it listens.
    #[expect(clippy::disallowed_methods, reason = "the server itself, which ends what it starts")]
    pub async fn start(self) -> HttpServer {
        let mark = Mark::default();
        let (name, value) = mark.variable();
        let mut command = tokio::process::Command::new(self.program);
        command.args(&self.args).env(name, value).env("STILLFRAME_CACHE_DIR", &self.cache);
        command.env(JOURNAL, NOWHERE).env(CONFIG, NOWHERE).envs(self.env).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        if let Some(cwd) = self.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().expect("the server starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let mut answer = String::new();
        // Unless it was given one, or requires none, it prints one.
        let tells = self.token.is_none() && !self.args.iter().any(|arg| arg == "--no-token");
        let reading = async {
            let after = |text: &str, word: &str| {
                text.lines().find_map(|line| line.strip_prefix(word)).map(str::to_owned)
            };
            loop {
                let count = stderr.read_line(&mut answer).await.expect("the log is text");
                assert!(count > 0, "the server ended: {answer}");
                let token = after(&answer, "token: ");
                if let Some(url) = after(&answer, "listening on http://")
                    && (token.is_some() || !tells)
                {
                    let address = url.strip_suffix("/mcp").and_then(|address| address.parse().ok());
                    return (address.expect("an address"), token);
                }
            }
        };
        let (address, token) = timeout(PATIENCE, reading).await.expect("the server listens");
        let log = tokio::spawn(async move {
            let _ = stderr.read_to_string(&mut answer).await;
            answer
        });
        HttpServer { child, address, token: token.or(self.token), mark, log }
    }
}

impl HttpServer {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it speaks MCP.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The token that it printed or was given; empty if it requires none.
    pub fn token(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the server runs")
    }

    /// What is in the environment of everything that it starts.
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// A client that has shaken hands.
    pub async fn client(&self) -> HttpClient {
        self.client_of(CURRENT).await
    }

    /// A client of an older revision that has shaken hands.
    pub async fn client_of(&self, revision: &str) -> HttpClient {
        HttpClient::new(self.address, self.token(), revision).shake_hands().await
    }

    /// A client with another token that has shaken hands.
    pub async fn client_with(&self, token: &str) -> HttpClient {
        HttpClient::new(self.address, token, CURRENT).shake_hands().await
    }

    /// A client that has shaken hands, and has declared what it can do.
    pub async fn client_declaring(&self, capabilities: Value) -> HttpClient {
        HttpClient::new(self.address, self.token(), CURRENT).declaring(capabilities).shake_hands().await
    }

    /// A client whose requests are independent.
    pub fn stateless(&self) -> HttpClient {
        self.stateless_declaring(Value::Object(serde_json::Map::new()))
    }

    /// A client whose requests are independent, and declare what it can do.
    pub fn stateless_declaring(&self, capabilities: Value) -> HttpClient {
        HttpClient::new(self.address, self.token(), "2026-07-28").declaring(capabilities)
    }

    /// The response of `/health` with the token.
    pub async fn health(&self) -> Value {
        let authorization = format!("Bearer {}", self.token());
        let headers = [("authorization", authorization.as_str())];
        let answered = wire::ask(self.address, Method::GET, "/health", &headers, String::new()).await;
        answered.json().await
    }

    /// Waits until it says so of itself.
    pub async fn healthy(&self, is_well: impl Fn(&Value) -> bool) {
        let until = Instant::now() + SETTLE;
        loop {
            let health = self.health().await;
            if is_well(&health) {
                return;
            }
            assert!(Instant::now() < until, "it did not become true in time: {health}");
            // sleep: the server is polled, because nothing signals its changes.
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Sends a raw request; the `Host` is that of the server unless it is among the headers.
    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> HttpAnswer {
        let method = method.parse().expect("a method");
        wire::ask(self.address, method, path, headers, body.to_owned()).await
    }

    /// Sends it SIGTERM.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).expect("a process number");
        kill_process(pid, signal).expect("a signal reaches the server");
    }

    /// Asks it to end, and fails unless it and everything that it started are gone within two seconds. Returns its
    /// log.
    pub async fn finish(self) -> String {
        self.terminate();
        self.ended().await
    }

    /// The same for one that was already asked.
    pub async fn ended(mut self) -> String {
        let began = Instant::now();
        let status = timeout(GOODBYE, self.child.wait()).await;
        let status = status.unwrap_or_else(|_| panic!("the server did not end within {GOODBYE:?}"));
        let status = status.expect("the server can be waited for");
        assert!(status.success(), "the server ended with {status}");
        self.mark.assert_gone_within(GOODBYE.saturating_sub(began.elapsed()));
        self.log.await.expect("the log ends")
    }

    /// Kills the server so that it can do nothing more, and fails unless everything that it started goes too.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("the server can be killed");
        self.mark.assert_gone_within(GOODBYE);
    }
}
