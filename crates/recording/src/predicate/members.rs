//! Members of enumerations, which are recorded as text, such as `<State.NEW: 1>`.

use std::rc::Rc;

use super::evaluate::{Datum, Scope, of_literal, text};
use super::{Comparison, Expression};
use crate::error::Result;
use crate::value::Word;

impl Scope<'_> {
    /// An attribute of an enumeration or of one of its members, which are recorded as text.
    pub(super) fn of_enumeration(&self, of: &Expression, name: &str) -> Result<Option<Datum>> {
        Ok(match (self.value(of)?, name) {
            (Some(Datum::Member(member, ..)), "name") => member.rsplit('.').next().map(text),
            (Some(Datum::Member(_, value, _)), "value") => match Expression::parse(&value) {
                Ok(Expression::Literal(literal)) => Some(of_literal(&literal)),
                _ => None,
            },
            (Some(Datum::Other(Word::Atom(class))), _) => {
                let class = self.recording.atom(class)?;
                let path = class.text.strip_prefix("<class '").and_then(|rest| rest.strip_suffix("'>"));
                let Some(class) = path.and_then(|path| path.rsplit('.').next()) else { return Ok(None) };
                let base = self.base_of_member(&format!("<{class}.{name}: "))?;
                Some(Datum::Member(Rc::from(format!("{class}.{name}")), Rc::from(""), base))
            }
            _ => None,
        })
    }

    /// A member of an enumeration from its text, such as `<State.NEW: 1>`; none if that is of something else.
    pub(super) fn member(&self, text: &str, type_name: &str) -> Result<Option<Datum>> {
        let Some((name, value)) = parts_of(text, type_name) else { return Ok(None) };
        Ok(Some(Datum::Member(name, value, self.base_of_member(text)?)))
    }

    /// Notes a member of which only the name is known, because it was no value in the run, where it might equal a string
    /// or a number, or be less.
    pub(super) fn note_unknown_members(&self, left: &Datum, comparison: Comparison, right: &Datum) {
        let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        for (member, other) in [(left, right), (right, left)] {
            let (Datum::Member(name, value, None), Some(notes)) = (member, self.notes) else { continue };
            let may_equal = matches!(other, Datum::Integer(_) | Datum::Float(_) | Datum::Text(..));
            if value.is_empty() && (is_order || may_equal) {
                let class = name.split('.').next().unwrap_or(name);
                notes.borrow_mut().opaque.insert(Rc::from(class));
            }
        }
    }

    /// The string or number that the member is whose text begins so.
    fn base_of_member(&self, begin: &str) -> Result<Option<Rc<Datum>>> {
        let base = self.recording.base_of_member(begin)?;
        base.map(|base| self.datum(base).map(Rc::new)).transpose()
    }
}

/// The name and the value in the text of a member, such as `<State.NEW: 1>`.
fn parts_of(text: &str, type_name: &str) -> Option<(Rc<str>, Rc<str>)> {
    let (member, value) = text.strip_prefix('<')?.strip_suffix('>')?.split_once(": ")?;
    let (class, _) = member.split_once('.')?;
    (type_name.rsplit('.').next() == Some(class)).then(|| (Rc::from(member), Rc::from(value)))
}
