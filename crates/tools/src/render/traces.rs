//! Stacks and tracebacks in few words: what is the user's in full, and how much else there is.

use std::fmt::Write as _;
use std::path::Path;

use engine::adapter::Tracebacks;
use engine::adapter::tracebacks::{PrintedFrame, package, read_frame};
use engine::model::source::Location;

/// How many packages are named.
const NAMED: usize = 4;

/// The frames of the user's code, at most this many, each as `function file:line`, and in the place of others
/// `28 frames of pytest, pluggy`.
pub(super) fn compact<'a>(
    frames: impl Iterator<Item = (&'a str, Option<&'a Location>)>,
    most: usize,
) -> Vec<String> {
    let (mut lines, mut others, mut users) = (Vec::new(), OmittedFrames::default(), 0);
    for (function, location) in frames {
        match location.filter(|location| !location.source.internal) {
            Some(location) if users < most => {
                lines.extend(others.take());
                lines.push(format!("{function} {}:{}", location.source.name, location.line));
                users += 1;
            }
            Some(_) => others.add("the program"),
            None => others.add(owner(location)),
        }
    }
    lines.extend(others.take());
    lines
}

/// Whose code it is that is not the user's.
fn owner(location: Option<&Location>) -> &str {
    location.map_or("native code", |location| package(&location.source.name).unwrap_or("the runtime"))
}

/// Frames that are counted.
#[derive(Default)]
struct OmittedFrames<'a> {
    count: usize,
    packages: Vec<&'a str>,
}

impl<'a> OmittedFrames<'a> {
    fn add(&mut self, package: &'a str) {
        self.count += 1;
        if !self.packages.contains(&package) {
            self.packages.push(package);
        }
    }

    fn take(&mut self) -> Option<String> {
        let Self { count, packages } = std::mem::take(self);
        let more = if packages.len() > NAMED { ", ..." } else { "" };
        let names = packages.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
        match count {
            0 => None,
            1 => Some(format!("1 frame of {names}")),
            _ => Some(format!("{count} frames of {names}{more}")),
        }
    }
}

/// A traceback as its language prints it, with at most this many frames of each exception, and none of libraries.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let mut kept = TracebackFilter::default();
    for line in text.lines() {
        let own = without_margin(line);
        if let Some((language, frame)) = read_frame(own) {
            kept.language = Some(language);
            kept.block.push((frame, vec![line]));
        } else if let Some((_, lines)) = kept.block.last_mut().filter(|_| own.starts_with("    ")) {
            lines.push(line);
        } else {
            kept.end_block(most);
            kept.lines.push(line);
        }
    }
    kept.end_block(most);
    let end = if text.ends_with('\n') { "\n" } else { "" };
    let mut text = kept.lines.join("\n");
    match kept.left_out {
        0 => {}
        1 => text.push_str("\n    ... 1 more frame"),
        more => {
            let _ = write!(text, "\n    ... {more} more frames");
        }
    }
    text + end
}

/// What is kept of a traceback.
#[derive(Default)]
struct TracebackFilter<'a> {
    lines: Vec<&'a str>,
    language: Option<&'static dyn Tracebacks>,
    /// The frames of the exception that is read, each with its line and the lines of code below it.
    block: Vec<(PrintedFrame<'a>, Vec<&'a str>)>,
    left_out: usize,
}

impl TracebackFilter<'_> {
    fn end_block(&mut self, most: usize) {
        let all = self.block.len();
        let mut users: Vec<_> = self.block.drain(..).filter(|(frame, _)| frame.is_users).collect();
        // The innermost frames count.
        if self.language.is_some_and(Tracebacks::is_innermost_first) {
            users.truncate(most);
        } else {
            users.drain(..users.len().saturating_sub(most));
        }
        self.left_out += all - users.len();
        self.lines.extend(users.into_iter().flat_map(|(_, lines)| lines));
    }
}

/// A line of a traceback without what is before the lines of a group of exceptions.
fn without_margin(line: &str) -> &str {
    line.trim_start().strip_prefix("| ").unwrap_or(line)
}

/// A traceback that says more of an exception than its frames and this headline: its causes, notes, or the parts of a
/// group. Only of languages that print the exception last: with others, its causes are below it.
pub fn detailed<'a>(text: &'a str, headline: &str) -> Option<&'a str> {
    let language = text.lines().find_map(|line| read_frame(without_margin(line)))?.0;
    (!language.is_innermost_first() && !news(text, &[headline]).is_empty()).then_some(text)
}

/// The lines of a text other than frames, locations, and lines that are already known.
pub(super) fn news(text: &str, known: &[&str]) -> String {
    let known: Vec<&str> = known.iter().flat_map(|text| text.lines()).map(bare).collect();
    let mut is_code = false;
    let is_new = |line: &&str| {
        let line = without_margin(line);
        let is_below_frame = is_code && line.starts_with("    ");
        is_code = read_frame(line).is_some() || is_below_frame;
        let said = bare(line);
        let message = said.split_once(": ").map_or(said, |(_, message)| message);
        !is_code && !said.is_empty() && !is_place(said) && !known.contains(&said) && !known.contains(&message)
    };
    text.lines().filter(is_new).collect::<Vec<_>>().join("\n")
}

