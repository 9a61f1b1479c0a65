//! Test helpers. Everything here panics where something is not as a test needs it.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod client;
mod effort;
mod fixture;
mod hangs;
mod http;
mod language;
mod leftovers;
mod port;
mod python_packages;
mod pythons;
mod server;
mod toolchains;
mod usage;
mod wire;

pub use client::Client;
pub use effort::{rows_to_try, tries_everything};
pub use fixture::{Fixture, repository};
pub use hangs::HangTable;
pub use http::{Event, Events, HttpAnswer, HttpClient, HttpOptions, HttpServer};
pub use language::{
    Body, Dynamic, DynamicLanguage, Language, PerLanguage, Program, Row, Spelling, Texts, Words, run_body,
};
pub use leftovers::{Mark, assert_gone, interrupt};
pub use port::ClosedPort;
pub use python_packages::{gdb, python_with_packages};
pub use pythons::{built_python, pythons};
pub use rustix::process::Signal;
pub use server::{Answer, Built, ProtocolEra, Reply, Server, ServerOptions, Shutdown};
pub use toolchains::{
    browser, compile, compile_library, earlier_runners, oldest_node, run_go, run_node, run_tool, toolchains,
};
pub use usage::{ResourceUsage, quiet, say, settled};
pub use wire::{Wire, WireFault, WireProtocol};

/// Waits for a condition that nothing signals, such as the content of a file.
pub async fn eventually(is_true: impl Fn() -> bool) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !is_true() {
        assert!(std::time::Instant::now() < until, "it did not become true in time");
        // sleep: the condition is in a file, whose changes are not signalled.
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
