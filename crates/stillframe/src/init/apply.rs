//! Writing what was planned: a copy of the old file beside it, and the new one at once.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use engine::adapter::{Host as _, Machine};

use super::plan::Change;

/// Writes a change, and returns the copy of the file that was there.
pub(crate) fn apply(change: &Change) -> anyhow::Result<Option<PathBuf>> {
    // A file of settings is often a link into a repository of them; the link stays.
    let path = std::fs::canonicalize(&change.path).unwrap_or_else(|_| link_target(&change.path));
    let shown = change.path.display();
    let now = std::fs::read(&path).ok();
    ensure!(
        now.as_deref() == change.before.as_deref().map(str::as_bytes),
        "`{shown}` was changed at the same time; run this again"
    );
    let is_read_only = std::fs::metadata(&path).is_ok_and(|found| found.permissions().readonly());
    ensure!(!is_read_only, "`{shown}` is read-only; nothing was changed");
    let backup = if change.needs_backup { Some(back_up(&path)?) } else { None };
    match &change.after {
        Some(text) => write(&path, text).with_context(|| format!("cannot write `{shown}`"))?,
        None => remove(&path).with_context(|| format!("cannot remove `{shown}`"))?,
    }
    Ok(backup)
}

/// The file that a chain of links names, which need not exist yet.
fn link_target(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many links as Linux follows.
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// Copies a file, with its permissions, under a name that is free.
fn back_up(path: &Path) -> anyhow::Result<PathBuf> {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 0 { ".bak".to_owned() } else { format!(".bak{number}") });
        PathBuf::from(name)
    };
    let free = (0..1000).map(name).find(|backup| backup.symlink_metadata().is_err());
    let backup = free.with_context(|| format!("`{}` has too many backups", path.display()))?;
    std::fs::copy(path, &backup).with_context(|| format!("cannot write `{}`", backup.display()))?;
    Ok(backup)
}

/// A reader sees the old text or the new one, and nothing between.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folders(folder)?;
    let beside = folder.join(format!(".stillframe-{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = std::fs::File::create(&beside)?;
        if let Ok(found) = std::fs::metadata(path) {
            file.set_permissions(found.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Removes a file, and the folders around it that are ours and empty.
fn remove(path: &Path) -> std::io::Result<()> {
    std::fs::remove_file(path)?;
    let mut made = made();
    for folder in path.ancestors().skip(1) {
        let is_ours = folder.ends_with("stillframe") || made.iter().any(|made| made == folder);
        // The user may keep something there.
        if !is_ours || std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    let before = made.len();
    made.retain(|folder| folder.exists());
    if made.len() < before {
        note(&made);
    }
    Ok(())
}

/// Makes a folder and those above it, and notes which there were not.
fn make_folders(folder: &Path) -> std::io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    std::fs::create_dir_all(folder)?;
    if !missing.is_empty() {
        let mut made = made();
        // As a file in them is found when it is removed.
        made.extend(missing.into_iter().filter_map(|folder| std::fs::canonicalize(folder).ok()));
        note(&made);
    }
    Ok(())
}

/// The list of the folders that `init` has made, so that it removes no others.
fn list() -> PathBuf {
    Machine.cache_dir().join("init").join("folders.json")
}

/// The folders that `init` has made; none if the list is gone.
fn made() -> Vec<PathBuf> {
    let text = std::fs::read(list()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Writes the list. Without it, empty folders stay, which does no harm.
fn note(made: &[PathBuf]) {
    let list = list();
    if made.is_empty() {
        let _ = std::fs::remove_file(&list);
    } else if let (Some(folder), Ok(text)) = (list.parent(), serde_json::to_string(made)) {
        let _ = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&list, text));
    }
}
