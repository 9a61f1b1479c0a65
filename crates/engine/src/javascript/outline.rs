//! The functions of a script according to its text: what they do with an exception, and where they return unnoticed.
//!
//! A script is parsed once; after that, each position in it is a table lookup. A position is a 0-based line and a
//! UTF-16 column.

use std::sync::Arc;

use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, ArrowFunctionBody, ArrowFunctionExpression, BindingPattern, CallExpression, CatchClause,
    Expression, Function, MemberExpression, Statement, TryStatement,
};
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};

use super::line_starts::{LineStarts, offset};
use crate::source_map::Position;

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
pub(crate) fn expects(function: &str) -> bool {
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

/// The functions of a script, and what in them decides about what is thrown.
#[derive(Debug)]
pub struct ScriptOutline {
    pub(super) text: Arc<str>,
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
    /// A function, and its places: from its parameters to where it returns.
    Function { places: Span, is_async: bool, is_generator: bool },
    /// The block of a `try` with a handler; whether that just throws on, maybe not everything.
    Try { throws_on: bool },
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

impl ScriptOutline {
    /// None for a text that cannot be parsed.
    pub fn of(text: &Arc<str>) -> Option<Self> {
        let marks = super::read_tree(text, |program| {
            let mut collector = MarkCollector::default();
            collector.visit_program(program);
            // The widest of those that begin at one place is the outermost.
            collector.marks.sort_by_key(|mark| (mark.span.start, std::cmp::Reverse(mark.span.end)));
            collector.marks
        })?;
        Some(Self { text: Arc::clone(text), marks })
    }

    /// What the function around a place does with what is thrown there; with a rejection, of the promise that a call
    /// there has given it.
    pub fn fate(&self, place: Position, is_rejection: bool) -> ThrowOutcome {
        self.catch_state(place, is_rejection).map_or(ThrowOutcome::Caught, CatchState::fate)
    }

    /// Whether the function around a place may handle what is thrown there. It has a handler, which may throw on only
    /// some of it, or is asynchronous, so that its callers may handle it later.
    pub fn may_catch(&self, place: Position) -> bool {
        let state = self.catch_state(place, false);
        state.is_none_or(|state| state.is_asynchronous || state.has_handler)
    }

    fn catch_state(&self, place: Position, is_rejection: bool) -> Option<CatchState> {
        let mut state = CatchState { is_rejection, ..CatchState::default() };
        self.around(offset(&self.text, place)?).for_each(|mark| state.enter(mark.kind, is_rejection));
        Some(state)
    }

    /// Whether two places are in the same function, or both in none. Blanks before what is on a line belong to
    /// it. On one line, the other place may be in a function within that of the first.
    pub fn share_function(&self, place: Position, other: Position, is_one_line: bool) -> bool {
        let (Some(place), Some(other)) = (offset(&self.text, place), offset(&self.text, other)) else {
            return true;
        };
        let after = usize::try_from(place).ok().and_then(|place| self.text.get(place..)).unwrap_or_default();
        let blanks = after.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let code = place.saturating_add(u32::try_from(blanks).unwrap_or(0));
        let (inner, enclosing) = (self.function_at(code), self.function_at(other));
        inner == enclosing || is_one_line && inner.is_none_or(|(span, _)| contains(span, other))
    }

    /// Whether a place is in no function.
    pub fn is_top_level(&self, place: Position) -> bool {
        offset(&self.text, place).is_some_and(|offset| self.function_at(offset).is_none())
    }

    /// Whether a place is in an async generator.
    pub fn is_in_async_generator(&self, place: Position) -> bool {
        let function = offset(&self.text, place).and_then(|offset| self.function_at(offset));
        function.is_some_and(|(_, is_async_generator)| is_async_generator)
    }

    /// Where the functions around a place begin, with their parameters, and end; the innermost first.
    pub fn functions_around(&self, place: Position) -> Vec<(Position, Position)> {
        let Some(offset) = offset(&self.text, place) else { return Vec::new() };
        let lines = LineStarts::of(&self.text);
        let position = |offset| lines.position(offset, &self.text);
        let part = |mark: &Mark| match mark.kind {
            MarkKind::Function { places, .. } => Some((position(places.start), position(mark.span.end))),
            _ => None,
        };
        self.around(offset).rev().filter_map(part).collect()
    }

    /// Whether a function can be left without a place of V8's where it is left: with a `return` that has a loop's
    /// iterator to close, or through a `finally`. From this place of it, or from `any` of its places.
    pub fn exits_without_stop(&self, place: Position, any: bool) -> bool {
        let Some(offset) = offset(&self.text, place) else { return false };
        let (mut function, mut is_closed, mut is_unseen) = (Span::new(0, u32::MAX), false, false);
        for mark in self.around(offset) {
            match mark.kind {
                MarkKind::Function { .. } => (function, is_closed, is_unseen) = (mark.span, false, false),
                MarkKind::Closed => is_closed = true,
                MarkKind::Finalizer => is_unseen = true,
                MarkKind::Return => is_unseen |= is_closed,
                _ => {}
            }
        }
        let is_way_out = |mark: &Mark| {
            matches!(mark.kind, MarkKind::Closed | MarkKind::Finalizer) && contains(function, mark.span.start)
        };
        is_unseen || any && self.marks.iter().any(is_way_out)
    }

    /// The marks around a place, outer ones first.
    fn around(&self, offset: u32) -> impl DoubleEndedIterator<Item = &Mark> {
        self.marks.iter().filter(move |mark| contains(mark.span, offset))
    }

    /// The places of the innermost function at a place, and whether it is an async generator.
    pub(super) fn function_at(&self, offset: u32) -> Option<(Span, bool)> {
        self.marks.iter().rev().find_map(|mark| match mark.kind {
            MarkKind::Function { places, is_async, is_generator } if contains(places, offset) => {
                Some((places, is_async && is_generator))
            }
            _ => None,
        })
    }
}

pub(super) fn contains(span: Span, offset: u32) -> bool {
    (span.start..span.end).contains(&offset)
}

/// The facts about a position, for the innermost function found.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is independent of the others")]
struct CatchState {
    is_rejection: bool,
    is_asynchronous: bool,
    has_handler: bool,
    is_in_try: bool,
    is_handled: bool,
    is_expected: bool,
}

impl CatchState {
    fn enter(&mut self, kind: MarkKind, is_rejection: bool) {
        match kind {
            MarkKind::Function { is_async, .. } => {
                *self = Self { is_rejection, is_asynchronous: is_async, ..Self::default() };
            }
            MarkKind::Try { throws_on } => {
                self.has_handler = true;
                self.is_in_try |= !throws_on;
            }
            // Without an `await`, a promise leaves the block unchanged.
            MarkKind::Await => self.is_handled |= self.is_in_try && self.is_rejection,
            MarkKind::Handled => self.is_handled |= self.is_rejection,
            MarkKind::Promise => *self = Self { is_rejection: true, is_in_try: false, ..*self },
            MarkKind::Expected => self.is_expected = true,
            MarkKind::Closed | MarkKind::Finalizer | MarkKind::Return => {}
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

#[derive(Default)]
struct MarkCollector {
    marks: Vec<Mark>,
}

impl MarkCollector {
    fn mark(&mut self, span: Span, kind: MarkKind) {
        self.marks.push(Mark { span, kind });
    }

    fn mark_function(&mut self, it: &Function<'_>) {
        let places = Span::new(it.params.span.start, it.span.end);
        let (is_async, is_generator) = (it.r#async, it.generator);
        self.mark(it.span, MarkKind::Function { places, is_async, is_generator });
    }

    fn mark_arrow_function(&mut self, it: &ArrowFunctionExpression<'_>) {
        // An arrow function without a block returns right after its expression.
        let behind = u32::from(!matches!(it.body, ArrowFunctionBody::FunctionBody(_)));
        let places = Span::new(it.params.span.start, it.span.end.saturating_add(behind));
        let is_async = it.r#async;
        self.mark(it.span, MarkKind::Function { places, is_async, is_generator: false });
    }

    fn mark_try(&mut self, it: &TryStatement<'_>) {
        if let Some(handler) = &it.handler {
            self.mark(it.block.span, MarkKind::Try { throws_on: throws_on(handler) });
        }
        if let Some(finalizer) = &it.finalizer {
            self.mark(Span::new(it.span.start, finalizer.span.start), MarkKind::Closed);
            self.mark(finalizer.span, MarkKind::Finalizer);
        }
    }

    fn mark_call(&mut self, it: &CallExpression<'_>) {
        let member = it.callee.get_member_expr();
        let object = member.map(MemberExpression::object);
        let name = match member {
            Some(member) => member.static_property_name(),
            None => it.callee.get_identifier_reference().map(|callee| callee.name.as_str()),
        };
        if let (Some(object), Some("allSettled")) = (object, name)
            && is_promise(object)
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
    }
}

impl<'a> VisitJs<'a> for MarkCollector {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::Function(it) => self.mark_function(it),
            AstKind::ArrowFunctionExpression(it) => self.mark_arrow_function(it),
            AstKind::TryStatement(it) => self.mark_try(it),
            AstKind::AwaitExpression(it) => self.mark(it.argument.span(), MarkKind::Await),
            AstKind::ForOfStatement(it) => {
                if it.r#await {
                    self.mark(it.right.span(), MarkKind::Await);
                }
                self.mark(it.body.span(), MarkKind::Closed);
            }
            AstKind::ReturnStatement(it) => self.mark(it.span, MarkKind::Return),
            AstKind::NewExpression(it) if is_promise(&it.callee) => self.mark(it.span, MarkKind::Promise),
            AstKind::CallExpression(it) => self.mark_call(it),
            _ => {}
        }
    }
}

fn is_promise(expression: &Expression<'_>) -> bool {
    expression.get_identifier_reference().is_some_and(|name| name.name == "Promise")
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

    /// A script, and the place in it that is marked.
    fn marked(text: &str) -> (Option<ScriptOutline>, Position) {
        let before = text.split('!').next().unwrap();
        let column = u32::try_from(before.encode_utf16().count()).unwrap();
        let text: Arc<str> = format!("\n{}", text.replacen('!', "", 1)).into();
        (ScriptOutline::of(&text), (1, column))
    }

    fn fate(text: &str, is_rejection: bool) -> ThrowOutcome {
        let (outline, place) = marked(text);
        outline.unwrap().fate(place, is_rejection)
    }

    #[test]
    fn the_enclosing_function_may_catch() {
        let table = [
            ("f(!)", false),
            ("try { f(!) } catch {}", true),
            ("try { f(!) } catch (e) { if (e.code) return; throw e }", true),
            ("try { f() } catch { g(!) }", false),
            ("try { f(!) } finally {}", false),
            ("try { call(() => f(!)) } catch {}", false),
            ("function g() { try { f(!) } catch (e) {} }", true),
            ("async function g() { f(!) }", true),
            ("const g = async () => { f(!) }", true),
            ("async function g() { h(function () { f(!) }) }", false),
            ("class A { m() { try { 'é'; f(!) } catch {} } }", true),
            ("import x from 'x'; f(!)", false),
            ("with (a) { f(!) }", false),
        ];
        for (text, expected) in table {
            let (outline, place) = marked(text);
            assert_eq!(outline.unwrap().may_catch(place), expected, "{text}");
        }
        assert!(marked("not javascript f(!)").0.is_none());
    }

    #[test]
    fn enclosing_functions_are_listed_from_the_innermost() {
        let text = "let a;\nfunction f(b) {\n  return [b].map(c => 'é' + c);\n}\n";
        let outline = ScriptOutline::of(&text.into()).unwrap();
        assert_eq!(outline.functions_around((0, 4)), []);
        assert_eq!(outline.functions_around((2, 3)), [((1, 10), (3, 1))]);
        assert_eq!(outline.functions_around((2, 28)), [((2, 17), (2, 29)), ((1, 10), (3, 1))]);
    }

    #[test]
    fn positions_in_the_same_function_are_recognized() {
        // Line, column; on one line or not.
        let text: Arc<str> =
            "f();\nfunction g(a) {\n  return a;\n}\ng(b => b);\nlet c = () =>\n  d;\n".into();
        let outline = ScriptOutline::of(&text).unwrap();
        let table = [
            ((0, 0), (4, 0), false, true),
            ((2, 0), (2, 9), false, true),
            ((2, 0), (3, 0), false, true),
            // After the bracket is what is around the function.
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
            assert_eq!(outline.share_function(place, other, is_one_line), expected, "{place:?} {other:?}");
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
            let (outline, place) = marked(text);
            let outline = outline.unwrap();
            let leaves = |any| outline.exits_without_stop(place, any);
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
