//! Keys, given one after the other, to journals in a temporary folder.

mod screens;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::keys;
use super::super::view::{CallDuration, DetailForm, Mark, Overlay, Pane, PlaybackMode, View};
use super::{App, DrawnState};
use crate::clock::Clock;
use crate::log::Log;

/// 2025-01-06 16:15:00 UTC.
const START: i64 = 1_736_180_100_000;
const SCREEN: Rect = Rect::new(0, 0, 100, 40);
const PAGE: usize = 10;

/// A journal that is written, and who reads it.
struct Reader {
    app: App,
    path: PathBuf,
    now: i64,
    _folder: TempDir,
}

impl Reader {
    fn new(entries: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debug-mcp-server.log");
        write(&path, entries);
        let app = App::new(Log::open(&path).unwrap(), &path, Clock::utc(), None);
        let mut reader = Self { app, path, now: START + 60_000, _folder: folder };
        reader.settle();
        reader
    }

    /// Until everything was read and indexed.
    fn settle(&mut self) {
        let began = Instant::now();
        while !self.app.is_complete || !self.app.rows.is_done(&self.app.log) {
            self.app.tick(began);
            assert!(began.elapsed() < Duration::from_secs(20));
        }
    }

    fn append(&mut self, entries: &[Value]) {
        let before = self.app.log.len();
        write(&self.path, entries);
        let began = Instant::now();
        while self.app.log.len() < before + entries.len() {
            self.app.tick(began);
            assert!(began.elapsed() < Duration::from_secs(20));
        }
        self.settle();
    }

    /// Presses keys: characters, or `<name>`.
    fn press(&mut self, keys: &[&str]) -> &mut Self {
        for key in keys {
            let code = match *key {
                "<left>" => KeyCode::Left,
                "<right>" => KeyCode::Right,
                "<up>" => KeyCode::Up,
                "<down>" => KeyCode::Down,
                "<enter>" => KeyCode::Enter,
                "<esc>" => KeyCode::Esc,
                "<tab>" => KeyCode::Tab,
                "<backtab>" => KeyCode::BackTab,
                "<backspace>" => KeyCode::Backspace,
                key => KeyCode::Char(key.chars().next().unwrap()),
            };
            let action = keys::action(KeyEvent::from(code), self.app.overlay());
            assert!(self.app.act(action.unwrap(), PAGE), "{key} left");
            self.settle();
        }
        self
    }

    fn view(&mut self) -> View {
        let now = self.now;
        self.app.view(SCREEN, now)
    }

    /// The text of the row that is chosen; of which there is one at most.
    fn chosen(&mut self) -> String {
        let view = self.view();
        view.timeline.cursor.map(|row| view.timeline.rows[row].text.clone()).unwrap_or_default()
    }

    fn texts(&mut self) -> Vec<String> {
        self.view().timeline.rows.into_iter().map(|row| row.text).collect()
    }
}

fn write(path: &PathBuf, entries: &[Value]) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    for entry in entries {
        writeln!(file, "{entry}").unwrap();
    }
}

fn entry(after: i64, session: Option<&str>, message: &str, mut more: Value) -> Value {
    let mut entry = json!({
        "timestamp": START + after, "time": "2025-01-06T16:15:00.000Z", "level": "info",
        "namespace": "debug-mcp:tools", "message": message,
    });
    if let Some(session) = session {
        entry["sessionId"] = json!(format!("{session}-0000"));
        entry["sessionName"] = json!(session);
    }
    entry.as_object_mut().unwrap().append(more.as_object_mut().unwrap());
    entry
}

fn call(after: i64, session: Option<&str>, tool: &str, id: &str) -> Value {
    entry(after, session, "tool:call", json!({ "tool": tool, "callId": id, "request": {} }))
}

fn answer(after: i64, session: Option<&str>, tool: &str, id: &str) -> Value {
    let more = json!({ "tool": tool, "callId": id, "success": true, "response": { "secret": "needle" } });
    entry(after, session, "tool:response", more)
}

fn failure(after: i64, session: &str, tool: &str, id: &str) -> Value {
    let more = json!({ "tool": tool, "callId": id, "error": "it is gone", "level": "error" });
    entry(after, Some(session), "tool:error", more)
}

