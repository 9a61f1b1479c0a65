//! What is sent to a generator.

use super::{Parameter, Token, argument, closing, is_assignment, is_keyword, tokens, value_of};

/// The methods by which generators are sent a value.
const METHODS: [&str; 3] = ["send", "asend", "next"];

/// Whether an expression is a `yield`, which gives what is sent, and not a `yield from`.
pub(in crate::ask) fn is_sent(text: &str) -> bool {
    let tokens = tokens(text);
    let mut words = tokens.iter().map(|token| token.text).skip_while(|word| *word == "(");
    words.next() == Some("yield") && !words.next().is_some_and(hands_on)
}

/// Whether a statement hands what it is sent on to another generator.
pub(in crate::ask) fn delegates(text: &str) -> bool {
    tokens(text)
        .windows(2)
        .any(|pair| matches!(pair, [first, second] if first.text == "yield" && hands_on(second.text)))
}

fn hands_on(word: &str) -> bool {
    matches!(word, "from" | "*")
}

/// What a statement sends to a generator; none if it does not.
pub(in crate::ask) fn sent(text: &str) -> Option<&str> {
    let tokens = tokens(text);
    let is_it =
        |pair: &&[Token<'_>]| matches!(pair, [dot, name] if dot.text == "." && METHODS.contains(&name.text));
    let method = tokens.windows(2).find(is_it)?.last()?.text;
    argument(text, method, Parameter { name: "", position: 0 }, 0)
}

/// The names of the functions that a statement calls, in the order in which these calls begin. None where one of them may
/// run several times, or not at all.
pub(in crate::ask) fn calls_in_order(text: &str) -> Vec<&str> {
    let tokens = tokens(text);
    let is_free = |token: &Token<'_>| {
        matches!(
            token.text,
            "for" | "while" | "=>" | "lambda" | "if" | "else" | "and" | "or" | "?" | "&&" | "||" | "??"
        )
    };
    let mut found: Vec<(usize, &str)> = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        if let [name, open] = pair
            && open.text == "("
            && (name.text == "]" || name.text == ")" || name.is_name() && !is_keyword(name.text))
        {
            found.push((closing(&tokens, at + 1).unwrap_or(tokens.len()), name.text));
        }
    }
    found.sort_unstable();
    if tokens.iter().any(is_free) { Vec::new() } else { found.into_iter().map(|(_, name)| name).collect() }
}

/// What a statement assigns; all of it if that is computed from what was there.
pub(in crate::ask) fn stored(text: &str) -> Option<&str> {
    let tokens = tokens(text);
    let assigns = (0..tokens.len()).any(|at| is_assignment(&tokens, at));
    let value = value_of(text, "");
    assigns.then_some(if value.is_compound { text } else { value.text })
}

/// Whether a statement assigns to a variable.
pub(in crate::ask) fn assigns(text: &str, name: &str) -> bool {
    let tokens = tokens(text);
    let is_it =
        |at: usize| is_assignment(&tokens, at) && tokens.get(at - 1).is_some_and(|token| token.text == name);
    (1..tokens.len()).any(is_it)
}

/// The variables whose items a call is given: `args` and `more` in `call(*args, **more)`, `call(...args)` or
/// `call.apply(this, args)`.
pub(in crate::ask) fn spreads(text: &str) -> Vec<&str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    let mut found = Vec::new();
    for (at, _) in text.match_indices(['*', '.']) {
        let (before, name) = text.split_at(at);
        let name = name.get(1..).unwrap_or_default();
        let is_spread = before.trim_end_matches(['*', '.']).trim_end().ends_with(['(', ',']);
        if is_spread && name.starts_with(|first: char| is_part(first) && !first.is_numeric()) {
            found.push(name.split(|letter| !is_part(letter)).next().unwrap_or_default());
        }
    }
    let applied = text.split_once(".apply(").and_then(|(_, given)| given.split_once(')')?.0.rsplit_once(','));
    found.extend(applied.map(|(_, name)| name.trim()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_begin_when_their_arguments_are_known() {
        assert_eq!(
            calls_in_order("x = first(second(1), third()) + fs[0](2)"),
            ["second", "third", "first", "]"]
        );
        assert_eq!(calls_in_order("x = first() if done() else 0"), [""; 0]);
    }

    #[test]
    fn a_yield_returns_what_is_sent() {
        for (text, expected) in [
            ("yield total", true),
            ("(yield)", true),
            ("yield from rows", false),
            ("yield* rows", false),
            ("total", false),
        ] {
            assert_eq!(is_sent(text), expected, "{text}");
        }
        assert_eq!(sent("total = rows.send(price + 1)"), Some("price + 1"));
        assert_eq!(sent("total = await rows.asend(price)"), Some("price"));
        assert_eq!(sent("total = next(rows)"), None);
    }
}
