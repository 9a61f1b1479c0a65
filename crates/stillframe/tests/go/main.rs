//! Go and what is particular to it: modules, goroutines, panics, tests.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]
#![expect(clippy::disallowed_methods, reason = "compilers and commands end before their test goes on")]

mod attach;
mod dumps;
mod goroutines;
mod hangs;
mod modules;
mod panics;
mod steps;
mod tests;
mod values;

#[path = "../standard/debugging.rs"]
#[allow(dead_code, reason = "the toolset's own tests use the rest")]
mod debugging;

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use test_support::{Built, Fixture};

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };

/// A module in a folder of its own.
struct Module(TempDir);

impl Module {
    /// A module `shop` of these files.
    fn new(files: &[(&str, &str)]) -> Self {
        let module = Self(debugging::folder());
        module.write("go.mod", "module example.com/shop\n\ngo 1.22\n");
        for (name, text) in files {
            module.write(name, text);
        }
        module
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str) -> Fixture {
        Fixture::read(self.path(name))
    }

    /// The names of its files, to see that nothing is left beside them.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder()).expect("it can be read");
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}
