//! Commands to the V8 of one thread, each with its deadline.

use std::time::Duration;

use ::cdp::Command;
use ::cdp::debugger::Location;
use ::cdp::runtime::{Evaluate, Properties};

use crate::deadlines;
use crate::error::{Error, Result};

/// Sends commands to a thread. Clones share the connection, and keep it open.
#[derive(Clone, Debug)]
pub(super) struct V8Client(::cdp::Client);

impl V8Client {
    pub(super) fn new(client: ::cdp::Client) -> Self {
        Self(client)
    }

    /// Sends a command that V8 answers at once.
    pub(super) async fn request<C: Command>(&self, command: C) -> Result<C::Result> {
        Ok(self.0.request(command, deadlines::REQUEST).await?)
    }

    /// Sends a command where it is called for.
    pub(super) async fn request_if<C: Command>(&self, is_needed: bool, command: C) -> Result<()> {
        if is_needed {
            self.request(command).await?;
        }
        Ok(())
    }

    /// The same with a command that not every version of Node.js knows.
    pub(super) async fn request_if_known<C: Command>(&self, is_needed: bool, command: C) -> Result<()> {
        match self.request_if(is_needed, command).await {
            Err(Error::Refused(message)) if message.ends_with("wasn't found") => Ok(()),
            answer => answer,
        }
    }

    /// Sends a command with a deadline of its own.
    pub(super) async fn request_within<C: Command>(
        &self,
        deadline: Duration,
        command: C,
    ) -> Result<C::Result, ::cdp::Error> {
        self.0.request(command, deadline).await
    }

    /// Changes what our hook in the program works with, also while the process waits for us. An attached program has
    /// no hook, and one that is busy in native code keeps what the hook knows.
    pub(super) async fn update_hook(&self, expression: String) {
        let evaluate = Evaluate { return_by_value: true, ..evaluation(expression) };
        if let Err(error) = self.request_within(deadlines::GOODBYE, evaluate).await {
            tracing::debug!(%error, "the hook in the program was not updated");
        }
    }
}

/// Evaluates our own code: no breakpoint in it, or in what it calls, is hit.
pub(super) fn evaluation(expression: String) -> Evaluate {
    Evaluate { expression, silent: true, disable_breaks: true, ..Evaluate::default() }
}

/// Where the function begins that has these properties.
pub(super) fn function_location(properties: Properties) -> Option<Location> {
    let mut internal = properties.internal_properties.into_iter();
    let found = internal.find(|property| property.name == "[[FunctionLocation]]")?;
    serde_json::from_value(found.value?.value?).ok()
}

impl From<::cdp::Error> for Error {
    fn from(error: ::cdp::Error) -> Self {
        match error {
            ::cdp::Error::Closed => Self::Lost,
            ::cdp::Error::Deadline { command, deadline } => {
                Self::Deadline { what: format!("the debugger's `{command}`"), after: deadline }
            }
            ::cdp::Error::Refused { message, .. } => Self::Refused(message),
            malformed @ ::cdp::Error::Malformed { .. } => Self::Refused(malformed.to_string()),
        }
    }
}
