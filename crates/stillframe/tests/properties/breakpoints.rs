//! Properties 1 to 4: breakpoints.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::Index;
use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage as Language, Fixture};

use crate::conditions::{self, Expression};
use crate::harness::{each_language, holds};
use crate::host::Host;

each_language!(
    created_breakpoints_are_listed,
    conditions_decide_on_stops,
    removed_breakpoints_are_gone,
    toggled_breakpoints_keep_their_identity,
);

/// What a line of a program without branches is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    Statement,
    Blank,
    Comment,
}

fn line() -> impl Strategy<Value = Line> {
    prop_oneof![4 => Just(Line::Statement), 1 => Just(Line::Blank), 1 => Just(Line::Comment)]
}

/// A program of such lines, with a statement at its beginning and at its end.
fn program(language: Language, lines: &[Line]) -> String {
    let mut text = language.pick("total = 0\n", "let total = 0;\n").to_owned();
    for line in lines {
        text += match line {
            Line::Statement => language.pick("total = total + 1\n", "total = total + 1;\n"),
            Line::Blank => "\n",
            Line::Comment => language.pick("# nothing\n", "// nothing\n"),
        };
    }
    text + language.pick("total = -1\n", "total = -1;\n")
}

/// Where a breakpoint on a line of that program, 1-based, must come to be: there, or at the next statement.
fn bound(lines: &[Line], asked: u32) -> u32 {
    let is_statement = |line: &u32| {
        let index = usize::try_from(*line).unwrap() - 2;
        lines.get(index).is_none_or(|line| *line == Line::Statement)
    };
    if asked == 1 { 1 } else { (asked..=asked + 99).find(is_statement).unwrap() }
}

fn list(host: &Host) -> Vec<Value> {
    host.ok("list_breakpoints", json!({}))["breakpoints"].as_array().unwrap().clone()
}

fn listed(host: &Host, id: &str) -> Option<Value> {
    list(host).into_iter().find(|breakpoint| breakpoint["breakpointId"] == id)
}

/// The requested line.
fn asked(breakpoint: &Value) -> &Value {
    breakpoint.get("requestedLine").unwrap_or(&breakpoint["line"])
}

/// The lines on which the chosen program stops on its way to the end.
fn stops(host: &Host, file: &str) -> Vec<u32> {
    let mut lines = Vec::new();
    loop {
        let stop = host.resume();
        if host.is_held(&stop) {
            return lines;
        }
        assert_eq!(stop["location"]["file"], file, "{}", stop.text);
        lines.push(u32::try_from(stop["location"]["line"].as_u64().unwrap()).unwrap());
    }
}

// Feature: mcp-debugger-tool, Property 1: For any valid file path and line number, when a breakpoint is created at
// that location, then retrieving the breakpoint list should include that breakpoint with the correct file path and
// line number.
fn created_breakpoints_are_listed(language: Language) {
    let wanted = vec((any::<Index>(), any::<bool>()), 1..5);
    let strategy = (vec(line(), 0..12), wanted);
    holds("1", language, file!(), 50, &strategy, |host: &mut Host, (lines, wanted)| {
        let program = host.write(&program(language, &lines));
        let count = lines.len() + 2;
        let target_location = |index: &Index| u32::try_from(index.index(count) + 1).unwrap();
        let known = list(host).len();
        // Some are set before the file is loaded, the others when it is.
        let (early, late): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|(_, early)| *early);
        let set = |host: &Host, lines: &[(Index, bool)]| -> Vec<(Answer, u32)> {
            let set = |line| host.ok("set_breakpoint", json!({ "file": program.path(), "line": line }));
            lines.iter().map(|(index, _)| (set(target_location(index)), target_location(index))).collect()
        };
        let mut all = set(host, &early);
        let first = host.set(program.path(), 1, None);
        host.choose(program.path());
        let stop = host.resume();
        assert_eq!(stop["location"]["line"], 1, "{}", stop.text);
        all.extend(set(host, &late));
        for (set, line) in &all {
            let shown = listed(host, set.text_of("breakpointId")).expect("it is in the list");
            assert_eq!(shown["file"], program.path());
            assert_eq!(*asked(&shown), *line, "{shown}");
            assert_eq!(shown["line"], bound(&lines, *line), "{shown}");
            assert_eq!(shown["verified"], true, "{shown}");
            assert_eq!(shown["enabled"], true, "{shown}");
        }
        assert_eq!(list(host).len(), known + all.len() + 1);
        for (set, _) in &all {
            host.remove(set.text_of("breakpointId"));
        }
        host.remove(&first);
        host.run_out();
    });
}

