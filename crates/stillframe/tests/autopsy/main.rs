//! Reports of failing and passing tests, under common runners.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod earlier;
mod golden;
mod jest;
mod mocha;
mod node;
mod node_test;
mod pytest;
mod python;
mod unittest;
mod vitest;

#[path = "../standard/debugging.rs"]
#[allow(dead_code, reason = "the toolset's own tests use the rest")]
mod debugging;
#[path = "../node/project.rs"]
#[allow(dead_code, reason = "the tests of Node.js use the rest")]
mod project;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
