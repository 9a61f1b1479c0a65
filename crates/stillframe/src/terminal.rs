//! Text for the terminal: colours if it supports them, within 80 columns.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::AnsiColor;
pub(crate) use anstyle::Style;
use journal::redaction::{self, NamedValue};
use journal::visible::{uncoloured, visible};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width that everything fits in.
pub(crate) const WIDTH: usize = 80;

/// A heading.
pub(crate) const HEADING: Style = Style::new().bold();
/// A location, and the current line.
pub(crate) const PLACE: Style = AnsiColor::Cyan.on_default();
/// A name.
pub(crate) const NAME: Style = AnsiColor::Blue.on_default();
/// What is not the point.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// It is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// It needs attention.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// It is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Text in a style.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Writes to standard output; colours only where they can be seen. A reader that has gone has seen enough, as in
/// `stillframe tools | head`: what the command came to is still its exit code.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Says something to the person, beside the output proper.
pub(crate) fn hint(text: &str) {
    // Without a standard error, the message is lost.
    let _ = writeln!(anstream::stderr().lock(), "{}", styled(FAINT, visible(text)));
}

/// Says why the command failed, and what the exit code is.
pub(crate) fn failed(error: &anyhow::Error) -> ExitCode {
    let problem = format!("{error:#}");
    let _ = writeln!(anstream::stderr().lock(), "{}: {}", styled(BAD, "error"), visible(&problem));
    ExitCode::FAILURE
}

/// Whether texts show what may be a credential.
static SHOWS_CREDENTIALS: AtomicBool = AtomicBool::new(false);

/// From now on, texts show what may be a credential.
pub(crate) fn show_credentials() {
    SHOWS_CREDENTIALS.store(true, Ordering::Relaxed);
}

fn shows_credentials() -> bool {
    SHOWS_CREDENTIALS.load(Ordering::Relaxed)
}

/// The value of an expression as it may be shown.
pub(crate) fn value<'t>(expression: &str, type_name: Option<&str>, text: &'t str) -> &'t str {
    let hides = |named: NamedValue| named.hides(type_name.filter(|name| !name.is_empty()), text);
    if !shows_credentials() && NamedValue::of(expression).is_some_and(hides) { redaction::MARK } else { text }
}

/// A text as it can be measured: a program may print tabs and other control characters, all of which are shown, and
/// colours, which are left out. Credentials are hidden while they are in one piece: in a text that was cut or broken into lines they would
/// not be known.
fn measurable(text: &str) -> String {
    let text = if shows_credentials() { text.into() } else { redaction::text_for_answer(text) };
    visible(&uncoloured(&text).replace("\r\n", "\n").replace('\t', "    ")).into_owned()
}

/// A line of a file, whole: it is there to be compared.
pub(crate) fn shown(line: &str) -> String {
    measurable(line)
}

/// A text in one line of at most this many columns, `…` where it was cut.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let text = measurable(text);
    let line = text.lines().next().unwrap_or_default().to_owned();
    let whole = line.len() == text.trim_end_matches('\n').len();
    if whole && line.width() <= columns {
        return line;
    }
    let mut used = 1;
    let kept = line.chars().take_while(|char| {
        used += char.width().unwrap_or(0);
        used <= columns
    });
    let mut cut: String = kept.collect();
    cut.push('…');
    cut
}

/// The same for a path, whose end says more than its beginning. An end of a line in it is shown.
pub(crate) fn truncate_start(text: &str, columns: usize) -> String {
    let text = measurable(text).replace('\n', "\\x0a");
    if text.width() <= columns {
        return text;
    }
    let mut used = 1;
    let from = text.char_indices().rev().take_while(|(_, char)| {
        used += char.width().unwrap_or(0);
        used <= columns
    });
    let from = from.last().map_or(text.len(), |(at, _)| at);
    format!("…{}", text.get(from..).unwrap_or_default())
}

/// A text broken into lines of at most this many columns, each with this in front.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let columns = WIDTH.saturating_sub(indent.width()).max(1);
    let mut all = String::new();
    for line in measurable(text).lines() {
        let mut rest = line;
        loop {
            let (now, later) = rest.split_at(break_at(rest, columns));
            let _ = writeln!(all, "{}", format_args!("{indent}{now}").to_string().trim_end());
            rest = later.trim_start();
            if rest.is_empty() {
                break;
            }
        }
    }
    all
}

/// What a program has written: broken into lines for a terminal, and as it is for what reads or searches it.
pub(crate) fn output(text: &str) -> String {
    output_on(io::stdout().is_terminal(), text)
}

fn output_on(is_terminal: bool, text: &str) -> String {
    if is_terminal {
        return wrapped(text, "  ");
    }
    measurable(text).lines().fold(String::new(), |all, line| all + format!("  {line}").trim_end() + "\n")
}

/// Where a line of this many columns ends: after the last space that fits, or in the middle of a word.
fn break_at(text: &str, columns: usize) -> usize {
    let (mut used, mut space) = (0, None);
    for (at, char) in text.char_indices() {
        used += char.width().unwrap_or(0);
        if used > columns {
            return space.unwrap_or(at).max(1);
        }
        if char == ' ' && at > 0 {
            space = Some(at + 1);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_truncated_with_a_mark() {
        assert_eq!(fit("short", 5), "short");
        assert_eq!(fit("shorter", 5), "shor…");
        assert_eq!(fit("two\nlines", 10), "two…");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("", 5), "");
        assert_eq!(fit("a\tb\u{c}\x1b[31mc\0", 40), "a    b\\x0cc\\x00");
        assert_eq!(wrapped("\x1b[2Jgone\0", ""), "\\x1b[2Jgone\\x00\n");
    }

    #[test]
    fn a_long_path_keeps_its_end() {
        assert_eq!(truncate_start("a/b.py", 6), "a/b.py");
        assert_eq!(truncate_start("long/b.py", 6), "…/b.py");
        assert_eq!(truncate_start("日本語", 5), "…本語");
        assert_eq!(truncate_start("a\nb/\x1b[Hc.py", 40), "a\\x0ab/\\x1b[Hc.py");
        assert_eq!(truncate_start("long\nb.py", 6), "…ab.py");
    }

    #[test]
    fn text_wraps_between_words_or_inside_long_ones() {
        let long = "word ".repeat(30);
        let text = wrapped(&long, "  ");
        assert!(text.lines().all(|line| line.width() <= WIDTH && line.starts_with("  word")), "{text}");
        let text = wrapped(&"x".repeat(100), "  ");
        assert_eq!(text.lines().map(UnicodeWidthStr::width).collect::<Vec<_>>(), [80, 24]);
        assert_eq!(wrapped("", "  "), "");
        assert_eq!(wrapped("a\n\nb", "  "), "  a\n\n  b\n");
    }

    #[test]
    fn lines_of_output_are_whole_where_no_terminal_shows_them() {
        let long = "x".repeat(100);
        assert_eq!(output_on(false, &format!("{long}\n\nb\t")), format!("  {long}\n\n  b\n"));
        assert_eq!(output_on(true, &long).lines().count(), 2);
        assert_eq!(output_on(false, ""), "");
    }
}
