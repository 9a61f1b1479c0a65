//! What lies deeper in an object than the recorder follows is not known, and not empty.

use serde_json::json;

use crate::recorder::{Client, at, has, pythons, written};

/// That a condition cannot be answered, and what would help.
const UNKNOWN: [&str; 3] =
    ["never holds in this run", "are not recorded where they are too deep", "a higher `depth` to know"];

const PYTHON: &str = "\
import json
from types import SimpleNamespace as Box


def read(text):
    return json.loads(text)


def look(address):
    print(len(address))  # @looks


body = read('{\"data\": {\"user\": {\"address\": {\"city\": {\"name\": \"Bern\"}}}}}')
low = [[[[[7]]]]]
parts = [[[[Box(x=1)]]]]
full = [[[Box()]]]
address = body['data']['user']['address']  # @found
third = low[0][0]  # @third
box = parts[0][0][0]  # @box
empty = full[0][0]  # @empty
look(address)
print('read')  # @before
city = address['city']  # @city
print(city['name'])
";

#[tokio::test]
async fn contents_beyond_the_depth_are_unknown_in_python() {
    let (_folder, program) = written("main.py", PYTHON);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0", "Bern"]);
        let state = client.ask("state_at", json!({ "at": at(&program, "before") })).await;
        has(
            &state,
            &[
                "address = {'city': <dict #",
                "third = [[<list #",
                "box = [<SimpleNamespace #",
                "empty = [SimpleNamespace()]",
            ],
        );
        for condition in [
            "'name' not in address['city']",
            "not address['city']",
            "len(address['city']) == 0",
            "third[0][0] == []",
            "7 not in third[0][0]",
            "all(low < 0 for low in third[0][0])",
            "box[0].x == 1",
        ] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &UNKNOWN);
        }
        let written = client.ask("find_writes", json!({ "target": "third[0][0]" })).await;
        has(&written, &["`third[0][0]` is <list #", "too deep in other objects", "a higher `depth`"]);
        let asked = json!({ "target": "address['city']['name']", "at": at(&program, "looks") });
        has(&client.fails("find_writes", asked).await, &["the contents of `dict #", "are not recorded"]);
        // It is read where a variable holds it itself.
        let name = client.ask("find_first", json!({ "condition": "city['name'] == 'Bern'" })).await;
        has(&name, &["first holds after", &at(&program, "city")]);
        client.server.finish().await;
    }
}

const NODE: &str = "\
class City { constructor(name) { if (name) this.name = name; } }
const parsed = JSON.parse('{\"a\": {\"b\": {\"c\": {\"d\": {\"e\": 1}}}}}');
const full = { a: { b: { c: {} } } };
const nested = [[[[[7]]]]];
const b = parsed.a.b; // @found
const empty = full.a.b; // @empty
const third = nested[0][0]; // @third
const d = b.c.d; // @read
const city = new City(''); // @city
console.log(d.e, city.name);
";

#[tokio::test]
async fn contents_beyond_the_depth_are_unknown_in_javascript() {
    let (_folder, program) = written("main.mjs", NODE);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "1 undefined"]);
    let state = client.ask("state_at", json!({ "at": at(&program, "read") })).await;
    has(&state, &["b = {c: {d: <Object #", "empty = {c: {}}", "third = [[<Array #"]);
    has(&client.ask("state_at", json!({ "at": "end" })).await, &["b = {c: {d: {e: 1}}}", "city = City {}"]);
    for condition in [
        "Object.keys(b.c.d).length === 0",
        "!('e' in b.c.d)",
        "b.c.d.e === undefined",
        "third[0][0].length === 0",
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &UNKNOWN);
    }
    for (condition, marker) in [
        ("Object.keys(empty.c).length === 0", "empty"),
        ("empty.c.e === undefined", "empty"),
        ("d.e === 1", "read"),
        ("city.name === undefined", "city"),
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &["first holds after", &at(&program, marker)]);
        assert!(!first.contains("len()"), "that an object is read is not a change: {first}");
    }
    client.server.finish().await;
}
