//! What is kept under another name than the one by which a program asks for it: items by objects, private attributes,
//! and what a property computes.

use serde_json::json;
use test_support::{Fixture, toolchains};

use crate::recorder::{Client, at, has, has_marked, pythons, written};

const JOBS: &str = r#"import collections
import datetime
import decimal
import enum
import threading


class State(enum.Enum):
    NEW = 1
    DONE = 2


class Job:
    def __init__(self, name):
        self.name = name
        self.state = State.NEW
        self.__tries = 3

    def run(self):
        self.state = State.DONE
        self.__tries -= 1  # @tried

    @property
    def left(self):
        return self.__tries * 10  # @left


class Jobs:
    def __init__(self, **jobs):
        self._jobs = jobs

    def __getitem__(self, name):
        return self._jobs[name]

    def __setitem__(self, name, job):
        self._jobs[name] = job  # @kept


def found(jobs, name):
    return jobs[name]


def failed(text):
    try:
        int(text)
    except ValueError as error:
        kept = error
        error.text = text  # @noted
    return kept


def main():
    first, second = Job('first'), Job('second')
    running = {first: 1, second: 2}
    waiting = {first, second}
    pairs = {(first, 1): 5, (second, 1): 6}
    counts = {State.NEW: 2, State.DONE: 0}
    one, two = threading.Event(), threading.Event()
    events = {one: 'one', two: 'two'}
    first.run()
    del running[first]  # @deleted
    waiting.discard(first)  # @discarded
    pairs[(first, 1)] = 7  # @paired
    counts[State.DONE] += 1  # @counted
    del events[one]  # @forgotten
    jobs = Jobs(first=first, second=None)
    jobs['second'] = second
    chained = collections.ChainMap({}, {'size': 1})
    chained['size'] = 2  # @chained
    many, few = second.left, first.left
    name = found(jobs, 'second').name
    error = failed('x')
    day, price = datetime.date(2026, 3, 1), decimal.Decimal('1.50')
    sums = {"it's": 1, ("it's", 'q"'): 1, 'a\nb': 1, 1e20: 1, 10**30: 1, day: 1, price: 1}
    big, quote = 10**30, "it's"
    sums[quote] = -1  # @quoted
    sums[quote, 'q"'] = -2  # @both
    sums[big] = -3  # @big
    sums[day] = -4  # @day
    sums[price] = -5  # @price
    sums[1e20] = -6  # @float
    del sums['a\nb']  # @line
    return many, few, name, error  # @end


main()
"#;

