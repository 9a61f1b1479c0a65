//! What JavaScript's grammar says of the small texts that users write: conditions, watched expressions and log
//! messages; and of the texts of scripts: what catches an exception, what V8 has places for, and where code can be
//! put in. Nothing is evaluated here.

mod asserted;
mod declared;
mod depth;
pub(crate) mod effects;
pub(crate) mod endings;
mod imports;
mod insertion;
mod line_starts;
mod outline;
pub(crate) mod positions;
mod storage;

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, Class, Expression, ForOfStatement, Function, FunctionBody,
    ObjectPropertyKind, Program, Statement, YieldExpression,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::{GetSpan, SourceType};
use oxc_syntax::scope::ScopeFlags;

pub use asserted::{Compared, ParsedAssertion, asserted};
pub(crate) use declared::DeclaredName;
pub(crate) use imports::imports;
pub(crate) use insertion::is_portable;
pub use insertion::{Insertion, insertion};
pub use line_starts::LineStarts;
pub(crate) use line_starts::offset;
pub(crate) use outline::expects;
pub use outline::{ScriptOutline, ThrowOutcome};
pub(crate) use storage::{Storage, storage};

/// The longest text that is parsed, in bytes.
const LONGEST: usize = 16 * 1024;

/// The parser calls itself for whatever is nested, and the stacks of the server's threads are small.
const STACK: usize = 256 * 1024 * 1024;

/// Keywords that are names in some code.
const CONTEXTUAL: [&str; 10] = [
    "await",
    "implements",
    "interface",
    "let",
    "package",
    "private",
    "protected",
    "public",
    "static",
    "yield",
];

/// A part of a log message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Literal text.
    Text(String),
    /// What stood in braces.
    Expression(String),
}

/// Whether Node runs a file of this name unchanged.
pub(crate) fn is_plain(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["js", "mjs", "cjs"].iter().any(|plain| extension == *plain))
}

/// Whether a script has what only an ES module may have.
pub(crate) fn has_module_syntax(path: &Path, text: &str) -> bool {
    let is_typed = path.extension().is_some_and(|extension| extension == "ts");
    let kind = if is_typed { SourceType::ts() } else { SourceType::unambiguous() };
    let look = || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, text, kind).parse();
        parsed.module_record.has_module_syntax
    };
    parsing(text, look).unwrap_or(false)
}

/// Whether a text is one expression that can be evaluated while the program is suspended; otherwise the problem, such
/// as `SyntaxError: Unexpected token`. Assignments are expressions. `await` and `yield` are rejected, because nothing
/// else runs while the program is suspended.
pub fn is_expression(text: &str) -> Result<(), String> {
    check_length(text)?;
    deeply(|| check(text)).unwrap_or_else(out_of_memory)
}

/// Parses a log message. `{` and `}` surround an expression, `{{` and `}}` are braces; an expression ends at the
/// first brace that completes it. The error is what is wrong with it.
pub fn log_parts(message: &str) -> Result<Vec<Part>, String> {
    check_length(message)?;
    deeply(|| take_apart(message)).unwrap_or_else(out_of_memory)
}

/// Parses a script, or does what else goes as deep into recursion as the text of one is nested. Nothing comes back
/// when it is nested too deeply, or when the system has no room for it.
pub fn parsing<T: Send>(text: &str, run: impl FnOnce() -> T + Send) -> Option<T> {
    if depth::is_too_deep(text) { None } else { deeply(run) }
}

/// Parses a script. Node makes a function of each `CommonJS` module, so a `return` may be outside of functions.
pub(crate) fn parse<'a>(allocator: &'a Allocator, text: &'a str, kind: SourceType) -> ParserReturn<'a> {
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    Parser::new(allocator, text, kind).with_options(options).parse()
}

/// Whether a text was parsed without an error.
fn is_valid(parsed: &ParserReturn<'_>) -> bool {
    !parsed.panicked && parsed.diagnostics.errors().next().is_none()
}

