//! Values beside the lines that name them.
//!
//! Only lines of the suspended function, up to the location, can have the values of its variables. A journal has no
//! syntax trees, so functions are recognized by keywords and indentation; where that is not enough, a line has no
//! values rather than wrong ones.

use std::collections::HashMap;

use super::{ComparedVariable, Moment};
use crate::lexer::{Grammar, Lexer, Word};

/// What begins the body of a function or class.
const OPENERS: [&str; 7] = ["def", "class", "function", "fn", "func", "lambda", "=>"];
/// How many values a line has at most.
const VALUES: usize = 5;

/// A line of source, as far as it matters here.
struct SourceText {
    number: u64,
    indent: Option<usize>,
    /// The names in it other than properties.
    names: Vec<String>,
    opens: bool,
}

impl Moment {
    /// The variables on each line of the shown source, by line number.
    pub(crate) fn inline_values(&self) -> HashMap<u64, Vec<&ComparedVariable>> {
        let (Some(location), Some(source)) = (&self.location, &self.source) else { return HashMap::new() };
        let mut lexer = Lexer::new(Grammar::of_file(&location.file));
        let numbered = (u64::from(source.first_line)..).zip(&source.lines);
        let lines = numbered.take_while(|(number, _)| *number <= u64::from(location.line));
        let lines: Vec<SourceText> = lines.map(|(number, text)| read(&mut lexer, number, text)).collect();
        let Some(at) = lines.len().checked_sub(1) else { return HashMap::new() };
        let own = location.function.rsplit(['.', ':', ' ']).next().unwrap_or_default();
        // Further up is another function. One without a name of its own begins at its `=>` or `function`.
        let source_context = || {
            (0..at)
                .rev()
                .filter(|line| holds(&lines, *line, at))
                .filter_map(|line| lines.get(line).zip(Some(line)))
        };
        let named = source_context().find(|(line, _)| line.names.iter().any(|name| name == own));
        let first =
            named.or_else(|| source_context().find(|(line, _)| line.opens)).map_or(0, |(_, line)| line);
        let own_lines =
            lines.iter().enumerate().skip(first).filter(|(line, _)| !is_in_other(&lines, first, *line, at));
        let mut values = HashMap::new();
        let mut above: Vec<&str> = Vec::new();
        for (index, line) in own_lines {
            // Of a function that is defined here, and not suspended, only the name is of this place.
            let is_other = line.opens && index != at && !holds(&lines, index, at);
            let names = line.names.iter().take(if is_other { 1 } else { usize::MAX });
            let found =
                names.filter_map(|name| self.variables.iter().find(|seen| seen.variable.name == *name));
            // What the line above has is not repeated, but at the place.
            let is_new =
                |seen: &&ComparedVariable| index == at || !above.contains(&seen.variable.name.as_str());
            let found: Vec<&ComparedVariable> = found.filter(is_new).take(VALUES).collect();
            above = line.names.iter().map(String::as_str).collect();
            if !found.is_empty() {
                values.insert(line.number, found);
            }
        }
        values
    }
}

fn read(lexer: &mut Lexer, number: u64, text: &str) -> SourceText {
    let pieces = lexer.line(text);
    let is_word =
        |piece: &str| piece.starts_with(|char: char| char.is_alphabetic() || matches!(char, '_' | '$'));
    let mut names: Vec<String> = Vec::new();
    let mut before = "";
    for (piece, word) in &pieces {
        let is_property = before.ends_with('.');
        if *word == Word::Plain && is_word(piece) && !is_property && !names.iter().any(|name| name == piece) {
            names.push((*piece).to_owned());
        }
        before = piece;
    }
    let is_code = |word: Word| !matches!(word, Word::Comment | Word::Literal);
    let opens = pieces.iter().any(|(piece, word)| *word == Word::Keyword && OPENERS.contains(piece))
        || (text.contains("=>") && text.trim_end().ends_with(['{', '(']));
    let is_blank = pieces.iter().all(|(piece, word)| piece.trim().is_empty() || !is_code(*word));
    let indent =
        text.chars().take_while(|char| char.is_whitespace()).map(|char| if char == '\t' { 4 } else { 1 });
    SourceText { number, indent: (!is_blank).then(|| indent.sum()), names, opens }
}

