//! Whether values count as true, and what methods of the program say of their objects: `__bool__` and `__len__`.

use std::rc::Rc;

use super::Expression;
use super::evaluate::{Datum, Scope};
use crate::error::Result;
use crate::methods::Method;
use crate::value::Word;

/// Methods that call each other are followed so far, and no further.
const MOST_DEPTH: usize = 16;

impl Scope<'_> {
    /// Whether a value counts as true; none if that is not known.
    pub(super) fn is_true(&self, value: &Datum) -> Result<Option<bool>> {
        let is_javascript = self.is_javascript();
        Ok(Some(match value {
            Datum::None | Datum::Undefined => false,
            Datum::Bool(value) => *value,
            Datum::Integer(number) => *number != 0,
            Datum::Float(number) => *number != 0.0 && !(is_javascript && number.is_nan()),
            Datum::Text(_, length) => *length > 0,
            // In JavaScript, an empty container counts as true.
            Datum::Items(items) => is_javascript || !items.is_empty(),
            Datum::Object(number) => match self.recording.method_of(*number, &["__bool__", "__len__"])? {
                Some(method) => {
                    let Some((of, expression)) = self.followed(&method, *number) else { return Ok(None) };
                    let named = [(of, Datum::Object(*number))];
                    let holds = self.with(&named, &mut |scope| scope.holds(&expression))?;
                    if holds.is_none() {
                        self.note_method(&method);
                    }
                    return Ok(holds);
                }
                None if is_javascript => true,
                None => match self.length_of(*number)? {
                    None if self.is_unread(value)? => return Ok(None),
                    length => length != Some(Word::Integer(0)),
                },
            },
            Datum::Member(_, _, Some(plain)) => return self.is_true(plain),
            Datum::Member(..) | Datum::Other(_) => true,
        }))
    }

    /// The expression that a method without arguments returns, and the name of the object in it; notes the method if it cannot
    /// be followed.
    pub(super) fn followed<'m>(&self, method: &'m Method, object: i64) -> Option<(&'m str, Expression)> {
        self.note(object);
        let returned = self.recording.returned_by(method).filter(|_| self.depth() < MOST_DEPTH);
        if returned.is_none() {
            self.note_method(method);
        }
        returned
    }

    /// Notes a method that says what is asked about, and that is not followed.
    pub(super) fn note_method(&self, method: &Method) {
        if let Some(notes) = self.notes {
            notes.borrow_mut().methods.insert(Rc::from(method.name.as_str()));
        }
    }
}
