//! Drops whole lines from a stream of text, without holding the rest back.

use tokio::sync::watch;

/// Passes text on, except for lines that begin with one of a few texts.
pub(super) struct LineFilter {
    muted: Vec<&'static str>,
    /// A muted line whose rest is kept, and where.
    announcing: Option<(&'static str, watch::Sender<Option<String>>)>,
    /// The beginning of a line that could still become a muted one, or that is kept.
    held: String,
    within: LineState,
}

/// What kind of line the text is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// Not known yet.
    Start,
    /// One that is passed on.
    Passed,
    /// One that is dropped.
    Muted,
    /// A dropped line, stored for the caller that waits for it.
    Announced,
}

impl LineFilter {
    pub(super) fn new(
        muted: &[&'static str],
        announcing: Option<(&'static str, watch::Sender<Option<String>>)>,
    ) -> Self {
        let announced = announcing.as_ref().map(|(line, _)| *line);
        let muted = muted.iter().copied().chain(announced).collect();
        Self { muted, announcing, held: String::new(), within: LineState::Start }
    }

    /// What is to be passed on now.
    pub(super) fn filter(&mut self, text: &str) -> String {
        if self.muted.is_empty() {
            return text.to_owned();
        }
        let mut passed = String::with_capacity(text.len());
        for piece in text.split_inclusive('\n') {
            self.filter_piece(piece, &mut passed);
        }
        passed
    }

    /// The rest at the end of the stream.
    pub(super) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// A piece of one line.
    fn filter_piece(&mut self, piece: &str, passed: &mut String) {
        match self.within {
            LineState::Start => self.begin(piece, passed),
            // What the debugger writes comes in a piece of its own, also after a line that has no end yet.
            LineState::Passed if !self.muted.iter().any(|muted| piece.starts_with(muted)) => {
                passed.push_str(piece);
            }
            LineState::Announced => self.held.push_str(piece),
            LineState::Passed | LineState::Muted => {}
        }
        if piece.ends_with('\n') {
            let held = std::mem::take(&mut self.held);
            match std::mem::replace(&mut self.within, LineState::Start) {
                LineState::Announced => self.announce(held.trim_end()),
                // The line was shorter than the texts that it began like.
                _ => passed.push_str(&held),
            }
        }
    }

    fn begin(&mut self, piece: &str, passed: &mut String) {
        self.held.push_str(piece);
        let announced = self.announcing.as_ref().map(|(line, _)| *line);
        if announced.is_some_and(|line| self.held.starts_with(line)) {
            self.within = LineState::Announced;
        } else if self.muted.iter().any(|muted| self.held.starts_with(muted)) {
            self.within = LineState::Muted;
            self.held.clear();
        } else if !self.muted.iter().any(|muted| muted.starts_with(self.held.as_str())) {
            self.within = LineState::Passed;
            passed.push_str(&std::mem::take(&mut self.held));
        }
    }

    /// The first such line counts.
    fn announce(&self, line: &str) {
        if let Some((before, announced)) = &self.announcing {
            let rest = line.strip_prefix(before).unwrap_or(line).to_owned();
            announced.send_if_modified(|known| {
                let is_first = known.is_none();
                known.get_or_insert(rest);
                is_first
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_muted_lines_are_dropped() {
        let table: [(&[&str], &str); 8] = [
            (&["Debugger attached.\nhello\n"], "hello\n"),
            (&["Debug", "ger attached.\nhel", "lo\n"], "hello\n"),
            (&["Debug", "ging is fun\n"], "Debugging is fun\n"),
            (&["Debug\n"], "Debug\n"),
            (&["Debug"], "Debug"),
            (&["a Debugger attached.\n"], "a Debugger attached.\n"),
            (&["prompt> "], "prompt> "),
            (&["prompt> ", "Debugger attached.\n", "next\n"], "prompt> next\n"),
        ];
        for (pieces, expected) in table {
            let mut lines = LineFilter::new(&["Debugger attached.", "For help, see: "], None);
            let mut passed: String = pieces.iter().map(|piece| lines.filter(piece)).collect();
            passed.push_str(&lines.finish());
            assert_eq!(passed, expected, "{pieces:?}");
        }
    }

    #[test]
    fn announced_lines_are_kept_or_dropped() {
        let (announced, line) = watch::channel(None);
        let mut lines = LineFilter::new(&[], Some(("listening at: ", announced)));
        let pieces = ["hello\nlistening", " at: 127.0.0.1:", "81\nlistening at: 2\nbye"];
        let passed: String = pieces.iter().map(|piece| lines.filter(piece)).collect();
        assert_eq!(passed, "hello\nbye");
        assert_eq!(line.borrow().as_deref(), Some("127.0.0.1:81"));
    }
}
