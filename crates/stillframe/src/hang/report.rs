//! The output of `hang`: the verdict, its location, and its evidence.

use std::fmt::Write;

use tools::ops::hang::alike;
use tools::render::{HangReport, LoopData, PlaceData, WaitData};
use unicode_width::UnicodeWidthStr;

use crate::probe::report::short;
use crate::terminal::{
    self, BAD, FAINT, GOOD, HEADING, NAME, PLACE, Style, WARN, WIDTH, fit, styled, truncate_start, wrapped,
};

/// The verdict first.
pub(crate) fn to_text(report: &HangReport) -> String {
    let mut message = report.report.message.clone();
    if let Some(place) = &report.hung_at {
        message = message.replace(&place.file, &short(&place.file));
    }
    let mut text = styled(style(report), wrapped(&message, ""));
    for line in report.report.source.lines().filter(|_| report.hung) {
        let style = if line.starts_with('>') { PLACE } else { FAINT };
        let _ = writeln!(text, "{}", styled(style, fit(line, WIDTH)));
    }
    text.push_str(&section("because", &list(&report.evidence)));
    text.push_str(&report.found.as_ref().map(of_loop).unwrap_or_default());
    let waits = report.waits_for.iter().map(|wait| (wait.thread.clone().unwrap_or_default(), of_wait(wait)));
    let of_threads = |(names, wait): (String, String)| {
        wrapped(&if names.is_empty() { wait } else { format!("{names}: {wait}") }, "  ")
    };
    text.push_str(&section(
        "waits for",
        &merged(waits.collect()).into_iter().map(of_threads).collect::<String>(),
    ));
    text.push_str(&section("stack", &stack(&report.stack, "  ")));
    if report.threads.len() > 1 {
        let threads = report.threads.iter().map(|thread| {
            let share = thread.cpu_percent.map(|percent| format!(" {percent} %")).unwrap_or_default();
            let stack = stack(&thread.stack, "    ");
            (thread.name.clone(), format!("{}\n{stack}", styled(FAINT, share)))
        });
        let of_thread = |(names, stack): (String, String)| {
            let name = styled(NAME, fit(&names, WIDTH - 10));
            format!("  {name}{stack}")
        };
        text.push_str(&section(
            "threads",
            &merged(threads.collect()).into_iter().map(of_thread).collect::<String>(),
        ));
    }
    let calls: Vec<String> = report.calls.lines().map(|line| format!("  {}", fit(line, WIDTH - 2))).collect();
    let calls = if calls.is_empty() { String::new() } else { calls.join("\n") + "\n" };
    text.push_str(&section(&format!("{} samples", report.samples), &calls));
    text.push_str(&section("output", &terminal::output(&report.report.output)));
    for note in &report.report.notes {
        text.push_str(&styled(WARN, wrapped(&format!("note: {note}"), "")));
    }
    text
}

fn style(report: &HangReport) -> Style {
    match &*report.verdict {
        "completed" if report.report.exit_code == Some(0) => GOOD,
        "failed" | "busy_loop" | "busy_event_loop" | "deadlocked" => BAD,
        _ => WARN,
    }
}

fn of_loop(found: &LoopData) -> String {
    let mut text = String::new();
    for change in &found.changing {
        let value = |text| terminal::value(&change.name, None, text);
        let line = format!("{}: {} → {}", change.name, value(&change.first), value(&change.last));
        let _ = writeln!(text, "  {}", fit(&line, WIDTH - 2));
    }
    for value in &found.steady {
        let line = format!("{}: always {}", value.name, terminal::value(&value.name, None, &value.value));
        let _ = writeln!(text, "  {}", styled(FAINT, fit(&line, WIDTH - 2)));
    }
    for line in &found.lines {
        let _ = writeln!(
            text,
            "  {}",
            styled(FAINT, format_args!("line {}: {} samples", line.line, line.samples))
        );
    }
    section(&format!("loop, lines {}-{} of {}", found.start_line, found.end_line, short(&found.file)), &text)
}

fn of_wait(wait: &WaitData) -> String {
    let place = wait.at.as_deref().map(|at| format!(" at {}", short(at))).unwrap_or_default();
    format!("{}{place}", wait.what)
}

/// Names with a text each. Of many, those with the same text are one.
fn merged(items: Vec<(String, String)>) -> Vec<(String, String)> {
    const MANY: usize = 7;
    let named = |(names, text): (Vec<String>, String)| match names.as_slice() {
        [first, others @ ..] if others.len() > 2 => {
            (format!("{} and {} others", fit(first, WIDTH - 30), others.len()), text)
        }
        _ => (names.join(", "), text),
    };
    alike(items, MANY).into_iter().map(named).collect()
}

fn stack(frames: &[PlaceData], indent: &str) -> String {
    let mut text = String::new();
    for frame in frames.iter().take(10) {
        let place =
            if frame.line > 0 { format!("{}:{}", short(&frame.file), frame.line) } else { String::new() };
        let room = WIDTH - indent.len();
        let (name, place) = (fit(&frame.function, room), truncate_start(&place, room - 4));
        let gap =
            if name.width() + place.width() < room { " ".to_owned() } else { format!("\n{indent}    ") };
        let _ = writeln!(text, "{indent}{}{gap}{}", styled(NAME, name), styled(FAINT, place));
    }
    if frames.len() > 10 {
        let _ = writeln!(text, "{indent}{}", styled(FAINT, format_args!("… and {} more", frames.len() - 10)));
    }
    text
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| wrapped(line, "  ")).collect()
}

fn section(name: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{}\n{text}", styled(HEADING, name)) }
}
