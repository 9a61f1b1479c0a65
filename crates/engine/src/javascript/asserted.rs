//! What an assertion in a source asserts, in the words of its author.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Argument, CallExpression, Expression};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, SourceType, Span};

use super::line_starts::{LineStarts, offset};
use crate::source_map::Position;

/// An assertion as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedAssertion {
    /// All of it.
    pub expression: Option<String>,
    /// What the sides are compared with: `toBe`, `not.toBe`, `strictEqual`.
    pub operator: Option<String>,
    /// The code to examine.
    pub left: Option<String>,
    /// What it is compared with.
    pub right: Option<String>,
    /// There is nothing that it is compared with.
    pub has_one_side: bool,
    /// What it inspects.
    pub compared: Compared,
    /// Both sides are to be equal, so each may be `undefined`.
    pub is_of_equality: bool,
}

/// What an assertion inspects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compared {
    /// The value that is written.
    #[default]
    Value,
    /// Something that belongs to it, such as its length or a property.
    Part,
    /// What a function does, as with `throws`.
    Function,
}

/// The assertion at a place of a source (0-based line, UTF-16 column). A place that came by a map may be anywhere on
/// the line.
pub fn asserted(text: &str, path: &Path, place: Position) -> Option<ParsedAssertion> {
    let offset = offset(text, place)?;
    super::parsing(text, || look(text, path, offset)).flatten()
}

fn look(text: &str, path: &Path, offset: u32) -> Option<ParsedAssertion> {
    let allocator = Allocator::default();
    let kind = SourceType::from_path(path).unwrap_or_default();
    [kind, SourceType::script()].into_iter().find_map(|kind| {
        let parsed = super::parse(&allocator, text, kind);
        if parsed.panicked {
            return None;
        }
        let lines = LineStarts::of(text);
        let line = lines.line(offset);
        let mut calls = Calls { text, lines, offset, line, best: None };
        calls.visit_program(&parsed.program);
        calls.best.map(|(_, _, asserted)| asserted)
    })
}

/// Assertions of `node:assert` and Chai about what a function or a promise does, and the one that always fails.
const OF_FUNCTIONS: [&str; 5] = ["throws", "doesNotThrow", "rejects", "doesNotReject", "fail"];

/// Searches for the innermost assertion around a location, or else the first one on its line.
struct Calls<'t> {
    text: &'t str,
    lines: LineStarts,
    offset: u32,
    line: u32,
    /// Whether it is around the place, how long it is, and what it is.
    best: Option<(bool, u32, ParsedAssertion)>,
}

impl<'a> VisitJs<'a> for Calls<'_> {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let is_around = (it.span.start..it.span.end).contains(&self.offset);
        if (is_around || self.lines.line(it.span.start) == self.line)
            && let Some(asserted) = read(self.text, it)
        {
            let is_better = self
                .best
                .as_ref()
                .is_none_or(|(was_around, length, _)| is_around && (!was_around || it.span.size() < *length));
            if is_better {
                self.best = Some((is_around, it.span.size(), asserted));
            }
        }
        walk_js::walk_call_expression(self, it);
    }
}

/// None for a call that asserts nothing, as far as its names tell.
fn read(text: &str, call: &CallExpression<'_>) -> Option<ParsedAssertion> {
    let slice = |span: Span| text.get(span.start as usize..span.end as usize).map(str::to_owned);
    let argument = |at: usize| call.arguments.get(at).and_then(Argument::as_expression);
    let source = |at: usize| argument(at).and_then(|argument| slice(argument.span()));
    let expression = slice(call.span);
    let (names, root) = chain(&call.callee);
    let operator = names.join(".");
    match root {
        // `expect(a).not.toBe(b)`
        Expression::CallExpression(expect) if root_name(&expect.callee) == Some("expect") => {
            let left = expect.arguments.first().and_then(Argument::as_expression);
            let left = left.and_then(|left| slice(left.span()));
            let right = source(0);
            let has_one_side = right.is_none();
            let is_of_equality = is_of_equality(&names);
            let compared = if is_of_part(&names) { Compared::Part } else { Compared::Value };
            let operator = Some(operator);
            Some(ParsedAssertion {
                expression,
                operator,
                left,
                right,
                has_one_side,
                compared,
                is_of_equality,
            })
        }
        // `assert(a)`, `assert.equal(a, b)`, `assert.strict.equal(a, b)`
        Expression::Identifier(root) if root.name == "assert" || is_known(&root.name) => {
            let operator = if names.is_empty() { root.name.to_string() } else { operator };
            let has_two = compares(&operator);
            let is_of_function = OF_FUNCTIONS.iter().any(|name| names.last() == Some(name));
            Some(ParsedAssertion {
                expression,
                left: source(0).filter(|_| !is_of_function),
                right: source(1).filter(|_| has_two),
                has_one_side: !has_two,
                compared: match is_of_function {
                    true => Compared::Function,
                    false if is_of_part(&names) => Compared::Part,
                    false => Compared::Value,
                },
                is_of_equality: is_of_equality(&names) || names.is_empty(),
                operator: Some(operator),
            })
        }
        _ => None,
    }
}

