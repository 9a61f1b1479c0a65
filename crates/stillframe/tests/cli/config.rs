//! Effective settings and their sources.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::STILLFRAME;

/// Runs `stillframe config` in a folder, with a home of its own.
async fn config(here: &Path, home: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = STILLFRAME.command();
    command.arg("config").args(arguments).current_dir(here).env_remove("STILLFRAME_CONFIG");
    command.env("HOME", home).env("XDG_CONFIG_HOME", home.join("settings")).envs(environment.iter().copied());
    command.output().await.expect("the program under test runs")
}

fn held<'a>(printed: &'a Value, name: &str) -> (&'a Value, &'a str) {
    let settings = printed["settings"].as_array().expect("a list");
    let found = settings.iter().find(|setting| setting["name"] == name).expect("it is listed");
    (&found["value"], found["from"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn each_setting_is_printed_with_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let (project, settings) = (home.join("project/src"), home.join("settings/stillframe"));
    std::fs::create_dir_all(&project).unwrap();
    std::fs::create_dir_all(&settings).unwrap();
    let user = settings.join("stillframe.toml");
    let own = home.join("project/stillframe.toml");
    std::fs::write(&user, "[limits]\nsessions = 5\nframes = 8\n\n[serve]\ntoolset = \"quick\"\n").unwrap();
    std::fs::write(&own, "[limits]\nframes = 7\n[safety]\nroots = [\".\"]\nredact = false\n").unwrap();
    let environment = [("STILLFRAME_READ_ONLY", "1"), ("STILLFRAME_LIMITS", "watches=3")];
    let ran = config(&project, &home, &["--json"], &environment).await;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let at = |file: &Path, line: u32| format!("{}:{line}", file.display());
    let table = [
        ("limits.sessions", serde_json::json!(5), at(&user, 2)),
        ("limits.frames", serde_json::json!(7), at(&own, 2)),
        ("limits.watches", serde_json::json!(3), "STILLFRAME_LIMITS".to_owned()),
        ("limits.rows", serde_json::json!(100_000), "default".to_owned()),
        ("safety.read_only", serde_json::json!(true), "STILLFRAME_READ_ONLY".to_owned()),
        ("safety.roots", serde_json::json!([home.join("project")]), at(&own, 4)),
        ("safety.redact", serde_json::json!(true), "default".to_owned()),
        ("serve.toolset", serde_json::json!("quick"), at(&user, 6)),
    ];
    for (name, value, from) in &table {
        assert_eq!(held(&printed, name), (value, from.as_str()), "{name}");
    }
    let warned = String::from_utf8_lossy(&ran.stderr);
    assert!(
        warned.contains("a project's file cannot show credentials: `safety.redact` is ignored"),
        "{warned}"
    );

    let ran = config(&project, &home, &["--no-config", "--limit", "rows=7", "--json"], &[]).await;
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(printed["files"], serde_json::json!([]));
    assert_eq!(held(&printed, "limits.rows"), (&serde_json::json!(7), "--limit"));
    assert_eq!(held(&printed, "limits.sessions").1, "default");

    let chosen = home.join("chosen.toml");
    std::fs::write(&chosen, "[limits]\nsessions = 7\n").unwrap();
    let ran = config(&project, &home, &["--config", chosen.to_str().unwrap(), "--json"], &[]).await;
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(held(&printed, "limits.sessions").0, &serde_json::json!(7));
    assert_eq!(held(&printed, "limits.frames").1, "default", "only that file is read");
}

#[tokio::test]
async fn each_option_sets_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let here = home.to_str().unwrap();
    let table = [
        (vec!["--allow-root", here], "safety.roots", serde_json::json!([here]), "--allow-root"),
        (
            vec!["--allow-program=/b:/c"],
            "safety.programs",
            serde_json::json!(["/b", "/c"]),
            "--allow-program",
        ),
        (
            vec!["--allow-language", "go", "--allow-language=python"],
            "safety.languages",
            serde_json::json!(["go", "python"]),
            "--allow-language",
        ),
        (vec!["--read-only"], "safety.read_only", serde_json::json!(true), "--read-only"),
        (
            vec!["--allow-remote-attach"],
            "safety.remote_attach",
            serde_json::json!(true),
            "--allow-remote-attach",
        ),
        (vec!["--redact=false"], "safety.redact", serde_json::json!(false), "--redact"),
        (vec!["--redact", "--no-redact"], "safety.redact", serde_json::json!(false), "--no-redact"),
        (vec!["--log-file", "off"], "journal.file", serde_json::json!("off"), "--log-file"),
    ];
    for (options, name, value, from) in table {
        let ran = config(&home, &home, &[options, vec!["--json"]].concat(), &[]).await;
        let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(held(&printed, name), (&value, from), "{name}");
    }
}

#[tokio::test]
async fn text_output_fits_eighty_columns() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("a-long-name/".repeat(8));
    std::fs::create_dir_all(&long).unwrap();
    let ran = config(folder.path(), folder.path(), &["--allow-root", long.to_str().unwrap()], &[]).await;
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.contains("  sessions           64 sessions            default"), "{text}");
    assert!(text.contains("--allow-root"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[tokio::test]
async fn a_mistake_in_a_file_is_an_error_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    std::fs::write(home.join("stillframe.toml"), "[limits]\nsesions = 3\n").unwrap();
    let ran = config(&home, &home, &[], &[]).await;
    let answer = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success());
    let expected = "stillframe.toml:2: unknown setting `limits.sesions`; did you mean `limits.sessions`?";
    assert!(answer.contains(expected), "{answer}");
    let ran = config(&home, &home, &["--config", "missing.toml"], &[]).await;
    let answer = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(answer.contains("--config: no configuration file `missing.toml`"), "{answer}");
    let ran = config(&home, &home, &["--no-config", "--limit", "rows=0"], &[]).await;
    let answer = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        answer.contains("--limit: `limits.rows` must be a whole number from 1 to 1000000 (rows), not 0"),
        "{answer}"
    );
}

