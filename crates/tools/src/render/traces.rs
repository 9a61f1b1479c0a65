//! Stacks and tracebacks in few words: what is the user's in full, and how much else there is.

use std::fmt::Write as _;
use std::path::Path;

use engine::model::source::Location;

/// Folders below which each package has a folder of its own.
const PACKAGES: [&str; 3] = ["node_modules", "site-packages", "dist-packages"];
/// How many packages are named.
const NAMED: usize = 4;

/// The frames of the user's code, at most so many, each as `function file:line`, and in the place of others
/// `28 frames of pytest, pluggy`.
pub(super) fn compact<'a>(
    frames: impl Iterator<Item = (&'a str, Option<&'a Location>)>,
    most: usize,
) -> Vec<String> {
    let (mut lines, mut others, mut users) = (Vec::new(), Others::default(), 0);
    for (function, location) in frames {
        match location.filter(|location| !location.source.internal) {
            Some(location) if users < most => {
                lines.extend(others.take());
                lines.push(format!("{function} {}:{}", location.source.name, location.line));
                users += 1;
            }
            Some(_) => others.add("the program"),
            None => others.add(location.map_or("native code", |location| package(&location.source.name))),
        }
    }
    lines.extend(others.take());
    lines
}

/// Frames that are counted.
#[derive(Default)]
struct Others<'a> {
    count: usize,
    packages: Vec<&'a str>,
}

impl<'a> Others<'a> {
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

/// The package that a file belongs to: `pytest`, `@vitest/runner`; of the runtime's own code `the runtime`.
fn package(file: &str) -> &str {
    let below = PACKAGES.iter().filter_map(|folder| {
        let (before, after) = file.rsplit_once(&format!("/{folder}/"))?;
        Some((before.len(), after))
    });
    let Some((_, path)) = below.max() else { return "the runtime" };
    let end = match path.split_once('/') {
        Some((scope, rest)) if scope.starts_with('@') => {
            scope.len() + 1 + rest.find('/').unwrap_or(rest.len())
        }
        Some((name, _)) => name.len(),
        None => path.len(),
    };
    let name = path.get(..end).unwrap_or(path).trim_start_matches('_');
    name.strip_suffix(".py").unwrap_or(name)
}

/// A traceback as its language prints it, with at most so many frames of each exception, and none of libraries.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let mut kept = Kept::default();
    for line in text.lines() {
        if is_frame(line) {
            kept.block.push(vec![line]);
        } else if let Some(frame) = kept.block.last_mut().filter(|_| line.starts_with("    ")) {
            frame.push(line);
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
struct Kept<'a> {
    lines: Vec<&'a str>,
    /// The frames of the exception that is read, each with the lines of code below it.
    block: Vec<Vec<&'a str>>,
    left_out: usize,
}

impl Kept<'_> {
    fn end_block(&mut self, most: usize) {
        let all = self.block.len();
        let users = self.block.drain(..).filter(|frame| !frame.first().is_some_and(|line| is_library(line)));
        let mut users: Vec<_> = users.collect();
        // A traceback that begins with the outermost frame ends with what counts.
        let is_outward = users.iter().flatten().any(|line| line.trim_start().starts_with("at "));
        if is_outward {
            users.truncate(most);
        } else {
            users.drain(..users.len().saturating_sub(most));
        }
        self.left_out += all - users.len();
        self.lines.extend(users.into_iter().flatten());
    }
}

/// The lines of a text that say something else than a frame, a place, or a line of what is known already.
pub(super) fn news(text: &str, known: &[&str]) -> String {
    let known: Vec<&str> = known.iter().flat_map(|text| text.lines()).map(bare).collect();
    let mut is_code = false;
    let is_new = |line: &&str| {
        let is_below_frame = is_code && line.starts_with("    ");
        is_code = is_frame(line) || is_below_frame;
        let said = bare(line);
        let message = said.split_once(": ").map_or(said, |(_, message)| message);
        !is_code && !said.is_empty() && !is_place(said) && !known.contains(&said) && !known.contains(&message)
    };
    text.lines().filter(is_new).collect::<Vec<_>>().join("\n")
}

/// A line without what a runner or a window of source puts in front of it.
fn bare(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['>', ' ']);
    let line = line.strip_prefix("E ").unwrap_or(line).trim();
    match line.split_once(" | ") {
        Some((number, code)) if number.trim().parse::<u32>().is_ok() => code.trim(),
        _ if line.ends_with(" |") && line.trim_end_matches(" |").parse::<u32>().is_ok() => "",
        _ => line,
    }
}

fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("at ") || line.starts_with("File \"")
}

fn is_library(line: &str) -> bool {
    let packages = PACKAGES.iter().any(|folder| line.contains(&format!("/{folder}/")));
    packages || line.contains("node:") || line.contains("(<anonymous>)") || line.contains("/lib/python")
}

/// `test_cart.py:5: AssertionError`, marks below a line, and what goes between the parts of a traceback.
fn is_place(line: &str) -> bool {
    let mut parts = line.splitn(3, ':');
    let is_file = parts.next().is_some_and(|file| Path::new(file).extension().is_some());
    let is_marks = line.chars().all(|mark| "^~_- ".contains(mark));
    is_marks || is_file && parts.next().is_some_and(|number| number.parse::<u32>().is_ok())
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
    fn frames_of_libraries_are_counted() {
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
    fn a_traceback_keeps_the_users_frames_and_its_causes() {
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
    fn what_was_said_before_is_no_news() {
        let source = "  4 |     a = 1\n> 5 |     assert a == 2\n";
        let details = "    def test():\n        a = 1\n>       assert a == 2\nE       assert 1 == 2\n\ntest_a.py:5: AssertionError";
        assert_eq!(news(details, &[source, "assert 1 == 2"]), "    def test():");
        let traceback = "  File \"/p/a.py\", line 2, in g\n    y()\n    ^^^\nAssertionError: assert 1 == 2\n";
        assert_eq!(news(traceback, &["assert 1 == 2"]), "");
        let caused = "Error: no\n    at f (/p/a.js:1:2)\n  [cause]: Error: why\n";
        assert_eq!(news(caused, &["no"]), "  [cause]: Error: why");
    }
}
