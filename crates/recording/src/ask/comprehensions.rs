//! Comprehensions and generator expressions of Python. Their variables are not recorded, and neither are the lines of
//! those that run as separate functions: all but generator expressions are inlined from Python 3.12 on.

use super::statement;
use crate::reading::{Code, Recording, is_file};
use crate::spelling::Spelling;

/// How many lines above one the statement that it is part of is looked for.
const MOST_LINES: i64 = 20;

/// The line of the statement that ran with a comprehension that a line is part of; none if it is part of none.
pub(crate) fn statement_around(recording: &Recording, file: &str, line: i64) -> Option<i64> {
    if recording.spelling != Spelling::Python {
        return None;
    }
    let places = recording.places_of(|code| is_file(&code.path, file)).into_iter().rev();
    let mut above = places.filter(|(_, place)| (line - MOST_LINES..line).contains(&place.line));
    let is_around = |begin: i64, code: &Code| {
        let text = recording.statement(code, begin);
        let at = usize::try_from(line - begin).unwrap_or_default();
        statement::comprehensions_by_line(&text).iter().any(|(lines, _)| lines.contains(&at))
    };
    let found = above
        .find(|(_, place)| recording.codes.get(&place.code).is_some_and(|code| is_around(place.line, code)));
    found.map(|(_, place)| place.line)
}

/// That a variable is one of a comprehension that ran, with the condition to ask instead of one about it, or what to ask
/// about; none if no comprehension has such a variable.
pub(super) fn note(recording: &Recording, variable: &str, condition: Option<&str>) -> Option<String> {
    if recording.spelling != Spelling::Python {
        return None;
    }
    recording.places_of(|_| true).into_iter().find_map(|(id, place)| {
        let code = recording.codes.get(&place.code)?;
        let text = recording.statement(code, place.line);
        let mut all = statement::comprehensions_by_line(&text).into_iter();
        let (_, found) = all.find(|(_, found)| found.variables.contains(&variable))?;
        let over = found.over.split_whitespace().collect::<Vec<_>>().join(" ");
        let instead = condition.map(|condition| {
            format!("any({condition} for {} in {over})", found.variables.join(", "))
        });
        let instead = instead.filter(|instead| recording.expression(instead).is_ok()).unwrap_or(over);
        let place = recording.place_text(Some(id));
        Some(format!("variables of comprehensions are not recorded, such as `{variable}` in {place}; ask about `{instead}`"))
    })
}