fn paused(after: i64, session: &str, line: u32) -> Value {
    let more = json!({
        "event": "paused", "reason": "breakpoint", "threadId": 1,
        "location": { "file": "/tmp/main.py", "line": line, "function": "f" },
    });
    entry(after, Some(session), "debug:state", more)
}

fn output(after: i64, session: &str, category: &str, text: &str) -> Value {
    entry(after, Some(session), "debug:output", json!({ "category": category, "output": text }))
}

fn created(after: i64, session: &str) -> Value {
    entry(after, Some(session), "session:created", json!({ "language": "python" }))
}

/// Two sessions, of which the second one is acting.
fn story() -> Vec<Value> {
    vec![
        created(0, "one"),
        call(100, Some("one"), "start", "c1"),
        paused(900, "one", 3),
        answer(1_000, Some("one"), "start", "c1"),
        output(1_500, "one", "stdout", "hello\n"),
        created(2_000, "two"),
        call(2_100, Some("two"), "look", "c2"),
        failure(2_350, "two", "look", "c2"),
        paused(3_000, "two", 7),
        output(3_100, "two", "stderr", "Warning\n"),
        call(4_000, Some("two"), "continue", "c3"),
    ]
}

#[test]
fn calls_and_answers_are_one_row() {
    let mut reader = Reader::new(&story());
    reader.now = START + 9_000;
    let rows = reader.view().timeline.rows;
    let reported: Vec<_> = rows.iter().map(|row| (row.mark, row.text.trim(), row.took)).collect();
    let expected = [
        (Mark::Session, "session one opened (python)", CallDuration::Nothing),
        (Mark::Good, "start", CallDuration::Milliseconds(900)),
        (Mark::Output, "hello", CallDuration::Nothing),
        (Mark::Session, "session two opened (python)", CallDuration::Nothing),
        (Mark::Bad, "look: it is gone", CallDuration::Milliseconds(250)),
        (Mark::Stop, "main.py:7 in f, breakpoint", CallDuration::Nothing),
        (Mark::ErrorOutput, "Warning", CallDuration::Nothing),
        (Mark::Busy, "continue", CallDuration::Already(5_000)),
    ];
    assert_eq!(reported, expected);
    assert_eq!(rows[2].session.as_deref(), Some("one"));
    reader.now = START + 3_600_000;
    assert_eq!(reader.view().timeline.rows[7].took, CallDuration::NoAnswer);
}

#[test]
fn an_expanded_call_shows_what_happened_during_it() {
    let mut reader = Reader::new(&story());
    reader.press(&["g", "l"]);
    let view = reader.view();
    let row = &view.timeline.rows[1];
    let outcome = row.outcome.as_ref().map(|outcome| (outcome.mark, outcome.text.as_str()));
    assert_eq!(outcome, Some((Some(Mark::Stop), "main.py:3 in f, breakpoint")));
    assert_eq!((row.is_open, view.timeline.rows[2].is_open), (Some(false), None));
    // A closed call is shown with what came of it.
    assert_eq!(view.moment.unwrap().state, "paused");
    reader.press(&["o"]);
    let view = reader.view();
    assert_eq!((view.timeline.rows[1].is_open, view.timeline.cursor), (Some(true), Some(1)));
    let effect = &view.timeline.rows[2];
    assert_eq!((effect.text.as_str(), effect.is_effect), ("main.py:3 in f, breakpoint", true));
    assert_eq!(view.moment.unwrap().state, "created");
    // From what happened, the call is closed too.
    reader.press(&["l", "o"]);
    let view = reader.view();
    assert_eq!((view.timeline.rows.len(), view.timeline.cursor), (8, Some(1)));
    reader.press(&["l", "o"]);
    assert_eq!(reader.view().notice.as_deref(), Some("nothing to expand here"));
    reader.press(&["O"]);
    assert_eq!(reader.texts().len(), 9);
    reader.press(&["O"]);
    assert_eq!(reader.texts().len(), 8);
}

