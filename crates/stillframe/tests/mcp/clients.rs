//! Clients that others wrote, over both transports: the official SDKs for Python and TypeScript, and the MCP inspector.
//! Those that npm does not install with the toolchains are installed once, into the folder of the build.

mod inspector;
mod python;
mod typescript;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use test_support::{HttpServer, Mark};
use tokio::process::Command;
use tokio::time::timeout;

use crate::STILLFRAME;

/// Installing takes a minute; nothing takes longer than this.
const PATIENCE: Duration = Duration::from_mins(5);

#[expect(clippy::disallowed_methods, reason = "a client, which ends what it starts")]
fn command(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.kill_on_drop(true).stdin(std::process::Stdio::null());
    command
}

async fn run(command: &mut Command) -> Output {
    let done = timeout(PATIENCE, command.output()).await;
    done.unwrap_or_else(|_| panic!("{command:?} takes too long")).expect("the program starts")
}

async fn must_succeed(command: &mut Command) -> Output {
    let done = run(command).await;
    let log = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {}\n{log}", done.status);
    done
}

/// A folder that is filled once. One that was left half filled, or filled with something else, is filled anew.
async fn installed(name: &str, content: &str, fill: impl AsyncFnOnce(&Path)) -> PathBuf {
    let folder = Path::new(STILLFRAME.scratch).join(name);
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).ok().as_deref() != Some(content) {
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("the folder of the build can be written to");
        }
        std::fs::create_dir_all(&folder).expect("the folder of the build can be written to");
        fill(&folder).await;
        std::fs::write(stamp, content).expect("the folder of the build can be written to");
    }
    folder
}

/// How a client reaches its server.
enum TransportKind {
    /// It starts one, and speaks on its pipes.
    Pipes(Mark),
    /// One listens.
    Http(Box<HttpServer>),
}

/// The same before there is a server.
#[derive(Clone, Copy)]
enum Over {
    Pipes,
    Http,
}

impl Over {
    async fn begin(self) -> TransportKind {
        match self {
            Self::Pipes => TransportKind::Pipes(Mark::default()),
            Self::Http => TransportKind::Http(Box::new(STILLFRAME.serve_http().await)),
        }
    }
}

/// Each way in which a client begins, with its revision, over both transports.
fn over_both<'a>(
    begins: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> impl Iterator<Item = (&'a str, &'a str, Over)> {
    let over = |(mode, revision)| [(mode, revision, Over::Pipes), (mode, revision, Over::Http)];
    begins.into_iter().flat_map(over)
}

impl TransportKind {
    /// Passes the server to a client, which accepts an address or a command at the end of its arguments.
    async fn tell(&self, client: &mut Command) {
        match self {
            Self::Pipes(mark) => {
                let (name, value) = mark.variable();
                client.args([STILLFRAME.program, "serve"]).env(name, value);
                client
                    .env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await)
                    .env("STILLFRAME_LOG_FILE", "off");
            }
            Self::Http(server) => {
                client.arg(server.url()).env("MCP_TOKEN", server.token());
            }
        }
    }

    /// Fails unless nothing is left.
    async fn finish(self) {
        match self {
            Self::Pipes(mark) => mark.assert_gone_within(Duration::from_secs(2)),
            Self::Http(server) => drop(server.finish().await),
        }
    }
}
