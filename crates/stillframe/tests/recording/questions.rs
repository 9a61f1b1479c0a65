//! Questions about programs with a bug, each with every Python that is there.

use serde_json::json;
use test_support::Fixture;

use crate::recorder::{Client, at, has, pythons, written};

#[tokio::test]
async fn the_first_bad_moment_and_its_cause_take_two_questions() {
    let program = Fixture::python("recording_shop");
    for python in pythons() {
        let (client, said) = Client::recorded(&python, &program).await;
        has(
            &said,
            &["recorded as rec-1: the program exited with code 1; ", "output:\n", "cheap: pen, book\n"],
        );

        let first = client.ask("find_first", json!({ "condition": "total < 0" })).await;
        let negative = format!("`total < 0` first holds after {} in ", at(&program, "negative"));
        has(
            &first,
            &[&negative, "called from ", " in checkout ← ", "total: 21 → -9", "total = -9   (before: 21)"],
        );

        // The methods `total` are no such variables.
        let added = client.ask("find_first", json!({ "condition": "total != 0" })).await;
        has(&added, &[&format!("`total != 0` first holds after {} in ", at(&program, "added"))]);

        let whole = client.ask("find_first", json!({ "condition": "isinstance(total, (int, float))" })).await;
        has(&whole, &["first holds after ", "total = 0"]);
        // No variable is called so, but an item has such an attribute.
        let each = client.ask("find_first", json!({ "condition": "each.count > 2" })).await;
        has(
            &each,
            &[
                "`each.count > 2` holds for no variable `each` while it is there, but for another object: first after",
                "__init__: `self.count = count`",
                "count = 3",
                " then:",
                "name = 'pen'",
            ],
        );

        let writes = client.ask("find_writes", json!({ "target": "cart.items" })).await;
        has(
            &writes,
            &[
                "`cart.items` is [Item(",
                "written, newest first:",
                "name='lamp'",
                "→ (none) by",
                &format!("{} in without_expensive: `items.remove(item)", at(&program, "lost")),
                " in preview ← ",
                &at(&program, "appended"),
                &at(&program, "created"),
            ],
        );
        client.server.finish().await;
    }
}

#[tokio::test]
async fn the_origin_of_a_value_is_what_it_was_computed_from() {
    let program = Fixture::python("recording_shop");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let origin = client.ask("find_origin", json!({ "target": "total" })).await;
        has(
            &origin,
            &[
                "`total` is -9 at event ",
                "  event ",
                "total returned this at ",
                "total: 21 → -9 by ",
                &at(&program, "negative"),
                "amount = 30 by ",
                "['WELCOME'] = 30 by ",
                &at(&program, "discounted"),
                "apply from ",
                "total: 6 → 21 by ",
                "total returned 15 at ",
                "price = 15, argument of ",
                "['book'] = 15 by ",
            ],
        );
        let printed = json!({ "target": "names", "at": at(&program, "printed") });
        let origin = client.ask("find_origin", printed).await;
        // The list that it was made from had lost an item before.
        has(&origin, &["`names` is ['pen', 'book']", "→ (none) by ", &at(&program, "lost")]);
        let unknown = client.fails("find_origin", json!({ "target": "nothing" })).await;
        has(&unknown, &["no `nothing` at `exception`", "variables there: "]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn the_state_at_a_moment_is_as_it_was() {
    let program = Fixture::python("recording_shop");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let second = format!("{}#2", at(&program, "appended"));
        let state = client.ask("state_at", json!({ "at": second })).await;
        has(
            &state,
            &["self.items.append(item)", "called from", " in fill ← ", "owner='Bob', items=[Item(", "pen"],
        );
        let own = state.lines().find(|line| line.starts_with("  self = ")).unwrap();
        assert!(own.contains("pen") && !own.contains("lamp"), "{state}");

        let thrown = client.ask("state_at", json!({ "at": "exception" })).await;
        has(
            &thrown,
            &["ValueError: negative total: -9 at ", &at(&program, "thrown"), "total = -9", "in main:"],
        );
        has(&thrown, &["password = '[redacted]'", "output so far ends:", "shown: 2"]);
        assert!(!thrown.contains("correct-horse"), "{thrown}");
        client.server.finish().await;
    }
}

#[tokio::test]
async fn changes_between_moments_are_grouped_by_owner() {
    let program = Fixture::python("recording_shop");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let (from, to) = (at(&program, "discounted"), at(&program, "thrown"));
        let changes = client.ask("compare_moments", json!({ "from": from, "to": to })).await;
        has(&changes, &["checkout:\n", "total added: -9", "dict #", "['WELCOME'] added: 30", "len(): 0 → 1"]);
        assert!(!changes.contains("lamp"), "{changes}");
        let swapped = client.fails("compare_moments", json!({ "from": to, "to": from })).await;
        assert!(swapped.contains("is after"), "{swapped}");
        client.server.finish().await;
    }
}