#[test]
fn events_during_a_call_belong_to_it_at_once() {
    let mut reader = Reader::new(&story());
    reader.append(&[output(5_000, "two", "stdout", "now\n"), output(5_100, "one", "stdout", "other\n")]);
    assert_eq!(reader.texts()[7..], ["continue", "other"]);
    reader.press(&["<left>", "o"]);
    assert_eq!(reader.texts()[7..], ["continue", "now", "other"]);
}

#[test]
fn an_object_expands_in_place() {
    let mut at = paused(9_000, "two", 8);
    at["location"]["frameId"] = json!(1);
    let cart = json!({ "name": "cart", "type": "dict", "value": "{...}", "variablesReference": 5 });
    let locals = json!({ "frameId": 1, "scope": "Locals", "variableCount": 1, "variables": [cart] });
    let part = json!({ "name": "total", "type": "int", "value": "3" });
    let parts = json!({ "variablesReference": 5, "variableCount": 4, "variables": [part] });
    let mut entries = story();
    entries.push(at);
    entries.extend([locals, parts].map(|more| entry(9_100, Some("two"), "debug:variables", more)));
    let mut reader = Reader::new(&entries);
    let names = |reader: &mut Reader| -> Vec<(usize, String, Option<bool>)> {
        let view = reader.view();
        let moment = view.moment.unwrap();
        let rows = moment.value_rows(&view.open_values).into_iter();
        rows.map(|row| (row.depth, row.seen.variable.name.clone(), row.is_open)).collect()
    };
    reader.press(&["<tab>", "<tab>"]);
    assert_eq!(reader.view().focus, Pane::Variables);
    assert_eq!(names(&mut reader), [(0, "cart".to_owned(), Some(false))]);
    let drawn = DrawnState { chosen_value: Some("/cart".to_owned()), ..DrawnState::default() };
    reader.app.drawn(drawn, Instant::now());
    reader.press(&["o"]);
    assert_eq!(names(&mut reader), [(0, "cart".to_owned(), Some(true)), (1, "total".to_owned(), None)]);
    reader.press(&["<enter>"]);
    let Overlay::Detail { lines, .. } = reader.view().overlay else { panic!("nothing is open") };
    assert_eq!(lines, ["  cart: dict = {...}", "    total: int = 3", "    and 3 more"]);
}

#[test]
fn the_latest_entry_of_the_active_session_is_followed() {
    let mut reader = Reader::new(&story());
    let view = reader.view();
    assert_eq!((view.pace, view.timeline.cursor), (PlaybackMode::Live, Some(7)));
    assert_eq!(view.moment.unwrap().session_name, "two");
    reader.append(&[answer(5_000, Some("two"), "continue", "c3"), output(6_000, "one", "stdout", "again\n")]);
    let view = reader.view();
    assert_eq!(view.timeline.rows[7].took, CallDuration::Milliseconds(1_000));
    assert_eq!(view.timeline.rows[8].text, "again");
    assert_eq!((view.pace, view.timeline.cursor), (PlaybackMode::Live, Some(8)));
    assert_eq!(view.moment.unwrap().session_name, "one");
    let names: Vec<_> = view.sessions.iter().map(|row| (row.name.as_str(), row.is_shown)).collect();
    assert_eq!(names, [("two", false), ("one", true)]);
}

#[test]
fn keys_move_through_time() {
    let table: &[(&[&str], &str, bool)] = &[
        (&["<left>"], "Warning", false),
        (&["h", "k"], "main.py:7 in f, breakpoint", false),
        (&["<left>", "<right>"], "continue", false),
        (&["<left>", "<right>", "<right>"], "continue", true),
        (&["g"], "session one opened (python)", false),
        (&["g", "<left>"], "session one opened (python)", false),
        (&["g", "l", "j"], "hello", false),
        (&["g", "G"], "continue", true),
        (&["g", "e"], "look: it is gone", false),
        (&["e"], "look: it is gone", false),
        (&["e", "e"], "look: it is gone", false),
        (&["e", "S"], "main.py:3 in f, breakpoint", false),
        (&["S", "S"], "main.py:3 in f, breakpoint", false),
        (&["g", "s", "s"], "main.py:7 in f, breakpoint", false),
        (&["g", "<esc>"], "continue", true),
    ];
    for (keys, expected, is_live) in table {
        let mut reader = Reader::new(&story());
        reader.press(keys);
        assert_eq!(reader.chosen().trim(), *expected, "{keys:?}");
        assert_eq!(reader.view().pace == PlaybackMode::Live, *is_live, "{keys:?}");
    }
}

