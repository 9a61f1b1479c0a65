//! What the watchdog of a program has written while nothing else in the program could run.
//!
//! The file has two kinds of text: a line of JSON for each thread that the sampler has come to know, and the stacks
//! of all threads as Python's `faulthandler` writes them:
//!
//! ```text
//! Timeout (0:00:00.500000)!
//! Thread 0x00007f8c4c0e1700 (most recent call first):
//!   File "/project/main.py", line 3 in <module>
//! ```

use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::deadlines;

/// What is read of the file at once; the rest comes the next time.
const MOST: u64 = 4 << 20;

/// A thread of the program.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Thread {
    /// Python's number.
    ident: u64,
    /// The debugger's.
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) os: Option<u32>,
    pub(super) daemon: bool,
}

impl Thread {
    /// One that has not been there when the sampler last looked.
    fn unknown(ident: u64) -> Self {
        let id = i64::try_from(ident).unwrap_or_default();
        Self { ident, id, name: format!("thread {ident}"), os: None, daemon: false }
    }
}

/// A function, its file, a line: innermost first.
type Stack = Vec<(String, String, u32)>;

/// What was written since the last look.
#[derive(Debug, Default)]
pub(super) struct OutputWritten {
    /// How long the watchdog waits between two times, in seconds.
    pub(super) period: f64,
    /// Where threads were, each time.
    pub(super) stacks: Vec<(Thread, Stack)>,
    /// All threads that the sampler has come to know.
    pub(super) threads: Vec<Thread>,
}

/// The file in the program's memory.
#[derive(Debug)]
pub(super) struct Stacks {
    file: PathBuf,
    period: f64,
    /// How much was read.
    read: u64,
    /// The threads, by Python's numbers, which are given again when a thread has ended.
    threads: HashMap<u64, Thread>,
}

impl Stacks {
    pub(super) fn new(pid: u32, descriptor: u32, period: f64) -> Self {
        let file = PathBuf::from(format!("/proc/{pid}/fd/{descriptor}"));
        Self { file, period, read: 0, threads: HashMap::new() }
    }

    /// What was written since the last look.
    pub(super) async fn read(&mut self) -> OutputWritten {
        let mut text = self.rest();
        // A partially written stack is ignored.
        while !text.is_empty() {
            tokio::time::sleep(deadlines::LOOK).await;
            let longer = self.rest();
            if longer.len() == text.len() {
                break;
            }
            text = longer;
        }
        self.read += text.len() as u64;
        let stacks = self.parse(&String::from_utf8_lossy(&text));
        OutputWritten { period: self.period, stacks, threads: self.threads.values().cloned().collect() }
    }

    /// What was not read yet. A program that is gone, or has closed the file, has nothing to say.
    fn rest(&self) -> Vec<u8> {
        let mut text = Vec::new();
        // Something else under this number might be a pipe, which would keep us waiting.
        let is_ours = std::fs::read_link(&self.file)
            .is_ok_and(|to| to.starts_with(Path::new("/memfd:stillframe (deleted)")));
        let read = || -> std::io::Result<usize> {
            let mut file = std::fs::File::open(&self.file)?;
            file.seek(SeekFrom::Start(self.read))?;
            file.take(MOST).read_to_end(&mut text)
        };
        if is_ours {
            let mut read = read;
            let _ = read();
        }
        text
    }

