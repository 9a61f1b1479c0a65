//! Properties 7, 8, 9 and 21: objects, expressions and watches.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use serde_json::{Value, json};
use test_support::DynamicLanguage as Language;

use crate::expressions::{self, Names};
use crate::harness::{each_language, holds};
use crate::host::Host;
use crate::objects::{Thing, object, plain};

each_language!(
    objects_are_read_completely,
    expressions_have_the_values_that_the_program_computes,
    watches_report_changes,
    every_value_has_its_type,
);

/// Stops in a program of its own where `root` has that value.
fn stop_with(host: &mut Host, root: &Thing) -> String {
    let language = host.language;
    let source = root.source(language);
    let program = host.write(&format!(
        "{}root = {source}{}\n{}\n",
        language.pick("", "const "),
        language.pick("", ";"),
        language.pick("root = None  # @after", "void root; // @after"),
    ));
    let id = host.set(program.path(), program.line("after"), None);
    host.choose(program.path());
    let stop = host.resume();
    assert_eq!(stop["location"]["line"], program.line("after"), "{}", stop.text);
    id
}

/// All pages of an object's properties, of so many each.
fn pages(host: &Host, object: &Value, depth: usize, count: usize) -> Vec<Value> {
    let (mut all, mut start) = (Vec::new(), json!(0));
    loop {
        let arguments = json!({ "objectId": object, "maxDepth": depth, "start": start, "count": count });
        let page = host.ok("inspect_object", arguments);
        let properties = page["properties"].as_array().unwrap();
        assert!(properties.len() <= count, "{}", page.text);
        all.extend(properties.iter().cloned());
        start = page["nextStart"].clone();
        if start.is_null() {
            assert_eq!(page["total"], all.len(), "{}", page.text);
            return all;
        }
        assert_eq!(start, all.len(), "{}", page.text);
    }
}

// Feature: mcp-debugger-tool, Property 7: For any object reference in a paused Target Process, when that object is
// inspected, then all enumerable properties of that object should be returned with their current values.
fn objects_are_read_completely(language: Language) {
    let strategy = (object(), 1..8_usize, 1..4_usize);
    holds("7", language, file!(), 60, &strategy, |host: &mut Host, (root, count, depth)| {
        let breakpoint = stop_with(host, &root);
        let shown = host.ok("inspect", json!({ "expression": "root" }));
        assert_same(host, &root, &shown.data, depth, count);
        host.remove(&breakpoint);
        host.run_out();
    });
}

/// The reported value is complete, read in pages of so many properties and levels at a time.
fn assert_same(host: &Host, thing: &Thing, shown: &Value, depth: usize, count: usize) {
    if let Some(value) = thing.value() {
        assert_eq!(shown["value"], value);
    }
    let expected = thing.properties(host.language);
    if expected.is_empty() {
        return;
    }
    let object = &shown["objectId"];
    assert!(object.is_string(), "{thing:?} cannot be opened: {shown}");
    let properties = pages(host, object, depth, count);
    let names: Vec<&str> = properties.iter().map(|property| property["name"].as_str().unwrap()).collect();
    let wanted: Vec<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, wanted);
    for (property, (_, thing)) in properties.iter().zip(expected) {
        assert_same(host, thing, property, depth, count);
    }
}

// Feature: mcp-debugger-tool, Property 8: For any valid JavaScript expression and paused Target Process, when that
// expression is evaluated in the current execution context, then the result should match what would be computed if
// the expression were executed at that point in the code.
fn expressions_have_the_values_that_the_program_computes(language: Language) {
    let names = (-20..20, -20..20, "[ -~é日😀]{0,6}");
    let strategy = (expressions::expression(), names);
    holds("8", language, file!(), 60, &strategy, |host: &mut Host, (expression, (a, b, s))| {
        let names = Names { a, b, s };
        let expected = expression.value(language, &names);
        let text = expression.text(language);
        let (keyword, end) = language.pick(("", ""), ("const ", ";"));
        let written = language.pick("print(__import__('json').dumps(", "console.log(JSON.stringify(");
        let s = crate::objects::text_literal(&names.s);
        let program = host.write(&format!(
            "{keyword}a = {a}{end}\n{keyword}b = {b}{end}\n{keyword}s = {s}{end}\n{written}{text})){end}\n{}\n",
            language.pick("pass  # @after", "void 0; // @after"),
        ));
        let id = host.set(program.path(), program.line("after"), None);
        host.choose(program.path());
        let stop = host.resume();
        let printed: Value = serde_json::from_str(stop.text_of("output")).expect("what the program computed");
        assert_eq!(printed, expected.printed(), "{text}");
        let shown = host.ok("inspect", json!({ "expression": text }));
        assert_eq!(shown["value"], expected.shown(), "{text}");
        assert_eq!(shown["type"], expected.type_name(language), "{text}");
        host.remove(&id);
        host.run_out();
    });
}

