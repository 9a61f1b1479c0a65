//! A connection: the engine's process, whose standard streams are those of the program there.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{anyhow, bail};
use engine::model::stop::End;
use engine::process::{Process, ProcessSpec};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::diagnostics::Diagnostics;
use super::engines::Target;
use super::paths::Paths;
use super::program::{Program, VERSION};
use super::scripts::{self, Copied, MARK};
use crate::terminal;

/// How long an engine may take to connect.
const CONNECT: Duration = Duration::from_mins(1);
/// How long copying the program may take.
const COPY: Duration = Duration::from_mins(10);
/// How long an engine may take to end once its streams have ended.
const END: Duration = Duration::from_secs(2);

/// How to connect.
pub(super) struct Connector {
    pub(super) target: Target,
    pub(super) program: Program,
    pub(super) diagnostics: Diagnostics,
}

/// The program there, and the engine that reaches it.
pub(super) struct Connection {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: BufReader<ChildStdout>,
    pub(super) ending: Ending,
    /// Folders of `--map` that are not there.
    pub(super) missing: Vec<String>,
    /// The user's folder there.
    home: Arc<OnceLock<String>>,
}

/// How a connection ends.
pub(super) struct Ending {
    process: Process,
    messages: JoinHandle<()>,
    diagnostics: Diagnostics,
    target: Target,
}

impl Connector {
    /// Connects, copies the program if it is not there, and starts it with the arguments, in the folder there that is
    /// the current one here, if it exists.
    pub(super) async fn start(&self, paths: &Paths, args: &[String]) -> anyhow::Result<Connection> {
        let size = u64::try_from(self.program.bytes.len()).unwrap_or(u64::MAX);
        let program = Copied { hash: &self.program.hash, size, version: VERSION };
        let script = scripts::run(program, &paths.given_there(), paths.folder_there().as_deref(), args);
        let mut connection = self.open(&script)?;
        let said = connection.first_line().await?;
        let (state, rest) = said.split_once(' ').unwrap_or((&said, ""));
        let mut rest = rest.splitn(3, ' ');
        let (system, machine) = (rest.next().unwrap_or_default(), rest.next().unwrap_or_default());
        let _ = connection.home.set(rest.next().unwrap_or_default().to_owned());
        match state {
            "have" => {}
            "need" => {
                self.program
                    .must_run_on(system, machine)
                    .map_err(|error| error.context(self.target.to_string()))?;
                self.copy(&mut connection).await?;
            }
            _ => bail!(
                "`{}` has no folder that the program can be copied to; set XDG_CACHE_HOME there to one that can be \
                 written",
                self.target
            ),
        }
        paths.set_resolved(&self.started(&mut connection).await?);
        Ok(connection)
    }

    /// Waits until the program starts, and takes note of folders that are missing. Returns those that are links, by
    /// their numbers, as what they are.
    async fn started(&self, connection: &mut Connection) -> anyhow::Result<Vec<(usize, String)>> {
        let (path, target) = (self.program.path.display(), &self.target);
        let mut resolved = Vec::new();
        loop {
            let said = connection.line().await?;
            match said.split_once(' ').unwrap_or((&said, "")) {
                ("missing", folder) => connection.missing.push(folder.to_owned()),
                ("resolved", folder) => {
                    let (number, folder) = folder.split_once(' ').unwrap_or_default();
                    resolved.extend(number.parse().map(|number| (number, folder.to_owned())));
                }
                ("unusable", _) => {
                    bail!("`{path}` cannot be used on `{target}`: {}", connection.ending.reason().await)
                }
                ("other", version) => {
                    let said = if version.is_empty() { "nothing".to_owned() } else { format!("`{version}`") };
                    bail!("`{path}` is not {VERSION}: for `--version`, it prints {said} on `{target}`")
                }
                _ => return Ok(resolved),
            }
        }
    }

    /// Removes the copies of the program there. Says what was removed.
    pub(super) async fn clean(&self) -> anyhow::Result<Vec<String>> {
        let mut connection = self.open(&scripts::clean())?;
        let mut removed = Vec::new();
        loop {
            let said = connection.first_line().await?;
            match said.strip_prefix("removed ") {
                Some(folder) => removed.push(folder.to_owned()),
                None => return Ok(removed),
            }
        }
    }

