//! The toolset `standard` as its users have it: a server process, real programs.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod bad_input;
mod breakpoints;
mod credentials;
mod debugging;
mod dropin;
mod languages;
mod launching;
mod mirror;
mod mixed;
mod reference;
mod run_until;
mod stepping;
mod trace;
mod trigger;
mod values;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
