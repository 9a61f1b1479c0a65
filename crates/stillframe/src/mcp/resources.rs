//! What there is of each session as resources that can be read and subscribed to: its output, its last stop, the source
//! where it is stopped, and its part of the journal.

use engine::session::Session;
use engine::sessions::Sessions;
use journal::visible::visible;
use rmcp::ErrorData;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::json;
use tools::ops::current;
use tools::render::output_text;
use tools::{Context, hide_in_data, hide_in_text, show_in_data, show_in_text};

use super::subscriptions::Changes;

/// What all addresses begin with, as in mcp-debugger: its clients make them up from the id of a session.
const BEGIN: &str = "debug://sessions/";
/// What they may begin with, too. One name is listed for each thing.
const OTHER_BEGIN: &str = "stillframe://sessions/";

/// What can be read of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Output,
    Stop,
    Source,
    Journal,
}

/// One part, as it is listed.
struct Row {
    part: Part,
    /// What its addresses end with.
    end: &'static str,
    title: &'static str,
    about: &'static str,
    mime: &'static str,
}

const ROWS: [Row; 4] = [
    Row {
        part: Part::Output,
        end: "/output",
        title: "Output",
        about: "The program's output: standard output, standard error, logpoints.",
        mime: "text/plain",
    },
    Row {
        part: Part::Stop,
        end: "/stop",
        title: "Last stop",
        about: "The report of the current stop: location, source, stack, locals; or that it is running or has ended.",
        mime: "application/json",
    },
    Row {
        part: Part::Source,
        end: "/source",
        title: "Source",
        about: "The source file where the program is stopped.",
        mime: "text/plain",
    },
    Row {
        part: Part::Journal,
        end: "/journal",
        title: "Journal",
        about: "The session's last entries in the journal: calls, stops, output, breakpoints; a line of JSON each.",
        mime: "application/x-ndjson",
    },
];

impl Row {
    fn uri(&self, session: &str) -> String {
        format!("{BEGIN}{session}{}", self.end)
    }

    fn template(&self) -> ResourceTemplate {
        let name = format!("session-{}", self.end.trim_start_matches('/'));
        ResourceTemplate::new(self.uri("{sessionId}"), name)
            .with_title(format!("{} of a debug session", self.title))
            .with_description(self.about)
            .with_mime_type(self.mime)
    }
}

/// The templates of all addresses.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    ROWS.iter().map(Row::template).collect()
}

/// Whether this is the template of an address that names a session.
pub(super) fn is_template(uri: &str) -> bool {
    ROWS.iter().any(|row| row.uri("{sessionId}") == uri)
}

/// The session whose journal is at an address.
pub(crate) fn journal_session(uri: &str) -> Option<&str> {
    uri.strip_prefix(BEGIN).or_else(|| uri.strip_prefix(OTHER_BEGIN))?.strip_suffix("/journal")
}

/// Those of the open sessions.
pub(super) fn list(sessions: &Sessions) -> Vec<Resource> {
    let has_journal = sessions.journal().is_kept();
    let rows = || ROWS.iter().filter(move |row| has_journal || row.part != Part::Journal);
    let resource = |session: &Session, row: &Row| {
        let name = format!("{} of {}", row.title, visible(session.name()));
        Resource::new(row.uri(session.id().as_str()), name.clone()).with_title(name).with_mime_type(row.mime)
    };
    let open = sessions.list();
    open.iter().flat_map(|session| rows().map(move |row| resource(session, row))).collect()
}

/// What can be read at an address.
pub(super) struct ResourceTarget {
    session: Session,
    part: Part,
    mime: &'static str,
}

fn not_found(problem: String, uri: &str) -> ErrorData {
    ErrorData::resource_not_found(problem, Some(json!({ "uri": uri })))
}

/// What is at an address.
pub(super) fn find(sessions: &Sessions, uri: &str) -> Result<ResourceTarget, ErrorData> {
    let rest = uri.strip_prefix(BEGIN).or_else(|| uri.strip_prefix(OTHER_BEGIN));
    let found = rest.and_then(|rest| {
        let row = ROWS.iter().find(|row| rest.ends_with(row.end))?;
        let session = sessions.find(rest.strip_suffix(row.end)?)?;
        // Reading must not keep an idle session open.
        Some(ResourceTarget { session: session.for_onlooker(), part: row.part, mime: row.mime })
    });
    let Some(found) = found else {
        return Err(not_found(format!("no resource `{uri}`; call resources/list for valid ones"), uri));
    };
    if found.part == Part::Journal && !sessions.journal().is_kept() {
        return Err(not_found("no journal is kept: the server runs with `--log-file off`".to_owned(), uri));
    }
    Ok(found)
}

impl ResourceTarget {
    /// Signals its changes. The session is not held: a subscription must not keep what a closed one had.
    pub(super) fn changes(&self) -> Changes {
        let (output, execution) = (self.session.output().watch(), self.session.watch());
        match self.part {
            Part::Output => Changes::new(Some(output), None),
            Part::Stop | Part::Source => Changes::new(None, Some(execution)),
            Part::Journal => Changes::new(Some(output), Some(execution)),
        }
    }

    /// Its text, without credentials unless they are to be shown.
    pub(super) async fn read(&self, uri: &str, context: &Context) -> Result<ResourceContents, ErrorData> {
        let session = &self.session;
        let mut text = match self.part {
            Part::Output => {
                let all = session.output().read(0, usize::MAX);
                let dropped = match all.skipped {
                    0 => String::new(),
                    skipped => format!("[the first {skipped} bytes were dropped]\n"),
                };
                dropped + &output_text(&all)
            }
            Part::Stop => {
                let mut report = current::report(session, context.bounds().report()).await;
                show_in_data(&mut report);
                if !context.shows_credentials {
                    hide_in_data(&mut report);
                }
                let text = report.to_string();
                return Ok(ResourceContents::text(text, uri).with_mime_type(self.mime));
            }
            Part::Source => current::source(session).await.map_err(|error| not_found(error.message, uri))?,
            Part::Journal => {
                // Its writer has redacted it and has made each character visible.
                let text = current::journal(context.sessions.journal(), session.id().as_str()).await;
                return Ok(ResourceContents::text(text, uri).with_mime_type(self.mime));
            }
        };
        show_in_text(&mut text);
        if !context.shows_credentials {
            hide_in_text(&mut text);
        }
        Ok(ResourceContents::text(text, uri).with_mime_type(self.mime))
    }
}
