//! Drops whole lines from a stream of text, without holding the rest back.

/// Passes text on, except for lines that begin with one of a few texts.
pub(super) struct Unmuted {
    muted: &'static [&'static str],
    /// The beginning of a line that could still become a muted one.
    held: String,
    within: Within,
}

/// What kind of line the text is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// Not known yet.
    Start,
    /// One that is passed on.
    Passed,
    /// One that is dropped.
    Muted,
}

impl Unmuted {
    pub(super) fn new(muted: &'static [&'static str]) -> Self {
        Self { muted, held: String::new(), within: Within::Start }
    }

    /// What is to be passed on now.
    pub(super) fn pass(&mut self, text: &str) -> String {
        if self.muted.is_empty() {
            return text.to_owned();
        }
        let mut passed = String::with_capacity(text.len());
        for piece in text.split_inclusive('\n') {
            self.pass_piece(piece, &mut passed);
        }
        passed
    }

    /// What is left when nothing more comes.
    pub(super) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// A piece of one line.
    fn pass_piece(&mut self, piece: &str, passed: &mut String) {
        if self.within == Within::Start {
            self.held.push_str(piece);
            if self.muted.iter().any(|muted| self.held.starts_with(muted)) {
                self.within = Within::Muted;
                self.held.clear();
            } else if !self.muted.iter().any(|muted| muted.starts_with(self.held.as_str())) {
                self.within = Within::Passed;
                passed.push_str(&std::mem::take(&mut self.held));
            }
        } else if self.within == Within::Passed && !self.muted.iter().any(|muted| piece.starts_with(muted)) {
            // What the debugger writes comes in a piece of its own, also behind a line that has no end yet.
            passed.push_str(piece);
        }
        if piece.ends_with('\n') {
            self.within = Within::Start;
            // The line was shorter than the texts that it began like.
            passed.push_str(&std::mem::take(&mut self.held));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn muted_lines_go_and_nothing_else_does() {
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
            let mut lines = Unmuted::new(&["Debugger attached.", "For help, see: "]);
            let mut passed: String = pieces.iter().map(|piece| lines.pass(piece)).collect();
            passed.push_str(&lines.finish());
            assert_eq!(passed, expected, "{pieces:?}");
        }
    }
}