#[test]
fn a_past_moment_stays_selected_while_entries_arrive() {
    let mut reader = Reader::new(&story());
    reader.press(&["g", "s"]);
    let before = reader.view();
    assert_eq!(before.moment.as_ref().unwrap().location.as_ref().unwrap().line, 3);
    let more: Vec<Value> = (0..500).map(|n| output(10_000 + n, "one", "stdout", "more\n")).collect();
    reader.append(&more);
    let after = reader.view();
    assert_eq!(after.moment, before.moment);
    assert_eq!(after.at, before.at);
    reader.press(&["E"]);
    assert_eq!(reader.view().notice.as_deref(), Some("no earlier error"));
}

#[test]
fn rows_are_filtered_by_kind_text_and_session() {
    let table: &[(&[&str], &[&str])] = &[
        (&["f"], &["start", "look: it is gone", "continue"]),
        (&["f", "f"], &["main.py:3 in f, breakpoint", "main.py:7 in f, breakpoint"]),
        (&["f", "f", "f"], &["hello", "Warning"]),
        (&["F"], &["look: it is gone"]),
        (&["F", "f"], &["session one opened (python)"]),
        (&["/", "H", "E", "L", "<enter>"], &["hello"]),
        // Of an answer.
        (&["/", "n", "e", "e", "d", "l", "e", "<enter>"], &["start"]),
        (&["/", "g", "o", "n", "e", "<enter>"], &["look: it is gone"]),
        // Of every entry, and of no interest.
        (&["/", "t", "i", "m", "e", "s", "t", "a", "m", "p", "<enter>"], &[]),
        (
            &["/", "x", "<backspace>", "m", "a", "i", "n", ".", "p", "y", ":", "7", "<enter>"],
            &["main.py:7 in f, breakpoint"],
        ),
        (&["/", "x", "<esc>", "f"], &["start", "look: it is gone", "continue"]),
        (&["/", "x", "<enter>", "<esc>", "f"], &["start", "look: it is gone", "continue"]),
        // To the sessions: the newest is below the row of all.
        (
            &["<backtab>", "<down>", "<enter>"],
            &[
                "session two opened (python)",
                "look: it is gone",
                "main.py:7 in f, breakpoint",
                "Warning",
                "continue",
            ],
        ),
        (&["<backtab>", "<down>", "<down>", "<down>", "<enter>", "f"], &["start"]),
    ];
    for (keys, expected) in table {
        let mut reader = Reader::new(&story());
        reader.press(keys);
        let texts = reader.texts();
        let texts: Vec<&str> = texts.iter().map(|text| text.trim()).take(expected.len().max(1)).collect();
        assert_eq!(texts, *expected, "{keys:?}");
    }
}

#[test]
fn a_late_answer_can_add_its_calls_row() {
    let mut reader = Reader::new(&story());
    reader.press(&["/", "n", "e", "e", "d", "l", "e", "<enter>"]);
    reader.append(&[answer(5_000, Some("two"), "continue", "c3")]);
    assert_eq!(reader.texts().iter().map(|text| text.trim()).collect::<Vec<_>>(), ["start", "continue"]);
}

#[test]
fn a_whole_entry_is_shown_with_its_answer() {
    let mut reader = Reader::new(&story());
    reader.press(&["e", "r"]);
    let Overlay::Detail { title, lines, .. } = reader.view().overlay else { panic!("nothing is open") };
    assert_eq!(title, "Entry 7 of 11");
    assert!(lines.contains(&"  \"tool\": \"look\",".to_owned()), "{lines:?}");
    assert!(lines.contains(&"  \"error\": \"it is gone\"".to_owned()), "{lines:?}");
    reader.press(&["<down>", "<esc>"]);
    assert_eq!(reader.view().overlay, Overlay::None);
    assert_eq!(reader.chosen().trim(), "look: it is gone");
}

