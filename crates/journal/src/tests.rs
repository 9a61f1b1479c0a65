//! Journals as they are on the disk.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::entry::{Closed, Created, Event, OutputWritten};
use super::{Category, Journal, Options, Outputs, SessionJournal, SourceReader};

fn options(path: PathBuf) -> Options {
    Options { path, file_size: 2000, kept: 2, sources: SourceReader::new(|_| None) }
}

fn small(folder: &tempfile::TempDir) -> Options {
    options(folder.path().join("logs/debug.log"))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_entry_is_a_line_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(small(&folder));
    let session = journal.of_session("an-id", "a name");
    session.record(Event::Created(Created {
        language: "python".to_owned(),
        executable_path: None,
        server: Some(7),
    }));
    journal.flush();
    let lines = lines(journal.path().unwrap());
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!(line["message"], "session:created");
    assert_eq!(line["namespace"], "debug-mcp:session");
    assert_eq!(line["level"], "info");
    assert_eq!((&line["sessionId"], &line["sessionName"]), (&"an-id".into(), &"a name".into()));
    let time: jiff::Timestamp = line["time"].as_str().unwrap().parse().unwrap();
    assert_eq!(line["timestamp"], time.as_millisecond());
}

#[test]
fn a_full_file_is_rotated_and_the_oldest_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(small(&folder));
    let session = journal.of_session("an-id", "a name");
    for duration in 0..60 {
        session.record(Event::Closed(Closed { duration }));
        journal.flush();
    }
    let path = journal.path().unwrap().to_owned();
    let mut names: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["debug.log", "debug.log.1", "debug.log.2"]);
    let all: Vec<u64> = [rotated_path(&path, 2), rotated_path(&path, 1), path.clone()]
        .iter()
        .flat_map(|path| lines(path))
        .map(|line| line["duration"].as_u64().unwrap())
        .collect();
    assert_eq!(all.last(), Some(&59));
    assert!(all.windows(2).all(|pair| pair[1] == pair[0] + 1), "{all:?}");
}

#[test]
fn the_parts_of_a_line_are_one_entry() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(small(&folder));
    let (one, other) = (journal.of_session("one", "one"), journal.of_session("other", "other"));
    let wrote = |session: &SessionJournal, category: &str, output: &str| {
        let (category, output) = (category.to_owned(), output.to_owned());
        session.record(Event::Output(OutputWritten { category, output, omitted: 0 }));
    };
    wrote(&one, "stdout", "a");
    wrote(&one, "stdout", " line");
    wrote(&one, "stdout", "\n");
    // What others write meanwhile does not split a line.
    wrote(&one, "stdout", "start");
    wrote(&one, "stderr", "oops\n");
    wrote(&one, "stdout", " 1 []\nnext\n");
    wrote(&one, "stdout", "begun");
    wrote(&other, "stdout", "other\n");
    // But what the program does next does.
    one.record(Event::Closed(Closed { duration: 1 }));
    wrote(&one, "stdout", "late\n");
    journal.flush();
    let lines = lines(journal.path().unwrap());
    let outputs: Vec<&str> = lines.iter().map(|line| line["output"].as_str().unwrap_or("-")).collect();
    assert_eq!(outputs, ["a line\n", "start 1 []\n", "oops\n", "next\n", "begun", "other\n", "-", "late\n"]);
}

#[test]
fn a_private_key_is_redacted_across_chunks() {
    let lines_of_key =
        ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "MSsqg0aYvQ=="];
    let (begin, end) = (concat!("-----BEGIN ", "PRIVATE KEY-----"), "-----END PRIVATE KEY-----");
    let whole = format!("key:\n{begin}\n{}\n{end}\nbehind\n", lines_of_key.join("\n"));
    for parts in [vec![whole.as_str()], whole.split_inclusive('\n').collect()] {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(small(&folder));
        let outputs = Outputs::new(journal.of_session("an-id", "a name"));
        for part in parts {
            outputs.wrote(Category::Stdout, part);
        }
        journal.flush();
        let text = fs::read_to_string(journal.path().unwrap()).unwrap();
        assert!(lines_of_key.iter().all(|line| !text.contains(line)), "{text}");
        assert!(text.contains("key:") && text.contains("behind"), "{text}");
    }
}

fn rotated_path(path: &Path, number: usize) -> PathBuf {
    format!("{}.{number}", path.display()).into()
}

#[test]
fn two_programs_write_separate_files() {
    let folder = tempfile::tempdir().unwrap();
    let journals = [Journal::open(small(&folder)), Journal::open(small(&folder))];
    for journal in &journals {
        journal.of_session("an-id", "a name").record(Event::Closed(Closed { duration: 1 }));
        journal.flush();
    }
    let [first, second] = journals.each_ref().map(|journal| journal.path().unwrap().to_owned());
    assert!(first.ends_with("logs/debug.log"));
    assert!(second.ends_with("logs/debug.2.log"));
    assert_eq!((lines(&first).len(), lines(&second).len()), (1, 1));
}

#[test]
fn an_incomplete_line_of_a_killed_writer_is_terminated() {
    let folder = tempfile::tempdir().unwrap();
    let options = small(&folder);
    fs::create_dir_all(options.path.parent().unwrap()).unwrap();
    fs::write(&options.path, "{\"timestamp\":1").unwrap();
    let journal = Journal::open(options.clone());
    journal.of_session("an-id", "a name").record(Event::Closed(Closed { duration: 1 }));
    journal.flush();
    let text = fs::read_to_string(&options.path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("{\"timestamp\":1"));
    assert!(lines.next().unwrap().contains("session:closed"));
}

#[test]
fn a_deleted_journal_is_created_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = small(&folder);
    let mut files = super::files::Files::open(&options).unwrap();
    files.write(b"one\n").unwrap();
    fs::remove_file(&options.path).unwrap();
    files.forget_look();
    files.write(b"two\n").unwrap();
    assert_eq!(fs::read_to_string(&options.path).unwrap(), "two\n");
}

#[test]
fn an_unwritable_journal_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_way = folder.path().join("logs");
    fs::write(&in_the_way, "").unwrap();
    let journal = Journal::open(options(in_the_way.join("debug.log")));
    for duration in 0..10_000 {
        journal.of_session("an-id", "a name").record(Event::Closed(Closed { duration }));
    }
    journal.flush();
    assert_eq!(journal.path(), None);
    // Once the file is writable, the number of missing entries is recorded.
    fs::remove_file(&in_the_way).unwrap();
}

#[test]
fn every_call_has_a_unique_id() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(small(&folder));
    let (first, second) = (journal.next_call(), journal.next_call());
    assert_ne!(first, second);
    assert_eq!(first.split('-').next(), second.split('-').next());
}
