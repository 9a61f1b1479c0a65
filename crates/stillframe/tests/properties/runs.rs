//! Properties 13 and 14: tests that are run.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage as Language, Fixture};

use crate::harness::{each_language, holds_at_once};
use crate::objects::{Thing, plain, text_literal};
use crate::world::World;

each_language!(test_output_is_complete, failing_tests_are_reported_with_their_values);

/// Runs a file of tests.
fn run(world: &World, file: &Fixture) -> Answer {
    let path = Path::new(file.path());
    let name = path.file_stem().and_then(|name| name.to_str()).expect("a plain name");
    let (command, args) = match file.language().dynamic() {
        Language::Python => ("python", json!(["-m", "unittest", name])),
        Language::Node => ("node", json!([file.path()])),
    };
    let arguments = json!({ "command": command, "args": args, "cwd": world.folder(), "timeout": 60000 });
    world.ok("debugger_run_test", arguments)
}

/// A line that a test writes: to which stream, and what.
type Written = (bool, String);

/// Tests, each with what it writes and whether it passes.
fn noisy(language: Language, tests: &[(Vec<Written>, bool)]) -> String {
    let mut text = match language {
        Language::Python => "import sys\nimport unittest\n\n\nclass Noisy(unittest.TestCase):\n".to_owned(),
        Language::Node => {
            "const test = require('node:test');\nconst assert = require('node:assert');\n".to_owned()
        }
    };
    for (index, (lines, passes)) in tests.iter().enumerate() {
        let number = i32::from(*passes);
        text += &match language {
            Language::Python => format!("    def test_{index}(self):\n"),
            Language::Node => format!("test('number {index}', () => {{\n"),
        };
        for (place, (is_error, written)) in lines.iter().enumerate() {
            let written = text_literal(&format!("<{index}.{place} {written}>"));
            text += &match (language, is_error) {
                (Language::Python, false) => format!("        print({written}, flush=True)\n"),
                (Language::Python, true) => {
                    format!("        print({written}, file=sys.stderr, flush=True)\n")
                }
                (Language::Node, false) => format!("    console.log({written});\n"),
                (Language::Node, true) => format!("    console.error({written});\n"),
            };
        }
        text += &match language {
            Language::Python => format!("        self.assertEqual({number}, 1)\n\n"),
            Language::Node => format!("    assert.strictEqual({number}, 1);\n}});\n"),
        };
    }
    text
}

// Feature: mcp-debugger-tool, Property 13: For any test execution, all output written to stdout and stderr by the test
// process should be captured and returned by the MCP Server.
fn test_output_is_complete(language: Language) {
    let tests = || {
        let lines = vec((any::<bool>(), "[ -~é日]{0,20}"), 0..6);
        vec((lines, any::<bool>()), 1..4)
    };
    holds_at_once("13", language, file!(), 50, tests, |world: &mut World, tests| {
        let answer = run(world, &world.program(language, &noisy(language, &tests)));
        let passes = tests.iter().all(|(_, passes)| *passes);
        assert_eq!(answer["verdict"], if passes { "passed" } else { "failed" }, "{}", answer.text);
        assert_eq!(answer["passed"], passes, "{}", answer.text);
        let output = answer.text_of("output");
        for is_error in [false, true] {
            let mut from = 0;
            for (index, (lines, _)) in tests.iter().enumerate() {
                let of_stream = lines.iter().enumerate().filter(|(_, line)| line.0 == is_error);
                for (place, (_, written)) in of_stream {
                    let line = format!("<{index}.{place} {written}>");
                    let found = output[from..].find(&line);
                    from += found.unwrap_or_else(|| panic!("{line} is not in {output:?}")) + line.len();
                }
            }
        }
    });
}

/// A test that fails in a function that it calls, so deep: what its variables are, and the two sides.
fn failing(language: Language, values: &[Thing], depth: u8, left: i32, right: i32) -> String {
    let end = language.pick("", ";");
    let keyword = language.pick("", "const ");
    let mut variables = String::new();
    for (index, value) in values.iter().enumerate() {
        let source = value.source(language);
        variables += &format!("    {keyword}v{index} = {source}{end}\n");
    }
    // Python has all of them in its frame; V8 keeps those that are used.
    let names: Vec<String> = (0..values.len()).map(|index| format!("v{index}")).collect();
    let used = format!("    void [{}];\n", names.join(", "));
    match language {
        Language::Python => format!(
            "import unittest\n\n\ndef check(test, depth):\n    if depth:\n        return check(test, depth - 1)\n{variables}    left = {left}\n    right = {right}\n    test.assertEqual(left, right)  # @fails\n\n\nclass Failing(unittest.TestCase):\n    def test_it(self):\n        check(self, {depth})\n"
        ),
        Language::Node => format!(
            "const test = require('node:test');\nconst assert = require('node:assert');\nfunction check(depth) {{\n    if (depth) {{\n        return check(depth - 1);\n    }}\n{variables}{used}    const left = {left};\n    const right = {right};\n    assert.strictEqual(left, right); // @fails\n}}\ntest('it', () => {{\n    check({depth});\n}});\n"
        ),
    }
}

// Feature: mcp-debugger-tool, Property 14: For any failing test, the MCP Server should return the failure message,
// complete stack trace, and execution context including variable values at the failure point.
fn failing_tests_are_reported_with_their_values(language: Language) {
    let strategy = || {
        let sides = (any::<i32>(), any::<i32>()).prop_filter("they differ", |(left, right)| left != right);
        (vec(plain(), 0..5), 0..4_u8, sides)
    };
    holds_at_once(
        "14",
        language,
        file!(),
        50,
        strategy,
        |world: &mut World, (values, depth, (left, right))| {
            let file = world.program(language, &failing(language, &values, depth, left, right));
            let answer = run(world, &file);
            assert_eq!(answer["verdict"], "failed", "{}", answer.text);
            assert_eq!(answer["passed"], false, "{}", answer.text);
            let failure = &answer["failure"];
            let message = failure["message"].as_str().expect("the message");
            assert!(message.contains(&left.to_string()) && message.contains(&right.to_string()), "{message}");
            assert_eq!(failure["file"], file.path(), "{}", answer.text);
            assert_eq!(failure["line"], file.line("fails"), "{}", answer.text);
            // All calls are in the stack, innermost first.
            let stack = failure["stack"].as_array().expect("the stack");
            let is_own = |frame: &&Value| frame.as_str().is_some_and(|frame| frame.starts_with("check "));
            assert_eq!(stack.iter().filter(is_own).count(), usize::from(depth) + 1, "{}", answer.text);
            let locals = failure["frames"][0]["locals"].as_array().expect("the variables");
            let local = |name: &str| {
                let found = locals.iter().find(|local| local["name"] == name);
                found.unwrap_or_else(|| panic!("no {name} in {}", answer.text))
            };
            for (name, value) in [("left", left), ("right", right)] {
                assert_eq!(local(name)["value"], value.to_string(), "{}", answer.text);
            }
            for (index, value) in values.iter().enumerate() {
                let shown = local(&format!("v{index}"));
                assert_eq!(shown["type"], value.type_name(language), "{}", answer.text);
                if let Thing::Number(number) = value {
                    assert_eq!(shown["value"], number.to_string(), "{}", answer.text);
                }
            }
        },
    );
}