#[test]
fn a_call_is_shown_formatted_and_as_json() {
    let mut reader = Reader::new(&story());
    reader.press(&["g", "l", "<enter>"]);
    let Overlay::Detail { lines, form, .. } = reader.view().overlay else { panic!("nothing is open") };
    let expected = [
        "start",
        "  2025-01-06 16:15:00.100, one",
        "",
        "Asked",
        "  nothing",
        "",
        "Meanwhile",
        "  ■ main.py:3 in f, breakpoint",
        "",
        "Answered after 900ms",
        "  secret  needle",
    ];
    assert_eq!((lines, form), (expected.map(str::to_owned).to_vec(), DetailForm::Readable));
    reader.press(&["r"]);
    let Overlay::Detail { form, .. } = reader.view().overlay else { panic!("nothing is open") };
    assert_eq!(form, DetailForm::Json);
    reader.press(&["r", "<enter>"]);
    assert_eq!(reader.view().overlay, Overlay::None);
}

#[test]
fn a_replay_runs_from_start_to_end() {
    let mut reader = Reader::new(&story());
    reader.press(&[" "]);
    assert_eq!(reader.view().pace, PlaybackMode::Replay(1.0));
    assert_eq!(reader.chosen().trim(), "session one opened (python)");
    let began = Instant::now();
    reader.app.tick(began + Duration::from_millis(950));
    assert_eq!(reader.chosen().trim(), "start");
    reader.press(&["+"]);
    assert_eq!(reader.view().pace, PlaybackMode::Replay(2.0));
    reader.press(&[" "]);
    assert_eq!(reader.view().pace, PlaybackMode::Still);
    reader.press(&[" "]);
    reader.app.tick(Instant::now() + Duration::from_mins(1));
    assert_eq!(reader.view().pace, PlaybackMode::Live);
}

#[test]
fn the_focus_cycles() {
    let mut reader = Reader::new(&story());
    let mut observed = Vec::new();
    for _ in Pane::ALL {
        observed.push(reader.view().focus);
        reader.press(&["<tab>"]);
    }
    assert_eq!(observed, Pane::ALL);
    assert_eq!(reader.view().focus, Pane::Timeline);
    reader.press(&["<backtab>"]);
    assert_eq!(reader.view().focus, Pane::Sessions);
}

#[test]
fn a_missing_journal_is_awaited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("debug-mcp-server.log");
    let app = App::new(Log::open(&path).unwrap(), &path, Clock::utc(), None);
    let mut reader = Reader { app, path, now: START, _folder: folder };
    reader.press(&["<left>", "e", " ", "<enter>", "g", "f", "<esc>"]);
    assert_eq!(reader.texts(), Vec::<String>::new());
    reader.append(&story());
    assert_eq!(reader.texts().len(), 8);
}

#[test]
fn nothing_is_redrawn_without_a_change() {
    let mut reader = Reader::new(&story()[..10]);
    reader.view();
    reader.app.drawn(DrawnState::default(), Instant::now());
    reader.app.tick(Instant::now());
    assert!(!reader.app.is_stale());
    reader.append(&story()[10..]);
    assert!(reader.app.is_stale());
    // A pending call shows its duration.
    reader.view();
    let now = Instant::now();
    reader.app.drawn(DrawnState::default(), now);
    reader.app.tick(now + Duration::from_millis(900));
    assert!(!reader.app.is_stale());
    reader.app.tick(now + Duration::from_secs(1));
    assert!(reader.app.is_stale());
}

#[test]
fn a_thousand_random_keys_do_not_panic() {
    let keys = [
        "<left>", "<right>", "<up>", "<down>", "<enter>", "<esc>", "<tab>", "g", "G", "e", "E", "s", "S",
        " ", "+", "-", "f", "F", "/", "?", "o", "O", "r",
    ];
    let mut reader = Reader::new(&story());
    let mut state: usize = 12_345;
    for _ in 0..1_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = keys[(state >> 33) % keys.len()];
        let typing = matches!(reader.app.overlay, Overlay::Search(_));
        if !(typing && key.starts_with('<') && !["<enter>", "<esc>"].contains(&key)) {
            reader.press(&[key]);
        }
        reader.view();
    }
}
