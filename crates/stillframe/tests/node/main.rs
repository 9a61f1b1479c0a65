//! Programs for Node.js and what is particular to them: each case a session.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod async_;
mod attach;
mod children;
mod closures;
mod columns;
mod conditions;
mod data;
mod dead_code;
mod entry;
mod faults;
mod frameworks;
mod functions;
mod large;
mod options;
mod pause;
mod project;
mod runners;
mod script;
mod steps;
mod typescript;
mod unused_names;
mod values;

#[path = "../standard/debugging.rs"]
#[allow(dead_code, reason = "the toolset's own tests use the rest")]
mod debugging;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
