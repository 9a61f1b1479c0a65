//! Whole screens, from a journal.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::super::draw::draw;
use super::super::super::theme::Theme;
use super::*;

/// A program that was debugged twice: it stopped, ran to its end, and was started again.
fn shop() -> Vec<Value> {
    let of =
        |after: i64, message: &str, more: Value| entry(after, Some("Debug-1736180100000"), message, more);
    let arguments = |after, id: &str, tool: &str, request: Value| {
        of(after, "tool:call", json!({ "tool": tool, "callId": id, "request": request }))
    };
    let answered = |after, id: &str, response: Value| {
        of(after, "tool:response", json!({ "callId": id, "success": true, "response": response }))
    };
    let wrote = |after, category: &str, text: &str| {
        of(after, "debug:output", json!({ "category": category, "output": text }))
    };
    let state = |after, event: &str, more: Value| {
        let mut state = of(after, "debug:state", more);
        state["event"] = json!(event);
        state
    };
    let source = json!({ "firstLine": 3, "lines": [
        "def total(items, discount):", "    \"\"\"What a basket costs.\"\"\"", "    cents = 0", "    for item in items:",
        "        cents += item.price", "    return cents * (1 - discount)",
    ] });
    let stop = |after, line: u32, frame: u64| {
        let at = json!({ "file": "~/shop/cart.py", "line": line, "function": "total", "frameId": frame });
        let main =
            json!({ "file": "~/shop/main.py", "line": 9, "function": "<module>", "frameId": frame + 1 });
        state(
            after,
            "paused",
            json!({ "reason": "breakpoint", "location": at, "stack": [at, main], "source": source }),
        )
    };
    let read = |after, frame: u64, cents: u32, items: u64| {
        let one = |name: &str, kind: &str, value: &str| json!({ "name": name, "type": kind, "value": value });
        let mut list = one("items", "list", "[Item('tea'), Item('milk')]");
        list["variablesReference"] = json!(items);
        let all = json!([list, one("discount", "float", "0.1"), one("cents", "int", &cents.to_string())]);
        of(
            after,
            "debug:variables",
            json!({ "frameId": frame, "scope": "Locals", "variableCount": 3, "variables": all }),
        )
    };
    let parts = json!({ "variablesReference": 12, "variableCount": 2, "variables": [
        { "name": "0", "type": "Item", "value": "Item('tea')" }, { "name": "1", "type": "Item", "value": "Item('milk')" },
    ] });
    let answer = json!({ "state": "paused", "reason": "breakpoint", "location":
        { "file": "~/shop/cart.py", "line": 7, "function": "total" } });
    vec![
        arguments(0, "c1", "create_debug_session", json!({ "language": "python" })),
        of(1, "session:created", json!({ "language": "python" })),
        answered(40, "c1", json!({ "message": "Created" })),
        arguments(600, "c2", "start_debugging", json!({ "scriptPath": "~/shop/main.py" })),
        state(700, "running", json!({ "program": "main.py" })),
        wrote(710, "stdout", "adding"),
        wrote(711, "stderr", "warning: old price\n"),
        wrote(712, "stdout", " tea\n"),
        stop(800, 7, 1),
        read(801, 1, 0, 11),
        answered(810, "c2", answer.clone()),
        arguments(2_000, "c3", "continue_execution", json!({})),
        state(2_001, "running", json!({})),
        wrote(2_002, "stdout", "483.0\n"),
        state(2_100, "stopped", json!({ "reason": "exited with code 0" })),
        answered(2_101, "c3", json!({ "message": "Program ended" })),
        arguments(4_000, "c4", "restart_debugging", json!({})),
        state(4_100, "running", json!({ "program": "main.py" })),
        wrote(4_110, "stdout", "adding tea\n"),
        stop(4_200, 7, 2),
        read(4_201, 2, 300, 12),
        answered(4_210, "c4", answer),
        arguments(5_000, "c5", "get_variables", json!({ "variablesReference": 12 })),
        of(5_001, "debug:variables", parts),
        answered(5_002, "c5", json!({ "count": 2 })),
    ]
}

fn shown(reader: &mut Reader, width: u16, height: u16) -> String {
    let view = reader.app.view(Rect::new(0, 0, width, height), START + 6_000);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut drawn = DrawnState::default();
    terminal.draw(|frame| drawn = draw(frame, &view, Theme { has_colour: true })).unwrap();
    reader.app.drawn(drawn, Instant::now());
    let cells = terminal.backend().buffer().content.chunks(width.into());
    let lines = cells
        .map(|line| line.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn screen_of_a_stop_after_a_restart() {
    let mut reader = Reader::new(&shop());
    insta::assert_snapshot!(shown(&mut reader, 80, 24));
    reader.press(&["S", "<tab>", "<tab>"]);
    shown(&mut reader, 140, 40);
    reader.press(&["o"]);
    insta::assert_snapshot!(shown(&mut reader, 140, 40));
}

#[test]
fn screen_of_a_session_whose_server_was_killed() {
    let mut entries = shop();
    entries[1]["server"] = json!(crate::log::ended_process());
    entries.push(entry(5_900, Some("Debug-1736180100000"), "debug:state", json!({ "event": "running" })));
    let mut reader = Reader::new(&entries);
    insta::assert_snapshot!(shown(&mut reader, 80, 24));
}

#[test]
fn screen_of_a_formatted_call() {
    let mut reader = Reader::new(&shop());
    reader.press(&["g", "l", "<enter>"]);
    insta::assert_snapshot!(shown(&mut reader, 80, 24));
}
