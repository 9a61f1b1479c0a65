//! Plain English: words that documentation, messages and comments must not use, and what to write instead.

mod comments;
mod literals;

use super::Finding;
use super::texts::Part;
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

/// Words of messages and comments alone, because pages use them in other senses.
const IN_CODE: &[(&str, &str)] = &[
    ("and got", "not"),
    ("any more", "no longer"),
    ("at every pass", "at each hit"),
    ("does not tell", "does not report"),
    ("goes on", "continues, keeps running"),
    ("has a say", "applies"),
    ("gone through", "read, searched, iterated over"),
    ("holds no", "has no"),
    ("in front of", "before"),
    ("is no", "is not a"),
    ("let go", "detach, resume, release"),
    ("lets go", "detaches, resumes, releases"),
    ("looks at", "inspects, reads, checks"),
    ("stands for", "is, means"),
    ("stands still", "is suspended"),
    ("takes no", "does not accept"),
    ("told", "reported"),
    ("tells", "reports, shows"),
    ("was asked for", "was requested"),
    ("were asked for", "were requested"),
    ("whoever", "the client, the caller"),
];

/// Idioms that contain such words.
const IDIOMS: &[&str] = &["no longer", "there is no", "is no longer"];

/// Output of a program.
const OUTPUT: &str = "crates/viewer/src/report/expected.md";

/// The crates whose source is checked. Tests are not.
const CRATES: &[&str] = &[
    "cdp",
    "dap",
    "dbgp",
    "engine",
    "fuzz-targets",
    "journal",
    "mirror",
    "recording",
    "stillframe",
    "tools",
    "viewer",
];

/// Finds the words in documentation, in help and messages, and in comments.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if file.has_extension("md") && file.path != OUTPUT {
            check_lines(file, &documentation(file), &[], &mut findings);
        }
        if !is_product(file) {
            continue;
        }
        let lines = product_lines(file);
        let literals =
            if comments::is_script(file) { literals::of_script(file) } else { literals::of_rust(file) };
        for (number, text) in
            literals.iter().filter(|(number, _)| lines.iter().any(|(line, _)| line == number))
        {
            check_lines(file, &[(*number, text.as_str())], IN_CODE, &mut findings);
        }
        check_lines(file, &comments::of(file, &lines), IN_CODE, &mut findings);
    }
    findings
}

/// Whether a file is source of the product: Rust, or a script that runs inside a program or a browser. Samples imitate
/// programs of users, and are not checked.
fn is_product(file: &File) -> bool {
    comments::has_comments(file)
        && !["/samples/", "/testdata/", "/tests/"].iter().any(|folder| file.path.contains(folder))
        && CRATES.iter().any(|name| file.path.starts_with(&format!("crates/{name}/src/")))
}

/// The lines of a file outside of tests.
fn product_lines(file: &File) -> Vec<(usize, &str)> {
    let (mut part, mut above) = (Part::of(file), "");
    let lines = file.lines().filter(|(_, line)| {
        part = part.after(above, line);
        above = line;
        !part.is_tests()
    });
    lines.collect()
}

/// Finds the words in lines. A phrase may continue on the next line.
fn check_lines(
    file: &File,
    lines: &[(usize, &str)],
    more: &'static [(&str, &str)],
    findings: &mut Vec<Finding>,
) {
    for (at, (number, line)) in lines.iter().enumerate() {
        let next = lines.get(at + 1).filter(|(next, _)| *next == number + 1).map_or("", |(_, line)| line);
        let (both, next) = (words(&format!("{line} {next}")), words(next));
        let count = |text: &str, phrase| text.matches(&format!(" {phrase} ")).count();
        let all = WORDS.iter().chain(more);
        for (word, better) in all.filter(|(word, _)| count(&both, word) > count(&next, word)) {
            let what = format!("`{word}`: write `{better}`, or rephrase");
            findings.push(Finding::new(&file.path, *number, what));
        }
    }
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

/// The words of a text in lower case, with a space before and after each.
fn words(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.fold(" ".to_owned(), |words, word| words + &word.to_lowercase() + " ");
    IDIOMS.iter().fold(words, |words, idiom| words.replace(&format!(" {idiom} "), " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_documentation_messages_and_comments() {
        let lines = |path: &str, text: &str| -> Vec<usize> {
            check(&[File::new(path, text)]).iter().map(|finding| finding.line).collect()
        };
        let page = "Nobody is told.\n```text\nnobody\n```\nWhat\nholds here, foretold.\nsomebody's\n";
        assert_eq!(lines("docs/a.md", page), [1, 1, 5, 7]);
        assert_eq!(lines(OUTPUT, page), [0; 0]);
        let code = "/// Nobody.\nfn f() {\n    g(nobody, \"It is \\\n       told.\");\n    // There is no one; it is no\n    // longer here.\n}\n\n#[cfg(test)]\nmod tests {\n    // Nobody.\n}\n";
        assert_eq!(lines("crates/stillframe/src/a.rs", code), [3, 3, 1]);
        assert_eq!(lines("crates/stillframe/tests/a.rs", code), [0; 0]);
        assert_eq!(lines("crates/engine/src/a.py", "# nobody\nfail(\"it is no list\")\n"), [2, 1]);
        assert_eq!(lines("crates/engine/src/samples/a.py", "# nobody\n"), [0; 0]);
        let found = check(&[File::new("a.md", "By its number.\n")]);
        assert_eq!(found[0].to_string(), "a.md:1: `by its number`: write `by its ID`, or rephrase");
    }
}
