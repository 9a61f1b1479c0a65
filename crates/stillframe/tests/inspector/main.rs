//! The toolset `inspector` as its users have it: a session that begins paused, a status in every answer.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod bad_input;
mod breakpoints;
mod client;
mod execution;
mod hang;
mod killed;
mod node;
mod objects;
mod performance;
mod seed;
mod stack;
mod values;
mod watches;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
