//! Debugging on another machine and in a container, as an MCP client here has it.
//!
//! ssh is real: sshd on the loopback interface, as this user. It has what is another machine to the server: its own
//! folder for the copy, its own sources.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod commands;
mod containers;
mod machine;
mod ssh;
mod targets;

use std::sync::LazyLock;

use test_support::Built;

/// The program under test. Half of it would be symbols, which take as long as the rest to copy and to check.
static STILLFRAME: LazyLock<Built> = LazyLock::new(|| {
    let scratch = env!("CARGO_TARGET_TMPDIR");
    let folder = tempfile::tempdir_in(scratch).unwrap();
    machine::strip(env!("CARGO_BIN_EXE_stillframe"), &folder.path().join("stillframe"));
    // Several runs may be at work: each has a file that is whole.
    let program = format!("{scratch}/stillframe");
    std::fs::rename(folder.path().join("stillframe"), &program).unwrap();
    Built { program: program.leak(), scratch }
});
