//! Values that are hard to inspect.

use serde_json::{Value, json};
use test_support::{Answer, Fixture};

use crate::debugging::{Debugging, Report};
use crate::script::Script;

async fn stopped() -> (Debugging, Answer) {
    Debugging::stopped_at(&Fixture::python("hostile_values"), "here").await
}

/// The children of a variable, as names and values.
async fn children(session: &Debugging, stopped: &Answer, name: &str, more: Value) -> Vec<(String, String)> {
    let locals = stopped["locals"].as_array().unwrap();
    let parent = locals.iter().find(|variable| variable["name"] == name).unwrap();
    let mut arguments = more;
    arguments["scope"] = parent["variablesReference"].clone();
    let answer = session.ok("get_variables", arguments).await;
    let text = |variable: &Value, field: &str| variable[field].as_str().unwrap().to_owned();
    let variables = answer["variables"].as_array().unwrap();
    variables.iter().map(|variable| (text(variable, "name"), text(variable, "value"))).collect()
}

/// pydevd 1.8.22 calls `__repr__` without a limit, and one that never ends takes the whole session along.
#[tokio::test]
async fn reprs_that_raise_loop_or_lie_are_reported_as_such() {
    let (session, stopped) = stopped().await;
    let table = [
        ("bad_repr", "<BadRepr: its __repr__ raised ValueError: no repr>"),
        ("bad_str", "BadStr()"),
        ("endless", "<Endless: its __repr__ took more than 300 ms>"),
        ("not_text", "<NotText: its __repr__ raised TypeError: __repr__ returned non-string (type int)>"),
        ("leaves", "<Leaves: its __repr__ raised SystemExit: 4>"),
        ("array", "array([1, 2])"),
        ("short_list", "ShortList()"),
        ("guarded", "<Guarded: x=1>"),
    ];
    for (name, value) in table {
        assert_eq!(stopped.variable(name), value);
    }
    for (name, kind) in [
        ("no_attributes", "NoAttributes"),
        ("unequal", "Unequal"),
        ("no_length", "NoLength"),
        ("liar", "Liar"),
    ] {
        let value = stopped.variable(name);
        assert!(value.starts_with(&format!("<__main__.{kind} object at 0x")), "{name}: {value}");
    }
    session.finish_at_end().await;
}

/// An interrupted representation used to leave the interpreter with a pending exception, and the program
/// never ended.
#[tokio::test]
async fn a_program_continues_and_ends_after_a_repr_was_interrupted() {
    let (session, _) = stopped().await;
    for _ in 0..3 {
        let locals = session.ok("get_local_variables", json!({})).await;
        assert_eq!(locals.variable("endless"), "<Endless: its __repr__ took more than 300 ms>");
    }
    let ended = session.run_to_the_end().await;
    assert_eq!(ended["output"], "end\n");
    session.finish().await;
}

/// Expanding an object in debugpy 1.8.22 runs every property.
#[tokio::test]
async fn properties_are_listed_without_running_them() {
    let (session, stopped) = stopped().await;
    let attributes = children(&session, &stopped, "guarded", json!({})).await;
    let not_run = "<property: not run; evaluate it to see its value>";
    let expected = [("x", "1"), ("boom", not_run)];
    assert_eq!(attributes, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    session.finish_at_end().await;
}

/// Its methods are those of `type`, whose slots are internals of the interpreter.
#[tokio::test]
async fn a_class_is_listed_without_its_slots_in_the_interpreter() {
    let script = Script::new(
        "class Shape:\n    sides = 4\n\ndef show(shape):\n    print(shape.sides)  # @show\n\nshow(Shape)\n",
    );
    let (session, stopped) = script.stopped_at("show").await;
    let listed = children(&session, &stopped, "shape", json!({ "includeSpecial": true })).await;
    let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["sides"]);
    session.finish().await;
}

