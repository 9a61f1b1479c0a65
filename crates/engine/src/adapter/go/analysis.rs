//! Functions and lines with code in a source, read as gofmt writes it: what begins in the first column is outside of
//! functions, and a function ends with a `}` there.

use async_trait::async_trait;

use super::super::braces::{self, Family};
use super::super::{AnalysisRequest, Host, Runtime, SourceAnalysis};
use super::Go;
use super::expressions::{closed, parts};
use crate::error::{Error, Result};
use crate::model::source::{Code, Function};

#[async_trait]
impl SourceAnalysis for Go {
    async fn analyze(
        &self,
        host: &dyn Host,
        _runtime: &Runtime,
        question: AnalysisRequest<'_>,
    ) -> Result<Code> {
        let Some(file) = question.file else { return Ok(Code::default()) };
        let text = host
            .read(file)
            .ok_or_else(|| Error::BadFile { path: file.to_owned(), problem: "cannot be read".to_owned() })?;
        Ok(read(&text))
    }
}

/// What is known of a source by its text.
pub(super) fn read(text: &str) -> Code {
    let lines = without_comments(text);
    let loops = braces::loops(text, Family::Go);
    let mut code = Code { length: number(lines.len()), loops, ..Code::default() };
    let mut open: Option<Function> = None;
    let mut signature = false;
    for (line, text) in (1..).zip(&lines) {
        let trimmed = text.trim();
        if let Some(name) = text.strip_prefix("func ").and_then(name_of) {
            let function = Function { name, start: line, header: line, body: 0, body_column: 1, end: line };
            let ends = trimmed.ends_with('}') && trimmed.contains('{');
            if ends {
                code.lines.push(line);
                code.functions.push(Function { body: line, ..function });
            } else {
                signature = !trimmed.ends_with('{');
                open = Some(function);
            }
            continue;
        }
        let Some(function) = &mut open else {
            // A variable of a package whose value is computed has code where it is declared.
            if text.starts_with("var ") && text.contains('=') {
                code.lines.push(line);
            }
            continue;
        };
        if text.starts_with('}') {
            function.end = line;
            if function.body == 0 {
                function.body = line;
                code.lines.push(line);
            }
            code.functions.extend(open.take());
        } else if signature {
            signature = !trimmed.ends_with('{');
        } else if has_code(trimmed) {
            if function.body == 0 {
                function.body = line;
            }
            code.lines.push(line);
        }
    }
    code
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// `Account.deposit` for `(self *Account) deposit(`.
fn name_of(rest: &str) -> Option<String> {
    let plain = |text: &str| text.split(['(', '[']).next().map(str::trim).unwrap_or_default().to_owned();
    let Some(receiver) = rest.strip_prefix('(') else {
        return Some(plain(rest)).filter(|name| !name.is_empty());
    };
    let (receiver, rest) = receiver.split_once(')')?;
    // The parameters of a generic type are no part of its name: `(q *Queue[K, V])`.
    let of = plain(receiver);
    let of = of.split_whitespace().last()?.trim_start_matches('*');
    Some(format!("{of}.{}", plain(rest)))
}

/// Whether a name is the compiler's for a closure, for a call that is deferred or a goroutine, or for the body of a loop over
/// a function, such as `(*Queue).Push.func2.1`, `run.deferwrap1` and `all-range1`.
pub(super) fn is_closure(name: &str) -> bool {
    let is_range = name.rsplit_once('-').is_some_and(|(_, last)| is_numbered(last, "range"));
    is_range || name.split('.').skip(1).any(|part| CLOSURES.iter().any(|word| is_numbered(part, word)))
}

/// How many closures a function is in, itself counted, by its name.
pub(super) fn closure_depth(name: &str) -> usize {
    let is_closure = |part: &&str| {
        // The body of a loop over a function is in none.
        let part = part.split("-range").next().unwrap_or_default();
        CLOSURES.iter().chain(&[""]).any(|word| is_numbered(part, word))
    };
    name.split('.').skip(1).filter(is_closure).count()
}

/// How the compiler names closures, before a number.
const CLOSURES: [&str; 3] = ["func", "gowrap", "deferwrap"];

fn is_numbered(part: &str, word: &str) -> bool {
    let number = part.strip_prefix(word).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// How many closures are around a line on which another one begins that ends below, or which defers a call or starts a
/// goroutine; none for any other line.
pub(super) fn closures_around(text: &str, line: u32) -> Option<usize> {
    // The literals of functions whose bodies are open: none for any other brace.
    let mut open: Vec<Option<u32>> = Vec::new();
    // The literal whose body comes, and how many parentheses are around it.
    let mut function: Option<(u32, usize)> = None;
    let (mut parentheses, mut last) = (0usize, 0);
    let mut around = None;
    let mut begins = false;
    let mut before = "";
    for token in &braces::tokens(text) {
        if token.line >= line && around.is_none() {
            around = Some(open.iter().flatten().count());
            begins = token.line == line && (token.is("defer") || token.is("go"));
        }
        if token.line > line && open.iter().flatten().all(|begun| *begun != line) {
            break;
        }
        // The type of a function has no body.
        if token.line > last && function.is_some_and(|(_, around)| around == parentheses) {
            function = None;
        }
        last = token.line;
        match token.text.as_str() {
            // That of a declaration is in no brace.
            "func" => {
                function = (!open.is_empty() || before == "=").then_some((token.line, parentheses));
            }
            "(" => parentheses += 1,
            ")" => parentheses = parentheses.saturating_sub(1),
            // `interface{}` and `struct{}` may be among what it returns.
            "{" if matches!(before, "interface" | "struct") => open.push(None),
            "{" => open.push(function.take().map(|(line, _)| line)),
            "}" => drop(open.pop()),
            _ => {}
        }
        if token.line > line && open.iter().flatten().any(|begun| *begun == line) {
            begins = true;
            break;
        }
        before = &token.text;
    }
    around.filter(|_| begins)
}

/// Whether a line inside a function may hold code that runs as control comes to it, as far as its text shows that:
/// `switch {` has code only where control leaves it at the end, and the compiler needs none for some others, such as
/// `select {` and `_ = n`.
fn has_code(line: &str) -> bool {
    let is_closing = line.chars().all(|letter| matches!(letter, '}' | ')' | ']' | ',' | ';' | '(' | '{'));
    let first = line.split([' ', ':']).next().unwrap_or_default();
    let is_label = line.ends_with(':') && first != "case" && !line.contains(' ');
    let declares = matches!(first, "type" | "const" | "import");
    !(is_closing || is_label || declares || matches!(line, "} else {" | "default:" | "switch {"))
}

/// The lines, with blanks for comments and for what is in texts of several lines.
fn without_comments(text: &str) -> Vec<String> {
    let mut state = State::Code;
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut kept = String::new();
        let mut letters = line.chars().peekable();
        let mut quote: Option<char> = None;
        while let Some(letter) = letters.next() {
            match (state, quote) {
                (State::Comment, _) => {
                    if letter == '*' && letters.peek() == Some(&'/') {
                        letters.next();
                        state = State::Code;
                    }
                }
                (State::Raw, _) => {
                    if letter == '`' {
                        state = State::Code;
                        kept.push(letter);
                    }
                }
                (State::Code, Some(end)) => {
                    if letter == '\\' {
                        letters.next();
                    } else if letter == end {
                        quote = None;
                        kept.push(letter);
                    }
                }
                (State::Code, None) => match letter {
                    '/' if letters.peek() == Some(&'/') => break,
                    '/' if letters.peek() == Some(&'*') => {
                        letters.next();
                        state = State::Comment;
                    }
                    '`' => {
                        state = State::Raw;
                        kept.push(letter);
                    }
                    '"' | '\'' => {
                        quote = Some(letter);
                        kept.push(letter);
                    }
                    _ => kept.push(letter),
                },
            }
        }
        lines.push(kept.trim_end().to_owned());
    }
    lines
}

#[derive(Clone, Copy)]
enum State {
    Code,
    Comment,
    Raw,
}

/// How many lines after the head of a function those of its body are that may have code; none for another line.
pub(super) fn body_offsets(text: &str, line: u32) -> impl Iterator<Item = u32> {
    let body = headed(text, line).map(|(function, code)| code.lines_with_end(function.body, function.end));
    body.into_iter().flatten().filter_map(move |inside| inside.checked_sub(line))
}

/// The names of results, which are anything before the body of their function begins.
pub(super) fn results_at_head(text: &str, line: u32) -> Vec<String> {
    let results = || {
        let (function, _) = headed(text, line)?;
        let lines = without_comments(text);
        let range = usize::try_from(line).ok()?.checked_sub(1)?..usize::try_from(function.body).ok()?;
        let head = lines.get(range)?.join(" ");
        let rest = head.strip_prefix("func ")?;
        let rest = rest.strip_prefix('(').and_then(closed).map_or(rest, |(_, rest)| rest);
        let (_, rest) =
            rest.split_once(['(', '[']).and_then(|(name, _)| closed(rest.get(name.len() + 1..)?))?;
        let rest = rest.strip_prefix('(').and_then(closed).map_or(rest, |(_, rest)| rest);
        Some(names_in(closed(rest.trim_start().strip_prefix('(')?)?.0))
    };
    results().unwrap_or_default()
}

/// The function whose head is on a line, if its body begins on another one, and what is known of its source.
fn headed(text: &str, line: u32) -> Option<(Function, Code)> {
    // Nearly every line is none, and reading a whole file takes long.
    let above = usize::try_from(line).ok()?.checked_sub(1)?;
    text.lines().nth(above).filter(|head| head.trim_start().starts_with("func"))?;
    let code = read(text);
    let is_it = |function: &&Function| function.start == line && function.body > line;
    let function = code.functions.iter().find(is_it)?.clone();
    Some((function, code))
}

/// The names in a list of results: of one with types only, none.
fn names_in(list: &str) -> Vec<String> {
    let is_name = |word: &str| word.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let is_type = |word: &str| matches!(word, "chan" | "func" | "struct" | "interface");
    let firsts: Vec<(&str, bool)> = parts(list, ",")
        .into_iter()
        .filter_map(|part| {
            let (first, rest) = part.trim().split_once(' ').unwrap_or((part.trim(), ""));
            (is_name(first) && !is_type(first) && !first.is_empty()).then_some((first, !rest.is_empty()))
        })
        .collect();
    let has_names = firsts.iter().any(|(_, has_type)| *has_type);
    firsts.into_iter().filter(|_| has_names).map(|(name, _)| name.to_owned()).collect()
}

/// Whether a step from the end of a function to an earlier line of it is one to its deferred calls, which belong to the
/// `return`.
pub(super) fn goes_back_at_end(text: &str, from: u32, to: u32) -> bool {
    let (Ok(from), Ok(to)) = (usize::try_from(from), usize::try_from(to)) else { return false };
    let lines: Vec<&str> = text.lines().take(from).collect();
    let Some((end, before)) = lines.split_last() else { return false };
    let inner = end.trim_start();
    let is_end = end.starts_with('}') || inner.starts_with("}(") || inner.starts_with("})");
    let indent = end.len() - inner.len();
    // Back to where the function begins: the line before that is indented no more than its end.
    let is_outside = |line: &&str| !line.trim().is_empty() && line.len() - line.trim_start().len() <= indent;
    let start = before.iter().rposition(is_outside).unwrap_or_default();
    let defers = before.iter().skip(start).any(|line| line.trim_start().starts_with("defer "));
    is_end && defers && (start + 1..from).contains(&to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_from_the_end_goes_back_only_within_a_function_that_defers() {
        let text = "\
func main() {
\tadd()
}

func add() int {
\tdefer unlock()
\tif ready {
\t\treturn 1
\t}
\treturn 2
}

func plain() int {
\treturn 2
}
";
        for (from, to, expected) in
            [(11, 10, true), (11, 8, true), (11, 2, false), (9, 7, false), (15, 14, false)]
        {
            assert_eq!(goes_back_at_end(text, from, to), expected, "{from} to {to}");
        }
    }

    #[test]
    fn results_have_no_values_at_the_head_of_a_function() {
        let text = "\
func Map[T any](items []T, f func(T) (int, error)) (found []T, err error) {
\treturn nil, nil
}

func (a *Account) sizes(
\tat int,
) (width, height int, _ map[string]int) {
\treturn 1, 2, nil
}

func types() (int, chan int, func(n int) error) {
\treturn 1, nil, nil
}

func one() (n int) { return 1 }
";
        let expected: [(u32, &[&str]); 5] =
            [(1, &["found", "err"]), (2, &[]), (5, &["width", "height", "_"]), (11, &[]), (15, &[])];
        for (line, names) in expected {
            assert_eq!(results_at_head(text, line), names, "{line}");
        }
        let bodies = [1, 5, 8, 15].map(|line| body_offsets(text, line).collect::<Vec<_>>());
        assert_eq!(bodies, [vec![1, 2], vec![3, 4], vec![], vec![]]);
    }

    #[test]
    fn closures_are_known_by_their_names() {
        for name in ["safely.func1", "(*Queue).Push.func2.1", "shop.run.deferwrap1", "all-range1"] {
            assert!(is_closure(name), "{name}");
        }
        for name in ["safely", "func1", "shop.function", "Queue.func", "(*Queue).Push", "a-b.range"] {
            assert!(!is_closure(name), "{name}");
        }
    }

    #[test]
    fn closures_that_begin_on_a_line_are_counted() {
        let text = "\
package main

func main() {
    defer func() {
        work(func() int {
            return 1
        })
    }()
    one := func() { work(nil) }
    type pair struct{ a int }
    var check func(interface{}) struct{}
    defer one()
    if one != nil {
        go one()
    }
}

var table = func() int {
    return each(func() {
        work(nil)
    })
}
";
        let found = (1..=22).filter_map(|line| Some((line, closures_around(text, line)?)));
        assert_eq!(found.collect::<Vec<_>>(), [(4, 0), (5, 1), (12, 0), (14, 0), (18, 0), (19, 1)]);
        let depths =
            ["main", "main.func1", "main.func1.2", "shop.run.deferwrap1", "each-range1", "each-range1.func2"];
        assert_eq!(depths.map(closure_depth), [0, 1, 2, 1, 0, 1]);
    }

    #[test]
    fn receivers_are_named_without_their_type_parameters() {
        for receiver in ["(q *Queue[K, V])", "(q Queue[K])", "(*Queue[K, V])", "(q *Queue)"] {
            assert_eq!(name_of(&format!("{receiver} Push(key K) error {{")).as_deref(), Some("Queue.Push"));
        }
    }

    #[test]
    fn functions_and_lines_are_found() {
        let text = "\
package main

// func not() {
type Account struct {
\tn int
}

func (a *Account) add(n int) { // here
\t/* nothing
\t yet */
\ta.n += n

}

func Map[T any](
\titems []T,
) []T {
\tswitch {
\tcase true:
\t\treturn `
}
`
\tdefault:
\t}
\treturn nil
}

func short() int { return 1 }
";
        let code = read(text);
        let found: Vec<_> = code
            .functions
            .iter()
            .map(|function| (function.name.as_str(), function.header, function.body, function.end))
            .collect();
        assert_eq!(found, [("Account.add", 8, 11, 13), ("Map", 15, 19, 26), ("short", 28, 28, 28)]);
        assert_eq!(code.lines, [11, 19, 20, 22, 25, 28]);
        assert_eq!(body_offsets(text, 15).collect::<Vec<_>>(), [4, 5, 7, 10, 11]);
        assert_eq!(code.length, 28);
    }
}