    fn parse(&mut self, text: &str) -> Vec<(Thread, Stack)> {
        let mut found: Vec<(Thread, Stack)> = Vec::new();
        let mut of_debugger = HashSet::new();
        for line in text.lines() {
            if line.starts_with('{') {
                if let Ok(thread) = serde_json::from_str::<Thread>(line) {
                    self.threads.insert(thread.ident, thread);
                }
            } else if let Some(ident) = ident(line) {
                let thread = self.threads.get(&ident).cloned();
                found.push((thread.unwrap_or_else(|| Thread::unknown(ident)), Stack::new()));
            } else if let Some(frame) = frame(line)
                && let Some((thread, stack)) = found.last_mut()
            {
                if begins_debugger(&frame) {
                    of_debugger.insert(thread.ident);
                }
                if !is_of_debugger(&frame) {
                    stack.push(frame);
                }
            }
        }
        // The sampler does not report the debugger's own threads.
        found.retain(|(thread, stack)| {
            let ident = &thread.ident;
            self.threads.contains_key(ident) || !(stack.is_empty() || of_debugger.contains(ident))
        });
        found
    }
}

/// The number in the line that begins a thread.
fn ident(line: &str) -> Option<u64> {
    let (_, number) = line.split_once("hread 0x")?;
    let number = number.split(' ').next()?;
    u64::from_str_radix(number, 16).ok()
}

fn frame(line: &str) -> Option<(String, String, u32)> {
    let (file, rest) = line.trim().strip_prefix("File \"")?.rsplit_once("\", line ")?;
    let (line, function) = rest.split_once(" in ")?;
    Some((unescaped(function), unescaped(file), line.parse().unwrap_or(0)))
}

/// What is not ASCII is written as an escape.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let digits = match after.chars().next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let letter = after.get(1..=digits).filter(|_| digits > 0);
        let letter = letter.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        plain.push(letter.unwrap_or('\\'));
        rest = if letter.is_some() { after.get(digits + 1..).unwrap_or_default() } else { after };
    }
    plain + rest
}

/// What a thread of the debugger's runs, and none of the program's: pydevd's daemons (`PyDBDaemonThread.run`), and our
/// sampler.
fn begins_debugger((function, file, _): &(String, String, u32)) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    function == "run" && (name == "pydevd_daemon_thread.py" || name == "<stillframe_sampler>")
}

fn is_of_debugger((function, file, _): &(String, String, u32)) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    file.contains("/debugpy/_vendored/")
        || name.starts_with("stillframe_")
        || file.starts_with("<stillframe_")
        || file.starts_with("<frozen importlib")
        || name == "threading.py" && matches!(function.as_str(), "_bootstrap" | "_bootstrap_inner")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulthandler_stacks_are_parsed() {
        let text = r#"{"ident": 255, "id": 1, "name": "MainThread", "os": 77, "daemon": false}
Timeout (0:00:00.500000)!
Thread 0x0000000000000010 (most recent call first):
  File "/x.py", line 3 in other
Thread 0x0000000000000011 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap
Thread 0x0000000000000013 (most recent call first):
  File "/usr/lib/python3.11/json/encoder.py", line 200 in encode
  File "<stillframe_sampler>", line 93 in run
Thread 0x0000000000000012 (most recent call first):
  File "/usr/lib/python3.11/queue.py", line 180 in get
  File "/cache/debugpy-1/debugpy/_vendored/pydevd/_pydevd_bundle/pydevd_comm.py", line 380 in _on_run
  File "/cache/debugpy-1/debugpy/_vendored/pydevd/_pydevd_bundle/pydevd_daemon_thread.py", line 53 in run
  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap
Thread 0x00000000000000ff (most recent call first):
  File "/project/k\xe4se \u2713.py", line 3 in <module>
  File "/cache/debugpy-1/debugpy/_vendored/pydevd/pydevd.py", line 1252 in _exec
  File "/cache/scripts-1/stillframe_launch.py", line ??? in run
"#;
        let mut stacks = Stacks::new(1, 1, 0.5);
        let found: Vec<(i64, Stack)> =
            stacks.parse(text).into_iter().map(|(thread, stack)| (thread.id, stack)).collect();
        let stack = |function: &str, file: &str| vec![(function.to_owned(), file.to_owned(), 3)];
        assert_eq!(found, [(16, stack("other", "/x.py")), (1, stack("<module>", "/project/käse ✓.py"))]);
    }
}
