//! The folder of recordings: names, sizes, and the limit of all together.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::export::Format;
use crate::reading::Recording;
use crate::store::read_back;

/// The ending of the files.
const EXTENSION: &str = "sqlite";

/// All recordings of this user.
#[derive(Clone, Debug)]
pub struct Library {
    folder: PathBuf,
    /// How many bytes all recordings may have together.
    limit: u64,
}

/// A recording in the list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The name, which questions take.
    pub name: String,
    /// The command that was run.
    pub command: String,
    /// How it ended.
    pub end: String,
    /// How many events it has.
    pub events: String,
    /// Bytes on disk.
    pub size: u64,
    written: SystemTime,
}

impl Library {
    /// The recordings in a folder, of which the oldest are removed beyond the limit.
    pub fn new(folder: PathBuf, limit: u64) -> Self {
        Self { folder, limit }
    }

    /// The user's recordings, in the state folder.
    pub fn of_user(limit: u64) -> Self {
        let state = journal::default_path().and_then(|path| Some(path.parent()?.parent()?.to_owned()));
        Self::new(state.unwrap_or_else(std::env::temp_dir).join("recordings"), limit)
    }

    /// A path for a new recording, with its name.
    pub(crate) fn new_path(&self) -> Result<(String, PathBuf)> {
        let failed = |error: std::io::Error| Error::File {
            path: self.folder.display().to_string(),
            problem: format!("{error}; check that the folder is writable"),
        };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        for number in 1_u64.. {
            let name = format!("rec-{number}");
            let path = self.path(&name);
            // The process that makes the file has the name.
            match std::fs::File::create_new(&path) {
                Ok(file) => {
                    restrict(&file).map_err(failed)?;
                    return Ok((name, path));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err(Error::question("there are too many recordings; remove some"))
    }

    /// The path of an export of a recording, beside it.
    pub(crate) fn export_path(&self, name: &str, format: Format) -> PathBuf {
        self.folder.join(format!("{name}.{}", format.ending()))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name).with_extension(EXTENSION)
    }

    /// All recordings, newest first.
    pub fn list(&self) -> Vec<Listed> {
        let mut listed: Vec<Listed> = self.files().into_iter().map(|file| listed(&file)).collect();
        listed.sort_by_key(|each| std::cmp::Reverse(each.written));
        listed
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION)).collect()
    }

    /// Opens a recording: by its name, or `last` for the newest.
    pub fn open(&self, name: &str) -> Result<Recording> {
        let name = self.find(name)?;
        Recording::new(read_back(&self.path(&name))?)
    }

    /// Removes a recording, or all of them.
    pub fn remove(&self, name: &str) -> Result<usize> {
        let names = if name == "all" {
            self.list().into_iter().map(|each| each.name).collect()
        } else {
            vec![self.find(name)?]
        };
        for name in &names {
            self.remove_files(name);
        }
        Ok(names.len())
    }

    /// Removes the files of a recording, and its exports.
    fn remove_files(&self, name: &str) {
        let exports = Format::ALL.into_iter().map(|format| self.export_path(name, format));
        for file in beside(&self.path(name)).chain(exports) {
            // Most of them are not there.
            let _ = std::fs::remove_file(file);
        }
    }

    /// The name of a recording that there is; `last` is the newest.
    pub(crate) fn find(&self, name: &str) -> Result<String> {
        let listed = self.list();
        let wanted =
            if name == "last" { listed.first().map(|newest| newest.name.as_str()) } else { Some(name) };
        let found = listed.iter().find(|each| Some(each.name.as_str()) == wanted);
        found.map(|each| each.name.clone()).ok_or_else(|| Error::NoRecording {
            name: name.to_owned(),
            known: match listed.as_slice() {
                [] => "there are none: record a run first".to_owned(),
                some => {
                    let names: Vec<&str> = some.iter().take(10).map(|each| each.name.as_str()).collect();
                    format!("there are: {}", names.join(", "))
                }
            },
        })
    }

    /// Removes the oldest recordings while all together are too large. The newest stays.
    pub(crate) fn make_room(&self) -> usize {
        let listed = self.list();
        let mut total = 0;
        let mut removed = 0;
        for (at, each) in listed.iter().enumerate() {
            total += each.size;
            if total > self.limit && at > 0 {
                self.remove_files(&each.name);
                removed += 1;
            }
        }
        removed
    }
}

/// Only the user may read it.
pub(crate) fn restrict(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    ["", "-wal", "-shm", "-journal"].into_iter().map(move |ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

fn listed(path: &Path) -> Listed {
    let size = beside(path).filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    let written = path.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let fact = |name: &str| {
        let database =
            rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
        database.query_row("SELECT value FROM facts WHERE name = ?", [name], |row| row.get(0)).ok()
    };
    let command = fact("command").unwrap_or_default();
    let end = fact("end").unwrap_or_else(|| "not completed".to_owned());
    Listed { name, command, end, events: fact("events").unwrap_or_default(), size, written }
}
