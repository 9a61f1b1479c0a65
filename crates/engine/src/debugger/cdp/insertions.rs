//! Values that the program records with our statements in its source.
//!
//! V8 compiles the condition of a breakpoint at each hit, which takes a hundred times as long as what a
//! record needs. Where that is exact, the same is done by a statement that our hook puts into the source when
//! Node loads it, before the line. The breakpoint stays until the statement has spoken: another loader
//! may have changed the text, and then it is all there is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::injected::BINDING;
use super::program::NodeProgram;
use super::recording;
use super::v8::V8Client;
use crate::debugger::RuleFor;
use crate::javascript;
use crate::lock::lock;
use crate::model::ids::BreakpointId;
use crate::recording::Record;
use crate::safety::Safety;

/// What statements are put into, as Node names it, by offset.
type Edits = BTreeMap<PathBuf, (String, Vec<(u32, String)>)>;

/// A location in a script that only records.
pub(super) struct RecordedPlace {
    /// The file of the script.
    pub(super) path: PathBuf,
    /// 0-based.
    pub(super) line: u32,
    /// 0-based, in UTF-16 units; none for the first statement on the line.
    pub(super) column: Option<u32>,
    pub(super) rules: Vec<RuleFor>,
}

/// The statements that the hook was given last.
#[derive(Debug, Default)]
pub(super) struct Insertions(Mutex<Vec<InsertedRecord>>);

/// A place, and what is recorded there.
type InsertedRecord = (PathBuf, u32, Option<u32>, Vec<BreakpointId>);

impl Insertions {
    /// Gives the hook what to put in from now on. It works while a process waits for us. A worker that waits has no
    /// hook yet, which takes over what it finds.
    pub(super) async fn announce(
        &self,
        v8: &V8Client,
        program: &NodeProgram,
        thread: &str,
        places: Vec<RecordedPlace>,
    ) {
        if !program.is_ours || !self.has_changed(&places) {
            return;
        }
        let (thread, policy) = (thread.to_owned(), Arc::clone(&program.policy));
        let work = tokio::task::spawn_blocking(move || edits(places, &thread, &policy.safety));
        let edits = work.await.unwrap_or_default();
        let mut files = Vec::new();
        for (path, (source, edits)) in &edits {
            // A path that is not UTF-8 cannot be sent, and keeps its breakpoint.
            files.extend(path.to_str().map(|path| json!([path, { "source": source, "edits": edits }])));
        }
        // A program that is busy in native code falls back to breakpoints alone.
        v8.update_hook(format!(
            "{{const insertions=globalThis[Symbol.for('stillframe.insertions')]??=new Map();\
             insertions.clear();for(const file of {})insertions.set(...file)}}",
            json!(files)
        ))
        .await;
    }

    fn has_changed(&self, places: &[RecordedPlace]) -> bool {
        let record = |place: &RecordedPlace| {
            (place.path.clone(), place.line, place.column, RuleFor::ids(&place.rules))
        };
        let now: Vec<InsertedRecord> = places.iter().map(record).collect();
        let mut last = lock(&self.0);
        let has_changed = *last != now;
        *last = now;
        has_changed
    }
}

/// What to put into which files. A file that cannot be read has none.
fn edits(places: Vec<RecordedPlace>, thread: &str, safety: &Safety) -> Edits {
    let mut edits = Edits::new();
    for RecordedPlace { path, line, column, rules } in places {
        if !edits.contains_key(&path) {
            let Ok(text) = safety.read_text(&path) else { continue };
            edits.insert(path.clone(), (text, Vec::new()));
        }
        if let Some((text, edits)) = edits.get_mut(&path)
            && let Some(edit) = edit(text, &path, line, column, &rules, thread)
        {
            edits.push(edit);
        }
    }
    edits.retain(|_, (_, edits)| !edits.is_empty());
    for (_, edits) in edits.values_mut() {
        edits.sort();
    }
    edits
}

fn edit(
    text: &str,
    path: &Path,
    line: u32,
    column: Option<u32>,
    rules: &[RuleFor],
    thread: &str,
) -> Option<(u32, String)> {
    let place = javascript::insertion(text, path, line.saturating_add(1))?;
    if column.is_some_and(|column| column != place.column) {
        return None;
    }
    let statements: Option<Vec<String>> =
        rules.iter().map(|rule| statement(rule, rule.rule.record.as_ref()?, thread)).collect();
    Some((place.offset, statements?.concat()))
}

/// A statement that does what [`recording::pass`] does. None for expressions that mean something else in it.
fn statement(rule: &RuleFor, record: &Record, thread: &str) -> Option<String> {
    if !rule.rule.expressions().all(is_portable) {
        return None;
    }
    let BreakpointId(id) = rule.id;
    let specification = json!(recording::specification(record, thread));
    let met = match &rule.rule.condition {
        Some(condition) => format!(
            "let __stillframe_met=false;\
             try{{__stillframe_met=({condition})}}catch(error){{__stillframe_point.refuse(error)}}"
        ),
        None => "const __stillframe_met=true;".to_owned(),
    };
    let value = |expression: &String| {
        format!(
            "try{{__stillframe_point.value(({expression}))}}catch(error){{__stillframe_point.failure(error)}}"
        )
    };
    let values: String = record.expressions.iter().map(value).collect();
    Some(format!(
        ";if(typeof {BINDING}!='undefined'&&{BINDING}.recorder){{\
         const __stillframe_point={BINDING}.recorder.point({id},{specification});\
         if(__stillframe_point.begin()){{{met}\
         if(__stillframe_point.counts(__stillframe_met)){{{values}__stillframe_point.row()}}\
         __stillframe_point.end()}}}}"
    ))
}

/// A comment or a line end would swallow the rest of the statement, or move the code after it. `<!--` begins a
/// comment outside modules. Code that V8 may reject although it parses would keep the whole file from loading.
fn is_portable(expression: &str) -> bool {
    !["\n", "\r", "\u{2028}", "\u{2029}", "//", "/*", "<!--", "__stillframe", "=>", "#", "__proto__"]
        .iter()
        .any(|text| expression.contains(text))
        && javascript::is_portable(expression)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insertion_stays_within_its_statement() {
        for expression in ["a", "a.b['c'] + d(1)", "a < !b", "`<b>`"] {
            assert!(is_portable(expression), "{expression}");
        }
        for expression in
            ["a // b", "a /* b */", "a\n+b", "`\u{2028}`", "a<!--b", "__stillframe_met", "a)}", "a));b(("]
        {
            assert!(!is_portable(expression), "{expression}");
        }
    }
}
