//! What libraries change at a time of their own, because they were given a method of an object or the text of a program.

use serde_json::json;
use test_support::Fixture;

use crate::recorder::{Client, at, has, pythons, written};

const GIVEN: &str = "\
import sched
import time
from contextlib import ExitStack


class Log:
    def __init__(self):
        self.rows = []


def close(names):
    with ExitStack() as stack:  # @closed
        for name in ('a', 'b'):
            stack.callback(names.append, name)
    count = len(names)  # @counted
    return count


def later(log):
    clock = sched.scheduler(time.time, time.sleep)
    clock.enter(0, 1, log.rows.append, ('x',))
    clock.run()  # @ran
    return len(log.rows)


def clear(found, more):
    for change in (found.pop, found.clear, more.add):
        change(3) if change == more.add else change()
    size = len(found)  # @sized
    return size


def execute(table):
    exec(\"table['e'] = 2\")  # @executed
    return table


def overwrite(data):
    view = memoryview(data)
    view[1] = 121
    return data  # @viewed


close([])
later(Log())
clear([1, 2, 3], set())
execute({})
overwrite(bytearray(b'abc'))
";

#[tokio::test]
async fn what_a_library_changes_by_a_method_is_seen_at_the_next_line() {
    let (_folder, program) = written("main.py", GIVEN);
    for (python, native) in pythons().iter().flat_map(|python| [(python, "1"), (python, "0")]) {
        let client = Client::with_env(&[("STILLFRAME_RECORD_NATIVE", native)], python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        for (condition, marker) in
            [("log.rows == ['x']", "ran"), ("table['e'] == 2", "executed"), ("3 in more and found == []", "")]
        {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &["first holds after "]);
            assert!(marker.is_empty() || first.contains(&at(&program, marker)), "{first}");
        }
        let state = async |marker: &str| client.ask("state_at", json!({ "at": at(&program, marker) })).await;
        has(&state("sized").await, &["found = []", "more = {3}"]);
        let counted = client.ask("find_first", json!({ "condition": "count == len(names)" })).await;
        has(&counted, &["first holds after ", &at(&program, "counted")]);
        has(&state("viewed").await, &["data = bytearray(b'ayc')"]);
        client.server.finish().await;
    }
}

const LIBRARY: &str = "\
class Store {
  constructor() { this.hits = 0; }
  get(key) { this.hits += 1; return key; }
}
module.exports = {
  Store,
  find(query) { query.limit = 10; return []; },
  client: { get(url, options) { options.status.code = 200; return url; }, set(key, value, { row }) { row.id = 7; },
    put(options, item) { item.size = 1; } },
  mark(row) { row.marked = true; },
};
";

const CALLS: &str = "\
const library = require('library');
class Mine extends library.Store {}
function main() {
  const store = new Mine();
  store.get('a'); // @got
  const query = {};
  library.find(query); // @found
  const { client } = library;
  const status = {};
  client.get('/', { status }); // @sent
  const row = {};
  client?.set('key', 'value', { row }); // @chained
  const rows = [{ id: 1 }];
  rows.forEach(library.mark); // @marked
  const seen = new Set([1]);
  [2, 3].forEach(seen.add, seen); // @added
  const list = [];
  Array.from([4, 5], list.push, list); // @pushed
  const id = 1, name = 'a', kind = 'k', size = 3, item = {};
  client.put({ id, name, kind, size }, item); // @behind
  const other = {};
  const odd = [];
  odd.find = library.mark;
  odd.find(other); // @hidden
  return seen.size + list.length;
}
main();
";

/// The language has methods of the same names, which only read.
#[tokio::test]
async fn what_methods_named_as_those_of_the_language_change_is_found_where_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("node_modules/library");
    std::fs::create_dir_all(&library).unwrap();
    std::fs::write(library.join("index.js"), LIBRARY).unwrap();
    let program = Fixture::write(folder.path(), "main.js", CALLS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0"]);
    for (condition, marker) in [
        ("store.hits === 1", "got"),
        ("query.limit === 10", "found"),
        ("status.code === 200", "sent"),
        ("row.id === 7", "chained"),
        ("rows[0].marked === true", "marked"),
        ("seen.has(3)", "added"),
        ("list.includes(5)", "pushed"),
        ("item.size === 1", "behind"),
        ("other.marked === true", "hidden"),
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&format!("`{condition}` first holds after {} in main", at(&program, marker))]);
    }
    client.server.finish().await;
}

const UNREADABLE: &str = "\
let tool;
class Base {}
class Derived extends Base {
  constructor() {
    tool?.add(this, { tool });
    super();
  }
}
function main() {
  tool?.set('key', { later }, [notDeclared]);
  tool?.get(later);
  const later = new Derived();
  return later;
}
globalThis.shared = {};
const remove = new Function('options', 'delete globalThis.shared');
remove({ shared });
console.log(main());
";

/// Arguments that are not computed, and variables that the call removes.
#[tokio::test]
async fn variables_that_cannot_be_read_after_a_call_are_not_read() {
    let (_folder, program) = written("main.js", UNREADABLE);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "output:\nDerived {}\n"]);
    client.server.finish().await;
}

const ONCE_JS: &str = "\
const util = require('util');
require('v8').setFlagsFromString('--expose-gc');
const gc = require('vm').runInNewContext('gc');
let reads = 0;
const read = () => ({ reads: ++reads });
Object.defineProperty(globalThis, 'lazy', { get: read });
util.inspect(lazy);
util.inspect({ lazy });
lazy.name = 'changed';
var x = {};
with (Object.defineProperty({}, 'x', { get: read })) {
  util.inspect(x);
  util.inspect({ x });
  util?.inspect(x);
}
console.log(`reads: ${reads}`);
const helper = { track: (given) => new WeakRef(given) };
async function main() {
  let cart = { items: [] };
  const kept = helper?.track(cart);
  cart = null;
  for (let round = 0; round < 5; round += 1) {
    await new Promise(setImmediate);
    gc();
  }
  console.log(`alive: ${kept.deref() !== undefined}`);
}
main();
";

#[tokio::test]
async fn arguments_are_read_once_and_live_as_long_as_in_a_plain_run() {
    let (_folder, program) = written("main.js", ONCE_JS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "reads: 6\n", "alive: false"]);
    client.server.finish().await;
}
