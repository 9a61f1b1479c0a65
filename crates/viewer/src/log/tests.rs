//! Journals in a temporary folder, read as they are written.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use journal::Event;

use super::*;

struct Folder {
    folder: TempDir,
}

impl Folder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.path(name)).unwrap();
        file.write_all(text.as_ref()).unwrap();
    }

    fn open(&self) -> Log {
        Log::open(&self.path("x.log")).unwrap()
    }
}

/// A line of output, whose text is its time.
fn output(time: i64, session: &str) -> String {
    format!(
        "{{\"timestamp\":{time},\"time\":\"\",\"level\":\"info\",\"namespace\":\"n\",\"sessionId\":\"{session}\",\
         \"sessionName\":\"name of {session}\",\"message\":\"debug:output\",\"category\":\"stdout\",\
         \"output\":\"{time}\"}}\n"
    )
}

fn call(time: i64, message: &str, id: &str) -> String {
    format!(
        "{{\"timestamp\":{time},\"message\":\"{message}\",\"sessionId\":\"a\",\"tool\":\"t\"{}}}\n",
        if id.is_empty() { String::new() } else { format!(",\"callId\":\"{id}\"") }
    )
}

fn times(log: &Log) -> Vec<i64> {
    (0..log.len()).map(|number| log.summary(number).unwrap().timestamp).collect()
}

/// Polls until everything older is there.
fn read_all(log: &mut Log) -> Poll {
    let mut all = Poll::default();
    while !all.is_complete {
        let poll = log.poll();
        all.added += poll.added;
        all.prepended += poll.prepended;
        all.is_complete = poll.is_complete;
        std::thread::yield_now();
    }
    all
}

#[test]
fn a_missing_journal_is_read_once_it_appears() {
    let folder = Folder::new();
    let mut log = Log::open(&folder.path("logs/x.log")).unwrap();
    assert_eq!(log.poll(), Poll { is_complete: true, ..Poll::default() });
    fs::create_dir(folder.path("logs")).unwrap();
    folder.write("logs/x.log", output(1, "a"));
    assert_eq!(log.poll().added, 1);
    assert_eq!(times(&log), [1]);
    assert!(Log::open(folder.folder.path()).is_err());
}

#[test]
fn an_incomplete_line_is_read_once_complete() {
    let folder = Folder::new();
    let line = output(2, "a");
    let (half, rest) = line.split_at(50);
    folder.write("x.log", output(1, "a") + half);
    let mut log = folder.open();
    assert_eq!((log.poll().added, times(&log)), (0, vec![1]));
    folder.write("x.log", &rest[..20]);
    assert_eq!(log.poll().added, 0);
    folder.write("x.log", &rest[20..]);
    assert_eq!((log.poll().added, times(&log)), (1, vec![1, 2]));
    assert_eq!(log.skipped(), 0);
}

#[test]
fn files_of_several_programs_merge_by_time() {
    let folder = Folder::new();
    folder.write("x.log.2", output(1, "a") + &output(4, "a"));
    folder.write("x.log.1", output(5, "a"));
    folder.write("x.log", output(9, "a"));
    folder.write("x.2.log", output(2, "b") + &output(7, "b"));
    folder.write("x.3.log", output(3, "c") + &output(10, "c"));
    folder.write("y.log", output(6, "d"));
    let mut log = folder.open();
    assert_eq!(times(&log), [1, 2, 3, 4, 5, 7, 9, 10]);
    folder.write("x.3.log", output(12, "c") + &output(15, "c"));
    folder.write("x.log", output(11, "a") + &output(14, "a"));
    folder.write("x.4.log", output(13, "e"));
    assert_eq!(log.poll().added, 5);
    assert_eq!(times(&log)[8..], [11, 12, 13, 14, 15]);
    let ids: Vec<&str> = log.sessions().iter().map(|known| known.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "e"]);
    assert_eq!(log.sessions()[0].name, "name of a");
    assert_eq!((log.sessions()[1].first, log.sessions()[1].last), (1, 5));
}

#[test]
fn a_clock_that_jumps_back_keeps_the_order_of_a_file() {
    let folder = Folder::new();
    let jump = [100, 101, 50, 51, 102];
    folder.write("x.log", jump.map(|time| output(time, "a")).concat());
    folder.write("x.2.log", [49, 103].map(|time| output(time, "b")).concat());
    let mut log = folder.open();
    assert_eq!(times(&log), [49, 100, 101, 50, 51, 102, 103]);
    folder.write("x.log", [20, 21].map(|time| output(time, "a")).concat());
    log.poll();
    assert_eq!(times(&log)[7..], [20, 21]);
}

