use std::ffi::OsString;
use std::path::Path;

use super::merge::merge;
use super::*;

fn parsed(text: &str, is_project: bool) -> Vec<SettingValue> {
    file::parse(text, Path::new("/p/stillframe.toml"), is_project).unwrap()
}

fn problem(text: &str) -> String {
    file::parse(text, Path::new("/p/stillframe.toml"), true).unwrap_err().to_string()
}

fn held(given: Vec<SettingValue>, name: &str) -> (String, String) {
    let merged = merge(given).unwrap();
    let found = merged.all.into_iter().find(|given| given.name == name).unwrap();
    (found.value.to_string(), found.origin.to_string())
}

#[test]
fn a_mistake_is_reported_with_its_line_and_the_allowed_values() {
    let table = [
        (
            "[limits]\nsesions = 3\n",
            "/p/stillframe.toml:2: unknown setting `limits.sesions`; did you mean `limits.sessions`?",
        ),
        (
            "[limit]\nsessions = 3\n",
            "/p/stillframe.toml:2: unknown setting `limit.sessions`; did you mean `limits.sessions`?",
        ),
        (
            "[limits]\nzebra = 3\n",
            "/p/stillframe.toml:2: unknown setting `limits.zebra`; `stillframe config` lists them",
        ),
        (
            "\nlimits = 3\n",
            "/p/stillframe.toml:2: `limits` is a section; write `[limits]`, and its settings below",
        ),
        (
            "[[limits]]\nsessions = 3\n",
            "/p/stillframe.toml:1: `limits` is a section; write `[limits]`, and its settings below",
        ),
        (
            "read_only = true\n",
            "/p/stillframe.toml:1: `read_only` is outside a section; move it below `[safety]`",
        ),
        (
            "zebra = true\n",
            "/p/stillframe.toml:1: unknown section `zebra`; sections: limits, safety, serve, journal, \
             adapters",
        ),
        ("[limits]\nrows = 3\nrows = 4\n", "/p/stillframe.toml:3: duplicate key at `rows`"),
        (
            "[limits]\n\nsessions = 0\n",
            "/p/stillframe.toml:3: `limits.sessions` must be a whole number from 1 to 1000 (sessions), not 0",
        ),
        (
            "[limits]\nsessions = \"3\"\n",
            "/p/stillframe.toml:2: `limits.sessions` must be a whole number from 1 to 1000 (sessions)",
        ),
        (
            "[limits]\nsessions = -3\n",
            "/p/stillframe.toml:2: `limits.sessions` must be a whole number from 1 to 1000 (sessions)",
        ),
        (
            "[limits]\nsessions = 3.0\n",
            "/p/stillframe.toml:2: `limits.sessions` must be a whole number from 1 to 1000 (sessions)",
        ),
        (
            "[limits]\nsessions = inf\n",
            "/p/stillframe.toml:2: `limits.sessions` must be a whole number from 1 to 1000 (sessions)",
        ),
        (
            "[limits]\nsessions = 2026-01-01\n",
            "/p/stillframe.toml:2: `limits.sessions` must be a whole number from 1 to 1000 (sessions)",
        ),
        (
            "[limits]\nsessions = 0x3E9\n",
            "/p/stillframe.toml:2: `limits.sessions` must be a whole number from 1 to 1000 (sessions), not \
             1001",
        ),
        (
            "[limits]\n[x]\n",
            "/p/stillframe.toml:2: unknown section `x`; sections: limits, safety, serve, journal, adapters",
        ),
        ("[safety]\nread_only = 1\n", "/p/stillframe.toml:2: `safety.read_only` must be true or false"),
        (
            "[safety]\nroots = \".\"\n",
            "/p/stillframe.toml:2: `safety.roots` must be a list of paths, such as [\".\"]",
        ),
        (
            "[safety]\nroots = [\"a\", \"\"]\n",
            "/p/stillframe.toml:2: `safety.roots` has an empty path; it must be a list of paths, such as \
             [\".\"]",
        ),
        (
            "[safety]\nprograms = [\"a\", 1]\n",
            "/p/stillframe.toml:2: `safety.programs` must be a list of paths, such as [\".\"]",
        ),
        (
            "[journal]\nfile = \"\"\n",
            "/p/stillframe.toml:2: `journal.file` is empty; it must be a path, or \"off\"",
        ),
        (
            "[safety]\nlanguages = [\"cobol\"]\n",
            "/p/stillframe.toml:2: `safety.languages` does not allow `cobol`; it must be a list of \
             languages: \"python\", \"javascript\", \"rust\", \"c\", \"java\", \"go\", \"ruby\", \"php\"",
        ),
        (
            "[serve]\ntoolset = \"all-of-it\"\n",
            "/p/stillframe.toml:2: `serve.toolset`: no toolset `all-of-it`; available toolsets: standard, \
             inspector, quick, script, recording, nodejs-debug-mcp, all",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(problem(text), expected);
    }
    assert!(problem("[limits\n").starts_with("/p/stillframe.toml:1: "));
}

/// What the environment sets, where it holds one variable.
fn of_environment(variable: &str, value: impl Into<OsString>) -> anyhow::Result<Vec<SettingValue>> {
    let value = Some(value.into()).filter(|value| !value.is_empty());
    environment::given(|name| value.clone().filter(|_| name == variable))
}

#[test]
fn a_mistake_in_the_environment_names_the_variable_and_the_allowed_values() {
    let table = [
        ("LIMITS", "rows", "`rows` has no value; write NAME=N, such as `sessions=8`"),
        ("LIMITS", "rows=1,", "`` has no value; write NAME=N, such as `sessions=8`"),
        ("LIMITS", "ros=1", "unknown limit `ros`; did you mean `rows`? `stillframe config` lists them"),
        ("LIMITS", "zebra=1", "unknown limit `zebra`; `stillframe config` lists them"),
        ("LIMITS", "rows=many", "`limits.rows` must be a whole number from 1 to 1000000 (rows), not `many`"),
        ("LIMITS", "rows=0", "`limits.rows` must be a whole number from 1 to 1000000 (rows), not 0"),
        ("READ_ONLY", "perhaps", "`safety.read_only` must be true or false, not `perhaps`"),
        ("REDACT", "2", "`safety.redact` must be true or false, not `2`"),
        (
            "ALLOW_ROOT",
            "/a::/b",
            "`safety.roots` has an empty path; it must be a list of paths, such as [\".\"]",
        ),
        (
            "ALLOW_LANGUAGE",
            "python,cobol",
            "`safety.languages` does not allow `cobol`; it must be a list of languages: \"python\", \
             \"javascript\", \"rust\", \"c\", \"java\", \"go\", \"ruby\", \"php\"",
        ),
        (
            "TOOLSET",
            ",",
            "`serve.toolset`: no toolset given; available toolsets: standard, inspector, quick, script, recording, \
             nodejs-debug-mcp, all",
        ),
    ];
    for (name, value, problem) in table {
        let variable = format!("STILLFRAME_{name}");
        let error = of_environment(&variable, value).unwrap_err().to_string();
        assert_eq!(error, format!("{variable}: {problem}"));
    }
}

#[test]
fn settings_are_the_options_of_a_command_elsewhere() {
    let given = parsed(
        "[safety]\nroots = [\"/a\"]\nprograms = [\"/b\", \"/c\"]\nlanguages = [\"go\"]\nread_only = true\n\
         remote_attach = false\nredact = false\nconfirm = true\nclient_roots = true\n\
         [limits]\nrows = 7\njournal_files = 2\n[journal]\nfile = \"off\"\n[serve]\ntoolset = \"all\"\n",
        false,
    );
    let mut options = options::as_options(&given, |path| format!("/there{path}"));
    options.sort();
    let expected = [
        "--allow-language=go",
        "--allow-program=/there/b",
        "--allow-program=/there/c",
        "--allow-root=/there/a",
        "--limit=rows=7",
        "--no-redact",
        "--read-only",
    ];
    assert_eq!(options, expected);
}

#[test]
fn a_variable_accepts_the_usual_words() {
    for (text, flag) in
        [("1", true), ("Yes", true), ("on", true), ("0", false), ("FALSE", false), ("n", false)]
    {
        let given = of_environment("STILLFRAME_REDACT", text).unwrap();
        assert_eq!(given.first().unwrap().value, Value::Flag(flag), "{text}");
    }
    let given = of_environment("STILLFRAME_LIMITS", "rows=7, sessions = 2").unwrap();
    assert_eq!(held(given, "limits.sessions"), ("2".to_owned(), "STILLFRAME_LIMITS".to_owned()));
}

#[test]
fn the_command_line_overrides_environment_project_and_user() {
    let option = |value| SettingValue {
        name: "limits.sessions",
        value: Value::Number(value),
        origin: SettingSource::Option("--limit"),
    };
    let user = || parsed("[limits]\nsessions = 2\nframes = 9\n", false);
    let project = || parsed("\n[limits]\nsessions = 1\n", true);
    let both = || [user(), project()].concat();
    assert_eq!(held(Vec::new(), "limits.sessions"), ("64".to_owned(), "default".to_owned()));
    assert_eq!(held(user(), "limits.sessions"), ("2".to_owned(), "/p/stillframe.toml:2".to_owned()));
    assert_eq!(held(both(), "limits.sessions"), ("1".to_owned(), "/p/stillframe.toml:3".to_owned()));
    assert_eq!(held(both(), "limits.frames"), ("9".to_owned(), "/p/stillframe.toml:3".to_owned()));
    let all = [both(), vec![option(4)]].concat();
    assert_eq!(held(all, "limits.sessions"), ("4".to_owned(), "--limit".to_owned()));
}

#[test]
fn a_number_keeps_its_notation() {
    for (written, number) in
        [("0x10", "16"), ("0x3F", "63"), ("0o17", "15"), ("0b1_01", "5"), ("1_000", "1000"), ("+7", "7")]
    {
        let given = parsed(&format!("[limits]\nsessions = {written}\n"), false);
        assert_eq!(held(given, "limits.sessions").0, number, "{written}");
    }
}

/// The smaller limit applies; an infinite one, which `idle` can be, counts as the largest.
#[test]
fn a_project_cannot_raise_a_limit() {
    let user = || parsed("[limits]\nsessions = 2\nanswer = 16_384\nidle = 60\n", false);
    let project =
        parsed("[limits]\nsessions = 1000\nanswer = 16384\nprocesses = 65\nframes = 4\nidle = 0\n", true);
    let merged = merge([user(), project].concat()).unwrap();
    let bounds = &merged.policy.bounds;
    assert_eq!((bounds.sessions, bounds.answer, bounds.processes), (2, 16_384, 64));
    assert_eq!((bounds.frames, bounds.idle), (4, 60));
    let expected = [
        "/p/stillframe.toml:2: a project's file cannot raise a limit, which is 2 by /p/stillframe.toml:2: \
         `limits.sessions` is ignored",
        "/p/stillframe.toml:4: a project's file cannot raise a limit, which is 64 by default: \
         `limits.processes` is ignored",
        "/p/stillframe.toml:6: a project's file cannot raise a limit, which is 60 by /p/stillframe.toml:4: \
         `limits.idle` is ignored",
    ];
    let mut warnings = merged.warnings;
    warnings.sort();
    assert_eq!(warnings, expected);
    let idle = parsed("[limits]\nidle = 5\n", true);
    assert_eq!(held([user(), idle].concat(), "limits.idle").0, "5");
    let idle = parsed("[limits]\nidle = 5\n", true);
    assert_eq!(
        held(idle, "limits.idle").0,
        "5",
        "a session of a project may be closed earlier than by default"
    );
}

#[test]
fn a_project_chooses_the_toolset_only_if_it_is_not_set_elsewhere() {
    let project = || parsed("[serve]\ntoolset = \"all\"\n", true);
    assert_eq!(held(project(), "serve.toolset").0, "all");
    let user = parsed("[serve]\ntoolset = \"quick\"\n", false);
    let merged = merge([user, project()].concat()).unwrap();
    assert!(merged.warnings.iter().any(|warning| warning.contains("`serve.toolset` is ignored")));
    let toolset = merged.all.iter().find(|given| given.name == "serve.toolset").unwrap();
    assert_eq!(toolset.value.to_string(), "quick");
}

#[test]
fn settings_that_a_project_does_not_change_keep_their_source() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().display().to_string();
    let answer = |name, items: &[&str]| SettingValue {
        name,
        value: Value::List(items.iter().map(|item| (*item).to_owned()).collect()),
        origin: SettingSource::Option("--allow"),
    };
    let options = || vec![answer("safety.roots", &[&root]), answer("safety.languages", &["python"])];
    let wide = || parsed("[safety]\nroots = [\"/\"]\nlanguages = [\"python\", \"js\"]\n", true);
    let both = || [options(), wide()].concat();
    assert_eq!(held(both(), "safety.roots"), (root.clone(), "--allow".to_owned()));
    assert_eq!(held(both(), "safety.languages"), ("python".to_owned(), "--allow".to_owned()));
    let both = [vec![answer("safety.languages", &["python", "javascript"])], wide()].concat();
    assert_eq!(held(both, "safety.languages").1, "--allow", "one name for another is no change");
    let inner = PathBuf::from(&root).join("inner");
    std::fs::create_dir(&inner).unwrap();
    let narrow = parsed(&format!("[safety]\nroots = [{:?}]\n", inner.display().to_string()), true);
    let both = [options(), narrow].concat();
    assert_eq!(held(both, "safety.roots"), (inner.display().to_string(), "/p/stillframe.toml:2".to_owned()));
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
    let expected = "/p/stillframe.toml:2: no allowed folder: the `safety.roots` of the project's file are \
                    outside those allowed by /p/stillframe.toml:2";
    assert_eq!(merge([user(), elsewhere].concat()).unwrap_err().to_string(), expected);
}

#[test]
fn a_project_can_demand_consent_and_client_roots_and_not_lift_them() {
    for name in ["confirm", "client_roots"] {
        let setting = format!("safety.{name}");
        let text = |value: bool| format!("[safety]\n{name} = {value}\n");
        let demanded = parsed(&text(true), true);
        assert_eq!(held(demanded, &setting), ("true".to_owned(), "/p/stillframe.toml:2".to_owned()));
        let lifted = [parsed(&text(true), false), parsed(&text(false), true)].concat();
        let merged = merge(lifted).unwrap();
        assert!(merged.warnings.iter().any(|warning| warning.contains(&setting)), "{:?}", merged.warnings);
        let value = &merged.all.iter().find(|given| given.name == setting).unwrap().value;
        assert_eq!(*value, Value::Flag(true), "{name}");
    }
}

#[test]
fn a_project_does_not_override_explicit_settings() {
    let answer = vec![SettingValue {
        name: "safety.remote_attach",
        value: Value::Flag(true),
        origin: SettingSource::Option("--allow-remote-attach"),
    }];
    let project = parsed("[safety]\nremote_attach = false\n", true);
    assert!(merge([project, answer].concat()).unwrap().policy.safety.remote_attach);
}