// Feature: mcp-debugger-tool, Property 2: For any conditional breakpoint with a valid condition expression, the
// Target Process should only pause at that breakpoint when the condition evaluates to true.
fn conditions_decide_on_stops(language: Language) {
    let strategy = (conditions::expression(), 0..7_i64, 0..9_i64, any::<bool>());
    holds("2", language, file!(), 50, &strategy, |host: &mut Host, (condition, factor, seed, early)| {
        let program = looping(host, factor, seed);
        host.choose(program.path());
        let text = condition.text(language);
        let gate = host.set(program.path(), program.line("gate"), None);
        let set = |host: &mut Host| host.set(program.path(), program.line("body"), Some(&text));
        let mut id = early.then(|| set(host));
        let stop = host.resume();
        assert_eq!(stop["location"]["line"], program.line("gate"), "{}", stop.text);
        let id = id.take().unwrap_or_else(|| set(host));
        for (i, j) in passes(factor, seed) {
            if is_true(&condition, language, i, j) {
                let stop = host.resume();
                assert_eq!(stop["location"]["line"], program.line("body"), "{text}, {i}: {}", stop.text);
                assert_eq!(stop["breakpointIds"], json!([id]), "{}", stop.text);
                assert_eq!((host.value("i"), host.value("j")), (json!(i), json!(j)), "{text}");
            }
        }
        host.run_out();
        let shown = listed(host, &id).expect("it is in the list");
        assert_eq!(shown.get("failure"), None, "{shown}");
        host.remove(&id);
        host.remove(&gate);
    });
}

/// How often the loop goes round.
const ROUNDS: i64 = 10;

fn looping(host: &mut Host, factor: i64, seed: i64) -> Fixture {
    let text = match host.language {
        Language::Python => format!(
            "total = 0  # @gate\nfor i in range({ROUNDS}):\n    j = (i * {factor} + {seed}) % 5\n    total += j  # @body\n"
        ),
        Language::Node => format!(
            "let total = 0; // @gate\nfor (let i = 0; i < {ROUNDS}; i += 1) {{\n    const j = (i * {factor} + {seed}) % 5;\n    total += j; // @body\n}}\n"
        ),
    };
    host.write(&text)
}

/// What `i` and `j` are each time.
fn passes(factor: i64, seed: i64) -> impl Iterator<Item = (i64, i64)> {
    (0..ROUNDS).map(move |i| (i, (i * factor + seed) % 5))
}

fn is_true(condition: &Expression, language: Language, i: i64, j: i64) -> bool {
    let value = condition.value(language, &|name| if name == "i" { i } else { j });
    value.is_truthy()
}

// Feature: mcp-debugger-tool, Property 3: For any breakpoint that exists in the system, when that breakpoint is
// removed by its identifier, then subsequent breakpoint list retrievals should not include that breakpoint.
fn removed_breakpoints_are_gone(language: Language) {
    let strategy = (vec((1..9_u32, any::<bool>()), 1..7), any::<bool>());
    holds("3", language, file!(), 50, &strategy, |host: &mut Host, (wanted, loaded)| {
        let program = host.write(&program(language, &[Line::Statement; 8]));
        host.choose(program.path());
        let mut others = list(host).len();
        let mut gate = None;
        if loaded {
            let id = host.set(program.path(), 10, None);
            host.resume();
            gate = Some(id);
            others += 1;
        }
        let set: Vec<_> = wanted.iter().map(|(line, _)| host.set(program.path(), *line, None)).collect();
        let mut left = Vec::new();
        for (id, (line, goes)) in set.iter().zip(&wanted) {
            if *goes {
                host.remove(id);
                assert_eq!(listed(host, id), None);
                host.fails("BREAKPOINT_NOT_FOUND", "remove_breakpoint", json!({ "breakpointId": id }));
            } else {
                left.push((id, *line));
            }
        }
        assert_eq!(list(host).len(), others + left.len());
        if let Some(gate) = gate {
            host.remove(&gate);
            host.run_out();
            // A file that has been loaded is not loaded again in Node.js: forget it.
            if language == Language::Node {
                host.value("delete require.cache[program]");
            }
        }
        let mut expected: Vec<u32> = left.iter().map(|(_, line)| *line).collect();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(stops(host, program.path()), expected);
        for (id, _) in left {
            host.remove(id);
        }
    });
}

// Feature: mcp-debugger-tool, Property 4: For any breakpoint, when its state is toggled between enabled and
// disabled, the breakpoint should remain in the breakpoint list with the same identifier and location but with
// updated state.
fn toggled_breakpoints_keep_their_identity(language: Language) {
    let strategy = vec(any::<Index>(), 1..12);
    holds("4", language, file!(), 50, &strategy, |host: &mut Host, toggles| {
        let program = host.write(&program(language, &[Line::Statement; 6]));
        host.choose(program.path());
        let lines = [2, 4, 5, 7];
        let mut known: Vec<_> =
            lines.iter().map(|line| (host.set(program.path(), *line, None), *line, true)).collect();
        let before = list(host);
        for toggle in toggles {
            let (id, line, enabled) = &mut known[toggle.index(lines.len())];
            *enabled = !*enabled;
            let answer = host.ok("toggle_breakpoint", json!({ "breakpointId": id }));
            assert_eq!((&answer["enabled"], &answer["line"]), (&json!(enabled), &json!(line)));
        }
        let after = list(host);
        assert_eq!(after.len(), before.len());
        for (id, line, enabled) in &known {
            let shown = after.iter().find(|shown| shown["breakpointId"] == id.as_str()).expect("it is there");
            assert_eq!(shown["file"], program.path());
            assert_eq!((&shown["enabled"], &shown["line"]), (&json!(enabled), &json!(line)), "{shown}");
        }
        let expected: Vec<u32> = known.iter().filter(|known| known.2).map(|known| known.1).collect();
        assert_eq!(stops(host, program.path()), expected);
        for (id, _, _) in known {
            host.remove(&id);
        }
    });
}
