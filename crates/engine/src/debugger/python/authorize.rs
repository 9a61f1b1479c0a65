//! How a program shows that it is the one that was started: any program of this machine can connect to our port.

use serde::{Deserialize, Serialize};

/// Introduces us to pydevd, and asks it the same. It is not in the specification (pydevd 1.8.22,
/// `on_pydevdauthorize_request`).
#[derive(Debug)]
pub(super) enum Authorize {}

impl ::dap::types::Request for Authorize {
    type Arguments = AuthorizeArguments;
    type Response = Authorized;
    const COMMAND: &'static str = "pydevdAuthorize";
}

/// pydevd's optional requests; it sends none unless configured.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthorizeArguments {
    debug_server_access_token: Option<String>,
}

/// What the program was given when it was started, or reached.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Authorized {
    pub(super) client_access_token: Option<String>,
}
