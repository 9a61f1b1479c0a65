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
    std::fs::write(&own, "[limits]\nframes = 9\n[safety]\nroots = [\".\"]\nredact = false\n").unwrap();
    let environment = [("STILLFRAME_READ_ONLY", "1"), ("STILLFRAME_LIMITS", "watches=3")];
    let ran = config(&project, &home, &["--json"], &environment).await;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let at = |file: &Path, line: u32| format!("{}:{line}", file.display());
    let table = [
        ("limits.sessions", serde_json::json!(5), at(&user, 2)),
        ("limits.frames", serde_json::json!(9), at(&own, 2)),
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
