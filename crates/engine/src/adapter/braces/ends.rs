//! Whether what a loop iterates over has a known end.

use super::tokens::Kind;
use super::{Family, Token, has_call, text};
use crate::model::source::Loop;

/// Calls whose results have an end, among others also methods of Rust that only collections have.
const FINITE: [&str; 24] = [
    "array_chunk",
    "array_combine",
    "array_filter",
    "array_keys",
    "array_map",
    "array_merge",
    "array_reverse",
    "array_slice",
    "array_unique",
    "array_values",
    "chars",
    "drain",
    "entrySet",
    "explode",
    "getBytes",
    "iter",
    "iter_mut",
    "keySet",
    "keys",
    "range",
    "str_split",
    "toCharArray",
    "values",
    "values_mut",
];
/// Calls of Rust whose results have none.
const ENDLESS: [&str; 4] = ["cycle", "from_fn", "repeat", "successors"];

/// [`Loop::end_known`] of a loop over this expression, whose items get the names in the head.
pub(super) fn end_known(family: Family, head: &[Token], over: &[Token]) -> Option<String> {
    let known = || Some(Loop::HAS_END.to_owned());
    let calls = |names: &[&str]| {
        let is_one = |pair: &[Token]| matches!(pair, [name, open] if open.is("(") && names.contains(&name.text.as_str()));
        over.windows(2).any(is_one)
    };
    if family == Family::Rust && (calls(&ENDLESS) || has_open_range(over)) {
        return None;
    }
    if calls(&FINITE) || (family == Family::Rust && has_range(over)) {
        return known();
    }
    if has_call(over) || over.iter().any(|token| token.is("new")) {
        return None;
    }
    match family {
        // A name may be that of an iterator, a range or a channel, which need not have an end.
        Family::C => over.first().filter(|first| first.is("{")).and_then(|_| known()),
        Family::Rust => is_collection(over).then(known)?,
        // Only a function gives two values for each item and need not have an end.
        Family::Go if head.iter().any(|token| token.is(",")) => Some(format!("len({}) >= 0", text(over)?)),
        Family::Go => matches!(over, [one] if one.kind == Kind::Number).then(known)?,
        Family::Java => {
            let over = text(over)?;
            Some(format!("!({over} instanceof Iterable) || {over} instanceof java.util.Collection"))
        }
        Family::Php if over.first().is_some_and(|first| first.is("[")) => known(),
        Family::Php => Some(format!("is_array({})", text(over)?)),
    }
}

/// `[1, 2]` or `&names`; what follows `&mut` is often an iterator.
fn is_collection(over: &[Token]) -> bool {
    match over {
        [first, second, ..] => first.is("[") || (first.is("&") && !second.is("mut")),
        _ => false,
    }
}

fn has_range(over: &[Token]) -> bool {
    over.iter().any(|token| token.is("..") || token.is("..="))
}

/// `0..` has no end; `..` alone is a whole collection.
fn has_open_range(over: &[Token]) -> bool {
    let is_open = |at: usize| {
        let starts = at
            .checked_sub(1)
            .and_then(|before| over.get(before))
            .is_some_and(|from| !from.is("(") && !from.is("["));
        starts && over.get(at + 1).is_none_or(|next| next.is(")"))
    };
    (0..over.len()).any(|at| over.get(at).is_some_and(|token| token.is("..")) && is_open(at))
}

#[cfg(test)]
mod tests {
    use super::super::{loops, tokens};
    use super::*;

    #[test]
    fn ends_are_known_of_collections_and_ranges() {
        use Family::{C, Go, Java, Php, Rust};
        let (known, unknown) = (Some(Loop::HAS_END), None);
        let table = [
            (C, "{1, 2}", known),
            (C, "items", unknown),
            (C, "this->items", unknown),
            (C, "naturals()", unknown),
            (Rust, "&items", known),
            (Rust, "[1, 2]", known),
            (Rust, "items", unknown),
            (Rust, "&mut numbers", unknown),
            (Rust, "items.iter().enumerate()", known),
            (Rust, "0..n", known),
            (Rust, "(0..n.len()).rev()", known),
            (Rust, "items.drain(..)", known),
            (Rust, "0..", unknown),
            (Rust, "(0..).map(square)", unknown),
            (Rust, "items.iter().cycle()", unknown),
            (Rust, "naturals()", unknown),
            (Go, "items", unknown),
            (Go, "10", known),
            (Go, "naturals()", unknown),
            (Java, "map.entrySet()", known),
            (Java, "new Pages()", unknown),
            (Java, "pages", Some("!(pages instanceof Iterable) || pages instanceof java.util.Collection")),
            (Php, "$this->items", Some("is_array($this->items)")),
            (Php, "[1, 2]", known),
            (Php, "range(1, 9)", known),
            (Php, "naturals()", unknown),
        ];
        for (family, over, expected) in table {
            assert_eq!(end_known(family, &tokens("item"), &tokens(over)).as_deref(), expected, "{over}");
        }
        let pairs = end_known(Go, &tokens("_, item :="), &tokens("items"));
        assert_eq!(pairs.as_deref(), Some("len(items) >= 0"));
    }

    #[test]
    fn what_a_loop_goes_through_is_found() {
        let table = [
            (Family::C, "for (auto item : {1, 2}) f(item);"),
            (Family::Rust, "for item in items.iter() { f(item); }"),
            (Family::Go, "for item := range 10 {\n\tf(item)\n}"),
            (Family::Php, "<?php foreach (array_keys($all) as $item) { f($item); }"),
        ];
        for (family, source) in table {
            let found = loops(source, family).pop().and_then(|found| found.end_known);
            assert_eq!(found.as_deref(), Some(Loop::HAS_END), "{source}");
        }
    }
}
