//! Where a script says that its map is, and reading it from there.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use data_encoding::BASE64_NOPAD;
use percent_encoding::percent_decode_str;

use super::problem::MapProblem;
use super::resolve::{file_url_path, in_folder, scheme};
use crate::error::Error;

/// The largest map that is read, in bytes.
pub(super) const LARGEST: u64 = 100 * 1024 * 1024;

/// Where a map is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapLocation {
    /// In the script: the whole `data:` URL.
    Inline(String),
    /// On disk; absolute if the script's path is.
    File(PathBuf),
    /// Somewhere that is not read, such as `https:`.
    Remote(String),
}

/// Resolves what a script says of its map (`sourceMappingURL`; `sourceMapURL` of CDP's
/// `Debugger.scriptParsed`) against the script's own path. It is a URL, so percent-encoded; relative,
/// absolute, `file:` or `data:`.
pub fn place(source_map_url: &str, script_path: &Path) -> MapLocation {
    let url = source_map_url.trim();
    match scheme(url) {
        Some(name) if name.eq_ignore_ascii_case("data") => return MapLocation::Inline(url.to_owned()),
        Some(name) if name.eq_ignore_ascii_case("file") => {
            let path = file_url_path(url);
            return path.map_or_else(|| MapLocation::Remote(url.to_owned()), MapLocation::File);
        }
        Some(_) => return MapLocation::Remote(url.to_owned()),
        // `//host/path` leaves the scheme out.
        None if url.starts_with("//") => return MapLocation::Remote(url.to_owned()),
        None => {}
    }
    MapLocation::File(in_folder(script_path.parent().unwrap_or(script_path), url))
}

/// Reads a map, not yet decoded. Only a regular file of at most 100 MB is read.
pub fn read(place: &MapLocation) -> Result<Vec<u8>, MapProblem> {
    read_checked(place, |_, _| Ok(()))
}

/// The same; an error of `check`, which is given the open file, keeps it from being read.
pub(crate) fn read_checked(
    place: &MapLocation,
    check: impl Fn(&File, &Path) -> Result<(), Error>,
) -> Result<Vec<u8>, MapProblem> {
    match place {
        MapLocation::Inline(url) => read_inline(url),
        MapLocation::File(path) => read_file(path, check),
        MapLocation::Remote(url) => Err(MapProblem::Remote { url: url.clone() }),
    }
}

fn read_file(path: &Path, check: impl Fn(&File, &Path) -> Result<(), Error>) -> Result<Vec<u8>, MapProblem> {
    let unreadable = |reason: String| MapProblem::Unreadable { path: path.to_owned(), reason };
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => MapProblem::Missing { path: path.to_owned() },
        _ => unreadable(error.to_string()),
    })?;
    // A pipe could block forever, and a device may be endless.
    if !metadata.is_file() {
        return Err(unreadable("it is not a regular file".to_owned()));
    }
    check_size(metadata.len())?;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    check(&file, path).map_err(|error| unreadable(error.to_string()))?;
    file.take(LARGEST).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    Ok(bytes)
}

/// The data of a `data:` URL ([RFC 2397](https://www.rfc-editor.org/rfc/rfc2397)). The type is ignored.
fn read_inline(url: &str) -> Result<Vec<u8>, MapProblem> {
    check_size(url.len() as u64)?;
    let corrupt = |reason: &str| MapProblem::Corrupt { reason: format!("its data URL {reason}") };
    let (head, data) = url.split_once(',').ok_or_else(|| corrupt("has no comma"))?;
    let bytes: Vec<u8> = percent_decode_str(data).collect();
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return Ok(bytes);
    }
    let digits: Vec<u8> =
        bytes.into_iter().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').collect();
    BASE64_NOPAD.decode(&digits).map_err(|error| corrupt(&format!("is not base64: {error}")))
}

pub(super) fn check_size(size: u64) -> Result<(), MapProblem> {
    if size > LARGEST {
        return Err(MapProblem::TooLarge { size, limit: LARGEST, unit: "bytes" });
    }
    Ok(())
}
