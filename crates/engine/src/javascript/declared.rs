//! Where a name is declared that a function may use.

use oxc_ast::AstKind;
use oxc_ast::ast::BindingIdentifier;
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};

use super::line_starts::{LineStarts, offset};
use super::outline::{ScriptOutline, contains};
use crate::source_map::Position;

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredName {
    /// Where it is in the text.
    pub(crate) place: Position,
    /// The function that it is in has a frame at each of these, by their numbers among those asked about.
    pub(crate) frames: Vec<usize>,
    /// It is in no function.
    pub(crate) is_top_level: bool,
}

impl ScriptOutline {
    /// Where the name is declared that code at a place means, when that is outside of the place's own function; and
    /// which of the `frames`, other places, are in the same function as the declaration.
    pub(crate) fn declared_around(
        &self,
        place: Position,
        name: &str,
        frames: &[Position],
    ) -> Option<DeclaredName> {
        let place = offset(&self.text, place)?;
        let declarations = super::read_tree(&self.text, |program| {
            let mut search = DeclarationFinder { name, scopes: Vec::new(), found: Vec::new() };
            search.visit_program(program);
            search.found
        })?;
        let visible = declarations.into_iter().filter(|(_, scope)| contains(*scope, place));
        // What is inside begins later.
        let (at, _) = visible.max_by_key(|(_, scope)| scope.start)?;
        let owner = self.function_at(at);
        if self.function_at(place) == owner {
            return None;
        }
        let is_owners = |frame: &Position| {
            offset(&self.text, *frame).is_some_and(|frame| self.function_at(frame) == owner)
        };
        Some(DeclaredName {
            place: LineStarts::of(&self.text).position(at, &self.text),
            frames: (0..)
                .zip(frames)
                .filter(|(_, frame)| is_owners(frame))
                .map(|(number, _)| number)
                .collect(),
            is_top_level: owner.is_none(),
        })
    }
}

/// Searches for all declarations of a name.
struct DeclarationFinder<'n> {
    name: &'n str,
    /// The functions and blocks around.
    scopes: Vec<Span>,
    /// Where the name is declared, and the scope that it is in.
    found: Vec<(u32, Span)>,
}

impl DeclarationFinder<'_> {
    fn declare(&mut self, it: &BindingIdentifier<'_>) {
        if it.name == self.name {
            self.found.extend(self.scopes.last().map(|scope| (it.span.start, *scope)));
        }
    }
}

impl<'a> VisitJs<'a> for DeclarationFinder<'_> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::BindingIdentifier(it) => self.declare(it),
            // Its name is declared around it, too.
            AstKind::Function(it) => it.id.iter().for_each(|id| self.declare(id)),
            _ => {}
        }
        self.scopes.extend(scope_of(kind));
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        if scope_of(kind).is_some() {
            self.scopes.pop();
        }
    }
}

/// What names belong to that are declared in a node.
fn scope_of(kind: AstKind<'_>) -> Option<Span> {
    match kind {
        AstKind::Program(it) => Some(Span::new(0, it.span.end.saturating_add(1))),
        AstKind::Function(it) => Some(Span::new(it.params.span.start, it.span.end)),
        AstKind::ArrowFunctionExpression(it) => {
            Some(Span::new(it.params.span.start, it.span.end.saturating_add(1)))
        }
        AstKind::BlockStatement(_)
        | AstKind::ForStatement(_)
        | AstKind::ForInStatement(_)
        | AstKind::ForOfStatement(_) => Some(kind.span()),
        _ => None,
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
        let outline = ScriptOutline::of(&text.into()).unwrap();
        let declared = |name| outline.declared_around((6, 4), name, &frames);
        let at = |place, frames: &[usize], is_top_level| {
            Some(DeclaredName { place, frames: frames.to_vec(), is_top_level })
        };
        assert_eq!(declared("RATE"), at((0, 6), &[2], true));
        assert_eq!(declared("outer"), at((1, 9), &[2], true));
        assert_eq!(declared("limit"), at((2, 8), &[1], false));
        assert_eq!(declared("a"), at((1, 15), &[1], false));
        assert_eq!(declared("hidden"), None);
        assert_eq!(declared("own"), None);
        assert_eq!(declared("missing"), None);
    }
}
