//! `.debug_session.json`: where the session of a folder is.
//!
//! A repository may come with such a file, and in a folder of everybody's another user may write one. So it is not
//! believed: it has to be a file of this user, and name a socket that is named like ours, in a folder that only this user
//! can enter. The background process writes it and removes it; a command that finds no process listening removes it
//! instead.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use engine::process::Identity;
use etcetera::BaseStrategy;
use serde::{Deserialize, Serialize};
use tokio::net::{UnixListener, UnixStream};

use super::client::Client;

/// What the file of a session without a name is called; that of `a` is `.debug_session-a.json`.
const FILE: &str = ".debug_session.json";
/// The longest path of a socket, in bytes; systems have 104 or 108 with the end.
const LONGEST: usize = 100;

/// The rights of those who are not this user.
const OTHERS: u32 = 0o077;

/// A session of a folder, which may be there or not.
#[derive(Clone, Debug)]
pub(super) struct SessionPlace {
    folder: PathBuf,
    /// The name of the session, where it has one.
    pub(super) session: Option<String>,
}

/// What is in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Where the background process listens.
    pub(super) socket: PathBuf,
    /// That process, for messages.
    #[serde(flatten)]
    process: Identity,
}

/// What was found in a place.
pub(super) enum SessionRecord {
    /// No file.
    Nothing,
    /// The file of a background process that was killed.
    Dead(Record),
    /// A background process that answers.
    Live(Client),
}

/// Reads the name of a session, which becomes part of the name of a file.
pub(super) fn session_name(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if !text.is_empty() && text.len() <= 40 && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("use 1 to 40 letters, digits, `-` and `_`".to_owned())
    }
}

/// The session that a command is about: that of the nearest folder.
pub(super) async fn find(session: Option<&str>) -> anyhow::Result<Client> {
    for (distance, folder) in folders()?.into_iter().enumerate() {
        let place = SessionPlace { folder, session: session.map(str::to_owned) };
        match place.look().await {
            Ok(SessionRecord::Live(client)) => return Ok(client),
            Ok(SessionRecord::Dead(record)) => {
                place.forget(&record);
                bail!(
                    "the debug session of {} and its program are gone: its background process was killed; \
                     start another one with `stillframe debug launch`",
                    place.folder.display()
                );
            }
            Err(error) if distance == 0 => return Err(error),
            // What is further up may be anybody's.
            Ok(SessionRecord::Nothing) | Err(_) => {}
        }
    }
    let name = session.map(|name| format!(" `{name}`")).unwrap_or_default();
    bail!(
        "no debug session{name} is open in this folder or a parent folder; start one with `stillframe debug \
         launch` (idle sessions end after a while)"
    );
}

/// All that have a file here or above, the nearest folder first.
pub(super) fn all() -> anyhow::Result<Vec<SessionPlace>> {
    let mut places = Vec::new();
    for folder in folders()? {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            places.extend(SessionPlace::of_file(&folder, &entry.file_name()));
        }
    }
    Ok(places)
}

/// Where a session may be that a command from here is about: the working directory and the folders above it, up to the
/// root of the repository.
fn folders() -> anyhow::Result<Vec<PathBuf>> {
    let here = std::env::current_dir()?;
    let root = here.ancestors().find(|folder| folder.join(".git").exists());
    let inside = here.ancestors().take_while(|folder| root.is_none_or(|root| folder.starts_with(root)));
    Ok(inside.map(Path::to_owned).collect())
}

impl SessionPlace {
    /// The one that a new session gets.
    pub(super) fn here(session: Option<&str>) -> anyhow::Result<Self> {
        Ok(Self { folder: std::env::current_dir()?, session: session.map(str::to_owned) })
    }

    /// The one whose file has this name.
    fn of_file(folder: &Path, name: &OsStr) -> Option<Self> {
        let session = match name.to_str()?.strip_prefix(".debug_session")?.strip_suffix(".json")? {
            "" => None,
            rest => Some(session_name(rest.strip_prefix('-')?).ok()?),
        };
        Some(Self { folder: folder.to_owned(), session })
    }

    fn file(&self) -> PathBuf {
        self.folder.join(match &self.session {
            Some(name) => format!(".debug_session-{name}.json"),
            None => FILE.to_owned(),
        })
    }