/// Reads the syntax tree of a script that may be an ES module or not. None for a text that cannot be parsed.
fn read_tree<T: Send>(text: &str, read: impl Fn(&Program<'_>) -> T + Sync) -> Option<T> {
    let read_as = |kind| {
        let allocator = Allocator::default();
        let parsed = parse(&allocator, text, kind);
        is_valid(&parsed).then(|| read(&parsed.program))
    };
    parsing(text, || [SourceType::mjs(), SourceType::script()].into_iter().find_map(read_as))?
}

/// Runs something that goes deep into recursion. Nothing comes back when the system has no room for it.
fn deeply<T: Send>(run: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok()?;
        thread.join().ok()
    })
}

fn out_of_memory<T>() -> Result<T, String> {
    Err("it could not be parsed: out of memory".to_owned())
}

fn check_length(text: &str) -> Result<(), String> {
    if text.len() > LONGEST {
        return Err(format!("it has {} bytes, the limit is {LONGEST}", text.len()));
    }
    Ok(())
}

fn check(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("SyntaxError: the expression is empty".to_owned());
    }
    if let Some(word) = suspends(text) {
        return Err(format!("SyntaxError: `{word}` cannot be used here: nothing else runs meanwhile"));
    }
    let allocator = Allocator::default();
    let wrapped = format!("{BEFORE}{text}{AFTER}");
    let parsed = Parser::new(&allocator, &wrapped, SourceType::script()).parse();
    if let Some(error) = first_error(&parsed) {
        return Err(format!("SyntaxError: {error}"));
    }
    let length = BEFORE.len() + text.len();
    match only_statement(&parsed.program).map(GetSpan::span) {
        Some(span) if span.start as usize == BEFORE.len() - 2 && span.end as usize == length + 2 => Ok(()),
        _ => Err("SyntaxError: not a single expression".to_owned()),
    }
}

/// The wrapper of a text: a method, in which everything is allowed that may be in a frame. The line ends keep a
/// comment from hiding the parenthesis. If the parentheses do not match, as around `a) + (b`, the statement in the
/// method does not begin with the first and end with the last.
const BEFORE: &str = "({m(){(\n";
const AFTER: &str = "\n)}})";

/// The expression in parentheses that is all there is in the method.
fn only_statement<'p, 'a>(program: &'p Program<'a>) -> Option<&'p Expression<'a>> {
    let Some(Statement::ExpressionStatement(outer)) = program.body.first() else { return None };
    let Expression::ParenthesizedExpression(outer) = &outer.expression else { return None };
    let Expression::ObjectExpression(object) = &outer.expression else { return None };
    let Some(ObjectPropertyKind::ObjectProperty(method)) = object.properties.first() else { return None };
    let Expression::FunctionExpression(method) = &method.value else { return None };
    let [Statement::ExpressionStatement(only)] = method.body.as_ref()?.statements.as_slice() else {
        return None;
    };
    matches!(only.expression, Expression::ParenthesizedExpression(_)).then_some(&only.expression)
}

fn first_error(parsed: &ParserReturn<'_>) -> Option<String> {
    parsed.diagnostics.errors().next().map(|error| error.message.to_string())
}

/// What a text waits for by `await`. It is a name, too, outside functions that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitUse<'t> {
    /// For nothing.
    Nothing,
    /// All of it is `await` and this.
    Operand(&'t str),
    /// There is an `await` somewhere in it.
    Within,
}

/// What an expression, or a statement, waits for.
pub fn awaited(text: &str) -> AwaitUse<'_> {
    if !text.contains("await") || check_length(text).is_err() {
        return AwaitUse::Nothing;
    }
    deeply(|| look_for_await(text)).unwrap_or(AwaitUse::Nothing)
}

