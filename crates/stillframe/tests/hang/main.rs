//! `diagnose_hang` and `stillframe hang`: why a program does not come to its end.

#![expect(clippy::expect_used, reason = "a helper that fails is a test that fails")]

mod bad_input;
mod command;
mod programs;
mod reports;
mod sessions;

use serde_json::{Value, json};
use test_support::{Answer, Built, DynamicLanguage as Language, Fixture, Server, repository};

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };

/// A program of `fixtures/hang`.
fn program(name: &str) -> Fixture {
    Fixture::read(repository().join("fixtures/hang").join(name))
}

/// What starts a program.
fn command(program: &Fixture) -> Value {
    let interpreter = match program.language().dynamic() {
        Language::Python => "python3",
        Language::Node => "node",
    };
    // A busy machine leaves a program little time to be looked at, and that values repeat is seen by many looks.
    let timeout = if program.path().contains("values_repeat") { 8_000 } else { 2_500 };
    json!({ "command": interpreter, "args": [program.path()], "timeout": timeout })
}

/// Diagnoses a program of `fixtures/hang`.
async fn diagnose(server: &Server, name: &str) -> Answer {
    server.ok("diagnose_hang", command(&program(name))).await
}