    /// What is there.
    pub(super) async fn look(&self) -> anyhow::Result<SessionRecord> {
        let Some(record) = self.read()? else { return Ok(SessionRecord::Nothing) };
        match UnixStream::connect(&record.socket).await {
            Ok(stream) => Ok(SessionRecord::Live(Client::new(stream)?)),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                Ok(SessionRecord::Dead(record))
            }
            Err(error) => Err(error).context("cannot reach the debug session"),
        }
    }

    fn read(&self) -> anyhow::Result<Option<Record>> {
        let file = self.file();
        let shown = file.display();
        let about = match file.symlink_metadata() {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read `{shown}`")),
        };
        ensure!(
            about.is_file() && about.uid() == user(),
            "`{shown}` belongs to another user; use another folder, or another name with --session"
        );
        let text = std::fs::read(&file).with_context(|| format!("cannot read `{shown}`"))?;
        let record = serde_json::from_slice::<Record>(&text).ok().filter(Record::is_ours);
        let record = record.with_context(|| {
            format!(
                "`{shown}` is not a stillframe session file; remove it, or use another name with --session"
            )
        })?;
        Ok(Some(record))
    }

    /// Listens, and writes the file. Fails if another process is listening.
    pub(super) async fn claim(&self) -> anyhow::Result<(UnixListener, Record)> {
        let folder = socket_folder()?;
        let _turn = turn(&folder);
        sweep(&folder);
        match self.look().await? {
            // The socket of a dead one was swept away.
            SessionRecord::Nothing | SessionRecord::Dead(_) => {}
            SessionRecord::Live(_) => {
                bail!("a debug session is already open here; open another one with --session NAME")
            }
        }
        let process = Identity::own();
        let record = Record { socket: folder.join(socket_name(process)), process };
        let socket = &record.socket;
        let listener = UnixListener::bind(socket)
            .and_then(|listener| {
                std::fs::set_permissions(socket, Permissions::from_mode(0o600))?;
                Ok(listener)
            })
            .with_context(|| format!("cannot listen at `{}`", socket.display()))?;
        if let Err(error) = self.write(&record) {
            let _ = std::fs::remove_file(socket);
            bail!(
                "cannot write the session file `{}`: {error}; run this in a writable folder, and pass the \
                 program's folder as --cwd",
                self.file().display()
            );
        }
        Ok((listener, record))
    }

    /// Readers find the file before or the new one, and never half of one.
    fn write(&self, record: &Record) -> io::Result<()> {
        let file = self.file();
        let new = file.with_extension(format!("json.{}", std::process::id()));
        let written =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).and_then(|mut text| {
                text.write_all(&serde_json::to_vec_pretty(record)?)?;
                std::fs::rename(&new, &file)
            });
        if written.is_err() {
            // There may be none.
            let _ = std::fs::remove_file(&new);
        }
        written
    }

    /// Takes away what a background process leaves, unless another one has taken its place.
    pub(super) fn forget(&self, record: &Record) {
        let _turn = record.socket.parent().and_then(turn);
        if matches!(self.read(), Ok(Some(known)) if known == *record) {
            // Another process may have been faster; the same applies below.
            let _ = std::fs::remove_file(self.file());
        }
        let _ = std::fs::remove_file(&record.socket);
    }
}

impl Record {
    /// Whether the socket is one that we have made.
    fn is_ours(&self) -> bool {
        self.socket.file_name() == Some(socket_name(self.process).as_ref())
            && self.socket.parent().is_some_and(is_private)
    }
}

fn socket_name(process: Identity) -> String {
    format!("debug-{}-{}.sock", process.pid, process.started.unwrap_or_default())
}

/// Where sockets are: a folder that only this user can enter.
fn socket_folder() -> anyhow::Result<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok();
    let runtime =
        strategy.as_ref().and_then(BaseStrategy::runtime_dir).map(|folder| folder.join("stillframe"));
    let state = strategy
        .map(|strategy| strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("stillframe/run"));
    let is_usable = |folder: &PathBuf| {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let longest =
            folder.join(socket_name(Identity { pid: u32::MAX, started: Some(u64::from(u32::MAX)) }));
        made.is_ok() && is_private(folder) && longest.as_os_str().len() <= LONGEST
    };
    runtime.into_iter().chain(state).find(is_usable).context(
        "no folder for the session's socket: set XDG_RUNTIME_DIR to a folder with a short path that only you \
         can access",
    )
}

/// Removes the sockets of background processes that were killed. That these may be in another container is why they are
/// not asked for by their numbers.
fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let socket = entry.path();
        let refused = std::os::unix::net::UnixStream::connect(&socket)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
        if refused && entry.file_name().to_string_lossy().starts_with("debug-") {
            // A file that cannot be removed is harmless.
            let _ = std::fs::remove_file(socket);
        }
    }
}

fn is_private(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|about| about.is_dir() && about.uid() == user() && about.mode() & OTHERS == 0)
}

/// Waits until no other process begins or ends a session. Where that cannot be detected, it is very unlikely anyway.
fn turn(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

/// The number of this user.
pub(super) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_are_valid_in_file_names() {
        for good in ["a", "left-2", "A_b"] {
            assert_eq!(session_name(good).unwrap(), good);
        }
        for bad in ["", "a b", "../a", "a.json", "ä", &"x".repeat(41)] {
            assert!(session_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn file_names_identify_their_sessions() {
        let folder = Path::new("/work");
        for name in [".debug_session.json", ".debug_session-a.json"] {
            assert_eq!(SessionPlace::of_file(folder, name.as_ref()).unwrap().file(), folder.join(name));
        }
        for other in [".debug_session.mcp.json", ".debug_session.json.12", ".debug_session-.json", "app.json"]
        {
            assert!(SessionPlace::of_file(folder, other.as_ref()).is_none(), "{other}");
        }
    }

    /// A file that a repository may contain.
    #[test]
    fn a_record_that_names_another_socket_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let place = SessionPlace { folder: folder.path().to_owned(), session: None };
        let process = Identity::own();
        let ours = folder.path().join(socket_name(process));
        let write = |socket: PathBuf| place.write(&Record { socket, process }).unwrap();
        write(ours.clone());
        assert!(place.read().unwrap().is_some());
        for other in ["/run/docker.sock".into(), folder.path().join("agent.sock"), "/tmp".into()] {
            write(other);
            assert!(place.read().unwrap_err().to_string().contains("not a stillframe session file"));
        }
        // Others may enter the folder, or have written the file.
        write(ours);
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        assert!(place.read().is_err());
        std::fs::remove_file(place.file()).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", place.file()).unwrap();
        assert!(place.read().unwrap_err().to_string().contains("belongs to another user"));
    }
}
