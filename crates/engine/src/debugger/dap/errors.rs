//! From the wire's errors to ours.

use crate::error::Error;

/// An error that an expression has thrown.
pub(super) fn raised(type_name: String, message: String) -> Error {
    Error::Raised { type_name, message, traceback: String::new() }
}

impl From<::dap::Error> for Error {
    fn from(error: ::dap::Error) -> Self {
        match error {
            ::dap::Error::Closed => Self::Lost,
            ::dap::Error::Deadline { command, deadline } => {
                Self::Deadline { what: format!("the debugger's `{command}`"), after: deadline }
            }
            ::dap::Error::Refused { message, .. } => Self::Refused(message),
            malformed @ ::dap::Error::Malformed { .. } => Self::Refused(malformed.to_string()),
        }
    }
}
