//! One moment, and one entry, as the page shows them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use journal::entry::{BreakpointChange, Location};
use serde::{Deserialize, Serialize};

use super::WebState;
use crate::clock::Clock;
use crate::lexer::{self, Grammar, Lexer, Word};
use crate::log::Log;
use crate::moment::shown::OutputLine;
use crate::moment::{ComparedVariable, Moment};
use crate::readable::readable;
use crate::source_context;
use crate::timeline::Filter;
use crate::words;

/// Which moment: the entry at a place, none for the end; of a session, none or empty for the one that acts there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MomentQuery {
    /// The row of the entry shows the result, too.
    #[serde(default)]
    with_effects: bool,
    session: Option<String>,
    at: Option<i64>,
}

/// A session at one entry.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MomentView {
    /// The place of the entry; none where there is none.
    at: Option<i64>,
    time: String,
    session_id: Option<String>,
    session: String,
    language: String,
    /// As [`Moment::state`]; empty without a session.
    state: &'static str,
    reason: Option<String>,
    is_past: bool,
    is_exception: bool,
    description: Option<String>,
    location: Option<Location>,
    source: Vec<SourceLine>,
    /// Why there is no source, and why there are no variables.
    without_source: &'static str,
    without_variables: &'static str,
    breakpoints: Vec<BreakpointChange>,
    stack: Vec<Location>,
    variables: Vec<Variable>,
    output: Vec<Output>,
    /// As [`Moment::editor`].
    editor: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SourceLine {
    number: u64,
    /// Pieces of the line, each with its class.
    pieces: Vec<(&'static str, String)>,
    is_current: bool,
    /// There is a breakpoint, which is bound or not.
    breakpoint: Option<bool>,
    /// The values of variables that it names: the name, the value, whether that has changed.
    values: Vec<(String, String, bool)>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Variable {
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    value: String,
    /// At the stop before, if it was another value.
    before: Option<String>,
    is_new: bool,
    /// As far as the journal has them.
    parts: Vec<Variable>,
    /// How many more there are.
    more: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// Empty for our remarks.
    category: String,
    text: String,
    /// What follows is of the next run.
    is_divider: bool,
}

/// What was the case.
pub(super) async fn moment(
    State(site): State<Arc<WebState>>,
    Query(which): Query<MomentQuery>,
) -> Result<Json<MomentView>, StatusCode> {
    let clock = site.clock.clone();
    site.reader.ask(move |log| Json(shown(log, &which, &clock))).await
}

/// Which entry.
#[derive(Debug, Deserialize)]
pub(super) struct Address {
    at: i64,
    /// The raw entry.
    #[serde(default)]
    raw: bool,
}

/// An entry, with what it answers or is answered with.
#[derive(Debug, Serialize)]
pub(super) struct EntryDetail {
    title: String,
    lines: Vec<Vec<(&'static str, String)>>,
}

/// An entry, whole. Not found where there is none.
pub(super) async fn entry(
    State(site): State<Arc<WebState>>,
    Query(Address { at, raw }): Query<Address>,
) -> Result<Json<EntryDetail>, StatusCode> {
    let clock = site.clock.clone();
    let whole = site.reader.ask(move |log| {
        let number = log.number(at)?;
        let title = format!("Entry {} of {}", number + 1, log.len());
        if raw {
            let mut lexer = Lexer::new(&lexer::JSON);
            let lines = words::whole(log, number);
            return Some(EntryDetail {
                title,
                lines: lines.iter().map(|line| pieces(&mut lexer, line)).collect(),
            });
        }
        // What is not indented is a heading.
        let class = |line: &str| if line.starts_with(' ') { "" } else { "strong" };
        let lines = readable(log, number, &clock).into_iter().map(|line| vec![(class(&line), line)]);
        Some(EntryDetail { title, lines: lines.collect() })
    });
    whole.await?.map(Json).ok_or(StatusCode::NOT_FOUND)
}

fn shown(log: &Log, which: &MomentQuery, clock: &Clock) -> MomentView {
    let last = log.len().checked_sub(1);
    let number = which.at.map_or(last, |at| {
        let first = (at < log.place(0)).then_some(0);
        log.number(at).or(first).or(last)
    });
    let Some(number) = number else { return MomentView::default() };
    let place = log.place(number);
    let number = if which.with_effects { Filter::default().end_of(log, number) } else { number };
    let time = log.summary(number).map(|summary| clock.time(summary.timestamp)).unwrap_or_default();
    let session = match which.session.as_deref().filter(|id| !id.is_empty()) {
        Some(id) => log.sessions().iter().position(|known| known.id == id),
        None if which.at.is_none() => source_context::acting(log),
        None => source_context::session_near(log, number),
    };
    let Some(session) = session else { return MomentView { at: Some(place), time, ..MomentView::default() } };
    let moment = Moment::at(log, session, source_context::with_what_was_read(log, session, number));
    let session_id = log.sessions().get(session).map(|known| known.id.clone());
    MomentView { at: Some(place), time, session_id, ..MomentView::of(moment) }
}

impl MomentView {
    fn of(moment: Moment) -> Self {
        let output = moment.output_lines().into_iter();
        Self {
            source: source(&moment),
            without_source: moment.without_source(),
            without_variables: moment.without_variables(),
            output: output
                .map(|OutputLine { category, text, is_divider }| Output {
                    category: category.unwrap_or_default(),
                    text,
                    is_divider,
                })
                .collect(),
            session: moment.session_name,
            language: moment.language,
            state: moment.state,
            reason: moment.reason,
            is_past: moment.is_past,
            is_exception: moment.is_exception,
            description: moment.description,
            location: moment.location,
            breakpoints: moment.breakpoints,
            stack: moment.stack,
            variables: moment.variables.into_iter().map(Variable::of).collect(),
            editor: moment.editor,
            ..Self::default()
        }
    }
}

impl Variable {
    fn of(compared: ComparedVariable) -> Self {
        Self {
            before: compared.before,
            is_new: compared.is_new,
            parts: compared.parts.into_iter().map(Self::of).collect(),
            more: compared.more,
            name: compared.variable.name,
            type_name: compared.variable.type_name,
            value: compared.variable.value,
        }
    }
}

fn source(moment: &Moment) -> Vec<SourceLine> {
    let (Some(location), Some(source)) = (&moment.location, &moment.source) else { return Vec::new() };
    let mut lexer = Lexer::new(Grammar::of_file(&location.file));
    let breakpoints = moment.breakpoints_here();
    let values = moment.inline_values();
    let value = |seen: &&ComparedVariable| {
        (seen.variable.name.clone(), seen.variable.value.clone(), seen.has_changed())
    };
    let numbered = (u64::from(source.first_line)..).zip(&source.lines);
    let lines = numbered.map(|(number, text)| SourceLine {
        values: values.get(&number).into_iter().flatten().map(value).collect(),
        number,
        pieces: pieces(&mut lexer, text),
        is_current: number == u64::from(location.line),
        breakpoint: breakpoints.get(&number).copied(),
    });
    lines.collect()
}

/// The pieces of a line, with neighbours of one class as one.
fn pieces(lexer: &mut Lexer, line: &str) -> Vec<(&'static str, String)> {
    let mut pieces: Vec<(&'static str, String)> = Vec::new();
    for (text, word) in lexer.line(line) {
        let class = class(word);
        match pieces.last_mut().filter(|(before, _)| *before == class) {
            Some((_, before)) => before.push_str(text),
            None => pieces.push((class, text.to_owned())),
        }
    }
    pieces
}

fn class(word: Word) -> &'static str {
    match word {
        Word::Plain => "",
        Word::Keyword => "keyword",
        Word::Literal => "literal",
        Word::Number => "number",
        Word::Comment => "comment",
        Word::Name => "name",
    }
}