fn look_for_await(text: &str) -> AwaitUse<'_> {
    let text = text.trim_end().trim_end_matches(';');
    let (before, after) = ("async function f() {(\n", "\n)}");
    let allocator = Allocator::default();
    let wrapped = format!("{before}{text}{after}");
    if let Some(body) = only_function(&Parser::new(&allocator, &wrapped, SourceType::script()).parse()) {
        let only = match body.statements.first() {
            Some(Statement::ExpressionStatement(only)) => only.expression.get_inner_expression(),
            _ => return AwaitUse::Nothing,
        };
        let operand = match only {
            Expression::AwaitExpression(only) => only.argument.span(),
            _ => return if first_wait(body) == Some("await") { AwaitUse::Within } else { AwaitUse::Nothing },
        };
        let place = |offset: u32| (offset as usize).saturating_sub(before.len());
        return text
            .get(place(operand.start)..place(operand.end))
            .map_or(AwaitUse::Within, AwaitUse::Operand);
    }
    let statement = format!("async function f() {{\n{text}\n}}");
    let parsed = Parser::new(&allocator, &statement, SourceType::script()).parse();
    match only_function(&parsed).and_then(first_wait) {
        Some("await") => AwaitUse::Within,
        _ => AwaitUse::Nothing,
    }
}

/// The body of the function that is all there is, if it can be read.
fn only_function<'p, 'a>(parsed: &'p ParserReturn<'a>) -> Option<&'p FunctionBody<'a>> {
    if first_error(parsed).is_some() {
        return None;
    }
    let Some(Statement::FunctionDeclaration(function)) = parsed.program.body.first() else { return None };
    function.body.as_deref()
}

/// `await` or `yield`, when the text waits by one of them. Each is a name, too, outside functions that have it.
fn suspends(text: &str) -> Option<&'static str> {
    if !text.contains("await") && !text.contains("yield") {
        return None;
    }
    let allocator = Allocator::default();
    let wrapped = format!("async function* f() {{ (\n{text}\n) }}");
    first_wait(only_function(&Parser::new(&allocator, &wrapped, SourceType::script()).parse())?)
}