/// Whether the line of the place is in the block that a line opens.
fn holds(lines: &[SourceText], opener: usize, line: usize) -> bool {
    let Some(indent) = lines.get(opener).and_then(|line| line.indent) else { return false };
    let mut inside = lines.iter().take(line + 1).skip(opener + 1).filter_map(|line| line.indent);
    inside.all(|inner| inner > indent)
}

/// Whether a line is in a function or class that the place is not in.
fn is_in_other(lines: &[SourceText], first: usize, line: usize, at: usize) -> bool {
    (first..line).any(|opener| {
        let opens = opener != first && lines.get(opener).is_some_and(|line| line.opens);
        opens && holds(lines, opener, line) && !holds(lines, opener, at)
    })
}

#[cfg(test)]
mod tests {
    use journal::entry::{Location, SourceWindow, Variable};

    use super::*;

    /// A suspended program; the place is the line with `▶` in front, the first line is 10.
    fn values(file: &str, function: &str, source: &str, variables: &[&str]) -> Vec<String> {
        let at = source.lines().position(|line| line.starts_with('▶')).unwrap();
        let variable = |name: &&str| ComparedVariable {
            variable: Variable { name: (*name).to_owned(), value: "1".to_owned(), ..Variable::default() },
            ..ComparedVariable::default()
        };
        let moment = Moment {
            location: Some(Location {
                file: file.to_owned(),
                line: 10 + u32::try_from(at).unwrap(),
                function: function.to_owned(),
                frame_id: None,
            }),
            source: Some(SourceWindow {
                first_line: 10,
                lines: source.lines().map(|line| line.replacen('▶', " ", 1)).collect(),
            }),
            variables: variables.iter().map(variable).collect(),
            ..Moment::default()
        };
        let found = moment.inline_values();
        let mut lines: Vec<_> = found.into_iter().collect();
        lines.sort_by_key(|(number, _)| *number);
        let names = |seen: Vec<&ComparedVariable>| {
            seen.iter().map(|one| one.variable.name.clone()).collect::<Vec<_>>()
        };
        lines.into_iter().map(|(number, seen)| format!("{number} {}", names(seen).join(" "))).collect()
    }

    #[test]
    fn only_lines_of_the_function_up_to_the_stop_have_values() {
        let python = " sum = 3\n def other(item):\n     return item\n\n def total(items):\n     \"\"\"sum of items\"\"\"\n     sum = 0\n     for item in items:  # item\n▶        sum += item.price * items.sum\n     return sum";
        assert_eq!(
            values("a.py", "total", python, &["items", "sum", "item", "price"]),
            ["14 items", "16 sum", "17 item items", "18 sum item items"]
        );
        // At the top level, functions defined there have their own names.
        let module = " sum = 3\n def total(items):\n     sum = 0\n     return sum\n▶print(sum, total)";
        assert_eq!(
            values("a.py", "<module>", module, &["sum", "total", "items"]),
            ["10 sum", "11 total", "14 sum total"]
        );
        let node = " const total = (items) => {\n   let sum = 0;\n   items.forEach((item) => {\n     sum += item;\n   });\n▶  return `${sum}`, sum;\n };";
        assert_eq!(
            values("a.js", "total", node, &["items", "sum", "item"]),
            ["10 items", "11 sum", "12 items", "15 sum"]
        );
        // Another function around it has names of its own.
        let callback = " function outer(sum) {\n   sum += 1;\n   list.map((item) => {\n▶    return item + sum;\n   });\n }";
        assert_eq!(values("a.js", "<anonymous>", callback, &["item", "sum"]), ["12 item", "13 item sum"]);
        let method =
            " class A {\n   one(x) {\n     return x;\n   }\n   two(y, x) {\n▶    return x + y;\n   }\n }";
        assert_eq!(values("a.js", "A.two", method, &["x", "y"]), ["14 y x", "15 x y"]);
        let c =
            " int add(int a) {\n   return a;\n }\n int main(void) {\n   int a = 1;\n▶  return add(a);\n }";
        assert_eq!(values("a.c", "main", c, &["a"]), ["14 a", "15 a"]);
        assert_eq!(values("a.py", "f", "▶", &["a"]), Vec::<String>::new());
    }
}
