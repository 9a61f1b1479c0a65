//! Objects and lists that a statement writes out, and the parts of them.

use super::{STORING, Token, closing, from, has_word, is_assignment, is_keyword, parts, tokens};

/// What an object in a text has as a property; none if the text is not such an object, or does not show it.
pub(in crate::ask) fn property_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    inside(text, ["{", "}"])?.iter().find_map(|part| {
        let tokens = tokens(part);
        let mut all = tokens.iter().map(|token| token.text);
        match (all.next(), all.next()) {
            (Some(name), None) if name == key => Some(*part),
            (Some(name), Some(":")) if name == key => Some(from(part, &tokens, 2)),
            _ => None,
        }
    })
}

/// A part of what a statement writes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ask) struct WrittenPart<'a> {
    pub(in crate::ask) text: &'a str,
    /// The statement gives the whole as it is: it calls nothing with it but what stores it, and takes nothing of it.
    pub(in crate::ask) is_given: bool,
}

/// What the only dictionary or object in a statement that shows such an entry has under a key. The key is a text without
/// its quotes, or another constant.
pub(in crate::ask) fn entry_of<'a>(text: &'a str, key: &str) -> Option<WrittenPart<'a>> {
    let tokens = tokens(text);
    let value = |part: &'a str| {
        let (name, behind) = match part.chars().next()? {
            quote @ ('"' | '\'') => part.get(1..)?.split_once(quote)?,
            _ => part.split_at(part.find(':')?),
        };
        (name.trim() == key).then(|| behind.trim_start().strip_prefix(':'))?.map(str::trim)
    };
    let of_braces = |(at, _): (usize, &Token<'_>)| {
        let end = tokens.get(closing(&tokens, at)?)?.at.start;
        let mut all = parts(text.get(tokens.get(at)?.at.end..end)?).into_iter();
        let text = all.by_ref().find_map(value)?;
        // What is spread after it may have the key, too.
        let is_last = !all.any(|part| part.starts_with("**") || part.starts_with("..."));
        is_last.then(|| WrittenPart { text, is_given: is_given(&tokens, at) })
    };
    let braces = tokens.iter().enumerate().filter(|(_, token)| token.text == "{");
    let mut found = braces.filter_map(of_braces);
    found.next().filter(|_| found.next().is_none())
}

/// Whether a statement gives what it writes out in brackets as it is.
fn is_given(tokens: &[Token<'_>], open: usize) -> bool {
    let text_at = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text);
    let behind = text_at(closing(tokens, open).map(|close| close + 1));
    let before = text_at(open.checked_sub(1));
    if !matches!(behind, "" | ";" | "," | ")" | "]" | "}")
        || !matches!(before, "" | "=" | "return" | "yield" | "=>" | ":" | "," | "(" | "[" | "{")
    {
        return false;
    }
    let around = (0..open).rev().find(|at| closing(tokens, *at).is_some_and(|close| close > open));
    let Some(around) = around.filter(|at| tokens.get(*at).is_some_and(|token| token.opens() == 1)) else {
        return true;
    };
    let called = text_at(around.checked_sub(1));
    let is_call =
        text_at(Some(around)) == "(" && !is_keyword(called) && !matches!(called, "" | "=" | "=>" | ",");
    if is_call { STORING.contains(&called) } else { is_given(tokens, around) }
}

/// An item of a list in a text.
pub(in crate::ask) fn item_of(text: &str, index: usize) -> Option<&str> {
    let parts = inside(text, ["[", "]"])?;
    let is_clear =
        !parts.iter().take(index + 1).any(|part| part.starts_with(['*', '.']) || has_word(part, "for"));
    parts.get(index).copied().filter(|_| is_clear)
}

/// Which of the values that a statement takes apart it gives a variable, as in `a, b = pair`.
pub(in crate::ask) fn target_of(text: &str, name: &str) -> Option<usize> {
    let tokens = tokens(text);
    let assigns = (0..tokens.len()).find(|at| is_assignment(&tokens, *at))?;
    let targets = text.get(..tokens.get(assigns)?.at.start)?.trim();
    let targets = targets.trim_start_matches("const ").trim_start_matches("let ");
    let targets =
        inside(targets, ["[", "]"]).or_else(|| inside(targets, ["(", ")"])).unwrap_or_else(|| parts(targets));
    let at = targets.iter().position(|target| target.trim() == name)?;
    let is_clear = targets.len() > 1 && !targets.iter().any(|target| target.starts_with(['*', '.']));
    is_clear.then_some(at)
}

/// One of the values between commas of which an expression makes this many.
pub(in crate::ask) fn part_of(text: &str, index: usize, count: usize) -> Option<&str> {
    let parts = inside(text, ["[", "]"]).or_else(|| inside(text, ["(", ")"])).unwrap_or_else(|| parts(text));
    let is_clear = parts.len() == count && !parts.iter().any(|part| part.starts_with(['*', '.']));
    parts.get(index).copied().filter(|_| is_clear)
}

