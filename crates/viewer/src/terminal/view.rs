//! What is on the screen, as plain data: everything that drawing needs, and nothing else.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::clock::Clock;
use crate::moment::Moment;
pub(super) use crate::timeline::strip::Cell;
pub(super) use crate::timeline::{CallDuration, Mark, Outcome};

/// A part of the screen that keys can go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pane {
    Sessions,
    Timeline,
    Source,
    Variables,
    Stack,
    Output,
}

impl Pane {
    /// In the order in which Tab goes through them.
    pub(super) const ALL: [Self; 6] =
        [Self::Timeline, Self::Source, Self::Variables, Self::Stack, Self::Output, Self::Sessions];

    /// Its place in [`Scrolls`].
    pub(super) fn number(self) -> usize {
        Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0)
    }
}

/// How far each pane was scrolled from its default position, in lines; for the variables, which one is selected.
pub(super) type Scrolls = [i32; Pane::ALL.len()];

/// Everything that is shown.
#[derive(Debug)]
pub(super) struct View {
    pub(super) clock: Clock,
    /// The journal's path, for display.
    pub(super) path: String,
    /// How many entries there are, so far.
    pub(super) entries: usize,
    /// Older parts were read.
    pub(super) is_complete: bool,
    pub(super) pace: PlaybackMode,
    /// The moment that is shown, in milliseconds since 1970; none without entries.
    pub(super) at: Option<i64>,
    pub(super) sessions: Vec<SessionRow>,
    /// The row where the keys are; 0 is all sessions.
    pub(super) session_cursor: usize,
    pub(super) timeline: Timeline,
    pub(super) moment: Option<Arc<Moment>>,
    pub(super) focus: Pane,
    pub(super) scrolls: Scrolls,
    /// The paths of the values whose parts are shown.
    pub(super) open_values: BTreeSet<String>,
    pub(super) overlay: Overlay,
    /// A one-time message, such as that there is no further error.
    pub(super) notice: Option<String>,
}

/// How time goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PlaybackMode {
    /// The end is shown, whatever comes.
    Live,
    /// It is paused.
    Still,
    /// It goes so many times as fast as it went.
    Replay(f64),
}

/// A session in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionRow {
    pub(super) name: String,
    pub(super) language: String,
    /// As in [`Moment`].
    pub(super) state: &'static str,
    /// The timeline shows this one alone.
    pub(super) is_only: bool,
    /// What is shown is of this one.
    pub(super) is_shown: bool,
}

/// The part of the timeline that fits.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    pub(super) rows: Vec<Row>,
    /// What happened over time; empty if there is no room.
    pub(super) strip: Vec<Cell>,
    /// The part of it that is shown.
    pub(super) strip_cursor: Option<usize>,
    /// The row of the moment that is shown.
    pub(super) cursor: Option<usize>,
    /// The filter of the rows, for display; empty for all.
    pub(super) filter: String,
    /// How many rows there are, as far as was looked.
    pub(super) count: usize,
    /// There may be more: this percentage of the journal was searched.
    pub(super) searched: Option<usize>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// In milliseconds since 1970.
    pub(super) timestamp: i64,
    pub(super) mark: Mark,
    pub(super) text: String,
    /// These three as in [`crate::timeline::Row`].
    pub(super) outcome: Option<Outcome>,
    pub(super) is_open: Option<bool>,
    pub(super) is_effect: bool,
    pub(super) took: CallDuration,
    /// The name of the session, where rows of several are shown.
    pub(super) session: Option<String>,
    /// What is shown is of another session.
    pub(super) is_other: bool,
}

/// How something is shown that is shown whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DetailForm {
    /// Lines that are indented belong to the one above them that is not.
    Readable,
    Json,
}

/// What lies over the panes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Overlay {
    #[default]
    None,
    /// The keys, scrolled by this many lines.
    Help(usize),
    /// A text is typed to search for.
    Search(String),
    /// Something whole, its lines broken where they are too long, scrolled by this many lines.
    Detail { title: String, lines: Vec<String>, form: DetailForm, scroll: usize },
}
