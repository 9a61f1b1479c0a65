//! The entries of a session, grouped for a reader.

use journal::Entry;
use journal::entry::{BreakpointEvent, Event, Failure, Response, State, Variables};

use super::markdown::code;
use crate::log::Log;
use crate::{plain, words};

/// What happened from one change of the program's state to the next.
#[derive(Debug, Default)]
pub(super) struct Chapter {
    /// What the program does; none before it was started.
    pub(super) state: Option<State>,
    /// When that began, in milliseconds since 1970.
    pub(super) time: i64,
    /// What was read, newest first.
    pub(super) read: Vec<Variables>,
    pub(super) items: Vec<Item>,
}

/// Something that happened.
#[derive(Debug)]
pub(super) enum Item {
    Call {
        /// In milliseconds since 1970.
        time: i64,
        tool: String,
        arguments: String,
        /// None while there is none.
        answer: Option<String>,
        is_failed: bool,
    },
    /// In Markdown.
    Note(String),
    /// Pieces that were written one after the other, with escape sequences shown; this many bytes before them are missing.
    Output { category: String, text: String, omitted: u64 },
}

/// Goes through a session.
pub(super) fn chapters(log: &Log, session: usize) -> Vec<Chapter> {
    let mut all = vec![Chapter::default()];
    for number in log.of_session(session) {
        let Some(entry) = log.entry(number) else {
            push(&mut all, Item::Note(format!("An unknown entry: {}", code(&words::of(log, number)))));
            continue;
        };
        if let Event::State(state) = &entry.event {
            all.push(Chapter { state: Some(state.clone()), time: entry.timestamp, ..Chapter::default() });
        } else {
            take(&mut all, log, number, &entry);
        }
    }
    if all.first().is_some_and(|first| first.items.is_empty()) {
        all.remove(0);
    }
    all
}

fn take(all: &mut [Chapter], log: &Log, number: usize, entry: &Entry) {
    let own = log.summary(number);
    let partner = own.and_then(|own| own.partner);
    match &entry.event {
        Event::Call(call) => {
            let answer = partner.and_then(|partner| log.entry(partner));
            let (answer, is_failed) = answer.map(|answer| answered(&answer.event)).unwrap_or_default();
            let arguments = words::arguments(&call.request);
            let (time, tool) = (entry.timestamp, call.tool.clone());
            push(all, Item::Call { time, tool, arguments, answer, is_failed });
        }
        // If the call is no longer in the journal, or did not know its session yet.
        Event::Response(Response { tool, .. }) | Event::Failure(Failure { tool, .. }) => {
            let call = partner.and_then(|partner| log.summary(partner));
            let is_told = call.is_some_and(|call| Some(call.session) == own.map(|own| own.session));
            if !is_told {
                let (answer, is_failed) = answered(&entry.event);
                let call = partner.and_then(|partner| log.entry(partner));
                let arguments = match call.as_deref().map(|call| &call.event) {
                    Some(Event::Call(call)) => words::arguments(&call.request),
                    _ => String::new(),
                };
                let (time, tool) = (entry.timestamp, tool.clone());
                push(all, Item::Call { time, tool, arguments, answer, is_failed });
            }
        }
        Event::Breakpoint(change) if change.event == BreakpointEvent::Verified => {
            let place = words::place(&change.file, change.line);
            let condition = change.condition.as_ref().map(|condition| format!(", where {}", code(condition)));
            let (id, condition) = (code(&change.breakpoint_id), condition.unwrap_or_default());
            push(all, Item::Note(format!("Breakpoint {id} is bound at {}{condition}", code(&place))));
        }
        Event::Variables(read) => {
            if let Some(chapter) = all.last_mut() {
                chapter.read.insert(0, read.clone());
            }
        }
        Event::Output(written) => {
            let more = plain::text(&written.output);
            match all.last_mut().and_then(|chapter| chapter.items.last_mut()) {
                Some(Item::Output { category, text, .. })
                    if *category == written.category && written.omitted == 0 =>
                {
                    text.push_str(&more);
                }
                _ => {
                    let (category, omitted) = (written.category.clone(), written.omitted);
                    push(all, Item::Output { category, text: more, omitted });
                }
            }
        }
        Event::Dropped(dropped) => {
            push(all, Item::Note(format!("{} entries are missing here", dropped.count)));
        }
        _ => {}
    }
}

/// What was answered, and whether that was a failure.
fn answered(event: &Event) -> (Option<String>, bool) {
    match event {
        Event::Response(response) => (Some(words::answer(&response.response)), !response.success),
        Event::Failure(failure) => (Some(failure.error.clone()), true),
        _ => (None, false),
    }
}

fn push(all: &mut [Chapter], item: Item) {
    if let Some(chapter) = all.last_mut() {
        chapter.items.push(item);
    }
}
