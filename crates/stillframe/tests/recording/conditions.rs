//! Conditions that look into containers, and where values come from that took a detour.

use serde_json::json;
use test_support::{Fixture, repository};

use crate::recorder::{Client, at, has, pythons, written};

/// Asks when each condition holds first, and looks for what the answer must have in it, in its order.
async fn all_hold(client: &Client, program: &Fixture, cases: &[(&str, &str, &[&str])]) {
    for (condition, marker, parts) in cases {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &[&format!("`{condition}` first holds after {} in ", at(program, marker))]);
        has(&first, parts);
    }
}

#[tokio::test]
async fn conditions_look_into_python_containers() {
    let program = Fixture::python("recording_report");
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0", "2 3 ann 5 3 13"]);
        let cases: &[(&str, &str, &[&str])] = &[
            (
                "any(row.units < 0 for row in self.rows)",
                "added",
                &["[3] = Sale(month='mar', product='pear', units=-4"],
            ),
            ("sum(row.units for row in report.rows) > 8", "added", &["units=9"]),
            ("len(set(row.month for row in self.rows)) == 2", "added", &["month='feb'"]),
            ("units != [5, 3, 9, -4]", "sorted", &["it is about variables of main", "units = [-4, 3, 5, 9]"]),
            ("min(units) < 0 and units[0] == min(units)", "sorted", &["[0]: 5 → -4"]),
            ("max(values) in (9, 10) and values[-1] == 9", "sorted", &[]),
            ("self.by_product.get('pear') == [-4]", "grouped", &["['pear'] = [-4]"]),
            ("[-4] in self.by_product.values()", "grouped", &[]),
            ("sale.product.startswith('pe') and sale.product.endswith('r')", "next", &["product='pear'"]),
            ("any(key == 'plum' for key, units in report.by_product.items())", "grouped", &["[9]"]),
            ("units.count(9) == 1 and units[0] < 0", "sorted", &["[0]: 5 → -4"]),
            ("units[1:] == [3, 5, 9] and units[:-3] == [-4]", "sorted", &[]),
            ("all(a < b for a, b in zip(units, units[1:])) and units[3] == 9", "sorted", &[]),
            ("any(at == 3 and each == 9 for at, each in enumerate(units))", "sorted", &[]),
            ("all(units[at] > units[at - 1] for at in range(1, len(units)))", "sorted", &[]),
            (
                "code[1:] == 'Late' and code[-1] == 'e' and code.days == 3",
                "coded",
                &["code = Code(' Late', days=3)"],
            ),
            ("code.strip().lower() == 'late' and best == float('inf')", "coded", &["best = inf"]),
            ("by_code[' Late'] > 1", "by_code", &["by_code = {' Late': inf}"]),
        ];
        all_hold(&client, &program, cases).await;
        // An item of a named tuple, by its name and by its place.
        for condition in ["sale.units < 0", "sale[2] < 0", "sale[-2] < 0"] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &["sale: Sale(month='feb', product='plum', units=9", "→ Sale(month='mar'"]);
        }
        let queue =
            client.ask("find_first", json!({ "condition": "len(last) == 2 and last[0] == -2" })).await;
        has(&queue, &[&at(&program, "queued"), "last = deque([-2, -4])"]);
        let paid = client.ask("find_first", json!({ "condition": "paid * 2 > 10 and paid < 6" })).await;
        has(&paid, &[&at(&program, "paid"), "Decimal('5.50')"]);
        let due = client
            .ask("find_first", json!({ "condition": "due.month == 5 and due > date(2026, 4, 30)" }))
            .await;
        has(&due, &[&at(&program, "due"), "due = datetime.date(2026, 5, 2)"]);
        let seats =
            client.ask("find_first", json!({ "condition": "seats[1, 2] != seats.get((1, 0))" })).await;
        has(&seats, &[&at(&program, "seated"), "[(1, 2)]: None → 'ann'"]);
        let lock = client.ask("find_first", json!({ "condition": "lock > 3" })).await;
        has(&lock, &["never holds", "Only the text is recorded"]);
        let login = client.ask("find_first", json!({ "condition": "login.user == 'ann'" })).await;
        has(&login, &["login = Login(user='ann', password='[redacted]')"]);
        let never =
            client.ask("find_first", json!({ "condition": "any(row.units > 9 for row in self.rows)" })).await;
        has(&never, &["never holds in this run"]);
        let unknown = client.fails("find_first", json!({ "condition": "self.rows.index(1) > 1" })).await;
        has(&unknown, &["`self.rows.index` cannot be called with arguments here", "`any()`"]);
        client.server.finish().await;
    }
}

