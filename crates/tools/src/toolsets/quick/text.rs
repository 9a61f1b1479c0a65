//! The texts of answers. Pure: nothing here waits or asks.

use std::fmt::Write;

use engine::adapter::Adapter;
use engine::error::UNDEBUGGED;
use engine::model::breakpoint::{Binding, Breakpoint};
use engine::model::ids::Reference;
use engine::model::source::Location;
use engine::model::stack::StackFrame;
use engine::model::stop::Exception;
use engine::model::variable::{Children, Value, Variable};
use engine::output::Excerpt;
use engine::snapshot::{RuleFailure, Snapshot};

use super::target::{base_name, language_name};
use crate::error::{Next, quick};
use crate::ops::settle::{RunNotes, Runs, Settled};
use crate::ops::unreached::{self, Unreached};
use crate::render::{BreakpointData, output_text};

/// Parts of an answer, each on lines of its own; empty ones are left out.
pub(super) fn lines(parts: impl IntoIterator<Item = String>) -> String {
    let parts = parts.into_iter().map(|part| part.strip_suffix('\n').map_or(part.clone(), str::to_owned));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// One line for each note.
pub(super) fn notes(notes: &[String]) -> String {
    lines(notes.iter().map(|note| format!("note: {note}")))
}

/// What a program is doing.
pub(super) fn settled(settled: &Settled) -> String {
    match settled {
        Settled::Stopped(snapshot) => {
            lines([place(snapshot), output(&snapshot.output), sentences(&snapshot.failures, &snapshot.notes)])
        }
        Settled::Running { output: written, runs, remarks } => {
            let doing = match runs {
                Runs::Undebugged => {
                    let doing = format!("The {UNDEBUGGED}; call debug_continue to wait for its end");
                    let next = quick(Next::EndFirst);
                    return lines([format!("{doing}, {next}."), output(written), self::remarks(remarks)]);
                }
                Runs::Others(end) => {
                    format!("Program {end}, but a process that it started is still running.")
                }
                Runs::Program => "Still running.".to_owned(),
            };
            let next = "Call debug_continue to wait for the next stop, or with `pause` to stop it now; \
                        debug_stop ends it.";
            lines([format!("{doing} {next}"), output(written), self::remarks(remarks)])
        }
        Settled::Ended { end, output: written, unreached, remarks } => lines([
            format!("Program {end}."),
            output(written),
            not_reached(unreached),
            self::remarks(remarks),
        ]),
    }
}

/// Where a program is suspended and why, with the source around it.
pub(super) fn place(snapshot: &Snapshot) -> String {
    let location = snapshot.frame().and_then(|frame| frame.location.as_ref());
    let at = location.map(|location| format!(" at {}", short(location))).unwrap_or_default();
    let exception = snapshot.exception.as_ref();
    lines([
        format!("Stopped ({}){at}", snapshot.stop.reason),
        exception.map(Exception::headline).unwrap_or_default(),
        window(&snapshot.source, location.map_or(0, |location| location.line)),
    ])
}

/// `app.py:22`; without the line where the debugger does not know it.
fn short(location: &Location) -> String {
    let source = &location.source;
    let file = source.path.as_deref().map_or_else(|| source.name.clone(), base_name);
    if location.line == 0 { file } else { format!("{file}:{}", location.line) }
}

/// Numbered lines, with `>>>` at the current one.
fn window(lines: &[(u32, String)], current: u32) -> String {
    let width = lines.last().map_or(1, |(line, _)| line.to_string().len());
    let mut text = String::new();
    for (line, content) in lines {
        let mark = if *line == current { ">>>" } else { "   " };
        text.push_str(format!("{mark} {line:>width$} | {content}").trim_end());
        text.push('\n');
    }
    text
}

/// What a program wrote since the last answer.
pub(super) fn output(excerpt: &Excerpt) -> String {
    let text = output_text(excerpt);
    // The end of a line may come after the line, which was reported without it.
    let is_empty = text.trim_matches(['\r', '\n']).is_empty();
    match (is_empty, excerpt.skipped) {
        (true, 0) => String::new(),
        (false, 0) => format!("Output:\n{text}"),
        (_, skipped) => format!("Output ({skipped} bytes before this are left out):\n{text}"),
    }
}

/// What there is to say beside the state.
pub(super) fn remarks(remarks: &RunNotes) -> String {
    sentences(&remarks.failures, &remarks.notes(quick))
}

/// Failed conditions, and notes.
pub(super) fn sentences(failures: &[RuleFailure], others: &[String]) -> String {
    let name = |failed: &RuleFailure| match &failed.breakpoint {
        Some(breakpoint) => format!("the breakpoint at {}", breakpoint.label()),
        None => "the exceptions".to_owned(),
    };
    let failed: Vec<String> = failures.iter().map(|failed| failed.sentence(&name(failed))).collect();
    lines([notes(&failed), notes(others)])
}

fn not_reached(unreached: &[Unreached]) -> String {
    let (shown, more) = unreached::shown(unreached);
    let mut sentences: Vec<String> = shown.iter().map(Unreached::sentence).collect();
    if more > 0 {
        sentences.push(format!("and {more} more that were not reached"));
    }
    notes(&sentences)
}

/// A breakpoint, and what became of it.
pub(super) fn breakpoint(breakpoint: &Breakpoint) -> String {
    let mut text = format!("Breakpoint at {}", breakpoint.label());
    if let Some(condition) = &breakpoint.rule.condition {
        // Writing to a string cannot fail.
        let _ = write!(text, " if {condition}");
    }
    let reason = BreakpointData::from(breakpoint).reason.unwrap_or_default();
    let _ = match &breakpoint.binding {
        Binding::Bound { .. } => write!(text, " (verified)"),
        Binding::Pending(_) => write!(text, " (pending: {reason})"),
        Binding::Refused(_) => write!(text, " (refused: {reason})"),
    };
    let moved = breakpoint.requested_line().filter(|asked| Some(*asked) != breakpoint.line());
    if let Some(asked) = moved {
        let _ = write!(text, " (moved from line {asked}: that line has no code to stop at)");
    }
    text
}

/// `#0 name (file:line)`.
pub(super) fn frame(number: usize, frame: &StackFrame<Reference>) -> String {
    let place = frame.location.as_ref().map(|location| format!(" ({})", short(location)));
    format!("#{number} {}{}", frame.name, place.unwrap_or_default())
}

/// One line for each variable, and how many there are besides.
pub(super) fn variables(children: &Children<Reference>, adapter: &dyn Adapter) -> String {
    let named = |Variable { name, value, .. }: &Variable<Reference>| {
        format!("  {name}: {} = {}", type_name(value, adapter), value.text)
    };
    let shown = children.variables.iter().map(named);
    let more = children.next_start().map(|next| format!("  ... and {} more", children.total - next));
    lines(shown.chain(more))
}

/// What this vocabulary calls the type of a value: a plain object of JavaScript has that of `typeof`.
pub(super) fn type_name<'a>(value: &'a Value<Reference>, adapter: &dyn Adapter) -> &'a str {
    match value.type_name.as_str() {
        "Object" if language_name(adapter) == "node" => "object",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use engine::output::{Category, Output};

    use super::*;

    #[test]
    fn source_window_marks_the_line_and_aligns_numbers() {
        let lines = [(9, "a = 1".to_owned()), (10, String::new()), (11, "  b".to_owned())];
        assert_eq!(window(&lines, 11), "     9 | a = 1\n    10 |\n>>> 11 |   b\n");
        assert_eq!(window(&[], 1), "");
    }

    #[test]
    fn output_reports_what_it_omits() {
        let written = Output::new();
        assert_eq!(output(&written.tail(0, 100)), "");
        written.append(Category::Stdout, "one two\n");
        assert_eq!(output(&written.tail(0, 100)), "Output:\none two\n");
        assert_eq!(output(&written.tail(7, 100)), "");
        assert_eq!(output(&written.tail(0, 4)), "Output (4 bytes before this are left out):\ntwo\n");
    }

    #[test]
    fn empty_parts_add_no_line() {
        let parts = ["a\n", "", "b\nc\n"].map(str::to_owned);
        assert_eq!(lines(parts), "a\nb\nc");
    }
}