#[tokio::test]
async fn what_is_kept_by_objects_or_under_private_names_is_found() {
    let (_folder, program) = written("main.py", JOBS);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        let end = at(&program, "end");
        let state = client.ask("state_at", json!({ "at": end })).await;
        has(
            &state,
            &["running = {Job #", ": 2}", "waiting = {Job(name='second', ", "events = {Event #", ": 'two'}"],
        );
        assert_eq!(state.matches("'one'").count(), 0, "{state}");
        for (target, parts) in [
            ("running[first]", &["is not there", ": 1 → (none) by ", "@deleted", " = 1 by "][..]),
            ("events[one]", &["is not there", ": 'one' → (none) by ", "@forgotten", " = 'one' by "]),
            ("counts[State.DONE]", &["is 1 ", "[<State.DONE: 2>]: 0 → 1 by ", "@counted", " = 0 by "]),
            ("chained['size']", &["is 2 ", "['size'] = 2 by ", "@chained"]),
            ("error.text", &["is 'x' ", ".text = 'x' by ", "@noted"]),
            ("jobs['second']", &["is Job(name='second'", "['second']: None → Job(", "@kept"]),
            ("first.__tries", &["is 2 ", "._Job__tries: 3 → 2 by ", "@tried"]),
        ] {
            let writes = client.ask("find_writes", json!({ "target": target, "at": end })).await;
            has_marked(&writes, &program, parts);
        }
        for (condition, marker) in [
            ("first not in waiting", "discarded"),
            ("pairs[(first, 1)] == 7", "paired"),
            ("counts[State.DONE] == 1", "counted"),
            ("self.__tries == 2", "tried"),
            ("jobs['second'] is not None", "kept"),
            ("sums[quote] < 0", "quoted"),
            ("sums[(quote, 'q\"')] == -2", "both"),
            ("sums[big] == -3", "big"),
            ("sums[day] == -4", "day"),
            ("sums[price] == -5", "price"),
            ("sums[1e20] == -6", "float"),
            ("big in sums and 'a\\nb' not in sums", "line"),
        ] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &[&format!("`{condition}` first holds after {} in ", at(&program, marker))]);
        }
        for condition in ["quote in counts and quote not in sums", "day not in sums", "big not in sums"] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &["never holds"]);
        }
        // The property of the other one was read before.
        let left = client.ask("find_first", json!({ "condition": "first.left > 0" })).await;
        has(&left, &["first holds where 20 is returned: ", &at(&program, "left"), "name='first'"]);
        for (target, parts) in [
            (
                "first.left",
                &["is computed by Job.left, which last returned 20, at", "._Job__tries: 3 → 2 by ", "@tried"]
                    [..],
            ),
            ("second.left", &["is computed by Job.left, which last returned 30, at", "._Job__tries = 3 by "]),
            ("name", &["name = 'second' by ", ".name = 'second' by ", "name = 'second', argument of "]),
        ] {
            // Before Python 3.11, functions have no qualified names.
            if !python.contains("3.8.") {
                let origin = client.ask("find_origin", json!({ "target": target, "at": end })).await;
                has_marked(&origin, &program, parts);
            }
        }
        client.server.finish().await;
    }
}

const CARTS: &str = "\
import assert from 'node:assert';

class Cart {
  private lines: number[] = [];
  constructor(private readonly off: number) {}

  get total(): number {
    return this.lines.reduce((sum, price) => sum + price, 0) - this.off; // @total
  }

  add(price: number): this {
    this.lines.push(price);
    return this;
  }
}

function check(cart: Cart, log: string[]) {
  try {
    assert.equal(cart.total, 30); // @thrown
  } finally {
    try {
      JSON.parse('{');
    } catch {
      log.push('checked');
    }
  }
}

const log: string[] = [];
const other = new Cart(0).add(1);
const small = other.total;
const cart = new Cart(3).add(20).add(5); // @made
const seen = new Map([[cart, 1], [other, 2]]);
seen.set(cart, 3); // @set
check(cart, log);
";

#[tokio::test]
async fn getters_and_parameter_properties_are_followed_and_a_finally_hides_no_exception() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    let program = Fixture::write(folder.path(), "main.ts", CARTS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 1"]);
    let state = client.ask("state_at", json!({ "at": "exception" })).await;
    has(&state, &[&at(&program, "thrown"), "log = []"]);
    let why = async |target: &str| client.ask("find_origin", json!({ "target": target })).await;
    let total = why("cart.total").await;
    has(&total, &["is computed by Cart.total, which last returned 22, at", &at(&program, "total")]);
    has(
        &total,
        &["off: undefined → 3 by ", "off = 3, argument of Cart.constructor from ", &at(&program, "made")],
    );
    let first = async |condition: &str| client.ask("find_first", json!({ "condition": condition })).await;
    has(&first("cart.total < 30").await, &["first holds where 22 is returned"]);
    has(&first("other.total < 30").await, &["first holds where 1 is returned"]);
    has(&first("seen.get(cart) === 3").await, &["first holds after ", &at(&program, "set")]);
    client.server.finish().await;
}

const ROWS: &str = r#"class Column:
    def __init__(self, kind=None):
        self.kind = kind

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, row, owner=None):
        return self if row is None else row.__dict__["_" + self.name]

    def __set__(self, row, value):
        row.__dict__["_" + self.name] = self.kind(value) if self.kind else value  # @set


class Account:
    balance = Column()

    def __init__(self, balance):
        self.balance = balance


