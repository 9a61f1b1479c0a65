//! What must hold for whatever others write: debuggers, programs, compilers, test runners, models.
//!
//! Each target is a function of bytes that asserts properties of what the crates make of them, through what is
//! public in them. `fuzz/` is the program that gives them whatever libFuzzer thinks of (`cargo xtask fuzz`); the tests
//! here give them the corpora that are committed, so that what was found once is looked for in every `cargo test`.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a target says what must hold by failing, and a target that cannot be tried has failed"
)]

mod arguments;
mod cdp_messages;
mod commands;
mod dap_messages;
mod frames;
mod javascript;
mod journal;
mod redaction;
mod reports;
mod rows;
mod runtime;
mod source_maps;
mod texts;

pub use self::journal::journal;
pub use arguments::arguments;
pub use cdp_messages::{cdp_events, cdp_wire};
pub use commands::commands;
pub use dap_messages::{dap_types, dap_wire};
pub use frames::dap_frames;
pub use javascript::{expressions, scripts};
pub use redaction::redaction;
pub use reports::test_reports;
pub use rows::rows;
pub use source_maps::source_maps;
pub use texts::texts;

/// The environment variable with the name of the target that `fuzz/` is to run.
pub const VARIABLE: &str = "STILLFRAME_FUZZ";

/// A target: its name, which is that of its corpus too, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("arguments", arguments),
    ("cdp_events", cdp_events),
    ("cdp_wire", cdp_wire),
    ("commands", commands),
    ("dap_frames", dap_frames),
    ("dap_types", dap_types),
    ("dap_wire", dap_wire),
    ("expressions", expressions),
    ("journal", journal),
    ("redaction", redaction),
    ("rows", rows),
    ("scripts", scripts),
    ("source_maps", source_maps),
    ("test_reports", test_reports),
    ("texts", texts),
];

/// The target of that name.
pub fn find(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|(known, _)| *known == name)
}
