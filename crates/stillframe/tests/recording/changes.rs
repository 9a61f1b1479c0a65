//! No change of an object is missed, however a line of the program reaches it, and whatever keeps it.

use serde_json::json;
use test_support::Fixture;

use crate::recorder::{Client, at, has, has_marked, pythons, written};

/// The value of a variable, as an answer shows it.
fn shown<'a>(state: &'a str, name: &str) -> &'a str {
    let mut lines = state.lines().filter_map(|line| line.trim().strip_prefix(name)?.strip_prefix(" = "));
    lines.next().unwrap_or_else(|| panic!("no {name} in {state}"))
}

/// Records a program whose variables have the texts that others say, with all Pythons, with native code and without.
async fn has_become(fixture: &str, names: &[&str], also: impl AsyncFn(&Client, &Fixture)) {
    let program = Fixture::python(fixture);
    for (python, native) in pythons().iter().flat_map(|python| [(python, "1"), (python, "0")]) {
        let client = Client::with_env(&[("STILLFRAME_RECORD_NATIVE", native)], python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0", "done"]);
        let state = client.ask("state_at", json!({ "at": "end" })).await;
        for name in names {
            let text = shown(&state, &format!("{name}_is"));
            let inner = text.strip_prefix(['\'', '"']).and_then(|text| text.strip_suffix(['\'', '"']));
            let text = inner.unwrap_or(text).replace("\\'", "'");
            assert_eq!(shown(&state, name), text, "{python}, native {native}: {name}");
        }
        also(&client, &program).await;
        client.server.finish().await;
    }
}

#[tokio::test]
async fn objects_are_followed_through_computed_keys_and_calls() {
    let names = [
        "grid", "groups", "rows", "deep", "accounts", "bank", "lists", "calls", "seen", "settings", "latest",
        "mixed", "pushed", "heap", "errors", "shelf", "put",
    ];
    has_become("recording_changes", &names, async |client, program| {
        let state = client.ask("state_at", json!({ "at": "end" })).await;
        has(&state, &["kept = ValueError(\"invalid literal"]);
        assert!(!state.contains(" error ="), "the name of a handled exception is deleted: {state}");
        let writes = client.ask("find_writes", json!({ "target": "settings['host']" })).await;
        has(
            &writes,
            &["['host']: 'a', moved to the end by ", &at(program, "reordered"), "['host'] = 'a' by "],
        );
        let stored = client.ask("find_first", json!({ "condition": "grid[2][2] > 3" })).await;
        has(&stored, &[&at(program, "stored"), "[2]: 0 → 4"]);
    })
    .await;
}

#[tokio::test]
async fn items_that_a_dictionary_makes_when_it_is_read_are_recorded() {
    let names = ["by_first", "counts", "index", "by_word", "sales"];
    has_become("recording_filled", &names, async |client, program| {
        let writes = client.ask("find_writes", json!({ "target": "words.count" })).await;
        has(&writes, &["`words.count` is 2 at event ", ".count = 2 by ", &at(program, "kept")]);
        let writes = client.ask("find_writes", json!({ "target": "stack[0]" })).await;
        has(&writes, &["`stack[0]` is 1 at event ", "[0] = 1 by ", &at(program, "put")]);
        let taken = client.ask("find_writes", json!({ "target": "stack[1]" })).await;
        has(
            &taken,
            &["`stack[1]` is not there at event ", "[1]: 2 → (none) by ", "[1] = 2 by ", &at(program, "put")],
        );
    })
    .await;
}

#[tokio::test]
async fn attributes_of_classes_functions_and_modules_are_variables() {
    let program = Fixture::python("recording_changes");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        for (condition, marker, parts) in [
            ("len(owner.log) > 1", "logged", &["`len(owner.log) > 1` first holds after "][..]),
            ("owner.fee < 5", "cheaper", &["Account.fee: 5 → 2"]),
            ("double.calls > 3", "counted", &["wrapper.calls: 3 → 4", "double(calls=4, seen=[["]),
            ("state.counter > 0", "other", &["counter: 0 → 5", "state(counter=5, items=[], registry={})"]),
        ] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &[&at(&program, marker)]);
            has(&first, parts);
        }
        // What a function returned needs no variable; a property is what its function returns.
        for condition in
            ["Account.worth() < -96", "owner.worth < -96", "worth() == -97 and self.balance == 3"]
        {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            let returned = format!("`{condition}` first holds where -9");
            has(
                &first,
                &[&returned, " is returned: ", &at(&program, "worth"), "called from ", "self = Account("],
            );
        }
        let computed = client.fails("find_writes", json!({ "target": "owner.worth" })).await;
        // Before Python 3.11, functions have no qualified names.
        if !python.contains("3.8.") {
            has(
                &computed,
                &["it is computed by Account.worth (main.py:", "): ask about the values that it reads"],
            );
        }
        let never = client.ask("find_first", json!({ "condition": "worth() > 0" })).await;
        has(&never, &["`worth() > 0` never holds in this run where `worth` returns"]);
        let unknown = client.fails("find_first", json!({ "condition": "price() > 0" })).await;
        has(&unknown, &["no call of `price` was recorded; check its spelling"]);
        let writes = client.ask("find_writes", json!({ "target": "state.registry" })).await;
        has(&writes, &["`state.registry` is {'X': [1, 2]}", "['X'] = [1"]);
        let writes = client.ask("find_writes", json!({ "target": "double.seen" })).await;
        has(&writes, &["`double.seen` is [[0, 2], [1, 3]]"]);
        client.server.finish().await;
    }
}

