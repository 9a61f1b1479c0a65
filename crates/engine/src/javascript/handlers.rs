//! What happens to an exception at a position in a script, and where a function returns unnoticed, according to its
//! text.
//!
//! A script is parsed once; after that, each position in it is a table lookup.

use std::sync::Arc;

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, ArrowFunctionBody, ArrowFunctionExpression, AwaitExpression, BindingPattern, CallExpression,
    CatchClause, Expression, ForOfStatement, Function, MemberExpression, NewExpression, ReturnStatement,
    Statement, TryStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::scope::ScopeFlags;

use super::caught::offset;

/// Calls that want a function to throw, or a promise to be rejected, by the name of what is called last.
const EXPECTS: [&str; 12] = [
    "toThrow",
    "toThrowError",
    "toThrowErrorMatchingSnapshot",
    "toThrowErrorMatchingInlineSnapshot",
    "throws",
    "Throw",
    "throw",
    "assertThrows",
    "rejects",
    "rejected",
    "rejectedWith",
    "isRejected",
];

/// Whether a function of this name expects its callback to throw. V8 prefixes the object.
pub fn expects(function: &str) -> bool {
    function.rsplit('.').next().is_some_and(|name| EXPECTS.contains(&name))
}

/// What a function does with what is thrown in it, or with a promise that was rejected in a call of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThrowOutcome {
    /// It propagates to the caller.
    Passed,
    /// It rejects the promise that the caller has.
    Rejected,
    /// It is handled here.
    Caught,
    /// The code expects it: an assertion that something throws surrounds it.
    Expected,
}

/// What decides in a script about what is thrown.
#[derive(Debug)]
pub struct Handlers {
    text: Arc<str>,
    /// Outer ones first.
    marks: Vec<Mark>,
}

/// A part of a script in which something holds.
#[derive(Clone, Copy, Debug)]
struct Mark {
    span: Span,
    kind: MarkKind,
}

#[derive(Clone, Copy, Debug)]
enum MarkKind {
    /// A function; whether it is asynchronous.
    Function(bool),
    /// The places of a function, from its parameters to where it returns.
    Places,
    /// The same places of an async generator.
    AsyncGenerator,
    /// The block of a `try` whose handler does not just throw on.
    Try,
    /// What is awaited.
    Await,
    /// A promise whose rejection is handled.
    Handled,
    /// What makes a promise of what its function throws.
    Promise,
    /// A call that expects a throw.
    Expected,
    /// What a `return` goes through when it is in there: the body of a `for … of`, which closes its iterator, and
    /// the block of a `try` with a `finally`.
    Closed,
    /// The block of a `finally`.
    Finalizer,
    /// A `return`.
    Return,
}

impl Handlers {
    /// None for a text that cannot be parsed.
    pub fn of(text: &Arc<str>) -> Option<Self> {
        let marks = super::parsing(text, || look(text)).flatten()?;
        Some(Self { text: Arc::clone(text), marks })
    }

    /// What the function around a place (0-based line, UTF-16 column) does with what is thrown there; with a
    /// rejection, of the promise that a call there has given it.
    pub fn fate(&self, line: u32, column: u32, is_rejection: bool) -> ThrowOutcome {
        let Some(offset) = offset(&self.text, line, column) else { return ThrowOutcome::Caught };
        let mut state = CatchState { is_rejection, ..CatchState::default() };
        for mark in self.marks.iter().filter(|mark| (mark.span.start..mark.span.end).contains(&offset)) {
            state.enter(mark.kind, is_rejection);
        }
        state.fate()
    }

