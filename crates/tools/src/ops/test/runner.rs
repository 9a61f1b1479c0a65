//! Which test runner a command starts.

use engine::model::launch::Launch;
use engine::test_reports::TestReports;

use super::{node, python};
use crate::ToolError;
use crate::ops::command::Command;

/// A test runner that tells us how its tests go.
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
}

impl Runner {
    /// The runner of a command, as far as its words tell.
    pub fn of(command: &Command) -> Option<Self> {
        python::runner(command).or_else(|| node::runner(command))
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
        }
    }

    /// Changes a launch so that the runner tells us how its tests go. The environment names the file already.
    pub(super) fn prepare(self, launch: &mut Launch, reports: &TestReports) -> Result<(), ToolError> {
        match self {
            // The inspector inside the program sees that it is a runner by what it imports.
            Self::Pytest | Self::Unittest => Ok(()),
            Self::Jest | Self::Vitest | Self::Mocha | Self::Node => node::prepare(self, launch, reports),
        }
    }

    /// Why it said nothing at all, when that can be told from what the program wrote.
    pub(super) fn missing(self, command: &Command, output: &str) -> Option<ToolError> {
        match self {
            Self::Pytest | Self::Unittest => python::missing(self, command, output),
            Self::Jest | Self::Vitest | Self::Mocha | Self::Node => node::missing(self, command, output),
        }
    }
}