/// debugpy 1.8.22 ignores `start` and `count`.
#[tokio::test]
async fn a_list_of_millions_is_paged() {
    let (session, stopped) = stopped().await;
    let page = children(&session, &stopped, "millions", json!({ "start": 4_999_998, "count": 10 })).await;
    let expected = [("4999998", "4999998"), ("4999999", "4999999")];
    assert_eq!(page, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let shown = stopped["locals"].as_array().unwrap();
    let millions = shown.iter().find(|variable| variable["name"] == "millions").unwrap();
    assert_eq!((&millions["children"], &millions["truncated"]), (&json!(5_000_000), &json!(true)));
    assert!(stopped.text.len() < 20_000, "{} bytes", stopped.text.len());
    session.finish().await;
}

/// debugpy 1.8.22 cuts texts at 65,538 characters without a word.
#[tokio::test]
async fn a_string_of_ten_megabytes_is_truncated_with_its_length() {
    let (session, stopped) = stopped().await;
    let shown = stopped["locals"].as_array().unwrap();
    let long = shown.iter().find(|variable| variable["name"] == "long").unwrap();
    assert_eq!((&long["truncated"], &long["length"]), (&json!(true), &json!(10_000_000)));
    let arguments = json!({ "expression": "long", "maxLength": 80_000 });
    let whole = session.ok("evaluate_expression", arguments).await;
    assert_eq!(whole.text_of("result"), format!("'{}'...", "x".repeat(80_000)));
    let tail = session.evaluate("long[-5:]").await;
    assert_eq!(tail, "'xxxxy'");
    session.finish().await;
}

#[tokio::test]
async fn keys_of_any_type_name_their_children() {
    let (session, stopped) = stopped().await;
    let found = children(&session, &stopped, "keys", json!({})).await;
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["1", "None", "(1, 2)", "b'k'", "frozenset({4})", "'s'"]);
    session.finish().await;
}

#[tokio::test]
async fn cyclic_data_is_finite() {
    let (session, stopped) = stopped().await;
    assert_eq!((stopped.variable("nest"), stopped.variable("ring")), ("[[...]]", "{'me': {...}}"));
    assert_eq!(
        children(&session, &stopped, "nest", json!({})).await,
        [("0".to_owned(), "[[...]]".to_owned())]
    );
    session.finish().await;
}

#[tokio::test]
async fn a_list_with_a_wrong_len_shows_its_items() {
    let (session, stopped) = stopped().await;
    let found = children(&session, &stopped, "short_list", json!({})).await;
    let values: Vec<&str> = found.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["1", "2"]);
    session.finish().await;
}

/// JSON from debugpy 1.8.22 holds lone surrogates, which are no text for anyone else.
#[tokio::test]
async fn non_unicode_strings_and_bytes_are_shown_as_python_prints_them() {
    let (session, stopped) = stopped().await;
    assert_eq!((stopped.variable("surrogate"), stopped.variable("raw")), ("'a\\udcffb'", "b'\\x00\\xff'"));
    assert_eq!(session.evaluate("surrogate + 'é😀'").await, "'a\\udcffbé😀'");
    session.finish().await;
}

#[tokio::test]
async fn unprintable_numbers_are_described() {
    let (session, stopped) = stopped().await;
    assert_eq!((stopped.variable("huge"), stopped.variable("nan")), ("<int of 16610 bits>", "nan"));
    session.finish().await;
}

#[tokio::test]
async fn non_unicode_output_arrives_with_replacement_characters() {
    let script = Script::new("import sys\nsys.stdout.buffer.write(b'raw \\xff end\\n')\n");
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "raw \u{fffd} end\n"));
    session.finish().await;
}

/// The agent sends them before they are requested, unless code of the program is needed to show one.
#[tokio::test]
async fn variables_in_a_report_equal_those_that_are_requested() {
    let script = Script::new(
        "class Account:\n    def __init__(self):\n        self.balance = 0\n\n\nclass Shy:\n    count = 0\n\n    \
         def __repr__(self):\n        Shy.count += 1\n        return 'shy %d' % Shy.count\n\n\ndef pay(account, \
         amounts):\n    for amount in amounts:\n        account.balance += amount  # @pay\n    shy = Shy()\n    \
         return shy  # @shy\n\n\npay(Account(), [1, 2, 3])\n",
    );
    let (session, mut stopped) = script.stopped_at("pay").await;
    session.break_at(&script, "shy").await;
    let values = |answer: &Answer| {
        let variables = answer["locals"].as_array().or(answer["variables"].as_array()).unwrap().clone();
        variables.iter().map(|each| (each["name"].clone(), each["value"].clone())).collect::<Vec<_>>()
    };
    for balance in [0, 1, 3] {
        assert_eq!(stopped.variable("account"), format!("<Account: balance={balance}>"));
        let requested = session.ok("get_local_variables", json!({})).await;
        assert_eq!(values(&stopped), values(&requested));
        assert_eq!(session.evaluate("account.balance").await, balance.to_string());
        stopped = session.go_on().await;
    }
    assert_eq!(stopped["location"]["line"], script.line("shy"));
    assert_eq!(stopped.variable("shy"), "shy 1", "shown once");
    session.finish_at_end().await;
}