const OWN_CLASSES: &str = "\
import sys

LEVEL = 0
LIMIT = 0
OPTIONS = {'debug': False}


class Plugin:
    registry = []
    count = 0

    def __init__(self, name):
        type(self).count += 1  # @counted
        self.__class__.registry.append(name)  # @registered
        self.name = name


class Special(Plugin):
    pass


def configure(**options):
    for key, value in options.items():
        globals()[key] = value  # @configured


def load(text):
    names = globals()
    names['LEVEL'] = len(text)  # @loaded
    sys.modules[__name__].LIMIT = 4  # @limited
    globals()['OPTIONS']['debug'] = True  # @debugged
    exec('ADDED = 5', globals())  # @added


def main():
    made = [Plugin('csv'), Special('json')]
    configure(LEVEL=7)
    load('abc')
    return made  # @end


main()
print(LEVEL, LIMIT, OPTIONS, ADDED, Plugin.count, Special.count, Plugin.registry)
";

#[tokio::test]
async fn what_is_changed_through_the_class_of_an_object_or_the_dictionary_of_a_module_is_recorded() {
    let (_folder, program) = written("main.py", OWN_CLASSES);
    for (python, native) in pythons().iter().flat_map(|python| [(python, "1"), (python, "0")]) {
        let client = Client::with_env(&[("STILLFRAME_RECORD_NATIVE", native)], python).await;
        has(&client.record(&program, &[]).await, &["3 4 {'debug': True} 5 1 2 ['csv', 'json']"]);
        for (target, parts) in [
            ("Plugin.count", &["Plugin.count: 0 → 1 by ", "@counted"][..]),
            ("Special.count", &["Special.count = 2 by ", "@counted"]),
            ("Plugin.registry", &["[1] = 'json' by ", "@registered", "[0] = 'csv' by ", "@registered"]),
            ("LEVEL", &["LEVEL: 7 → 3 by ", "@loaded", "LEVEL: 0 → 7 by ", "@configured"]),
            ("LIMIT", &["LIMIT: 0 → 4 by ", "@limited"]),
            ("OPTIONS['debug']", &["['debug']: False → True by ", "@debugged"]),
            ("ADDED", &["ADDED = 5 by ", "@added"]),
        ] {
            let writes = client.ask("find_writes", json!({ "target": target, "at": "end" })).await;
            has_marked(&writes, &program, parts);
        }
        client.server.finish().await;
    }
}

