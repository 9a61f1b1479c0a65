//! Questions about names that several calls have, and about what is recorded only as part of something else.

use serde_json::json;
use test_support::Fixture;

use crate::recorder::{Client, at, has, pythons, written};

#[tokio::test]
async fn without_a_moment_the_last_call_that_has_a_name_is_asked() {
    let program = Fixture::python("recording_moments");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let target = json!({ "target": "config['port']" });
        let writes = client.ask("find_writes", target.clone()).await;
        let last = "`config['port']` does not exist at `end`; showing the last moment at which it existed";
        has(
            &writes,
            &[
                "`config['port']` is 2 at event ",
                " in main)",
                last,
                &format!("['port']: 1 → 2 by {}", at(&program, "changed")),
                &format!("['port'] = 1 by {}", at(&program, "configured")),
            ],
        );
        let origin = client.ask("find_origin", target).await;
        has(&origin, &["`config['port']` is 2 at event ", &at(&program, "changed")]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn in_javascript_calls_of_closures_have_the_variables_around_them() {
    let program = Fixture::node("recording_moments");
    let (client, _) = Client::recorded("node", &program).await;
    let writes = client.ask("find_writes", json!({ "target": "cache.get('port')" })).await;
    has(&writes, &["is 2 at event ", " in main)", "1 → 2 by ", &at(&program, "changed")]);
    let seats = client.ask("find_writes", json!({ "target": "seats" })).await;
    has(
        &seats,
        &[
            "`seats` is Map {'Ann' => 0, 'Bob' => 1} at event ",
            "['Bob'] = 1 by ",
            &at(&program, "taken"),
            &at(&program, "opened"),
        ],
    );
    let second = format!("{}#2", at(&program, "taken"));
    let state = client.ask("state_at", json!({ "at": second })).await;
    has(&state, &["name = 'Bob'", "variables of opened:", "seats = Map {'Ann' => 0}", "last = 'Bob'"]);
    // The call of `opened` had ended before both moments.
    let moments = json!({ "from": at(&program, "taken"), "to": at(&program, "returned") });
    let changes = client.ask("compare_moments", moments).await;
    has(&changes, &["opened:", "last: 'Ann' → 'Bob'"]);
    client.server.finish().await;
}

#[tokio::test]
async fn variables_of_a_module_are_there_until_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let counter = "\
COUNT = 0
TABLE = {'a': 1}


def touch():
    global COUNT
    COUNT += 1
    TABLE['a'] = 2  # @touched
";
    let counter = Fixture::write(folder.path(), "counter.py", counter);
    let main = "\
import counter


def main():
    counter.touch()
    counter.COUNT = -1  # @decided
    raise ValueError('bad')


main()
";
    let program = Fixture::write(folder.path(), "main.py", main);
    let other = "it belongs to the module counter.py";
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let writes = client.ask("find_writes", json!({ "target": "COUNT" })).await;
        has(
            &writes,
            &["`COUNT` is -1 at event ", " in main)", other, "1 → -1 by ", &at(&program, "decided")],
        );
        let origin = client.ask("find_origin", json!({ "target": "TABLE['a']" })).await;
        has(&origin, &["`TABLE['a']` is 2 at event ", other, &at(&counter, "touched")]);
        client.server.finish().await;
    }
}

/// More calls than are tried, of methods of objects without the attribute, end after the last one that has it.
#[tokio::test]
async fn an_attribute_is_asked_about_where_the_last_object_that_has_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
class Queue:
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)  # @pushed
        return len(self._items)


class Meter:
    def read(self, n):
        return n


def main():
    queue, meter = Queue(), Meter()
    queue.push(1)
    queue.push(2)
    return sum(meter.read(n) for n in range(300))


