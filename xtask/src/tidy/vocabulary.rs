//! Words that a folder is free of, because its code serves every language.
//!
//! Comments count: one that explains generic code by one debugger belongs with the code of that debugger. Tests may
//! say what they like.

use super::Finding;
use super::texts::Part;
use crate::repository::File;

const RULES: &[Rule] = &[
    Rule {
        of: &[
            "crates/dap/src/",
            "crates/engine/src/debugger.rs",
            "crates/engine/src/debugger/dap.rs",
            "crates/engine/src/debugger/dap/",
        ],
        never: &[PYTHON, JAVASCRIPT, OTHERS, &["(Current frame)", "(note:"]],
        because: "it serves whatever speaks the Debug Adapter Protocol",
    },
    Rule {
        of: &["crates/engine/src/session.rs", "crates/engine/src/session/"],
        never: &[PYTHON, JAVASCRIPT, OTHERS],
        because: "a session is the same in every language",
    },
    Rule {
        of: &[
            "crates/engine/src/host.rs",
            "crates/engine/src/process.rs",
            "crates/engine/src/process/",
            "crates/engine/src/safety.rs",
            "crates/engine/src/safety/",
            "crates/tools/src/ops/command.rs",
            "crates/tools/src/ops/hang.rs",
            "crates/tools/src/ops/hang/",
            "crates/viewer/src/lexer.rs",
        ],
        never: &[PYTHON, JAVASCRIPT, OTHERS],
        because: "what differs between languages is asked of their adapters",
    },
    Rule {
        of: &["crates/cdp/src/"],
        never: &[PYTHON, OTHERS],
        because: "it serves whatever speaks the inspector protocol",
    },
];

/// Languages, debuggers and names of theirs. A word that begins with one counts, in lower or upper case: `pydevd` is
/// in `PydevdAuthorize` and in `_pydevd_bundle`.
const PYTHON: &[&str] = &["debugpy", "pydevd", "python", "stillframe_agent", DUNDER];
/// Not `node` alone, which trees have too.
const JAVASCRIPT: &[&str] = &["javascript", "node.js", "nodejs", "typescript", "v8"];
const OTHERS: &[&str] =
    &["codelldb", "delve", "dlv", "jdi", "jdwp", "jvm", "lldb", "netcoredbg", "rdbg", "xdebug"];
/// Any word such as `__import__`.
const DUNDER: &str = "__*__";

struct Rule {
    /// Files, and folders with all that is below them.
    of: &'static [&'static str],
    never: &'static [&'static [&'static str]],
    because: &'static str,
}

/// Words in the files of a rule that it forbids there.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in RULES {
        let is_of = |file: &&File| rule.of.iter().any(|path| file.path.starts_with(path));
        for file in files.iter().filter(is_of) {
            let mut part = Part::of(file);
            let mut above = "";
            for (number, line) in file.lines() {
                part = part.after(above, line);
                above = line;
                if declares_module(line) {
                    continue;
                }
                let words = rule.never.iter().copied().flatten();
                for word in words.filter(|word| !part.is_tests() && has(line, word)) {
                    let what = format!("`{word}` does not belong here: {}", rule.because);
                    findings.push(Finding::new(&file.path, number, what));
                }
            }
        }
    }
    findings
}

/// A folder's head names what is below it.
fn declares_module(line: &str) -> bool {
    let line = line.trim_start_matches("pub ");
    line.starts_with("mod ") && line.ends_with(';')
}

/// Whether a word of the line begins so.
fn has(line: &str, word: &str) -> bool {
    if word == DUNDER {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let is_dunder = |word: &str| word.len() > 4 && word.starts_with("__") && word.ends_with("__");
        return line.split(|letter| !is_part(letter)).any(is_dunder);
    }
    let (line, word) = (line.to_lowercase(), word.to_lowercase());
    let begins = |at: usize| !line.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    line.match_indices(&word).any(|(at, _)| begins(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines with findings in a file of that path.
    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&[File::new(path, text)]).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn language_names_are_reported_in_code_and_comments() {
        let path = "crates/engine/src/debugger/dap/inspect.rs";
        let text =
            "// Debugpy cuts it.\nuse dap::PydevdAuthorize;\nlet a = \"_pydevd_bundle\";\nlet node = 1;\n";
        assert_eq!(lines(path, text), [1, 2, 3]);
        assert_eq!(lines(path, "name.trim_end_matches(\" (Current frame)\")\n"), [1]);
        assert_eq!(lines(path, "__import__('sys')\n__\n____\n__a\nuv8\n// V8's\n"), [1, 6]);
        let found = check(&[File::new(path, "// as lldb-dap does\n")]);
        assert_eq!(
            found[0].to_string(),
            format!(
                "{path}:1: `lldb` does not belong here: it serves whatever speaks the Debug Adapter Protocol"
            )
        );
    }

    #[test]
    fn each_folder_has_its_own_forbidden_words() {
        let text = "// V8\n// python\n";
        for (path, expected) in [
            ("crates/dap/src/codec.rs", &[1, 2][..]),
            ("crates/cdp/src/types.rs", &[2]),
            ("crates/engine/src/session.rs", &[1, 2]),
            ("crates/engine/src/session/actor/program.rs", &[1, 2]),
            ("crates/engine/src/debugger.rs", &[1, 2]),
            ("crates/engine/src/sessions.rs", &[]),
            ("crates/engine/src/debugger/python/agent.rs", &[]),
            ("crates/engine/src/adapter.rs", &[]),
            ("crates/engine/src/safety/words.rs", &[1, 2]),
            ("crates/engine/src/process/ports.rs", &[1, 2]),
            ("crates/tools/src/ops/command.rs", &[1, 2]),
            ("crates/viewer/src/lexer.rs", &[1, 2]),
            ("crates/viewer/src/lexer/grammars.rs", &[]),
        ] {
            assert_eq!(lines(path, text), expected, "{path}");
        }
    }

    #[test]
    fn tests_may_name_a_language() {
        assert_eq!(lines("crates/engine/src/session/actor/tests.rs", "// python\n"), [0; 0]);
        let inner = "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    // python\n}\n";
        assert_eq!(lines("crates/engine/src/session/state.rs", inner), [0; 0]);
    }
}