const ZEROS: &str = "\
def main():
    box = {'balance': 0.0}
    for each in (0.0, -0.0):
        y = each
    box['balance'] = -0.0
    return y, box  # @end


main()
";

#[tokio::test]
async fn zero_has_a_sign() {
    let (_folder, program) = written("main.py", ZEROS);
    for native in ["1", "0"] {
        let client = Client::with_env(&[("STILLFRAME_RECORD_NATIVE", native)], "python3").await;
        client.record(&program, &[]).await;
        let state = client.ask("state_at", json!({ "at": at(&program, "end") })).await;
        assert_eq!((shown(&state, "box"), shown(&state, "y")), ("{'balance': -0.0}", "-0.0"), "{state}");
        client.server.finish().await;
    }
}

#[tokio::test]
async fn static_fields_and_properties_of_functions_are_variables() {
    let program = Fixture::node("recording_changes");
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "done 0 -1 4 -2"]);
    for (condition, marker, parts) in [
        (
            "Pool.size < 0",
            "given",
            &["Pool.size: 0 → -1", "Pool {size: -1, #taken: 1, free: Map {'a' => 1}}"][..],
        ),
        ("Shared.size < 0", "given", &["Pool.size: 0 → -1"]),
        ("square.calls > 3", "called", &["wrapped.calls: 3 → 4", "square {calls: 4"]),
        ("wrapped.calls > 3", "called", &["it is about variables of memoized", "wrapped {calls: 4"]),
        ("tally.sum < -5", "summed", &["tally.sum: -5 → -6"]),
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&at(&program, marker)]);
        has(&first, parts);
    }
    let writes = client.ask("find_writes", json!({ "target": "Pool.#taken" })).await;
    has(&writes, &["`Pool.#taken` is 1", "Pool.#taken: 0 → 1", &at(&program, "taken"), "Pool.#taken = 0"]);
    let left = client.ask("find_first", json!({ "condition": "pool.left < 1" })).await;
    has(&left, &["`pool.left < 1` first holds where 0 is returned: ", &at(&program, "left"), "called from "]);
    let kind = client.ask("find_first", json!({ "condition": "typeof square === 'function'" })).await;
    has(&kind, &["first holds after "]);
    client.server.finish().await;
}

// What is written where a value is missing.
const DEFAULTS: &str = "\
let total = 0;
let made = 0;
let rounds = 0;
let caught = 0;
const log = { calls: [], last: { of: 0 } };
const own = (name) => log;
export function add(n, sum = (total += n)) {
  return sum;
}
class Cart {
  static count = 0;
  constructor(id = --Cart.count, seen = log.calls.push(id)) {
    this.id = id;
  }
  reset(id = (this.id = 7), last = (own('x').last.of -= 1)) {
    return [id, last];
  }
}
const arrow = (a = --made) => a;
async function later(a = --made) {
  return a;
}
function* each(a = (--made, log.calls.push(made))) {
  yield a;
}
add(5); // @positive
add(-9); // @negative
arrow(); // @arrow
later(1);
later(); // @later
each(); // @each
const cart = new Cart(); // @cart
cart.reset(); // @reset
for (const { a = --rounds } of [{ a: 1 }, {}]) {
  made += a; // @round
}
try {
  throw {};
} catch ({ message = --caught }) {
  made += message; // @caught
}
console.log(total, made, rounds, caught, log.calls.join(), log.last.of, cart.id);
";

