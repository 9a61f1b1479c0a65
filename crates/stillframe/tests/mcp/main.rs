//! The server as MCP clients have it: both eras of the protocol, bad input, the end.
//!
//! Traps of the SDK that were found by running it, and the test of each:
//! - T1, a schema whose root is not an object: `tools::every_tool_is_fully_described`.
//! - T2, a panic that leaves a call without an answer: unit tests of `mcp.rs`, which can have a tool that panics,
//!   and `tools::the_largest_integers_are_answered`.
//! - T3, calls in flight that delay the end: `end::a_waiting_call_does_not_delay_the_end`.
//! - T4, unsolicited messages to a client of 2026-07-28: `stateless::nothing_is_sent_without_a_request`.
//! - T5, methods that are answered although the server does not offer them: `handshake::unsupported_methods_are_refused`.
//! - T6, limits of schemas that no code checks: impossible, no schema has limits that the code does not check;
//!   `tools::the_largest_integers_are_answered` goes beyond all of them.
//! - T7, `null` in schemas: `tools::every_tool_is_fully_described`.
//! - T8, malformed lines, batches, unknown tools and bad arguments: `garbage`, `handshake`.
//! - T9, a lock on a router that changes while a tool runs: impossible, the list of tools is fixed at the start and
//!   behind no lock.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod client_roots;
mod clients;
mod confirm;
mod end;
mod eras;
mod garbage;
mod handshake;
mod log;
mod many;
mod orphans;
mod prompts;
mod resources;
mod scenes;
mod schemas;
mod stateless;
mod tools;
mod waiting;

use test_support::Built;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };
