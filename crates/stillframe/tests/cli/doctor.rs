//! `doctor` and `setup`.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use test_support::{Fixture, rows_to_try};
use unicode_width::UnicodeWidthStr;

use crate::{CommandRun, folder, stillframe, stillframe_with};

/// Nothing can be installed from anywhere.
const OFFLINE: [(&str, &str); 7] = [
    ("PIP_INDEX_URL", "http://127.0.0.1:1/"),
    ("PIP_NO_INDEX", "1"),
    ("PIP_FIND_LINKS", ""),
    ("PIP_CONFIG_FILE", "/dev/null"),
    ("PIP_RETRIES", "0"),
    ("UV_OFFLINE", "1"),
    ("UV_NO_CACHE", "1"),
];

async fn offline(arguments: &[&str], cache: &Path) -> CommandRun {
    stillframe_with(arguments, cache, &OFFLINE).await
}

#[tokio::test]
async fn doctor_reports_what_works() {
    let ran = stillframe(["doctor", "--json"]).await.ended_with(0);
    let report = ran.json();
    assert_eq!(report["ok"], true);
    let python = &report["languages"][0];
    assert_eq!((&python["language"], &python["debuggerInstalled"]), (&json!("python"), &json!(true)));
    assert_eq!(python["launch"]["works"], true, "{}", ran.out);
    assert!(python["interpreter"].as_str().unwrap().contains("python"), "{}", ran.out);
}

#[tokio::test]
async fn doctor_installs_nothing_and_names_the_setup_command() {
    let cache = folder();
    let ran = offline(&["doctor"], cache.path()).await.ended_with(0);
    assert!(ran.out.starts_with("python\n  ✓ version 3."), "{}", ran.out);
    assert!(ran.out.contains("to install it now: stillframe setup python\n"), "{}", ran.out);
    assert!(ran.out.contains("  ✓ launch works\n"), "{}", ran.out);
    assert!(!ran.out.contains('\x1b') && ran.out.lines().all(|line| line.width() <= 80), "{}", ran.out);
}

#[tokio::test]
async fn doctor_names_a_cache_that_cannot_be_written() {
    let folder = folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let report = stillframe_with(["doctor", "--json"], &file.join("cache"), &[]).await.ended_with(1).json();
    let languages = report["languages"].as_array().unwrap();
    let node = languages.iter().find(|language| language["language"] == "javascript").unwrap();
    let problem = node["launch"]["problem"].as_str().unwrap();
    let sample = file.join("cache/doctor/sample-").display().to_string();
    assert!(problem.starts_with(&format!("cannot write `{sample}")), "{problem}");
    assert!(problem.contains("; set STILLFRAME_CACHE_DIR to a folder that can be written: "), "{problem}");
}

#[tokio::test]
async fn doctor_says_nothing_of_attaching_where_nothing_can_attach() {
    let (cache, home) = (folder(), folder());
    let empty = home.path().to_str().unwrap();
    let nothing =
        [("PATH", empty), ("HOME", empty), ("GOPATH", empty), ("GOBIN", empty), ("JAVA_HOME", empty)];
    let ran = stillframe_with(["doctor"], cache.path(), &nothing).await;
    assert!(!ran.out.contains("✓ attach"), "{}", ran.out);
    let described = home.path().join("adapters.toml");
    std::fs::write(&described, "[adapters.other]\ncommand = [\"/bin/sh\"]\n[adapters.other.launch]\n")
        .unwrap();
    let config = ["doctor", "--json", "--config", described.to_str().unwrap()];
    let report = stillframe_with(config, cache.path(), &nothing).await.json();
    let languages = report["languages"].as_array().unwrap();
    // The user has chosen it, so it need not be on the `PATH`.
    let other = languages.last().unwrap();
    assert_eq!((&other["interpreter"], &other["attachByPid"]["works"]), (&json!("/bin/sh"), &json!(false)));
    for language in languages {
        // What will be installed is not there.
        let interpreter = language["interpreter"].as_str().unwrap_or("/");
        assert!(Path::new(interpreter).exists(), "{language}");
        if !language["problem"].is_null() {
            assert_eq!(language["attachByPid"]["works"], false, "{language}");
        }
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn doctor_has_a_missing_debugger_as_data() {
    let cache = folder();
    let ran = offline(&["doctor", "--json"], cache.path()).await.ended_with(0);
    let python = &ran.json()["languages"][0];
    assert_eq!((&python["debuggerInstalled"], &python["launch"]), (&json!(false), &json!(null)));
    assert_eq!(python["setup"], "stillframe setup python");
}

#[tokio::test]
async fn setup_installs_into_an_empty_cache_and_then_finds_it_there() {
    let cache = folder();
    let ran = stillframe_with(["setup", "python"], cache.path(), &[]).await.ended_with(0);
    assert!(ran.err.starts_with("installing the debugger for python 3."), "{}", ran.err);
    let below = format!(" is now installed in {}\n", cache.path().display());
    assert!(ran.out.starts_with("the debugger for python 3.") && ran.out.ends_with(&below), "{}", ran.out);

    // What is there needs no network.
    let ran = offline(&["setup", "python"], cache.path()).await.ended_with(0);
    let below = format!(" is already installed in {}\n", cache.path().display());
    assert!(ran.out.ends_with(&below), "{}", ran.out);
    assert_eq!(ran.err, "");
    let program = Fixture::python("swap_vars");
    offline(&["probe", &format!("{}:main", program.path())], cache.path()).await.ended_with(0);
}

#[tokio::test]
async fn offline_with_an_empty_cache_the_error_names_the_setup_command() {
    let program = Fixture::python("swap_vars");
    let location = format!("{}:main", program.path());
    // The last one that could install has no pip, which is not the reason.
    let others = folder();
    let last = others.path().join("python");
    std::fs::write(&last, "#!/bin/sh\necho 'No module named pip' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(last, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", others.path().display(), std::env::var("PATH").unwrap());
    let environment = [&OFFLINE[..], &[("PATH", path.as_str())]].concat();
    for arguments in rows_to_try([vec!["probe", &location], vec!["setup", "python"]], 2) {
        let cache = folder();
        let ran = stillframe_with(&arguments, cache.path(), &environment).await.ended_with(1);
        let error = ran.err.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
        assert!(error.contains("could not be installed for Python 3."), "{}", ran.err);
        assert!(error.contains("connect to the network and run `stillframe setup python`"), "{}", ran.err);
        assert!(error.contains(" -m pip install --target "), "{}", ran.err);
        assert_eq!(ran.out, "");
        let left = std::fs::read_dir(cache.path().join("python")).unwrap().flatten();
        let left: Vec<_> = left
            .map(|entry| entry.file_name())
            .filter(|name| name.to_string_lossy().contains("debugpy"))
            .collect();
        assert!(left.is_empty(), "half an installation: {left:?}");
    }
}
