//! Answers the program, which asks for the text of each of its files with calls of the recorder in it.
//!
//! The program writes a question into a file beside the recording and its number into a pipe, and waits for a file
//! with the answer: it cannot do anything else while a file is loaded, and needs no library for this.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use engine::named_pipe;
use serde::{Deserialize, Serialize};

use super::chosen::Chosen;
use super::instrument::{Instrumented, Kind, Script, instrument};
use crate::wire::beside;

/// What ends the service.
const END: &str = "end";

/// A thread that answers.
pub(super) struct Service {
    segments: PathBuf,
    pipe: File,
    thread: Option<JoinHandle<()>>,
}

#[derive(Deserialize)]
struct Question {
    path: PathBuf,
    source: String,
    kind: Kind,
    /// The script that a loader's thread asks for, whose numbers the thread that runs it gives out.
    script: Option<String>,
}

/// Nothing, for a file that is left as it is, because it cannot be read as JavaScript or is not to be recorded.
#[derive(Serialize)]
struct Answer {
    script: Option<Instrumented>,
}

impl Service {
    pub(super) fn start(segments: &Path, helpers: String, chosen: Chosen) -> std::io::Result<Self> {
        let path = beside(segments, "ask");
        let pipe = named_pipe::create(&path)?;
        let (reader, folder) = (pipe.try_clone()?, segments.to_owned());
        let thread = std::thread::Builder::new().name("instrumenter".to_owned());
        let thread = thread.spawn(move || answer_all(reader, &folder, &helpers, &chosen))?;
        Ok(Self { segments: segments.to_owned(), pipe, thread: Some(thread) })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let is_told = writeln!(self.pipe, "{END}").is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_told) {
            // It ends after what it does at the moment.
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(beside(&self.segments, "ask"));
    }
}

/// Answers until the end, and then removes what loaders' threads have left for those that run the scripts.
fn answer_all(pipe: File, segments: &Path, helpers: &str, chosen: &Chosen) {
    let mut left = Vec::new();
    answer_each(pipe, segments, |asked| answer(asked, helpers, chosen), &mut left);
    for script in left {
        let _ = std::fs::remove_file(beside(segments, format_args!("script{script}")));
    }
}

fn answer_each(
    pipe: File,
    segments: &Path,
    answer: impl Fn(&Question) -> Option<Instrumented>,
    left: &mut Vec<String>,
) {
    for line in BufReader::new(pipe).lines() {
        let Ok(line) = line else { return };
        if line == END {
            return;
        }
        // Anyone may write to the pipe. A question is a file beside the recording, by a number.
        if !is_number(&line) {
            continue;
        }
        let question = beside(segments, format_args!("question{line}"));
        let asked = std::fs::read(&question).ok().and_then(|text| serde_json::from_slice(&text).ok());
        left.extend(
            asked.as_ref().and_then(|asked: &Question| asked.script.clone()).filter(|it| is_number(it)),
        );
        let script = asked.and_then(|asked| answer(&asked));
        let written = serde_json::to_vec(&Answer { script }).ok().and_then(|text| {
            let part = beside(segments, format_args!("part{line}"));
            std::fs::write(&part, text).ok()?;
            std::fs::rename(&part, beside(segments, format_args!("answer{line}"))).ok()
        });
        let _ = std::fs::remove_file(&question);
        if written.is_none() {
            return;
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
}

fn answer(question: &Question, helpers: &str, chosen: &Chosen) -> Option<Instrumented> {
    let Question { path, source, kind, script } = question;
    let script = script.as_ref().map(|script| format!("?script={script}"));
    let helpers = format!("{helpers}{}", script.unwrap_or_default());
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    let attempt = |kind| instrument(&Script { text, path, kind, helpers: &helpers, chosen });
    // Where nothing says what a file is, Node tries both.
    let either = || match kind {
        Kind::CommonJs => attempt(*kind).or_else(|| attempt(Kind::Module)),
        Kind::Module | Kind::Body => attempt(*kind),
    };
    engine::javascript::parsing(text, either).flatten()
}
