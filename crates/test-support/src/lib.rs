//! Test helpers. Everything here panics where something is not as a test needs it.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a helper that fails is a test that fails"
)]

mod fixture;
mod language;
mod leftovers;
mod python_packages;
mod server;
mod toolchains;

pub use fixture::{Fixture, repository};
pub use language::{Language, Texts, Words};
pub use leftovers::{Mark, interrupt};
pub use python_packages::python_with_packages;
pub use server::{Answer, Built, Era, Goodbye, Reply, Server, ServerOptions};
pub use toolchains::{run_tool, toolchains};
