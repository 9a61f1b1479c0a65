//! Lines that define functions and classes.

/// Whether a line defines a function or a class, decorates one, or imports a module under its name.
pub(super) fn is_definition(line: &str) -> bool {
    let line = line.trim();
    let is_import = line.starts_with("import ") && !line.contains(" as ");
    line.starts_with('@') || is_import || defined_name(line).is_some()
}

/// The name of the function or the class that a line defines.
pub(super) fn defined_name(line: &str) -> Option<&str> {
    let mut rest = line.trim();
    for word in ["export", "default", "async"] {
        rest = after(rest, word).unwrap_or(rest);
    }
    for word in ["def", "class", "function*", "function"] {
        if let Some(rest) = after(rest, word) {
            return name(rest.trim_start_matches('*').trim_start());
        }
    }
    let rest = ["const", "let", "var"].iter().find_map(|word| after(rest, word))?;
    let (variable, value) = rest.split_once('=')?;
    let value = value.trim_start();
    let value = after(value, "async").unwrap_or(value);
    let is_parameter = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
    let is_arrow = |(parameters, _): (&str, &str)| {
        let parameters = parameters.trim();
        let list = parameters.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        list.map_or(is_parameter(parameters), |list| !list.contains(['(', ')']))
    };
    let is_function = ["function", "class"].iter().any(|word| value.starts_with(word));
    (is_function || value.split_once("=>").is_some_and(is_arrow)).then(|| name(variable)).flatten()
}

/// What follows a word.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

/// The name that a text begins with.
fn name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || "_$".contains(c))).unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_recognized() {
        for (line, expected) in [
            ("def total(prices):", Some("total")),
            ("    async def main():", Some("main")),
            ("class Cart(Base):", Some("Cart")),
            ("export default async function main() {", Some("main")),
            ("function* numbers() {", Some("numbers")),
            ("const main = async () => {", Some("main")),
            ("const twice = x => x * 2;", Some("twice")),
            ("let add = function (a, b) {", Some("add")),
            ("const doubled = all.map((x) => x * 2);", None),
            ("const sum = (a + b) * 2;", None),
            ("total = 0", None),
            ("default = 3", None),
            ("define(x)", None),
        ] {
            assert_eq!(defined_name(line), expected, "{line}");
        }
        assert!(is_definition("@cached") && is_definition("import os"));
        assert!(!is_definition("import a as b") && !is_definition("main()"));
    }
}