#[tokio::test]
async fn an_unknown_toolset_is_refused_from_any_source() {
    let folder = tempfile::tempdir().unwrap();
    let ran = config(folder.path(), folder.path(), &[], &[("STILLFRAME_TOOLSET", "bogus")]).await;
    let answer = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success(), "{answer}");
    assert!(
        answer.contains("STILLFRAME_TOOLSET: `serve.toolset`: no toolset `bogus`; available toolsets: "),
        "{answer}"
    );
}

/// Every variable that sets something.
const VARIABLES: [&str; 10] = [
    "STILLFRAME_CONFIG",
    "STILLFRAME_LIMITS",
    "STILLFRAME_ALLOW_ROOT",
    "STILLFRAME_READ_ONLY",
    "STILLFRAME_ALLOW_PROGRAM",
    "STILLFRAME_ALLOW_LANGUAGE",
    "STILLFRAME_ALLOW_REMOTE_ATTACH",
    "STILLFRAME_REDACT",
    "STILLFRAME_TOOLSET",
    "STILLFRAME_LOG_FILE",
];

/// As scripts and service managers write it: `STILLFRAME_READ_ONLY=`.
#[tokio::test]
async fn an_empty_variable_counts_as_unset() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let state = home.join("state").display().to_string();
    let ran = config(&home, &home, &["--json"], &VARIABLES.map(|name| (name, ""))).await;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    for setting in printed["settings"].as_array().unwrap() {
        assert_eq!(setting["from"], "default", "{setting}");
    }
    std::fs::write(home.join("stillframe.toml"), "[safety]\nread_only = true\n").unwrap();
    let environment = VARIABLES.map(|name| (name, ""));
    let printed: Value =
        serde_json::from_slice(&config(&home, &home, &["--json"], &environment).await.stdout).unwrap();
    assert_eq!(held(&printed, "safety.read_only").0, true, "an empty variable overrules no file");

    let journal = |value| [("STILLFRAME_LOG_FILE", value), ("XDG_STATE_HOME", state.as_str())];
    let of = |ran: Output| serde_json::from_slice::<Value>(&ran.stdout).unwrap();
    let usual = of(config(&home, &home, &["--json"], &journal("")).await);
    let expected = home.join("state/stillframe/logs/debug-mcp-server.log");
    assert_eq!(held(&usual, "journal.file"), (&serde_json::json!(expected), "default"));
    let off = of(config(&home, &home, &["--json"], &journal("off")).await);
    assert_eq!(held(&off, "journal.file"), (&serde_json::json!("off"), "STILLFRAME_LOG_FILE"));
}

/// Half of a path, or of a name, would be another one.
#[cfg(unix)]
#[tokio::test]
async fn invalid_utf_8_is_refused_with_its_position() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let odd = OsStr::from_bytes(b"/a\xff");
    let run = async |option: &[&OsStr], variable: Option<&str>| {
        let mut command = STILLFRAME.command();
        command.arg("config").args(option).current_dir(folder.path()).env_remove("STILLFRAME_CONFIG");
        command.env("HOME", folder.path()).envs(variable.map(|name| (name, odd)));
        let ran = command.output().await.unwrap();
        assert!(!ran.status.success());
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    for name in VARIABLES {
        let answer = run(&[], Some(name)).await;
        let is_a_file = name == "STILLFRAME_CONFIG";
        let problem = if is_a_file { "no configuration file" } else { "value is not UTF-8" };
        assert!(answer.contains(&format!("{name}: {problem}")), "{answer}");
    }
    for option in ["--allow-root", "--allow-program", "--log-file"] {
        let answer = run(&[option.as_ref(), odd], None).await;
        assert!(answer.contains(&format!("{option}: value is not UTF-8")), "{answer}");
    }
    let file = folder.path().join("stillframe.toml");
    std::fs::write(&file, b"[safety]\nroots = [\"\xff\"]\n").unwrap();
    let answer = run(&[], None).await;
    assert!(answer.contains("stillframe.toml:2: this is not UTF-8"), "{answer}");
}