main()
";
    let program = Fixture::write(folder.path(), "queue_and_meter.py", text);
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let writes = client.ask("find_writes", json!({ "target": "self._items" })).await;
        has(&writes, &["`self._items` is [1, 2] at event ", "push)", &at(&program, "pushed")]);
        // As if it were a variable.
        let bare = client.fails("find_writes", json!({ "target": "_items" })).await;
        has(&bare, &["no `_items` at `end`", "an attribute `_items` was last written at event "]);
        let bare = client.fails("find_first", json!({ "condition": "len(_items) > 1" })).await;
        has(
            &bare,
            &["no variable `_items` was written in the run, only an attribute; ask about `self._items`"],
        );
        client.server.finish().await;
    }
}

#[tokio::test]
async fn variables_of_two_calls_of_a_function_are_compared() {
    let program = Fixture::python("recording_moments");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let line = at(&program, "halved");
        let moments = json!({ "from": format!("{line}#1"), "to": format!("{line}#2") });
        let changes = client.ask("compare_moments", moments).await;
        has(&changes, &["step (another call):\n  n: 4 → 6\n  half: 2 → 3\n"]);
        assert!(!changes.contains("half added"), "{changes}");
        client.server.finish().await;
    }
}

#[tokio::test]
async fn lines_and_variables_of_comprehensions_are_part_of_their_statement() {
    let program = Fixture::python("recording_moments");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let (doubled, statement) = (at(&program, "doubled"), at(&program, "best"));
        let part = format!(
            "{doubled} is part of a comprehension, whose lines are not recorded; ask about {statement}, where"
        );
        let hits = client.ask("count_hits", json!({ "target": doubled })).await;
        has(&hits, &[&part, &statement, " was reached "]);
        let state = client.fails("state_at", json!({ "at": doubled })).await;
        has(&state, &[&part]);
        // Python 3.12 and newer run it in the function itself.
        let element = client.ask("count_hits", json!({ "target": at(&program, "element") })).await;
        has(&element, &[" was reached "]);

        let condition = json!({ "condition": "row['net'] > 4" });
        let first = client.fails("find_first", condition).await;
        let instead = "any(row['net'] > 4 for row in rows)";
        let place = at(&program, "kept");
        let note = format!("variables of comprehensions are not recorded, such as `row` in {place}");
        has(&first, &[&note, &format!("ask about `{instead}`")]);
        let first = client.ask("find_first", json!({ "condition": instead })).await;
        has(&first, &["first holds when a call begins: ", " in best"]);
        for tool in ["find_writes", "find_origin"] {
            let unknown = client.fails(tool, json!({ "target": "row" })).await;
            has(&unknown, &["no `row` at ", &note, "ask about `rows`"]);
        }
        client.server.finish().await;
    }
}

/// Names of functions say what they are inside from Python 3.11 on.
#[tokio::test]
async fn writes_of_an_outer_variable_are_found_in_other_calls_of_the_closure() {
    let program = Fixture::python("recording_moments");
    let (client, _) = Client::recorded("python3", &program).await;
    let moment = format!("{}#3", at(&program, "hit"));
    let hits = client.ask("find_writes", json!({ "target": "hits", "at": moment })).await;
    // Not the write of the other closure, which counts calls of another function.
    has(&hits, &["hits: 0 → 1 by ", &at(&program, "hit"), "hits = 0 by ", &at(&program, "none")]);
    assert_eq!(hits.matches("\nevent ").count(), 2, "{hits}");
    // The closures of both calls of `adding` look the same.
    let total = client.ask("find_writes", json!({ "target": "total" })).await;
    has(
        &total,
        &[
            "total: 0 → 2 by ",
            &at(&program, "added"),
            "total = 0 by ",
            "(beginning): an outer variable, which other calls wrote before",
        ],
    );
    client.server.finish().await;
}

