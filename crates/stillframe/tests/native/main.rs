//! C, C++ and Rust programs as their programmers write them: each case a session.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]
#![expect(clippy::disallowed_methods, reason = "compilers and commands end before their test goes on")]

mod assignments;
mod awaits;
mod binaries;
mod configured;
mod containers;
mod cpp;
mod crashes;
mod dumps;
mod enums;
mod expressions;
mod gdb;
mod hangs;
mod lines;
mod mains;
mod packages;
mod recording;
mod removed;
mod rust;
mod source;
mod templates;
mod tests;
mod threads;
mod virtuals;
mod watches;

#[path = "../standard/debugging.rs"]
#[allow(dead_code, reason = "the toolset's own tests use the rest")]
mod debugging;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
