//! Programs that go wrong as programs do: two questions at most lead from what is seen to the line that is wrong.

use serde_json::{Value, json};
use test_support::Fixture;

use crate::recorder::{Client, at, has, pythons};

/// Bytes of all answers about a program.
const MOST: usize = 3 * 1024;

/// A program with a bug.
struct Bug {
    fixture: &'static str,
    runtime: &'static str,
    /// What is seen without any question.
    seen: &'static str,
    /// Tools and their arguments. The last answer names the line.
    questions: fn() -> Vec<(&'static str, Value)>,
    /// What the last answer says, in this order. `@bug` is the line.
    says: &'static [&'static str],
}

const BUGS: [Bug; 12] = [
    Bug {
        fixture: "bug_bank",
        runtime: "python",
        seen: "AssertionError: ada should have 78, not 136",
        questions: || vec![("find_origin", json!({ "target": "account.history" }))],
        says: &[".history = [] by ", "history = [], default of ", "@bug", "history=[]"],
    },
    Bug {
        fixture: "bug_rooms",
        runtime: "python",
        seen: "AssertionError: planning 9-12 and interview 10-11 are both in small",
        questions: || vec![("find_writes", json!({ "target": "room.free_from" }))],
        says: &[".free_from: 0 → 10 by ", "@bug"],
    },
    Bug {
        fixture: "bug_matrix",
        runtime: "python",
        seen: "AssertionError: wrong from 3 on",
        questions: || vec![("find_origin", json!({ "target": "numbers[3]" }))],
        says: &["power returned [<list #", "zeros returned this at ", "@bug"],
    },
    Bug {
        fixture: "bug_graph",
        runtime: "python",
        seen: "AssertionError: not done after 6 rounds: release",
        questions: || vec![("find_writes", json!({ "target": "order.ready", "limit": 6 }))],
        says: &["`order.ready` is ['release']", "'package' → (none) by ", "@bug"],
    },
    Bug {
        fixture: "bug_invoice",
        runtime: "python",
        seen: "ink        3 x   19.98",
        questions: || vec![("find_first", json!({ "condition": "cents == 1998" }))],
        says: &["`cents == 1998` first holds when a call begins: ", "called by ", "@bug"],
    },
    Bug {
        fixture: "bug_lru",
        runtime: "python",
        seen: "AssertionError: eve got a page of another user: Hello ada",
        questions: || vec![("find_origin", json!({ "target": "page" }))],
        says: &["key returned this at ", "@bug", "['/cart?en'] = 'Hello ada, this is /cart'"],
    },
    Bug {
        fixture: "bug_ranking",
        runtime: "node",
        seen: "bob 107",
        questions: || {
            vec![
                ("find_first", json!({ "condition": "total == 107" })),
                ("find_origin", json!({ "target": "total", "at": "@scored#2" })),
            ]
        },
        says: &["total: 98 → 107", "@bug", "sort().reverse()"],
    },
    Bug {
        fixture: "bug_buttons",
        runtime: "node",
        seen: "142 was typed, and NaN is shown",
        questions: || vec![("find_origin", json!({ "target": "history[0]" }))],
        says: &["label = undefined by ", "at: 4 → 5 by ", "@bug"],
    },
    Bug {
        fixture: "bug_fetches",
        runtime: "node",
        seen: "the total should be 180, not NaN",
        questions: || vec![("find_origin", json!({ "target": "total" }))],
        says: &["amount = NaN by ", "rate = <Promise> by ", "@bug"],
    },
    Bug {
        fixture: "bug_undo",
        runtime: "node",
        seen: "undo should leave hello, world",
        questions: || vec![("find_writes", json!({ "target": "editor.document.lines", "limit": 3 }))],
        says: &["the same object is `Object #", ".lines` (@bug)"],
    },
    Bug {
        fixture: "bug_layout",
        runtime: "node",
        seen: "RangeError: a line has 26 characters",
        questions: || vec![("find_origin", json!({ "target": "line.used" }))],
        says: &["`line.used` is 22", ".used: 21 → 22 by ", "@bug"],
    },
    Bug {
        fixture: "bug_seats",
        runtime: "node",
        seen: "A1 is for ada, not for eve",
        questions: || vec![("find_writes", json!({ "target": "hall.taken" }))],
        says: &["{'[object Object]': 'eve'}", "['[object Object]']: 'bob' → 'eve' by ", "@bug"],
    },
];

impl Bug {
    async fn is_found(&self, runtime: &str, program: &Fixture) {
        let (client, said) = Client::recorded(runtime, program).await;
        has(&said, &["exited with code 1", self.seen]);
        let questions = (self.questions)();
        assert!(questions.len() < 3);
        let mut answers = Vec::new();
        for (tool, mut arguments) in questions {
            if let Some((name, hit)) =
                arguments["at"].as_str().and_then(|at| at.strip_prefix('@')?.split_once('#'))
            {
                arguments["at"] = format!("{}#{hit}", at(program, name)).into();
            }
            answers.push(client.ask(tool, arguments).await);
        }
        let bytes: usize = answers.iter().map(String::len).sum();
        assert!(bytes <= MOST, "{}: {bytes} bytes", self.fixture);
        let line = at(program, "bug");
        let says: Vec<String> = self.says.iter().map(|part| part.replace("@bug", &line)).collect();
        has(answers.last().unwrap(), &says.iter().map(String::as_str).collect::<Vec<_>>());
        client.server.finish().await;
    }
}

#[tokio::test]
async fn two_questions_lead_to_a_bug_in_python() {
    for bug in BUGS.iter().filter(|bug| bug.runtime == "python") {
        let program = Fixture::python(bug.fixture);
        for python in pythons() {
            bug.is_found(&python, &program).await;
        }
    }
}

#[tokio::test]
async fn two_questions_lead_to_a_bug_in_javascript() {
    for bug in BUGS.iter().filter(|bug| bug.runtime == "node") {
        bug.is_found("node", &Fixture::node(bug.fixture)).await;
    }
}
