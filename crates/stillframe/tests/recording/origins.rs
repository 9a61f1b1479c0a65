//! Where values came from, when something else looks as if it had given them.

use serde_json::json;
use test_support::Fixture;

use crate::recorder::{Client, at, has, pythons, written};

/// A variable of `main`, with texts that its origin has, and one that it has not.
const ORIGINS: [(&str, &[&str], &str); 19] = [
    ("literal", &["note returned this", "count = 1, argument of note from "], "find returned"),
    ("high", &["literal = 1 by "], "find returned"),
    ("retry", &["for retry in range(1, 3):"], "yielded"),
    (
        "taxed",
        &["amount = 100, argument of tax from ", "rate = 19, default of tax at main.py:"],
        "not recorded",
    ),
    (
        "shipped",
        &["zone = 7, argument or default of ship from ", "weight = 30, argument", "[0] = 30, argument of "],
        "outer variable",
    ),
    // What a wrapper hands on.
    (
        "heavier",
        &["weight = 3800, argument of ship from ", "[0] = 3800, argument of ", "mass = 3800 by "],
        "not recorded",
    ),
    (
        "heavier",
        &["zone = 3, argument", "['zone'] = 3, argument of ", "['zone'] = 3, argument of "],
        "not recorded",
    ),
    ("again", &["[0] = 30, argument of ", "least = 30 by "], "shipped"),
    // What is bound is not what the call gives.
    ("chosen", &["first = 3, argument of first_of from "], "least = 30"),
    ("left", &["second = 30, argument of second_of from ", "least = 30 by "], "not recorded"),
    ("both", &["by = 1, default of ", "by = 4, argument of "], "by = 4, default"),
    ("held", &["start = 2, outer variable of ", "start = 2, argument of counter "], "start = 2, default"),
    ("summed", &["pages yielded 3 at ", "pages yielded 2 at ", "pages yielded 1 at "], "returned"),
    ("answer", &["running yielded this at ", "total: 0 → 5 by ", ", sent by "], "not recorded"),
    ("handle", &["opened yielded this at ", "name = 'a', argument of opened from "], "returned"),
    (
        "child.name",
        &["Child #", ".name = 'A' by ", "name = 'A', argument of Child.__init__ from "],
        "default",
    ),
    ("child.size", &["size = 1, default of Base.__init__ at main.py:"], "not recorded"),
    // Not the item that was written last.
    ("popped", &["popped = 1 by ", "[0]: 3 → 1 by main.py:", "heapq.heappush(heap, number)"], " = 5 by"),
    // What was called beside it did not give it.
    ("width", &["width = 3 by main.py:", ": `width, label = 3, str(least)`"], "not recorded"),
];

#[tokio::test]
async fn the_origin_of_a_value_is_what_gave_it_and_not_what_ran_beside_it() {
    let program = Fixture::python("recording_origins");
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0", "done"]);
        for (target, parts, but) in ORIGINS {
            let asked = json!({ "target": target, "at": at(&program, "end") });
            let origin = client.ask("find_origin", asked).await;
            // Before Python 3.11, functions have no qualified names.
            if !python.contains("3.8.") {
                has(&origin, parts);
            }
            assert!(!origin.contains(but), "{python}: {but} in {origin}");
        }
        if python.contains("3.13.") {
            let captured =
                client.ask("find_origin", json!({ "target": "count", "at": "matched.py:10" })).await;
            has(&captured, &["count: 0 → 4 by ", "['count'] = 4 by "]);
            assert!(!captured.contains("count = 0 by"), "{captured}");
        }
        client.server.finish().await;
    }
}

const STOCK: &str = "\
from concurrent.futures import ThreadPoolExecutor


class Item:
    def __init__(self, name, price):
        self.name, self.price = name, price


def rated(name):
    missing = len(name) - 6
    return missing  # @rated


def halved(price):
    return price // 2


