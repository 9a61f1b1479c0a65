//! Finding out why a program does not end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use engine::model::launch::Stdin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::one_shot;
use super::shared::LimitsParam;
use crate::ops::closing::CloseOnDrop;
use crate::ops::command::Command;
use crate::ops::execution;
use crate::ops::hang::{self, HangRequest};
use crate::ops::settle::Wait;
use crate::render::HangReport;
use crate::{ArgumentList, CommandLine, Context, Effects, Tool, ToolError};

/// Finds out why a program does not end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DiagnoseHang {
    /// instead of command
    session_id: Option<String>,
    /// node, python, npm, pytest, a script
    command: Option<CommandLine>,
    args: Option<ArgumentList>,
    cwd: Option<PathBuf>,
    env: Option<BTreeMap<String, String>>,
    /// ms, default 10000
    timeout: Option<u64>,
    /// ms, default 100
    sample_interval: Option<u64>,
    /// keep the session, paused
    leave_paused: Option<bool>,
    limits: Option<LimitsParam>,
}

/// The diagnosis.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HangDiagnosis {
    session_id: String,
    #[serde(flatten)]
    report: HangReport,
    /// The session was closed.
    closed: bool,
}

impl Tool for DiagnoseHang {
    type Answer = HangDiagnosis;
    const NAME: &'static str = "diagnose_hang";
    const TITLE: &'static str = "Diagnose hang";
    const DESCRIPTION: &'static str = "Find out why a program does not finish: busy loop, slow, waiting or deadlocked, with stacks and evidence. Runs a command or samples a session.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<HangDiagnosis, ToolError> {
        hang::check_times(context.bounds(), self.timeout, self.sample_interval)?;
        let limits = LimitsParam::limits(context.bounds(), self.limits)?;
        let (session, launch) = match self.command {
            Some(_) if self.session_id.is_some() => {
                return Err(ToolError::argument("command", "cannot be combined with `sessionId`"));
            }
            Some(command) => {
                let mut read = Command::read(&engine::adapter::Machine, &command, self.args, self.cwd)?;
                let given = self.env.unwrap_or_default().into_iter();
                read.launch.env.extend(given.map(|(name, value)| (name, Some(value))));
                read.launch.stdin = Stdin::Open;
                let title = read.title();
                let session = context.sessions.open(read.adapter, title, read.executable)?;
                (session, Some(read.launch))
            }
            None => {
                let session = one_shot::found(context, self.session_id.as_deref(), "`command`")?;
                execution::must_be_live(&session)?;
                (session, None)
            }
        };
        let opened_here = launch.is_some();
        let leave_paused = self.leave_paused.unwrap_or(false);
        let closing = CloseOnDrop::new(context, &session, opened_here);
        let request = HangRequest {
            launch,
            interval: self.sample_interval.map_or(hang::INTERVAL, Duration::from_millis),
            leave_paused,
            wait: Wait::or(context.bounds(), self.timeout, hang::TIMEOUT, limits)?,
        };
        let found = hang::hang(&session, request, context).await;
        let has_ended = found.as_ref().is_ok_and(|found| found.end.is_some());
        let closed = opened_here && (!leave_paused || has_ended || found.is_err());
        closing.settle(closed).await;
        Ok(HangDiagnosis { session_id: session.id().to_string(), report: HangReport::new(found?), closed })
    }
}
