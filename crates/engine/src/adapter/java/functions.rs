//! The names of the methods that a source of Java has, found by its tokens.

use super::super::braces::{Token, closing, tokens};

/// Words before a parenthesis that do not name a method.
const STATEMENTS: [&str; 7] = ["if", "for", "while", "switch", "catch", "synchronized", "try"];

/// With these, a class has methods that its source does not show.
const HEIRS: [&str; 2] = ["extends", "implements"];
/// What the compiler makes for an enum.
const OF_ENUMS: [&str; 2] = ["values", "valueOf"];
/// Annotations that make no methods.
const PLAIN: [&str; 5] = ["Override", "SuppressWarnings", "Deprecated", "FunctionalInterface", "SafeVarargs"];

/// The methods with a body, in their order, each name once. None if the source has a word that may be the name all the
/// same, or if its classes may have methods that it does not show.
pub(super) fn names_without(text: &str, name: &str) -> Option<Vec<String>> {
    let simple = name.rsplit(['.', '#', ':']).next().unwrap_or(name);
    let is_word = simple.chars().all(|letter| letter.is_alphanumeric() || "_$".contains(letter));
    let tokens = tokens(text);
    let is_there = tokens.iter().any(|token| token.is_name() && token.is(simple));
    if !is_word || is_there || OF_ENUMS.contains(&simple) || has_other_methods(&tokens) {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let is_called = before.is_some_and(|before| before.is("new") || before.is("."));
        let is_method = token.is_name() && !is_called && !STATEMENTS.contains(&token.text.as_str());
        let open =
            Some(at + 1).filter(|open| is_method && tokens.get(*open).is_some_and(|next| next.is("(")));
        let behind = open.and_then(|open| closing(&tokens, open)).and_then(|close| tokens.get(close + 1));
        if behind.is_some_and(|next| next.is("{") || next.is("throws")) && !names.contains(&token.text) {
            names.push(token.text.clone());
        }
    }
    Some(names)
}

fn has_other_methods(tokens: &[Token]) -> bool {
    let is_maker = |pair: &[Token]| matches!(pair, [at, name] if at.is("@") && !PLAIN.iter().any(|plain| name.is(plain)));
    tokens.iter().any(|token| HEIRS.iter().any(|heir| token.is(heir))) || tokens.windows(2).any(is_maker)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = "\
record Item(int count) {
    Item { if (count < 0) throw new IllegalArgumentException(); }
    int twice() throws Exception { return 2 * count; }
    static Runnable task() { for (int i = 0; i < 2; i++) { run(i); } return new Thread() { public void run() {} }; }
}
";

    #[test]
    fn methods_are_listed_for_a_name_that_is_not_there() {
        let names = names_without(SHOP, "Item.thrice");
        assert_eq!(names.unwrap_or_default(), ["Item", "twice", "task", "run"]);
        for there in ["twice", "Item.count", "Item#run", "Item.<init>"] {
            assert_eq!(names_without(SHOP, there), None, "{there}");
        }
    }

    #[test]
    fn methods_that_a_source_does_not_show_may_be_there() {
        let table = [
            ("class Dog extends Animal {}", "speak"),
            ("enum Color { RED }", "values"),
            ("@Getter class Point { int x; }", "getX"),
        ];
        for (source, name) in table {
            assert_eq!(names_without(source, name), None, "{source}");
        }
        let plain = "class Dog { @Override public String toString() { return \"dog\"; } }";
        assert_eq!(names_without(plain, "speak").unwrap_or_default(), ["toString"]);
    }
}
