//! PHP programs, their test runner, and requests: each case a session.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod conditions;
mod exceptions;
mod functions;
mod hangs;
mod imports;
mod lines;
mod processes;
mod requests;
mod runners;
mod steps;

#[path = "../standard/debugging.rs"]
#[allow(dead_code, reason = "the toolset's own tests use the rest")]
mod debugging;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
