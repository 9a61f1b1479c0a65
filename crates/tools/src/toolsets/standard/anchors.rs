//! What a restart has made of the breakpoints that are found by the text of their line, as clients of mcp-debugger
//! read it.

use engine::model::breakpoint::Breakpoint;
use engine::session::Session;
use engine::sources::{StatementMatch, find_statement};
use schemars::JsonSchema;
use serde::Serialize;

/// The breakpoints whose text is on another line, or on none.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AnchorResolution {
    moved: Vec<MovedAnchor>,
    stale: Vec<StaleAnchor>,
}
/// Breakpoint whose text was found on another line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MovedAnchor {
    breakpoint_id: String,
    file: String,
    from: u32,
    to: u32,
    statement: String,
}
/// Breakpoint whose text no longer exists; it stays on its line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StaleAnchor {
    breakpoint_id: String,
    file: String,
    line: u32,
    statement: String,
    reason: &'static str,
}

impl AnchorResolution {
    /// None when no breakpoint was found by a text.
    pub(super) fn new(session: &Session, before: &[Breakpoint], now: &[Breakpoint]) -> Option<Self> {
        let (mut moved, mut stale) = (Vec::new(), Vec::new());
        let mut is_any = false;
        for breakpoint in now {
            let (Some(statement), Some(path), Some(to)) =
                (breakpoint.statement(), breakpoint.path(), breakpoint.requested_line())
            else {
                continue;
            };
            is_any = true;
            let (breakpoint_id, file) = (breakpoint.id.to_string(), path.display().to_string());
            let statement = statement.to_owned();
            let was = before.iter().find(|before| before.id == breakpoint.id);
            match was.and_then(Breakpoint::requested_line) {
                Some(from) if from != to => {
                    moved.push(MovedAnchor { breakpoint_id, file, from, to, statement });
                }
                _ if is_gone(session, breakpoint, &statement, to) => {
                    let reason = "its text is no longer in the file";
                    stale.push(StaleAnchor { breakpoint_id, file, line: to, statement, reason });
                }
                _ => {}
            }
        }
        is_any.then_some(Self { moved, stale })
    }

    /// What to say of those that are gone.
    pub(super) fn warning(&self) -> Option<String> {
        let ids: Vec<&str> = self.stale.iter().map(|stale| stale.breakpoint_id.as_str()).collect();
        (!ids.is_empty())
            .then(|| format!("the text of {} is no longer in its file: it stays on its line", ids.join(", ")))
    }
}

fn is_gone(session: &Session, breakpoint: &Breakpoint, statement: &str, line: u32) -> bool {
    let lines = breakpoint.path().and_then(|path| session.read_lines(path).ok());
    lines.is_some_and(|lines| {
        !matches!(find_statement(&lines, statement, Some(line)), StatementMatch::Line(_))
    })
}
