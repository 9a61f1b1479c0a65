//! The string literals of source code: messages, names and values.

use proc_macro2::{TokenStream, TokenTree};

use crate::repository::File;

/// The string literals of a Rust file and the lines where they begin. Doc comments are left out, and so is a file that
/// does not parse: the compiler reports it.
pub(super) fn of_rust(file: &File) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    if let Ok(tokens) = file.text.parse() {
        collect(tokens, &mut found);
    }
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let mut is_attribute = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) if !(is_attribute && is_doc(group.stream())) => {
                collect(group.stream(), found);
            }
            TokenTree::Literal(literal) => {
                let text = content(&literal.to_string());
                found.extend(text.map(|text| (literal.span().start().line, text)));
            }
            _ => {}
        }
        is_attribute = matches!(&token, TokenTree::Punct(mark) if matches!(mark.as_char(), '#' | '!'));
    }
}

/// Whether an attribute is a doc comment.
fn is_doc(attribute: TokenStream) -> bool {
    matches!(attribute.into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

/// The text of a string literal, on one line if the source breaks it; none for other literals.
fn content(literal: &str) -> Option<String> {
    let quoted = literal.strip_prefix('r').map_or(literal, |raw| raw.trim_matches('#'));
    let text = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    Some(parts.fold(first, |text, part| text + part.trim_start()))
}

/// The texts in quotes on the lines of a script, without its comments.
pub(super) fn of_script(file: &File) -> Vec<(usize, String)> {
    let is_comment = |line: &str| ["#", "//", "*", "/*", "\"\"\""].iter().any(|mark| line.starts_with(mark));
    let lines = file.lines().filter(|(_, line)| !is_comment(line.trim_start()));
    lines.flat_map(|(number, line)| quoted(line).into_iter().map(move |text| (number, text))).collect()
}

/// The quoted texts of a line of Python, JavaScript or Java.
fn quoted(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(char, String)> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match &mut open {
            None if matches!(letter, '"' | '\'' | '`') => open = Some((letter, String::new())),
            None => {}
            Some(_) if letter == '\\' => drop(letters.next()),
            Some((quote, text)) if letter == *quote => {
                found.push(std::mem::take(text));
                open = None;
            }
            Some((_, text)) => text.push(letter),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_rust_are_found_with_their_lines() {
        let code = "//! \"a\"\n/// \"b\"\n#[error(\"c {x}\")]\nfn f() {\n    g(\"d \\\n       e\", r#\"f\"#, b\"g\", 'h', 1);\n}\n";
        let found = of_rust(&File::new("a.rs", code));
        assert_eq!(found, [(3, "c {x}".to_owned()), (5, "d e".to_owned()), (6, "f".to_owned())]);
        assert_eq!(of_rust(&File::new("a.rs", "fn (")), []);
    }

    #[test]
    fn texts_in_quotes_are_found_in_scripts() {
        let script = "# \"a\"\nraise Refused(\"it's %s\" % 'b\\'c')  # d\n\"\"\"e\n";
        let found = of_script(&File::new("a.py", script));
        assert_eq!(found, [(2, "it's %s".to_owned()), (2, "bc".to_owned())]);
    }
}
