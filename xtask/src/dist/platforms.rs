//! The platforms that releases are made for: one row each.

use anyhow::Result;

use crate::repository;

/// A platform, as each kind of package calls it. The programs are static, so that one serves every Linux.
#[derive(Debug)]
pub(super) struct Platform {
    /// For the compiler.
    pub(super) target: &'static str,
    /// The linker, where the system's cannot link for it.
    pub(super) linker: Option<&'static str>,
    /// What Zig calls it, where Zig compiles the C code of `SQLite`; elsewhere `musl-gcc` does.
    pub(super) zig: Option<&'static str>,
    /// Node's names for system and processor.
    pub(super) node: (&'static str, &'static str),
    /// The tags of a wheel.
    pub(super) wheel: &'static [&'static str],
    /// Debian's name for the processor.
    pub(super) debian: &'static str,
}

pub(super) const PLATFORMS: &[Platform] = &[
    Platform {
        target: "x86_64-unknown-linux-musl",
        linker: None,
        zig: None,
        node: ("linux", "x64"),
        wheel: &["manylinux_2_17_x86_64", "musllinux_1_1_x86_64"],
        debian: "amd64",
    },
    Platform {
        target: "aarch64-unknown-linux-musl",
        linker: Some("rust-lld"),
        zig: Some("aarch64-linux-musl"),
        node: ("linux", "arm64"),
        wheel: &["manylinux_2_17_aarch64", "musllinux_1_1_aarch64"],
        debian: "arm64",
    },
];

impl Platform {
    /// The name in file names.
    pub(super) fn short(&self) -> String {
        format!("{}-{}", self.node.0, self.node.1)
    }

    /// The npm package with its program.
    pub(super) fn npm_package(&self) -> String {
        format!("@stillframe/{}", self.short())
    }

    /// Whether the compiler has the standard library for it.
    pub(super) fn can_be_built(&self) -> Result<bool> {
        let folder = repository::output("rustc", &["--print", "target-libdir", "--target", self.target])?;
        Ok(std::path::Path::new(folder.trim()).is_dir())
    }

    /// Whether its programs run on this machine.
    pub(super) fn is_here(&self) -> bool {
        self.target.starts_with(std::env::consts::ARCH) && std::env::consts::OS == self.node.0
    }
}
