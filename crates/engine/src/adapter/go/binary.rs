//! Binaries that cannot be debugged, recognized before they start.

use std::path::Path;

use super::super::Host;
use crate::error::{Error, Result};

/// As many bytes hold the names of a binary's sections.
const MOST_NAMES: u64 = 1 << 20;

/// Refuses a binary without debug information: Delve would start it, and know nothing of it.
pub(super) fn check(host: &dyn Host, path: &Path) -> Result<()> {
    match sections(host, path) {
        Some(names) if !names.contains("debug_info") => Err(Error::Environment {
            problem: format!(
                "`{}` has no debug information: it was stripped, or built with `-ldflags=-s -w`",
                path.display()
            ),
            remedy: "build it with `go build -gcflags='all=-N -l'`, without these flags, or give its source \
                     folder as the program"
                .to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The names of the sections of an ELF file of 64 bits, little endian; none of another file.
fn sections(host: &dyn Host, path: &Path) -> Option<String> {
    let head = host.part(path, 0, 64);
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = number(&head, 0x28, 8)?;
    let (size, index) = (number(&head, 0x3a, 2)?, number(&head, 0x3e, 2)?);
    let names = host.part(path, table + size * index, size);
    let (from, length) = (number(&names, 0x18, 8)?, number(&names, 0x20, 8)?);
    let names = host.part(path, from, length.min(MOST_NAMES));
    (!names.is_empty()).then(|| String::from_utf8_lossy(&names).into_owned())
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