/// pydevd 1.8.22 takes the end of a function by an exception, and the suspension of a coroutine, for a return.
#[tokio::test]
async fn what_a_function_did_not_return_is_not_shown_as_returned() {
    let script = Script::new(
        r"
import asyncio

def fail():
    raise ValueError

async def numbers():
    yield 1

async def first():
    return await numbers().__anext__()  # @yields

def attempt():
    try:
        fail()  # @raises
    except ValueError:
        pass
    return asyncio.run(first())

attempt()
",
    );
    let (session, _) = script.stopped_at("raises").await;
    let caught = session.step("step_over").await;
    assert_eq!(caught["location"]["function"], "attempt", "{}", caught.text);
    assert!(!caught.text.contains("(return)"), "{}", caught.text);
    session.break_at(&script, "yields").await;
    session.go_on().await;
    let left = session.step("step_over").await;
    assert!(!left.text.contains("(return) numbers"), "{}", left.text);
    session.finish_at_end().await;
}

/// pydevd 1.8.22 keeps it among the frame's variables until the next step, and among those of a module for good.
#[tokio::test]
async fn what_was_returned_is_shown_at_one_stop() {
    let script = Script::new(
        "def twice(n):\n    return n * 2  # @in\n\n\ntwice(2)\nafter = 1\nprint([name for name in globals() if 'pydevd' in \
         name])\n",
    );
    let (session, _) = script.stopped_at("in").await;
    let left = session.step("step_out").await;
    assert_eq!(left.variable("(return) twice"), "4");
    let next = session.step("step_over").await;
    assert!(!next.text.contains("(return)"), "{}", next.text);
    let ended = session.run_to_the_end().await;
    assert_eq!(ended["output"], "[]\n");
    session.finish().await;
}

/// A function reads and writes globals like variables of its own.
#[tokio::test]
async fn a_global_is_set_by_its_name_and_a_variable_without_a_value_is_not_one() {
    let script = Script::new(
        r#"
count = 1
later = "global"

def add(number):
    global count
    count += number  # @add
    later = "local"
    return later

print(add(1), count, later)
"#,
    );
    let (session, _) = script.stopped_at("add").await;
    let set = session.ok("set_variable", json!({ "name": "count", "value": "40 + number" })).await;
    assert_eq!(set["value"], "41");
    session.fails("refused", "set_variable", json!({ "name": "later", "value": "5" })).await;
    session.fails("refused", "set_variable", json!({ "name": "missing", "value": "5" })).await;
    assert_eq!(session.run_to_the_end().await["output"], "local 42 global\n");
    session.finish().await;
}

/// A return value and a key are named as in the variables.
#[tokio::test]
async fn what_changed_is_named_as_the_variables_are() {
    let script = Script::new(
        r#"
class Cart:
    def total(self, table):
        table["a.b"] += 1  # @in
        table[-1] = 2
        return 3

def main():
    table = {"a.b": 1, "a_b": 5}
    Cart().total(table)  # @first
    print(table)

main()
"#,
    );
    let (session, _) = script.stopped_at("first").await;
    session.break_at(&script, "in").await;
    session.go_on().await;
    let left = session.step("step_out").await;
    let changed = left["changed"].as_array().unwrap();
    let names: Vec<&Value> = changed.iter().map(|each| &each["name"]).collect();
    assert_eq!(names, ["(return) Cart.total", "table['a.b']", "table[-1]"], "{}", left.text);
    session.finish_at_end().await;
}