#[test]
fn files_can_be_rotated_deleted_and_truncated_while_read() {
    let folder = Folder::new();
    folder.write("x.log", output(1, "a"));
    let mut log = folder.open();
    // Set aside twice between two looks, the last lines written just before.
    folder.write("x.log", output(2, "a"));
    fs::rename(folder.path("x.log"), folder.path("x.log.1")).unwrap();
    folder.write("x.log", output(3, "a"));
    fs::rename(folder.path("x.log.1"), folder.path("x.log.2")).unwrap();
    fs::rename(folder.path("x.log"), folder.path("x.log.1")).unwrap();
    folder.write("x.log", output(4, "a"));
    log.poll();
    assert_eq!(times(&log), [1, 2, 3, 4]);
    // A writer may go on for a moment in the file that was set aside.
    folder.write("x.log.1", output(5, "a"));
    log.poll();
    assert_eq!(times(&log), [1, 2, 3, 4, 5]);
    // Deleted, and begun anew.
    for name in ["x.log", "x.log.1", "x.log.2"] {
        fs::remove_file(folder.path(name)).unwrap();
    }
    folder.write("x.log", output(6, "a") + &output(7, "a"));
    log.poll();
    assert_eq!(times(&log), [1, 2, 3, 4, 5, 6, 7]);
    assert!((0..7).all(|number| log.entry(number).is_some()));
    // Truncated: what was in it is gone.
    fs::write(folder.path("x.log"), output(8, "a")).unwrap();
    log.poll();
    assert_eq!(times(&log), [1, 2, 3, 4, 5, 6, 7, 8]);
    let is_there: Vec<bool> = (4..8).map(|number| log.raw(number).is_some()).collect();
    assert_eq!(is_there, [true, false, false, true]);
}

#[test]
fn malformed_lines_are_counted() {
    let folder = Folder::new();
    let long = format!("{{\"message\":\"debug:output\",\"x\":\"{}\"}}\n", "x".repeat(3 << 20));
    let junk: Vec<Vec<u8>> = vec![
        b"no json\n".to_vec(),
        b"\n".to_vec(),
        b"{\"message\":\n".to_vec(),
        b"\xff\xfe\x00\n".to_vec(),
        b"[]\n".to_vec(),
        long.into_bytes(),
    ];
    let junk = junk.concat();
    for is_live in [false, true] {
        let folder_of = Folder::new();
        let mut log = folder_of.open();
        folder_of.write("x.log", output(1, "a"));
        folder_of.write("x.log", &junk);
        folder_of.write("x.log", output(2, "a"));
        if !is_live {
            log = folder_of.open();
        }
        read_all(&mut log);
        assert_eq!(times(&log), [1, 2]);
        assert_eq!(log.skipped(), 5, "live: {is_live}");
    }
    // The long line is written in pieces, and is the last for a while.
    let mut log = folder.open();
    for _ in 0..3 {
        folder.write("x.log", "x".repeat(1 << 20));
        log.poll();
    }
    folder.write("x.log", format!("\n{}", output(3, "a")));
    log.poll();
    assert_eq!((times(&log), log.skipped()), (vec![3], 1));
    folder.write("x.log", "x".repeat(2 << 20));
    let mut log = folder.open();
    read_all(&mut log);
    folder.write("x.log", format!("\n{}", output(4, "a")));
    log.poll();
    assert_eq!((times(&log), log.skipped()), (vec![3, 4], 2));
}

#[test]
fn entries_of_other_programs_and_versions_are_shown_as_such() {
    let folder = Folder::new();
    folder
        .write("x.log", "{\"message\":\"debug:memory\",\"timestamp\":7,\"sessionId\":\"a\",\"new\":{}}\r\n");
    folder.write("x.log", "{\"message\":\"server started\",\"level\":\"info\"}\n");
    folder
        .write("x.log", "{\"message\":\"debug:output\",\"timestamp\":8,\"output\":\"\\ud83d\",\"new\":1}\n");
    folder.write("x.log", b"{\"message\":\"debug:output\",\"timestamp\":9,\"output\":\"\xff\"}\n");
    let log = folder.open();
    let kinds: Vec<Kind> = (0..4).map(|number| log.summary(number).unwrap().kind).collect();
    assert_eq!(kinds, [Kind::Other, Kind::Other, Kind::Output, Kind::Output]);
    assert_eq!(times(&log), [7, 8, 8, 9]);
    assert!(log.entry(0).is_none());
    assert!(log.raw(0).unwrap().contains("debug:memory"));
    let answer: Vec<String> = (0..4).map(|number| crate::words::of(&log, number)).collect();
    assert_eq!(answer, ["debug:memory new={}", "server started", ": \u{fffd}", ": \u{fffd}"]);
}

#[test]
fn calls_are_paired_with_their_answers() {
    let folder = Folder::new();
    folder.write("x.log", call(1, "tool:call", "1"));
    folder.write("x.log", call(2, "tool:call", "2") + &call(3, "tool:error", "2"));
    folder.write("x.log", call(4, "tool:response", "1"));
    folder.write("x.log", call(5, "tool:call", "") + &call(6, "tool:call", ""));
    let mut log = folder.open();
    folder.write("x.log", call(7, "tool:response", "") + &call(8, "tool:response", ""));
    log.poll();
    let partners: Vec<_> = (0..8).map(|number| log.summary(number).unwrap().partner).collect();
    assert_eq!(partners, [Some(3), Some(2), Some(1), Some(0), Some(6), Some(7), Some(4), Some(5)]);
    let errors: Vec<usize> = (0..8).filter(|number| log.summary(*number).unwrap().is_error).collect();
    assert_eq!(errors, [2]);
}

