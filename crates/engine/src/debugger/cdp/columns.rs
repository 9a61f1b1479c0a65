//! The locations on one line of a source: where V8 can stop in a loaded script, distinguished by columns.

use std::collections::BTreeSet;
use std::path::Path;

use ::cdp::debugger::{self, Location};

use super::scripts::{Script, position};
use super::v8::V8Client;
use crate::source_map::{Position, SourceMap};

/// The most lines of a script that are searched for one line of its source.
const MOST_LINES: usize = 50;

/// Code begins here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeStart {
    /// The column in the source, 0-based, in UTF-16 units.
    pub(super) column: u32,
    /// The place in the script.
    pub(super) generated: Position,
}

/// Where code of a line (0-based) of a source begins, by the columns of the source. One column may have
/// several places, where a compiler has copied the code.
pub(super) async fn of_line(v8: &V8Client, script: &Script, source: &Path, line: u32) -> Vec<CodeStart> {
    let mut found = match script.map_to(source).await {
        Some(Ok(map)) => of_source(v8, script, map, source, line).await,
        Some(Err(_)) => Vec::new(),
        None => {
            let places = possible(v8, script, line).await;
            places.into_iter().map(|at| CodeStart { column: at.1, generated: at }).collect()
        }
    };
    found.sort_unstable_by_key(|begin| (begin.column, begin.generated));
    found.dedup();
    found
}

async fn of_source(
    v8: &V8Client,
    script: &Script,
    map: &SourceMap,
    source: &Path,
    line: u32,
) -> Vec<CodeStart> {
    let Some(id) = map.source_of(source) else { return Vec::new() };
    let lines: BTreeSet<u32> = map.generated(id, line, None).into_iter().map(|(line, _)| line).collect();
    let mut found = Vec::new();
    for generated in lines.into_iter().take(MOST_LINES) {
        for at in possible(v8, script, generated).await {
            let original = map.original(at.0, at.1).filter(|it| (it.source, it.line) == (id, line));
            found.extend(original.map(|it| CodeStart { column: it.column, generated: at }));
        }
    }
    found
}

/// Where V8 can stop on a line of a script.
async fn possible(v8: &V8Client, script: &Script, line: u32) -> Vec<Position> {
    let place = |line: u32| Location {
        script_id: script.id.clone(),
        line_number: i32::try_from(line).unwrap_or(i32::MAX),
        column_number: Some(0),
    };
    let question = debugger::GetPossibleBreakpoints {
        start: place(line),
        end: Some(place(line.saturating_add(1))),
        restrict_to_function: false,
    };
    let possible = v8.request(question).await.map(|possible| possible.locations).unwrap_or_default();
    let begin = |at: debugger::BreakLocation| {
        position(&Location {
            script_id: at.script_id,
            line_number: at.line_number,
            column_number: at.column_number,
        })
    };
    possible.into_iter().map(begin).filter(|at| at.0 == line).collect()
}
