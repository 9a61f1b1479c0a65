//! What is a credential and what is not, in tables. No secret is in one piece: tools that search repositories for
//! secrets would find them.

mod named;
mod negatives;
mod shaped;

use serde_json::Value;

use super::{MARK, Redaction, shapes};
use named::NAMED;
use negatives::NEGATIVES;
use shaped::{PARTS, TOKENS};

/// This many characters of a class, each time the same ones.
fn body(class: &str, length: usize) -> String {
    let characters: Vec<char> = class.chars().collect();
    let mut state = 7_usize;
    let mut next = || {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
        characters[(state >> 8) % characters.len()]
    };
    (0..length).map(|_| next()).collect()
}

fn cleaned(text: &str) -> String {
    let mut value = Value::from(text);
    Redaction::of(Some("/home/ann".into()), Some("/work/app".into())).clean(&mut value);
    value.as_str().unwrap().to_owned()
}

#[test]
fn every_credential_is_redacted_completely() {
    let mut count = 0;
    let mut failures = Vec::new();
    let mut check = |text: &str, expected: &str, is_shape: bool| {
        count += 1;
        if is_shape && shapes(text) != expected {
            failures.push(format!("{text}\n  shapes: {}\n  not:    {expected}", shapes(text)));
        }
        if cleaned(text) != expected {
            failures.push(format!("{text}\n  clean:  {}\n  not:    {expected}", cleaned(text)));
        }
    };
    for (prefix, class, length) in TOKENS {
        check(&format!("{prefix}{}", body(class, *length)), MARK, true);
    }
    for (before, first, second, after) in PARTS {
        check(&format!("{before}{first}{second}{after}"), &format!("{before}{MARK}{after}"), true);
    }
    for (before, first, second, after) in NAMED {
        check(&format!("{before}{first}{second}{after}"), &format!("{before}{MARK}{after}"), false);
    }
    println!("{count} positives");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
    assert!(count >= 120, "{count}");
}

/// Where a token may occur, with `{}` in its place.
const CONTEXTS: &[&str] = &[
    "{}",
    "'{}'",
    "use {}.",
    "'first\\n{}\\nlast'",
    "{\"a\": \"{}\"}",
    "{\\\"a\\\": \\\"{}\\\"}",
    "\u{1b}[31m{}\u{1b}[0m",
    "https://example.com/?q=1&x={}&y=2",
    "GET /x%20{} HTTP/1.1",
    "[{}, {}]",
    "é{}é",
];

#[test]
fn tokens_are_redacted_in_any_context() {
    for (prefix, class, length) in TOKENS {
        let token = format!("{prefix}{}", body(class, *length));
        for context in CONTEXTS {
            let text = context.replace("{}", &token);
            let hidden = shapes(&text);
            assert!(!hidden.contains(&token[prefix.len()..]), "{text} gives {hidden}");
        }
    }
}

#[test]
fn truncated_tokens_are_redacted() {
    for (prefix, class, length) in TOKENS {
        let token = format!("{prefix}{}", body(class, *length));
        for cut in ["... (truncated)", "'...", "…", "..."] {
            let kept = &token[..prefix.len() + 8];
            assert_eq!(shapes(&format!("{kept}{cut}")), format!("{MARK}{cut}"), "{kept}{cut}");
        }
    }
}

#[test]
fn ordinary_text_is_not_redacted() {
    let mut failures = Vec::new();
    for text in NEGATIVES {
        if shapes(text) != *text || cleaned(text) != *text {
            failures.push(format!("{text}\n  shapes: {}\n  clean:  {}", shapes(text), cleaned(text)));
        }
    }
    println!("{} negatives", NEGATIVES.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(NEGATIVES.len() >= 120, "{}", NEGATIVES.len());
}

/// Texts without any credential.
pub(super) fn negatives() -> impl Iterator<Item = &'static str> {
    NEGATIVES.iter().copied()
}

/// The text before a secret, the secret, and the text after it.
pub(super) fn named() -> impl Iterator<Item = (&'static str, String, &'static str)> {
    NAMED.iter().map(|(before, first, second, after)| (*before, format!("{first}{second}"), *after))
}
