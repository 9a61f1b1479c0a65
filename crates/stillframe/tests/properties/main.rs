//! The correctness properties of the toolset `inspector`, each tried with a hundred generated cases or more.
//!
//! The debugger is the real one, and so are the programs: they are generated, and what must come of them is
//! computed here, without looking at what the debugger says. Processes are shared, because starting one takes
//! longer than anything that is done with it: see `host`.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that fails is a case that fails; what a JSON value does not have is null"
)]
#![expect(clippy::format_push_string, reason = "programs are read more easily where they are written so")]

mod answers;
mod breakpoints;
mod conditions;
mod emitter;
mod execution;
mod expressions;
mod hangs;
mod harness;
mod host;
mod maps;
mod objects;
mod runs;
mod sessions;
mod stacks;
mod stepping;
mod values;
mod world;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