#[test]
fn a_call_that_opens_a_session_belongs_to_it() {
    let folder = Folder::new();
    let of_none = |line: String| line.replace("\"sessionId\":\"a\",", "");
    folder.write("x.log", of_none(call(1, "tool:call", "1")) + &of_none(call(2, "tool:call", "2")));
    folder.write("x.log", output(3, "b") + &output(4, "a"));
    let mut log = folder.open();
    assert_eq!(log.summary(0).unwrap().session, None);
    folder.write("x.log", call(5, "tool:response", "1") + &of_none(call(6, "tool:response", "2")));
    log.poll();
    let sessions: Vec<_> = (0..log.len()).map(|number| log.summary(number).unwrap().session).collect();
    assert_eq!(sessions, [Some(0), None, Some(1), Some(0), Some(0), None]);
    let spans: Vec<_> =
        log.sessions().iter().map(|known| (known.id.as_str(), known.first, known.last)).collect();
    assert_eq!(spans, [("a", 0, 4), ("b", 2, 2)]);
}

#[test]
fn older_entries_are_prepended() {
    let folder = Folder::new();
    let count: i64 = 30_000;
    let mut text = [call(1, "tool:call", "first"), output(2, "long ago")].concat();
    (3..count).for_each(|time| text.push_str(&output(time, if time % 2 == 0 { "a" } else { "b" })));
    folder.write("x.log", text);
    let mut log = folder.open();
    let shown = log.len();
    assert_eq!(shown, SHOWN);
    folder.write("x.log", call(count, "tool:response", "first"));
    let all = read_all(&mut log);
    assert_eq!((all.added, all.prepended + shown + 1), (1, log.len()));
    assert_eq!(times(&log), (1..=count).collect::<Vec<_>>());
    assert_eq!(log.summary(0).unwrap().partner, Some(log.len() - 1));
    assert_eq!(log.summary(log.len() - 1).unwrap().partner, Some(0));
    let spans: Vec<_> =
        log.sessions().iter().map(|known| (known.id.as_str(), known.first, known.last)).collect();
    assert_eq!(spans, [("a", 0, 29_999), ("long ago", 1, 1), ("b", 2, 29_998)]);
    let number = 12_345;
    let Event::Output(written) = &log.entry(number).unwrap().event else { panic!("an output") };
    assert_eq!(written.output, (number + 1).to_string());
}

#[test]
fn a_session_is_found_by_id_or_name() {
    let folder = Folder::new();
    let created = |time: i64, id: &str, name: &str| {
        format!(
            "{{\"timestamp\":{time},\"sessionId\":\"{id}\",\"sessionName\":\"{name}\",\
             \"message\":\"session:created\",\"language\":\"python\"}}\n"
        )
    };
    let mut log = folder.open();
    assert!(log.find_session("last").unwrap_err().starts_with("the journal has no sessions"));
    folder
        .write("x.log", created(1, "abc-1", "one") + &created(2, "abd-2", "two") + &created(3, "e-3", "one"));
    log.poll();
    let cases = [("abc-1", 0), ("abc", 0), ("abd", 1), ("two", 1), ("one", 2), ("e", 2), ("last", 2)];
    for (wanted, expected) in cases {
        assert_eq!(log.find_session(wanted), Ok(expected), "{wanted}");
    }
    let several = "several session IDs begin with `ab`:\n  abd-2  two (python, created)\n  abc-1  one \
                   (python, created)";
    assert_eq!(log.find_session("ab"), Err(several.to_owned()));
    assert!(log.find_session("nobody").unwrap_err().starts_with("no session `nobody`;"));
    assert!(log.find_session("").is_err());
}

proptest! {
    #[test]
    fn garbage_in_a_file_is_skipped(
        lines in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..80),
                "\\{\"message\":\"(tool:call|debug:state|debug:variables|session:created)\"(,\"(timestamp|event|location|stack|variables|request|sessionId)\":(1|\"paused\"|null|\\[1,\\{\\}\\]|\\{\"line\":-1\\}|\"\\\\ud800\")){0,4}\\}"
                    .prop_map(String::into_bytes),
            ],
            0..30,
        ),
        split in 0_usize..30,
    ) {
        let folder = Folder::new();
        let (before, after) = lines.split_at(split.min(lines.len()));
        folder.write("x.log", before.join(&b'\n'));
        let mut log = folder.open();
        folder.write("x.log", after.join(&b'\n'));
        read_all(&mut log);
        for number in 0..log.len() {
            let _ = log.entry(number);
            prop_assert!(!crate::words::of(&log, number).chars().any(char::is_control));
            for session in 0..log.sessions().len() {
                let _ = crate::moment::Moment::at(&log, session, number);
            }
        }
        for session in 0..log.sessions().len() {
            let _ = crate::report::report(&log, session);
        }
    }
}

/// A journal that is never there.
#[test]
fn a_relative_path_is_resolved_in_the_current_folder() {
    assert!(Log::open(Path::new("there is no such journal.log")).unwrap().is_empty());
}