#[tokio::test]
async fn an_invalid_option_is_reported_with_the_allowed_values() {
    let folder = tempfile::tempdir().unwrap();
    let table: [(&[&str], &str); 7] = [
        (&["--limit", "rows"], "--limit: `rows` has no value; write NAME=N, such as `sessions=8`"),
        (&["--limit", "ros=1"], "--limit: unknown limit `ros`; did you mean `rows`?"),
        (
            &["--limit", "rows=x"],
            "--limit: `limits.rows` must be a whole number from 1 to 1000000 (rows), not `x`",
        ),
        (&["--allow-root", ""], "--allow-root: `safety.roots` has an empty path"),
        (
            &["--allow-language", "cobol"],
            "--allow-language: `safety.languages` does not allow `cobol`; it must be a list of",
        ),
        (&["--redact=perhaps"], "'--redact[=<BOOL>]': it must be true or false"),
        (&["--log-file", ""], "--log-file: `journal.file` is empty; it must be a path, or \"off\""),
    ];
    for (arguments, problem) in table {
        let ran = config(folder.path(), folder.path(), arguments, &[]).await;
        let answer = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && answer.contains(problem), "{answer}");
    }
    let ran = config(folder.path(), folder.path(), &["--allow-root", "/no/such"], &[]).await;
    let answer = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(
        answer.contains("--allow-root: `/no/such` cannot be in `safety.roots`: No such file"),
        "{answer}"
    );
}

/// A user who has forbidden something, in a file that cannot be used, is not to believe that it is forbidden.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_unreadable_config_file_is_an_error() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    for kind in ["folder", "loop", "dangling", "pipe", "socket"] {
        for is_project in [false, true] {
            let home = base.join(format!("{kind}-{is_project}"));
            let (project, settings) = (home.join("project"), home.join("settings/stillframe"));
            std::fs::create_dir_all(&project).unwrap();
            std::fs::create_dir_all(&settings).unwrap();
            let file = if is_project { &project } else { &settings }.join("stillframe.toml");
            match kind {
                "folder" => std::fs::create_dir(&file).unwrap(),
                "loop" => symlink(&file, &file).unwrap(),
                "dangling" => symlink(home.join("nothing"), &file).unwrap(),
                "pipe" => {
                    mknodat(CWD, &file, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
                }
                _ => drop(UnixListener::bind(&file).unwrap()),
            }
            let ran = config(&project, &home, &[], &[]).await;
            let answer = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(
                !ran.status.success() && answer.contains(&file.display().to_string()),
                "{kind}: {answer}"
            );
            let ran = config(&project, &home, &["--no-config"], &[]).await;
            assert!(ran.status.success(), "{kind}: use `--no-config` to run without it");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn an_unsearchable_config_folder_is_an_error_unless_it_cannot_have_one() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let ran = config(&home, Path::new("/dev/null"), &[], &[]).await;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let long = home.join("x".repeat(300));
    let ran = config(&home, &long, &[], &[]).await;
    let answer = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success() && answer.contains("stillframe.toml`; use `--no-config`"), "{answer}");
}

/// A warning or an error may name what a stranger has named.
#[cfg(unix)]
#[tokio::test]
async fn invisible_characters_are_escaped_in_warnings_and_errors() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().canonicalize().unwrap().join("a\u{202e}b\x1b[31m");
    std::fs::create_dir(&odd).unwrap();
    let texts = ["[limits]\n\"a\\u001b[31m\\u202e\\u200b\" = 1\n", "[limits]\nsessions = 1000\n"];
    for (text, succeeds) in texts.into_iter().zip([false, true]) {
        std::fs::write(odd.join("stillframe.toml"), text).unwrap();
        let ran = config(&odd, folder.path(), &[], &[]).await;
        let answer = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.success(), succeeds, "{answer}");
        assert!(answer.contains("/a\\u{202e}b\\x1b[31m/stillframe.toml:2: "), "{answer:?}");
        assert!(!answer.contains(['\u{1b}', '\u{202e}', '\u{200b}']), "{answer:?}");
    }
}
