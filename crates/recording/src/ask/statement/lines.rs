//! The lines of a statement.

use super::types::without_types;
use super::{Token, tokens};

/// Lines that a statement may go on for.
const MOST_LINES: usize = 20;

/// What a line begins with that continues the one before, and what one ends with that the next continues; no
/// statement does so in either language.
const CONTINUES: [&str; 6] = [".", "?", ":", "&&", "||", "=>"];
const IS_CONTINUED: [&str; 8] = ["\\", "=", "=>", "&&", "||", "??", " +", " ?"];

/// The statement that begins at a line (from 0), with the lines on which its brackets are still open, and those
/// that go on with a chain of methods or with an operator.
///
/// `comment` is what begins a comment in the language.
pub(in crate::ask) fn statement_at(lines: &[String], line: usize, comment: &str) -> String {
    let mut text = String::new();
    for (count, next) in lines.iter().skip(line).take(MOST_LINES).enumerate() {
        text.push_str(without_comment(next, comment));
        text.push('\n');
        let goes_on = || lines.get(line + count + 1).is_some_and(|next| continues(next));
        let is_over = || !IS_CONTINUED.iter().any(|end| text.trim_end().ends_with(end));
        if open_brackets(&text) <= 0 && is_over() && !goes_on() {
            break;
        }
    }
    // Python, whose comments begin otherwise, has neither labels nor such types.
    if comment == "//" { without_types(without_label(text.trim())) } else { text.trim().to_owned() }
}

/// A loop without the label before it.
fn without_label(text: &str) -> &str {
    let is_name = |label: &str| label.trim().chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
    let labelled = text.split_once(':').filter(|(label, _)| is_name(label));
    let labelled = labelled.map(|(_, rest)| rest.trim_start());
    let is_loop = |rest: &&str| matches!(tokens(rest).first().map(|first| first.text), Some("for" | "while"));
    labelled.filter(is_loop).unwrap_or(text)
}

/// Whether a line continues the statement before it.
fn continues(line: &str) -> bool {
    let line = line.trim_start();
    !line.starts_with("...") && CONTINUES.iter().any(|begin| line.starts_with(begin))
}

fn open_brackets(text: &str) -> i32 {
    tokens(text).iter().map(Token::opens).sum()
}

/// A line without the comment at its end.
fn without_comment<'a>(line: &'a str, comment: &str) -> &'a str {
    let mut quote = None;
    let mut letters = line.char_indices();
    while let Some((at, letter)) = letters.next() {
        match quote {
            Some(_) if letter == '\\' => {
                letters.next();
            }
            Some(open) if letter == open => quote = None,
            None if matches!(letter, '\'' | '"' | '`') => quote = Some(letter),
            None if line.get(at..).is_some_and(|rest| rest.starts_with(comment)) => {
                return line.get(..at).unwrap_or(line);
            }
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_continues_while_brackets_are_open() {
        let lines = ["total = sum(", "    each,  # all", ")", "next()"].map(str::to_owned);
        assert_eq!(statement_at(&lines, 0, "#"), "total = sum(\n    each,  \n)");
        assert_eq!(statement_at(&lines, 3, "#"), "next()");
        let chain = ["const found =", "  list", "    .map(f)", "    ?? other;", "next()"].map(str::to_owned);
        assert!(statement_at(&chain, 0, "//").ends_with("?? other;"));
        assert_eq!(statement_at(&chain, 4, "//"), "next()");
    }

    #[test]
    fn a_comment_is_no_part_of_a_statement() {
        let table = [
            ("half = total // 2  # down", "#", "half = total // 2"),
            ("const half = total / 2; // (of it", "//", "const half = total / 2;"),
            ("out: for (const x of xs) {", "//", "for (const x of xs) {"),
            ("const n = m.get(k)!;", "//", "const n = m.get(k);"),
            ("outer: int = 3", "#", "outer: int = 3"),
            ("this.#total = 'http://it\\'s' //here", "//", "this.#total = 'http://it\\'s'"),
        ];
        for (line, comment, expected) in table {
            assert_eq!(statement_at(&[line.to_owned()], 0, comment), expected);
        }
    }
}
