//! What is a pass, in all the forms that code has. The two ways give the same rows.

use crate::scene::{Ran, scenes};

const FORMS: &str = include_str!("../../../../fixtures/recording/main.py");

/// What is evaluated at the lines of the fixture, and the rows of the first round.
const PLACES: [(&str, &[&str], &[&str]); 22] = [
    ("recursive", &["n"], &["1: 0", "2: 1", "3: 2"]),
    ("generator", &["i"], &["1: 0", "2: 1", "3: 2", "4: 0"]),
    ("coroutine", &["n"], &["1: 0", "2: 1", "3: 2"]),
    ("async_body", &["item"], &["1: 1", "2: 0"]),
    ("first_line", &["n"], &["1: 0", "2: 1"]),
    ("arguments", &["n"], &["1: 0", "2: 1"]),
    ("head", &["total"], &["1: 0", "2: 1", "3: 3"]),
    ("thread", &["i"], &["1: 0", "2: 1", "3: 2"]),
    ("one", &["i"], &["1: 0", "2: 1"]),
    ("other", &["i", "half"], &["1: 0, 0", "2: 1, 0"]),
    ("inner", &["z", "outside"], &["1: 1, 5", "2: 2, 5"]),
    ("private", &["self.__balance"], &["1: 3"]),
    ("skip", &["n"], &["1: 1"]),
    ("leave", &["n"], &["1: 2"]),
    ("nothing", &["n"], &["1: 0"]),
    ("raise", &["i"], &["1: 0", "2: 1"]),
    ("handle", &["error"], &["1: KeyError(0)", "2: KeyError(1)"]),
    ("context", &["n"], &["1: 2"]),
    ("class_body", &["n"], &["1: 1"]),
    ("decorated", &["1"], &["1: 1"]),
    ("exec", &["turn"], &["1: 0"]),
    ("module", &["turn"], &["1: 0"]),
];

async fn forms() -> Vec<Ran> {
    let mut all = Vec::new();
    for scene in scenes(&[("main.py", FORMS), ("again.py", "turn = turn\npassed = turn  # @exec\n")]).await {
        for (mark, expressions, _) in PLACES {
            let file = if mark == "exec" { "again.py" } else { "main.py" };
            scene.with(file, mark, scene.record(expressions)).await;
        }
        all.push(scene.run().await);
    }
    all
}

#[tokio::test]
async fn each_form_of_code_is_hit_equally_often_by_both_methods() {
    let all = forms().await;
    for (id, (mark, _, first)) in (1..).zip(PLACES) {
        for ran in &all {
            let table = ran.table(id);
            assert_eq!(
                table.get(..first.len()).unwrap_or_default(),
                first,
                "{mark}: {:?} {table:#?}",
                ran.way
            );
            assert_eq!(table.len(), first.len() * 3, "{mark}: {:?} {table:#?}", ran.way);
            assert_eq!(ran.counts.get(&id).copied(), Some(first.len() as u64 * 3), "{mark}: {:?}", ran.way);
        }
    }
    for ran in all {
        ran.was_quiet();
    }
}
