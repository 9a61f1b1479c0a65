//! Variables of blocks that have the name of another one of their function.
//!
//! The recorder knows a variable by its function and its name, so both are one to it. Where the inner one ends, the outer
//! one is recorded again.

use super::super::scopes::Scope;
use super::{Instrumenter, Piece, text};

impl Instrumenter<'_> {
    /// Visits a block, whose variables may hide others.
    pub(super) fn in_block(&mut self, scope: Scope, visit: impl FnOnce(&mut Self)) {
        let level = self.level();
        let mut names: Vec<String> =
            scope.names().filter(|name| self.owner(name) == Some(level)).map(str::to_owned).collect();
        names.sort_unstable();
        self.in_scope(scope, visit);
        self.hidden.extend(names.into_iter().map(|name| (level, name)));
    }

    /// Whether a variable hides another one of its function.
    pub(super) fn is_hiding(&self, name: &str) -> bool {
        let mut scopes = self.scopes.iter().rev().filter(|scope| scope.get(name).is_some());
        let (inner, outer) = (scopes.next(), scopes.next());
        let level = inner.and_then(|scope| scope.level);
        level.is_some() && level == outer.and_then(|scope| scope.level)
    }

    /// `__$ov(__$s1,0x…,()=>name);` for each variable that was hidden in what was visited since there were so many, with
    /// another end than `;` in an expression. It may be hidden although its declaration comes only later.
    pub(super) fn shown_again(&self, since: usize, end: &str) -> Vec<Piece> {
        let level = self.level();
        let hidden = self.hidden.get(since..).unwrap_or_default();
        let mut names: Vec<&String> = hidden
            .iter()
            .filter(|(of, name)| *of == level && self.owner(name) == Some(level))
            .map(|(_, name)| name)
            .collect();
        names.sort_unstable();
        names.dedup();
        let mut pieces = Vec::new();
        for name in names {
            pieces.push(text(format!("__$ov(__$s{level},")));
            pieces.push(self.variable(name));
            pieces.push(text(format!(",()=>{name}){end}")));
        }
        pieces
    }
}