/// A long branch leaves room for short ones.
#[tokio::test]
async fn the_nearest_causes_of_a_value_have_room() {
    let text = "\
def counted(number_of_things_to_be_counted, description):
    if number_of_things_to_be_counted == 0:
        return len(description)
    inner = counted(number_of_things_to_be_counted - 1, description)  # the same description for each of them
    return inner


value = 10 // 4  # @floored
value *= counted(19, 'one of many')  # @multiplied
";
    let (_folder, program) = written("main.py", text);
    let (client, _) = Client::recorded("python3", &program).await;
    let origin = client.ask("find_origin", json!({ "target": "value" })).await;
    has(
        &origin,
        &[&at(&program, "multiplied"), "value = 2 by ", &at(&program, "floored"), "counted returned "],
    );
    assert_eq!(
        origin.matches("the same description").count(),
        1,
        "the source of a line is shown once: {origin}"
    );
    let all = client.ask("find_origin", json!({ "target": "value", "limit": 45 })).await;
    has(&all, &["value = 2 by ", "ask for less at once"]);
    client.server.finish().await;
}

#[tokio::test]
async fn the_origin_of_a_python_value_is_followed_through_finally_and_closures() {
    let program = Fixture::python("recording_report");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let now = at(&program, "printed");
        let total = client.ask("find_origin", json!({ "target": "total", "at": now })).await;
        has(
            &total,
            // One of another month is in the list that all reports share.
            &[
                "total_of returned this at ",
                &at(&program, "reduced"),
                "row = Sale(month='mar'",
                "rows = [], default of ",
                &at(&program, "shared"),
                "list #",
                &at(&program, "added"),
            ],
        );
        let difference = client.ask("find_origin", json!({ "target": "difference", "at": now })).await;
        has(&difference, &["calculate returned this at ", &at(&program, "subtracted"), "second = -1"]);
        // The end of the program is no moment at which its functions have variables.
        let moved = client.ask("find_origin", json!({ "target": "units[0]", "at": "end" })).await;
        has(
            &moved,
            &[
                "`units[0]` is -4 at event ",
                "`units[0]` does not exist at `end`; showing the last moment at which it existed",
                &at(&program, "sorted"),
                "[3] = -4 by ",
            ],
        );
        let worst = client.ask("find_origin", json!({ "target": "worst", "at": now })).await;
        has(
            &worst,
            &["each = -8 by ", "negative yielded this at ", &at(&program, "yielded"), "units = -4 by "],
        );
        let by_month = client.ask("find_origin", json!({ "target": "by_month['feb']", "at": now })).await;
        has(&by_month, &["['feb'] = 9 by ", "tuple #", "[1] = 9 by ", &at(&program, "pair")]);
        let grouped = client.ask("find_writes", json!({ "target": "report.by_product['pear']" })).await;
        has(&grouped, &["is [-4] at event ", &at(&program, "grouped")]);
        let hits = client.ask("count_hits", json!({ "target": "main.py:median" })).await;
        has(&hits, &["median was called once"]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn conditions_look_into_javascript_containers() {
    let program = Fixture::read(repository().join("fixtures/recording_pool/main.mjs"));
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "220 50 50"]);
    let cases: &[(&str, &str, &[&str])] = &[
        ("cache.get('item 3').id == 3", "kept", &["['item 3'] = {id: 3"]),
        ("[...cache.values()].some((item) => item.id > 3)", "kept", &["id: 4"]),
        ("Object.values(item).includes(20)", "fetched", &["item = {id: 2"]),
        ("items.filter(({ id }) => id === 1).length > 0 && items.length < 3", "loaded", &["{id: 4"]),
        ("items.every((item) => item.tags.length < 2) && items[0].tags.includes('first')", "tagged", &[]),
        ("key.slice(0, -2) === 'item' && key.at(-1) === '3'", "keyed", &["key = 'item 3'"]),
        ("items?.slice(1)[0]?.id === 2 && !Number.isNaN(items[1].price)", "loaded", &["{id: 2"]),
        ("Math.max(...totals) < 61 && totals[0] < totals[1]", "reversed", &["[0]: 60 → 50"]),
    ];
    all_hold(&client, &program, cases).await;
    let stored = client.ask("find_writes", json!({ "target": "player.score" })).await;
    has(
        &stored,
        &["is stored in `Player #", ".#score`, which is 50 ", ".#score: 60 → 50 by ", "in Player.score: "],
    );
    client.server.finish().await;
}

