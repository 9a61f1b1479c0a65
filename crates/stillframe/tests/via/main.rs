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

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
