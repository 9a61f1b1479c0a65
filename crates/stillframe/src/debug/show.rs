//! The output of `debug`: the answers of tools, as readable text or as JSON.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tools::render::{
    BreakpointData, FrameData, LineData, StopReport, ValueReadInfo, VariableData, window as numbered,
};

use super::words::for_shell;
use crate::one_shot::CommandOutput;
use crate::probe::report::{ProbeReport, short, short_place, variables as variable_lines};
use crate::terminal::{FAINT, GOOD, HEADING, NAME, WARN, fit, styled, wrapped};

const ENDED: u8 = 3;
const EXCEPTION: u8 = 4;
const STILL_RUNNING: u8 = 5;

/// A session, as commands need it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionData {
    pub(super) name: String,
    pub(super) language: String,
    /// The state of its program, in the words of stop reports.
    #[serde(rename(deserialize = "execution"))]
    pub(super) state: String,
    /// Its name among those of its folder.
    #[serde(default)]
    pub(super) session: Option<String>,
    /// Where the program has stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<StopReport>,
}

/// An answer, and its text. Redactions are reported there, too.
fn shown(data: Value, mut text: String) -> CommandOutput {
    if let Some(note) = data.get("hidden").and_then(Value::as_str) {
        let _ = writeln!(text, "hidden: {note}");
    }
    CommandOutput { text, data, code: 0, hidden: 0 }
}

fn note(text: &str) -> String {
    styled(WARN, wrapped(&format!("note: {text}"), ""))
}

/// Where the program has stopped, or how it has ended.
pub(super) fn stop(data: Value) -> anyhow::Result<CommandOutput> {
    let stop = StopReport::deserialize(&data)?;
    let code = match (stop.state.as_str(), stop.reason.as_deref()) {
        ("ended", _) => ENDED,
        ("running", _) => STILL_RUNNING,
        (_, Some("exception")) => EXCEPTION,
        _ => 0,
    };
    Ok(CommandOutput { code, ..shown(data, stop_text(stop)) })
}

/// That a program was attached to; it may be running, and is meant to.
pub(super) fn attached(data: Value) -> anyhow::Result<CommandOutput> {
    let shown = stop(data)?;
    Ok(CommandOutput { code: if shown.code == STILL_RUNNING { 0 } else { shown.code }, ..shown })
}

fn stop_text(mut stop: StopReport) -> String {
    stop.notes.iter_mut().for_each(|note| *note = for_shell(note));
    // The user knows what the command started.
    stop.message = for_shell(match stop.message.split_once("Current state: ") {
        Some((_, "running")) => {
            "The program is running; call continue_execution to wait for it, or pause_execution to stop it"
        }
        Some((_, state)) => state.strip_prefix("ended. ").unwrap_or(state),
        None => &stop.message,
    });
    let message = stop.message.clone();
    ProbeReport { stop, callers: Vec::new(), values: Vec::new(), threads: Vec::new() }.to_text(&message)
}

/// Reports that the session is closed, without its ID, which users of the shell do not see.
pub(super) fn closed(data: Value) -> CommandOutput {
    shown(data, "The debug session is closed\n".to_owned())
}

/// What was done, in a sentence.
pub(super) fn message(data: Value) -> CommandOutput {
    let message = data.get("message").and_then(Value::as_str).unwrap_or_default();
    let text = wrapped(&for_shell(message), "");
    shown(data, text)
}

/// A value, and nothing else.
pub(super) fn value(data: Value) -> anyhow::Result<CommandOutput> {
    #[derive(Deserialize)]
    struct Evaluated {
        result: String,
        #[serde(flatten)]
        cut: ValueReadInfo,
    }
    let Evaluated { result, cut } = Evaluated::deserialize(&data)?;
    let mut text = result + "\n";
    if cut.truncated {
        let all = cut.length.map(|length| format!(" of {length} characters")).unwrap_or_default();
        text.push_str(&note(&format!("only the beginning{all} is shown; evaluate a part of it")));
    }
    text.extend(cut.note.as_deref().map(note));
    Ok(shown(data, text))
}

/// The variables of a frame.
pub(super) fn variables(data: Value) -> anyhow::Result<CommandOutput> {
    #[derive(Deserialize)]
    struct Variables {
        variables: Vec<VariableData>,
        total: u64,
    }
    let Variables { variables, total } = Variables::deserialize(&data)?;
    let more = total.saturating_sub(variables.len() as u64);
    let text = match variable_lines(&variables, Some(more).filter(|more| *more > 0), "") {
        none if none.is_empty() => "no variables\n".to_owned(),
        lines => lines,
    };
    Ok(shown(data, text))
}

/// The frames of a stack, by their numbers.
pub(super) fn stack(data: Value) -> anyhow::Result<CommandOutput> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Stack {
        stack_frames: Vec<FrameData>,
        #[serde(default)]
        hidden_frames: usize,
    }
    let Stack { stack_frames, hidden_frames } = Stack::deserialize(&data)?;
    let mut text = String::new();
    for (number, frame) in stack_frames.iter().enumerate() {
        let place = short_place(&frame.file, frame.line);
        let number = styled(HEADING, format_args!("{number:>2}"));
        let _ = writeln!(text, "{number} {} {}", styled(NAME, fit(&frame.name, 60)), styled(FAINT, place));
    }
    if hidden_frames > 0 {
        let _ = writeln!(text, "   {}", styled(FAINT, format_args!("and {hidden_frames} library frames")));
    }
    Ok(shown(data, text))
}