#[tokio::test]
async fn values_of_missing_parameters_write_what_they_write() {
    let (_folder, program) = written("main.mjs", DEFAULTS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "-4 -4 -1 -1 -3,-1 -1 7"]);
    for (condition, marker) in [
        ("total > 0", "positive"),
        ("total < 0", "negative"),
        ("made < 0", "arrow"),
        ("made < -1", "later"),
        ("made < -2", "each"),
        ("len(log.calls) == 1", "each"),
        ("Cart.count < 0", "cart"),
        ("cart.id == 7", "reset"),
        ("log.last.of < 0", "reset"),
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&format!("`{condition}` first holds after "), &at(&program, marker)]);
    }
    for (target, part) in [("rounds", "rounds: 0 → -1"), ("caught", "caught: 0 → -1")] {
        has(&client.ask("find_writes", json!({ "target": target })).await, &[part]);
    }
    client.server.finish().await;
}

const TOOLS: &str = "\
exports.set = (object, path, value) => {
  const names = path.split('.');
  const last = names.pop();
  names.reduce((at, name) => at[name], object)[last] = value;
  return object;
};
";

// Arguments that code of the program computes, and what is changed below what is given.
const GIVEN: &str = "\
const { set } = require('tools');
const same = (value) => value;
class Line {
  constructor(raw) {
    this.price = 0;
    Object.assign(this, { price: same(raw) }); // @assigned
    this.done = true;
  }
}
const line = new Line(3);
const settings = { db: { ports: [1, 2] } };
set(settings, 'db.ports.1', same(99)); // @set
const made = {};
Object.defineProperty(made, 'q', { value: same(7), enumerable: true }); // @defined
Reflect.defineProperty(made, 'r', { value: same(8), enumerable: true }); // @reflected
console.log('done');
";

#[tokio::test]
async fn what_libraries_and_the_language_change_is_found_where_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("node_modules/tools");
    std::fs::create_dir_all(&library).unwrap();
    std::fs::write(library.join("index.js"), TOOLS).unwrap();
    let program = Fixture::write(folder.path(), "main.js", GIVEN);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "done"]);
    for (condition, marker, written) in [
        ("this.price === 3", "assigned", ".price: 0 → 3"),
        ("settings.db.ports[1] === 99", "set", "[1]: 2 → 99"),
        ("made.q === 7", "defined", ".q = 7"),
        ("made.r === 8", "reflected", ".r = 8"),
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&format!("`{condition}` first holds after {} in ", at(&program, marker)), written]);
    }
    client.server.finish().await;
}

#[tokio::test]
async fn a_typed_array_has_what_it_stored() {
    let text = "const bytes = new Uint8Array(2);\nbytes[0] = 300; // @stored\nconst halves = new Float32Array(1);\n\
                halves[0] = 0.5;\nconsole.log(bytes[0]); // @printed\n";
    let (_folder, program) = written("main.js", text);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "44"]);
    let state = client.ask("state_at", json!({ "at": at(&program, "printed") })).await;
    has(&state, &["bytes = Uint8Array [44, 0]", "halves = Float32Array [0.5]"]);
    let first = client.ask("find_first", json!({ "condition": "bytes[0] === 44" })).await;
    has(&first, &["first holds after ", &at(&program, "stored"), "[0]: 0 → 44"]);
    client.server.finish().await;
}

#[tokio::test]
async fn calls_in_optional_chains_are_followed() {
    let program = Fixture::node("recording_chains");
    let (client, said) = Client::recorded("node", &program).await;
    has(&said, &["exited with code 0"]);
    assert!(!said.contains("never"), "{said}");
    let state = client.ask("state_at", json!({ "at": "end" })).await;
    for (name, value) in [
        ("settings", "{deep: {list: [0, 2, 3, 9]}, more: true, count: 2}"),
        ("groups", "Map {'a' => [2]}"),
        ("sets", "{seen: Set {1, 2}}"),
        ("tree", "Tree {#leaves: ['x', 'y'], branches: [9, 3, 2, 0, 'x', 'y']}"),
        ("lengths", "[3, 4, 5, 6]"),
    ] {
        assert_eq!(shown(&state, name), value, "{name}");
    }
    for (condition, marker) in [
        ("settings.deep.list[0] == 1", "sorted"),
        ("groups.get('a').length > 0", "grouped"),
        ("this.#leaves.length > 1", "leaf"),
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&format!("`{condition}` first holds after {} in ", at(&program, marker))]);
    }
    client.server.finish().await;
}

