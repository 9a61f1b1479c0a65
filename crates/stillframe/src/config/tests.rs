use std::path::Path;

use super::merge::merge;
use super::*;

fn parsed(text: &str, is_project: bool) -> Vec<Given> {
    file::parse(text, Path::new("/p/stillframe.toml"), is_project).unwrap()
}

fn problem(text: &str) -> String {
    file::parse(text, Path::new("/p/stillframe.toml"), true).unwrap_err().to_string()
}

fn held(given: Vec<Given>, name: &str) -> (String, String) {
    let merged = merge(given).unwrap();
    let found = merged.all.into_iter().find(|given| given.name == name).unwrap();
    (found.value.to_string(), found.origin.to_string())
}

#[test]
fn a_mistake_is_told_with_its_line_and_what_is_allowed() {
    let table = [
        (
            "[limits]\nsesions = 3\n",
            "/p/stillframe.toml:2: there is no setting `limits.sesions`; did you mean `limits.sessions`?",
        ),
        (
            "[limit]\nsessions = 3\n",
            "/p/stillframe.toml:2: there is no setting `limit.sessions`; did you mean `limits.sessions`?",
        ),
        (
            "\nlimits = 3\n",
            "/p/stillframe.toml:2: there is no section `limits`; the sections are: limits, safety, serve, journal",
        ),
        (
            "[limits]\n\nsessions = 0\n",
            "/p/stillframe.toml:3: `limits.sessions` is 0, and takes a whole number from 1 to 1000 (sessions)",
        ),
        (
            "[limits]\nsessions = \"3\"\n",
            "/p/stillframe.toml:2: `limits.sessions` takes a whole number from 1 to 1000 (sessions)",
        ),
        (
            "[limits]\nsessions = -3\n",
            "/p/stillframe.toml:2: `limits.sessions` takes a whole number from 1 to 1000 (sessions)",
        ),
        ("[safety]\nread_only = 1\n", "/p/stillframe.toml:2: `safety.read_only` takes true or false"),
        (
            "[safety]\nroots = \".\"\n",
            "/p/stillframe.toml:2: `safety.roots` takes a list of paths, such as [\".\"]",
        ),
        (
            "[safety]\nlanguages = [\"cobol\"]\n",
            "/p/stillframe.toml:2: `safety.languages` has `cobol`, and takes a list of languages: \"python\", \"javascript\"",
        ),
        (
            "[serve]\ntoolset = \"all-of-it\"\n",
            "/p/stillframe.toml:2: there is no toolset `all-of-it`; the toolsets are: standard, inspector, quick, script, all",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(problem(text), expected);
    }
    assert!(problem("[limits\n").starts_with("/p/stillframe.toml:1: "));
}

#[test]
fn the_command_line_comes_before_the_environment_the_project_and_the_user() {
    let option = |value| Given {
        name: "limits.sessions",
        value: Value::Number(value),
        origin: Origin::Option("--limit"),
    };
    let user = || parsed("[limits]\nsessions = 2\nframes = 9\n", false);
    let project = || parsed("\n[limits]\nsessions = 3\n", true);
    let both = || [user(), project()].concat();
    assert_eq!(held(Vec::new(), "limits.sessions"), ("64".to_owned(), "default".to_owned()));
    assert_eq!(held(user(), "limits.sessions"), ("2".to_owned(), "/p/stillframe.toml:2".to_owned()));
    assert_eq!(held(both(), "limits.sessions"), ("3".to_owned(), "/p/stillframe.toml:3".to_owned()));
    assert_eq!(held(both(), "limits.frames"), ("9".to_owned(), "/p/stillframe.toml:3".to_owned()));
    let all = [both(), vec![option(4)]].concat();
    assert_eq!(held(all, "limits.sessions"), ("4".to_owned(), "--limit".to_owned()));
}

/// A repository may be anybody's.
#[test]
fn a_project_can_only_tighten() {
    let base = tempfile::tempdir().unwrap();
    let base = base.path().canonicalize().unwrap();
    for folder in ["a/inner", "b"] {
        std::fs::create_dir_all(base.join(folder)).unwrap();
    }
    let base = base.display();
    let hostile = "[safety]\nredact = false\nremote_attach = true\nread_only = false\nprograms = [\"/bin/sh\"]\n\
                   [journal]\nfile = \"/tmp/mine\"\n[limits]\njournal_files = 0\n";
    let strict = || parsed("[safety]\nread_only = true\n", false);
    let merged = merge([strict(), parsed(hostile, true)].concat()).unwrap();
    let mut refused: Vec<&str> =
        merged.warnings.iter().filter_map(|warning| warning.split('`').nth(1)).collect();
    refused.sort_unstable();
    let expected = [
        "journal.file",
        "limits.journal_files",
        "safety.programs",
        "safety.read_only",
        "safety.redact",
        "safety.remote_attach",
    ];
    assert_eq!(refused, expected);
    let policy = merged.policy;
    assert!(policy.safety.read_only && !policy.safety.remote_attach && policy.safety.programs.is_empty());
    assert_eq!(policy.bounds.journal_files, 4);
    assert_eq!(
        merged.all.iter().find(|given| given.name == "safety.redact").unwrap().value,
        Value::Flag(true)
    );

    let user = || parsed(&format!("[safety]\nroots = [\"{base}/a\"]\nlanguages = [\"python\"]\n"), false);
    let tight =
        parsed(&format!("[safety]\nroots = [\"{base}/a/inner\", \"{base}/b\"]\nread_only = true\n"), true);
    let policy = merge([user(), tight].concat()).unwrap().policy;
    assert_eq!(policy.safety.roots, Some(vec![format!("{base}/a/inner").into()]));
    assert!(policy.safety.read_only);
    let wide = parsed(&format!("[safety]\nroots = [\"{base}\"]\nlanguages = [\"python\", \"js\"]\n"), true);
    let policy = merge([user(), wide].concat()).unwrap().policy;
    assert_eq!(policy.safety.roots, Some(vec![format!("{base}/a").into()]));
    assert_eq!(policy.safety.languages, Some(vec!["python".to_owned()]));
    let elsewhere = parsed(&format!("[safety]\nroots = [\"{base}/b\"]\n"), true);
    assert!(merge([user(), elsewhere].concat()).unwrap_err().to_string().contains("no folder is left"));
}

#[test]
fn what_was_said_by_hand_is_not_overruled_by_a_project() {
    let said = vec![Given {
        name: "safety.remote_attach",
        value: Value::Flag(true),
        origin: Origin::Option("--allow-remote-attach"),
    }];
    let project = parsed("[safety]\nremote_attach = false\n", true);
    assert!(merge([project, said].concat()).unwrap().policy.safety.remote_attach);
}
