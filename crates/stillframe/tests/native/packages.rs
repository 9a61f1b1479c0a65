//! Cargo packages: what is built, which of its programs runs, and what is said of one that does not build.

use serde_json::json;
use test_support::ServerOptions;

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::source::{Sources, assert_locals};

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
const LIBRARY: &str = "pub fn total(prices: &[u32]) -> u32 {\n    let sum: u32 = prices.iter().sum(); // @sum\n    sum.max(0) // @total\n}\n\n\
                       #[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(total(&[1, 2]), 3); // @adds\n    }\n}\n";
const PROGRAM: &str = "fn main() {\n    let words: Vec<String> = std::env::args().skip(1).collect();\n    \
                       println!(\"{} {words:?}\", shop::total(&[1, 2])); // @print\n}\n";
const EXAMPLE: &str = "fn main() {\n    let answer = 42;\n    println!(\"{answer}\"); // @example\n}\n";

fn package() -> Sources {
    Sources::new(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIBRARY),
        ("src/main.rs", PROGRAM),
        ("examples/ask.rs", EXAMPLE),
    ])
}

/// rustup would install the toolchain that a folder names, in the middle of a list.
#[tokio::test]
async fn a_list_of_languages_installs_no_toolchain() {
    let sources = Sources::new(&[("rust-toolchain.toml", "[toolchain]\nchannel = \"stable\"\n")]);
    let toolchains = tempfile::tempdir().unwrap();
    let env = [("RUSTUP_AUTO_INSTALL", "1"), ("RUSTUP_HOME", toolchains.path().to_str().unwrap())];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let cwd = Some(sources.folder().into());
    let server = ServerOptions { env, cwd, ..STILLFRAME.options().await }.start().await;
    let listed = server.ok("list_supported_languages", json!({})).await;
    assert!(listed.text.contains("rust"), "{}", listed.text);
    assert!(!toolchains.path().join("toolchains").exists());
    server.finish().await;
}

