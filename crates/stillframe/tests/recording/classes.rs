//! What classes of JavaScript have, what properties compute, and what is changed by other means than an assignment.

use serde_json::json;
use test_support::{Fixture, toolchains};

use crate::recorder::{Client, at, has, has_marked, pythons, written};

const FIELDS: &str = "\
class Part {
  tags = ['part']; // @tags

  constructor(name) {
    this.name = name;
  }
}

class Order extends Part {
  static all = new Map(); // @all
  total = 0; // @total
  #paid = 1; // @paid
  later = () => this.total;

  add(price) {
    this.total += price; // @added
  }
}

class Alias extends Part {
  shout = () => this.name.toUpperCase();
}

class Broken {
  text = JSON.parse('{'); // @broken
}

const order = new Order('a'); // @made
order.add(5);
const alias = new Alias('b');
let failed = '';
try {
  new Broken();
} catch (error) {
  failed = error.name;
}
const counts = { boxes: 0 };
class Box {
  place = (counts.boxes += 1); // @placed

  constructor(parts) {
    this.parts = parts;
  }
}
new Box(Array(90).fill(1));
console.log(order.later(), alias.shout(), failed, Order.all.size); // @printed
";

#[tokio::test]
async fn fields_are_written_where_their_values_are_computed() {
    let (_folder, program) = written("main.mjs", FIELDS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["5 B SyntaxError 0"]);
    let made = format!("{} in <module>", at(&program, "made"));
    for (target, name) in
        [("order.tags", "tags"), ("order.total", "total"), ("order.#paid", "paid"), ("Order.all", "all")]
    {
        let writes = client.ask("find_writes", json!({ "target": target })).await;
        let initializer =
            if target == "Order.all" { "static_initializer" } else { "instance_members_initializer" };
        has(&writes, &[&format!("by {} in <{initializer}>", at(&program, name))]);
        if target != "Order.all" {
            has(&writes, &[&made]);
        }
    }
    let writes = client.ask("find_writes", json!({ "target": "order.total" })).await;
    has(&writes, &[": 0 → 5 by ", &at(&program, "added"), "total = 0 by "]);
    // The recorder sends the constructor's arguments after what fields have written.
    let first = client.ask("find_first", json!({ "condition": "counts.boxes > 0" })).await;
    has(&first, &[&at(&program, "placed"), "boxes: 0 → 1"]);
    let state = client.ask("state_at", json!({ "at": at(&program, "printed") })).await;
    has(
        &state,
        &[
            "order = Order {tags: ['part'], name: 'a', total: 5, #paid: 1, later: <function later>}",
            "alias = Alias {tags: ['part'], name: 'b', shout: <function shout>}",
        ],
    );
    let state = client.ask("state_at", json!({ "at": "exception" })).await;
    has(&state, &["SyntaxError: ", &at(&program, "broken"), "this = Broken {}"]);
    client.server.finish().await;
}

// Objects that share memory, functions that are bound to objects, symbols, methods of the language in those of classes,
// and drafts in drafts.
const DETOURS: &str = "\
import { produce } from 'immer';

const bytes = new Uint8Array(4);
const view = new DataView(bytes.buffer);
view.setUint8(1, 7); // @viewed
new Uint16Array(bytes.buffer)[1] = 9;
const list = [];
const push = Array.prototype.push.bind(list);
push(1); // @pushed
Reflect.apply(Array.prototype.push, list, [2]); // @applied
const key = Symbol('key');
const named = { plain: 1 };
named[key] = 3; // @keyed
const state = { a: { b: { c: 0 } } };
const next = produce(state, (draft) => {
  draft.a.b.c = 1;
  draft.a.b = produce(draft.a.b, (inner) => {
    inner.c = 2; // @nested
  });
});
class Cache extends Map {
  set(key, value) {
    return super.set(key, value); // @stored
  }
}
const cache = new Cache();
cache.set('a', 1).set('b', 2);
console.log(bytes.join(), list.join(), next.a.b.c); // @printed
";

