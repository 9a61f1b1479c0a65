//! What objects of JavaScript inherit from others.

use serde_json::json;

use crate::recorder::{Client, at, has, written};

const SHARED: &str = "\
const { EventEmitter } = require('events');

class Shop {
  constructor(name) {
    this.name = name; // @named
  }
  add(item) {
    this.items.push(item); // @added
  }
}
Shop.prototype.items = []; // @shared
Shop.prototype.limit = 3; // @limited

class Till extends EventEmitter {
  total = 0;
}
Till.prototype.currency = 'EUR'; // @currency

const base = { rate: 5 };
const child = Object.create(base);
child.own = 1;
const late = { first: 1 };
Object.setPrototypeOf(late, base); // @late
const a = new Shop('a'), b = new Shop('b');
const till = new Till();
a.add('pen');
b.add('ink');
base.rate = 6; // @raised
const error = new TypeError('no');
console.log(b.items.length, child.rate, till.currency); // @printed
";

#[tokio::test]
async fn what_is_inherited_from_a_prototype_is_found_and_not_undefined() {
    let (_folder, program) = written("main.js", SHARED);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["2 6 EUR"]);
    for (condition, name) in [
        ("b.items.length > 1", "added"),
        ("this.limit == 3 && this.name == 'a'", "named"),
        ("child.rate === 6", "raised"),
        ("child['rate'] === 6", "raised"),
        ("late.rate === 6", "raised"),
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&format!("`{condition}` first holds after {} in ", at(&program, name))]);
    }
    for condition in ["till.currency == 'EUR' && till.nothing === undefined", "child.nothing === undefined"] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&format!("`{condition}` first holds ")]);
    }
    for condition in [
        "a.items === undefined",
        "b.limit === undefined",
        "child.rate === undefined",
        "child['rate'] === undefined",
        "till.currency === undefined",
        "error.name === undefined",
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &["never holds"]);
    }
    for target in ["b.items", "Shop.prototype.items"] {
        let writes = client.ask("find_writes", json!({ "target": target })).await;
        has(
            &writes,
            &[
                &format!("`{target}` is ['pen', 'ink'] at "),
                &format!("[1] = 'ink' by {}", at(&program, "added")),
                &format!("Shop.prototype #2.items = [] by {}", at(&program, "shared")),
            ],
        );
    }
    let origin = client.ask("find_origin", json!({ "target": "b.limit" })).await;
    has(&origin, &["`b.limit` is 3 ", &at(&program, "limited")]);
    let state = client.ask("state_at", json!({ "at": at(&program, "printed") })).await;
    has(&state, &["child = {own: 1}", "b = Shop {name: 'b'}"]);
    client.server.finish().await;
}