#[tokio::test]
async fn the_origin_of_an_awaited_value_is_the_call_that_returned_it() {
    let program = Fixture::read(repository().join("fixtures/recording_pool/main.mjs"));
    let (client, _) = Client::recorded("node", &program).await;
    let cached = json!({ "target": "items[1]", "at": format!("{}#2", at(&program, "tagged")) });
    let origin = client.ask("find_origin", cached).await;
    has(
        &origin,
        &[
            "[1] = {id: 1",
            &at(&program, "loaded"),
            "load returned this at ",
            &at(&program, "cached"),
            "['item 1'] = {id: 1",
            &at(&program, "kept"),
            "key = 'item 1' by ",
            &at(&program, "keyed"),
        ],
    );
    let named = client.ask("find_origin", json!({ "target": "names[0]" })).await;
    has(&named, &["[0] = 'c' by ", &at(&program, "named"), " returned this at ", "key = 'c', argument of "]);
    let quarter = client.ask("find_origin", json!({ "target": "quarter" })).await;
    has(
        &quarter,
        &["quarter = 12.5 by ", &at(&program, "quartered"), "returned this at ", "total = 50, argument of "],
    );
    let summed = client.ask("find_origin", json!({ "target": "sum" })).await;
    let (summing, yielding) = (at(&program, "summed"), at(&program, "yielded"));
    has(&summed, &["sum: 100 → 220 by ", &summing, "twice: 100 → 120 by ", ".twice = 120 by ", &yielding]);
    assert!(!summed.contains("label = "), "{summed}");
    client.server.finish().await;
}

/// What JavaScript takes otherwise than Python: what is missing, what counts as true, remainders, and `==`.
#[tokio::test]
async fn conditions_are_those_of_javascript() {
    let text = "class Pen { constructor() { this.price = 1; } get cost() { return 2; } }\n\
                const pen = new Pen();\n\
                const user = { name: 'b' }; // @user\n\
                const list = []; // @list\n\
                list.push(1, 2); // @pushed\n\
                const rest = -7 % 3; // @rest\n\
                const text = '3'; // @text\n\
                const odd = Number('x'); // @odd\n\
                const pending = Promise.resolve(1); // @pending\n\
                const map = new Map([['a', 1]]); // @map\n\
                const long = Array.from({ length: 150 }, (_, index) => index); // @long\n";
    let (_folder, program) = written("main.js", text);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0"]);
    let cases: &[(&str, &str, &[&str])] = &[
        ("user.mail === undefined", "user", &["user = {name: 'b'}"]),
        ("!user.mail && user.mail == null", "user", &[]),
        ("list[0] === undefined && !!list", "list", &["list = []"]),
        ("list[1] == 2 && list[2] === undefined", "pushed", &[]),
        ("rest % 3 === -1 && rest / 0 === -Infinity", "rest", &["rest = -1"]),
        ("text == 3 && text * 1 === 3 && Number(text) === 3 && text + 1 === '31'", "text", &[]),
        ("!odd && Number.isNaN(odd)", "odd", &["odd = NaN"]),
        ("isNaN(odd) && !isNaN(text)", "odd", &[]),
        ("!map.get('b') && map.get('a') === 1", "map", &[]),
        ("long.some((item) => item > 20)", "long", &[]),
    ];
    all_hold(&client, &program, cases).await;
    for condition in [
        "!list",
        "text === 3",
        "odd === odd",
        "rest % 3 === 2",
        "pen.cost === undefined",
        "map.get('a') === undefined",
        "list[0] === undefined && list.length > 0",
    ] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &["never holds"]);
    }
    let first = client.ask("find_first", json!({ "condition": "Number.isNaN(pending)" })).await;
    assert!(!first.contains("may have held"), "{first}");
    // Only the first items are recorded.
    for condition in ["long.every((item) => item < 120)", "long.includes(149)"] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &["never holds", "it may have held"]);
    }
    client.server.finish().await;
}

#[tokio::test]
async fn keys_that_a_dictionary_does_not_have_are_known() {
    let text = "\
                stock = {'pen': 3}  # @stock\n\
                stock['cup'] = 0  # @cup\n\
                del stock['pen']  # @sold\n\
                print(stock)\n";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        let cases: &[(&str, &str, &[&str])] = &[
            ("stock.get('cup') is None", "stock", &["stock = {'pen': 3}"]),
            ("stock.get('cup', 5) == 0", "cup", &["['cup'] = 0"]),
            ("stock.get('pen') is None", "sold", &["before: {'pen': 3, 'cup': 0}"]),
            ("stock.get('pen', 7) > 5", "sold", &[]),
        ];
        all_hold(&client, &program, cases).await;
        for condition in ["stock['jar'] > 1", "stock.get('jar', 1) > 1", "stock['jar'] is None"] {
            let never = client.ask("find_first", json!({ "condition": condition })).await;
            has(&never, &["never holds"]);
            assert!(!never.contains("may have held"), "{never}");
        }
        client.server.finish().await;
    }
}

