//! The comments and docstrings of a source file.

use crate::repository::File;

/// How a language marks comments.
struct Syntax {
    extensions: &'static [&'static str],
    /// What begins a comment that ends with its line.
    line: &'static [&'static str],
    /// What begins and ends a longer comment, or a docstring.
    block: Option<(&'static str, &'static str)>,
}

const SYNTAXES: &[Syntax] = &[
    Syntax { extensions: &["rs"], line: &["//"], block: None },
    Syntax { extensions: &["py"], line: &["#"], block: Some(("\"\"\"", "\"\"\"")) },
    Syntax { extensions: &["rb", "sh"], line: &["#"], block: None },
    Syntax {
        extensions: &["java", "js", "cjs", "mjs", "ts", "php"],
        line: &["//"],
        block: Some(("/*", "*/")),
    },
    Syntax { extensions: &["css"], line: &[], block: Some(("/*", "*/")) },
    Syntax { extensions: &["html"], line: &[], block: Some(("<!--", "-->")) },
];

/// Whether the language of a file is known.
pub(super) fn has_comments(file: &File) -> bool {
    syntax(file).is_some()
}

/// Whether a file is a script, and not Rust.
pub(super) fn is_script(file: &File) -> bool {
    has_comments(file) && !file.has_extension("rs")
}

/// The lines of comments, without code before them.
pub(super) fn of<'a>(file: &File, lines: &[(usize, &'a str)]) -> Vec<(usize, &'a str)> {
    let Some(syntax) = syntax(file) else { return Vec::new() };
    let mut is_inside = false;
    let comment = |&(number, line): &(usize, &'a str)| Some((number, syntax.comment(line, &mut is_inside)?));
    lines.iter().filter_map(comment).collect()
}

fn syntax(file: &File) -> Option<&'static Syntax> {
    SYNTAXES.iter().find(|syntax| syntax.extensions.iter().any(|name| file.has_extension(name)))
}

impl Syntax {
    /// The comment of a line. `is_inside` is whether the line begins, and afterwards whether it ends, inside a block.
    fn comment<'a>(&self, line: &'a str, is_inside: &mut bool) -> Option<&'a str> {
        let text = line.trim_start();
        if let Some((begin, end)) = self.block {
            if *is_inside {
                *is_inside = !text.contains(end);
                return Some(text);
            }
            if let Some(rest) = text.strip_prefix(begin) {
                *is_inside = !rest.contains(end);
                return Some(text);
            }
        }
        let marks = self.line.iter();
        let starts = |mark: &&str| {
            if text.starts_with(*mark) { Some(0) } else { text.find(&format!(" {mark} ")) }
        };
        marks.filter_map(starts).min().and_then(|at| text.get(at..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found_in_every_language() {
        let cases = [
            ("a.rs", "/// a\nb(); // c\n", &[1, 2][..]),
            ("a.py", "\"\"\"a\nb\n\"\"\"\n\"\"\"c\"\"\"\nd = 1  # e\nf = '#g'\n", &[1, 2, 3, 4, 5]),
            ("a.rb", "# a\nb\n", &[1]),
            ("a.java", "/** a\n * b\n */\nc(); // d\ne();\n", &[1, 2, 3, 4]),
            ("a.css", "/* a */\nb {}\n", &[1]),
            ("a.html", "<!-- a\nb -->\n<p>\n", &[1, 2]),
            ("a.md", "# a\n", &[]),
        ];
        for (path, text, expected) in cases {
            let file = File::new(path, text);
            let lines: Vec<_> = file.lines().collect();
            let found: Vec<_> = of(&file, &lines).into_iter().map(|(number, _)| number).collect();
            assert_eq!(found, expected, "{path}");
        }
    }
}
