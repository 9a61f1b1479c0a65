//! Children of values, in pages.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Fixture, Language, PerLanguage, Texts, dynamic, each};

use super::{owned, pairs, plain_pairs, stopped};
use crate::debugging::{Debugging, written, written_in};

each![
    a_long_list_is_paged,
    children_are_selected_by_name_and_missing_ones_reported,
    nested_values_are_expanded_level_by_level,
    a_cyclic_value_expands_endlessly,
    objects_show_their_attributes,
    pages_have_a_maximum_size,
    variables_of_a_function_are_paged,
    a_deep_stack_is_paged_to_its_end,
];

dynamic![
    // C has no dictionaries, no sets and no properties.
    a_long_dict_is_paged_by_key,
    a_long_set_is_paged,
    a_property_is_listed_without_running_it,
    // Of a text of C, LLDB shows no more than the first 1024 characters, and not how long it is.
    values_of_a_page_have_the_requested_length,
];

async fn a_long_list_is_paged(language: Language) {
    let session = stopped(language).await;
    let scope = session.reference("numbers").await;
    let first = session.ok("get_variables", json!({ "scope": scope })).await;
    assert_eq!(
        (&first["count"], &first["total"], &first["nextStart"]),
        (&json!(100), &json!(100_000), &json!(100))
    );
    assert_eq!(first.at("/variables/99/name"), &json!(language.index(99)));
    let next = json!({ "scope": scope, "start": first["nextStart"], "count": 2 });
    let next = session.ok("get_variables", next).await;
    assert_eq!(
        pairs(&next["variables"]),
        owned(&[(&language.index(100), "100"), (&language.index(101), "101")])
    );
    assert_eq!(next["nextStart"], 102);
    let last = session.ok("get_variables", json!({ "scope": scope, "start": 99_999 })).await;
    assert_eq!(pairs(&last["variables"]), owned(&[(&language.index(99_999), "99999")]));
    assert_eq!((&last["count"], &last["nextStart"]), (&json!(1), &Value::Null));
    let beyond = session.ok("get_variables", json!({ "scope": scope, "start": 200_000 })).await;
    assert_eq!((&beyond["count"], &beyond["nextStart"]), (&json!(0), &Value::Null));
    session.finish().await;
}

async fn a_long_dict_is_paged_by_key(language: DynamicLanguage) {
    let session = stopped(language).await;
    let scope = session.reference("many").await;
    let page = session.ok("get_variables", json!({ "scope": scope, "start": 50_000, "count": 2 })).await;
    let names = language.pick(["'50000'", "'50001'"], ["50000", "50001"]);
    assert_eq!(pairs(&page["variables"]), owned(&[(names[0], "50000"), (names[1], "50001")]));
    assert_eq!((&page["total"], &page["nextStart"]), (&json!(100_000), &json!(50_002)));
    session.finish().await;
}

async fn a_long_set_is_paged(language: DynamicLanguage) {
    let session = stopped(language).await;
    let scope = session.reference("crowd").await;
    let page = session.ok("get_variables", json!({ "scope": scope, "start": 99_998 })).await;
    assert_eq!((&page["count"], &page["total"]), (&json!(2), &json!(100_000)));
    assert_eq!(session.children("names").await, owned(&[("0", "'only'")]));
    session.finish().await;
}

async fn children_are_selected_by_name_and_missing_ones_reported(language: Language) {
    let session = stopped(language).await;
    let scope = session.reference("numbers").await;
    let (seventh, last) = (language.index(7), language.index(99_999));
    let arguments = json!({ "scope": scope, "names": [seventh, last, "hundred"] });
    let picked = session.ok("get_variables", arguments).await;
    assert_eq!(pairs(&picked["variables"]), owned(&[(&seventh, "7"), (&last, "99999")]));
    assert_eq!(picked["notFound"], json!(["hundred"]));
    session.finish().await;
}

