//! What is done to a server when it listens.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::ops::trigger::{Client, Request, Trigger};
use crate::{CommandLine, Context, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TriggerParam {
    http: Option<HttpParam>,
    command: Option<CommandLine>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HttpParam {
    /// URL or path
    url: String,
    method: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    body: Option<String>,
}

impl TriggerParam {
    /// Reads one, and refuses what must not be done.
    pub(super) fn read(
        given: Option<Self>,
        cwd: Option<PathBuf>,
        context: &Context,
    ) -> Result<Option<Trigger>, ToolError> {
        let Some(Self { http, command }) = given else { return Ok(None) };
        let safety = &context.sessions.policy().safety;
        safety.check_trigger()?;
        match (http, command) {
            (Some(HttpParam { url, method, headers, body }), None) => {
                let request = Request::read(method.as_deref(), &url, headers.unwrap_or_default(), body)?;
                Ok(Some(Trigger::Http(request)))
            }
            (None, Some(command)) => Ok(Some(Trigger::Command(Client::read(&command, cwd, safety)?))),
            _ => Err(ToolError::argument("trigger", "needs `http` or `command`")),
        }
    }
}
