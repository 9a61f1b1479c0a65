//! Journals, which other programs may have written, or half written.

use std::path::Path;

use viewer::log::Log;
use viewer::moment::Moment;
use viewer::report::report;
use viewer::words;

/// An entry that any version has written.
const ENTRY: &str = concat!(
    r#"{"timestamp":1763800000000,"level":"info","namespace":"session","#,
    r#""message":"session:created","sessionId":"s-last","sessionName":"the last one"}"#
);

/// A file of a journal.
///
/// It can be opened; no line is more than one entry; an entry that is written after it is found; it makes no
/// difference whether it was there at once or arrived in two parts; and nothing from it reaches a terminal unescaped.
pub fn journal(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("x.log");
    std::fs::write(&path, data).expect("the file can be written");
    let mut whole = open(&path);
    let lines = data.split(|byte| *byte == b'\n').count();
    assert!(whole.len() + whole.skipped() <= lines, "{} of {lines} lines", whole.len());
    for number in 0..whole.len() {
        look_at(&whole, number);
    }
    for session in 0..whole.sessions().len() {
        let text = report(&whole, session);
        assert!(text.chars().all(|one| one == '\n' || one == '\t' || !one.is_control()), "{text:?}");
    }

    let before = whole.len();
    write_behind(&path, format!("\n{ENTRY}\n").as_bytes());
    whole.complete();
    assert!(whole.len() > before, "what came behind it was not found");
    let last = whole.raw(whole.len() - 1);
    assert_eq!(last.as_deref().map(str::trim_end), Some(ENTRY));
    assert!(whole.find_session("s-last").is_ok());

    let parts = folder.path().join("y.log");
    let (first, second) = data.split_at(data.len() / 2);
    std::fs::write(&parts, first).expect("the file can be written");
    let mut followed = open(&parts);
    write_behind(&parts, second);
    write_behind(&parts, format!("\n{ENTRY}\n").as_bytes());
    followed.complete();
    assert_eq!((followed.len(), followed.skipped()), (whole.len(), whole.skipped()));
}

fn open(path: &Path) -> Log {
    let mut log = Log::open(path).expect("a file that is there");
    log.complete();
    log
}

fn write_behind(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    let file = std::fs::OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(bytes)).expect("the file can be written");
}

fn look_at(log: &Log, number: usize) {
    assert_eq!(log.number(log.place(number)), Some(number));
    let summary = log.summary(number).expect("it is there");
    if let Some(partner) = summary.partner {
        let back = log.summary(partner).and_then(|other| other.partner);
        assert_eq!(back, Some(number), "what answers is answered");
    }
    if let Some(entry) = log.entry(number) {
        let line = words::entry(&entry);
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
    if let Some(session) = summary.session {
        let moment = Moment::at(log, session, number);
        let output = moment.output.iter().flat_map(|line| line.text.chars());
        assert!(output.into_iter().all(|one| one == '\n' || one == '\t' || !one.is_control()));
    }
}
