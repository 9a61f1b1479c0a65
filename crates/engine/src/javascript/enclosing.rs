//! The functions around a place.

use oxc_allocator::Allocator;
use oxc_ast::ast::{ArrowFunctionExpression, Function};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{SourceType, Span};
use oxc_syntax::scope::ScopeFlags;

use super::caught::offset;

/// A line and a column, both 0-based, the column in UTF-16 units.
type LineColumn = (u32, u32);

/// Where the functions around a place begin, with their parameters, and end; the innermost first. None for a
/// text that cannot be parsed.
pub fn functions_around(text: &str, line: u32, column: u32) -> Vec<(LineColumn, LineColumn)> {
    let Some(offset) = offset(text, line, column) else { return Vec::new() };
    let spans = super::parsing(text, || look(text, offset)).unwrap_or_default();
    spans.into_iter().rev().map(|span| (position(text, span.start), position(text, span.end))).collect()
}

fn look(text: &str, offset: u32) -> Vec<Span> {
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    for kind in [SourceType::mjs(), SourceType::script()] {
        let parsed = Parser::new(&allocator, text, kind).with_options(options).parse();
        if !parsed.panicked && parsed.diagnostics.errors().next().is_none() {
            let mut enclosing = EnclosingFunctions { offset, spans: Vec::new() };
            enclosing.visit_program(&parsed.program);
            return enclosing.spans;
        }
    }
    Vec::new()
}

/// Follows the functions around a place inwards.
struct EnclosingFunctions {
    offset: u32,
    spans: Vec<Span>,
}

impl EnclosingFunctions {
    fn enters(&mut self, params: Span, whole: Span) -> bool {
        let is_around = (whole.start..whole.end).contains(&self.offset);
        if is_around {
            self.spans.push(Span::new(params.start, whole.end));
        }
        is_around
    }
}

impl<'a> VisitJs<'a> for EnclosingFunctions {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if self.enters(it.params.span, it.span) {
            walk_js::walk_function(self, it, flags);
        }
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        if self.enters(it.params.span, it.span) {
            walk_js::walk_arrow_function_expression(self, it);
        }
    }
}

/// The position of a byte.
fn position(text: &str, offset: u32) -> LineColumn {
    let before = usize::try_from(offset).ok().and_then(|offset| text.get(..offset)).unwrap_or(text);
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (count(before.matches('\n').count()), count(line.encode_utf16().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enclosing_functions_are_listed_from_the_innermost() {
        let text = "let a;\nfunction f(b) {\n  return [b].map(c => 'é' + c);\n}\n";
        assert_eq!(functions_around(text, 0, 4), []);
        assert_eq!(functions_around(text, 2, 3), [((1, 10), (3, 1))]);
        assert_eq!(functions_around(text, 2, 28), [((2, 17), (2, 29)), ((1, 10), (3, 1))]);
        assert_eq!(functions_around("no program (", 0, 1), []);
    }
}
