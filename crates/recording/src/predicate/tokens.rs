//! Takes expressions apart into words, numbers, strings and signs.

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    Number(String),
    Text(String),
    Sign(&'static str),
}

/// Longer ones first.
const SIGNS: [&str; 29] = [
    "===", "!==", "...", "=>", "==", "!=", "<=", ">=", "//", "?.", "<", ">", "(", ")", "[", "]", "{", "}",
    ".", ":", "+", "-", "*", "/", "%", "&&", "||", "!", ",",
];

/// A token as it is shown in messages.
pub(super) fn describe(token: &Token) -> String {
    match token {
        Token::Word(word) | Token::Number(word) => format!("`{word}`"),
        Token::Text(text) => format!("{text:?}"),
        Token::Sign(sign) => format!("`{sign}`"),
    }
}

/// The tokens of an expression; a message for what is none.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = |is_part: &dyn Fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let length = if first.is_alphabetic() || "_$#".contains(first) {
            let length = end(&|c| c.is_alphanumeric() || "_$#".contains(c));
            tokens.push(Token::Word(rest.get(..length).unwrap_or_default().to_owned()));
            length
        } else if first.is_ascii_digit() {
            let length = end(&|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
            tokens.push(Token::Number(rest.get(..length).unwrap_or_default().replace('_', "")));
            length
        } else if first == '\'' || first == '"' {
            let (value, length) = string(rest, first)?;
            tokens.push(Token::Text(value));
            length
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("`{first}` is not supported here"))?;
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    Ok(tokens)
}

/// A string in quotes, and how long it is with them.
fn string(text: &str, quote: char) -> Result<(String, usize), String> {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.push(match letters.next() {
                Some((_, 'n')) => '\n',
                Some((_, 't')) => '\t',
                Some((_, other)) => other,
                None => break,
            }),
            _ if letter == quote => return Ok((value, at + letter.len_utf8())),
            _ => value.push(letter),
        }
    }
    Err("unterminated string".to_owned())
}