    /// Whether two places (0-based line, UTF-16 column) are in the same function, or both in none. Blanks in front of
    /// what is on a line belong to it. On one line, the other place may be in a function within that of the first.
    pub fn share_function(&self, place: (u32, u32), other: (u32, u32), is_one_line: bool) -> bool {
        let at = |(line, column)| offset(&self.text, line, column);
        let (Some(place), Some(other)) = (at(place), at(other)) else { return true };
        let after = usize::try_from(place).ok().and_then(|place| self.text.get(place..)).unwrap_or_default();
        let blanks = after.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let code = place.saturating_add(u32::try_from(blanks).unwrap_or(0));
        let (inner, enclosing) = (self.function_at(code), self.function_at(other));
        inner == enclosing || is_one_line && inner.is_none_or(|span| (span.start..span.end).contains(&other))
    }

    /// Whether a place (0-based line, UTF-16 column) is in no function.
    pub fn is_top_level(&self, line: u32, column: u32) -> bool {
        offset(&self.text, line, column).is_some_and(|offset| self.function_at(offset).is_none())
    }

    /// The innermost function at a place.
    fn function_at(&self, offset: u32) -> Option<Span> {
        let is_around = |mark: &&Mark| {
            matches!(mark.kind, MarkKind::Places) && (mark.span.start..mark.span.end).contains(&offset)
        };
        self.marks.iter().rfind(is_around).map(|mark| mark.span)
    }

    /// Whether a place (0-based line, UTF-16 column) is in an async generator.
    pub fn is_in_async_generator(&self, line: u32, column: u32) -> bool {
        let function = offset(&self.text, line, column).and_then(|offset| self.function_at(offset));
        let is_generator = |mark: &Mark| matches!(mark.kind, MarkKind::AsyncGenerator);
        self.marks.iter().any(|mark| is_generator(mark) && Some(mark.span) == function)
    }

    /// Whether a function can be left without a place of V8's where it is left: with a `return` that has a loop's
    /// iterator to close, or through a `finally`. From this place of it (0-based line, UTF-16 column), or from `any`
    /// of its places.
    pub fn exits_without_stop(&self, line: u32, column: u32, any: bool) -> bool {
        let Some(offset) = offset(&self.text, line, column) else { return false };
        let (mut function, mut is_closed, mut is_unseen) = (0..u32::MAX, false, false);
        for mark in self.marks.iter().filter(|mark| (mark.span.start..mark.span.end).contains(&offset)) {
            match mark.kind {
                MarkKind::Function(_) => {
                    (function, is_closed, is_unseen) = (mark.span.start..mark.span.end, false, false);
                }
                MarkKind::Closed => is_closed = true,
                MarkKind::Finalizer => is_unseen = true,
                MarkKind::Return => is_unseen |= is_closed,
                _ => {}
            }
        }
        let is_way_out = |mark: &Mark| {
            matches!(mark.kind, MarkKind::Closed | MarkKind::Finalizer) && function.contains(&mark.span.start)
        };
        is_unseen || any && self.marks.iter().any(is_way_out)
    }
}

/// The facts about a position, for the innermost function found.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is independent of the others")]
struct CatchState {
    is_rejection: bool,
    is_asynchronous: bool,
    is_in_try: bool,
    is_handled: bool,
    is_expected: bool,
}

impl CatchState {
    fn enter(&mut self, kind: MarkKind, is_rejection: bool) {
        match kind {
            MarkKind::Function(is_asynchronous) => {
                *self = Self { is_rejection, is_asynchronous, ..Self::default() };
            }
            MarkKind::Try => self.is_in_try = true,
            // Without an `await`, a promise leaves the block unchanged.
            MarkKind::Await => self.is_handled |= self.is_in_try && self.is_rejection,
            MarkKind::Handled => self.is_handled |= self.is_rejection,
            MarkKind::Promise => *self = Self { is_rejection: true, is_in_try: false, ..*self },
            MarkKind::Expected => self.is_expected = true,
            MarkKind::Places
            | MarkKind::AsyncGenerator
            | MarkKind::Closed
            | MarkKind::Finalizer
            | MarkKind::Return => {}
        }
    }

