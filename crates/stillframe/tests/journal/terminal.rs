//! The terminal view of a session whose server was killed.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;
use test_support::{DynamicLanguage as Language, Fixture, dynamic};
use tokio::process::Child;

use crate::STILLFRAME;
use crate::lines::{JournalFolder, of_kind};

const COLUMNS: u16 = 140;
const LINES: u16 = 40;

dynamic![a_finished_session_is_shown];

async fn a_finished_session_is_shown(language: Language) {
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    let bank = Fixture::of(language, "bank");
    let session = server.ok("create_debug_session", json!({ "language": language.name() })).await;
    let session = session["sessionId"].clone();
    let line = bank.line("deposit");
    server.ok("set_breakpoint", json!({ "sessionId": session, "file": bank.path(), "line": line })).await;
    server.ok("start_debugging", json!({ "sessionId": session, "scriptPath": bank.path() })).await;
    test_support::eventually(|| of_kind(&journal.lines(), "tool:response").len() == 3).await;
    server.kill().await;

    let mut terminal = Terminal::open(&journal);
    let main = language.file("main");
    // Its program names the session, and what is shown is its last stop.
    let state = format!("lost, last stop at {main}:{line} in");
    terminal.shows(&[&state, &format!("✗ {main}"), "▸start_debugging", "amount = 1", "@deposit"]).await;
    terminal.press("o");
    terminal.shows(&["▾start_debugging", "  ■ ", "  = Locals: "]).await;
    terminal.press("\r");
    terminal.shows(&["Asked", "scriptPath", "Meanwhile", "Answered after"]).await;
    terminal.press("r");
    terminal.shows(&["\"message\": \"tool:call\","]).await;
    terminal.press("q");
    assert!(terminal.viewer.wait().await.unwrap().success());
}

/// `stillframe view` in a terminal of its own.
struct Terminal {
    viewer: Child,
    keyboard: File,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn open(journal: &JournalFolder) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let size = Winsize { ws_row: LINES, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&keyboard, size).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
        let screen = File::options().read(true).write(true).open(name).unwrap();
        let end = || Stdio::from(OwnedFd::from(screen.try_clone().unwrap()));
        let mut command = STILLFRAME.command();
        command.arg("--log-file").arg(journal.path()).arg("view").env("TERM", "xterm-256color");
        let viewer = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let keyboard = File::from(keyboard);
        let (mut reader, written) = (keyboard.try_clone().unwrap(), Arc::<Mutex<Vec<u8>>>::default());
        let heard = Arc::clone(&written);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // It fails when the other end is closed.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                heard.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { viewer, keyboard, written }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen has all of these.
    async fn shows(&self, wanted: &[&str]) {
        let missing = || {
            let screen = screen(&String::from_utf8_lossy(&self.written.lock().unwrap()));
            let missing = wanted.iter().find(|text| !screen.contains(**text));
            missing.map(|text| format!("no `{text}` in\n{screen}"))
        };
        let last = Mutex::new(None);
        let observed = test_support::eventually(|| {
            *last.lock().unwrap() = missing();
            last.lock().unwrap().is_none()
        });
        let is_seen = tokio::time::timeout(std::time::Duration::from_secs(15), observed).await.is_ok();
        assert!(is_seen, "{}", last.lock().unwrap().take().unwrap_or_default());
    }
}

/// The characters on the screen after all of that was written to it. Colours are left out.
fn screen(written: &str) -> String {
    let mut cells = vec![vec![' '; usize::from(COLUMNS)]; usize::from(LINES)];
    let (mut row, mut column) = (0, 0);
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        if character != '\x1b' {
            if let Some(cell) = cells.get_mut(row).and_then(|line| line.get_mut(column)) {
                *cell = character;
            }
            column += 1;
            continue;
        }
        let is_control = characters.next() == Some('[');
        let mut arguments = String::new();
        let command = characters.by_ref().find(|next| {
            arguments.push(*next);
            !is_control || next.is_ascii_alphabetic()
        });
        arguments.pop();
        let number = |at: usize| arguments.split(';').nth(at).and_then(|text| text.parse().ok()).unwrap_or(1);
        match command {
            Some('H') => (row, column) = (number(0) - 1, number(1) - 1),
            Some('J') => cells.iter_mut().for_each(|line| line.fill(' ')),
            _ => {}
        }
    }
    let lines = cells.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}
