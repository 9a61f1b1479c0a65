//! Arrays of `NumPy` and tables of pandas, which are recorded as lists and dictionaries: what is asked about all that is in
//! them, such as `(values < 0).any()`, and parts of them by their labels.

use super::containers::{of_items, wide};
use super::evaluate::{Datum, Scope};
use super::{Each, Expression, Function};
use crate::error::Result;
use crate::text::is_table;
use crate::value::{Key, Kind, Owner, Word};

/// The name of an element in a condition about each.
const ELEMENT: &str = "(element)";
/// Attributes by which parts of a table are taken by their labels, the row first.
const BY_LABELS: [&str; 2] = ["loc", "at"];

/// What a function makes of the elements of an array. A comparison of an array is one of each element.
pub(super) fn of_elements(function: Function, of: Expression) -> Expression {
    let elements = |of| Expression::of(Function::Elements, of);
    let over = match of {
        Expression::Comparison(array, rest) if matches!(rest.as_slice(), [_]) => {
            let variables = vec![ELEMENT.to_owned()];
            let value = Expression::Comparison(Box::new(Expression::Name(ELEMENT.to_owned())), rest);
            Expression::Each(Box::new(Each { value, variables, over: elements(*array), filter: None }))
        }
        other => elements(other),
    };
    Expression::of(function, over)
}

impl Scope<'_> {
    /// All that is in an array, a table or a container, row by row. None if not all of it is recorded.
    pub(super) fn elements(&self, of: &Datum) -> Result<Option<Vec<Datum>>> {
        let number = match of {
            Datum::Items(items) => return Ok(Some(items.to_vec())),
            Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) => return Ok(Some(vec![of.clone()])),
            Datum::Object(number) => *number,
            _ => return Ok(None),
        };
        self.note_opaque(of)?;
        let kind = self.recording.object(number)?.kind;
        if !matches!(kind, Kind::List | Kind::Tuple | Kind::Dictionary | Kind::Set) {
            return Ok(None);
        }
        let Some(pairs) = self.pairs(of)? else { return Ok(None) };
        if self.length_of(number)? != Some(Word::Integer(wide(pairs.len()))) {
            self.note_cut(number)?;
            return Ok(None);
        }
        let mut found = Vec::new();
        for (_, item) in pairs {
            match item {
                Datum::Object(_) => {
                    let Some(inner) = self.elements(&item)? else { return Ok(None) };
                    found.extend(inner);
                }
                simple => found.push(simple),
            }
        }
        Ok(Some(found))
    }

    /// What a test gives for a value, or for each element of an array. What is missing in a column is not a number.
    pub(super) fn of_each(&self, of: &Datum, test: fn(&Datum) -> Option<bool>) -> Result<Option<Datum>> {
        if !matches!(of, Datum::Object(_) | Datum::Items(_)) {
            return Ok(test(of).map(Datum::Bool));
        }
        let is_missing = test(&Datum::Float(f64::NAN)).unwrap_or(false);
        let of_one = |element: Datum| match element {
            Datum::None => is_missing,
            other => test(&other).unwrap_or(false),
        };
        Ok(self.elements(of)?.map(|elements| of_items(elements.into_iter().map(of_one).map(Datum::Bool))))
    }

    /// The least or the greatest element of an array, which is recorded where not all of it is.
    pub(super) fn extreme_of(&self, function: Function, of: &Expression) -> Result<Option<Datum>> {
        let Expression::Of(Function::Elements, array) = of else { return Ok(None) };
        let name = if function == Function::Least { "min" } else { "max" };
        let Some(Datum::Object(number)) = self.value(array)? else { return Ok(None) };
        let Some(name) = self.recording.number(name) else { return Ok(None) };
        self.note(number);
        let found = self.memory.get(Owner::object(number), Key::Name(name))?;
        found.map(|word| self.datum(word)).transpose()
    }

    /// How many rows a table has. Its length is the number of its columns.
    pub(super) fn rows_of(&self, number: i64) -> Result<Option<Word>> {
        if &*self.recording.object(number)?.type_name != "DataFrame" {
            return Ok(None);
        }
        let Some(shape) = self.recording.number("shape") else { return Ok(None) };
        match self.memory.get(Owner::object(number), Key::Name(shape))? {
            Some(Word::Object(shape)) => self.memory.get(Owner::object(shape), Key::Index(0)),
            _ => Ok(None),
        }
    }

    /// `table.loc[row, column]` and `array[row, column]` as what is asked for: an item of an item.
    pub(super) fn by_two_keys(&self, of: &Expression, key: &Expression) -> Result<Option<Expression>> {
        let item = |of, at| Expression::Item(Box::new(of), Box::new(at));
        if let Expression::Attribute(table, name) = of
            && BY_LABELS.contains(&name.as_str())
            && self.is_table(table)?
        {
            return Ok(Some(match key {
                Expression::List(keys) => match keys.as_slice() {
                    [row, column] => item(item((**table).clone(), column.clone()), row.clone()),
                    _ => return Ok(None),
                },
                row => item((**table).clone(), row.clone()),
            }));
        }
        let Expression::List(keys) = key else { return Ok(None) };
        let Some(Datum::Object(number)) = self.value(of)? else { return Ok(None) };
        if self.recording.object(number)?.kind != Kind::List {
            return Ok(None);
        }
        Ok(Some(keys.iter().cloned().fold(of.clone(), item)))
    }

    fn is_table(&self, of: &Expression) -> Result<bool> {
        let Some(Datum::Object(number)) = self.value(of)? else { return Ok(false) };
        Ok(is_table(&self.recording.object(number)?.type_name))
    }

    /// Notes that an item is not recorded, if a list is so long or a dictionary so large.
    pub(super) fn note_beyond(&self, of: &Expression, at: &Expression) -> Result<()> {
        let (Some(Datum::Object(number)), Some(at)) = (self.value(of)?, self.value(at)?) else {
            return Ok(());
        };
        if let Some(method) = self.recording.method_of(number, &["__getitem__"])?
            && self.recording.kept_name(&self.recording.object(number)?.type_name).is_none()
        {
            self.note_method(&method);
        }
        match (self.length_of(number)?, at) {
            _ if self.is_unread(&Datum::Object(number))? => Ok(()),
            _ if self.recording.object(number)?.kind == Kind::Dictionary => {
                if self.has_all_keys(number)? {
                    Ok(())
                } else {
                    self.note_cut(number)
                }
            }
            (Some(Word::Integer(length)), Datum::Integer(at)) if (-length..length).contains(&at) => {
                self.note_cut(number)
            }
            _ => Ok(()),
        }
    }

    /// Notes that not all of a container is recorded.
    pub(super) fn note_cut(&self, number: i64) -> Result<()> {
        if let Some(notes) = self.notes {
            notes.borrow_mut().cut.insert(self.recording.object(number)?.type_name);
        }
        Ok(())
    }
}