/// The names that a callee goes through, and what it begins with.
fn chain<'e, 'a>(callee: &'e Expression<'a>) -> (Vec<&'e str>, &'e Expression<'a>) {
    match callee.get_member_expr() {
        Some(member) => {
            let (mut names, root) = chain(member.object());
            names.extend(member.static_property_name());
            (names, root)
        }
        None => (Vec::new(), callee),
    }
}

/// What a callee begins with, when that is a name.
fn root_name<'e>(callee: &'e Expression<'_>) -> Option<&'e str> {
    chain(callee).1.get_identifier_reference().map(|root| root.name.as_str())
}

/// Functions of `node:assert` that are called without it.
fn is_known(name: &str) -> bool {
    name == "ok" || (compares(name) && (name.ends_with("qual") || name == "match"))
}

/// Whether an assertion that is written with these names derives what it compares from the value.
fn is_of_part(names: &[&str]) -> bool {
    const PARTS: [&str; 10] = [
        "length",
        "size",
        "property",
        "key",
        "throw",
        "called",
        "returned",
        "resolved",
        "matchobject",
        "times",
    ];
    let name = names.last().copied().unwrap_or_default().to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part))
}

fn is_of_equality(names: &[&str]) -> bool {
    let name = names.last().copied().unwrap_or_default().to_ascii_lowercase();
    ["equal", "equals", "eq", "eql", "eqls", "tobe"].iter().any(|end| name.ends_with(end))
}

/// Whether an assertion of this name has two sides.
fn compares(name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    [
        "equal", "match", "eql", "include", "lengthof", "property", "above", "below", "atleast", "atmost",
        "closeto",
    ]
    .iter()
    .any(|part| name.contains(part))
        || ["instanceof", "typeof", "members", "keys"].iter().any(|part| name.ends_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, name: &str) -> Option<ParsedAssertion> {
        let column = u32::try_from(text.find('!').unwrap_or(0)).unwrap();
        asserted(&format!("\n{}", text.replacen('!', "", 1)), Path::new(name), (1, column))
    }

    #[test]
    fn both_sides_are_quoted_from_the_source() {
        let table = [
            ("expect(a.b).!toBe(c + 1)", "toBe", Some("a.b"), Some("c + 1")),
            ("expect(a).not.!toEqual({ b: 1 })", "not.toEqual", Some("a"), Some("{ b: 1 }")),
            ("expect(a).to.be.!true()", "to.be.true", Some("a"), None),
            ("expect.soft(a).!toBe(b)", "toBe", Some("a"), Some("b")),
            ("assert.!strictEqual(f(x), 'y', 'message')", "strictEqual", Some("f(x)"), Some("'y'")),
            ("assert.strict.!deepEqual(a, b)", "strict.deepEqual", Some("a"), Some("b")),
            ("!assert(a > b, 'message')", "assert", Some("a > b"), None),
            ("assert.!ok(a, 'message')", "ok", Some("a"), None),
            ("assert.!throws(() => f(), /no/)", "throws", None, None),
            ("!deepEqual(a, b)", "deepEqual", Some("a"), Some("b")),
            (
                "test('x', () => { expect(a).!toBe(g(expect(b).toBe(c))) })",
                "toBe",
                Some("a"),
                Some("g(expect(b).toBe(c))"),
            ),
        ];
        for (text, operator, left, right) in table {
            let asserted = at(text, "a.test.ts").unwrap();
            assert_eq!(asserted.operator.as_deref(), Some(operator), "{text}");
            assert_eq!((asserted.left.as_deref(), asserted.right.as_deref()), (left, right), "{text}");
            assert_eq!(asserted.has_one_side, right.is_none(), "{text}");
            assert_ne!(asserted.compared, Compared::Part, "{text}");
        }
    }

    #[test]
    fn what_is_derived_from_the_value_is_distinguished_from_it() {
        for text in [
            "expect(a).!toHaveLength(2)",
            "expect(a).!to.have.nested.property('b.c', 2)",
            "expect(f).!toHaveBeenCalledTimes(2)",
            "expect(f).!toThrow(RangeError)",
            "expect(a).!to.have.all.keys('b', 'c')",
            "assert.!propertyVal(a, 'b', 2)",
        ] {
            assert_eq!(at(text, "a.test.ts").unwrap().compared, Compared::Part, "{text}");
        }
    }

    #[test]
    fn other_calls_are_not_assertions() {
        for text in ["f(!a)", "!a.b(c)", "expected(!a)", "not javascript!("] {
            assert_eq!(at(text, "a.js"), None, "{text}");
        }
    }

    #[test]
    fn an_assertion_elsewhere_on_the_line_is_found() {
        let asserted = at("!  return expect(a).toBe(b)", "a.mts").unwrap();
        assert_eq!(asserted.expression.as_deref(), Some("expect(a).toBe(b)"));
    }
}
