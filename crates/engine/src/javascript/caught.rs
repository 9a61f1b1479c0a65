//! Whether a function catches what is thrown at a place in it.

use oxc_allocator::Allocator;
use oxc_ast::ast::{ArrowFunctionExpression, Function, TryStatement};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{SourceType, Span};
use oxc_syntax::scope::ScopeFlags;

/// Whether a throw at a position (0-based line, UTF-16 column) is caught by the surrounding function. It counts as
/// caught if that is unknown: in asynchronous functions, whose callers may catch it later, and in a text that cannot
/// be parsed.
pub fn is_caught(text: &str, line: u32, column: u32) -> bool {
    let Some(offset) = offset(text, line, column) else { return true };
    super::parsing(text, || look(text, offset)).unwrap_or(true)
}

fn look(text: &str, offset: u32) -> bool {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    [SourceType::mjs(), SourceType::script()].into_iter().all(|kind| {
        let parsed = Parser::new(&allocator, text, kind).with_options(options).parse();
        if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
            return true;
        }
        let mut search = CatchSearch { offset, caught: false };
        search.visit_program(&parsed.program);
        search.caught
    })
}

/// Follows the code around a place inwards.
struct CatchSearch {
    offset: u32,
    /// As far as the innermost function that was seen goes.
    caught: bool,
}

impl CatchSearch {
    fn is_in(&self, span: Span) -> bool {
        (span.start..span.end).contains(&self.offset)
    }
}

impl<'a> VisitJs<'a> for CatchSearch {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if self.is_in(it.span) {
            self.caught = it.r#async;
            walk_js::walk_function(self, it, flags);
        }
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        if self.is_in(it.span) {
            self.caught = it.r#async;
            walk_js::walk_arrow_function_expression(self, it);
        }
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        if it.handler.is_some() && self.is_in(it.block.span) {
            self.caught = true;
        }
        walk_js::walk_try_statement(self, it);
    }
}

/// The byte at a position, as far as the text has it.
pub(crate) fn offset(text: &str, line: u32, column: u32) -> Option<u32> {
    let line_text = text.split('\n').nth(usize::try_from(line).ok()?)?;
    let start = line_text.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let mut units = 0;
    let inside = line_text.char_indices().find_map(|(at, character)| {
        let is_there = units >= column;
        units += u32::try_from(character.len_utf16()).unwrap_or(1);
        is_there.then_some(at)
    });
    u32::try_from(start + inside.unwrap_or(line_text.len())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_enclosing_function_decides() {
        let table = [
            ("f(!)", false),
            ("try { f(!) } catch {}", true),
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
            ("not javascript f(!)", true),
        ];
        for (text, expected) in table {
            let before = text.split('!').next().unwrap();
            let column = u32::try_from(before.encode_utf16().count()).unwrap();
            let text = format!("\n{}", text.replace('!', ""));
            assert_eq!(is_caught(&text, 1, column), expected, "{text}");
        }
    }
}
