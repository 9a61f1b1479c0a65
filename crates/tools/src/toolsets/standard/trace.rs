//! Recording values at each hit of a location.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::model::breakpoint::Rule;
use engine::recording::CellFormat;
use engine::session::placing::PlaceRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::launch::{LaunchArgs, ProgramParams};
use super::one_shot::{OneShotParams, OneShotSession};
use super::shared::LimitsParam;
use super::trigger::TriggerParam;
use crate::ops::settle::Wait;
use crate::ops::trace::{self, Point, RecordMethod, Trace, TraceEndReason, WhenFull};
use crate::ops::trigger::Trigger;
use crate::render::{RowArguments, TraceReport};
use crate::{ArgumentList, CommandLine, Context, Effects, Tool, ToolError};

/// Records values.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TraceValues {
    /// record in this session; default: start a program in a new one
    session_id: Option<String>,
    program: Option<PathBuf>,
    module: Option<String>,
    /// instead, as typed
    command: Option<CommandLine>,
    language: Option<String>,
    executable_path: Option<PathBuf>,
    args: Option<ArgumentList>,
    runtime_args: Option<ArgumentList>,
    cwd: Option<PathBuf>,
    env: Option<BTreeMap<String, String>>,
    stdin: Option<String>,
    points: Vec<PointParam>,
    /// total rows, default 200
    max_hits: Option<u64>,
    /// only every Nth hit
    sample_every: Option<u64>,
    /// skip rows equal to the previous one
    only_when_changed: Option<bool>,
    /// after maxHits: end the program (default) or let it run and count
    when_full: Option<WhenFullParam>,
    /// sent or run when the server listens
    trigger: Option<TriggerParam>,
    /// ms, default 20000; then a started program is ended
    timeout: Option<u64>,
    limits: Option<LimitsParam>,
}

/// Where to record what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PointParam {
    /// default: program
    file: Option<PathBuf>,
    line: Option<u32>,
    column: Option<u32>,
    /// text of the line
    statement: Option<String>,
    expressions: Vec<String>,
    /// only hits where this is true
    condition: Option<String>,
}

/// What becomes of the program.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WhenFullParam {
    End,
    Run,
}

/// What was recorded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TraceAnswer {
    session_id: String,
    #[serde(flatten)]
    trace: TraceReport,
    /// The session was closed.
    closed: bool,
}

impl Tool for TraceValues {
    type Answer = TraceAnswer;
    const NAME: &'static str = "trace_values";
    const TITLE: &'static str = "Trace values";
    const DESCRIPTION: &'static str = "Record expressions at every hit of lines while the program runs; returns a table. Starts a program or uses a session.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(mut self, context: &Context) -> Result<TraceAnswer, ToolError> {
        self.check(context)?;
        let trigger = TriggerParam::read(self.trigger.take(), self.cwd.clone(), context)?;
        let params = self.program();
        let asked = OneShotParams {
            session_id: self.session_id.as_deref(),
            program: &params,
            line: self.command.as_ref(),
            language: self.language.as_deref(),
            executable: self.executable_path.as_deref(),
            files: self.points.iter().filter_map(|point| point.file.as_deref()).collect(),
        };
        let mut one_shot = OneShotSession::open(context, &asked, false)?;
        let (session, opened_here) = (one_shot.session(), one_shot.opened_here);
        let was_started = one_shot.starts;
        let request = self.request(params, &mut one_shot, trigger, context);
        let traced = match request {
            Ok(request) => trace::trace(&session, request, context).await,
            Err(error) => Err(error),
        };
        let is_paused = traced.as_ref().is_ok_and(|traced| traced.end_reason == TraceEndReason::Stopped);
        let closed = opened_here && !is_paused;
        one_shot.settle(closed).await;
        let trace = TraceReport::new(traced?, was_started, &RowArguments::OF_TOOL);
        Ok(TraceAnswer { session_id: session.id().to_string(), trace, closed })
    }
}

impl TraceValues {
    /// Takes out what is started.
    fn program(&mut self) -> ProgramParams {
        ProgramParams {
            script: self.program.take(),
            module: self.module.take(),
            args: self.args.take(),
            runtime_args: self.runtime_args.take(),
            cwd: self.cwd.take(),
            env: self.env.take(),
            stdin: self.stdin.take(),
            stdin_file: None,
            extra: LaunchArgs::default(),
        }
    }

    /// Checks that need no session.
    fn check(&self, context: &Context) -> Result<(), ToolError> {
        if self.points.is_empty() {
            return Err(ToolError::argument("points", "is empty; give a location and an expression"));
        }
        for (at, point) in self.points.iter().enumerate() {
            if point.expressions.is_empty() {
                let name = format!("points[{at}].expressions");
                return Err(ToolError::argument(&name, "is empty; give an expression to record"));
            }
        }
        LimitsParam::limits(context.bounds(), self.limits)?;
        trace::check_counts(context.bounds(), self.max_hits, self.sample_every, self.timeout)
    }

    fn request(
        self,
        params: ProgramParams,
        one_shot: &mut OneShotSession<'_>,
        trigger: Option<Trigger>,
        context: &Context,
    ) -> Result<Trace, ToolError> {
        let limits = LimitsParam::limits(context.bounds(), self.limits)?;
        let program = params.script.clone().or_else(|| one_shot.script());
        let points = self.points.into_iter().map(|point| Point {
            wanted: PlaceRequest {
                file: point.file.or_else(|| program.clone()),
                line: point.line,
                column: point.column,
                statement: point.statement,
                rule: Rule { condition: point.condition, ..Rule::default() },
                ..PlaceRequest::default()
            },
            expressions: point.expressions,
        });
        let points = points.collect();
        let launch = one_shot.launch(params)?;
        let wait = Wait::new(context.bounds(), self.timeout, limits)?;
        let usual = Trace::new(launch, points, wait);
        Ok(Trace {
            max_rows: self.max_hits.unwrap_or(context.bounds().default_rows(usual.max_rows)),
            sample_every: self.sample_every.unwrap_or(1),
            only_when_changed: self.only_when_changed.unwrap_or(false),
            when_full: match self.when_full {
                Some(WhenFullParam::Run) => WhenFull::RunOn,
                Some(WhenFullParam::End) | None => WhenFull::End,
            },
            cells: CellFormat::Text(limits.value),
            way: RecordMethod::from_environment(),
            trigger,
            ..usual
        })
    }
}
