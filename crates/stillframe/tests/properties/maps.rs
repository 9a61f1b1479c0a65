//! Properties 15 and 16: source maps.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::Index;
use serde_json::json;
use test_support::DynamicLanguage as Language;

use crate::emitter::{Emitter, TextPosition};
use crate::harness::holds;
use crate::host::Host;

/// What a line of the source is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// A statement that begins at a column.
    Statement(usize),
    /// Something that only the compiler reads.
    Type,
    Blank,
}

/// What the compiler writes before a statement.
#[derive(Clone, Copy, Debug)]
enum Before {
    Newline,
    Space,
    Helper,
}

fn lines() -> impl Strategy<Value = Vec<(Line, Before)>> {
    let line = prop_oneof![
        5 => (0..5_usize).prop_map(Line::Statement),
        1 => Just(Line::Type),
        1 => Just(Line::Blank),
    ];
    let before = prop_oneof![3 => Just(Before::Newline), 2 => Just(Before::Space), 1 => Just(Before::Helper)];
    vec((line, before), 1..12)
}

// Feature: mcp-debugger-tool, Property 15: For any TypeScript source location with a valid source map, mapping that
// location to JavaScript and then back to TypeScript should yield the original location.
#[test]
fn source_locations_round_trip() {
    let strategy = (lines(), vec(any::<Index>(), 1..4), any::<bool>());
    holds("15", Language::Node, file!(), 100, &strategy, |host: &mut Host, (lines, chosen, is_apart)| {
        let (mut source, mut script) = (String::new(), Emitter::default());
        script.write("\"use strict\";\nlet total = 0;\nvoid total;\n");
        source += "let total: number = 0;\n";
        let mut locations = Vec::new();
        for (number, (line, before)) in (1..).zip(&lines) {
            match line {
                Line::Statement(indent) => {
                    source += &format!("{}total = (total as number) + {number};\n", " ".repeat(*indent));
                    script.write(match before {
                        Before::Newline => "\n",
                        Before::Space => " ",
                        Before::Helper => "\nvoid 0;\n  ",
                    });
                    let from = TextPosition { line: number, column: *indent };
                    locations
                        .push((number, script.mapped(&format!("total = (total) + {number};"), from, None)));
                }
                Line::Type => source += "type Total = number;\n",
                Line::Blank => source += "\n",
            }
        }
        source += "total = 0;\n";
        script.write("\n");
        let end = TextPosition { line: lines.len() + 1, column: 0 };
        locations.push((end.line, script.mapped("total = 0;", end, None)));

        let (source, script) = host.write_compiled(&source, &script, is_apart);
        let arguments: BTreeSet<usize> = chosen.iter().map(|index| index.index(lines.len()) + 1).collect();
        let ids: Vec<String> =
            arguments.iter().map(|line| host.set(&source, u32::try_from(*line).unwrap() + 1, None)).collect();
        host.choose(&script);
        // Each stops at its line, or at the next one that was compiled to something.
        let bound = |line: &usize| locations.iter().find(|(number, _)| number >= line).copied().unwrap();
        let mut expected: Vec<(usize, TextPosition)> = arguments.iter().map(bound).collect();
        expected.dedup();
        for (line, place) in expected {
            let stop = host.resume();
            assert_eq!(stop["location"]["file"], source, "{}", stop.text);
            assert_eq!(stop["location"]["line"], line + 1, "{}", stop.text);
            // The debugger's place in the script is in what was compiled of that line.
            let generated = &stop["location"]["generated"];
            assert_eq!(generated["file"], script, "{}", stop.text);
            assert_eq!(generated["line"], place.line + 1, "{}", stop.text);
            let column = usize::try_from(generated["column"].as_u64().unwrap()).unwrap() - 1;
            let before = locations.iter().filter(|(_, at)| at.line == place.line && at.column <= column);
            assert_eq!(before.map(|(line, _)| *line).next_back(), Some(line), "{}", stop.text);
        }
        host.run_out();
        for id in &ids {
            host.remove(id);
        }
    });
}

const NAMES: &[&str] = &["price", "amount", "discount", "customer", "total", "rest", "größe", "$tax"];
const SHORT: &[&str] = &["a", "b", "c", "d", "e", "t", "n", "r"];

// Feature: mcp-debugger-tool, Property 16: For any variable in a TypeScript source file with a valid source map, when
// that variable is inspected during debugging, the variable name should match the name in the TypeScript source, not
// the potentially mangled JavaScript name.
#[test]
fn variables_have_their_source_names() {
    let names = Just(NAMES.to_vec()).prop_shuffle();
    let short = Just(SHORT.to_vec()).prop_shuffle();
    // The first is a parameter, each of the others the sum of the one before and a number.
    let strategy = (names, short, vec(-50..50_i64, 1..7), any::<bool>(), any::<bool>());
    holds(
        "16",
        Language::Node,
        file!(),
        100,
        &strategy,
        |host: &mut Host, (names, short, numbers, long, apart)| {
            let space = if long { "\n  " } else { " " };
            let mut script = Emitter::default();
            let at = |line, column| TextPosition { line, column };
            let mut source = format!("function run({}: number): number {{\n", names[0]);
            script.mapped("function ", at(0, 0), None);
            script.mapped("f", at(0, 9), Some("run"));
            script.write("(");
            script.mapped(short[0], at(0, 13), Some(names[0]));
            script.write(") {");
            for (index, number) in numbers.iter().enumerate().skip(1) {
                source +=
                    &format!("    const {}: number = {} + ({number});\n", names[index], names[index - 1]);
                script.write(space);
                script.mapped("const ", at(index, 4), None);
                script.mapped(short[index], at(index, 10), Some(names[index]));
                script.write(" = ");
                let column = 10 + utf16(names[index]) + ": number = ".len();
                script.mapped(short[index - 1], at(index, column), Some(names[index - 1]));
                script.write(&format!(" + ({number});"));
            }
            let last = numbers.len() - 1;
            let line = numbers.len();
            source += &format!("    return {};\n}}\nrun({});\n", names[last], numbers[0]);
            script.write(space);
            script.mapped("return ", at(line, 4), None);
            script.mapped(short[last], at(line, 11), Some(names[last]));
            script.write(";\n}\n");
            script.mapped("f", at(line + 2, 0), Some("run"));
            script.write(&format!("({});\n", numbers[0]));

            let (source, script) = host.write_compiled(&source, &script, apart);
            let id = host.set(&source, u32::try_from(line + 1).unwrap(), None);
            host.choose(&script);
            let stop = host.resume();
            assert_eq!(
                (&stop["location"]["file"], &stop["location"]["line"]),
                (&json!(source), &json!(line + 1))
            );
            let mut sum = 0;
            let expected: Vec<_> = numbers
                .iter()
                .zip(&names)
                .map(|(number, name)| {
                    sum += number;
                    ((*name).to_owned(), json!(sum))
                })
                .collect();
            let locals = host.ok("get_local_variables", json!({}));
            let shown = locals["variables"].as_array().unwrap().iter();
            let named: Vec<_> = shown
                .map(|shown| (shown["name"].as_str().unwrap().to_owned(), shown["value"].clone()))
                .collect();
            for (name, value) in &expected {
                assert!(named.contains(&(name.clone(), value.clone())), "{name}: {}", locals.text);
                assert_eq!(host.value(name), *value, "{name}");
            }
            let own = named.iter().filter(|(name, _)| short.contains(&name.as_str()) || name == "f");
            assert_eq!(own.count(), 0, "{}", locals.text);
            host.remove(&id);
            host.run_out();
        },
    );
}

fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}
