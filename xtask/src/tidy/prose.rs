//! Plain English: words that documentation and help texts must not use, and what to write instead.

use super::Finding;
use crate::repository::File;

/// A stilted word or phrase, and its replacement. Each is rare in idiomatic English, so false alarms are too.
const WORDS: &[(&str, &str)] = &[
    ("and why not", "what is missing"),
    ("are told", "are reported"),
    ("as is usual", "by default"),
    ("at each pass", "at each hit"),
    ("by its number", "by its ID"),
    ("comes to an end", "ends"),
    ("for ever", "forever"),
    ("is told", "is reported"),
    ("it comes to", "it reaches"),
    ("looked at", "inspected"),
    ("mended", "fixed"),
    ("nobody", "no client, no process, no one"),
    ("of our own", "our own"),
    ("of ours", "our"),
    ("of their own", "their own"),
    ("planted", "set, bound"),
    ("somebody", "someone, another user, another process"),
    ("tells of", "reports"),
    ("tells which", "reports which"),
    ("what holds", "what applies"),
    ("written down", "recorded"),
];

/// What a program wrote.
const OUTPUT: &str = "crates/viewer/src/report/expected.md";

/// Finds the words in documentation and in the help of the command line.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let lines = if file.has_extension("md") && file.path != OUTPUT {
            documentation(file)
        } else if file.has_extension("rs") && file.path.starts_with("crates/stillframe/src/") {
            help(file)
        } else {
            continue;
        };
        for (at, (number, line)) in lines.iter().enumerate() {
            // A phrase may continue on the next line.
            let next = lines.get(at + 1).filter(|(next, _)| *next == number + 1).map_or("", |(_, line)| line);
            let (both, next) = (words(&format!("{line} {next}")), words(next));
            let count = |text: &str, phrase| text.matches(&format!(" {phrase} ")).count();
            for (word, better) in WORDS.iter().filter(|(word, _)| count(&both, word) > count(&next, word)) {
                let what = format!("`{word}`: write `{better}`, or rephrase");
                findings.push(Finding::new(&file.path, *number, what));
            }
        }
    }
    findings
}

/// The lines outside of code blocks.
fn documentation(file: &File) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let is_prose = |(_, line): &(usize, &str)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    };
    file.lines().filter(is_prose).collect()
}

/// The lines that clap turns into help: types that derive its traits, with the comment above, and calls of `help`.
fn help(file: &File) -> Vec<(usize, &str)> {
    let (mut found, mut above, mut is_help) = (Vec::new(), Vec::new(), false);
    for (number, line) in file.lines() {
        if line.starts_with("///") {
            above.push((number, line));
            continue;
        }
        is_help |= line.starts_with("#[derive(")
            && ["Args", "Parser", "Subcommand"].iter().any(|name| line.contains(name));
        if is_help {
            found.append(&mut above);
        }
        above.clear();
        if is_help || line.contains("help(") {
            found.push((number, line));
        }
        is_help &= line != "}";
    }
    found
}

/// The words of a text in lower case, with a space before and after each.
fn words(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |words, word| words + &word.to_lowercase() + " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_documentation_and_help() {
        let lines = |path: &str, text: &str| -> Vec<usize> {
            check(&[File::new(path, text)]).iter().map(|finding| finding.line).collect()
        };
        let page = "Nobody is told.\n```text\nnobody\n```\nWhat\nholds here, foretold.\nsomebody's\n";
        assert_eq!(lines("docs/a.md", page), [1, 1, 5, 7]);
        assert_eq!(lines(OUTPUT, page), [0; 0]);
        let code = "/// Nobody.\nfn f() {}\n/// Is\n/// told.\n#[derive(Debug, Args)]\nstruct A {\n    /// Somebody.\n    \
                    a: u8,\n}\n\n// Nobody.\n.help(\"as is usual\")\n";
        assert_eq!(lines("crates/stillframe/src/a.rs", code), [3, 7, 12]);
        assert_eq!(lines("crates/engine/src/a.rs", code), [0; 0]);
        let found = check(&[File::new("a.md", "By its number.\n")]);
        assert_eq!(found[0].to_string(), "a.md:1: `by its number`: write `by its ID`, or rephrase");
    }
}