    fn fate(self) -> ThrowOutcome {
        if self.is_expected {
            ThrowOutcome::Expected
        } else if self.is_handled || (self.is_in_try && !self.is_rejection) {
            ThrowOutcome::Caught
        } else if self.is_asynchronous || self.is_rejection {
            ThrowOutcome::Rejected
        } else {
            ThrowOutcome::Passed
        }
    }
}

fn look(text: &str) -> Option<Vec<Mark>> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    [SourceType::mjs(), SourceType::script()].into_iter().find_map(|kind| {
        let parsed = Parser::new(&allocator, text, kind).with_options(options).parse();
        if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
            return None;
        }
        let mut collector = MarkCollector::default();
        collector.visit_program(&parsed.program);
        // The widest of those that begin at one place is the outermost.
        collector.marks.sort_by_key(|mark| (mark.span.start, std::cmp::Reverse(mark.span.end)));
        Some(collector.marks)
    })
}

#[derive(Default)]
struct MarkCollector {
    marks: Vec<Mark>,
}

impl MarkCollector {
    fn mark(&mut self, span: Span, kind: MarkKind) {
        self.marks.push(Mark { span, kind });
    }
}

impl<'a> VisitJs<'a> for MarkCollector {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.mark(it.span, MarkKind::Function(it.r#async));
        let places = Span::new(it.params.span.start, it.span.end);
        self.mark(places, MarkKind::Places);
        if it.r#async && it.generator {
            self.mark(places, MarkKind::AsyncGenerator);
        }
        walk_js::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.mark(it.span, MarkKind::Function(it.r#async));
        // An arrow function without a block returns right behind its expression.
        let behind = u32::from(!matches!(it.body, ArrowFunctionBody::FunctionBody(_)));
        let end = it.span.end.saturating_add(behind);
        self.mark(Span::new(it.params.span.start, end), MarkKind::Places);
        walk_js::walk_arrow_function_expression(self, it);
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        if it.handler.as_ref().is_some_and(|handler| !throws_on(handler)) {
            self.mark(it.block.span, MarkKind::Try);
        }
        if let Some(finalizer) = &it.finalizer {
            self.mark(Span::new(it.span.start, finalizer.span.start), MarkKind::Closed);
            self.mark(finalizer.span, MarkKind::Finalizer);
        }
        walk_js::walk_try_statement(self, it);
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.mark(it.argument.span(), MarkKind::Await);
        walk_js::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await {
            self.mark(it.right.span(), MarkKind::Await);
        }
        self.mark(it.body.span(), MarkKind::Closed);
        walk_js::walk_for_of_statement(self, it);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        self.mark(it.span, MarkKind::Return);
        walk_js::walk_return_statement(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        if it.callee.get_identifier_reference().is_some_and(|callee| callee.name == "Promise") {
            self.mark(it.span, MarkKind::Promise);
        }
        walk_js::walk_new_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let member = it.callee.get_member_expr();
        let object = member.map(MemberExpression::object);
        let name = match member {
            Some(member) => member.static_property_name(),
            None => it.callee.get_identifier_reference().map(|callee| callee.name.as_str()),
        };
        if let (Some(object), Some("allSettled")) = (object, name)
            && object.get_identifier_reference().is_some_and(|object| object.name == "Promise")
        {
            self.mark(it.span, MarkKind::Handled);
        }
        if let (Some(object), Some("catch")) = (object, name) {
            self.mark(object.span(), MarkKind::Handled);
        }
        if let (Some(object), Some("then"), 2..) = (object, name, it.arguments.len()) {
            self.mark(object.span(), MarkKind::Handled);
        }
        let wants = name.is_some_and(|name| EXPECTS.contains(&name)) && !object.is_some_and(is_denied);
        if wants || object.is_some_and(|object| has_member(object, "rejects")) {
            self.mark(it.span, MarkKind::Expected);
        }
        walk_js::walk_call_expression(self, it);
    }
}

/// `expect(f).not`, `expect(f).to.not`.
fn is_denied(object: &Expression<'_>) -> bool {
    has_member(object, "not")
}

/// Whether a name is among those that a chain such as `expect(a).not.to` goes through.
fn has_member(object: &Expression<'_>, name: &str) -> bool {
    let Some(member) = object.get_member_expr() else { return false };
    member.static_property_name() == Some(name) || has_member(member.object(), name)
}

/// Whether all that comes of a handler is that the same is thrown on, or rejects a promise.
fn throws_on(handler: &CatchClause<'_>) -> bool {
    let Some(BindingPattern::BindingIdentifier(name)) = handler.param.as_ref().map(|param| &param.pattern)
    else {
        return false;
    };
    let is_it = |expression: &Expression<'_>| {
        expression.get_identifier_reference().is_some_and(|reference| reference.name == name.name)
    };
    let rejects = |expression: &Expression<'_>| match expression {
        Expression::CallExpression(call) => {
            let callee = call.callee.get_identifier_reference();
            let is_reject = callee.is_some_and(|callee| ["reject", "done"].contains(&callee.name.as_str()));
            is_reject && call.arguments.first().and_then(Argument::as_expression).is_some_and(is_it)
        }
        _ => false,
    };
    match handler.body.body.last() {
        Some(Statement::ThrowStatement(it)) => is_it(&it.argument),
        Some(Statement::ReturnStatement(it)) => it.argument.as_ref().is_some_and(rejects),
        Some(Statement::ExpressionStatement(it)) => rejects(&it.expression),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(text: &str, is_rejection: bool) -> ThrowOutcome {
        let before = text.split('!').next().unwrap();
        let column = u32::try_from(before.encode_utf16().count()).unwrap();
        let text: Arc<str> = format!("\n{}", text.replacen('!', "", 1)).into();
        Handlers::of(&text).unwrap().fate(1, column, is_rejection)
    }

    #[test]
    fn positions_in_the_same_function_are_recognized() {
        // Line, column; on one line or not.
        let text: Arc<str> =
            "f();\nfunction g(a) {\n  return a;\n}\ng(b => b);\nlet c = () =>\n  d;\n".into();
        let handlers = Handlers::of(&text).unwrap();
        let table = [
            ((0, 0), (4, 0), false, true),
            ((2, 0), (2, 9), false, true),
            ((2, 0), (3, 0), false, true),
            // Behind the bracket is what is around the function.
            ((3, 0), (3, 1), true, false),
            ((2, 0), (4, 0), false, false),
            // A line and the function on it.
            ((4, 0), (4, 7), true, true),
            ((4, 0), (4, 7), false, false),
            ((0, 0), (2, 2), false, false),
            // Where the arrow function returns.
            ((6, 0), (6, 3), false, true),
        ];
        for (place, other, is_one_line, expected) in table {
            assert_eq!(handlers.share_function(place, other, is_one_line), expected, "{place:?} {other:?}");
        }
    }

    #[test]
    fn throw_is_caught_by_the_enclosing_function_or_propagates() {
        let table = [
            ("f(!)", ThrowOutcome::Passed),
            ("try { f(!) } catch {}", ThrowOutcome::Caught),
            ("try { f() } catch { g(!) }", ThrowOutcome::Passed),
            ("try { f(!) } finally {}", ThrowOutcome::Passed),
            ("try { call(() => f(!)) } catch {}", ThrowOutcome::Passed),
            ("try { f(!) } catch (e) { log(e); throw e }", ThrowOutcome::Passed),
            ("try { f(!) } catch (e) { throw new Error('b') }", ThrowOutcome::Caught),
            ("try { f(!) } catch (e) { reject(e) }", ThrowOutcome::Passed),
            ("async function g() { f(!) }", ThrowOutcome::Rejected),
            ("async () => { try { f(!) } catch {} }", ThrowOutcome::Caught),
            ("async function g() { h(function () { f(!) }) }", ThrowOutcome::Passed),
            ("try { new Promise((resolve) => { f(!) }) } catch {}", ThrowOutcome::Passed),
            ("try { new !Promise(f) } catch {}", ThrowOutcome::Rejected),
            ("test('a', () => { expect(f).!toThrow() })", ThrowOutcome::Expected),
            ("expect(() => f(!)).toThrow()", ThrowOutcome::Passed),
            ("expect(f).not.!toThrow()", ThrowOutcome::Passed),
            ("expect(f).to.!throw(Error)", ThrowOutcome::Expected),
            ("assert.!throws(f)", ThrowOutcome::Expected),
            ("assert.!doesNotThrow(f)", ThrowOutcome::Passed),
            ("import x from 'x'; f(!)", ThrowOutcome::Passed),
            ("with (a) { f(!) }", ThrowOutcome::Passed),
        ];
        for (text, expected) in table {
            assert_eq!(fate(text, false), expected, "{text}");
        }
    }

    #[test]
    fn rejection_is_caught_by_the_awaiting_function() {
        let table = [
            ("async () => { try { await f!() } catch {} }", ThrowOutcome::Caught),
            ("async () => { try { f!() } catch {} }", ThrowOutcome::Rejected),
            ("async () => { try { return f!() } catch {} }", ThrowOutcome::Rejected),
            ("async () => { try { for await (const a of f!()) {} } catch {} }", ThrowOutcome::Caught),
            ("async () => { await f!() }", ThrowOutcome::Rejected),
            ("f!().catch(log)", ThrowOutcome::Caught),
            ("f!().then(g).catch(log)", ThrowOutcome::Caught),
            ("f!().then(g, log)", ThrowOutcome::Caught),
            ("f!().then(g)", ThrowOutcome::Rejected),
            ("await expect(f!()).rejects.toThrow()", ThrowOutcome::Expected),
            ("await expect(f!()).rejects.toEqual(a)", ThrowOutcome::Expected),
            ("await assert.rejects(f!())", ThrowOutcome::Expected),
        ];
        for (text, expected) in table {
            assert_eq!(fate(text, true), expected, "{text}");
        }
    }

    #[test]
    fn return_from_a_loop_or_finally_has_no_own_position() {
        let table = [
            ("function f() { g(!); return 1 }", (false, false)),
            ("function f() { try { g(!) } catch { return 1 } }", (false, false)),
            ("function f() { for (const a of b) { g(!); return a } }", (false, true)),
            ("function f() { for (const a of b) !return a }", (true, true)),
            ("function f() { for (const a of b) { if (a) !return a } }", (true, true)),
            ("function f() { for (const a in b) !return a }", (false, false)),
            ("function f() { for (const a of b) g(a); !return 1 }", (false, true)),
            ("function f() { for (const a of b) c.map((d) => { !return d }) }", (false, false)),
            ("function f() { try { !return 1 } finally {} }", (true, true)),
            ("function f() { try { g() } finally { !h() } }", (true, true)),
            ("try { function f() { !return 1 } } finally { g() }", (false, false)),
        ];
        for (text, expected) in table {
            let column = u32::try_from(text.find('!').unwrap()).unwrap();
            let handlers = Handlers::of(&text.replacen('!', "", 1).into()).unwrap();
            let leaves = |any| handlers.exits_without_stop(0, column, any);
            assert_eq!((leaves(false), leaves(true)), expected, "{text}");
        }
    }

    #[test]
    fn functions_that_expect_a_throw_are_known_by_name() {
        for (name, expected) in [
            ("throws", true),
            ("Function.throws", true),
            ("Assertion.Throw", true),
            ("doesNotThrow", false),
            ("", false),
        ] {
            assert_eq!(expects(name), expected, "{name}");
        }
    }
}