async fn nested_values_are_expanded_level_by_level(language: Language) {
    let session = stopped(language).await;
    let outer = session.ok("get_variables", json!({ "scope": session.reference("nested").await })).await;
    let shown = PerLanguage {
        name: "pages: nested",
        python: ("'outer'", "[Point(x=3, y=4), {'inner': (5, 6)}]"),
        node: ("outer", "[ Point { x: 3, y: 4 }, { inner: [ 5, 6 ] } ]"),
        c: ("outer", "{{x = 3, y = 4}, {x = 0, y = 0}}"),
    };
    assert_eq!(plain_pairs(language, &outer["variables"])[0], owned(&[shown.of(language)])[0]);
    let list = json!({ "scope": outer.at("/variables/0/variablesReference") });
    let list = session.ok("get_variables", list).await;
    let point = json!({ "scope": list.at("/variables/0/variablesReference") });
    let point = session.ok("get_variables", point).await;
    assert_eq!(pairs(&point["variables"]), owned(&[("x", "3"), ("y", "4")]));
    session.finish().await;
}

async fn a_cyclic_value_expands_endlessly(language: Language) {
    let session = stopped(language).await;
    let mut scope = session.reference("cycle").await;
    let address = if language.is_compiled() { session.evaluate("&cycle").await } else { String::new() };
    for _ in 0..5 {
        let page = session.ok("get_variables", json!({ "scope": scope })).await;
        // A pointer to the node itself, in C.
        let shown = PerLanguage {
            name: "pages: cycle",
            python: [("0", "1"), ("1", "[1, [...]]")],
            node: [("0", "1"), ("1", "<ref *1> [ 1, [Circular *1] ]")],
            c: [("value", "1"), ("next", "{}")],
        };
        let shown = shown.of(language).map(|(name, value)| (name, value.replace("{}", &address)));
        let shown = shown.each_ref().map(|(name, value)| (*name, value.as_str()));
        let shown = owned(&shown);
        assert_eq!(pairs(&page["variables"]), shown);
        scope = page.at("/variables/1/variablesReference").as_u64().unwrap();
    }
    session.finish().await;
}

async fn objects_show_their_attributes(language: Language) {
    let session = stopped(language).await;
    assert_eq!(session.children("point").await, owned(&[("x", "1"), ("y", "2")]));
    let children = async |name: &str| {
        let children = session.children(name).await.into_iter();
        children.map(|(name, value)| (name, language.plain(&value).to_owned())).collect::<Vec<_>>()
    };
    let [left, right] = PerLanguage {
        name: "pages: attributes",
        python: ["left", "right"],
        node: ["left", "right"],
        c: ["left", "right"],
    }
    .of(language);
    assert_eq!(children("slotted").await, owned(&[(left, "1"), (right, &language.text("two"))]));
    let table = PerLanguage {
        name: "pages: table",
        python: [("'a'", "1"), ("'b'", "[10, 20]"), ("3", "'three'")],
        node: [("3", "'three'"), ("a", "1"), ("b", "[ 10, 20 ]")],
        c: [("a", "1"), ("b", "{10, 20}"), ("three", "\"three\"")],
    };
    assert_eq!(children("table").await, owned(&table.of(language)));
    session.finish().await;
}

async fn a_property_is_listed_without_running_it(language: DynamicLanguage) {
    let session = stopped(language).await;
    let listed = session.children("lazy").await;
    let note = language.pick("<property: not run; evaluate it to see its value>", "[Getter]");
    assert_eq!(listed, owned(&[("plain", "1"), ("expensive", note)]));
    assert_eq!(session.evaluate("Lazy.runs").await, "0");
    assert_eq!(session.evaluate("lazy.expensive").await, "42");
    assert_eq!(session.evaluate("Lazy.runs").await, "1");
    session.finish().await;
}

async fn values_of_a_page_have_the_requested_length(language: DynamicLanguage) {
    let session = stopped(language).await;
    session.evaluate(language.pick("texts = ['x' * 5000]", "globalThis.texts = ['x'.repeat(5000)]")).await;
    let scope = session.reference("texts").await;
    for length in [10, 2000] {
        let page = session.ok("get_variables", json!({ "scope": scope, "maxLength": length })).await;
        let variable = page.at("/variables/0");
        assert_eq!(variable["value"], format!("'{}'...", "x".repeat(length)));
        assert_eq!((&variable["truncated"], &variable["length"]), (&json!(true), &json!(5000)));
    }
    session.finish().await;
}

