//! Where a name is declared that a function may use.

use oxc_ast::ast::{
    ArrowFunctionExpression, BindingIdentifier, BlockStatement, ForInStatement, ForOfStatement, ForStatement,
    Function, Program,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::Span;
use oxc_syntax::scope::ScopeFlags;

use super::line_starts::{LineStarts, offset};
use crate::source_map::Position;

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredName {
    /// Its line, 0-based.
    pub line: u32,
    /// The function that it is in has a frame at each of these, by their numbers among those asked about.
    pub frames: Vec<usize>,
    /// It is in no function.
    pub is_top_level: bool,
}

/// Where the name is declared that code at a place (0-based line, UTF-16 column) means, when that is outside of the
/// place's own function; and which of the `frames`, other places, are in the same function as the declaration.
pub(crate) fn declared_around(
    text: &str,
    place: Position,
    name: &str,
    frames: &[Position],
) -> Option<DeclaredName> {
    let place = offset(text, place)?;
    super::read_tree(text, |program| {
        let mut search =
            DeclarationFinder { name, scopes: Vec::new(), functions: Vec::new(), found: Vec::new() };
        search.visit_program(program);
        search.enclosing(text, place, frames)
    })?
}

/// All declarations of a name.
struct DeclarationFinder<'n> {
    name: &'n str,
    /// The functions and blocks around.
    scopes: Vec<Span>,
    /// All functions, outer ones first. The program is the first of them.
    functions: Vec<Span>,
    /// Where the name is declared, and the scope that it is in.
    found: Vec<(u32, Span)>,
}

impl DeclarationFinder<'_> {
    fn enclosing(&self, text: &str, place: u32, frames: &[Position]) -> Option<DeclaredName> {
        let is_in = |span: &Span, offset: u32| (span.start..span.end).contains(&offset);
        // What is inside begins later.
        let innermost = |offset: u32| self.functions.iter().rfind(|span| is_in(span, offset)).copied();
        let visible = self.found.iter().filter(|(_, scope)| is_in(scope, place));
        let (at, _) = visible.max_by_key(|(_, scope)| scope.start)?;
        let owner = innermost(*at)?;
        if innermost(place) == Some(owner) {
            return None;
        }
        let its_own = |frame: &Position| offset(text, *frame).and_then(innermost) == Some(owner);
        Some(DeclaredName {
            line: LineStarts::of(text).line(*at).saturating_sub(1),
            frames: (0..).zip(frames).filter(|(_, frame)| its_own(frame)).map(|(number, _)| number).collect(),
            is_top_level: self.functions.first() == Some(&owner),
        })
    }

    fn inside(&mut self, scope: Span, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(scope);
        visit(self);
        self.scopes.pop();
    }
}

impl<'a> VisitJs<'a> for DeclarationFinder<'_> {
    fn visit_program(&mut self, it: &Program<'a>) {
        let whole = Span::new(0, it.span.end.saturating_add(1));
        self.functions.push(whole);
        self.inside(whole, |all| walk_js::walk_program(all, it));
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if let Some(id) = &it.id {
            self.visit_binding_identifier(id);
        }
        let span = Span::new(it.params.span.start, it.span.end);
        self.functions.push(span);
        self.inside(span, |all| walk_js::walk_function(all, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let span = Span::new(it.params.span.start, it.span.end.saturating_add(1));
        self.functions.push(span);
        self.inside(span, |all| walk_js::walk_arrow_function_expression(all, it));
    }

    fn visit_block_statement(&mut self, it: &BlockStatement<'a>) {
        self.inside(it.span, |all| walk_js::walk_block_statement(all, it));
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.inside(it.span, |all| walk_js::walk_for_statement(all, it));
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.inside(it.span, |all| walk_js::walk_for_in_statement(all, it));
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.inside(it.span, |all| walk_js::walk_for_of_statement(all, it));
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        if it.name == self.name
            && let Some(scope) = self.scopes.last()
        {
            self.found.push((it.span.start, *scope));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_in_enclosing_functions() {
        let text = "\
const RATE = 2;
function outer(a) {
  const limit = 3;
  { const hidden = 4; }
  const inner = (b) => {
    const own = b;
    return own;
  };
  return inner(a);
}
outer(1);
";
        let frames = [(6, 4), (8, 9), (10, 0)];
        let declared = |name| declared_around(text, (6, 4), name, &frames);
        let at = |line, frames: &[usize], is_top_level| {
            Some(DeclaredName { line, frames: frames.to_vec(), is_top_level })
        };
        assert_eq!(declared("RATE"), at(0, &[2], true));
        assert_eq!(declared("outer"), at(1, &[2], true));
        assert_eq!(declared("limit"), at(2, &[1], false));
        assert_eq!(declared("a"), at(1, &[1], false));
        assert_eq!(declared("hidden"), None);
        assert_eq!(declared("own"), None);
        assert_eq!(declared("missing"), None);
    }
}
