//! Answers that are not too long.

/// Bytes of an answer.
const MOST: usize = 2000;

/// Lines, as many as there is room for.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    left_out: usize,
}

impl Lines {
    /// Adds a line. One that has no room is counted, and so are all after it.
    pub(super) fn add(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        // Room for the note about what was left out.
        if self.left_out > 0 || self.text.len() + line.len() + 60 > MOST {
            self.left_out += 1;
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Whether nothing more has room.
    pub(super) fn is_full(&self) -> bool {
        self.left_out > 0
    }

    /// The answer.
    pub(super) fn finish(mut self) -> String {
        if self.left_out > 0 {
            let lines = if self.left_out == 1 { "line" } else { "lines" };
            let more = format!("... {} more {lines}; ask for less at once\n", self.left_out);
            self.text.push_str(&more);
        }
        self.text
    }
}

/// How often something was done.
pub(super) fn times(count: impl std::fmt::Display) -> String {
    let times = format!("{count} times");
    if times == "1 times" { "once".to_owned() } else { times }
}
