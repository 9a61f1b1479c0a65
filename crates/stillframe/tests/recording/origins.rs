//! Where values came from, when something else looks as if it had given them.

use serde_json::json;
use test_support::Fixture;

use crate::recorder::{Client, at, has, pythons};

/// A variable of `main`, with texts that its origin has, and one that it has not.
const ORIGINS: [(&str, &[&str], &str); 17] = [
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
