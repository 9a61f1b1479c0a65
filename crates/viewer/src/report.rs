//! A session as a document in Markdown: the calls, the stops, the values.
//!
//! All content of the journal is in code, inline or in blocks, with more backticks around it than it contains. So
//! nothing that a program or a model wrote is interpreted as Markdown or HTML.

mod chapters;
mod markdown;

use std::fmt::Write;

use journal::entry::{Location, State, StateEvent};

use self::chapters::{Chapter, Item, chapters};
use self::markdown::{block, code, excerpt};
use crate::log::{LOST, Log};
use crate::moment::{ComparedVariable, walk};
use crate::{plain, words};

/// How many frames are shown.
const FRAMES: usize = 8;

/// The calls, stops and values of a session (an index into [`Log::sessions`]). Older entries must already be there
/// ([`Log::complete`]). Empty for a session that does not exist.
pub fn report(log: &Log, session: usize) -> String {
    let Some(known) = log.sessions().get(session) else { return String::new() };
    let began = log.summary(known.first).map_or(0, |first| first.timestamp);
    let chapters = chapters(log, session);
    let mut text =
        format!("# Session {}\n\n", code(if known.name.is_empty() { &known.id } else { &known.name }));
    text.push_str(&head(log, session, &chapters));
    let mut stops = 0;
    let mut before = None;
    for chapter in &chapters {
        text.push_str(&heading(chapter, began, &mut stops));
        if let Some(state) = chapter.state.as_ref().filter(|state| state.event != StateEvent::Running) {
            let now = (state, &*chapter.read);
            if state.event == StateEvent::Paused {
                text.push_str(&stop(state, &walk::variables(now, before)));
            }
            before = Some(now);
        }
        text.push_str(&items(&chapter.items, began));
    }
    text
}

/// The facts before the chapters.
fn head(log: &Log, session: usize, chapters: &[Chapter]) -> String {
    let Some(known) = log.sessions().get(session) else { return String::new() };
    let time = |number: usize| log.summary(number).map_or(0, |summary| summary.timestamp);
    let (began, last) = (time(known.first), time(known.last));
    let when = jiff::Timestamp::from_millisecond(began).unwrap_or_default().strftime("%Y-%m-%d %H:%M:%S UTC");
    let mut lines = vec![format!("Session: {}", code(&known.id))];
    if !known.language.is_empty() {
        lines.push(format!("Language: {}", code(&known.language)));
    }
    lines.push(format!("Began: {when}"));
    lines.push(format!("Lasted: {}", words::duration(u64::try_from(last - began).unwrap_or(0))));
    let end = chapters.iter().rev().find_map(|chapter| chapter.state.as_ref());
    lines.push(match end {
        Some(state) if state.event == StateEvent::Stopped => {
            format!("Ended: {}", code(state.reason.as_deref().unwrap_or("the program is gone")))
        }
        _ if known.state == LOST => "Not ended: its server is gone".to_owned(),
        _ if known.state == "closed" => "Ended: the session was closed".to_owned(),
        _ => format!("Not ended: {} at the last entry", known.state),
    });
    let count = |is_one: fn(&Item) -> bool| {
        chapters.iter().flat_map(|chapter| &chapter.items).filter(|item| is_one(item)).count()
    };
    let calls = count(|item| matches!(item, Item::Call { .. }));
    let failed = count(|item| matches!(item, Item::Call { is_failed: true, .. }));
    let is_stop = |state: &State| state.event == StateEvent::Paused;
    let stops = chapters.iter().filter(|chapter| chapter.state.as_ref().is_some_and(is_stop)).count();
    lines.push(format!("Tool calls: {calls}, of which {failed} failed; stops: {stops}"));
    format!("- {}\n", lines.join("\n- "))
}

fn heading(chapter: &Chapter, began: i64, stops: &mut usize) -> String {
    let Some(state) = &chapter.state else { return "\n## Preparations\n".to_owned() };
    if state.event == StateEvent::Running && chapter.items.is_empty() {
        return String::new();
    }
    let title = match state.event {
        StateEvent::Running => "Running".to_owned(),
        StateEvent::Stopped => {
            format!("End: {}", code(state.reason.as_deref().unwrap_or("the program is gone")))
        }
        StateEvent::Paused => {
            *stops += 1;
            let place = state.location.as_ref().or(state.stack.first());
            let place = place.map(|place| format!(" at {}", code(&whereabouts(place)))).unwrap_or_default();
            format!("Stop {stops}: {}{place}", code(state.reason.as_deref().unwrap_or("stopped")))
        }
    };
    format!("\n## {title}\n\n{} after the start.\n", after(began, chapter.time))
}

fn stop(state: &State, variables: &[ComparedVariable]) -> String {
    let mut text = String::new();
    if let Some(description) = &state.description {
        let _ = write!(text, "\n{}", block("text", &plain::text(description)));
    }
    if let Some(source) = &state.source {
        let at = state.location.as_ref().map_or(0, |location| location.line);
        let _ = write!(text, "\n{}", block("text", &excerpt(source, at)));
    }
    if state.stack.len() > 1 {
        let callers: Vec<String> =
            state.stack.iter().skip(1).take(FRAMES).map(|place| code(&whereabouts(place))).collect();
        let more = state.stack.len().saturating_sub(1 + FRAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = write!(text, "\nCalled from {}{more}.\n", callers.join(", "));
    }
    if !variables.is_empty() {
        let lines: Vec<String> = variables.iter().map(variable).collect();
        let _ = write!(text, "\nVariables:\n\n{}", block("text", &lines.join("\n")));
    }
    text
}

fn variable(compared: &ComparedVariable) -> String {
    let ComparedVariable { variable, before, is_new, .. } = compared;
    let type_name =
        if variable.type_name.is_empty() { String::new() } else { format!(": {}", variable.type_name) };
    let change = match before {
        Some(before) if *before != variable.value => format!("    (was {before})"),
        None if *is_new => "    (new)".to_owned(),
        _ => String::new(),
    };
    format!("{}{type_name} = {}{change}", variable.name, variable.value)
}

fn items(items: &[Item], began: i64) -> String {
    let mut text = String::new();
    let mut is_list = false;
    for item in items {
        let is_bullet = !matches!(item, Item::Output { .. });
        if !is_bullet || !is_list {
            text.push('\n');
        }
        is_list = is_bullet;
        let told = match item {
            Item::Call { time, tool, arguments, answer, is_failed } => {
                let asked =
                    if arguments.is_empty() { String::new() } else { format!(" {}", code(arguments)) };
                let answered = match answer {
                    Some(answer) if *is_failed => format!("**failed:** {}", code(answer)),
                    Some(answer) => code(answer),
                    None => "no answer".to_owned(),
                };
                format!("- +{} {}{asked} → {answered}\n", after(began, *time), code(tool))
            }
            Item::Note(note) => format!("- {note}\n"),
            Item::Output { category, text, omitted } => {
                let omitted =
                    if *omitted > 0 { format!(" ({omitted} bytes are omitted)") } else { String::new() };
                format!("{}{omitted}:\n\n{}", code(category), block("text", &markdown::shortened(text)))
            }
        };
        text.push_str(&told);
    }
    text
}

fn whereabouts(place: &Location) -> String {
    let file = words::place(&place.file, place.line);
    if place.function.is_empty() { file } else { format!("{file} in {}", place.function) }
}

fn after(began: i64, time: i64) -> String {
    words::duration(u64::try_from(time - began).unwrap_or(0))
}

#[cfg(test)]
mod tests;