#[tokio::test]
async fn hits_are_counted_with_arguments_and_ends() {
    let program = Fixture::python("recording_shop");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let line = client.ask("count_hits", json!({ "target": at(&program, "appended") })).await;
        has(&line, &["was reached 3 times, first at event "]);
        let function = client.ask("count_hits", json!({ "target": "without_expensive" })).await;
        has(
            &function,
            &[
                "without_expensive was called once",
                "(items=list of 3, limit=30)",
                "return: 1, exception: 0\nreturned list of 2 (1 ×)",
            ],
        );
        let method = client.ask("count_hits", json!({ "target": "Cart.apply" })).await;
        has(&method, &["apply was called once", "amount=30"]);
        // Names of Python 3.11 and newer say the class.
        if pythons().last() == Some(&python) {
            let other = client.fails("count_hits", json!({ "target": "Cart.checkout" })).await;
            has(&other, &["no function `Cart.checkout` was called"]);
        }
        let file = client.ask("count_hits", json!({ "target": "main.py" })).await;
        has(&file, &["lines that ran: main.py ", "lines that ran, by hits:"]);
        // Without a moment, a variable of a call that has returned is read at the last event that has it.
        let limit = client.ask("find_origin", json!({ "target": "limit" })).await;
        has(
            &limit,
            &[
                "`limit` is 30 at event ",
                " in without_expensive)",
                "`limit` does not exist at `exception`; showing the last moment at which it existed",
            ],
        );
        let unknown = client.fails("count_hits", json!({ "target": "nothing" })).await;
        has(&unknown, &["no function `nothing` was called; functions that were: "]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn threads_generators_and_recursion_are_recorded() {
    let program = Fixture::python("recording_stock");
    for python in pythons() {
        let (client, said) = Client::recorded(&python, &program).await;
        has(&said, &["exited with code 0", "left: {'pen': -8, 'book': 7} 120", "problems: {'pen': 'pen'}"]);
        let first = client.ask("find_first", json!({ "condition": "self.stock['pen'] < 0" })).await;
        has(&first, &[&at(&program, "taken"), "run", "['pen']: 4 → -2", "size = 'small'", "pieces = 6"]);
        let writes = client
            .ask("find_writes", json!({ "target": "self.cache['pen']", "at": at(&program, "taken") }))
            .await;
        has(&writes, &["`self.cache['pen']` is 6", &format!("by {}", at(&program, "cached"))]);
        let calls = client.ask("count_hits", json!({ "target": "fact" })).await;
        has(&calls, &["fact was called 5 times", "(n=5)", "return: 5"]);
        let caught = client.ask("state_at", json!({ "at": "exception" })).await;
        has(&caught, &["LookupError: pen at", &at(&program, "looked_up"), "left = -8", "name = 'pen'"]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn attributes_of_classes_and_members_of_enumerations_are_recorded() {
    let program = Fixture::python("recording_stock");
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        // In another thread than that of the module, whose variable the class is.
        let first = client.ask("find_first", json!({ "condition": "Picker.packages > 4" })).await;
        has(
            &first,
            &[
                &format!("`Picker.packages > 4` first holds after {} in ", at(&program, "counted")),
                "it is about variables of <module>",
                "Picker.packages: 4 → 5",
                "Picker(names=['pen', 'book'], packages=5)",
            ],
        );
        let writes = client.ask("find_writes", json!({ "target": "Picker.names" })).await;
        has(
            &writes,
            &[
                "`Picker.names` is ['pen', 'book'] at event ",
                "[1] = 'book' by ",
                &at(&program, "named"),
                "[0] = 'pen' by ",
                "Picker.names = [] by ",
            ],
        );
        let finished = client.ask("find_first", json!({ "condition": "self.state == State.DONE" })).await;
        has(
            &finished,
            &[&at(&program, "finished"), ".state: <State.WAITING: 'waiting'> → <State.DONE: 'done'>"],
        );
        let value = client.ask("find_first", json!({ "condition": "self.state.value == 'done'" })).await;
        has(&value, &[&at(&program, "finished")]);
        client.server.finish().await;
    }
}

#[tokio::test]
async fn mistakes_are_explained() {
    let program = Fixture::python("recording_shop");
    let client = Client::new("python3").await;
    let none = client.fails("state_at", json!({ "at": "end" })).await;
    assert_eq!(none, "Error: no recording `last`; there are none: record a run first");
    client.record(&program, &[]).await;
    let cases = [
        ("find_first", json!({ "condition": "total <" }), "cannot read `total <`: unexpected end"),
        ("find_first", json!({ "condition": "3 < 4" }), "`3 < 4` has no variable in it"),
        ("find_first", json!({ "condition": "totals < 0" }), "no variable `totals` was written in the run"),
        (
            "find_first",
            json!({ "condition": "print(total)" }),
            "`print` cannot be called with arguments here; `print()` is what a call of it returned",
        ),
        ("find_writes", json!({ "target": "nothing" }), "no `nothing` at `exception`"),
        (
            "state_at",
            json!({ "at": "main.py:1000" }),
            "main.py:1000 was not reached; lines near it that were: ",
        ),
        ("state_at", json!({ "at": "other.py:1" }), "no line of `other.py` ran; files that ran: "),
        ("state_at", json!({ "at": "somewhere" }), "`somewhere` is not a moment; use FILE:LINE"),
        ("state_at", json!({ "at": "100000" }), "no event 100000; the recording has events 1 to "),
        ("state_at", json!({ "at": "end", "recording": "rec-9" }), "no recording `rec-9`; there are: rec-1"),
    ];
    for (tool, arguments, problem) in cases {
        let said = client.fails(tool, arguments.clone()).await;
        assert!(said.contains(problem), "{tool} {arguments}: {said}");
    }
    let never = client.ask("find_first", json!({ "condition": "total > 1000" })).await;
    assert!(never.starts_with("`total > 1000` never holds in this run."), "{never}");
    client.server.finish().await;
}

/// A condition that holds too rarely, or is asked about code that did not run, is not one that never holds.
#[tokio::test]
async fn what_a_first_moment_is_looked_for_in_must_exist() {
    let program = Fixture::python("recording_shop");
    let (client, _) = Client::recorded("python3", &program).await;
    let asked = async |about: serde_json::Value| {
        let mut arguments = json!({ "condition": "total < 0" });
        arguments.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
        client.server.call("find_first", arguments).await
    };
    let rare = asked(json!({ "occurrence": 9 })).await;
    has(&rare.text, &["`total < 0` begins to hold only 2 times in this run, not 9 times.\n"]);
    let returned = json!({ "condition": "total() != 0", "occurrence": 99 });
    has(
        &client.ask("find_first", returned).await,
        &["begins to hold only 3 times in this run, not 99 times.\n"],
    );
    for (about, problem) in [
        (json!({ "occurrence": 0 }), "`occurrence` must be 1 or more, not 0"),
        (json!({ "function": "nope" }), "no function `nope` was called; functions that were: "),
        (json!({ "file": "nope.py" }), "no line of `nope.py` ran; files that ran: "),
        (json!({ "file": "nope.py", "function": "checkout" }), "no line of `nope.py` ran"),
    ] {
        let refused = asked(about).await;
        assert!(refused.is_error, "{}", refused.text);
        has(&refused.text, &[problem]);
    }
    client.server.finish().await;
}

/// Of a container whose first items are recorded, another one is not known, nor what is in it.
#[tokio::test]
async fn items_beyond_the_limit_are_named_whatever_is_asked_of_them() {
    let text = "class Row:\n    def __init__(self, at):\n        self.price = at\n\n\n\
        rows = [Row(at) for at in range(150)]\nrows[120].price = -1\n";
    let (_folder, program) = written("main.py", text);
    let (client, _) = Client::recorded("python3", &program).await;
    for target in ["rows[120]", "rows[120].price"] {
        let unknown = client.fails("find_writes", json!({ "target": target, "at": "end" })).await;
        has(&unknown, &[&format!("no `{target}` at `end`"), "only 100 of its 150 items are recorded"]);
    }
    client.server.finish().await;
}

#[tokio::test]
async fn a_run_without_code_of_the_program_has_no_events() {
    let (_folder, program) = written("main.mjs", "");
    let (client, _) = Client::recorded("node", &program).await;
    let none = client.fails("find_writes", json!({ "target": "x" })).await;
    has(&none, &["the recording has no events"]);
    client.server.finish().await;
}

#[tokio::test]
async fn changes_of_objects_in_a_value_are_named_beside_its_own_writes() {
    let text = "\
rows = {'a': [1]}
for row in rows.values():
    row.append(9)  # @appended
done = True
";
    let (_folder, program) = written("main.py", text);
    for python in pythons() {
        let (client, _) = Client::recorded(&python, &program).await;
        let changed = "its contents were last changed at event ";
        let writes = client.ask("find_writes", json!({ "target": "rows" })).await;
        has(
            &writes,
            &["`rows` is {'a': [1, 9]} at ", changed, &at(&program, "appended"), "rows = {'a': [1]} by "],
        );
        let origin = client.ask("find_origin", json!({ "target": "rows" })).await;
        has(&origin, &["rows = {'a': [1]} by ", changed, &at(&program, "appended")]);
        // What shows the last change needs no more.
        let row = client.ask("find_writes", json!({ "target": "row" })).await;
        assert!(!row.contains(changed), "{row}");
        client.server.finish().await;
    }
}
