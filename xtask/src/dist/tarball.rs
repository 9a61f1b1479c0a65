//! Packages for systems: a tarball to unpack anywhere, and one for Debian and its relatives.
//!
//! Both are written here, so that a release needs no tool but cargo.

use anyhow::Result;

use super::archive::{self, Entry};
use super::documents::Documents;
use super::platforms::Platform;
use super::release::Release;

/// The file name and bytes of a platform's tarball. cargo-binstall knows its name from `Cargo.toml`.
pub(super) fn tarball(
    release: &Release,
    platform: &Platform,
    program: &[u8],
    documents: &Documents,
) -> Result<(String, Vec<u8>)> {
    let name = format!("stillframe-{}-{}", release.version, platform.target);
    let mut entries =
        vec![Entry::program("stillframe", program), Entry::file("README.md", release.readme.as_str())];
    entries.extend(release.licenses.iter().cloned());
    entries.extend(documents.completions.iter().map(|entry| entry.below("completions")));
    entries.extend(documents.manual.iter().map(|entry| entry.below("man/man1")));
    entries.push(Entry::file("skills/stillframe/SKILL.md", release.skill.as_str()));
    let entries: Vec<Entry> = entries.iter().map(|entry| entry.below(&name)).collect();
    Ok((format!("{name}.tar.gz"), archive::tar_gz(&entries, false)?))
}

/// The same for a Debian package.
pub(super) fn debian(
    release: &Release,
    platform: &Platform,
    program: &[u8],
    documents: &Documents,
) -> Result<(String, Vec<u8>)> {
    let mut entries = vec![Entry::program("usr/bin/stillframe", program)];
    for page in &documents.manual {
        let path = format!("usr/share/man/man1/{}.gz", page.path);
        entries.push(Entry::file(path, archive::gzip(&page.bytes)?));
    }
    for (file, place) in [
        ("stillframe.bash", "usr/share/bash-completion/completions/stillframe"),
        ("_stillframe", "usr/share/zsh/vendor-completions/_stillframe"),
        ("stillframe.fish", "usr/share/fish/vendor_completions.d/stillframe.fish"),
    ] {
        entries.push(Entry::file(place, documents.completion(file)?.bytes.clone()));
    }
    let doc = "usr/share/doc/stillframe";
    entries.extend(release.licenses.iter().map(|license| license.below(doc)));
    let copyright = format!("Licence: {}. The texts are beside this file.\n", release.license);
    entries.push(Entry::file(format!("{doc}/copyright"), copyright));
    entries.push(Entry::file(format!("{doc}/SKILL.md"), release.skill.as_str()));
    let size = entries.iter().map(|entry| entry.bytes.len()).sum::<usize>() / 1024;
    let entries: Vec<Entry> = entries.iter().map(|entry| entry.below(".")).collect();
    let control = control(release, platform, size);
    let package = archive::ar(&[
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", archive::tar_gz(&[Entry::file("./control", control)], true)?),
        ("data.tar.gz", archive::tar_gz(&entries, true)?),
    ])?;
    Ok((format!("stillframe_{}_{}.deb", release.version, platform.debian), package))
}

fn control(release: &Release, platform: &Platform, size: usize) -> String {
    let (summary, rest) = release.description.split_once(": ").unwrap_or((&release.description, ""));
    format!(
        "Package: stillframe\nVersion: {}\nArchitecture: {}\nInstalled-Size: {size}\nSection: devel\n\
         Priority: optional\nMaintainer: The stillframe developers <stillframe@users.noreply.github.com>\n\
         Homepage: {}\nSuggests: python3, nodejs, lldb, ruby\nDescription: {summary}\n {rest}\n",
        release.version, platform.debian, release.repository
    )
}
