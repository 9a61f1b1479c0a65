//! Ruby programs, their test runners, and what is particular to our server in them: each case a session.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "programs that run already are started by the test; a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod attach;
mod exceptions;
mod functions;
mod gems;
mod hangs;
mod objects;
mod runners;
mod steps;

#[path = "../standard/debugging.rs"]
#[allow(dead_code, reason = "the toolset's own tests use the rest")]
mod debugging;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