const BAGS: &str = "\
class Bag:
    def __init__(self):
        self.held = {}

    def __len__(self):
        return len(self.held)


class Account:
    def __init__(self):
        self.__balance = 0

    def pay(self, amount):
        self.__balance += amount  # @paid

    def __bool__(self):
        # An empty one is none.
        return self.__balance > 0


class Saving(Account):
    pass


class Grid:
    def __init__(self, size):
        self.rows = [[0] * size for _ in range(size)]

    def __getitem__(self, at):
        i, j = at
        return self.rows[i][j]

    @property
    def least(self):
        rows = self.rows
        return min(map(min, rows))

    def __bool__(self):
        for row in self.rows:
            if any(row):
                return True
        return False


def main():
    bag, account, grid = Bag(), Saving(), Grid(2)
    ready = True  # @ready
    bag.held['a'] = 1  # @held
    account.pay(5)
    grid.rows[0][1] = -5
    return bag, account, grid


main()
";

#[tokio::test]
async fn methods_of_an_object_say_whether_it_is_true() {
    let (_folder, program) = written("main.py", BAGS);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        let cases: &[(&str, &str, &[&str])] = &[
            ("ready and not bag", "ready", &[]),
            ("ready and not account", "ready", &[]),
            ("ready and bag", "held", &["['a'] = 1"]),
            ("len(bag) == 1", "held", &[]),
            ("ready and account", "paid", &["balance: 0 → 5"]),
        ];
        all_hold(&client, &program, cases).await;
        for (condition, method) in [
            ("ready and grid", "Grid.__bool__"),
            ("ready and not grid", "Grid.__bool__"),
            ("grid[0, 1] < 0", "Grid.__getitem__"),
            ("ready and grid.least < 0", "Grid.least"),
        ] {
            let never = client.ask("find_first", json!({ "condition": condition })).await;
            let note = format!("What `{method}` would have returned is not known, so it may have held.");
            has(&never, &["never holds", &note]);
        }
        let known = client.ask("find_first", json!({ "condition": "len(bag) > 1" })).await;
        has(&known, &["never holds"]);
        assert!(!known.contains("may have held"), "{known}");
        client.server.finish().await;
    }
}

/// Keys that are hashed without code of the program, and others; a variable that is gone after its last line.
#[tokio::test]
async fn containers_are_followed_below_keys_of_every_kind_and_in_exceptions() {
    let text = "\
import enum


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Cell:
    pass


cell, red, nothing, half = Cell(), Color.RED, None, 1.5
found = {(0, 1): [], red: [], nothing: [], half: [], cell: [], Cell: []}


def fill(keys):
    for number, key in enumerate(keys):
        found[key].append(number)  # @fill


fill([(0, 1), red, nothing, half, cell, Cell])
stock = {}
stock[(Color.BLUE, 'k')] = 1  # @member
stock[(Cell, (Color.RED, 2))] = 2  # @class
stock[Cell] = 3  # @alone


class Refused(Exception):
    def __init__(self):
        self.reasons = {'all': []}


refused = Refused()
try:
    raise refused
except Refused as error:
    error.reasons['all'].append(4)  # @handler
";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let client = Client::new(&python).await;
        has(&client.record(&program, &[]).await, &["exited with code 0"]);
        for number in 0..6 {
            let condition = format!("any({number} in items for items in found.values())");
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &["first holds after ", &at(&program, "fill"), &format!("[0] = {number}")]);
        }
        for (condition, marker) in [
            ("stock[(Color.BLUE, 'k')] == 1", "member"),
            ("(Cell, (Color.RED, 2)) in stock", "class"),
            ("stock[Cell] == 3", "alone"),
            ("refused.reasons['all'] == [4]", "handler"),
        ] {
            let first = client.ask("find_first", json!({ "condition": condition })).await;
            has(&first, &["first holds after ", &at(&program, marker)]);
        }
        client.server.finish().await;
    }
}

