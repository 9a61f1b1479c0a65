//! Where it is written, and what happens when it cannot be.

use serde_json::{Value, json};
use test_support::Fixture;

use crate::STILLFRAME;
use crate::lines::{JournalFolder, lines, of_kind};

/// Until a line of a program.
fn at(program: &Fixture, name: &str) -> Value {
    json!({ "program": program.path(), "until": [{ "line": program.line(name) }] })
}

#[tokio::test]
async fn two_servers_write_separate_files() {
    let journal = JournalFolder::new();
    let (first, second) = (journal.serve("standard").await, journal.serve("standard").await);
    for server in [&first, &second] {
        server.ok("list_debug_sessions", json!({})).await;
    }
    let other = journal.path().with_extension("2.log");
    test_support::eventually(|| journal.path().exists() && other.exists()).await;
    first.finish().await;
    second.finish().await;
    for path in [journal.path(), other] {
        assert_eq!(of_kind(&lines(&path), "tool:call").len(), 1, "{}", path.display());
    }
}

#[tokio::test]
async fn an_unwritable_journal_causes_one_warning() {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let file = folder.path().join("no folder");
    std::fs::write(&file, "").unwrap();
    let mut options = STILLFRAME.options().await;
    options.env.push(("STILLFRAME_LOG_FILE".to_owned(), file.join("journal.log").display().to_string()));
    let server = options.start().await;
    let bank = Fixture::python("bank");
    for _ in 0..3 {
        let stopped = server.ok("run_until", at(&bank, "deposit")).await;
        assert_eq!(stopped["state"], "paused");
    }
    let (_, log) = server.finish().await;
    assert_eq!(log.matches("cannot write the journal").count(), 1, "{log}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_causes_one_warning() {
    let mut options = STILLFRAME.options().await;
    options.env.push(("STILLFRAME_LOG_FILE".to_owned(), "/dev/full".to_owned()));
    let server = options.start().await;
    let bank = Fixture::node("bank");
    for _ in 0..3 {
        let stopped = server.ok("run_until", at(&bank, "deposit")).await;
        assert_eq!(stopped["state"], "paused");
    }
    let (_, log) = server.finish().await;
    assert_eq!(log.matches("No space left on device").count(), 1, "{log}");
}

#[tokio::test]
async fn entries_are_complete_when_the_server_is_killed() {
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    let bank = Fixture::python("bank");
    server.ok("run_until", at(&bank, "deposit")).await;
    test_support::eventually(|| of_kind(&journal.lines(), "tool:response").len() == 1).await;
    server.kill().await;
    // The next server continues the same file.
    let next = journal.serve("standard").await;
    next.ok("list_debug_sessions", json!({})).await;
    next.finish().await;
    let (lines, other) = (journal.lines(), journal.path().with_extension("2.log"));
    assert_eq!(of_kind(&lines, "tool:call").len(), 2, "{lines:#?}; beside it: {}", other.exists());
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    server.ok("list_debug_sessions", json!({})).await;
    server.finish().await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&journal.path()), 0o600);
    assert_eq!(mode(journal.path().parent().unwrap()), 0o700);
}
