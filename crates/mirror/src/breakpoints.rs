//! Breakpoints that an editor sees and, where it may, sets.
//!
//! An editor sends all breakpoints of a file at once, and those that it leaves out are to be removed. It knows the
//! agent's breakpoints only if it was notified of them: so one is removed only if the editor had it in its last list
//! for the file.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use dap::{SetBreakpointsArguments, SetBreakpointsResponse, SetFunctionBreakpointsArguments};
use engine::model::breakpoint::{Binding, Breakpoint, BreakpointTarget, Pending, Rule};
use engine::model::ids::BreakpointId;
use engine::session::breakpoints::Change;
use engine::session::placing::PlaceRequest;
use tokio::sync::Mutex;

use crate::editor::Editor;
use crate::outgoing::{Answer, Refusal, body};

/// What an editor has listed. Its lists are handled one after the other.
#[derive(Debug, Default)]
pub(crate) struct ListedBreakpoints(Mutex<KnownBreakpoints>);

#[derive(Debug, Default)]
struct KnownBreakpoints {
    /// What was in the last list for each file.
    files: HashMap<PathBuf, BTreeSet<BreakpointId>>,
    /// Those that came into being by a list of this editor. The rules of the others are the agent's.
    own: BTreeSet<BreakpointId>,
}

impl Editor {
    pub(crate) async fn set_breakpoints(&self, asked: SetBreakpointsArguments) -> Answer {
        let path = asked.source.path.map(PathBuf::from);
        let path = path.ok_or_else(|| Refusal("breakpoints are set in files only".to_owned()))?;
        let mut listed = self.listed.0.lock().await;
        let mut known = self.session().breakpoints().await?;
        known.retain(|breakpoint| breakpoint.path() == Some(&*path));
        let mut kept = BTreeSet::new();
        let mut breakpoints = Vec::new();
        for wanted in &asked.breakpoints {
            let there = known.iter().find(|known| !kept.contains(&known.id) && is_on(known, wanted.line));
            let set = match there {
                Some(there) => self.keep(there, wanted, &listed).await,
                None => self.add(&path, wanted).await,
            };
            breakpoints.push(match set {
                Ok(set) => {
                    kept.insert(set.id);
                    if there.is_none() {
                        listed.own.insert(set.id);
                    }
                    describe(&set)
                }
                Err(Refusal(problem)) => dap::Breakpoint {
                    line: Some(wanted.line),
                    message: Some(problem),
                    ..dap::Breakpoint::default()
                },
            });
        }
        if self.exposed.control {
            let before = listed.files.insert(path, kept.clone()).unwrap_or_default();
            let gone: BTreeSet<BreakpointId> = before.difference(&kept).copied().collect();
            if !gone.is_empty() {
                self.session().remove_breakpoints(move |id, _| gone.contains(&id)).await?;
            }
        }
        body(&SetBreakpointsResponse { breakpoints })
    }

    /// An existing one. An editor's request may lack properties that the agent has set.
    async fn keep(
        &self,
        there: &Breakpoint,
        wanted: &dap::SourceBreakpoint,
        listed: &KnownBreakpoints,
    ) -> Result<Breakpoint, Refusal> {
        if !listed.own.contains(&there.id) {
            return Ok(there.clone());
        }
        let rule = rule(wanted)?;
        if rule == there.rule {
            return Ok(there.clone());
        }
        self.session().check_rule(&rule).await?;
        let change = Change { enabled: None, rule: Some(rule) };
        Ok(self.session().change_breakpoint(there.id, change).await?)
    }

    async fn add(&self, path: &Path, wanted: &dap::SourceBreakpoint) -> Result<Breakpoint, Refusal> {
        self.check_control()?;
        let column = wanted.column.and_then(|column| u32::try_from(column).ok());
        let wanted = PlaceRequest {
            file: Some(path.to_owned()),
            line: u32::try_from(wanted.line).ok(),
            column: column.filter(|_| self.session().adapter().facts().has_columns),
            rule: rule(wanted)?,
            ..PlaceRequest::default()
        };
        Ok(self.session().set_breakpoint(wanted).await?.0)
    }

    /// Those on functions are the agent's alone.
    pub(crate) fn set_function_breakpoints(asked: &SetFunctionBreakpointsArguments) -> Answer {
        let problem = "breakpoints on functions are set by the agent; set one on a line";
        let refused = || dap::Breakpoint { message: Some(problem.to_owned()), ..dap::Breakpoint::default() };
        body(&SetBreakpointsResponse { breakpoints: asked.breakpoints.iter().map(|_| refused()).collect() })
    }
}

fn is_on(breakpoint: &Breakpoint, line: i64) -> bool {
    [breakpoint.requested_line(), breakpoint.line()].contains(&u32::try_from(line).ok())
}

fn rule(wanted: &dap::SourceBreakpoint) -> Result<Rule, Refusal> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let hit_condition = given(&wanted.hit_condition).map(|text| text.parse()).transpose();
    Ok(Rule {
        condition: given(&wanted.condition),
        hit_condition: hit_condition.map_err(|error| Refusal(format!("the hit condition {error}")))?,
        log_message: given(&wanted.log_message),
        record: None,
    })
}

/// A breakpoint as an editor shows it.
pub(crate) fn describe(breakpoint: &Breakpoint) -> dap::Breakpoint {
    let source = breakpoint.path().map(|path| dap::Source {
        name: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        path: Some(path.display().to_string()),
        ..dap::Source::default()
    });
    dap::Breakpoint {
        id: Some(breakpoint.id.0.into()),
        verified: breakpoint.is_verified(),
        message: match &breakpoint.binding {
            Binding::Bound { .. } => None,
            Binding::Refused(reason) | Binding::Pending(Pending::NotLoaded(reason)) => Some(reason.clone()),
            Binding::Pending(Pending::Disabled) => Some("it is disabled".to_owned()),
            Binding::Pending(_) => Some("it is not bound yet".to_owned()),
        },
        source,
        line: breakpoint.line().map(i64::from),
        column: breakpoint.column().map(i64::from),
    }
}

/// Whether an editor can show it: it is on a line.
pub(crate) fn is_shown(breakpoint: &Breakpoint) -> bool {
    matches!(breakpoint.place, BreakpointTarget::Line { .. })
}
