use super::*;

const ORDER: &str = "Text · of another kind.\n\n```layers\nmodel · error\njournal\nsession\n```\n";

/// The path and the line of a finding, and a part of what it says.
type Expected<'a> = (&'a str, usize, &'a str);

/// Checks these files of the engine, given by their names, beside modules that use nothing.
fn check_with(document: &str, sources: &[(&str, &str)], expected: &[Expected<'_>]) {
    let mut files = vec![File::new(DOCUMENT, document)];
    files.extend(sources.iter().map(|(name, text)| File::new(&format!("{SOURCES}{name}"), text)));
    for name in ["lib", "model", "error", "journal", "session"] {
        let path = format!("{SOURCES}{name}.rs");
        if files.iter().all(|file| file.path != path) {
            files.push(File::new(&path, ""));
        }
    }
    let found = check(&files);
    assert_eq!(found.len(), expected.len(), "{sources:?}: {found:?}");
    for (finding, (name, line, what)) in found.iter().zip(expected) {
        let is_there = finding.path.trim_start_matches(SOURCES) == *name && finding.line == *line;
        assert!(is_there && finding.what.contains(what), "{finding} should be {name}:{line}: {what}");
    }
}

fn check_journal(text: &str, lines: &[usize]) {
    let expected: Vec<Expected<'_>> =
        lines.iter().map(|line| ("journal.rs", *line, "`journal` must not use `session`")).collect();
    check_with(ORDER, &[("journal.rs", text)], &expected);
}

#[test]
fn a_dependency_down_is_allowed_and_one_up_is_reported() {
    check_journal("use crate::model::Id;\nuse crate::{error::Error, journal};\n", &[]);
    check_journal("use crate::session::Session;\n", &[1]);
    check_with(
        ORDER,
        &[("model/ids.rs", "use crate::error::Error;\n")],
        &[("model/ids.rs", 1, "`error`, which is above it in the layers (ARCHITECTURE.md:4)")],
    );
}

#[test]
fn paths_are_found_anywhere_in_code() {
    check_journal("use crate::{\n    error::{Error, Result},\n    session::{self, Session},\n};\n", &[3]);
    check_journal("fn f() -> crate::session::Session {\n    crate::session::new()\n}\n", &[1, 2]);
    check_journal("fn f() {\n    assert!(matches!(g(), crate::session::Session(_)));\n}\n", &[2]);
    check_journal("mod inner {\n    use super::super::session;\n    use super::session;\n}\n", &[2]);
    let nested = "use super::super::session::Session;\nuse super::session;\n";
    check_with(ORDER, &[("journal/entry.rs", nested)], &[("journal/entry.rs", 1, "`session`")]);
}

#[test]
fn comments_strings_and_other_crates_are_not_paths() {
    check_journal("//! [`crate::session`]\n/// crate::session\nfn f() { g(\"crate::session\") }\n", &[]);
    check_journal("pub(crate) use session::Session;\nuse other_crate::session;\nuse crate::MAX;\n", &[]);
}

#[test]
fn tests_can_use_any_module() {
    check_journal("#[cfg(test)]\nmod tests {\n    use crate::session;\n}\nuse crate::session::A;\n", &[5]);
    check_journal(
        "#[cfg(test)]\nuse crate::session;\n#[cfg(all(test, unix))]\nfn f() { crate::session::f() }\n",
        &[],
    );
    check_journal("#[cfg(not(test))]\nuse crate::session;\n", &[2]);
    let declared = "#[cfg(test)]\nmod corpus;\nmod corpora;\n";
    let up = "use crate::session;\n";
    let files = [
        ("journal.rs", declared),
        ("journal/corpus.rs", up),
        ("journal/corpus/a.rs", up),
        ("journal/corpora.rs", up),
    ];
    check_with(ORDER, &files, &[("journal/corpora.rs", 1, "`session`")]);
}

#[test]
fn the_list_names_every_module_once() {
    check_with(ORDER, &[("new.rs", "")], &[("new.rs", 1, "`new` has no place")]);
    let listed = ORDER.replace("session", "session · model · old");
    check_with(
        &listed,
        &[],
        &[(DOCUMENT, 6, "`model` is listed twice"), (DOCUMENT, 6, "has no module `old`")],
    );
    let names = ["error.rs", "journal.rs", "model.rs", "session.rs"];
    let expected: Vec<Expected<'_>> = names.iter().map(|name| (*name, 1, "has no place")).collect();
    check_with("No list.\n", &[], &expected);
}