// Feature: mcp-debugger-tool, Property 9: For any watched variable, when that variable's value changes during
// execution, then the MCP Server should report the change with the old and new values.
fn watches_report_changes(language: Language) {
    let few = prop_oneof![plain(), (0..3).prop_map(Thing::Number)];
    // Which of the two variables, what it becomes, and whether the program stops after that.
    let strategy = vec((any::<bool>(), few, any::<bool>()), 1..10);
    holds("9", language, file!(), 50, &strategy, |host: &mut Host, steps| {
        let end = language.pick("", ";");
        let name = |first: bool| if first { "x" } else { "y" };
        let mut text = language.pick("x = None\ny = None\n", "let x = null;\nlet y = null;\n").to_owned();
        for (first, value, _) in &steps {
            text += &format!("{} = {}{end}\n", name(*first), value.source(language));
        }
        text += language.pick("pass\n", "void 0;\n");
        let program = host.write(&text);
        let lines = 3..;
        let line_of = |stop: bool, line: u32| if stop { Some(line + 1) } else { None };
        let all = lines.zip(&steps).filter_map(|(line, (_, _, stop))| line_of(*stop, line));
        let locations: BTreeSet<u32> = std::iter::once(3).chain(all).collect();
        let ids: Vec<String> = locations.iter().map(|line| host.set(program.path(), *line, None)).collect();
        host.choose(program.path());
        host.resume();
        let watch = |name| host.ok("add_watch", json!({ "expression": name })).text_of("watchId").to_owned();
        let watches = [watch("x"), watch("y")];
        let mut reported = [Thing::Nothing, Thing::Nothing];
        let mut now = reported.clone();
        for (first, value, stops) in steps {
            now[usize::from(!first)] = value;
            if !stops {
                continue;
            }
            let stop = host.resume();
            let changed: Vec<Value> = (0..2)
                .filter(|index| now[*index] != reported[*index])
                .map(|index| {
                    json!({
                        "watchId": watches[index],
                        "expression": name(index == 0),
                        "oldValue": reported[index].value(),
                        "newValue": now[index].value(),
                    })
                })
                .collect();
            let shown = stop["watches"].as_array().cloned().unwrap_or_default();
            assert_eq!(shown, changed, "{}", stop.text);
            reported.clone_from(&now);
        }
        for id in watches {
            host.ok("remove_watch", json!({ "watchId": id }));
        }
        for id in &ids {
            host.remove(id);
        }
        host.run_out();
    });
}

// Feature: mcp-debugger-tool, Property 21: For any complex object (arrays, nested objects, functions) returned from
// variable inspection, the serialized representation should include type information for each value and property.
fn every_value_has_its_type(language: Language) {
    holds("21", language, file!(), 60, &object(), |host: &mut Host, root| {
        let breakpoint = stop_with(host, &root);
        let locals = host.ok("get_local_variables", json!({}));
        let variables = locals["variables"].as_array().unwrap();
        let shown = variables.iter().find(|variable| variable["name"] == "root").expect("root is there");
        assert_eq!(type_of(shown), root.type_name(language));
        let opened = host.ok("inspect_object", json!({ "objectId": shown["objectId"], "maxDepth": 10 }));
        assert_types(language, &root, &opened.data);
        host.remove(&breakpoint);
        host.run_out();
    });
}

/// The class where there is one, because `type` is what `typeof` says then; that of `null` is `object`.
fn type_of(shown: &Value) -> &str {
    match (shown["className"].as_str(), shown["type"].as_str()) {
        (None, Some("object")) if shown["value"].is_null() => "null",
        (class, kind) => class.or(kind).unwrap_or_default(),
    }
}

fn assert_types(language: Language, thing: &Thing, shown: &Value) {
    let expected = thing.properties(language);
    let empty = Vec::new();
    let properties = shown["properties"].as_array().unwrap_or(&empty);
    assert_eq!(properties.len(), expected.len(), "{thing:?}: {shown}");
    for (property, (name, thing)) in properties.iter().zip(expected) {
        assert_eq!(property["name"], name.as_str());
        assert_eq!(type_of(property), thing.type_name(language), "{thing:?}: {property}");
        assert_types(language, thing, property);
    }
}
