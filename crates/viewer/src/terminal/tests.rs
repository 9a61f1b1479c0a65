//! What is drawn, from plain data, in a buffer instead of a terminal.

use std::collections::BTreeSet;
use std::sync::Arc;

use journal::entry::{BreakpointChange, BreakpointEvent, Location, SourceWindow, Variable};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::draw::{DrawnState, draw};
use super::theme::Theme;
use super::view::{
    CallDuration, DetailForm, Mark, Overlay, Pane, PlaybackMode, Row, Scrolls, SessionRow, Timeline, View,
};
use crate::clock::Clock;
use crate::moment::{ComparedVariable, Line, Moment};

/// 2025-01-06 16:15:00 UTC.
const START: i64 = 1_736_180_100_000;

fn drawn(view: &View, width: u16, height: u16, has_colour: bool) -> (Buffer, DrawnState) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut result = DrawnState::default();
    terminal.draw(|frame| result = draw(frame, view, Theme { has_colour })).unwrap();
    (terminal.backend().buffer().clone(), result)
}

/// The characters of a buffer, a line for each of its lines.
fn text(buffer: &Buffer) -> String {
    let lines = (0..buffer.area.height).map(|y| {
        let mut line = String::new();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                line.push_str(symbol);
                skip = unicode_width::UnicodeWidthStr::width(symbol).max(1);
            }
            skip -= 1;
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn shown(view: &View, width: u16, height: u16) -> String {
    text(&drawn(view, width, height, true).0)
}

fn row(after: i64, mark: Mark, text: &str, took: CallDuration) -> Row {
    Row {
        timestamp: START + after,
        mark,
        text: text.to_owned(),
        outcome: None,
        is_open: None,
        is_effect: false,
        took,
        session: None,
        is_other: false,
    }
}

fn place(file: &str, line: u32, function: &str) -> Location {
    Location { file: file.to_owned(), line, function: function.to_owned(), frame_id: None }
}

fn seen(name: &str, type_name: &str, value: &str, before: Option<&str>, is_new: bool) -> ComparedVariable {
    let variable = Variable {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        value: value.to_owned(),
        ..Variable::default()
    };
    ComparedVariable { variable, before: before.map(str::to_owned), is_new, ..ComparedVariable::default() }
}

fn breakpoint(line: u32, verified: bool) -> BreakpointChange {
    BreakpointChange {
        event: BreakpointEvent::Set,
        breakpoint_id: format!("bp-{line}"),
        file: "~/shop/prices.py".to_owned(),
        line,
        verified,
        function: None,
        condition: None,
        log_message: None,
    }
}

fn written(category: &str, text: &str) -> Line {
    Line { category: category.to_owned(), text: text.to_owned(), ..Line::default() }
}

/// A program suspended in the middle of something.
fn moment() -> Moment {
    let source = "def total(basket):\n    \"\"\"What a basket costs.\n\n    In cents.\"\"\"\n    sum = 0\n    \
                  for item in basket:  # each once\n        sum += item[\"price\"] * 1.19\n    return sum\n\n\n\
                  class Basket:\n\tpass";
    Moment {
        session_id: "abc-123".to_owned(),
        session_name: "prices".to_owned(),
        language: "python".to_owned(),
        state: "paused",
        reason: Some("breakpoint".to_owned()),
        is_past: false,
        is_exception: false,
        description: None,
        location: Some(place("~/shop/prices.py", 18, "total")),
        source: Some(SourceWindow { first_line: 12, lines: source.lines().map(str::to_owned).collect() }),
        breakpoints: vec![breakpoint(18, true), breakpoint(19, false)],
        stack: vec![
            place("~/shop/prices.py", 18, "total"),
            place("~/shop/checkout.py", 142, "Checkout.pay"),
            place("~/shop/main.py", 7, "<module>"),
        ],
        variables: vec![
            seen("basket", "list", "[{'price': 300}, {'price': 'free'}]", None, false),
            seen("sum", "float", "357.0", Some("0"), false),
            seen("tax", "float", "1.19", None, false),
            seen("item", "dict", "{'price': 'free'}", None, true),
        ],
        is_read: true,
        editor: None,
        output: vec![
            written("stdout", "checking out\n2 items in the basket\n"),
            written("stderr", "DeprecationWarning: pay() is old\n"),
            Line { omitted: 4096, ..written("log", "sum is 357.0\n") },
        ],
    }
}

fn rows() -> Vec<Row> {
    vec![
        row(0, Mark::Good, "create_debug_session python", CallDuration::Milliseconds(41)),
        row(41, Mark::Session, "session prices opened (python)", CallDuration::Nothing),
        row(900, Mark::Good, "set_breakpoint prices.py:18", CallDuration::Milliseconds(3)),
        row(903, Mark::Breakpoint, "bp-1 bound: prices.py:18", CallDuration::Nothing),
        row(
            2_000,
            Mark::Bad,
            "start_debugging prixes.py: no file `prixes.py`",
            CallDuration::Milliseconds(1),
        ),
        row(4_000, Mark::Good, "start_debugging prices.py", CallDuration::Milliseconds(1_240)),
        row(4_100, Mark::State, "running", CallDuration::Nothing),
        row(4_200, Mark::Output, "checking out", CallDuration::Nothing),
        row(4_201, Mark::ErrorOutput, "DeprecationWarning: pay() is old", CallDuration::Nothing),
        row(5_240, Mark::Stop, "prices.py:18 in total, breakpoint", CallDuration::Nothing),
        row(9_000, Mark::Variables, "Locals: basket = [{'price': 300}, …", CallDuration::Nothing),
        row(63_000, Mark::Thrown, "prices.py:18 in total, exception", CallDuration::Nothing),
        row(64_000, Mark::Unanswered, "get_variables", CallDuration::NoAnswer),
        row(65_000, Mark::Busy, "continue_execution", CallDuration::Already(12_345)),
    ]
}

fn view() -> View {
    View {
        clock: Clock::utc(),
        path: "~/.local/state/stillframe/logs/debug-mcp-server.log".to_owned(),
        entries: 14,
        is_complete: true,
        pace: PlaybackMode::Live,
        at: Some(START + 65_000),
        sessions: vec![
            SessionRow {
                name: "prices".to_owned(),
                language: "python".to_owned(),
                state: "paused",
                is_only: false,
                is_shown: true,
            },
            SessionRow {
                name: "web".to_owned(),
                language: "javascript".to_owned(),
                state: "closed",
                is_only: false,
                is_shown: false,
            },
        ],
        session_cursor: 0,
        timeline: Timeline { rows: rows(), cursor: Some(13), count: 14, ..Timeline::default() },
        moment: Some(Arc::new(moment())),
        focus: Pane::Timeline,
        scrolls: Scrolls::default(),
        open_values: BTreeSet::new(),
        overlay: Overlay::None,
        notice: None,
    }
}

fn empty() -> View {
    View { entries: 0, at: None, sessions: Vec::new(), timeline: Timeline::default(), moment: None, ..view() }
}

#[test]
fn standard_terminal_shows_every_pane() {
    insta::assert_snapshot!(shown(&view(), 80, 24));
}

#[test]
fn a_wide_terminal_has_three_columns() {
    let mut view = view();
    for row in &mut view.timeline.rows {
        row.session = Some("prices".to_owned());
    }
    view.sessions[0].is_only = true;
    (view.focus, view.session_cursor) = (Pane::Sessions, 1);
    insta::assert_snapshot!(shown(&view, 160, 45));
}

#[test]
fn a_narrow_terminal_has_one_column() {
    insta::assert_snapshot!(shown(&view(), 44, 20));
}

#[test]
fn a_tiny_terminal_has_one_line() {
    assert_eq!(shown(&view(), 10, 3), "paused pr…\n\n");
    assert_eq!(shown(&view(), 23, 1), "paused prices.py:18");
    assert_eq!(shown(&empty(), 10, 3), "no session\n\n");
    assert_eq!(shown(&view(), 1, 1), "…");
}

#[test]
fn empty_panes_say_what_they_will_show() {
    insta::assert_snapshot!(shown(&empty(), 80, 24));
}

#[test]
fn the_first_line_shows_where_an_editor_can_attach() {
    let exposed = Moment { editor: Some("127.0.0.1:4711".to_owned()), ..moment() };
    let view = View { moment: Some(Arc::new(exposed)), ..view() };
    let first = shown(&view, 160, 45).lines().next().unwrap_or_default().to_owned();
    assert!(first.trim_end().ends_with("breakpoint  editor: 127.0.0.1:4711"), "{first}");
}

#[test]
fn a_running_program_has_no_location() {
    let running = Moment { state: "running", reason: None, output: moment().output, ..Moment::default() };
    let running = Moment { session_name: "prices".to_owned(), ..running };
    let view = View { moment: Some(Arc::new(running)), pace: PlaybackMode::Replay(4.0), ..view() };
    insta::assert_snapshot!(shown(&view, 80, 24));
}

#[test]
fn an_exception_is_shown_at_the_top() {
    let mut thrown = moment();
    (thrown.reason, thrown.is_exception) = (Some("exception".to_owned()), true);
    thrown.description = Some("TypeError: can't multiply sequence by non-int of type 'float'".to_owned());
    let view = View { moment: Some(Arc::new(thrown)), pace: PlaybackMode::Still, ..view() };
    let text = shown(&view, 100, 24);
    let expected = " ◷ past 16:16:05  prices python  paused at prices.py:18 in total: exception, TypeError: can't multi…";
    assert_eq!(text.lines().next(), Some(expected));
}

#[test]
fn chunks_of_a_line_are_one_line() {
    let output = [
        ("stdout", "a"),
        ("stdout", "b\nc"),
        ("stderr", "^"),
        ("stderr", "^"),
        ("stdout", "\n"),
        ("stdout", "d"),
    ];
    let output = output.map(|(category, text)| written(category, text)).to_vec();
    let moment = Moment { output, ..moment() };
    let view = View { moment: Some(Arc::new(moment)), focus: Pane::Output, ..view() };
    let text = shown(&view, 64, 6);
    let right: Vec<&str> =
        text.lines().filter_map(|line| line.split_once('│')).map(|(_, right)| right).collect();
    assert_eq!(right, [" Output ───────────────────────", " c", "┃^^", " d"]);
}

#[test]
fn the_help_fits() {
    let view = View { overlay: Overlay::Help(0), ..view() };
    insta::assert_snapshot!(shown(&view, 80, 24));
}

#[test]
fn a_whole_entry_wraps_and_scrolls_to_its_end() {
    let long = format!("  \"error\": \"{}\",", "word ".repeat(40));
    let lines = ["{", &long, "  \"line\": 42", "}"].map(str::to_owned).to_vec();
    let overlay =
        Overlay::Detail { title: "Entry 5 of 14".to_owned(), lines, form: DetailForm::Json, scroll: 0 };
    let mut view = View { overlay, ..view() };
    insta::assert_snapshot!(shown(&view, 40, 9));
    if let Overlay::Detail { scroll, .. } = &mut view.overlay {
        *scroll = 1_000;
    }
    let (buffer, drawn) = drawn(&view, 40, 9, true);
    assert_eq!(drawn.overlay, 3);
    assert!(text(&buffer).contains("\n}\n"), "{}", text(&buffer));
}

#[test]
fn search_text_and_match_count_are_shown() {
    let mut view = View { overlay: Overlay::Search("Zero".to_owned()), ..view() };
    assert_eq!(shown(&view, 80, 24).lines().last(), Some(" /Zero   Enter: keep filter  Esc: cancel"));
    view.overlay = Overlay::None;
    view.notice = Some("no earlier error".to_owned());
    view.timeline.filter = "errors, \"zero\"".to_owned();
    view.timeline.searched = Some(40);
    let text = shown(&view, 120, 24);
    assert_eq!(text.lines().last(), Some(" no earlier error"));
    assert!(text.contains(" Timeline: 14 found in 40 %: errors, \"zero\" "), "{text}");
}

#[test]
fn panes_scroll_up_to_their_ends() {
    for (pane, expected) in [(Pane::Source, 3), (Pane::Output, 0), (Pane::Variables, 3), (Pane::Stack, 1)] {
        let mut view = view();
        view.scrolls[pane.number()] = 1_000;
        let (_, drawn) = drawn(&view, 80, 24, true);
        assert_eq!(drawn.scrolls[pane.number()], expected, "{pane:?}");
    }
}

#[test]
fn without_colours_attributes_carry_the_meaning() {
    let (plain, _) = drawn(&view(), 80, 24, false);
    assert!(plain.content.iter().all(|cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset)));
    let (coloured, _) = drawn(&view(), 80, 24, true);
    assert_eq!(text(&plain), text(&coloured));
    let of = |modifier| plain.content.iter().filter(|cell| cell.modifier.contains(modifier)).count();
    for modifier in [Modifier::BOLD, Modifier::DIM, Modifier::REVERSED, Modifier::UNDERLINED] {
        assert!(of(modifier) > 0, "{modifier:?}");
    }
}

#[test]
fn only_the_sixteen_colours_and_no_background_are_used() {
    for overlay in [Overlay::None, Overlay::Help(0)] {
        let (buffer, _) = drawn(&View { overlay, ..view() }, 160, 45, true);
        for cell in &buffer.content {
            assert_eq!(cell.bg, Color::Reset);
            assert!(!matches!(cell.fg, Color::Rgb(..) | Color::Indexed(_) | Color::White | Color::Black));
        }
    }
}

/// A text that tries everything.
const HOSTILE: &str = "\x1b[2J\x1b]0;title\x07\u{9b}31m\r\n\t\u{202e}evil\u{200d}日本\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{1f468}";

fn hostile() -> View {
    let long = HOSTILE.repeat(50);
    let mut moment = moment();
    moment.session_name.clone_from(&long);
    moment.language = HOSTILE.to_owned();
    moment.reason = Some(long.clone());
    moment.description = Some(long.clone());
    moment.location =
        Some(Location { file: long.clone(), line: u32::MAX, function: long.clone(), frame_id: None });
    moment.source = Some(SourceWindow { first_line: u32::MAX, lines: vec![long.clone(); 30] });
    moment.stack = vec![Location { file: long.clone(), line: 0, function: long.clone(), frame_id: None }];
    moment.variables = vec![seen(&long, &long, &long, Some(&long), true)];
    moment.output = vec![written(HOSTILE, &long), written("stderr", &long)];
    let mut view = view();
    view.moment = Some(Arc::new(moment));
    view.path.clone_from(&long);
    view.notice = Some(long.clone());
    view.timeline.filter.clone_from(&long);
    for row in &mut view.timeline.rows {
        row.text.clone_from(&long);
        row.session = Some(long.clone());
        row.timestamp = i64::MAX;
    }
    for session in &mut view.sessions {
        (session.name, session.language) = (long.clone(), long.clone());
    }
    view
}

#[test]
fn control_sequences_of_programs_are_escaped_at_any_size() {
    let lines = vec![HOSTILE.repeat(50)];
    let detail = Overlay::Detail { title: HOSTILE.to_owned(), lines, form: DetailForm::Json, scroll: 0 };
    let overlays = [Overlay::None, Overlay::Search(HOSTILE.repeat(50)), detail];
    for overlay in overlays {
        for (width, height) in
            [(0, 0), (1, 1), (10, 3), (24, 5), (25, 12), (63, 20), (64, 9), (80, 24), (200, 60)]
        {
            for focus in Pane::ALL {
                let view = View { overlay: overlay.clone(), focus, ..hostile() };
                let (buffer, _) = drawn(&view, width, height, true);
                assert_eq!(buffer.area, Rect::new(0, 0, width, height));
                for cell in &buffer.content {
                    let is_harmless = |char: char| {
                        !char.is_control()
                            && !matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
                    };
                    assert!(cell.symbol().chars().all(is_harmless), "{:?}", cell.symbol());
                    assert!(cell.symbol().chars().count() <= 6, "{:?}", cell.symbol());
                }
            }
        }
    }
}
