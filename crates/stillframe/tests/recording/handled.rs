//! What questions are about when no moment is given and the program ended badly: not an exception that it has handled.

use serde_json::json;
use test_support::Fixture;

use crate::recorder::{Client, has};

const CACHE_PY: &str = "import os

cache = {}


class Word:
    def __init__(self, text):
        self.text = text


def length(word):
    try:
        return cache[word.text]
    except KeyError:
        cache[word.text] = len(word.text)
    return cache[word.text]


def main():
    total = 0
    for text in ['a', 'bb']:
        total += length(Word(text))
    for _ in range(5):
        total += 10
        cache['bb'] += 1
    os._exit(3)


main()
";

const CART_JS: &str = "class Cart {
  count = 1;
  items = [];
}
function risky(n) {
  if (n === 1) throw new Error('skipped');
  return n;
}
let total = 0;
for (let n = 0; n < 3; n++) {
  try {
    total += risky(n);
  } catch {}
}
const cart = new Cart();
for (let n = 0; n < 5; n++) {
  total += 10;
  cart.count += 1;
  cart.items.push(n);
}
process.exit(3);
";

#[tokio::test]
async fn python_programs_are_asked_about_at_their_end() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.py", CACHE_PY);
    let client = Client::new("python3").await;
    has(&client.record(&program, &[]).await, &["exited with code 3"]);
    for (target, value) in
        [("total", "`total` is 53 at event "), ("cache['bb']", "`cache['bb']` is 7 at event ")]
    {
        has(&client.ask("find_writes", json!({ "target": target })).await, &[value]);
    }
    // A class runs once; what is called is its function.
    let hits = client.ask("count_hits", json!({ "target": "Word" })).await;
    has(&hits, &["Word is a class; functions of it that were called: Word.__init__", "was called 2 times"]);
    client.server.finish().await;
}

#[tokio::test]
async fn node_programs_are_asked_about_at_their_end() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = Fixture::write(folder.path(), "main.js", CART_JS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 3"]);
    let items = client.ask("find_writes", json!({ "target": "cart.items", "most": 2 })).await;
    has(&items, &["`cart.items` is [0, 1, 2, 3, 4] at event ", "[4] = 4", "[3] = 3"]);
    has(&client.ask("find_origin", json!({ "target": "total" })).await, &["total", "52"]);
    client.server.finish().await;
}