def main():
    levels = {'pen': 5, 'ink': 5}
    levels['pad'] = 5  # @pad
    levels['pen'] += 2  # @pen
    levels['ink'] = 3
    sku = 'pad'
    have = levels.get(sku, 0)
    pairs = list(levels.items())
    items = [Item('pen', 2), Item('ink', 7), Item('pad', 4), Item('pin', 1)]
    items[0].price -= 3  # @lowered
    total = sum(item.price for item in items)
    is_wrong = any(item.price < 0 for item in items)
    least = min(item.price for item in items)
    wrong = next(item for item in items if item.price < 0).price
    names = ['pencil', 'pen', 'eraser1', 'ink']
    with ThreadPoolExecutor(2) as executor:
        rates = dict(zip(names, executor.map(rated, names)))  # @rates
    others = names + [sku, least]
    tail = others[0]
    others += [least, sku]
    added = others[6]
    row = {'sku': sku, \"cost\": least * 2, 'of': {'name': names[1]}}  # @row
    cost = row['cost']
    for price in [8, 6, 4]: half = halved(price)  # @halved
    widths = [cost, have, 9]
    narrow = max(widths, key=lambda width: -width)
    return have  # @end


main()
";

const PRICES: &str = "\
const levels = new Map([['pen', 5], ['ink', 5]]);
levels.set('pad', 5); // @pad
levels.set('pen', 7); // @pen
levels.set('ink', 3); // @ink
const sku = 'pad';
const have = levels.get(sku) ?? 0;
const left = Object.fromEntries(levels);
const pairs = [...levels];
const items = [{ name: 'pen', price: 2 }, { name: 'ink', price: 7 }];
items[0].price = -9; // @lowered
items.push({ name: 'pad', price: 4 }); // @pushed
const found = items.find((item) => item.name === 'pen').price;
const byName = new Map(items.map((item) => [item.name, item])); // @named
const priced = byName.get('pen').price;
async function rated(name) { await null;
  const missing = name.length - 6;
  return missing; // @rated
}
function* dear(rows) {
  for (const { price } of rows) if (price > 3) yield price * 2; // @yielded
}
function* all(rows) {
  yield* dear(rows);
  return 1;
}
const doubled = [...dear(items)];
const dearest = Math.max(...all(items));
const names = ['pencil', 'pen', 'ink'];
const rates = await Promise.all(names.map((name) => rated(name)));
async function handedOn(name) { return rated(name); } // @handed
const handed = await handedOn('pencils');
const halved = (price) => price / 2;
const halves = [];
for (const price of [8, 6, 4]) halves.push(halved(price)); // @halved
const settled = await Promise.allSettled(names.map((name) => rated(name)));
const row = { 'unit-cost': have * 2, tags: [names[0], doubled[0]] }; // @row
const cost = row['unit-cost'];
const tag = row.tags[1];
console.log(have); // @end
";

/// A target, with lines that its origin names, texts that it has, and one that it has not.
type Entry = (&'static str, &'static [&'static str], &'static str);

const OF_STOCK: [Entry; 13] = [
    // Not all that is written out is what was stored.
    ("tail", &["names = ["], "there is nothing"),
    ("added", &["[6] = -1 by ", "least = -1 by "], "tail"),
    // Of a dictionary that is written out, an item has its own expression.
    ("cost", &["['cost'] = -2 by ", "@row", "least = -1 by "], "sku = "),
    ("have", &["['pad'] = 5 by ", "@pad"], "['pen']"),
    ("pairs[0]", &["['pen']: 5 → 7 by ", "@pen"], "['ink']: 5"),
    ("total", &["items = [", ".price: 2 → -1 by ", "@lowered", "there are more steps"], "[2] = Item("),
    ("is_wrong", &[".price: 2 → -1 by ", "@lowered"], "[2] = Item("),
    ("least", &[".price: 2 → -1 by ", "@lowered"], "[2] = Item("),
    ("wrong", &[".price: 2 → -1 by ", "@lowered"], "[2] = Item("),
    ("rates['eraser1']", &["returned this at ", "@rated", "name = 'eraser1', argument of "], "'pen'"),
    // The head and the body of a loop are one line.
    ("half", &["halved returned this at ", "price = 4, argument of halved ", "@halved"], "8 → 6"),
    // Of values that are compared, the one that was chosen.
    ("narrow", &["[0] = -2 by ", "['cost'] = -2 by "], "there is nothing"),
    // Two threads have given the same for different names.
    ("rates['pen']", &["@rates"], "returned this at "),
];

const OF_PRICES: [Entry; 13] = [
    // Of an object and a list that are written out, each part has its own expression.
    ("cost", &["['unit-cost'] = 10 by ", "@row", "have = 5 by "], "yielded"),
    ("tag", &["[1] = ", "@row", "yielded"], "have = "),
    ("have", &["['pad'] = 5 by ", "@pad"], "['pen']"),
    ("left.pen", &["['pen']: 5 → 7 by ", "@pen"], "@ink"),
    ("pairs[0]", &["['pen']: 5 → 7 by ", "@pen"], "@ink"),
    ("found", &[".price: 2 → -9 by ", "@lowered"], "@pushed"),
    ("priced", &[".price: 2 → -9 by ", "@lowered"], "'pad'"),
    ("rates[1]", &["rated returned this at ", "@rated", "name = 'pen', argument of rated "], "name = 'ink'"),
    ("handed", &["handedOn returned <Promise> at ", "@handed", "rated returned 1 at ", "@rated"], "'pencil'"),
    ("halves[2]", &["price = 4, argument of halved ", "price: 6 → 4 by ", "@halved"], "halved returned 3"),
    ("doubled", &["dear yielded 14 at ", "@yielded", "dear yielded 8 at ", "@yielded"], "dear returned"),
    ("dearest", &["dear yielded this at ", "@yielded"], "all "),
    (
        "settled[2].value",
        &["rated returned this at ", "@rated", "name = 'ink', argument of rated "],
        "'pen', arg",
    ),
];

#[tokio::test]
async fn the_item_that_was_taken_out_of_a_container_is_named_and_no_other() {
    let (folder, stock) = written("main.py", STOCK);
    let prices = Fixture::write(folder.path(), "main.mjs", PRICES);
    let of_stock = pythons().into_iter().map(|python| (python, &stock, &OF_STOCK[..]));
    for (runtime, program, entries) in of_stock.chain([("node".to_owned(), &prices, &OF_PRICES[..])]) {
        let client = Client::new(&runtime).await;
        has(&client.record(program, &[]).await, &["exited with code 0"]);
        let marked =
            |part: &&str| part.strip_prefix('@').map_or((*part).to_owned(), |name| at(program, name));
        for (target, parts, but) in entries {
            let asked = json!({ "target": target, "at": at(program, "end") });
            let origin = client.ask("find_origin", asked).await;
            let parts: Vec<String> = parts.iter().map(marked).collect();
            has(&origin, &parts.iter().map(String::as_str).collect::<Vec<_>>());
            let but = marked(but);
            assert!(!origin.contains(&but), "{runtime}: {but} in {origin}");
        }
        client.server.finish().await;
    }
}
