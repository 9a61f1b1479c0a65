//! What would change, without changing it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde_json::Value;

use super::entry::{self, NAME, Shape};
use super::format::{BYTE_ORDER_MARK, EntryPath};
use super::hosts::{Folders, HOSTS, McpHost, Scope};
use super::launcher;

/// The skill, as it is in the repository.
const SKILL: &str = include_str!("../../SKILL.md");
/// More than anybody writes, in bytes. Claude Code keeps its history in its file.
const LARGEST: u64 = 64 * 1024 * 1024;

/// A file that would change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    /// None for a file that there is not.
    pub(crate) before: Option<String>,
    /// None for a file that goes away.
    pub(crate) after: Option<String>,
    /// Something of the user's may go away.
    pub(crate) needs_backup: bool,
}

impl Change {
    /// `own` is the whole file as `init` writes it.
    fn of(path: PathBuf, before: Option<String>, after: Option<String>, own: &str) -> Option<Self> {
        let needs_backup = before.as_ref().is_some_and(|before| after.is_some() || before != own);
        (before != after).then_some(Self { path, before, after, needs_backup })
    }
}

/// What is to be done with a file.
#[derive(Debug)]
pub(crate) enum Step {
    Change(Change),
    /// It is as it should be.
    Nothing,
    /// Its entry is not one that `init` writes, but this.
    Leave(String),
}

impl From<Option<Change>> for Step {
    fn from(change: Option<Change>) -> Self {
        change.map_or(Self::Nothing, Self::Change)
    }
}

/// The entry's place in a host's file.
pub(crate) fn place(host: &McpHost) -> EntryPath<'static> {
    EntryPath { section: host.section, name: NAME }
}

/// The entry that a host has in a file, if it has one.
pub(crate) fn existing(host: &McpHost, file: &Path) -> anyhow::Result<Option<Value>> {
    let text = read(file)?.unwrap_or_default();
    let root = host.format.read(&text).with_context(|| format!("cannot read `{}`", file.display()))?;
    let entry = keys(host, &root).into_iter().try_fold(&root, |value, key| value.get(key));
    Ok(entry.cloned())
}

/// The keys of the entry that counts. opencode 2 has a section inside the section, and prefers what is there.
fn keys(host: &McpHost, root: &Value) -> Vec<&'static str> {
    let inner = vec![host.section, "servers", NAME];
    let has_inner = || inner.iter().try_fold(root, |value, key| value.get(*key)).is_some();
    if host.shape == Shape::Opencode && has_inner() { inner } else { vec![host.section, NAME] }
}

/// The entry that a user's file has for this folder alone, or for the repository that it belongs to. Returns the folder.
pub(crate) fn existing_for(
    host: &McpHost,
    file: &Path,
    folder: &Path,
) -> anyhow::Result<Option<(String, Value)>> {
    let text = read(file)?.unwrap_or_default();
    let root = host.format.read(&text).with_context(|| format!("cannot read `{}`", file.display()))?;
    Ok(of_folder(host, &root, folder))
}

fn of_folder(host: &McpHost, root: &Value, folder: &Path) -> Option<(String, Value)> {
    let sections = root.get(host.folders?)?;
    let repository = folder.ancestors().find(|folder| folder.join(".git").exists());
    [Some(folder), repository].into_iter().flatten().find_map(|folder| {
        let folder = folder.to_str()?;
        let entry = sections.get(folder)?.get(host.section)?.get(NAME)?;
        Some((folder.to_owned(), entry.clone()))
    })
}

/// Adds the entry of a server that these words start, unless there is one for the current folder, if one is given.
pub(crate) fn add(
    host: &McpHost,
    file: PathBuf,
    launcher: &[String],
    here: Option<&Path>,
) -> anyhow::Result<Step> {
    let before = read(&file)?;
    let text = before.clone().unwrap_or_default();
    let root = host.format.read(&text).map_err(|problem| cannot_edit(&file, host, &problem))?;
    if let [section, inner, _] = keys(host, &root)[..] {
        return Ok(Step::Leave(format!("already set up in `{section}.{inner}`")));
    }
    let existing = root.get(host.section).and_then(|section| section.get(NAME)).cloned();
    if existing.is_none()
        && let Some((folder, _)) = here.and_then(|here| of_folder(host, &root, here))
    {
        return Ok(Step::Leave(format!("already set up for the folder {folder}")));
    }
    // A host would still use the address of an entry that also had a command.
    if let Some(what) = existing.as_ref().and_then(entry::remote) {
        return Ok(Step::Leave(what));
    }
    let other = |entry| host.shape.other_launcher(entry, launcher, launcher::is_stillframe);
    if let Some(what) = existing.as_ref().and_then(other) {
        return Ok(Step::Leave(what));
    }
    let edit = || -> anyhow::Result<String> {
        let entry = host.shape.entry(launcher, existing.as_ref());
        let is_same = existing.as_ref().and_then(Value::as_object) == Some(&entry);
        if is_same { Ok(text.clone()) } else { host.format.set(&text, place(host), &entry) }
    };
    let after = edit().map_err(|problem| cannot_edit(&file, host, &problem))?;
    Ok(Change::of(file, before, Some(after), "").into())
}