/// What the program has written, and where the rest of it is.
pub(super) fn output(data: Value) -> anyhow::Result<CommandOutput> {
    #[derive(Deserialize)]
    struct OutputPart {
        category: String,
        text: String,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct OutputPage {
        output: Vec<OutputPart>,
        next_since: u64,
        has_more: bool,
        dropped: u64,
    }
    let written = OutputPage::deserialize(&data)?;
    let mut text = String::new();
    if written.dropped > 0 {
        text.push_str(&note(&format!("{} earlier bytes were dropped", written.dropped)));
    }
    let end_line = |text: &mut String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    for piece in written.output {
        if piece.category != "stdout" {
            end_line(&mut text);
            let _ = write!(text, "[{}] ", piece.category);
        }
        text.push_str(&piece.text);
    }
    end_line(&mut text);
    if written.has_more {
        text.push_str(&note(&format!("more output: print it with --since {}", written.next_since)));
    }
    Ok(shown(data, text))
}

/// A session, and where its program has stopped.
pub(super) fn session(session: SessionData) -> anyhow::Result<CommandOutput> {
    let data = serde_json::to_value(&session)?;
    let line = session_line(&session);
    Ok(shown(data, line + &session.stop.map(stop_text).unwrap_or_default()))
}

/// Sessions of a folder, a line each.
pub(super) fn sessions(sessions: &[SessionData]) -> CommandOutput {
    let mut text = String::new();
    for session in sessions {
        let name = session.session.as_ref().map(|name| format!("--session {name}: ")).unwrap_or_default();
        let _ = write!(text, "{}{}", styled(HEADING, name), session_line(session));
    }
    if sessions.is_empty() {
        text.push_str("no debug session is open here\n");
    }
    shown(json!({ "sessions": sessions }), text)
}

fn session_line(session: &SessionData) -> String {
    let state = match session.state.as_str() {
        "ended" => "has ended".to_owned(),
        state => format!("is {state}"),
    };
    format!("{} ({}) {state}\n", styled(NAME, fit(&session.name, 60)), session.language)
}

/// A breakpoint with the lines around it.
pub(super) fn breakpoint(data: Value) -> anyhow::Result<CommandOutput> {
    let breakpoint = BreakpointData::deserialize(&data)?;
    let lines = data.pointer("/context/surrounding").map(Vec::<LineData>::deserialize).transpose()?;
    let text = breakpoint_line(&breakpoint) + &window(lines.unwrap_or_default(), breakpoint.line);
    Ok(shown(data, text))
}

/// The lines around a place, as a stop report has them.
pub(super) fn window(lines: Vec<LineData>, current: Option<u32>) -> String {
    let lines: Vec<_> = lines.into_iter().map(|line| (line.line, line.content)).collect();
    numbered(&lines, current.unwrap_or_default())
}

/// Breakpoints, a line each.
pub(super) fn breakpoints(data: Value) -> anyhow::Result<CommandOutput> {
    #[derive(Deserialize)]
    struct Exceptions {
        mode: String,
    }
    #[derive(Deserialize)]
    struct Breakpoints {
        breakpoints: Vec<BreakpointData>,
        exceptions: Exceptions,
    }
    let Breakpoints { breakpoints, exceptions } = Breakpoints::deserialize(&data)?;
    let mut text: String = breakpoints.iter().map(breakpoint_line).collect();
    if text.is_empty() {
        text.push_str("no breakpoints\n");
    }
    let _ = writeln!(text, "exceptions: {}", exceptions.mode);
    Ok(shown(data, text))
}

fn breakpoint_line(breakpoint: &BreakpointData) -> String {
    let line = breakpoint.line.map(|line| format!(":{line}")).unwrap_or_default();
    let file = breakpoint.file.as_ref().map(|file| format!("{}{line}", short(file)));
    let place = match (file, &breakpoint.function) {
        (Some(file), Some(function)) => format!("{file} in {function}"),
        (file, function) => file.or_else(|| function.clone()).unwrap_or_default(),
    };
    let mut text = format!("{} {place}", styled(HEADING, &breakpoint.breakpoint_id));
    let rules = [
        ("if", &breakpoint.condition),
        ("at hits", &breakpoint.hit_condition),
        ("log", &breakpoint.log_message),
    ];
    for (word, rule) in rules {
        let _ = rule.as_ref().map_or(Ok(()), |rule| write!(text, ", {word} {}", fit(rule, 80)));
    }
    if let Some(asked) = breakpoint.requested_line.filter(|asked| Some(*asked) != breakpoint.line) {
        let _ = write!(text, ", because line {asked} has no code to stop at");
    }
    let bound = match &breakpoint.reason {
        None if breakpoint.hits > 0 => styled(GOOD, format_args!("bound, hits: {}", breakpoint.hits)),
        None => styled(GOOD, "bound"),
        Some(reason) => styled(WARN, format_args!("not bound: {}", for_shell(reason))),
    };
    let _ = writeln!(text, ": {bound}");
    if let Some(failure) = &breakpoint.failure {
        text.push_str(&note(&format!("its condition failed {failure}")));
    }
    text
}