/// The same for the first list that a statement assigns and that has such an item.
pub(in crate::ask) fn assigned_item(text: &str, index: usize) -> Option<&str> {
    let tokens = tokens(text);
    let mut assigns = (0..tokens.len()).filter(|at| is_assignment(&tokens, *at));
    assigns.find_map(|at| item_of(from(text, &tokens, at + 1), index))
}

/// The same for the only list that is written out in a statement.
pub(in crate::ask) fn listed_item(text: &str, index: usize) -> Option<WrittenPart<'_>> {
    let tokens = tokens(text);
    // After a value, brackets are those of an item.
    let begins = |at: usize| match at.checked_sub(1).and_then(|at| tokens.get(at)) {
        Some(before) if before.is_name() => is_keyword(before.text),
        Some(before) => !matches!(before.text, ")" | "]" | "}"),
        None => true,
    };
    let mut lists =
        (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(|token| token.text == "[") && begins(*at));
    let list = lists.next().filter(|_| lists.next().is_none())?;
    let (open, close) = (tokens.get(list)?, tokens.get(closing(&tokens, list)?)?);
    let text = item_of(text.get(open.at.start..close.at.end)?, index)?;
    Some(WrittenPart { text, is_given: is_given(&tokens, list) })
}

/// Whether a text is an object or a list that says all that is in it.
pub(in crate::ask) fn is_whole(text: &str, brackets: [&str; 2]) -> bool {
    inside(text, brackets).is_some_and(|parts| !parts.iter().any(|part| part.starts_with("...")))
}

/// What the properties of an object in a text are copied from that it does not name; none unless that is one object.
pub(in crate::ask) fn spread_of(text: &str) -> Option<&str> {
    let parts = inside(text, ["{", "}"])?;
    let mut spreads = parts.iter().filter_map(|part| part.strip_prefix("..."));
    let spread = spreads.next()?;
    spreads.next().is_none().then_some(spread)
}

/// The parts of what is in brackets, if they are around all of a text.
pub(in crate::ask) fn inside<'a>(text: &'a str, [open, close]: [&str; 2]) -> Option<Vec<&'a str>> {
    let tokens = tokens(text);
    let is_around = tokens.first()?.text == open && closing(&tokens, 0)? + 1 == tokens.len();
    let (first, last) = (tokens.first()?, tokens.last()?);
    (is_around && last.text == close)
        .then(|| parts(text.get(first.at.end..last.at.start).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_an_object_or_a_list_is_its_own_expression() {
        assert_eq!(property_of("{ width: 3 * k, depth }", "width"), Some("3 * k"));
        assert_eq!(property_of("{ width: 3, depth }", "depth"), Some("depth"));
        assert_eq!(property_of("box", "depth"), None);
        let entries = [
            (r#"return {"name": name.upper(), "amount": amount}"#, "amount", Some(("amount", true))),
            ("rows = [{'id': 1, 'of': {'n': f(x, y)}}, other]", "n", Some(("f(x, y)", true))),
            ("rows.append({'n': f(x)})", "n", Some(("f(x)", true))),
            ("names = {1: one, 2: two}", "2", Some(("two", true))),
            ("send({ 'content-type': kind, size })", "content-type", Some(("kind", false))),
            ("out['m'] = max({'m': a, 'n': b}.values())", "m", Some(("a", false))),
            ("x = {'a': b, **rest}", "a", None),
            ("x = {**rest, 'a': b}", "a", Some(("b", true))),
            (r#"x = {"a": 1} if c else {"a": b}"#, "a", None),
            ("x = {**y}", "y", None),
            (r#"x = f"{a:b}""#, "a", None),
        ];
        for (text, key, expected) in entries {
            let found = entry_of(text, key).map(|part| (part.text, part.is_given));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(item_of("[count(), 3]", 1), Some("3"));
        assert_eq!(item_of("[...other, 3]", 1), None);
        assert_eq!(assigned_item("let a = f(); const b = [f(), 3]; a = 0;", 1), Some("3"));
        for (text, expected) in [
            ("return { tags: [row[0], count] };", Some(("count", true))),
            ("rows.push([a, b]);", Some(("b", true))),
            ("x = sorted([a, b])", Some(("b", false))),
            ("x = rest + [a, b]", Some(("b", false))),
            ("x = [a, b].filter(f)", Some(("b", false))),
            ("f([a, b], [c, d])", None),
            ("x = rows[a, b]", None),
        ] {
            let found = listed_item(text, 1).map(|part| (part.text, part.is_given));
            assert_eq!(found, expected, "{text}");
        }
        assert!(!is_whole("{ ...other, width: 3 }", ["{", "}"]));
        assert_eq!(spread_of("{ id, ...row.more }"), Some("row.more"));
    }
}