/// What is true in one language is not always true in the other.
#[tokio::test]
async fn conditions_mean_what_they_mean_in_their_language() {
    let folder = tempfile::tempdir().unwrap();
    let client = Client::new("node").await;
    let text = "\
function f(v) {
  v = 5; // @five
  v = 0; // @zero
  v = 'a'; // @text
  v = [1, 2, 3]; // @list
  v = new Map([[2, 'b'], [3, 'c'], [4, 'd']]); // @map
  return v;
}
f(true);
";
    let program = Fixture::write(folder.path(), "main.mjs", text);
    client.record(&program, &[]).await;
    let cases: &[(&str, &str, &[&str])] = &[
        ("!v === true", "zero", &[]),
        ("!v == true && v !== 'x'", "zero", &[]),
        ("v.size === 3", "map", &[]),
        ("v.size > 0", "map", &[]),
        ("v.has(2)", "map", &[]),
        ("v.includes(2)", "list", &[]),
        ("v.length === 1", "text", &[]),
        ("v.size === undefined && v !== true", "five", &[]),
        ("v.length === undefined && v.size === 3", "map", &[]),
    ];
    all_hold(&client, &program, cases).await;
    client.server.finish().await;

    let client = Client::new("python3").await;
    let text = "\
def f():
    flag = 1  # @one
    flag = 0
    flag = True  # @true
    flag = False  # @false
    v = [1, 2, 3]  # @list
    v = {'a': 1, 'b': 2, 'c': 3}  # @dict
    return v


f()
";
    let program = Fixture::write(folder.path(), "main.py", text);
    client.record(&program, &[]).await;
    let cases: &[(&str, &str, &[&str])] = &[
        ("flag is True", "true", &[]),
        ("flag is False", "false", &[]),
        ("flag == True", "one", &[]),
        ("flag is not True", "one", &[]),
        ("not flag is True", "one", &[]),
        ("2 in v.values()", "dict", &[]),
        ("len(v.keys()) == 3", "dict", &[]),
        ("len(v) == 3", "list", &[]),
    ];
    all_hold(&client, &program, cases).await;
    client.server.finish().await;
}

/// How often it held is said with what is not known about it, and of the objects if it held for more of them.
#[tokio::test]
async fn a_condition_that_holds_too_rarely_is_looked_for_in_all_objects() {
    let text = "\
class Account:
    def __init__(self, balance):
        self.balance = balance


accounts = [Account(n) for n in range(3)]
account = accounts[0]
account.balance = -1
for other in accounts[1:]:
    other.balance -= 5  # @others
values = [700]
values = list(range(300))
print(values)
";
    let (_folder, program) = written("main.py", text);
    let (client, _) = Client::recorded("python3", &program).await;
    let negative = async |occurrence: usize| {
        let arguments = json!({ "condition": "account.balance < 0", "occurrence": occurrence });
        client.ask("find_first", arguments).await
    };
    let third = format!("occurrence 3 is after {}", at(&program, "others"));
    has(&negative(3).await, &["begins to hold only once for a variable `account`", &third]);
    has(&negative(4).await, &["begins to hold only 3 times in this run, not 4 times."]);
    let twice = json!({ "condition": "700 in values", "occurrence": 2 });
    let said = client.ask("find_first", twice).await;
    has(&said, &["begins to hold only once in this run, not 2 times. Only the first items are recorded for"]);
    client.server.finish().await;
}

#[tokio::test]
async fn neighbours_and_ranges_are_those_of_python() {
    let text = "\
big = list(range(150))
odd = [7, 8, 9]
number = 19000
done = True  # @done
";
    let (_folder, program) = written("main.py", text);
    let (client, _) = Client::recorded("python3", &program).await;
    let cases: &[(&str, &str, &[&str])] = &[
        ("done and any(a == 5 and b == 6 for a, b in zip(big, big[1:]))", "done", &[]),
        ("done and any(a == 6 for a in big[5:])", "done", &[]),
        ("done and all(a < 50 for a in big[:50])", "done", &[]),
        ("done and any(odd[i] == 9 for i in range(0, len(odd), 2))", "done", &[]),
        ("done and all(odd[i] > 6 for i in range(len(odd) - 1, -1, -1))", "done", &[]),
        ("done and any(a[0] == 8 for a in zip(odd[1:]))", "done", &[]),
        ("done and number in range(20000) and number not in range(1, 20000, 2)", "done", &[]),
    ];
    all_hold(&client, &program, cases).await;
    for condition in ["any(a > b for a, b in zip(big, big[1:]))", "all(a < 500 for a in big[1:])"] {
        let said = client.ask("find_first", json!({ "condition": format!("done and {condition}") })).await;
        has(&said, &["never holds", "Only the first items are recorded for `list`"]);
    }
    for condition in ["any(i == 15000 for i in range(number))", "number in range(0, 9, 2, 1)"] {
        let said = client.fails("find_first", json!({ "condition": format!("done and {condition}") })).await;
        has(&said, &["`range`"]);
    }
    client.server.finish().await;
}