/// Removes the entry, also that for the current folder, if one is given, and a file that then has nothing left.
pub(crate) fn remove(host: &McpHost, file: PathBuf, here: Option<&Path>) -> anyhow::Result<Option<Change>> {
    let Some(before) = read(&file)? else { return Ok(None) };
    let edit = || -> anyhow::Result<(Option<String>, String)> {
        let (mut after, mut own) = (before.clone(), String::new());
        let root = host.format.read(&before)?;
        if let Some(folders) = host.folders
            && let Some((folder, _)) = here.and_then(|here| of_folder(host, &root, here))
        {
            after = host.format.without(&after, &[folders, &folder, host.section, NAME])?;
        }
        if let keys @ [_, _, _] = &keys(host, &root)[..] {
            after = host.format.without(&after, keys)?;
        }
        if let Some(entry) = host.format.entry(&before, place(host))? {
            own = host.format.alone(place(host), &host.shape.without_additions(&entry))?;
            after = host.format.unset(&after, place(host))?;
        }
        let rest = after.trim_start_matches(BYTE_ORDER_MARK).trim();
        let is_left = after == before || !rest.is_empty() && rest != "{}";
        Ok((is_left.then_some(after), own))
    };
    let (after, own) = edit().map_err(|problem| cannot_edit(&file, host, &problem))?;
    Ok(Change::of(file, Some(before), after, &own))
}

fn cannot_edit(file: &Path, host: &McpHost, problem: &anyhow::Error) -> anyhow::Error {
    anyhow!(
        "`{}`, {problem:#}; the file was not changed. To edit it by hand, take the entry from `stillframe init --print {}`",
        file.display(),
        host.name
    )
}

/// Writes the skill, in this version.
pub(crate) fn add_skill(file: PathBuf) -> anyhow::Result<Option<Change>> {
    let before = read(&file)?;
    Ok(Change::of(file, before, Some(SKILL.to_owned()), SKILL))
}

/// Whether the entry or the skill is there, or a file that cannot be read to find out.
pub(crate) fn has_ours(host: &McpHost, scope: &Scope, folders: &Folders) -> bool {
    let entry = host.file(scope, folders).map(|file| existing(host, &file));
    !matches!(entry, None | Some(Ok(None))) || host.skill(scope, folders).is_file()
}

/// Removes the skill, unless another host that reads it still has the entry.
pub(crate) fn remove_skill(
    file: PathBuf,
    removed_from: &[&McpHost],
    scope: &Scope,
    folders: &Folders,
) -> anyhow::Result<Option<Change>> {
    let others = HOSTS.iter().filter(|host| !removed_from.iter().any(|removed| removed.name == host.name));
    let still_uses = |host: &McpHost| {
        let has_entry = |of_host: &PathBuf| matches!(existing(host, of_host), Ok(Some(_)));
        host.skill(scope, folders) == file && host.files(scope, folders).iter().any(has_entry)
    };
    if others.into_iter().any(still_uses) {
        return Ok(None);
    }
    let before = read(&file)?;
    Ok(Change::of(file, before, None, SKILL))
}

/// The text of a file; none if there is no such file.
fn read(file: &Path) -> anyhow::Result<Option<String>> {
    let shown = file.display();
    match std::fs::metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read `{shown}`")),
        Ok(found) if !found.is_file() => bail!("`{shown}` is not a file"),
        Ok(found) if found.len() > LARGEST => {
            bail!("`{shown}` has {} bytes, the limit is {LARGEST}", found.len())
        }
        Ok(_) => {}
    }
    let bytes = std::fs::read(file).with_context(|| format!("cannot read `{shown}`"))?;
    String::from_utf8(bytes).map(Some).with_context(|| format!("`{shown}` is not UTF-8; nothing was changed"))
}
