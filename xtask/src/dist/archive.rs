//! Archives that have the same bytes each time: no times, no owners, entries in the order given.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::SimpleFileOptions;

/// A file in an archive.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    mode: u32,
}

impl Entry {
    /// A file that is read.
    pub(super) fn file(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), mode: 0o644 }
    }

    /// A file that is run.
    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { mode: 0o755, ..Self::file(path, bytes) }
    }

    /// The same in a folder.
    pub(super) fn below(&self, folder: &str) -> Self {
        Self { path: format!("{folder}/{}", self.path), ..self.clone() }
    }
}

/// Compresses some bytes.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// A `.tar.gz`. With `with_folders`, each folder has an entry too, as dpkg needs it.
pub(super) fn tar_gz(entries: &[Entry], with_folders: bool) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    let header = |size: usize, mode: u32, kind: tar::EntryType| {
        let mut header = tar::Header::new_gnu();
        header.set_size(size as u64);
        header.set_mode(mode);
        header.set_entry_type(kind);
        header
    };
    let mut folders = BTreeSet::new();
    for entry in entries {
        for (at, _) in entry.path.match_indices('/').filter(|_| with_folders) {
            let folder = entry.path.get(..=at).unwrap_or_default();
            if folders.insert(folder.to_owned()) {
                let mut header = header(0, 0o755, tar::EntryType::Directory);
                archive.append_data(&mut header, folder, std::io::empty())?;
            }
        }
        let mut header = header(entry.bytes.len(), entry.mode, tar::EntryType::Regular);
        archive.append_data(&mut header, &entry.path, entry.bytes.as_slice())?;
    }
    gzip(&archive.into_inner()?)
}

/// A zip archive.
pub(super) fn zip(entries: &[Entry]) -> Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for entry in entries {
        let options = SimpleFileOptions::default()
            .compression_level(Some(9))
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(entry.mode);
        archive.start_file(&entry.path, options)?;
        archive.write_all(&entry.bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// An `ar` archive, which a Debian package is.
pub(super) fn ar(members: &[(&str, Vec<u8>)]) -> Result<Vec<u8>> {
    let mut all = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let mut header = String::new();
        writeln!(header, "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`", 0, 0, 0, "100644", bytes.len())
            .context("a text cannot be written")?;
        all.extend(header.as_bytes());
        all.extend(bytes);
        if bytes.len() % 2 == 1 {
            all.push(b'\n');
        }
    }
    Ok(all)
}