#[tokio::test]
async fn a_length_is_computed_and_not_stored() {
    let client = Client::new("python3").await;
    client.record(&Fixture::python("recording_moments"), &[]).await;
    let length = client.fails("find_writes", json!({ "target": "len(config)" })).await;
    has(&length, &["`len(config)` is computed, not stored; ask about `config`, or when a condition such as"]);
    client.server.finish().await;

    let program = Fixture::node("recording_moments");
    let (client, _) = Client::recorded("node", &program).await;
    for arguments in
        [json!({ "target": "cache.size" }), json!({ "target": "cache.size", "at": at(&program, "returned") })]
    {
        for tool in ["find_writes", "find_origin"] {
            let length = client.fails(tool, arguments.clone()).await;
            has(&length, &["`cache.size` is computed, not stored; ask about `cache`", "`cache.size > 5`"]);
        }
    }
    let first = client.ask("find_first", json!({ "condition": "cache.size > 0" })).await;
    has(&first, &[&at(&program, "configured")]);
    client.server.finish().await;
}

#[tokio::test]
async fn control_characters_are_shown_as_python_writes_them() {
    let program = Fixture::python("recording_moments");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let state = client.ask("state_at", json!({ "at": at(&program, "returned") })).await;
        has(&state, &[r"mark = '\x01'"]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn the_newest_write_has_room_in_a_small_budget() {
    let program = Fixture::python("recording_shop");
    let (client, _) = Client::recorded("python3", &program).await;
    let writes = client.ask("find_writes", json!({ "target": "cart.items", "budget": 100 })).await;
    has(
        &writes,
        &["`cart.items` is ", "written, newest first:\nevent ", ": `items.remove(item)  # @lost`", "\ncut: "],
    );
    assert!(writes.len() <= 300, "{writes}");
    client.server.finish().await;
}

/// Each at its own last step, though others ran later.
#[tokio::test]
async fn variables_of_generators_that_never_end_are_known() {
    let python = "\
def averager():
    seen = []
    while True:
        value = yield
        seen.append(value)  # @added


def main():
    one, other = averager(), averager()
    next(one)
    next(other)
    one.send(3)
    one.send(4)
    return one, other


kept = main()
";
    let javascript = "\
function* averager() {
  const seen = [];
  while (true) {
    const value = yield;
    seen.push(value); // @added
  }
}
function main() {
  const [one, other] = [averager(), averager()];
  one.next();
  other.next();
  one.next(3);
  one.next(4);
  return [one, other];
}
const kept = main();
";
    let (folder, of_python) = written("main.py", python);
    let of_node = Fixture::write(folder.path(), "main.js", javascript);
    let runs =
        pythons().into_iter().map(|python| (python, &of_python)).chain([("node".to_owned(), &of_node)]);
    for (runtime, program) in runs {
        let (client, _) = Client::recorded(&runtime, program).await;
        let writes = client.ask("find_writes", json!({ "target": "seen" })).await;
        let added = at(program, "added");
        has(
            &writes,
            &[
                "`seen` is [3, 4] at event ",
                "the last moment at which it existed",
                "[1] = 4 by ",
                &added,
                "[0] = 3 by ",
                &added,
            ],
        );
        client.server.finish().await;
    }
}

#[tokio::test]
async fn arguments_are_there_at_the_event_with_which_their_call_begins() {
    let text = "def check(limit):\n    return limit > 3  # @checked\n\n\ncheck(100)\ncheck(50)\n";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let condition = json!({ "condition": "limit != 100", "function": "check" });
        let first = client.ask("find_first", condition).await;
        let (_, event) = first.split_once("first holds when a call begins: ").unwrap();
        let event = event.split_once("(event ").unwrap().1.split_once(')').unwrap().0;
        let writes = client.ask("find_writes", json!({ "target": "limit", "at": event })).await;
        let value = format!("`limit` is 50 at event {event} (");
        has(&writes, &[&value, "(beginning)", "limit = 50 by "]);
        let origin = client.ask("find_origin", json!({ "target": "limit", "at": event })).await;
        has(&origin, &[&value]);
        has(&client.ask("state_at", json!({ "at": event })).await, &["a call begins", "limit = 50"]);
        client.server.finish().await;
    }
}
