//! The output of `test`: the verdict, the first failure with its values, the others in a line each.

use std::fmt::Write;

use tools::render::{AssertionData, BriefData, FailureData, SideData, TestData};

use crate::hang::report::to_text as of_hang;
use crate::probe::report::{short, variables};
use crate::terminal::{
    self, BAD, FAINT, GOOD, HEADING, NAME, PLACE, WARN, WIDTH, fit, styled, truncate_start, wrapped,
};

/// All of it.
pub(super) fn to_text(data: &TestData) -> String {
    let style = match data.verdict.as_str() {
        "passed" => GOOD,
        "failed" => BAD,
        _ => WARN,
    };
    let mut text = styled(style, wrapped(&data.message, ""));
    for shown in data.failure.iter().chain(&data.problem) {
        text.push_str(&failure(shown));
    }
    text.push_str(&briefs("not loaded", &data.problems));
    text.push_str(&briefs("also failed", &data.other_failures));
    if !data.similar.is_empty() {
        text.push_str(&section("there are", &data.similar.join("\n")));
    }
    if let Some(hang) = &data.hang {
        text.push_str(&of_hang(&hang.diagnosis));
    }
    for captured in &data.captured {
        text.push_str(&section(&captured.name, &captured.text));
    }
    text.push_str(&section("output", &data.output));
    for note in &data.notes {
        text.push_str(&styled(WARN, wrapped(&format!("note: {note}"), "")));
    }
    text
}

fn failure(failure: &FailureData) -> String {
    let mut text = String::new();
    if let (Some(file), Some(line)) = (&failure.file, failure.line) {
        let place = format!("{}:{line}", short(file));
        let inside = failure.function.as_ref().map(|function| format!("in {function}"));
        let phase = failure.phase.as_deref().filter(|phase| *phase != "call");
        let phase = phase.map(|phase| format!(" ({phase})")).unwrap_or_default();
        let inside = inside.unwrap_or_default() + &phase;
        let _ =
            writeln!(text, "{} {}", styled(PLACE, truncate_start(&place, WIDTH - 1)), styled(NAME, inside));
    }
    text.push_str(&source(&failure.source));
    let kind = failure.exception.as_ref().map(|exception| format!("{}: ", exception.type_name));
    let headline = format!("{}{}", kind.unwrap_or_default(), failure.message);
    text.push_str(&styled(BAD, wrapped(&headline, "")));
    if let Some(assertion) = &failure.assertion {
        text.push_str(&sides(assertion));
    }
    for frame in &failure.frames {
        let locals = variables(&frame.locals, frame.more_locals, "  ");
        if !locals.is_empty() {
            let _ =
                write!(text, "{}\n{locals}", styled(HEADING, format_args!("locals of {}", frame.frame.name)));
        }
    }
    text.push_str(&section(
        "stack",
        &failure.stack.iter().map(|frame| relative(frame)).collect::<Vec<_>>().join("\n"),
    ));
    for captured in &failure.captured {
        text.push_str(&section(&captured.name, &captured.text));
    }
    text
}

/// A line of the stack, such as `total /home/me/shop/cart.py:12`, with the path as [`short`] has it.
fn relative(frame: &str) -> String {
    frame
        .rsplit_once(' ')
        .map_or_else(|| frame.to_owned(), |(name, place)| format!("{name} {}", short(place)))
}

fn sides(assertion: &AssertionData) -> String {
    let mut text = String::new();
    let named = [("left", &assertion.left), ("right", &assertion.right)];
    for (name, side) in named {
        let Some(SideData { expression, value: Some(value), type_name, .. }) = side else { continue };
        let shown = match expression {
            Some(expression) if expression != value => {
                format!("{expression} = {}", terminal::value(expression, type_name.as_deref(), value))
            }
            _ => value.clone(),
        };
        text.push_str(&styled(GOOD, wrapped(&format!("{name}: {shown}"), "  ")));
    }
    text
}

fn source(source: &str) -> String {
    let mut text = String::new();
    for line in source.lines() {
        let style = if line.starts_with('>') { PLACE } else { FAINT };
        let _ = writeln!(text, "{}", styled(style, fit(line, WIDTH)));
    }
    text
}

fn briefs(name: &str, briefs: &[BriefData]) -> String {
    let line = |brief: &BriefData| {
        let place = match (&brief.file, brief.line) {
            (Some(file), Some(line)) => format!(" at {}:{line}", short(file)),
            _ => String::new(),
        };
        let kind = brief.exception.as_ref().map(|kind| format!("{kind}: ")).unwrap_or_default();
        let message = brief.message.lines().next().unwrap_or_default();
        format!("{}{place}: {kind}{message}", brief.name)
    };
    section(name, &briefs.iter().map(line).collect::<Vec<_>>().join("\n"))
}

fn section(name: &str, text: &str) -> String {
    let text = terminal::output(text);
    if text.is_empty() { String::new() } else { format!("{}\n{text}", styled(HEADING, name)) }
}
