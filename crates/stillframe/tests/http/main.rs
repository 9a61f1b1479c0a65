//! The server as several clients have it at once, by Streamable HTTP: who is let in, who sees what, and the end.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod access;
mod confirm;
mod end;
mod idle;
mod isolation;
mod limits;
mod requests;
mod revisions;
mod scenes;
mod sse;
mod streams;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