#[tokio::test]
async fn what_is_changed_by_a_detour_is_written_where_it_happens() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    let program = Fixture::write(folder.path(), "main.mjs", DETOURS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["0,7,9,0 1,2 2"]);
    for (target, change, name) in [
        ("bytes[1]", "[1]: 0 → 7 by ", "viewed"),
        ("list[0]", "[0] = 1 by ", "pushed"),
        ("list[1]", "[1] = 2 by ", "applied"),
        ("named[key]", "[Symbol(key)] = 3 by ", "keyed"),
        ("cache", "['b'] = 2 by ", "stored"),
        ("next.a.b.c", ".c: 1 → 2 by ", "nested"),
    ] {
        let writes = client.ask("find_writes", json!({ "target": target })).await;
        has(&writes, &[&format!("{change}{}", at(&program, name))]);
    }
    let state = client.ask("state_at", json!({ "at": at(&program, "printed") })).await;
    let shown = [
        "bytes = Uint8Array [0, 7, 9, 0]",
        "view = <DataView 00 07 09 00>",
        "named = {plain: 1, [Symbol(key)]: 3}",
    ];
    has(&state, &shown);
    has(&state, &["next = {a: {b: {c: 2}}}"]);
    client.server.finish().await;
}

#[tokio::test]
async fn an_exception_that_was_caught_is_not_why_a_module_waits_for_ever() {
    let text = "let value;\ntry {\n  value = JSON.parse('oops');\n} catch {\n  value = { late: true }; // @caught\n}\n\
                await new Promise(() => {}); // @waits\nconsole.log(value);\n";
    let (_folder, program) = written("main.mjs", text);
    let (client, said) = Client::recorded("node", &program).await;
    has(&said, &["exited with code 13", &format!("still waiting: {}", at(&program, "waits"))]);
    let writes = client.ask("find_writes", json!({ "target": "value" })).await;
    has(&writes, &["`value` is {late: true} at ", &at(&program, "caught")]);
    client.server.finish().await;
}

#[tokio::test]
async fn a_module_that_an_exception_left_does_not_wait() {
    let text = "async function main() {\n  await null;\n  throw new Error('boom');\n}\nawait main();\n";
    let (_folder, program) = written("main.mjs", text);
    let (client, said) = Client::recorded("node", &program).await;
    has(&said, &["exited with code 1", "Error: boom\n    at main (", "    at async file:///"]);
    let state = client.ask("state_at", json!({ "at": "end" })).await;
    assert!(!format!("{said}{state}").contains("still waiting"), "{said}{state}");
    client.server.finish().await;
}

