//! Recordings of real programs, and the answers to questions about them.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod accelerator;
mod agreement;
mod bugs;
mod changes;
mod classes;
mod command_line;
mod conditions;
mod depth;
mod elsewhere;
mod export;
mod faults;
mod given;
mod handled;
mod kept;
mod members;
mod moments;
mod node;
mod origins;
mod parts;
mod prototypes;
mod questions;
mod recorder;
mod replay;
mod ring;
mod runs;
mod shadows;
mod stacks;
mod tables;
mod timeline;
mod versions;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
