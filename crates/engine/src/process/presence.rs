//! Lets a later server detect that this one is gone, and end its leftovers.
//!
//! The guardian cleans up after a killed server. If both are killed at once, like everything in a container, programs
//! stay behind. So each server that starts something holds a lock on its own file, `CACHE/servers/ID`; the operating
//! system releases the lock when the server ends for any reason. The marks of programs begin with the same ID. A
//! starting server takes the free locks, ends everything with those marks, and removes the files. The guardian shares the
//! lock of its server, and holds it until it has cleaned up.
//!
//! A mark without a file is foreign, such as that of another user or of a container with a separate cache, and is
//! left alone. So is everything without a mark: programs that we attached to, and programs that were started without
//! one. Only Linux allows reading marks; elsewhere, a server that is killed together with its guardian leaves its
//! programs behind, and only the file is removed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use super::{guardian, marked};
use crate::lock::lock;
use crate::temporary;

/// Where the files are; unset in tests of the engine alone.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();
/// The file of this server, which stays locked while it is open.
static SHOWN: Mutex<PresenceState> = Mutex::new(PresenceState::NotYet);

enum PresenceState {
    NotYet,
    As(File),
    /// It cannot be created, and the log has a warning.
    Not,
}

/// Says where servers show that they are there, and ends beside the caller what earlier ones have left.
pub fn begin(cache: &Path) {
    let folder = cache.join("servers");
    // Only the first call counts, and there is only one.
    let _ = FOLDER.set(folder.clone());
    let swept = std::thread::Builder::new().name("sweep".to_owned()).spawn(move || sweep(&folder));
    if let Err(error) = swept {
        tracing::warn!(%error, "cannot clean up after an earlier server");
    }
}

/// A copy that keeps the lock, for the guardian: while it cleans up after this server, others must not. A debugger
/// that they killed would leave its breakpoints in a program that it has attached to.
pub(super) fn shared() -> Option<File> {
    match &*lock(&SHOWN) {
        PresenceState::As(file) => file.try_clone().ok(),
        PresenceState::NotYet | PresenceState::Not => None,
    }
}

/// Shows that this server is there. It has to be known before its first program is.
pub(super) fn show() {
    let Some(folder) = FOLDER.get() else { return };
    let mut shown = lock(&SHOWN);
    if !matches!(*shown, PresenceState::NotYet) {
        return;
    }
    *shown = match locked_file(&folder.join(temporary::server_id())) {
        Ok(file) => PresenceState::As(file),
        Err(error) => {
            tracing::warn!(
                %error,
                folder = %folder.display(),
                "programs may outlive this server if its guardian is killed too",
            );
            PresenceState::Not
        }
    };
}

/// This server is about to go. Unless something is left that the guardian has to end, a later one need not look.
pub fn end() {
    let mut shown = lock(&SHOWN);
    if let (PresenceState::As(_), Some(folder)) = (&*shown, FOLDER.get())
        && guardian::watched() == 0
    {
        // A later server removes it otherwise.
        let _ = std::fs::remove_file(folder.join(temporary::server_id()));
        *shown = PresenceState::NotYet;
    }
}

/// A new file of this name, locked. It holds where the server puts temporary files.
fn locked_file(path: &Path) -> io::Result<File> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Under its name it is locked from the beginning, or another server would take it for one that was left.
    let unlocked = path.with_file_name(format!("{name}.new"));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = File::create_new(&unlocked)?;
    let made = file
        .try_lock()
        .map_err(io::Error::from)
        .and_then(|()| file.write_all(std::env::temp_dir().as_os_str().as_encoded_bytes()))
        .and_then(|()| std::fs::rename(&unlocked, path));
    if made.is_err() {
        let _ = std::fs::remove_file(&unlocked);
    }
    made.map(|()| file)
}

/// Ends what servers have left that are gone.
fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Some(id) = entry.file_name().to_str().filter(|name| marked::is_server_id(name)) {
            clean_up_after(id, &entry.path());
        }
    }
}

/// Ends what one server has left, unless it lives.
fn clean_up_after(id: &str, path: &Path) {
    let Ok(mut file) = File::open(path) else { return };
    // No other server sweeps after it while the lock is held.
    if file.try_lock().is_err() {
        return;
    }
    let mark = marked::mark_of_server(id);
    marked::kill_marked(&mark);
    let mut folder = String::new();
    if file.read_to_string(&mut folder).is_ok() && !folder.is_empty() {
        temporary::sweep(Path::new(&folder), id);
    }
    // What could not be killed yet is a matter of the next server.
    if marked::marked(&mark).is_empty() {
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests;
