//! `PyPI`: a wheel whose only content is the program, as a script.
//!
//! It is written here because the program is already built: a build tool would compile it again.

use std::fmt::Write;

use anyhow::{Context, Result};
use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};

use super::archive::{self, Entry};
use super::platforms::Platform;
use super::release::Release;

/// The file name and bytes of a platform's wheel.
pub(super) fn wheel(release: &Release, platform: &Platform, program: &[u8]) -> Result<(String, Vec<u8>)> {
    let name = format!("stillframe-{}", release.version);
    let info = format!("{name}.dist-info");
    let mut entries = vec![
        Entry::program(format!("{name}.data/scripts/stillframe"), program),
        Entry::file(format!("{info}/METADATA"), metadata(release)?),
        Entry::file(format!("{info}/WHEEL"), tags(platform)),
    ];
    entries.extend(release.licenses.iter().map(|license| license.below(&format!("{info}/licenses"))));
    let mut record = String::new();
    for entry in &entries {
        let digest = BASE64URL_NOPAD.encode(&Sha256::digest(&entry.bytes));
        writeln!(record, "{},sha256={digest},{}", entry.path, entry.bytes.len()).context("no text")?;
    }
    writeln!(record, "{info}/RECORD,,").context("no text")?;
    entries.push(Entry::file(format!("{info}/RECORD"), record));
    Ok((format!("{name}-py3-none-{}.whl", platform.wheel.join(".")), archive::zip(&entries)?))
}

fn metadata(release: &Release) -> Result<String> {
    let Release { version, description, license, repository, readme, .. } = release;
    // The registry of MCP servers looks for the last line.
    let name = release.registry_name()?;
    Ok(format!(
        "Metadata-Version: 2.1\nName: stillframe\nVersion: {version}\nSummary: {description}\nLicense: {license}\n\
         Project-URL: Source, {repository}\nRequires-Python: >=3.8\n\
         Description-Content-Type: text/markdown; charset=UTF-8\n\n{readme}\nmcp-name: {name}\n"
    ))
}

fn tags(platform: &Platform) -> String {
    let tags: Vec<String> = platform.wheel.iter().map(|tag| format!("Tag: py3-none-{tag}")).collect();
    format!("Wheel-Version: 1.0\nGenerator: stillframe\nRoot-Is-Purelib: false\n{}\n", tags.join("\n"))
}
