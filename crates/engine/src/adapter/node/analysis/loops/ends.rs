//! Whether what a loop iterates over has a known end.

use oxc_ast::ast::{CallExpression, Expression, MemberExpression, Statement};
use oxc_ast_visit::{VisitJs, walk_js};

use super::condition::{is_read, written};
use crate::javascript::positions::bare;
use crate::model::source::Loop;

/// Methods whose results have an end.
const FINITE: [&str; 8] = ["concat", "entries", "keys", "slice", "sort", "split", "toSorted", "values"];
/// Those among them whose results also go through what is added later.
const LIVE: [&str; 4] = ["entries", "keys", "sort", "values"];
/// Methods that add to a collection.
const ADDS: [&str; 5] = ["add", "push", "set", "splice", "unshift"];

/// [`Loop::end_known`] of a loop with this body over this expression. Arrays, strings, maps and sets have a length or size, and iterators
/// have none.
pub(super) fn end_known(over: &Expression<'_>, body: &Statement<'_>, text: &str) -> Option<String> {
    let is_known = match bare(over) {
        Expression::ArrayExpression(_) | Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => {
            true
        }
        Expression::CallExpression(call) => {
            let method = call.callee.as_member_expression();
            method.and_then(MemberExpression::static_property_name).is_some_and(|name| {
                let source = method.filter(|_| LIVE.contains(&name)).map(MemberExpression::object);
                FINITE.contains(&name) && !source.is_some_and(|source| adds_to(source, body, text))
            })
        }
        read if is_read(read) && !adds_to(read, body, text) => {
            let read = written(read, text)?;
            return Some(format!("(({read}).length ?? ({read}).size) >= 0"));
        }
        _ => false,
    };
    is_known.then(|| Loop::HAS_END.to_owned())
}

/// Whether the body of a loop adds to a collection, by the name of it that the loop has.
fn adds_to(collection: &Expression<'_>, body: &Statement<'_>, text: &str) -> bool {
    let mut adding = Adding { collection: written(collection, text), text, is_found: false };
    adding.visit_statement(body);
    adding.is_found
}

struct Adding<'t> {
    collection: Option<String>,
    text: &'t str,
    is_found: bool,
}

impl<'a> VisitJs<'a> for Adding<'_> {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.is_found |= it.callee.as_member_expression().is_some_and(|method| {
            method.static_property_name().is_some_and(|name| ADDS.contains(&name))
                && written(method.object(), self.text) == self.collection
        });
        walk_js::walk_call_expression(self, it);
    }
}
