//! Where the stack of an exception has the message, which is the program's own text.

use std::ops::Range;

/// The message, after the type: on the first line (V8), or else at the end (Python). A short one can be anywhere else,
/// too.
pub(super) fn message_in(stack: &str, message: &str) -> Option<Range<usize>> {
    let is_behind_type =
        |at: &usize| stack.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with(": "));
    let places = stack.match_indices(message).filter(|_| !message.is_empty());
    let mut places = places.map(|(at, _)| at).filter(is_behind_type);
    let first = places.next()?;
    let is_at_begin = !stack.get(..first)?.contains('\n');
    let at = if is_at_begin { first } else { places.last().unwrap_or(first) };
    Some(at..at + message.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_behind_the_type_and_nowhere_else() {
        let table = [
            ("  File \"/app/a.py\", line 3, in f\nKeyError: @3", "3"),
            ("E: /app/x:3\n  File \"/app/a.py\", line 3, in f\nE: /app/x:3", "none"),
            ("Error: @/app/x:3\n    at f (/app/a.js:3:1)\n    at E: /app/x:3", "/app/x:3"),
            ("  in f\nE: /app/x:3\n  in g\nE: @/app/x:3", "/app/x:3"),
            ("@gone\n    at gone (/app/a.js:3:1)", "gone"),
            ("  File \"/app/a.py\", line 3, in f", "3"),
            ("E: ", ""),
        ];
        for (marked, message) in table {
            let expected = marked.find('@').map(|at| at..at + message.len());
            assert_eq!(message_in(&marked.replace('@', ""), message), expected, "{marked}");
        }
    }
}
