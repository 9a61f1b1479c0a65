//! Which test runner a command starts.

use super::{go, googletest, java, libtest, node, php, python, ruby};
use crate::ToolError;
use crate::ops::command::Command;

/// A test runner that reports its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// pytest.
    Pytest,
    /// `python -m unittest`.
    Unittest,
    /// Jest.
    Jest,
    /// Vitest.
    Vitest,
    /// Mocha.
    Mocha,
    /// `node --test`.
    Node,
    /// Surefire, by Maven.
    Maven,
    /// Gradle.
    Gradle,
    /// `go test`.
    Go,
    /// `cargo test`.
    Cargo,
    /// `ctest`.
    Ctest,
    /// `GoogleTest`.
    GoogleTest,
    /// `RSpec`.
    Rspec,
    /// minitest.
    Minitest,
    /// `PHPUnit`.
    Phpunit,
}

impl Runner {
    /// The runner of a command, as far as its words show.
    pub fn of(command: &Command) -> Option<Self> {
        let Command { launch, executable, .. } = command;
        match command.adapter.name() {
            "c" => googletest::runner(launch),
            "go" => go::runner(launch),
            "java" => java::runner(executable.as_deref()),
            "javascript" => node::runner(launch, executable.as_deref()),
            "php" => php::runner(launch),
            "python" => python::runner(launch),
            "ruby" => ruby::runner(launch, executable.as_deref()),
            "rust" => libtest::runner(launch),
            _ => None,
        }
    }

    /// Its name, as people have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Unittest => "unittest",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::Node => "node --test",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
            Self::Go => "go test",
            Self::Cargo => "cargo test",
            Self::Ctest => "ctest",
            Self::GoogleTest => "GoogleTest",
            Self::Rspec => "rspec",
            Self::Minitest => "minitest",
            Self::Phpunit => "phpunit",
        }
    }

    /// Why no results were reported at all, if the output shows it. The runner may be one
    /// that its command does not name.
    pub(super) fn missing(runner: Option<Self>, command: &Command, output: &str) -> Option<ToolError> {
        match runner {
            Some(runner @ (Self::Pytest | Self::Unittest)) => python::missing(runner, command, output),
            Some(Self::Go | Self::Cargo | Self::Ctest | Self::GoogleTest) => None,
            _ => node::missing(output),
        }
    }
}
