//! The toolset `quick` as its users have it: one session, plain text.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod bad_input;
mod breakpoints;
mod endings;

mod client;
mod probes;
mod recovery;
mod seed;
mod sessions;
mod transcripts;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