class Transfer:
    source = Column()
    amount = Column(int)

    def __init__(self, source, amount):
        self.source, self.amount = source, amount

    def run(self):
        self.source.balance -= self.amount


def main():
    account = Account(50)
    transfer = Transfer(account, "40")
    transfer.run()
    transfer.amount = -20  # @negative
    transfer.amount = 90
    transfer.run()  # @overdrawn
    return account.balance  # @end


main()
"#;

#[tokio::test]
async fn an_attribute_of_a_descriptor_is_the_one_that_it_stores() {
    let (_folder, program) = written("main.py", ROWS);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        let first = async |condition: &str| client.ask("find_first", json!({ "condition": condition })).await;
        let (set, overdrawn) = (at(&program, "set"), at(&program, "overdrawn"));
        let negative = first("transfer.amount < 0").await;
        let stored = "`amount` is stored as `_amount`, not always as it was assigned\n";
        has(&negative, &[stored, "first holds after ", &set, &at(&program, "negative"), "_amount: 40 → -20"]);
        let chained = first("transfer.source.balance < 0").await;
        has(&chained, &["`source` is stored as `_source`", "first holds after ", &set, &overdrawn, "→ -80"]);
        let never = first("transfer.amount > 90").await;
        has(&never, &["`amount` is stored as `_amount`", "never holds"]);
        assert!(!never.contains("elsewhere"), "{never}");
        let asked = json!({ "target": "transfer.source.balance", "at": at(&program, "end") });
        let writes = client.ask("find_writes", asked).await;
        has_marked(
            &writes,
            &program,
            &["is stored in `Account #", "which is -80", ": 10 → -80 by ", "@overdrawn"],
        );
        client.server.finish().await;
    }
}

const COUNTED: &str = "\
class Counted:
    def __set_name__(self, owner, name):
        self.name, self.slot = name, '_c_' + name

    def __get__(self, box, owner=None):
        return box.__dict__[self.slot]

    def __set__(self, box, value):
        box.__dict__[self.slot] = value  # @set
        box.writes[self.name] = box.writes.get(self.name, 0) + 1


class Box:
    size = Counted()

    def __init__(self):
        self.writes = {}
        self.size = 1


def main():
    box = Box()
    box.size = 2
    box.size = 8
    box.size = 8
    return box  # @end


main()
";

#[tokio::test]
async fn where_an_attribute_is_stored_is_known_though_an_equal_value_was_assigned_last() {
    let (_folder, program) = written("main.py", COUNTED);
    let client = Client::new("python3").await;
    has(&client.record(&program, &[]).await, &["exited with code 0"]);
    let asked = json!({ "target": "box.size", "at": at(&program, "end") });
    let writes = client.ask("find_writes", asked).await;
    has_marked(&writes, &program, &["is stored in `Box #", "._c_size`, which is 8", ": 2 → 8 by ", "@set"]);
    let first = client.ask("find_first", json!({ "condition": "box.size > 5" })).await;
    has(&first, &["`size` is stored as `_c_size`\n", "_c_size: 2 → 8"]);
    client.server.finish().await;
}

#[tokio::test]
async fn a_getter_of_an_object_without_a_class_is_named() {
    let text = "const other = { total: 7 };\n\
                const cart = { prices: [2, 3], get total() { return this.prices[1] * 3; } };\n\
                console.log(cart.total + other.total);\n";
    let (_folder, program) = written("main.js", text);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["output:\n16\n"]);
    let writes = client.fails("find_writes", json!({ "target": "cart.total" })).await;
    has(
        &writes,
        &["no `cart.total`", "; it is computed by total (main.js:2): ask about the values that it reads"],
    );
    let origin = client.ask("find_origin", json!({ "target": "cart.total" })).await;
    has(&origin, &["`cart.total` is computed by total, which last returned 9"]);
    client.server.finish().await;
}

const ITEMS: &str = r#"from fractions import Fraction


def counted(function):
    def wrapper(*args):
        wrapper.calls += 1  # @called
        return function(*args)
    wrapper.calls = 0
    return wrapper


