//! Values of which only the text is recorded, where the text says what they are: numbers of other types than the language's own,
//! dates, and arrays.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use super::evaluate::{Datum, Scope, of_literal};
use super::{Expression, Function};
use crate::error::Result;
use crate::value::Kind;

/// What an evaluation notes.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The objects whose length or items it has read.
    pub(crate) read: HashSet<i64>,
    /// The types of values that it could not use, because only their text is known.
    pub(crate) opaque: BTreeSet<Rc<str>>,
    /// The types of containers that it could not use, because only their first items are recorded.
    pub(crate) cut: BTreeSet<Rc<str>>,
    /// The types of objects that it could not use, because they are too deep in others.
    pub(crate) unread: BTreeSet<Rc<str>>,
    /// The methods of the program that say what it asks about, and that it cannot follow.
    pub(crate) methods: BTreeSet<Rc<str>>,
}

/// The attributes of dates, in the order of their values in a text.
const OF_DATE: [&str; 7] = ["year", "month", "day", "hour", "minute", "second", "microsecond"];

/// Whether dates or times have an attribute.
pub(super) fn is_of_date(name: &str) -> bool {
    OF_DATE.contains(&name)
}

impl Scope<'_> {
    /// Notes that a value could not be used because only its text is known, if that is the reason.
    pub(super) fn note_opaque(&self, value: &Datum) -> Result<()> {
        if let (Some(notes), Datum::Object(number)) = (self.notes, value) {
            let object = self.recording.object(*number)?;
            if object.kind == Kind::Opaque {
                notes.borrow_mut().opaque.insert(object.type_name);
            }
        }
        Ok(())
    }

    /// Notes that what a value contains is not known, if that is so.
    pub(super) fn note_unknown(&self, value: &Datum) -> Result<()> {
        self.note_opaque(value)?;
        self.is_unread(value).map(drop)
    }

    /// Whether a value is an object of which nothing is recorded. Notes it if so.
    pub(super) fn is_unread(&self, value: &Datum) -> Result<bool> {
        let Datum::Object(number) = value else { return Ok(false) };
        let is_unread = self.recording.is_unread(*number, self.memory)?;
        if let Some(notes) = self.notes.filter(|_| is_unread) {
            let type_name = self.recording.object(*number)?.type_name;
            let mut notes = notes.borrow_mut();
            notes.read.insert(*number);
            notes.unread.insert(type_name);
        }
        Ok(is_unread)
    }

    /// An attribute of a date or a time.
    pub(super) fn of_date(&self, of: &Expression, name: &str) -> Result<Option<Datum>> {
        let Some(at) = OF_DATE.iter().position(|each| *each == name) else { return Ok(None) };
        let (Some(Datum::Items(parts)), Some(Datum::Text(class, _))) = (self.value(of)?, self.class(of)?)
        else {
            return Ok(None);
        };
        let at = match &*class {
            "date" | "datetime" => Some(at),
            "time" => at.checked_sub(3),
            _ => None,
        };
        // What is zero at the end is left out.
        Ok(at.map(|at| parts.get(at).cloned().unwrap_or(Datum::Integer(0))))
    }
}

/// What a text says of a value of a type: `Decimal('2.50')`, `datetime.date(2026, 3, 1)`, `array('i', [1, 2])`, `12n`.
pub(super) fn known_by_text(type_name: &str, text: &str) -> Option<Datum> {
    let inside = || text.split_once('(')?.1.strip_suffix(')');
    match type_name {
        "bigint" => number(text.strip_suffix('n')?),
        "Date" => Some(super::evaluate::text(text)),
        // As it is written where it is a key.
        "symbol" => Some(super::evaluate::text(&format!("[{text}]"))),
        "Decimal" => number(inside()?.trim_matches('\'')),
        "Fraction" => {
            let (above, below) = inside()?.split_once(", ")?;
            Some(Datum::Float(above.parse::<f64>().ok()? / below.parse::<f64>().ok()?))
        }
        "array" => {
            let (begin, end) = (text.find('[')?, text.rfind(']')?);
            items(text.get(begin..=end)?)
        }
        "datetime" | "date" | "time" => items(&format!("[{}]", inside()?)),
        // Scalars of NumPy, whose text names their type since its version 2.
        _ if text.starts_with("np.") => number(inside()?),
        _ => number(text),
    }
}

fn number(text: &str) -> Option<Datum> {
    let integer = text.parse().ok().map(Datum::Integer);
    integer.or_else(|| text.parse().ok().map(Datum::Float))
}

/// The items of a list of literals.
fn items(list: &str) -> Option<Datum> {
    let Ok(Expression::List(items)) = Expression::parse(list) else { return None };
    let items: Option<Rc<[Datum]>> = items.iter().map(literal).collect();
    items.map(Datum::Items)
}

fn literal(expression: &Expression) -> Option<Datum> {
    match expression {
        Expression::Literal(literal) => Some(of_literal(literal)),
        Expression::List(items) => items.iter().map(literal).collect::<Option<_>>().map(Datum::Items),
        Expression::Of(Function::Negative, of) => match literal(of)? {
            Datum::Integer(number) => Some(Datum::Integer(-number)),
            Datum::Float(number) => Some(Datum::Float(-number)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_what_a_value_is() {
        let table = [
            ("Decimal", "Decimal('-2.50')", "Float(-2.5)"),
            ("Decimal", "Decimal('3')", "Integer(3)"),
            ("Fraction", "Fraction(1, 4)", "Float(0.25)"),
            ("bigint", "12n", "Integer(12)"),
            ("bigint", "100000000000000000000n", "Float(1e20)"),
            ("float64", "np.float64(1.5)", "Float(1.5)"),
            ("int64", "7", "Integer(7)"),
            ("date", "datetime.date(2026, 3, 1)", "Items([Integer(2026), Integer(3), Integer(1)])"),
            ("array", "array([1, ('a', -2)])", "Items([Integer(1), Items([Text(\"a\", 1), Integer(-2)])])"),
            ("array", "array('i', [])", "Items([])"),
            ("Date", "1970-01-01T00:00:00.005Z", "Text(\"1970-01-01T00:00:00.005Z\", 24)"),
        ];
        for (type_name, text, expected) in table {
            assert_eq!(format!("{:?}", known_by_text(type_name, text).unwrap()), expected, "{text}");
        }
        for (type_name, text) in
            [("array", "array([<Job object>])"), ("array", "array([1, 2"), ("Lock", "<lock>")]
        {
            assert!(known_by_text(type_name, text).is_none(), "{text}");
        }
    }
}
