//! Where on a line a breakpoint goes.

use crate::adapter::LanguageFacts;
use crate::model::breakpoint::AdjustedPosition;
use crate::model::source::{Code, Function};
use crate::sources;

/// The column of a line that is nearest to the one asked for, unless code begins there.
pub(super) fn at_column(columns: Vec<u32>, asked: u32) -> AdjustedPosition {
    match sources::nearest(&columns, asked) {
        Some(column) if column != asked => {
            AdjustedPosition { column: Some(column), columns, ..AdjustedPosition::default() }
        }
        _ => AdjustedPosition::default(),
    }
}

/// Where the code begins that a text of a line is part of; none if that is the first on the line, where a breakpoint on
/// the line goes. `columns` are those where code begins, ascending.
pub(super) fn of_text(line: &str, text: &str, columns: &[u32]) -> Option<u32> {
    let start = sources::column_of(line, text)?;
    let in_front = columns.iter().rfind(|column| **column <= start).copied();
    // The code of a declaration begins after its name, so code that begins before may have ended; before an arrow, it
    // contains the function.
    let has_ended = |column| {
        let between = sources::between_columns(line, column, start);
        between.contains([';', '{', '}']) || between.contains("=>")
    };
    let found = match in_front.filter(|column| !has_ended(*column)) {
        None => columns.iter().find(|column| **column >= start).copied().or(in_front),
        around => around,
    };
    found.filter(|found| columns.first() != Some(found))
}

/// Says that a line stops when a function is defined.
pub(super) fn of_definition(
    code: &Code,
    line: u32,
    column: Option<u32>,
    facts: &LanguageFacts,
) -> Option<String> {
    if !facts.passes_definitions {
        return None;
    }
    let Function { name, body, body_column, .. } = code.defined_at(line)?;
    if *body != line {
        return Some(format!(
            "line {line} defines `{name}`: it stops at the definition, not at calls; the body begins on line {body}"
        ));
    }
    if !facts.has_columns {
        return Some(format!(
            "line {line} defines `{name}` and has its body: it stops at the definition, too"
        ));
    }
    let columns = code.columns(line);
    let is_in_body = column.is_some() || columns.first().is_some_and(|first| first >= body_column);
    // A declaration begins before its code.
    let body = columns.iter().find(|column| *column >= body_column).unwrap_or(body_column);
    (!is_in_body).then(|| {
        format!(
            "line {line} defines `{name}` and has its body: it stops at the definition, not at calls; the body \
             begins at column {body}"
        )
    })
}

/// Says where else code is on a line that has a whole function beside other code, which a text alone may not tell apart.
pub(super) fn of_line_with_function(code: &Code, line: u32, column: Option<u32>) -> Option<String> {
    let columns = code.columns(line);
    let taken = column.or(columns.first().copied())?;
    let has_function = code.nameless.contains(&(line, line));
    (has_function && columns.len() > 1).then(|| {
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        format!(
            "line {line} has a function and other code, at columns {}; this is at column {taken}: give `column` for \
             another",
            columns.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_means_the_code_that_it_begins_in() {
        let line = "const all = [1].map((x) => { tick(); const y = x * 2; if (y) stop(); return y; });";
        let at = |text: &str| sources::column_of(line, text).unwrap();
        let columns: Vec<u32> =
            ["[1].map", "tick()", "x * 2", "if (y)", "stop()", "return"].map(at).into_iter().collect();
        let table = [
            (line, None),
            ("all = [1]", None),
            (".map((x) =>", None),
            ("tick();", Some("tick()")),
            ("const y  = x * 2", Some("x * 2")),
            ("x * 2", Some("x * 2")),
            ("* 2", Some("x * 2")),
            ("if (y)", Some("if (y)")),
            ("(y) stop", Some("if (y)")),
            ("return y", Some("return")),
            ("});", Some("return")),
        ];
        for (text, expected) in table {
            assert_eq!(of_text(line, text, &columns), expected.map(at), "{text}");
        }
        assert_eq!(of_text(line, "tick()", &[]), None);
        let line = "const all = [1].map((x) => x * 2);";
        let at = |text: &str| sources::column_of(line, text).unwrap();
        // V8 has places for calls, for what an expression does, and for the return.
        let columns = ["[1]", "map", "* 2", ");"].map(at);
        for (text, expected) in
            [(line, None), (".map((x)", None), ("map((x)", Some("map")), ("x * 2", Some("* 2"))]
        {
            assert_eq!(of_text(line, text, &columns), expected.map(at), "{text}");
        }
    }
}
