//! Texts of others inside a document in Markdown.

use journal::entry::SourceWindow;

use crate::plain;

/// How many lines of a long text are shown from its beginning and from its end.
const KEPT: usize = 30;
/// How many lines of a source are shown before a location and after it.
const AROUND: u64 = 4;

/// A text as code inside a line.
pub(super) fn code(raw: &str) -> String {
    let text = plain::line(raw);
    let text = text.trim();
    if text.is_empty() {
        return "(nothing)".to_owned();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    // One space is taken off at each side; without it a backtick at the edge would belong to the fence.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A text as a block of code, with the end of its last line.
pub(super) fn block(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// A text without its middle, if it is long.
pub(super) fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let Some(left_out) = lines.len().checked_sub(2 * KEPT + 1).map(|more| more + 1) else {
        return text.to_owned();
    };
    let first = lines.iter().take(KEPT).copied();
    let last = lines.iter().skip(KEPT + left_out).copied();
    let middle = format!("… {left_out} lines …");
    first.chain([middle.as_str()]).chain(last).collect::<Vec<_>>().join("\n")
}

/// Lines of a source with their numbers, `>` before one, and not many around it.
pub(super) fn excerpt(source: &SourceWindow, at: u32) -> String {
    let last = u64::from(at) + AROUND;
    let width = last.to_string().len();
    let lines = source.lines.iter().zip(u64::from(source.first_line)..);
    let lines = lines.filter(|(_, number)| number.abs_diff(u64::from(at)) <= AROUND).map(|(line, number)| {
        let mark = if number == u64::from(at) { '>' } else { ' ' };
        let line = plain::text(line).replace('\n', "⏎");
        format!("{mark} {number:>width$}  {line}").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// How many backticks there are one after the other.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_close_a_code_block() {
        let cases = [
            ("x", "`x`"),
            ("a`b", "``a`b``"),
            ("`a", "`` `a ``"),
            ("```", "```` ``` ````"),
            ("a\n\n# b", "`a⏎⏎# b`"),
            ("<script>|*_[](", "`<script>|*_[](`"),
            (" \n", "(nothing)"),
        ];
        for (raw, expected) in cases {
            assert_eq!(code(raw), expected, "{raw:?}");
        }
        assert_eq!(block("text", "a\n```\nb\n\n"), "````text\na\n```\nb\n````\n");
    }

    #[test]
    fn a_long_text_is_shortened_in_the_middle() {
        let text = |count: usize| (1..=count).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        assert_eq!(shortened(&text(60)), text(60));
        let short = shortened(&text(61));
        assert!(short.contains("\n30\n… 1 lines …\n32\n"), "{short}");
    }

    #[test]
    fn a_source_is_numbered_and_marked() {
        let source =
            SourceWindow { first_line: 9, lines: vec!["a".into(), String::new(), "\tc\u{1b}[0m".into()] };
        assert_eq!(excerpt(&source, 10), "   9  a\n> 10\n  11  \tc");
        let lines = (1..=21).map(|line| line.to_string()).collect();
        let told = excerpt(&SourceWindow { first_line: 1, lines }, 11);
        assert_eq!(told.lines().count(), 9);
        assert_eq!(told.lines().nth(4), Some("> 11  11"));
    }
}