async fn pages_have_a_maximum_size(language: Language) {
    let session = stopped(language).await;
    let scope = session.reference("numbers").await;
    let more = json!({ "scope": scope, "count": 10_001 });
    let refused = session.fails("limit_reached", "get_variables", more).await;
    assert_eq!(refused["error"], "`count` is 10001: the limit `children` is 10000");
    let page = session.ok("get_variables", json!({ "scope": scope, "count": 10_000 })).await;
    assert_eq!(
        (&page["count"], &page["total"], &page["nextStart"]),
        (&json!(10_000), &json!(100_000), &json!(10_000))
    );
    session.finish().await;
}

#[tokio::test]
async fn a_filter_that_times_out_reports_its_progress() {
    let (session, _) = Debugging::stopped_at(&Fixture::python("values"), "hostile").await;
    session.evaluate("crowd = [Sleeps()] * 2_000_000").await;
    let scope = session.reference("crowd").await;
    let found = session.ok("get_variables", json!({ "scope": scope, "names": ["1", "missing"] })).await;
    assert_eq!((&found["count"], &found["notFound"]), (&json!(1), &json!(["missing"])));
    assert!(found["searched"].as_u64().unwrap() < 2_000_000, "{}", found.text);
    assert_eq!(session.evaluate("after").await, "'still here'");
    session.finish().await;
}

async fn variables_of_a_function_are_paged(language: Language) {
    let names: Vec<String> = (0..700).map(|number| format!("v{number} = {number}")).collect();
    let (source, separator) = PerLanguage {
        name: "pages: many variables",
        python: ("def f():\n    {}\n    return 1  # @end\n\nf()\n", "; "),
        node: ("function f() {\n  let {};\n  return 1; // @end\n}\n\nf();\n", ", "),
        c: ("int main(void) {\n    int {};\n    return 0; // @end\n}\n", ", "),
    }
    .of(language);
    let source = source.replace("{}", &names.join(separator));
    let (_folder, program) = written(&language.file("many"), &source);
    let (session, _) = Debugging::stopped_at(&program, "end").await;
    let first = session.ok("get_local_variables", json!({})).await;
    assert_eq!(
        (&first["count"], &first["total"], &first["nextStart"]),
        (&json!(500), &json!(700), &json!(500))
    );
    let rest = session.ok("get_local_variables", json!({ "start": 500 })).await;
    assert_eq!(
        (&rest["count"], &rest["total"], &rest["nextStart"]),
        (&json!(200), &json!(700), &Value::Null)
    );
    assert_eq!(rest.variable("v699"), "699");
    session.finish().await;
}

/// Calls itself three thousand times.
const DIVES: Texts = Texts {
    name: "pages_dives",
    python: "\
import sys
sys.setrecursionlimit(10_000)
def dive(depth):
    return depth and dive(depth - 1)  # @dive
dive(3000)
",
    node: "\
function dive(depth) {
  return depth && dive(depth - 1); // @dive
}
dive(3000);
",
    c: "\
static int dive(int depth) {
    return depth && dive(depth - 1); // @dive
}
int main(void) {
    return dive(3000);
}
",
};

async fn a_deep_stack_is_paged_to_its_end(language: Language) {
    let (_folder, program) = written_in(language, "deep", DIVES);
    let session = Debugging::of(language).await;
    session.break_with(&program, "dive", json!({ "condition": "depth == 0" })).await;
    session.start(&program).await;
    // Below a module's own code there is that of Node which loads it, and below `main` that of the C library.
    let total = session.ok("get_stack_trace", json!({})).await["totalFrames"].as_u64().unwrap();
    assert!(
        if matches!(language, Language::Python | Language::Ruby | Language::Php) {
            total == 3002
        } else {
            total > 3002
        },
        "{total}"
    );
    for (start, count) in [(1500, 50), (3000, 2), (total, 0)] {
        let page = session.ok("get_stack_trace", json!({ "start": start })).await;
        assert_eq!((&page["count"], &page["totalFrames"]), (&json!(count), &json!(total)), "{start}");
    }
    let last = session.ok("get_stack_trace", json!({ "start": 3001 })).await;
    let frame = last.at("/stackFrames/0/id");
    let locals = session.ok("get_local_variables", json!({ "frameId": frame })).await;
    assert_eq!(locals.at("/frame/name"), language.words().module.unwrap_or("main"));
    session.finish().await;
}
