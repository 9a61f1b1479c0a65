//! What is in a row, and which passes have one.

use std::collections::BTreeMap;

use engine::model::breakpoint::Rule;
use engine::recording::{Cell, CellFormat, Record};

use crate::scene::scenes;

const LOOP: &str = "\
def run(count):
    total = 0
    for i in range(count):
        total += i  # @add
    return total

for count in (4,):
    run(count)
";

#[tokio::test]
async fn every_hit_is_a_row() {
    for scene in scenes(&[("main.py", LOOP)]).await {
        scene.at("add", &["i", "total", "[total + n for n in range(i)]", "nowhere", "1 // i"]).await;
        let ran = scene.run().await;
        let nowhere = "!NameError: name 'nowhere' is not defined";
        let expected = [
            format!("1: 0, 0, [], {nowhere}, !ZeroDivisionError: integer division or modulo by zero"),
            format!("2: 1, 0, [0], {nowhere}, 1"),
            format!("3: 2, 1, [1, 2], {nowhere}, 0"),
            format!("4: 3, 3, [3, 4, 5], {nowhere}, 0"),
        ];
        assert_eq!(ran.table(1), expected, "{:?}", ran.way);
        assert!(ran.rows.iter().all(|row| row.thread == "MainThread" && row.time > 1.6e12));
        let Cell::Value { type_name, .. } = &ran.rows[0].cells[2] else { panic!("{:?}", ran.rows[0]) };
        assert_eq!(type_name, "list");
        assert_eq!(ran.counts, BTreeMap::from([(1, 4)]));
        ran.was_quiet();
    }
}

#[tokio::test]
async fn conditions_samples_changes_and_limits_apply() {
    for scene in scenes(&[("main.py", &LOOP.replace("(4,)", "(20,)"))]).await {
        let sampled = Record { sample_every: 3, max_rows: 2, ..scene.record(&["i"]) };
        let rule = Rule { condition: Some("i % 2".to_owned()), record: Some(sampled), ..Rule::default() };
        scene.set("main.py", "add", rule).await;
        let changed = Record { only_when_changed: true, ..scene.record(&["i >> 3"]) };
        scene.with("main.py", "add", changed).await;
        let ran = scene.run().await;
        assert_eq!(ran.table(1), ["1: 1", "4: 7"], "{:?}", ran.way);
        assert_eq!(ran.table(2), ["1: 0", "9: 1", "17: 2"]);
        assert_eq!(ran.counts, BTreeMap::from([(1, 10), (2, 20)]));
        ran.was_quiet();
    }
}

#[tokio::test]
async fn a_failing_condition_is_reported_and_is_not_a_hit() {
    for scene in scenes(&[("main.py", LOOP)]).await {
        let record = Some(scene.record(&["i"]));
        let rule = Rule { condition: Some("6 // (i - 1) < 5".to_owned()), record, ..Rule::default() };
        scene.set("main.py", "add", rule).await;
        let ran = scene.run().await;
        assert_eq!(ran.table(1), ["1: 0", "2: 3"], "{:?}", ran.way);
        let failures = ran.breakpoints[0].failures.clone().unwrap();
        let message = "ZeroDivisionError: integer division or modulo by zero";
        assert_eq!((failures.count, failures.message.as_str()), (1, message));
        ran.was_quiet();
    }
}

#[tokio::test]
async fn values_are_captured_at_the_hit() {
    let source = "seen = {'count': 0, 'list': []}\nfor i in range(2):\n    seen['list'].append(i)  # @push\n    seen['count'] += 1\n";
    for scene in scenes(&[("main.py", source)]).await {
        scene.at("push", &["seen"]).await;
        let ran = scene.run().await;
        assert_eq!(ran.table(1), ["1: {'count': 0, 'list': []}", "2: {'count': 1, 'list': [0]}"]);
        ran.was_quiet();
    }
}

