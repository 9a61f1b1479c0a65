//! What of a moment is shown, and how, wherever it is.

use std::collections::HashMap;

use super::{ComparedVariable, Moment};

/// A line of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputLine {
    /// As in [`super::Line`]; none for a remark of ours.
    pub(crate) category: Option<String>,
    pub(crate) text: String,
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
            _ if self.location.is_some() => "the journal has no source of this place",
            "running" => "the program is running; its source appears when it is suspended",
            "stopped" => "the program has ended; s shows where it was suspended last",
            "closed" => "the session is closed; s shows where its program was suspended last",
            _ => "appears when the program is suspended",
        }
    }

    /// Why there are no variables.
    pub(crate) fn without_variables(&self) -> &'static str {
        if self.state == "paused" {
            "nobody has read them at this stop yet"
        } else {
            "appear when an agent reads them at a stop"
        }
    }

    /// The output by lines: pieces that were not whole lines are put together.
    pub(crate) fn output_lines(&self) -> Vec<OutputLine> {
        let mut lines: Vec<OutputLine> = Vec::new();
        // Of what was written last, when it was not the whole line.
        let mut unfinished: Option<&str> = None;
        for piece in &self.output {
            if piece.omitted > 0 {
                let text = format!("… {} bytes are not in the journal", piece.omitted);
                lines.push(OutputLine { category: None, text });
            }
            let goes_on = piece.omitted == 0 && unfinished == Some(piece.category.as_str());
            let text = piece.text.strip_suffix('\n').unwrap_or(&piece.text);
            for (number, line) in text.split('\n').enumerate() {
                match lines.last_mut().filter(|_| number == 0 && goes_on) {
                    Some(before) => before.text.push_str(line),
                    None => lines.push(OutputLine {
                        category: Some(piece.category.clone()),
                        text: line.trim_end_matches('\r').to_owned(),
                    }),
                }
            }
            unfinished = (!piece.text.ends_with('\n')).then_some(piece.category.as_str());
        }
        lines
    }
}

impl ComparedVariable {
    /// It is not as it was.
    pub(crate) fn has_changed(&self) -> bool {
        self.before.is_some() || self.is_new
    }
}
