//! What all viewers show of a moment.

use std::collections::{BTreeSet, HashMap};

use journal::whole_lines;

use super::{ComparedVariable, Line, Moment};
use crate::log::LOST;

/// A line of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputLine {
    /// As in [`super::Line`]; none for our remarks.
    pub(crate) category: Option<String>,
    pub(crate) text: String,
    /// What follows is of the next run.
    pub(crate) is_divider: bool,
}

impl Moment {
    /// The lines of the shown file with breakpoints, and whether these are bound.
    pub(crate) fn breakpoints_here(&self) -> HashMap<u64, bool> {
        let file = self.location.as_ref().map(|location| location.file.as_str());
        let here = self.breakpoints.iter().filter(|breakpoint| Some(breakpoint.file.as_str()) == file);
        here.map(|breakpoint| (u64::from(breakpoint.line), breakpoint.verified)).collect()
    }

    /// Why there is no source.
    pub(crate) fn without_source(&self) -> &'static str {
        match self.state {
            _ if self.location.is_some() => "the journal has no source for this location",
            "running" => "the program is running; its source appears at a stop",
            "stopped" => "the program ended without a stop",
            "closed" => "the session is closed; its program never stopped",
            LOST => "the server of this session is gone; its program never stopped",
            _ => "appears at a stop",
        }
    }

    /// Why there are no variables.
    pub(crate) fn without_variables(&self) -> &'static str {
        match (self.location.is_some() || self.state == "paused", self.is_read) {
            (true, true) => "no variables",
            (true, false) => "not read at this stop",
            (false, _) => "appear when an agent reads them at a stop",
        }
    }

    /// The variables, with the parts of those that are open, by their paths.
    pub(crate) fn value_rows<'a>(&'a self, open: &BTreeSet<String>) -> Vec<ValueRow<'a>> {
        let mut rows = Vec::new();
        add_values(&self.variables, open, "", 0, &mut rows);
        rows
    }

    /// The output by lines, each whole where its stream began it.
    pub(crate) fn output_lines(&self) -> Vec<OutputLine> {
        let mut lines: Vec<OutputLine> = Vec::new();
        let remark = |lines: &mut Vec<OutputLine>, text, is_divider| {
            lines.push(OutputLine { category: None, text, is_divider });
        };
        let goes_on =
            |before: &Line, next: &Line| next.omitted == 0 && !next.is_divider && !before.is_divider;
        for part in self.output.chunk_by(goes_on) {
            let Some(first) = part.first() else { continue };
            if first.is_divider {
                remark(&mut lines, first.text.clone(), true);
                continue;
            }
            if first.omitted > 0 {
                remark(&mut lines, format!("… {} bytes are not in the journal", first.omitted), false);
            }
            let streams: Vec<_> = part.iter().map(|piece| (&piece.category, piece.text.as_str())).collect();
            lines.extend(whole_lines(&streams).into_iter().map(|(number, text)| OutputLine {
                category: part.get(number).map(|piece| piece.category.clone()),
                text: text.trim_end_matches(['\n', '\r']).to_owned(),
                is_divider: false,
            }));
        }
        lines
    }
}

/// A variable or a part of one, in its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValueRow<'a> {
    pub(crate) depth: usize,
    /// The names from the variable to this part, which stay the same from stop to stop.
    pub(crate) path: String,
    /// Its parts are below it, or not; none where the journal has none.
    pub(crate) is_open: Option<bool>,
    pub(crate) seen: &'a ComparedVariable,
}

fn add_values<'a>(
    variables: &'a [ComparedVariable],
    open: &BTreeSet<String>,
    parent: &str,
    depth: usize,
    rows: &mut Vec<ValueRow<'a>>,
) {
    for seen in variables {
        let path = format!("{parent}/{}", seen.variable.name);
        let is_open = (!seen.parts.is_empty()).then(|| open.contains(&path));
        rows.push(ValueRow { depth, path: path.clone(), is_open, seen });
        if is_open == Some(true) {
            add_values(&seen.parts, open, &path, depth + 1, rows);
        }
    }
}

impl ComparedVariable {
    /// It is not as it was.
    pub(crate) fn has_changed(&self) -> bool {
        self.before.is_some() || self.is_new
    }
}