#[tokio::test]
async fn targets_are_selected_by_file_name_and_command() {
    let sources = package();
    let (library, example) = (sources.file("src/lib.rs"), sources.file("examples/ask.rs"));
    let server = STILLFRAME.serve().await;
    let at = |program: &test_support::Fixture, line: &str| json!([{ "file": program.path(), "line": program.line(line) }]);
    let timeout = 120_000;

    let folder = json!({ "program": sources.folder(), "args": ["a"], "until": at(&library, "total"), "timeout": timeout });
    let ran = server.ok("run_until", folder).await;
    assert_eq!(ran.place(), (library.path(), library.line("total")), "{}", ran.text);
    assert_locals(&ran, &["sum: u32 = 3", "prices: &[u32] = [1, 2]"]);
    let ended = server.ok("continue_execution", json!({ "sessionId": ran["sessionId"] })).await;
    assert_eq!(ended["output"], "3 [\"a\"]\n", "{}", ended.text);

    let file = json!({ "program": example.path(), "until": at(&example, "example"), "timeout": timeout });
    let ran = server.ok("run_until", file).await;
    assert_eq!(ran.variable("answer"), "42", "{}", ran.text);

    let command = json!({
        "executablePath": "cargo", "args": ["test", "--lib", "adds"], "cwd": sources.folder(),
        "until": at(&library, "adds"), "timeout": timeout,
    });
    let ran = server.ok("run_until", command).await;
    assert_eq!(
        (ran.place(), ran.at("/location/function")),
        ((library.path(), library.line("adds")), &json!("shop::tests::adds")),
        "{}",
        ran.text
    );

    // A library without a program runs in its tests.
    std::fs::remove_file(sources.file("src/main.rs").path()).unwrap();
    std::fs::remove_file(example.path()).unwrap();
    let folder = json!({ "program": sources.folder(), "until": at(&library, "sum"), "timeout": timeout });
    let ran = server.ok("run_until", folder).await;
    assert_eq!(ran.place(), (library.path(), library.line("sum")), "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
async fn the_source_of_a_program_selects_it_among_those_of_its_package() {
    let targets = "[[bin]]\nname = \"shop\"\npath = \"src/main.rs\"\n\n[[bin]]\nname = \"sync\"\npath = \"src/sync.rs\"\n";
    let sources = Sources::new(&[
        ("Cargo.toml", &format!("{MANIFEST}\n{targets}")),
        ("src/main.rs", EXAMPLE),
        ("src/sync.rs", EXAMPLE),
    ]);
    let server = STILLFRAME.serve().await;
    for name in ["src/main.rs", "src/sync.rs"] {
        let source = sources.file(name);
        let until = json!([{ "file": source.path(), "line": source.line("example") }]);
        let file = json!({ "program": source.path(), "until": until, "timeout": 120_000 });
        let ran = server.ok("run_until", file).await;
        assert_eq!(ran.place(), (source.path(), source.line("example")), "{}", ran.text);
    }
    let folder = json!({ "program": sources.folder(), "timeout": 120_000 });
    let failed = server.call("run_until", folder).await;
    let choices = ["`--bin shop`", "`--bin sync`"];
    assert!(choices.iter().all(|choice| failed.text.contains(choice)), "{}", failed.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_source_of_a_program_selects_it_among_those_of_a_workspace() {
    let package =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let sources = Sources::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"shop\", \"sync\"]\nresolver = \"2\"\n"),
        ("shop/Cargo.toml", &package("shop")),
        ("shop/src/main.rs", EXAMPLE),
        ("sync/Cargo.toml", &package("sync")),
        ("sync/src/main.rs", EXAMPLE),
    ]);
    let server = STILLFRAME.serve().await;
    for name in ["shop/src/main.rs", "sync/src/main.rs"] {
        let source = sources.file(name);
        let until = json!([{ "file": source.path(), "line": source.line("example") }]);
        let words = ["build", "--workspace"];
        let file =
            json!({ "program": source.path(), "runtimeArgs": words, "until": until, "timeout": 120_000 });
        let ran = server.ok("run_until", file).await;
        assert_eq!(ran.place(), (source.path(), source.line("example")), "{}", ran.text);
    }
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_time_of_a_build_is_not_the_programs() {
    // sleep: a build that takes longer than the call's timeout.
    let slow = "fn main() {\n    std::thread::sleep(std::time::Duration::from_secs(9));\n}\n";
    let sources = Sources::new(&[
        ("Cargo.toml", MANIFEST),
        ("build.rs", slow),
        ("src/lib.rs", LIBRARY),
        ("src/main.rs", PROGRAM),
    ]);
    let program = sources.file("src/main.rs");
    let server = STILLFRAME.serve().await;
    let until = json!([{ "file": program.path(), "line": program.line("print") }]);
    let arguments = json!({ "program": sources.folder(), "until": until, "timeout": 8_000 });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(ran.place(), (program.path(), program.line("print")), "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn probe_takes_cargo_as_the_executable() {
    let sources = package();
    let place = format!("src/lib.rs:{}", sources.file("src/lib.rs").line("total"));
    let mut probe = STILLFRAME.command();
    probe.args(["probe", &place, "-e", "prices", "--executable-path", "cargo", "--", "test", "--lib"]);
    probe.env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await).current_dir(sources.folder());
    let done = probe.output().await.unwrap();
    let printed = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(printed.contains("  prices = [1, 2]\n"), "{printed}");
}

#[tokio::test]
async fn a_failed_build_is_reported_with_its_location() {
    let sources = package();
    std::fs::write(
        sources.path("src/lib.rs"),
        "pub fn total(prices: &[u32]) -> u32 {\n    prices.len()\n}\n",
    )
    .unwrap();
    let server = STILLFRAME.serve().await;
    let failed =
        server.call("run_until", json!({ "program": sources.path("src/main.rs"), "timeout": 120_000 })).await;
    assert!(
        failed.text.contains("src/lib.rs:2:5") && failed.text.contains("mismatched types"),
        "{}",
        failed.text
    );
    server.finish().await;
}

#[tokio::test]
async fn missing_targets_and_tests_are_refused_with_the_existing_ones() {
    let sources = package();
    let server = STILLFRAME.serve().await;
    let module = json!({ "language": "rust", "module": "asks", "cwd": sources.folder(), "timeout": 120_000 });
    let failed = server.call("run_until", module).await;
    assert!(failed.text.contains("bin `shop`") && failed.text.contains("example `ask`"), "{}", failed.text);
    let test = json!({ "executablePath": "cargo", "args": ["test", "--lib", "subtracts"], "cwd": sources.folder(), "timeout": 120_000 });
    let failed = server.call("run_until", test).await;
    assert!(failed.text.contains("tests::adds"), "{}", failed.text);
    server.finish().await;
}

#[tokio::test]
async fn a_package_without_debug_information_is_rebuilt_with_it() {
    let sources = package();
    std::fs::write(
        sources.path("Cargo.toml"),
        format!("{MANIFEST}\n[profile.dev]\ndebug = false\nstrip = true\n"),
    )
    .unwrap();
    let library = sources.file("src/lib.rs");
    let server = STILLFRAME.serve().await;
    let until = json!([{ "file": library.path(), "line": library.line("total") }]);
    let ran = server
        .ok("run_until", json!({ "program": sources.folder(), "until": until, "timeout": 120_000 }))
        .await;
    assert_locals(&ran, &["sum: u32 = 3"]);
    server.finish().await;
}

#[tokio::test]
async fn a_file_outside_any_package_is_compiled_alone() {
    let sources = Sources::new(&[("Cargo.toml", "[workspace]\n"), ("examples/ask.rs", EXAMPLE)]);
    let example = sources.file("examples/ask.rs");
    let server = STILLFRAME.serve().await;
    let until = json!([{ "file": example.path(), "line": example.line("example") }]);
    let ran = server.ok("run_until", json!({ "program": example.path(), "until": until })).await;
    assert_eq!(ran.variable("answer"), "42", "{}", ran.text);
    server.finish().await;
}
