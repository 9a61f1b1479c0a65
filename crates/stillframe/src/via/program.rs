//! The program that is copied to the other side: this one, or a build for another platform.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

/// A build of stillframe, read and identified.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// SHA-256, in hexadecimal.
    pub(super) hash: String,
    platform: Platform,
}

/// What a build of the same version prints for `--version`.
pub(super) const VERSION: &str = concat!("stillframe ", env!("CARGO_PKG_VERSION"));

/// A system and a processor, in the words of `uname`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Platform {
    system: String,
    machine: String,
}

impl Program {
    /// Reads it: the given build, or this program.
    pub(super) fn read(given: Option<&Path>) -> anyhow::Result<Self> {
        let path = given.map_or_else(std::env::current_exe, |path| Ok(path.to_owned()))?;
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let Some(platform) = Platform::of(&bytes) else {
            bail!(
                "`{}` is not a program for Linux or macOS; give a build of stillframe as --binary",
                path.display()
            )
        };
        Ok(Self { hash: hex_hash(&bytes), path, bytes, platform })
    }

    /// Fails unless it runs on what `uname` says there.
    pub(super) fn must_run_on(&self, system: &str, machine: &str) -> anyhow::Result<()> {
        let there = Platform::named(system, machine);
        if self.platform == there {
            return Ok(());
        }
        bail!(
            "`{}` is for {}, but it is {there} there; give a build for that platform as --binary FILE",
            self.path.display(),
            self.platform
        )
    }
}

impl Platform {
    fn named(system: &str, machine: &str) -> Self {
        let machine = match machine {
            "amd64" => "x86_64",
            "arm64" => "aarch64",
            other => other,
        };
        Self { system: system.to_owned(), machine: machine.to_owned() }
    }

    /// What a program is for, by the header of its file (ELF, Mach-O).
    fn of(program: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u16::from_le_bytes(*program.get(at..)?.first_chunk()?));
        if program.starts_with(b"\x7fELF") {
            let machine = match number(18)? {
                0x3e => "x86_64",
                0xb7 => "aarch64",
                0x28 => "armv7l",
                0xf3 => "riscv64",
                0x16 => "s390x",
                _ => return None,
            };
            return Some(Self::named("Linux", machine));
        }
        if program.starts_with(&[0xcf, 0xfa, 0xed, 0xfe]) {
            let machine = match number(4)? {
                7 => "x86_64",
                12 => "aarch64",
                _ => return None,
            };
            return Some(Self::named("Darwin", machine));
        }
        None
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.system, self.machine)
    }
}

/// SHA-256 in hexadecimal, as `sha256sum` prints it.
pub(super) fn hex_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing into memory does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_identified_by_its_header() {
        let elf = |machine: u8| [&b"\x7fELF\x02\x01\x01"[..], &[0; 9], &[3, 0, machine, 0]].concat();
        let table = [
            (elf(0x3e), Some(("Linux", "x86_64"))),
            (elf(0xb7), Some(("Linux", "arm64"))),
            (vec![0xcf, 0xfa, 0xed, 0xfe, 12, 0, 0, 1], Some(("Darwin", "arm64"))),
            (b"MZ\x90".to_vec(), None),
            (b"\x7fELF".to_vec(), None),
            (elf(1), None),
        ];
        for (bytes, expected) in table {
            let expected = expected.map(|(system, machine)| Platform::named(system, machine));
            assert_eq!(Platform::of(&bytes), expected);
        }
    }

    #[test]
    fn another_platform_is_refused() {
        let own = Program::read(None).unwrap();
        let uname = (own.platform.system.clone(), own.platform.machine.clone());
        assert!(own.must_run_on(&uname.0, &uname.1).is_ok());
        let problem = own.must_run_on("Linux", "riscv64").unwrap_err().to_string();
        assert!(problem.contains("but it is Linux riscv64 there; give a build"), "{problem}");
        assert!(Program::read(Some(Path::new("/no/such/file"))).is_err());
        let text = tempfile::NamedTempFile::new().unwrap();
        let problem = Program::read(Some(text.path())).err().unwrap().to_string();
        assert!(problem.contains("is not a program for Linux or macOS"), "{problem}");
    }

    #[test]
    fn a_hash_is_what_sha256sum_prints() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hex_hash(b""), empty);
    }
}