#[tokio::test]
async fn attributes_of_containers_are_recorded() {
    let mut runs: Vec<(Fixture, String)> =
        pythons().into_iter().map(|python| (Fixture::python("recording_derived"), python)).collect();
    runs.push((Fixture::node("recording_derived"), "node".to_owned()));
    for (program, runtime) in runs {
        let client = Client::new(&runtime).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        let state = client.ask("state_at", json!({ "at": at(&program, "printed") })).await;
        let expected: &[&str] = if runtime == "node" {
            &[
                "{1 => 10, 2 => 20, #dropped: 2, limit: 2, hits: 1}",
                "Stack [most: 5]",
                "Flags {'a', name: 'odd'}",
            ]
        } else {
            &[
                "settings = Settings(data={'level': 3})",
                "sums = SimpleNamespace(total=10)",
                "ledger = Ledger(total=0, _log=[])",
                "waiting = deque([SimpleNamespace(total=7), SimpleNamespace(total=10)])",
                "Cache(1: 10, 2: 20, size=2, hits=1)",
                "Stack(most=5)",
                "Flags('a', name='odd')",
            ]
        };
        for text in expected {
            has(&state, &[text]);
        }
        let writes = client.ask("find_writes", json!({ "target": "cache.hits" })).await;
        has(&writes, &[".hits: 0 → 1 by ", &at(&program, "hit"), ".hits = 0 by "]);
        // A container's attributes are not among its items.
        for (condition, marker) in [
            ("stack.most > 4", "most"),
            ("flags.name == 'odd' and len(list(cache)) == 2 and max(stack) == 3", "named"),
        ] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &["first holds after ", &at(&program, marker)]);
        }
        // What is in a `UserDict` are its items.
        let of_python: &[_] = if runtime == "node" {
            &[]
        } else {
            &[
                ("len(options._sections) == 2", "sections"),
                ("settings['level'] == 3 and 'debug' not in settings", "popped"),
                ("len(settings) == 1 and list(settings) == ['level']", "popped"),
            ]
        };
        for (condition, marker) in of_python {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &["first holds after ", &at(&program, marker)]);
        }
        client.server.finish().await;
    }
}

#[tokio::test]
async fn what_is_stored_elsewhere_or_changed_by_others_is_found_where_it_was_written() {
    let program = Fixture::python("recording_stored");
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        let (end, drawn) = (at(&program, "end"), at(&program, "drawn"));
        for (target, parts) in [
            (
                "account.balance",
                &[
                    "is stored in `Account #",
                    "._balance`, which is -15 ",
                    ": 10 → -15 by ",
                    "called from ",
                    &drawn,
                ][..],
            ),
            (
                "account.limit",
                &["which is 10 ", "._limit: 0 → 10 by ", &at(&program, "limited"), &at(&program, "limit")],
            ),
            (
                "settings.level",
                &["which is 8 ", "['level'] = 8 by ", &at(&program, "kept"), &at(&program, "level")],
            ),
            ("order", &["['pen']: 1, moved to the end by ", &at(&program, "moved")]),
            ("queue", &["[1] = 4 by ", &at(&program, "put"), "[1]: 2 → (none) by ", &at(&program, "popped")]),
        ] {
            let writes = client.ask("find_writes", json!({ "target": target, "at": end })).await;
            has(&writes, parts);
        }
        let (worked, waited) = (at(&program, "worked"), at(&program, "waited"));
        let done = json!({ "target": "done", "at": waited });
        has(&client.ask("find_writes", done.clone()).await, &["done: 0 → 3 by ", &worked, "done = 0 by "]);
        has(&client.ask("find_origin", done).await, &["done: 0 → 3 by ", &worked]);
        for (target, at, parts) in [
            ("account.limit", &end, &["value = 10, argument of ", "fee returned this at "][..]),
            ("settings.level", &end, &["value = 8, argument of ", "fee returned this at "]),
            ("found", &end, &["ValueError #", ".source = 'x' by ", "text = 'x', argument of parsed from "]),
            ("last", &waited, &["rates yielded this at ", "each: 3 → 4 by "]),
            ("total", &end, &["fee returned ", "fee returned "]),
        ] {
            has(&client.ask("find_origin", json!({ "target": target, "at": at })).await, parts);
        }
        for (condition, marker) in [
            ("account.balance < 0", "set"),
            ("account.limit > 5", "limited"),
            ("error.source == 'x'", "detailed"),
        ] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &[&at(&program, marker)]);
        }
        let moved = json!({ "from": at(&program, "moved"), "to": end });
        has(&client.ask("compare_moments", moved).await, &["order: 'pen', 'book' → 'book', 'pen'"]);
        client.server.finish().await;
    }
}