const PRIVATE: &str = "\
class Pair {
  static #made;
  #left = 1;
  #right = 2;
  #limit = 0;
  #names;
  #last;
  #rest;
  get #both() { throw new Error('the recorder read it'); }
  set #both(value) { this.#left += value; }

  swap() {
    [this.#left, this.#right] = [this.#right, this.#left]; // @swapped
    this.#limit ||= 10; // @limit
    this.#limit &&= 11; // @more
    (this.#names ??= []).push('a'); // @names
    for (this.#last of [1, 3]); // @last
    ({ left: this.#left, ...this.#rest } = { left: 5, right: 6 }); // @rest
    [this.#both] = [1];
    Pair.#made ??= this.#limit; // @made
    let pair = this;
    [pair.#last, pair] = [4, null];
    return this; // @done
  }

  show() {
    return [this.#left, this.#right, this.#limit, this.#names, this.#last, this.#rest, Pair.#made];
  }
}
console.log(JSON.stringify(new Pair().swap().show()));
";

#[tokio::test]
async fn private_fields_are_written_by_all_kinds_of_assignments() {
    let (_folder, program) = written("main.js", PRIVATE);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "[6,1,11,[\"a\"],4,{\"right\":6},11]"]);
    for (field, change, line) in [
        ("this.#right", "#right: 2 → 1", "swapped"),
        ("this.#limit", "#limit: 10 → 11", "more"),
        ("this.#limit", "#limit: 0 → 10", "limit"),
        ("this.#names", "#names = ['a']", "names"),
        ("this.#last", "#last: 1 → 3", "last"),
        ("this.#left", "#left: 2 → 5", "rest"),
        ("this.#rest", "#rest = {right: 6}", "rest"),
        ("Pair.#made", "Pair.#made = 11", "made"),
    ] {
        let arguments = json!({ "target": field, "at": at(&program, "done") });
        let writes = client.ask("find_writes", arguments).await;
        has(&writes, &[&format!("{change} by {}", at(&program, line))]);
    }
    client.server.finish().await;
}

/// The functions that a compiler puts before a script are none of the program's.
#[tokio::test]
async fn functions_that_a_compiler_adds_are_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    let text = "enum Size { Small, Large }\n\nfunction logged(method: any, context: { name: string | symbol }) {\n  \
                return function (this: unknown, ...args: unknown[]) {\n    return method.apply(this, args);\n  };\n}\n\n\
                class Box {\n  static made = 0; // @made\n\n  @logged\n  grow(): Size { // @grow\n    Box.made += 1;\n    \
                return Size.Large; // @large\n  }\n}\n\nconsole.log(new Box().grow(), Box.made);\n";
    let program = Fixture::write(folder.path(), "main.ts", text);
    let client = Client::new("node").await;
    let arguments =
        json!({ "command": "node", "args": ["--import", "tsx", program.path()], "cwd": folder.path() });
    has(&client.ask("record_run", arguments).await, &["exited with code 0", "1 1\n"]);
    let hits = client.ask("count_hits", json!({ "target": program.path() })).await;
    has(&hits, &[&format!("{} in ", at(&program, "large"))]);
    assert!(!hits.contains("main.ts:0") && !hits.contains(" in __"), "{hits}");
    let writes = client.ask("find_writes", json!({ "target": "Box.made" })).await;
    has(&writes, &["`Box.made` is 1 "]);
    client.server.finish().await;
}

const READ_LATE: &str = "\
class Base:
    def __init__(self):
        self._balance = 10
        self._fees = [1]

    @property
    def balance(self):
        return self._balance

    @property
    def overdrawn(self):
        return self.balance < 0

    @property
    def fees(self):
        return sum(fee for fee in self._fees)

    @property
    def limit(self):
        limit = 5
        return limit


class Account(Base):
    def pay(self, amount):
        self._balance -= amount  # @paid
        self._fees.append(amount)  # @charged


class Notice:
    @property
    def balance(self):
        balance = 1
        return balance

    @property
    def urgent(self):
        return bool(self.balance)  # @urgent


def settle(account, bills):
    for bill in bills:
        account.pay(bill)
    return account.balance  # @end


Notice().urgent
settle(Account(), [3, 4, 5, 6])
";

const READ_LATE_IN_JAVASCRIPT: &str = "\
class Base {
  #balance = 10;
  fees = [1];

  get balance() { return this.#balance; }

  get overdrawn() {
    return this.balance < 0;
  }

  get limit() {
    const limit = 5;
    return limit;
  }

  take(amount) {
    this.#balance -= amount; // @paid
  }
}

class Account extends Base {
  pay(amount) {
    this.take(amount);
    this.fees.push(amount);
  }
}

class Notice {
  get balance() {
    const balance = 1;
    return balance;
  }

  get urgent() {
    return Boolean(this.balance); // @urgent
  }
}

function settle(account, bills) {
  for (const bill of bills) account.pay(bill);
  return account.balance; // @end
}

new Notice().urgent;
settle(new Account(), [3, 4, 5, 6]);
";

#[tokio::test]
async fn a_property_is_asked_about_by_what_it_would_return_where_it_is_not_read() {
    let (folder, python) = written("main.py", READ_LATE);
    let node = Fixture::write(folder.path(), "main.js", READ_LATE_IN_JAVASCRIPT);
    let programs = pythons().into_iter().map(|name| (name, &python)).chain([("node".to_owned(), &node)]);
    for (name, program) in programs {
        let client = Client::new(&name).await;
        has(&client.record(program, &[]).await, &["exited with code 0"]);
        let first = async |condition: &str| client.ask("find_first", json!({ "condition": condition })).await;
        let negative = first("account.balance < 0").await;
        let held = "alance`: it held before that was read, after ";
        has_marked(
            &negative,
            program,
            &["ase.balance` returns `", held, "@paid", "where -8 is returned", "@end"],
        );
        let overdrawn = first("account.overdrawn").await;
        has_marked(&overdrawn, program, &[".overdrawn` returns `", "`account.overdrawn` first holds after "]);
        has_marked(&overdrawn, program, &["alance: 3 → -2"]);
        has_marked(&first("bill > account.balance").await, program, &["first holds ", "bill = 4"]);
        has(&first("account.limit > 9").await, &["never holds"]);
        if program.path().ends_with("main.py") {
            let fees = first("account.fees > 7").await;
            has_marked(&fees, program, &["returns `sum(fee for fee in self._fees)`", "@charged"]);
        }
        // Several classes have a property of the name, or another one only.
        let own = if program.path().ends_with("main.py") { "self" } else { "this" };
        let anywhere = first(&format!("{own}.balance < 0")).await;
        has_marked(&anywhere, program, &["first holds where -8 is returned", "@end"]);
        for (function, expected) in [("urgent", "first holds where "), ("pay", "never holds in this run")] {
            let asked = json!({ "condition": format!("{own}.urgent"), "function": function });
            let answer = client.ask("find_first", asked).await;
            has(&answer, &[expected]);
            assert!(function == "urgent" || !answer.contains("Notice"), "{answer}");
        }
        client.server.finish().await;
    }
}

const NOT_AS_INHERITED: &str = "\
class Base:
    def __init__(self):
        self._items = [1]
        self._kind = 'base'

    @property
    def kind(self):
        return self._kind

    @property
    def total(self):
        return self._sum()

    def _sum(self):
        return sum(self._items)

    @property
    def is_open(self):
        return False


class Box(Base):
    kind = 'box'

    def __init__(self, kind):
        super().__init__()
        self.made_by = kind


def fill(box):
    for item in (2, 3):
        box._items.append(item)
    return box.total  # @end


fill(Box('any'))
";

const NOT_AS_INHERITED_IN_JAVASCRIPT: &str = "\
class Base {
  items = [1];
  base = 'base';

  get kind() { return this.base; }

  get total() { return this.sum(); }

  sum() { return this.items.reduce((sum, item) => sum + item); }

  get is_open() { return false; }
}

class Box extends Base {
  kind = 'box';

  constructor(kind) {
    super();
    this.madeBy = kind;
  }
}

function fill(box) {
  for (const item of [2, 3]) box.items.push(item);
  return box.total; // @end
}

fill(new Box('any'));
";

#[tokio::test]
async fn a_property_is_not_computed_where_a_class_hides_it_or_its_source_does_not_say_what_it_returns() {
    let (folder, python) = written("main.py", NOT_AS_INHERITED);
    let node = Fixture::write(folder.path(), "main.js", NOT_AS_INHERITED_IN_JAVASCRIPT);
    let programs = pythons().into_iter().map(|name| (name, &python)).chain([("node".to_owned(), &node)]);
    for (name, program) in programs {
        let client = Client::new(&name).await;
        has(&client.record(program, &[]).await, &["exited with code 0"]);
        let first = async |condition: &str| client.ask("find_first", json!({ "condition": condition })).await;
        for condition in ["box.kind == 'base'", "box.is_open", "box.total > 6"] {
            has(&first(condition).await, &[&format!("`{condition}` never holds in this run")]);
        }
        has(&first("box.total > 5").await, &["`box.total > 5` first holds where 6 is returned"]);
        client.server.finish().await;
    }
}
