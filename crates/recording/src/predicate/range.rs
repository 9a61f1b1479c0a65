//! The integers of Python's `range`.

use super::containers::of_items;
use super::evaluate::{Datum, Scope};
use super::{Comparison, Expression};
use crate::error::{Error, Result};

/// A longer range is refused.
const MOST: usize = 10_000;

/// From the first one, 0 if that is not given, to before an end.
struct Numbers {
    from: i64,
    to: i64,
    step: i64,
}

impl Numbers {
    fn of(arguments: &Datum) -> Option<Self> {
        let Datum::Items(arguments) = arguments else { return None };
        let (from, to, step) = match **arguments {
            [Datum::Integer(to)] => (0, to, 1),
            [Datum::Integer(from), Datum::Integer(to)] => (from, to, 1),
            [Datum::Integer(from), Datum::Integer(to), Datum::Integer(step)] => (from, to, step),
            _ => return None,
        };
        (step != 0).then_some(Self { from, to, step })
    }

    fn has(&self, number: i64) -> bool {
        let is_between = if self.step > 0 {
            (self.from..self.to).contains(&number)
        } else {
            self.to < number && number <= self.from
        };
        is_between && number.abs_diff(self.from).is_multiple_of(self.step.unsigned_abs())
    }

    /// Whether a value equals one of them; none if that is not known.
    fn has_equal(&self, value: &Datum) -> Option<bool> {
        match value.plain() {
            Datum::Integer(number) => Some(self.has(*number)),
            Datum::Bool(value) => Some(self.has(i64::from(*value))),
            Datum::Float(number) => {
                Some(number.to_string().parse::<i64>().is_ok_and(|number| self.has(number)))
            }
            Datum::Other(_) | Datum::Member(..) => None,
            _ => Some(false),
        }
    }
}

/// All of them; none for arguments that the function does not have.
pub(super) fn items(arguments: &Datum) -> Result<Option<Datum>> {
    let Some(numbers) = Numbers::of(arguments) else { return Ok(None) };
    let all = std::iter::successors(Some(numbers.from), |number| number.checked_add(numbers.step));
    let found: Vec<i64> = all.take_while(|number| numbers.has(*number)).take(MOST + 1).collect();
    if found.len() > MOST {
        return Err(Error::question(format!("a `range` of more than {MOST} numbers is not supported")));
    }
    Ok(Some(of_items(found.into_iter().map(Datum::Integer))))
}

impl Scope<'_> {
    /// Whether a value is in the range of some arguments, however many numbers that has, or else not in it.
    pub(super) fn in_range(
        &self,
        value: &Datum,
        comparison: Comparison,
        arguments: &Expression,
    ) -> Result<Option<Datum>> {
        let numbers = self.value(arguments)?.as_ref().and_then(Numbers::of);
        let is_in = numbers.and_then(|numbers| numbers.has_equal(value));
        Ok(is_in.map(|is_in| Datum::Bool(is_in == (comparison == Comparison::In))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_the_numbers_of_pythons() {
        let table: [(&[i64], &[i64]); 7] = [
            (&[3], &[0, 1, 2]),
            (&[1, 3], &[1, 2]),
            (&[0, 5, 2], &[0, 2, 4]),
            (&[2, -1, -1], &[2, 1, 0]),
            (&[3, 3, -1], &[]),
            (&[i64::MAX - 1, i64::MAX, 5], &[i64::MAX - 1]),
            (&[i64::MIN, i64::MAX, i64::MAX], &[i64::MIN, -1, i64::MAX - 1]),
        ];
        let integers = |numbers: &[i64]| of_items(numbers.iter().copied().map(Datum::Integer));
        for (arguments, expected) in table {
            let found = items(&integers(arguments)).unwrap().unwrap();
            assert_eq!(format!("{found:?}"), format!("{:?}", integers(expected)), "{arguments:?}");
        }
        assert!(items(&integers(&[1, 2, 0])).unwrap().is_none());
        assert!(items(&integers(&[20_000])).is_err());
        let numbers = Numbers::of(&integers(&[0, 100_000, 2])).unwrap();
        for (value, is_in) in
            [(Datum::Integer(99_998), true), (Datum::Float(4.0), true), (Datum::None, false)]
        {
            assert_eq!(numbers.has_equal(&value), Some(is_in), "{value:?}");
        }
        assert_eq!(numbers.has_equal(&Datum::Float(2.5)), Some(false));
    }
}