fn first_wait(body: &FunctionBody<'_>) -> Option<&'static str> {
    let mut waits = AwaitFinder(None);
    waits.visit_function_body(body);
    waits.0
}

/// Searches for the first `await` or `yield` outside nested functions.
struct AwaitFinder(Option<&'static str>);

impl<'a> VisitJs<'a> for AwaitFinder {
    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.0.get_or_insert("await");
        walk_js::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await {
            self.0.get_or_insert("await");
        }
        walk_js::walk_for_of_statement(self, it);
    }

    fn visit_yield_expression(&mut self, it: &YieldExpression<'a>) {
        self.0.get_or_insert("yield");
        walk_js::walk_yield_expression(self, it);
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_class(&mut self, _: &Class<'a>) {}
}

fn take_apart(message: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = message;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
            text.extend(from.chars().next());
            rest = after;
        } else if let Some(inner) = from.strip_prefix('{') {
            let (expression, after) = split_expression(inner)?;
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(Part::Expression(expression.trim().to_owned()));
            rest = after;
        } else {
            return Err("SyntaxError: single `}` is not allowed; write `}}` for a brace".to_owned());
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

/// The shortest expression that a brace ends, and what follows. When there is none, the error is that of the
/// shortest text.
fn split_expression(text: &str) -> Result<(&str, &str), String> {
    let mut wrong = None;
    for (at, _) in text.match_indices('}') {
        let (expression, after) = text.split_at(at);
        match check(expression) {
            Ok(()) => return Ok((expression, after.strip_prefix('}').unwrap_or(after))),
            Err(error) => wrong = wrong.or(Some(format!("{error} in `{}`", expression.trim()))),
        }
    }
    Err(wrong.unwrap_or_else(|| "SyntaxError: `{` is never closed; write `{{` for a brace".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awaits_are_found_by_the_grammar() {
        use AwaitUse::{Nothing, Operand, Within};
        let table = [
            ("await x", Operand("x")),
            (" await f(1, await g()) ; ", Operand("f(1, await g())")),
            ("(await (x.y))", Operand("(x.y)")),
            ("(await x).name", Within),
            ("a + await b", Within),
            ("const a = await b", Within),
            ("for await (const a of b) c(a)", Within),
            ("await", Nothing),
            ("(async () => await x)()", Nothing),
            ("async () => { await x }", Nothing),
            ("'await x'", Nothing),
            ("x.await", Nothing),
            ("await x +", Nothing),
        ];
        for (text, waits) in table {
            assert_eq!(awaited(text), waits, "{text}");
        }
    }

    #[test]
    fn expressions_are_distinguished_from_statements() {
        let fine = [
            "a",
            " a > 1 && b.c?.[0] ",
            "a = 5",
            "a, b",
            "{ a: 1 }.a",
            "x => x + 1",
            "function () { return 1 }",
            "(async () => await x)()",
            "class { async m() { await x } }",
            "await",
            "`${a}`",
            "/x}/.test(a)",
            "a // why",
            "new Map([[1, 2]])",
            "this.#secret",
            "this.#secret > 1",
            "#secret in this",
            "new.target",
            "super.name",
            "arguments[0]",
            "import('x')",
            "a\n  + b",
            "with_ in eval",
        ];
        for text in fine {
            assert_eq!(is_expression(text), Ok(()), "{text}");
        }
        let wrong = [
            "",
            "  ",
            "// only a comment",
            "a b",
            "a;",
            "a; b",
            "(",
            "a) + (b",
            "a), (b",
            "if (a) b",
            "let a = 1",
            "return a",
            "a as number",
            "<b>x</b>",
            "a /* never closed",
            "'never closed",
            "1 +",
            "throw a",
            "}",
        ];
        for text in wrong {
            let message = is_expression(text).expect_err(text);
            assert!(message.starts_with("SyntaxError: "), "{text}: {message}");
        }
    }

    #[test]
    fn awaiting_code_is_refused_by_name() {
        for (text, word) in [
            ("await f()", "await"),
            ("await (f())", "await"),
            ("1 + await x", "await"),
            ("yield 1", "yield"),
            ("yield", "yield"),
            ("f(await g(yield 2))", "await"),
        ] {
            let message = is_expression(text).expect_err(text);
            assert!(message.contains(&format!("`{word}` cannot be used here")), "{text}: {message}");
        }
    }

    #[test]
    fn too_deep_or_too_long_code_is_refused() {
        let deep = format!("{}1{}", "(".repeat(8000), ")".repeat(8000));
        assert_eq!(is_expression(&deep), Ok(()));
        assert!(is_expression(&"!".repeat(16_000)).is_err());
        assert!(is_expression(&"1 + ".repeat(5000)).unwrap_err().contains("the limit is 16384"));
    }

    #[test]
    fn log_messages_are_split_into_parts() {
        let text = |text: &str| Part::Text(text.to_owned());
        let expression = |text: &str| Part::Expression(text.to_owned());
        let table = [
            ("plain", vec![text("plain")]),
            ("", vec![]),
            ("a={a} b={ b }", vec![text("a="), expression("a"), text(" b="), expression("b")]),
            ("{{a}}", vec![text("{a}")]),
            ("{{{a}}}", vec![text("{"), expression("a"), text("}")]),
            ("{f({ x: 1 })}!", vec![expression("f({ x: 1 })"), text("!")]),
            ("{a ? '}' : '{'}", vec![expression("a ? '}' : '{'")]),
            ("{`${a}`}", vec![expression("`${a}`")]),
            ("ä{ö}ü", vec![text("ä"), expression("ö"), text("ü")]),
        ];
        for (message, expected) in table {
            assert_eq!(log_parts(message), Ok(expected), "{message}");
        }
        for (message, problem) in [
            ("a }", "single `}` is not allowed"),
            ("{a", "`{` is never closed"),
            ("{}", "is empty"),
            ("{a b}", "in `a b`"),
            ("{await x}", "`await` cannot be used here"),
        ] {
            let error = log_parts(message).expect_err(message);
            assert!(error.contains(problem), "{message}: {error}");
        }
    }
}