/// A line without what a runner or a window of source puts before it.
fn bare(line: &str) -> &str {
    // The spaces after an `E` are all there is in an empty line of a message.
    let line = line.trim_start_matches(['>', ' ', '\t']);
    let line = line.strip_prefix("E ").unwrap_or(line).trim();
    match line.split_once(" | ") {
        Some((number, code)) if number.trim().parse::<u32>().is_ok() => code.trim(),
        _ if line.ends_with(" |") && line.trim_end_matches(" |").parse::<u32>().is_ok() => "",
        _ => line,
    }
}

/// `test_cart.py:5: AssertionError`, marks below a line, and what goes between the parts of a traceback.
fn is_place(line: &str) -> bool {
    let mut parts = line.splitn(3, ':');
    let is_file = parts.next().is_some_and(|file| Path::new(file).extension().is_some());
    let is_marks = line.chars().all(|mark| "^~_- ".contains(mark));
    is_marks
        || line.ends_with("(most recent call last):")
        || is_file && parts.next().is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use engine::model::source::Source;

    use super::*;

    fn at(name: &str, internal: bool) -> Location {
        let source = Source { internal, ..Source::file(name) };
        Location { source, line: 3, column: 0, generated: None }
    }

    #[test]
    fn library_frames_are_counted() {
        let frames = [
            ("assert", Some(at("/p/node_modules/chai/index.js", true))),
            ("adds", Some(at("/p/a.test.js", false))),
            ("run", Some(at("/p/node_modules/@vitest/runner/dist/a.js", true))),
            ("call", Some(at("/v/lib/python3.11/site-packages/_pytest/python.py", true))),
            ("call", Some(at("/v/lib/python3.11/site-packages/six.py", true))),
            ("native", None),
            ("tick", Some(at("node:internal", true))),
            ("main", Some(at("/p/main.js", false))),
        ];
        let frames = || frames.iter().map(|(name, location)| (*name, location.as_ref()));
        let stack = [
            "1 frame of chai",
            "adds /p/a.test.js:3",
            "5 frames of @vitest/runner, pytest, six, native code, ...",
            "main /p/main.js:3",
        ];
        assert_eq!(compact(frames(), 10), stack);
        assert_eq!(compact(frames(), 1).len(), 3);
        assert_eq!(compact(std::iter::empty(), 1), [""; 0]);
    }

    #[test]
    fn a_traceback_keeps_user_frames_and_causes() {
        let text = "Error: no\n    at f (/p/a.js:1:2)\n    at g (/p/node_modules/x/a.js:1:2)\n    at node:events:3\n  [cause]: Error: why\n      at h (/p/b.js:1:1)";
        let expected = "Error: no\n    at f (/p/a.js:1:2)\n  [cause]: Error: why\n      at h (/p/b.js:1:1)\n    ... 2 more frames";
        assert_eq!(shortened(text, 9), expected);
        let python = "Traceback:\n  File \"/v/site-packages/x.py\", line 1, in f\n    x()\n    ^^^\n  File \"/p/a.py\", line 2, in g\n    y()\nValueError: no";
        let expected =
            "Traceback:\n  File \"/p/a.py\", line 2, in g\n    y()\nValueError: no\n    ... 1 more frame";
        assert_eq!(shortened(python, 9), expected);
        assert_eq!(shortened(python, 0), "Traceback:\nValueError: no\n    ... 2 more frames");
        assert_eq!(shortened("Error: no", 3), "Error: no");
    }

    #[test]
    fn parts_of_a_group_keep_user_frames() {
        let library = "  |   File \"/v/site-packages/x.py\", line 1, in f\n  |     x()\n";
        let group = "  | ExceptionGroup: two (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/p/a.py\", line 3, in h\n    |     z()\n    | ValueError: no\n    +------------------------------------\n";
        let group = format!("  |   File \"/p/a.py\", line 2, in g\n  |     y()\n{group}");
        let heading = "  + Exception Group Traceback (most recent call last):\n";
        let text = format!("{heading}{library}{group}");
        assert_eq!(shortened(&text, 9), format!("{heading}{group}    ... 1 more frame\n"));
        assert!(detailed(&text, "ExceptionGroup: two (1 sub-exception)").is_some());
        let plain =
            "Traceback (most recent call last):\n  File \"/p/a.py\", line 2, in g\n    y()\nValueError: no\n";
        assert_eq!(detailed(plain, "ValueError: no"), None);
        assert_eq!(detailed("Error: no\n    at f (/p/a.js:1:2)\n  [cause]: Error: why\n", "Error: no"), None);
    }

    #[test]
    fn repeated_tracebacks_are_not_reported_again() {
        let source = "  4 |     a = 1\n> 5 |     assert a == 2\n";
        let details = "    def test():\n        a = 1\n>       assert a == 2\nE       assert 1 == 2\n\ntest_a.py:5: AssertionError";
        assert_eq!(news(details, &[source, "assert 1 == 2"]), "    def test():");
        assert_eq!(
            news("E       assert 1 == 2\nE         \nE         - 1", &["assert 1 == 2"]),
            "E         - 1"
        );
        let traceback = "  File \"/p/a.py\", line 2, in g\n    y()\n    ^^^\nAssertionError: assert 1 == 2\n";
        assert_eq!(news(traceback, &["assert 1 == 2"]), "");
        let caused = "Error: no\n    at f (/p/a.js:1:2)\n  [cause]: Error: why\n";
        assert_eq!(news(caused, &["no"]), "  [cause]: Error: why");
    }
}
