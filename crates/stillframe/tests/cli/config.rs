//! What holds, and from where.

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
async fn each_setting_is_printed_with_where_it_is_from() {
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
async fn people_read_it_within_eighty_columns() {
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
async fn a_mistake_in_a_file_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    std::fs::write(home.join("stillframe.toml"), "[limits]\nsesions = 3\n").unwrap();
    let ran = config(&home, &home, &[], &[]).await;
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success());
    let expected = "stillframe.toml:2: there is no setting `limits.sesions`; did you mean `limits.sessions`?";
    assert!(said.contains(expected), "{said}");
    let ran = config(&home, &home, &["--config", "missing.toml"], &[]).await;
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("there is no configuration file `missing.toml`"), "{said}");
    let ran = config(&home, &home, &["--no-config", "--limit", "rows=0"], &[]).await;
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("`limits.rows` is 0, and takes a whole number from 1 to 1000000 (rows)"), "{said}");
}

#[tokio::test]
async fn a_toolset_that_there_is_not_is_refused_whoever_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let ran = config(folder.path(), folder.path(), &[], &[("STILLFRAME_TOOLSET", "bogus")]).await;
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success(), "{said}");
    assert!(said.contains("STILLFRAME_TOOLSET: there is no toolset `bogus`; the toolsets are: "), "{said}");
}

/// A user who has forbidden something, in a file that cannot be used, is not to believe that it is forbidden.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_that_is_there_and_cannot_be_used_is_an_error() {
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
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(!ran.status.success() && said.contains(&file.display().to_string()), "{kind}: {said}");
            let ran = config(&project, &home, &["--no-config"], &[]).await;
            assert!(ran.status.success(), "{kind}: `--no-config` does without");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_cannot_be_looked_for_is_an_error_unless_there_can_be_none() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let ran = config(&home, Path::new("/dev/null"), &[], &[]).await;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let long = home.join("x".repeat(300));
    let ran = config(&home, &long, &[], &[]).await;
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success() && said.contains("stillframe.toml` cannot be looked at"), "{said}");
}

/// A warning or an error may name what a stranger has named.
#[cfg(unix)]
#[tokio::test]
async fn what_cannot_be_seen_is_shown_in_warnings_and_errors() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().canonicalize().unwrap().join("a\u{202e}b\x1b[31m");
    std::fs::create_dir(&odd).unwrap();
    let texts = ["[limits]\n\"a\\u001b[31m\\u202e\\u200b\" = 1\n", "[limits]\nsessions = 1000\n"];
    for (text, succeeds) in texts.into_iter().zip([false, true]) {
        std::fs::write(odd.join("stillframe.toml"), text).unwrap();
        let ran = config(&odd, folder.path(), &[], &[]).await;
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.success(), succeeds, "{said}");
        assert!(said.contains("/a\\u{202e}b\\x1b[31m/stillframe.toml:2: "), "{said:?}");
        assert!(!said.contains(['\u{1b}', '\u{202e}', '\u{200b}']), "{said:?}");
    }
}