class Positive:
    def __set_name__(self, owner, name):
        self.slot = "_" + name

    def __get__(self, item, owner=None):
        return getattr(item, self.slot)

    def __set__(self, item, value):
        setattr(item, self.slot, max(value, 0))


class Item:
    price = Positive()

    def __init__(self, stock, price):
        self.version = 0
        self.stock = stock
        self.price = price

    @property
    def stock(self):
        return self._stock

    @stock.setter
    def stock(self, value):
        self._stock = max(value, 0)

    @counted
    def label(self):
        return "item"

    def __setattr__(self, name, value):
        if not name.startswith("_") and name != "version":
            self.__dict__["version"] += 1
        super().__setattr__(name, value)  # @stored


class Grid:
    def __init__(self):
        self.rows = [[1, 2], [3, 4]]

    def __getitem__(self, at):
        row, column = at
        return self.rows[row][column]


def main():
    item, grid, half = Item(3, 9), Grid(), [Fraction(1, 4)]
    item.stock -= 5
    item.price -= 20
    half[0] = Fraction(1, 2)  # @halved
    for _ in range(3):
        half[0] = half[0] + Fraction(0)  # @same
    item.label()
    return grid[0, 1], item.label()  # @end


main()
"#;

#[tokio::test]
async fn what_classes_store_count_and_compute_is_found() {
    let (_folder, program) = written("main.py", ITEMS);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        let end = at(&program, "end");
        for name in ["stock", "price"] {
            let asked = json!({ "target": format!("item.{name}"), "at": end });
            let writes = client.ask("find_writes", asked).await;
            let stored = format!("._{name}`, which is 0 at ");
            has_marked(&writes, &program, &["is stored in `Item #", &stored, " → 0 by ", "@stored"]);
            let first = client.ask("find_first", json!({ "condition": format!("item.{name} == 0") })).await;
            has_marked(&first, &program, &[&format!("`{name}` is stored as `_{name}`"), "@stored"]);
        }
        for condition in ["Item.label.calls == 1", "item.label.calls == 1"] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has_marked(&first, &program, &["first holds after ", "@called"]);
        }
        let calls = client.ask("find_writes", json!({ "target": "Item.label.calls" })).await;
        has_marked(&calls, &program, &["is 2 at event ", "calls: 1 → 2 by ", "@called", "calls: 0 → 1 by "]);
        let half = client.ask("find_writes", json!({ "target": "half[0]", "at": end })).await;
        has_marked(
            &half,
            &program,
            &["[0]: Fraction(1, 4) → Fraction(1, 2) by ", "@halved", "[0] = Fraction(1, 4) by "],
        );
        let same = at(&program, "same");
        assert!(!half.contains(&same) && !half.contains("Fraction #"), "{half}");
        // Before Python 3.11, functions have no qualified names.
        if !python.contains("3.8.") {
            let item = client.fails("find_writes", json!({ "target": "grid[0, 1]", "at": end })).await;
            has(&item, &["it is computed by Grid.__getitem__ (main.py:"]);
        }
        let missing = client.fails("find_writes", json!({ "target": "grid.calls" })).await;
        has(&missing, &["an attribute `calls` was last written at event "]);
        assert!(!missing.contains("later moment"), "{missing}");
        client.server.finish().await;
    }
}

#[tokio::test]
async fn a_getter_that_a_function_defines_is_said_to_be_possible() {
    let text = "const store = { prices: [2, 3] };\n\
                Object.defineProperty(store, 'total', { get: () => store.prices[0] * 2 });\n\
                console.log(store.total);\n";
    let (_folder, program) = written("main.js", text);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["output:\n4\n"]);
    let writes = client.fails("find_writes", json!({ "target": "store.total" })).await;
    has(&writes, &["no `store.total`", "a getter that `defineProperty` made may compute it"]);
    let missing = client.fails("find_writes", json!({ "target": "store.totl" })).await;
    assert!(!missing.contains("getter"), "{missing}");
    client.server.finish().await;
}
