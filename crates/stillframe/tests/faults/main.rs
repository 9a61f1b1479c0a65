//! Never stuck, never leaking: what is attacked, how, and at which moment.
//!
//! Each test is a group of cells, on one server that lives through all of them. A cell brings a session to a moment,
//! does harm to one of those who take part, and fails unless every call comes back before its deadline, with the
//! outcome of the table, while a second session of the same server answers as before, and nothing is left behind.
//! Each group prints its table, and how much the server holds before and after.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod attached;
mod attacked;
mod bystander;
mod cells;
mod client;
mod debuggee;
mod disk;
mod languages;
mod time_limits;
mod wire;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
