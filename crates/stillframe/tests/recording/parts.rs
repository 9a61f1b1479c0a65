//! Values that come by parts, in JavaScript.

use serde_json::json;
use test_support::{Fixture, repository};

use crate::recorder::{Client, at, has, written};

/// Keys of objects, parameters that take them apart, variables of other modules, and an end without an exception.
#[tokio::test]
async fn parts_of_values_are_followed_and_what_never_went_on_is_named() {
    let program = Fixture::read(repository().join("fixtures/recording_modules/main.mjs"));
    let client = Client::new("node").await;
    let waits = format!("still waiting: {} in turn: `await lock;", at(&program, "waits"));
    has(
        &client.record(&program, &[]).await,
        &["exited with code 13", &waits, "in <module>\noutput:\n140 56 8 4 [ 0, 3 ] 7500"],
    );
    let state = client.ask("state_at", json!({ "at": "end" })).await;
    has(
        &state,
        &[
            "level = 7",
            "limits = {most: 8, rates: {}}",
            "all = Module {level: 7, ",
            "each = {at: 2}",
            "found = {total: 8}",
            &waits,
        ],
    );
    let bumped = client.ask("state_at", json!({ "at": at(&program, "bumped") })).await;
    has(&bumped, &["  this = Counter {"]);
    let first = client.ask("find_first", json!({ "condition": "limits.most > 5" })).await;
    has(&first, &["first holds after ", &at(&program, "most"), ".most: 3 → 8", "level = 1"]);
    let elsewhere = json!({ "condition": "limits.most > 5", "file": "limits.mjs" });
    has(&client.ask("find_first", elsewhere).await, &["first holds after ", &at(&program, "most")]);

    let why = async |target: &str| client.ask("find_origin", json!({ "target": target })).await;
    has(&why("scaled").await, &[".most: 3 → 8 by ", "level: 1 → 7 by limits.mjs:4 in raise"]);
    let sum = why("sum").await;
    has(&sum, &[&at(&program, "added"), "each = 4, argument of", "total = 4 by ", &at(&program, "rows")]);
    assert!(!sum.contains("total = 9"), "{sum}");
    let area = why("area").await;
    has(
        &area,
        &[
            &at(&program, "scaled"),
            "deep = 4, argument of scale",
            "factor = 5, argument of scale",
            &at(&program, "factor"),
            "width = 7, argument of scale",
            "sum = 7 by ",
        ],
    );
    for target in ["pair[1]", "size.width"] {
        let literal = why(target).await;
        assert!(!literal.contains("returned") && literal.lines().count() == 2, "{literal}");
    }
    let latest = why("latest").await;
    has(&latest, &["count = 2, argument of later from ", "many = 2 by ", &at(&program, "many")]);
    assert!(!latest.contains("few = "), "{latest}");
    has(&why("depth").await, &[".depth = 4 by ", &at(&program, "size")]);
    has(&why("counter.count").await, &["count: 0 → -2 by ", ".step = 2 by "]);
    has(&why("counter.#sum").await, &[&at(&program, "set"), "to = 140, argument of", "area = 140 by "]);
    has(&why("less").await, &[&at(&program, "less"), "a = 140, argument of less", "area = 140 by "]);
    has(&why("steps").await, &["at: 6 → 8 by ", &at(&program, "steps"), "at = 4 by ", "depth = 4 by "]);
    has(&why("most").await, &[".most = 3 by ", &at(&program, "measured"), "[1] = 3 by "]);
    client.server.finish().await;
}

const MATCHES: &str = "\
const list = [1];
list.total = 5; // @total
const long = Array.from({ length: 300 }, (_, index) => index);
long.title = 'all'; // @title
const match = /(?<year>\\d+)-\\d+/.exec('on 12-34'); // @matched
const year = match.groups.year;
const word = /ab/gi;
const test = (text) => word.test(text); // @tested
test('ab');
const text = 'ab';
const replaced = text.replace(word, 'c'); // @replaced
console.log(list, year, replaced);
";

#[tokio::test]
async fn arrays_have_properties_and_regular_expressions_flags_and_an_index() {
    let (_folder, program) = written("main.js", MATCHES);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0"]);
    for (condition, marker) in [
        ("list.total === 5", "total"),
        ("long.title === 'all'", "title"),
        ("match.index === 3", "matched"),
        ("word.lastIndex === 2", "tested"),
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&format!("`{condition}` first holds after {} in ", at(&program, marker))]);
    }
    let state = client.ask("state_at", json!({ "at": "end" })).await;
    has(&state, &["list = [1, total: 5]", "groups: {year: '12'}", "word = /ab/gi"]);
    let writes = client.ask("find_writes", json!({ "target": "word.lastIndex" })).await;
    has(&writes, &["2 → 0 by ", &at(&program, "replaced"), "0 → 2 by ", &at(&program, "tested")]);
    client.server.finish().await;
}