const MANY: &str = "\
totals = {f'user{i}': i for i in range(130)}
queue = list(range(120))
totals['user125'] = -1
queue[110] = -1  # @stored
queue.append('late')  # @appended
print(totals['user125'])  # @end
";

const MANY_OF_NODE: &str = "\
const totals = new Map(Array.from({ length: 130 }, (_, i) => [`user${i}`, i]));
const queue = Array.from(Array(120).keys());
totals.set('user125', -1);
queue[110] = -1; // @stored
queue.push('late'); // @appended
console.log(totals.get('user125')); // @end
";

#[tokio::test]
async fn what_is_not_recorded_of_a_long_container_is_said() {
    let (folder, python) = written("main.py", MANY);
    let node = Fixture::write(folder.path(), "main.mjs", MANY_OF_NODE);
    for (program, runtime, item) in [
        (python, pythons().remove(0), "totals['user125']"),
        (node, "node".to_owned(), "totals.get('user125')"),
    ] {
        let client = Client::new(&runtime).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        let first = async |condition: &str| client.ask("find_first", json!({ "condition": condition })).await;
        let beyond = first(&format!("{item} < 0")).await;
        has(
            &beyond,
            &[
                "never holds",
                "Only the first items are recorded for `",
                "so it may have held",
                "a higher `items`",
            ],
        );
        let within = first(&item.replace("125", "5")).await;
        has(&within, &["first holds after "]);
        has(&first("queue[110] < 0").await, &["first holds after ", &at(&program, "stored")]);
        let asked = |target: &str| json!({ "target": target, "at": at(&program, "end") });
        let unknown = client.fails("find_writes", asked(item)).await;
        has(&unknown, &["only 100 of its 130 items are recorded"]);
        let length = [
            "only 101 of its 121 items are recorded",
            "a higher `items`",
            ".len(): 120 → 121 by ",
            &at(&program, "appended"),
        ];
        has(&client.ask("find_writes", asked("queue")).await, &length);
        let why = client.ask("find_origin", asked("queue")).await;
        has(&why, &["items are recorded", "contents were last changed at event", &at(&program, "appended")]);
        client.server.finish().await;
    }
}

/// What was there was written again, by those who had read it before the first of them wrote.
#[tokio::test]
async fn a_line_that_ran_again_without_a_change_is_named() {
    for (program, runtime) in [
        (Fixture::python("recording_lost"), pythons().remove(0)),
        (Fixture::node("recording_lost"), "node".to_owned()),
    ] {
        let client = Client::new(&runtime).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        let writes = client.ask("find_writes", json!({ "target": "counter.count" })).await;
        has(
            &writes,
            &[".count: 0 → 1 by ", &at(&program, "written"), "this line ran 2 more times, first at event "],
        );
        client.server.finish().await;
    }
}
