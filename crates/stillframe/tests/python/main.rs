//! Python programs and what debugpy gets wrong about them: each case a session.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod agent;
mod attach;
mod breakpoints;
mod children;
mod data;
mod ends;
mod evaluation;
mod exceptions;
mod frameworks;
mod greenlets;
mod hits;
mod interpreters;
mod libraries;
mod script;
mod steps;
mod summaries;
mod threads;
mod values;

#[path = "../standard/debugging.rs"]
#[allow(dead_code, reason = "the toolset's own tests use the rest")]
mod debugging;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