#[tokio::test]
async fn values_are_json_if_json_can_represent_them() {
    let source = "class Text(str):\n    pass\n\nloop = []\nloop.append(loop)\nlast = 1  # @here\n";
    let table = [
        ("7", "int 7 json"),
        ("-2.5", "float -2.5 json"),
        ("None", "NoneType null json"),
        ("True", "bool true json"),
        ("'ü\\n\"'", "str \"ü\\n\\\"\" json"),
        ("[1, (2, {'a': [None]})]", "list [1,[2,{\"a\":[null]}]] json"),
        ("10 ** 30", "int 1000000000000000000000000000000 json"),
        ("float('nan')", "float nan"),
        ("{1: 2}", "dict {1: 2}"),
        ("{3}", "set {3}"),
        ("Text('own')", "Text 'own'"),
        ("'\\udc80'", "str '\\udc80'"),
        ("loop", "list [[...]]"),
        ("'x' * 41", "str 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'... cut"),
    ];
    for scene in scenes(&[("main.py", source)]).await {
        let expressions: Vec<&str> = table.iter().map(|(expression, _)| *expression).collect();
        let record = Record { cells: CellFormat::Json(40), ..scene.record(&expressions) };
        scene.with("main.py", "here", record).await;
        let ran = scene.run().await;
        for (cell, (expression, expected)) in ran.rows[0].cells.iter().zip(table) {
            let Cell::Value { type_name, text, cut, json } = cell else { panic!("{expression}: {cell:?}") };
            let marks = format!("{}{}", if *cut { " cut" } else { "" }, if *json { " json" } else { "" });
            assert_eq!(format!("{type_name} {text}{marks}"), expected, "{expression}");
        }
        ran.was_quiet();
    }
}

#[tokio::test]
async fn rows_longer_than_the_pipe_arrive_whole() {
    let source = "for text in ('x' * 9000, 'ü' * 3000, b'\\0' * 70000, '\\udc80'):\n    pass  # @here\n";
    for scene in scenes(&[("main.py", source)]).await {
        let record = Record { cells: CellFormat::Text(20_000), ..scene.record(&["text"]) };
        scene.with("main.py", "here", record).await;
        let ran = scene.run().await;
        let expected = [
            format!("'{}'", "x".repeat(9000)),
            format!("'{}'", "ü".repeat(3000)),
            format!("b'{}'... (cut)", "\\x00".repeat(20_000)),
            "'\\udc80'".to_owned(),
        ];
        assert_eq!(ran.texts(), expected, "{:?}", ran.way);
        ran.was_quiet();
    }
}

/// Side effects of reading values do not reach the program.
#[tokio::test]
async fn hostile_values_affect_only_their_own_cell() {
    let source = "\
import sys

class Raises:
    def __repr__(self):
        raise SystemExit('repr')
    def __eq__(self, other):
        raise SystemExit('eq')
    __hash__ = None

class Slow:
    def __repr__(self):
        while True:
            pass

class Half:
    def __repr__(self):
        return 'half \\udc80'

class Lies:
    @property
    def __class__(self):
        raise SystemExit('class')
    def __repr__(self):
        return 'true words'

def never_ends():
    while True:
        pass

for value in (Raises(), Slow(), Half(), Lies()):
    pass  # @value
done = sys.exc_info()  # @ends
assert done == (None, None, None)
";
    for scene in scenes(&[("main.py", source)]).await {
        let changed = Record { only_when_changed: true, ..scene.record(&["value"]) };
        scene.with("main.py", "value", changed).await;
        scene.at("ends", &["1", "never_ends()", "exit(3)", "2"]).await;
        let ran = scene.run().await;
        let expected = [
            "1: <Raises: its __repr__ raised SystemExit: repr>",
            "2: <Slow: its __repr__ took more than 300 ms>",
            "3: half \u{fffd}",
            "4: true words",
        ];
        assert_eq!(ran.table(1), expected, "{:?}", ran.way);
        let ends = "1: 1, !TimeoutError: it took longer than 1 s, !SystemExit: 3, 2";
        assert_eq!(ran.table(2), [ends], "{:?}", ran.way);
        ran.was_quiet();
    }
}

/// What an expression assigns stays in it, and the signals of the program are its own.
#[tokio::test]
async fn recording_does_not_affect_the_program() {
    let source = "\
import signal, sys

def run(value):
    before = (sys.getprofile(), signal.getsignal(signal.SIGURG))
    for i in range(3):
        value += 1  # @add
    after = (sys.getprofile(), signal.getsignal(signal.SIGURG))
    assert before == after, (before, after)
    assert value == 8, value

run(5)
assert 'other' not in globals()
";
    for scene in scenes(&[("main.py", source)]).await {
        scene.at("add", &["(value := 100)", "[other := 1]", "globals().update(other=1)", "i"]).await;
        let ran = scene.run().await;
        assert_eq!(ran.table(1)[2], "3: 100, [1], None, 2", "{:?}", ran.way);
        ran.was_quiet();
    }
}