    fn open(&self, script: &str) -> anyhow::Result<Connection> {
        let (program, args) = self.target.command(script);
        let spec = ProcessSpec { program: PathBuf::from(program), args, ..ProcessSpec::default() };
        let (process, stdin, stdout, stderr) =
            Process::spawn_with_streams(&spec, "via").map_err(|error| {
                anyhow!("`{}` needs `{program}`, which cannot be started: {error}; install it", self.target)
            })?;
        let home = Arc::<OnceLock<String>>::default();
        let messages = tokio::spawn(self.diagnostics.clone().read(stderr, Arc::clone(&home)));
        let (diagnostics, target) = (self.diagnostics.clone(), self.target.clone());
        let ending = Ending { process, messages, diagnostics, target };
        Ok(Connection { stdin, stdout: BufReader::new(stdout), ending, missing: Vec::new(), home })
    }

    async fn copy(&self, connection: &mut Connection) -> anyhow::Result<()> {
        let bytes = &self.program.bytes;
        terminal::hint(&format!("copying stillframe to {} ({} MB)", self.target, bytes.len() / 1_000_000));
        let copied = timeout(COPY, async {
            // Why it failed is said by the engine, and by the script.
            let _ = connection.stdin.write_all(bytes).await;
            let _ = connection.stdin.flush().await;
            connection.line().await
        });
        let Ok(said) = copied.await else {
            bail!("copying stillframe to `{}` took longer than {} minutes", self.target, COPY.as_secs() / 60)
        };
        match said? {
            said if said == "copied" => Ok(()),
            said => bail!(
                "the copy of stillframe on `{}` is damaged (it has the hash `{}` and not `{}`); check that its disk \
                 is not full, and that `sha256sum` or `shasum` is installed there",
                self.target,
                said.strip_prefix("damaged ").unwrap_or_default(),
                self.program.hash
            ),
        }
    }
}

impl Connection {
    /// The first line of the script, within the time that connecting may take.
    async fn first_line(&mut self) -> anyhow::Result<String> {
        if let Ok(line) = timeout(CONNECT, self.line()).await {
            return line;
        }
        self.ending.process.kill().await;
        let target = &self.ending.target;
        bail!("`{target}` did not answer within {} s; {}", CONNECT.as_secs(), target.hint())
    }

    /// The next line of the script, without its mark. Other lines are those of a login shell, which may say why there is
    /// no script.
    async fn line(&mut self) -> anyhow::Result<String> {
        let mut line = Vec::new();
        let mut others = Vec::new();
        while matches!(self.stdout.read_until(b'\n', &mut line).await, Ok(1..)) {
            let text = String::from_utf8_lossy(&line);
            if let Some(said) = text.trim_end().strip_prefix(MARK) {
                return Ok(said.to_owned());
            }
            others.push(text.trim().to_owned());
            line.clear();
        }
        for other in &others {
            self.ending.diagnostics.keep(other);
        }
        let reason = self.ending.reason().await;
        let target = &self.ending.target;
        Err(anyhow!("cannot connect to `{target}`: {reason}; {}", target.hint()))
    }
}

impl Ending {
    /// Why the connection has ended, once its output has: the exit code and the last messages.
    pub(super) async fn reason(&mut self) -> String {
        let end = match self.end().await {
            Some(End::Exited(code @ (126 | 127))) => format!(
                "exit code {code}: a program cannot be started there; if it is stillframe, give a static build \
                 (those of the packages are) as --binary FILE"
            ),
            Some(End::Exited(code)) => format!("exit code {code}"),
            Some(End::Killed { signal, .. }) => format!("ended by signal {signal}"),
            Some(_) | None => "its output has ended".to_owned(),
        };
        let last = self.diagnostics.last();
        if last.is_empty() { end } else { format!("{last} ({end})") }
    }

    /// How the engine's process has ended, once its output has. None if it had to be killed.
    pub(super) async fn end(&mut self) -> Option<End> {
        let end = timeout(END, self.process.ended()).await.ok();
        if end.is_none() {
            self.process.kill().await;
        }
        if !self.messages.is_finished() {
            let _ = timeout(END, &mut self.messages).await;
        }
        end
    }

    /// A handle of the engine's process.
    pub(super) fn process(&self) -> Process {
        self.process.clone()
    }
}
